"""Stages: what each FROM of a Dockerfile builds, with ARG and ENV as they stand at each instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from gpulint.deferred import NamedTuple, dataclass
from gpulint.model.image import ImageRef, parse_image
from gpulint.model.scope import Outside, Scope, join_path, read_global_arguments
from gpulint.model.variable import EnvVar
from gpulint.parse.dockerfile import DockerfileSyntax, Instruction
from gpulint.parse.dockerfile_words import heredoc_words
from gpulint.source import Location, Text, Unknown, Value

if TYPE_CHECKING:
    from gpulint.model.install import Install
    from gpulint.parse.shell import Script


class RunMount(NamedTuple):
    """`--mount` of a RUN: its type (bind where none is given), the stage or image it is from, and its source and target as written."""

    type: str
    from_: Text | None
    source: Text | None
    target: Text | None


class Run(NamedTuple):
    """One RUN: its instruction, its script with the stage's ENV and ARG known, and the WORKDIR it runs in.

    The script has the commands of `bash -c` and of heredocs given to a shell. It has none where SHELL or a heredoc's first line names
    another interpreter.
    """

    instruction: Instruction
    script: Script
    working_directory: Value | None

    @property
    def mounts(self) -> tuple[RunMount, ...]:
        """The mounts of the instruction's flags."""
        return tuple(_mount(flag.value) for flag in self.instruction.flags if flag.name == "mount" and flag.value)


class Copy(NamedTuple):
    """One COPY or ADD: what from where to where, and the WORKDIR that a relative target is in.

    `from_` is a stage's name or number, an image, or None for the build context. Heredocs among the sources are the instruction's.
    """

    instruction: Instruction
    sources: tuple[Value, ...]
    target: Value
    from_: Value | None
    working_directory: Value | None

    @property
    def destination(self) -> Value:
        """The target from the root. It ends in `/` where it is a folder that the sources are put into."""
        return join_path(self.working_directory, self.target)


@dataclass(frozen=True, eq=False)
class Stage:
    """One build stage.

    `base` is the image of its FROM after ARG resolution, None where FROM names an earlier stage (`parent`). `instructions` are those
    behind FROM. What follows from them is worked out when it is first asked.
    """

    path: str
    index: int
    name: Text | None
    base: ImageRef | None
    parent: Stage | None = field(repr=False)
    from_instruction: Instruction = field(repr=False)
    platform: Value | None
    instructions: tuple[Instruction, ...] = field(repr=False)
    is_last: bool
    earlier_names: frozenset[str] = field(repr=False)
    outside: Outside = field(repr=False)

    @property
    def from_location(self) -> Location:
        """The place of the whole FROM."""
        return self.from_instruction.location

    def chain(self) -> tuple[Stage, ...]:
        """This stage and those it builds on, nearest first."""
        stages = [self]
        while stages[-1].parent is not None:
            stages.append(stages[-1].parent)
        return tuple(stages)

    @property
    def env(self) -> tuple[EnvVar, ...]:
        """ENV as it stands at the end, with that of the parents: each variable once, in the order of their first setting."""
        return tuple(self._end.env.values())

    @property
    def arguments(self) -> tuple[EnvVar, ...]:
        """The ARGs declared here and in the parents, with the values they have; None for one without default or value from outside."""
        return tuple(self._end.arguments.values())

    @property
    def entrypoint(self) -> tuple[Value, ...] | None:
        """The words of ENTRYPOINT, None where the base image decides, empty where it is reset."""
        return self._end.entrypoint

    @property
    def command(self) -> tuple[Value, ...] | None:
        """The words of CMD, None where the base image decides, empty where it is reset, as an ENTRYPOINT does to an inherited one."""
        return self._end.command

    @property
    def working_directory(self) -> Value | None:
        """The WORKDIR at the end, from the root; None where the base image decides."""
        return self._end.working_directory

    @property
    def user(self) -> Value | None:
        """The USER at the end; None where the base image decides."""
        return self._end.user

    def variable(self, name: str) -> EnvVar | None:
        """The ENV of that name as it stands at the end."""
        return self._end.env.get(name)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The RUNs in order, without those of the parents."""
        return tuple(run for run, _ in self.steps)

    @cached_property
    def installs(self) -> tuple[Install, ...]:
        """What the RUNs install, in order, without the parents' RUNs."""
        return tuple(install for _, installs in self.steps for install in installs if not install.removes)

    @cached_property
    def removals(self) -> tuple[Install, ...]:
        """What the RUNs remove again, in order, without the parents' RUNs."""
        return tuple(install for _, installs in self.steps for install in installs if install.removes)

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """The COPYs and ADDs in order, without those of the parents."""
        found = (_read_copy(instruction, scope) for instruction, scope in self._walk() if instruction.name in ("COPY", "ADD"))
        return tuple(copy for copy in found if copy is not None)

    @cached_property
    def copied_images(self) -> tuple[ImageRef, ...]:
        """The images that COPYs of the stage take files from, by `--from=` a name that is no stage's."""
        flags = (instruction.flag("from") for instruction in self.instructions if instruction.name == "COPY")
        names = [flag.value for flag in flags if flag is not None and flag.value is not None and not flag.value.isdecimal()]
        return tuple(parse_image(name) for name in names if name.lower() not in self.earlier_names and "$" not in name)

    @cached_property
    def steps(self) -> tuple[tuple[Run, tuple[Install, ...]], ...]:
        """The RUNs in order, each with what it installs and removes. The shell's reader is imported here: many runs need no script of any
        stage."""
        from gpulint.model.install import read_installs
        from gpulint.model.run_script import read_run_script

        steps = []
        for instruction, scope in self._walk():
            if instruction.name == "RUN":
                run = Run(instruction, read_run_script(instruction, scope), scope.working_directory)
                steps.append((run, tuple(read_installs(run.script.commands, scope.variables))))
        return tuple(steps)

    def _walk(self) -> Iterator[tuple[Instruction, Scope]]:
        """Each instruction that this stage runs, with the scope as it stands before it."""
        scope = self._begin()
        for instruction in self._executed:
            yield instruction, scope
            scope.apply(instruction)

    @property
    def _executed(self) -> tuple[Instruction, ...]:
        """The instructions, and before them those that the parent keeps for its children by ONBUILD."""
        kept = self.parent.instructions if self.parent is not None else ()
        return (*(each.trigger for each in kept if each.trigger is not None), *self.instructions)

    def _begin(self) -> Scope:
        return Scope(self.outside) if self.parent is None else self.parent._end.child()

    @cached_property
    def _end(self) -> Scope:
        """The scope behind the last instruction. Those of the parents are worked out from the first on, so that none waits for another."""
        for stage in reversed(self.chain()[1:]):
            if "_end" not in stage.__dict__:
                _ = stage._end
        scope = self._begin()
        for instruction in self._executed:
            scope.apply(instruction)
        return scope


