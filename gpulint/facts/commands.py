"""What the words of a command line and the variables of an environment say of the GPU, and which word names the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from gpulint.deferred import NamedTuple, regex
from gpulint.facts import Row, fullmatch, table, words

_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")

_REMEMBERED = 20_000
"""Of how many commands it is remembered what they start: each is asked by some twenty rules."""


class Launch(NamedTuple):
    """How a command starts its program.

    `at` is the index of the word that names it, from its character `begin` on, and `form` what that word is: "script" (a Python file),
    "module" (`-m a.b`), "code" (`-c`), "app" (`module:object`), "command" (the first word of a further command), "shell-script",
    "shell-code" or "target" (of a Makefile). `parallel` says that the launcher starts one process a GPU.
    """

    launcher: str
    form: str
    at: int
    parallel: bool
    begin: int = 0


class Launcher(NamedTuple):
    """A launcher, and by what else than the word behind it the program is named.

    `at` is the index behind its own words, `form` as for a Launch, or "supervisor". `folder` and `config` match the options that name the
    folder it starts in and the file that it reads, which it looks for as `config_files` where none is named, and in whose setting
    `config_key` it finds the program; more such files lie in `config_folder`. `variable` is the environment variable that names the
    program, `arguments` the one with further arguments. `files` are the programs that it tries in their order where none is named, and
    `object` what it takes of a module of which nothing is named. "" or nothing stands for what it has not.
    """

    name: str
    form: str
    at: int
    folder: str
    config: str
    config_files: tuple[str, ...]
    config_folder: str
    config_key: str
    variable: str
    arguments: str
    files: tuple[str, ...]
    object: str


class Option(NamedTuple):
    """One option of a command line: its name in lower case with `-` and without leading ones, its value, and the index of each."""

    name: str
    value: str | None
    at: int
    value_at: int


# --- The program ----------------------------------------------------------------------------------------------------------------


def program_index(command: Sequence[str]) -> int:
    """The index of the word that names the program, behind wrappers such as `sudo`, `env A=b`, `exec`, `timeout 5`, `uv run`.

    It is `len(command)` where nothing but wrappers stands there.
    """
    return _behind_wrappers(tuple(command))[0]


@lru_cache(_REMEMBERED)
def _behind_wrappers(command: tuple[str, ...]) -> tuple[int, Row | None]:
    """The index of the program, and the row of the last wrapper before it."""
    index, last = _skip_assignments(command, 0), None
    while index < len(command):
        row = _row_at("wrappers", command, index)
        if row is None or any(word in row.get("asks", ()) for word in command[index + 1 : index + 2]):
            break
        index, last = _skip_wrapper(row, command, index + len(row["name"].split())), row
    return index, last


def _skip_wrapper(row: Row, command: Sequence[str], index: int) -> int:
    if "behind" in row:
        return command.index(row["behind"], index) + 1 if row["behind"] in command[index:] else len(command)
    while index < len(command) and command[index].startswith("-"):
        takes_value = command[index] in row["values"] if "values" in row else _width(row, command[index]) > 1
        index += 1 + takes_value
    if row.get("assignments"):
        index = _skip_assignments(command, index)
    index += int(row["operands"])
    return min(index + (command[index : index + 1] == ("--",)), len(command))


def _skip_assignments(command: Sequence[str], index: int) -> int:
    while index < len(command) and _ASSIGNMENT.match(command[index]):
        index += 1
    return index


def _row_at(rows: str, command: Sequence[str], index: int) -> Row | None:
    """The row whose name stands at that index; of several the one with the most words."""
    first = program_name(command[index])
    return next((row for row in _rows_by_first_word(rows).get(first, ()) if _stands_at(row, command, index)), None)


def _stands_at(row: Row, command: Sequence[str], index: int) -> bool:
    rest: list[str] = row["name"].split()[1:]
    return list(command[index + 1 : index + 1 + len(rest)]) == rest


@cache
def _rows_by_first_word(rows: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in sorted(table("commands")[rows], key=lambda row: -len(row["name"].split())):
        found.setdefault(row["name"].split()[0], []).append(row)
    return found


@cache
def program_name(word: str) -> str:
    """The name of a program without its folder, and without the version in names such as `python3.11`; all shells are `sh`."""
    name = word.rpartition("/")[2]
    return next((str(row["name"]) for row in table("commands")["aliases"] if fullmatch(row["pattern"], name)), name)


def is_shell(word: str) -> bool:
    """Whether a program of that name reads the language of the POSIX shell."""
    return program_name(word) == "sh"


def launched(command: Sequence[str]) -> Launch | None:
    """Which word of a launcher's command names the program that it starts; None where the command itself is the program."""
    return _launched(tuple(command))


