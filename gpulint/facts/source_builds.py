"""Builds from source that compile CUDA code: which packages, when they do, and where they take the GPU architectures from."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table, words


class SourceBuild(NamedTuple):
    """How a package is built from source.

    `cuda` says when it compiles CUDA code: always; probed, where the build sees a GPU or `forced_by` is set to 1; option, where the command
    has one that `option` matches; variable, where the environment has one that `variable` matches; cmake, where CMAKE_ARGS turn it on, as
    `switch` does. `unless` is the variable that leaves the CUDA code out. `is_prebuilt` says that its build takes a ready wheel where one
    fits, unless `rebuilt_by` is set. `is_source_only` says that PyPI has its source and no wheel. `architectures` is the variable without
    which it compiles for the GPUs that the build sees, "" where it has a list of its own.
    """

    cuda: str
    forced_by: str = ""
    option: str = ""
    variable: str = ""
    switch: str = ""
    unless: str = ""
    is_prebuilt: bool = False
    rebuilt_by: str = ""
    is_source_only: bool = False
    architectures: str = ""


class SetupScript(NamedTuple):
    """What the words of a setup.py say: that it compiles CUDA code, that it asks the machine or the environment first, and that it has
    a list of architectures of its own."""

    compiles: bool
    asks: bool
    has_architectures: bool


@cache
def build_of_package(name: str) -> SourceBuild | None:
    """How a package of that name is built, None for one that is not known to compile CUDA code."""
    return next((_build(row) for row in table("source_builds")["builds"] if name in row["names"]), None)


@cache
def build_of_address(address: str) -> SourceBuild | None:
    """How the source at an address is built: a repository, as git or pip are told of it."""
    return next((_build(row) for row in table("source_builds")["builds"] if fullmatch(row["source"], address)), None)


def _build(row: Row) -> SourceBuild:
    return SourceBuild(
        row["cuda"],
        row.get("forced_by", ""),
        row.get("option", ""),
        row.get("variable", ""),
        row.get("switch", ""),
        row.get("unless", ""),
        row.get("prebuilt", False),
        row.get("rebuilt_by", ""),
        row["on_pypi"] == "source",
        row.get("architectures", ""),
    )


def read_setup_script(text: str) -> SetupScript:
    """What a setup.py says by its words."""
    rows = table("source_builds")["setup_words"]
    said = {row["means"] for row in rows if any(word in text for word in row["words"])}
    return SetupScript("compiles" in said, "asks" in said, "architectures" in said)


def architecture_variables() -> frozenset[str]:
    """The variables that name the architectures to compile for."""
    return words("source_builds", "architecture_variables")


def has_architecture_list(repository: str) -> bool:
    """Whether an image sets the list of architectures itself."""
    return any(fullmatch(row["pattern"], repository) for row in table("source_builds")["images_with_list"])


def needs_cuda_if_on(switch: str) -> bool:
    """Whether the build of a switch (`-DGGML_CUDA=ON`) stops where it is on and CUDA is not found."""
    name = switch.partition("=")[0]
    return any(fullmatch(row["pattern"], name) for row in table("source_builds")["needed_switches"])


def option_meanings(options: Collection[str]) -> frozenset[str]:
    """What the options of a compiler or a build say of the CUDA libraries: runtime (it links with the run-time library), libraries (with
    others, such as cuBLAS), shared, static, information (it compiles nothing)."""
    rows = table("source_builds")["nvcc_options"]
    return frozenset(row["means"] for row in rows if any(fullmatch(row["pattern"], option) for option in options))


def has_cuda_feature(program: str, options: Collection[tuple[str, str]]) -> bool:
    """Whether a build of Rust or Go has a feature on that links with CUDA, by its options and their values."""
    rows = [row for row in table("source_builds")["feature_builds"] if row["program"] == program]
    return any(name in row["options"] and fullmatch(row["pattern"], value) for row in rows for name, value in options)


def may_be_program(path: str) -> bool:
    """Whether a path may be that of a program, a library or a folder of such, by its name."""
    return any(fullmatch(row["pattern"], path) for row in table("source_builds")["program_paths"])
