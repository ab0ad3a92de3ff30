"""Generated Dockerfiles: instructions with all that BuildKit's grammar allows between and within them, the same on every run."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

_CONTINUED = "\N{PILCROW SIGN}"  # stands for the file's escape character and a line end

_NAMES = ("a", "app", "train.py", "/usr/local/cuda", "${HOME}", "$X", "torch==2.4.1", "\u00e9", "x=y", "#no-comment", "\\n", "b\\ c")
_QUOTED = ("'a b'", '"a b"', "'#'", '"$X"', "''", '"it\'s"', '"\\""', "'a'\"b\"")
_SIGNS = ("&&", "|", ";", "-y", "--", "<", ">", "[", "]", "=", "$", "``")
_FLAGS = ("--platform=linux/amd64", "--from=b", "--mount=type=cache,target=/root", "--x='a b'", '--y="c"', "--link", "--z=", "--")
_KEYWORDS = ("RUN", "RUN", "CMD", "ENTRYPOINT", "USER", "WORKDIR", "EXPOSE", "VOLUME", "STOPSIGNAL", "MAINTAINER", "run", "Cmd", "FOO")
_JSON_KEYWORDS = ("RUN", "CMD", "ENTRYPOINT", "COPY", "ADD", "VOLUME", "SHELL", "HEALTHCHECK CMD", "ONBUILD CMD", "USER")
_JSON_STRINGS = ('"a"', '"b c"', '"\\n"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud800"', '"#"', '""', '"$X"')
_BEFORE_HEREDOC = ("RUN ", "RUN cat ", "COPY --from=x ", "ADD ", "ONBUILD RUN ", f"RUN a && {_CONTINUED} b ", "CMD ", "run ")
_BODY_LINES = ("echo a", "\techo b", "", "# no comment", "FROM c", "EOF2", " EOF", "a \\", "<<EOF")
_BETWEEN_LINES = ("", "", "# a comment\n", "  # another \\ \n", "\n", " \t\n\n", "#\n\n#\n")
_GAPS = ("\n", "\n", "\n\n", "\n# between\n", "\n \t\n", "\n  ")


def generated_dockerfiles(count: int, seed: int) -> Iterator[str]:
    """The texts of that many Dockerfiles. Some are refused by BuildKit."""
    random = Random(seed)
    for _ in range(count):
        yield _Generator(random).file()


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.pick = random.choice

    def file(self) -> str:
        escape = self.pick("\\\\\\`")
        directive = f"# escape={escape}\n" if escape != "\\" or self.random.random() < 0.2 else ""
        head = self.pick(("", "", "# syntax=docker/dockerfile:1\n")) + directive + self.pick(("", "", "# a comment\n", "\n"))
        first = self.pick(("FROM a", "from a AS b", "ARG X=1\nFROM a:$X", "FROM --platform=$BUILDPLATFORM a"))
        kinds = (self.plain, self.plain, self.json, self.pairs, self.heredocs)
        rest = "".join(self.pick(_GAPS) + self.pick(kinds)() for _ in range(self.random.randrange(6)))
        text = head + first + rest + self.pick(("", "\n", f" {_CONTINUED}", f" {_CONTINUED}# end"))
        return text.replace(_CONTINUED, f"{escape}\n").replace("\\ ", f"{escape} ").replace("\n", self.pick(("\n", "\n", "\n", "\r\n")))

    def some(self, choices: tuple[str, ...], fewest: int, most: int) -> list[str]:
        return [self.pick(choices) for _ in range(self.random.randint(fewest, most))]

    def separator(self) -> str:
        if self.random.random() < 0.8:
            return self.pick((" ", " ", "  ", "\t", " \t "))
        return self.pick((" ", "  ")) + _CONTINUED + self.pick(_BETWEEN_LINES) + self.pick(("", " ", "    ", "\t"))

    def arguments(self) -> str:
        words = self.some(_NAMES + _NAMES + _QUOTED + _SIGNS, 1, 5)
        return "".join(word + self.separator() for word in words[:-1]) + words[-1]

    def plain(self) -> str:
        flags = "".join(flag + self.separator() for flag in self.some(_FLAGS, 0, 2))
        return self.pick(_KEYWORDS) + self.separator() + flags + self.arguments()

    def json(self) -> str:
        blank = self.pick(("", " ", f" {_CONTINUED}  "))
        array = f"[{blank}" + f",{blank}".join(self.some(_JSON_STRINGS, 0, 4)) + self.pick(("]", "]", "]", ",", ""))
        return self.pick(_JSON_KEYWORDS) + self.separator() + array

    def pairs(self) -> str:
        keyword = self.pick(("ENV", "LABEL")) + self.separator()
        if self.random.random() < 0.3:
            return f"{keyword}OLD{self.separator()}{self.arguments()}"
        pairs = (f"{name}={self.pick((*_NAMES, *_QUOTED, ''))}" for name in self.some(("A", "B_2", "'c'"), 1, 3))
        return keyword + self.separator().join(pairs)

    def heredocs(self) -> str:
        openers, bodies = [], []
        for name in ("EOF", "END")[: self.random.randint(1, 2)]:
            dash, quote = self.pick(("", "", "-")), self.pick(("", "", "'", '"'))
            openers.append(self.pick(("", "", "3")) + f"<<{dash}{quote}{name}{quote}")
            end = self.pick(("", "\t")) + name if dash else name
            bodies += [*self.some(_BODY_LINES, 0, 4), end]
        after = self.pick(("", " /target", " > file", " | sh", f" {_CONTINUED} x"))
        return self.pick(_BEFORE_HEREDOC) + " ".join(openers) + after + "\n" + "".join(f"{line}\n" for line in bodies)