@lru_cache(_REMEMBERED)
def _launched(command: tuple[str, ...]) -> Launch | None:
    start, wrapper = _behind_wrappers(command)
    if wrapper is not None and "module" in wrapper and start < len(command) and fullmatch(wrapper["module"], command[start - 1]):
        return Launch(wrapper["name"], "module", start, parallel=False)
    row, index = _launcher_row(command)
    return _find_program(row, command, index) if row is not None else None


def _launcher_row(command: tuple[str, ...]) -> tuple[Row | None, int]:
    """The row of the launcher that a command runs, also as a module (`python -m uvicorn`), and the index behind its own words."""
    start = _behind_wrappers(command)[0]
    row = _row_at("launchers", command, start) if start < len(command) else None
    if row is None:
        return None, start
    index = start + len(row["name"].split())
    launch = _find_program(row, command, index)
    if launch is not None and launch.form == "module":
        for inner, width in _launcher_modules(command, launch.at):
            return inner, launch.at + width
    return row, index


def _launcher_modules(command: Sequence[str], at: int) -> Iterator[tuple[Row, int]]:
    """The row of a launcher that is itself run as a module, and how many words name it there."""
    named = (row for row in _rows_by_first_word("launchers")["python"] if row["name"] == f"python -m {command[at]}")
    yield from ((row, 1) for row in named)
    row = _row_at("launchers", command, at)
    if row is not None and row.get("as_module"):
        yield row, len(row["name"].split())


def launcher(command: Sequence[str]) -> Launcher | None:
    """The launcher that a command runs; None where it runs none."""
    row, index = _launcher_row(tuple(command))
    if row is None:
        return None
    return Launcher(
        name=row["name"],
        form=row["form"],
        at=index,
        folder=row.get("folder", ""),
        config=row.get("config", ""),
        config_files=tuple(row.get("config_files", ())),
        config_folder=row.get("config_folder", ""),
        config_key=row.get("config_key", ""),
        variable=row.get("variable", ""),
        arguments=row.get("arguments", ""),
        files=tuple(row.get("files", ())),
        object=row.get("object", "app"),
    )


def option_value(command: Sequence[str], pattern: str) -> tuple[int, int] | None:
    """Where the value of the last option that the pattern matches stands: the index of its word, and of its first character there."""
    for index in range(len(command) - 1, -1, -1):
        name, equals, _ = command[index].partition("=")
        if pattern and fullmatch(pattern, name):
            return (index, len(name) + 1) if equals else (index + 1, 0) if index + 1 < len(command) else None
    return None


def operands(command: Sequence[str]) -> list[int]:
    """The indexes of the words of a launcher's command that are no options, no values of some and no assignments."""
    row, index = _launcher_row(tuple(command))
    found: list[int] = []
    while row is not None and index < len(command):
        is_option = command[index].startswith("-") and command[index] != "-"
        found += [] if is_option or _ASSIGNMENT.match(command[index]) else [index]
        index += _width(row, command[index]) if is_option else 1
    return found


def _find_program(row: Row, command: Sequence[str], index: int) -> Launch | None:
    """The launcher's program, looked for from the word behind the launcher's own."""
    form = row["form"]
    while index < len(command):
        word = command[index]
        named = _named_by_option(row, word)
        if named and named not in ("module", "command"):
            at, begin = (index, word.index("=") + 1) if "=" in word else (index + 1, 0)
            return Launch(row["name"], named, at, row["parallel"], begin) if at < len(command) else None
        if named or word.startswith("-"):
            form = named or form
            index += 1 if named else _width(row, word)
        elif "option" in row:
            index += 1
        else:
            return Launch(row["name"], form, index, row["parallel"])
    return None


def _named_by_option(row: Row, word: str) -> str:
    """What the word behind this option is, where the option names the program; "module" and "command" also where a later word is it."""
    forms = {"module": "module", "code": row.get("code_form", ""), "option": row["form"], "command": "command"}
    name = word.partition("=")[0] if "option" in row else word
    return next((form for key, form in forms.items() if key in row and fullmatch(row[key], name)), "")


def _width(row: Row, word: str) -> int:
    """How many words an option takes, with its values."""
    if "=" in word or word == "--" or fullmatch(row["flags"], word):
        return 1
    return 3 if "two_values" in row and fullmatch(row["two_values"], word) else 2


def common_folders() -> frozenset[str]:
    """The names of folders in which images of any origin keep their program: `app`, `workspace`, `src` ..."""
    return words("commands", "common_folders")


