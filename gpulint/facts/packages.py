"""What a package says of the GPU: whether it is a GPU build, what it needs of the image, and whether it compiles when it runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table


class PackageFacts(NamedTuple):
    """What is known of a package.

    `implies` is nvidia-gpu (of no use without one), gpu-capable (a GPU build that also runs without), cpu-only, cpu-by-default (a GPU
    build only on request), monitoring, neutral, or another accelerator: amd, intel, tpu, neuron, habana, other.
    `needs_cuda_libraries` and `needs_cudnn` say that it takes those from the image, `built_with_nvcc` that an install from source
    compiles CUDA code, and `own_architectures` that it has its own list of the architectures to compile for.
    """

    implies: str
    needs_cuda_libraries: bool = False
    needs_cudnn: bool = False
    built_with_nvcc: bool = False
    own_architectures: bool = False
    compiles_at_run_time: bool = False


class Compilation(NamedTuple):
    """What a program that compiles when it runs needs in its image: a C compiler, nvcc, or neither (NVRTC and the like suffice)."""

    c_compiler: bool
    nvcc: bool


def package_facts(name: str, extras: Iterable[str] = (), specifier: str = "") -> PackageFacts | None:
    """What is known of a package, None for one without a row.

    `name` is in lower case with `-`; a local version in `specifier` (`==2.4.1+cpu`) names the build.
    """
    row = _row(name)
    if row is None:
        return None
    own_libraries = bool(row.get("unless_extras")) and set(row["unless_extras"]) <= set(extras)
    return PackageFacts(
        implies=_implied(row, set(extras), specifier),
        needs_cuda_libraries=row.get("cuda_libraries", False) and not own_libraries,
        needs_cudnn=row.get("cudnn", False) and not own_libraries,
        built_with_nvcc=row.get("built_with_nvcc", False),
        own_architectures=row.get("own_architectures", False),
        compiles_at_run_time=run_time_compilation(name) is not None,
    )


@cache
def _row(name: str) -> Row | None:
    return _rows_by_name().get(name) or next((row for row in _pattern_rows() if fullmatch(row["pattern"], name)), None)


@cache
def _rows_by_name() -> dict[str, Row]:
    return {name: row for row in table("packages")["packages"] for name in row.get("names", ())}


@cache
def _pattern_rows() -> tuple[Row, ...]:
    return tuple(row for row in table("packages")["packages"] if "pattern" in row)


def _implied(row: Row, extras: set[str], specifier: str) -> str:
    label = specifier.partition("+")[2].strip()
    for build in table("packages")["labels"]:
        if label and fullmatch(build["pattern"], label):
            return str(build["implies"])
    asks_for_gpu = extras & {*row.get("gpu_extras", ()), *row.get("unless_extras", ())}
    return "nvidia-gpu" if asks_for_gpu else str(row["implies"])


@cache
def run_time_compilation(word: str) -> Compilation | None:
    """What a package, module, call or program of that name needs because it compiles when it runs; None where it does not.

    A module or call stands for what it holds: `triton.language.core` compiles as `triton` does.
    """
    needs = _needs_by_word()
    while word not in needs and "." in word:
        word = word.rpartition(".")[0]
    return Compilation("cc" in needs[word], "nvcc" in needs[word]) if word in needs else None


def compiles_at_run_time(word: str) -> bool:
    """Whether a package, module, call or program of that name compiles GPU code, or calls a compiler, when it runs."""
    return run_time_compilation(word) is not None


def prebuild_variable(package: str) -> str:
    """The variable that makes a package compile when it is installed, "" for one that does not compile when it runs, or has none."""
    return next((str(row["variable"]) for row in table("packages")["prebuild_variables"] if row["package"] == package), "")


@cache
def _needs_by_word() -> dict[str, set[str]]:
    needs: dict[str, set[str]] = {}
    for row in table("packages")["run_time_compilation"]:
        for word in row["words"]:
            needs.setdefault(word, set()).update(row["needs"])
    return needs


def prebuilds(package: str, variable: str) -> bool:
    """Whether an environment variable makes the package compile when it is installed, and no more when it runs."""
    rows = table("packages")["prebuild_variables"]
    return any(row["package"] == package and fullmatch(row["pattern"], variable) for row in rows)


def cuda_switch(word: str) -> bool | None:
    """Whether a build's setting (`-DGGML_CUDA=on`, `WITH_CUDA=OFF`) turns its CUDA part on; None for any other, or any other value."""
    name, _, value = word.removeprefix("-D").partition("=")
    name = name.partition(":")[0]
    if not any(fullmatch(row["pattern"], name) for row in table("packages")["cuda_switches"]):
        return None
    rows = table("packages")["switch_values"]
    return next((row["state"] == "on" for row in rows if value.lower() in row["words"]), None)