class Dockerfile(NamedTuple):
    """A Dockerfile's meaning: its stages in order, and the ARGs before the first of them."""

    path: str
    syntax: DockerfileSyntax
    stages: tuple[Stage, ...]
    arguments: tuple[EnvVar, ...] = ()

    def stage(self, target: str) -> Stage | None:
        """The stage of that name, in any case, or number, as a build target names one."""
        if target.isdecimal():
            return next((stage for stage in self.stages if str(stage.index) == target), None)
        return next((stage for stage in reversed(self.stages) if stage.name is not None and stage.name.lower() == target.lower()), None)


_MOST_STAGES = 1_000
"""What is read of a file; more come only from one that is made to cost time, since each stage holds all variables of its parents."""


def read_dockerfile(path: str, syntax: DockerfileSyntax, build_arguments: Mapping[str, Value] | None = None) -> Dockerfile:
    """The stages of a Dockerfile, with ARG and ENV resolved as BuildKit does; `build_arguments` override ARG defaults."""
    starts = [index for index, instruction in enumerate(syntax.instructions) if instruction.name == "FROM"]
    before = syntax.instructions[: starts[0]] if starts else syntax.instructions
    outside = Outside(build_arguments or {}, read_global_arguments(before, build_arguments or {}))
    named: dict[str, Stage] = {}
    stages: list[Stage] = []
    for start, end in islice(pairwise([*starts, len(syntax.instructions)]), _MOST_STAGES):
        first, *instructions = syntax.instructions[start:end]
        parent, base = _read_base(first, outside, named)
        platform = first.flag("platform")
        stage = Stage(
            path,
            index=len(stages),
            name=first.words[2] if len(first.words) == 3 else None,
            base=base,
            parent=parent,
            from_instruction=first,
            platform=outside.expand_from(platform.value, first.escape) if platform and platform.value else None,
            instructions=tuple(instructions),
            is_last=start == starts[-1],
            earlier_names=frozenset(named),
            outside=outside,
        )
        stages.append(stage)
        if stage.name is not None:
            named[stage.name.lower()] = stage
    return Dockerfile(path, syntax, tuple(stages), tuple(outside.global_arguments.values()))


def _read_base(first: Instruction, outside: Outside, named: Mapping[str, Stage]) -> tuple[Stage | None, ImageRef | None]:
    """The earlier stage that FROM names, or the image."""
    base = outside.expand_from(first.words[0], first.escape) if first.words else Unknown("", first.location)
    parent = named.get(base.lower()) if isinstance(base, Text) else None
    return parent, None if parent is not None else parse_image(base)


def _read_copy(instruction: Instruction, scope: Scope) -> Copy | None:
    words = [word for word in instruction.words if not (instruction.heredocs and heredoc_words(word))]
    if not words or len(instruction.words) < 2:
        return None
    *sources, target = (scope.expand(word, instruction) for word in words)
    from_ = instruction.flag("from")
    return Copy(instruction, tuple(sources), target, from_.value if from_ else None, scope.working_directory)


def _mount(text: Text) -> RunMount:
    fields: dict[str, Text] = {}
    for match in re.finditer(r"[^,]+", text):
        key, _, value = match[0].partition("=")
        fields[key.lower()] = text.cut(match.end() - len(value), match.end())
    source, target = (next((fields[key] for key in keys if key in fields), None) for keys in (_SOURCE_KEYS, _TARGET_KEYS))
    return RunMount(str(fields.get("type", "bind")), fields.get("from"), source, target)


_SOURCE_KEYS = ("source", "src")
_TARGET_KEYS = ("target", "dst", "destination")