def search_path() -> tuple[str, ...]:
    """The folders of PATH in an image that sets none, in their order."""
    return tuple(folder for row in table("commands")["search_path"] for folder in row["folders"])


def gpu_program(command: Sequence[str]) -> bool:
    """Whether the program itself, or one that a shell runs for it, is a GPU tool such as `nvidia-smi`."""
    launch = launched(command)
    if launch and launch.form == "shell-code":
        return any(gpu_program(inner) for inner in simple_commands(command[launch.at]))
    index = program_index(command)
    return index < len(command) and program_name(command[index]) in words("commands", "gpu_programs")


def model_server(command: Sequence[str]) -> bool:
    """Whether the command starts a server of large models (vLLM, Triton, text-generation-inference ...)."""
    launch = launched(command)
    index = launch.at if launch and launch.form == "module" else program_index(command)
    return index < len(command) and program_name(command[index]) in words("commands", "model_servers")


# --- Plain tools ----------------------------------------------------------------------------------------------------------------


def plain_tool(command: Sequence[str]) -> str:
    """The name of the plain tool (`cp`, `sleep`, `pip`, `alembic` ...) if the command runs nothing else, "" if it runs another thing.

    A shell with only such commands in its `-c` is one, and Python that only imports and prints, and any program that is asked for its
    version or help. A shell alone is none: what is typed into it is not known.
    """
    start = program_index(command)
    if start >= len(command):
        return ""
    name, arguments = program_name(command[start]), command[start + 1 :]
    if arguments and arguments[-1] in words("commands", "information_options"):
        return name
    launch = launched(command)
    if launch and launch.form in _PLAIN_FORMS:
        return name if _PLAIN_FORMS[launch.form](command[launch.at]) else ""
    is_plain = name in words("commands", "plain_tools") or _plain_sub_command(name, arguments) or _plain_argument(name, arguments)
    return name if is_plain else ""


def idles(command: Sequence[str]) -> bool:
    """Whether the command ends in a tool that only waits (`sleep infinity`, `tail -f /dev/null`), alone or in the `-c` of a shell."""
    launch = launched(command)
    commands = list(simple_commands(command[launch.at])) if launch and launch.form == "shell-code" else [list(command)]
    last = commands[-1] if commands else []
    index = program_index(last)
    return index < len(last) and program_name(last[index]) in words("commands", "idle_tools")


def _plain_sub_command(name: str, arguments: Sequence[str]) -> bool:
    return _has_sub_command("plain_sub_commands", name, arguments)


def _has_sub_command(rows: str, name: str, arguments: Sequence[str]) -> bool:
    first = next((word for word in arguments if not word.startswith("-")), "")
    return any(row["tool"] == name and first in row["words"] for row in table("commands")[rows])


def fetches_sources(command: Sequence[str]) -> bool:
    """Whether the command fetches source code from elsewhere, as `git clone` does."""
    start = program_index(command)
    return start < len(command) and _has_sub_command("source_fetchers", program_name(command[start]), command[start + 1 :])


def _plain_argument(name: str, arguments: Sequence[str]) -> bool:
    rows = [row for row in table("commands")["plain_arguments"] if row["tool"] == name]
    return any(option == row["option"] and fullmatch(row["pattern"], value) for row in rows for option, value in pairwise(arguments))


def _plain_script(script: str) -> bool:
    commands = list(simple_commands(script))
    return bool(commands) and all(plain_tool(command) for command in commands)


def _plain_code(code: str) -> bool:
    statements = [statement.strip() for statement in re.split(r"[;\n]", code) if statement.strip()]
    plain = re.compile(r"(?:import|from)\s.*|print\s*\(.*\)")
    return bool(statements) and all(plain.fullmatch(statement) for statement in statements) and not re.search("cuda|gpu", code, re.I)


def _plain_module(module: str) -> bool:
    return module in words("commands", "plain_modules")


_PLAIN_FORMS = {"shell-code": _plain_script, "code": _plain_code, "module": _plain_module}

_KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "esac", "!"})
_HEADERS = frozenset({"for", "case", "select", "function"})
_SHELL_TOKEN = regex(r"""(?P<end>[;&|\n(){}]+)|(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s;&|(){}'"\\])+)""", re.S)


def simple_commands(script: str) -> Iterator[list[str]]:
    """The simple commands of a short script, as words without quotes: enough to see which programs it runs, and no more."""
    command: list[str] = []
    for match in _SHELL_TOKEN.finditer(f"{script}\n"):
        if match.group("word"):
            command.append(re.sub(r"""["'\\]""", "", match.group("word")))
            continue
        while command and command[0] in _KEYWORDS:
            del command[0]
        if command and command[0] not in _HEADERS:
            yield command
        command = []


# --- Arguments and variables ----------------------------------------------------------------------------------------------------


def gpu_argument(command: Sequence[str]) -> int | None:
    """The index of the word that says cuda or gpu and means on (`--device cuda`, `--gpu 0`, `--n-gpu-layers 35`), None if none does."""
    return next((index for index, on in _statements(command) if on), None)


def cpu_argument(command: Sequence[str]) -> int | None:
    """The index of the word that says CPU, or turns a GPU off (`--device cpu`, `--no-cuda`, `--n-gpu-layers 0`), None if none does."""
    return next((index for index, on in _statements(command) if not on), None)


def _statements(command: Sequence[str]) -> Iterator[tuple[int, bool]]:
    """Each word that says something of the GPU, with whether it turns it on."""
    launch = launched(command)
    if launch and launch.form == "shell-code":
        inner = [on for part in simple_commands(command[launch.at]) for _, on in _statements(part)]
        yield from ((launch.at, on) for on in inner)
        return
    for option in options(command):
        index, on = _statement(option)
        if on is not None:
            yield index, on


_OPTION_WITH_VALUE = regex(r"(?:-{1,2}|\+{0,2})([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)
_BEGINS_OPTION = regex(r"--?[A-Za-z]")


def options(command: Sequence[str]) -> Iterator[Option]:
    """The options of a command line: `--name=value`, `--name value`, `-n value`, and `name=value` as Hydra takes it.

    Assignments before the program, as in `env USE_GPU=1 python run.py`, are given too. A command of options alone is that of an image
    whose entrypoint stands before it.
    """
    program = program_index(command)
    for index, word in enumerate(command):
        if match := _OPTION_WITH_VALUE.fullmatch(word):
            yield Option(_option_name(match.group(1)), match.group(2), index, index)
        elif index >= program and _BEGINS_OPTION.match(word):
            following = command[index + 1] if index + 1 < len(command) else None
            has_value = following is not None and not _BEGINS_OPTION.match(following)
            yield Option(_option_name(word), following if has_value else None, index, index + has_value)


def _option_name(word: str) -> str:
    return word.lstrip("-").rpartition(".")[2].replace("_", "-").lower()


def _statement(option: Option) -> tuple[int, bool | None]:
    """The word that speaks, and whether it turns the GPU on; None where the option says nothing of it."""
    if _any_match("cpu_options", option.name):
        on = _switch(_switch_value(option))
        return option.at, None if on is None else not on
    row = _first_match("gpu_options", option.name)
    if row:
        value = _switch_value(option) if row["meaning"] == "switch" else option.value
        return option.at, _MEANINGS[row["meaning"]](value)
    if option.value is None or option.name in words("commands", "naming_options"):
        return option.at, None
    return option.value_at, _means_device(option.value)


def _switch_value(option: Option) -> str | None:
    """The value of a switch: a word behind it that is no value of one is an operand (`--use-gpu in.txt`)."""
    if option.value is None or option.value_at == option.at:
        return option.value
    values = words("commands", "on_values") | words("commands", "off_values") | words("commands", "no_answer_values")
    is_value = option.value.lower() in values or re.match(r"\d", option.value)
    return option.value if is_value else None


def gpu_variable(name: str, value: str) -> bool:
    """Whether an environment variable says cuda or gpu and means on: `ENABLE_GPU=true`, `DEVICE=cuda`, `CUDA_VISIBLE_DEVICES=0`.

    NVIDIA_VISIBLE_DEVICES is none: it is a request.
    """
    return _of_variable(name, value) is True


def cpu_variable(name: str, value: str) -> bool:
    """Whether an environment variable says CPU or turns a GPU off: `DEVICE=cpu`, `USE_GPU=false`, `CUDA_VISIBLE_DEVICES=`."""
    return hides_gpu(name, value) or _of_variable(name, value) is False


def hides_gpu(name: str, value: str) -> bool:
    """Whether an environment variable hides every GPU from the program: CUDA_VISIBLE_DEVICES empty or -1, NVIDIA_VISIBLE_DEVICES void."""
    return any(row["name"] == name and value in row["values"] for row in table("commands")["hiding_variables"])


def _of_variable(name: str, value: str) -> bool | None:
    row = _first_match("gpu_variables", name.upper())
    return _MEANINGS[row["meaning"]](value) if row else None


def _switch(value: str | None) -> bool | None:
    """A switch is on where it has no value, and undecided where its value is none of a switch's."""
    if value is None:
        return True
    lowered = value.lower()
    return False if lowered in words("commands", "off_values") else True if lowered in words("commands", "on_values") else None


def _devices(value: str | None) -> bool | None:
    """Indices or ids: 0 is the first GPU. A value that can be neither, such as a shell's expression, says nothing."""
    if value is None or value == "0":
        return True
    if value.lower() in words("commands", "no_answer_values") or not re.fullmatch(r"[\w:.,\[\] -]*", value):
        return None
    return value.lower() not in words("commands", "off_values")


def _count(value: str | None) -> bool | None:
    """How many, where -1 and all mean every one and a list names them. A value that is no number says nothing."""
    if value is None:
        return None
    if value.lower() in ("all", "-1") or re.fullmatch(r"\d+(?:,\d*)+", value):
        return True
    return float(value) > 0 if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value) else None


def _means_device(value: str | None) -> bool | None:
    if value is None:
        return None
    return False if _any_match("cpu_values", value) else True if _any_match("gpu_values", value) else None


def _value_anywhere(value: str | None) -> bool | None:
    """A value in a variable of any name: only words that mean nothing but a device count."""
    row = _first_match("gpu_values", value or "")
    return True if row and row["anywhere"] else None


def _platforms(value: str | None) -> bool | None:
    return next((True for part in (value or "").split(",") if _any_match("gpu_values", part.strip())), _means_device(value))


_MEANINGS: dict[str, Callable[[str | None], bool | None]] = {
    "switch": _switch,
    "devices": _devices,
    "count": _count,
    "device": _means_device,
    "value": _value_anywhere,
    "platforms": _platforms,
    "any": lambda value: True if value else None,
    "none": lambda _: None,
}


@lru_cache(_REMEMBERED)
def _first_match(rows: str, text: str) -> Row | None:
    return next((row for row in table("commands")[rows] if fullmatch(row["pattern"], text)), None)


def _any_match(rows: str, text: str) -> bool:
    return _first_match(rows, text) is not None


# --- Processes ------------------------------------------------------------------------------------------------------------------


def parallel_processes(command: Sequence[str]) -> Option | None:
    """The option that sets how many GPUs one program spreads over: `--nproc-per-node 4`, `--tensor-parallel-size=2`."""
    return next((option for option in options(command) if _any_match("parallelism", option.name)), None)


def process_count(command: Sequence[str]) -> Option | None:
    """The option that sets how many processes a launcher starts on this machine: `--nproc-per-node 4`, `mpirun -np 2`."""
    index = program_index(command)
    name = program_name(command[index]) if index < len(command) else ""
    rows = [row for row in table("commands")["process_counts"] if row["launcher"] == name]
    own = (option for option in options(command) if any(fullmatch(row["pattern"], option.name) for row in rows))
    return next(own, None) or parallel_processes(command)


def spreads_over_nodes(command: Sequence[str]) -> bool:
    """Whether a launcher's command starts processes on several machines, or may: `--nnodes 2`, `--hostfile`, `--nnodes=$NODES`."""
    return any(_is_of_several_nodes(row, option) for option in options(command) for row in table("commands")["several_nodes"])


def _is_of_several_nodes(row: Row, option: Option) -> bool:
    if not fullmatch(row["pattern"], option.name):
        return False
    return option.value not in ("1", "1:1") if row["form"] == "count" else row["form"] in ("any", option.value)


def sharing_server(command: Sequence[str]) -> bool:
    """Whether the command starts a server that works on several GPUs by processes which share memory."""
    launch = launched(command)
    index = launch.at if launch and launch.form == "module" else program_index(command)
    return index < len(command) and is_sharing_server(program_name(command[index]))


def is_sharing_server(name: str) -> bool:
    """Whether a program, module or package of that name is such a server."""
    return name in words("commands", "sharing_servers")


def shares_between_gpus(command: Sequence[str]) -> Option | None:
    """The option that names a strategy by which one program works on several GPUs: `--strategy ddp`, `--backend nccl`."""
    known = words("commands", "sharing_strategies")
    return next((option for option in options(command) if option.value is not None and option.value.lower() in known), None)


def loader_workers(command: Sequence[str]) -> Option | None:
    """The option that sets how many worker processes load the data: `--num-workers 8`."""
    return next((option for option in options(command) if _any_match("loader_workers", option.name)), None)


def changed_files(program: str, options: Sequence[str]) -> str:
    """Which of its operands a program writes to: "all" of them, the "last", or "printed" where it writes what it is given as input; "" for
    none."""
    rows = (row for row in table("commands")["file_changers"] if program in row["words"])
    return next((row["which"] for row in rows if "switch" not in row or any(fullmatch(row["switch"], each) for each in options)), "")
