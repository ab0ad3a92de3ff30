"""Machine-learning frameworks: which build an install brings, which CUDA it needs of the image, and where its wheels run."""

from __future__ import annotations

from functools import cache

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, release_key, table, version_key, words


class Build(NamedTuple):
    """A build of PyTorch: `kind` is cuda, cpu, rocm or xpu, or "" where it is not known; for cuda its CUDA version and its cuDNN."""

    kind: str
    cuda: str | None = None
    cudnn: str | None = None


class SystemCuda(NamedTuple):
    """What a package needs of the image it is installed in: a CUDA of the same major, and a cuDNN of the same major; None for neither."""

    cuda: str | None
    cudnn: str | None


class CpuBuild(NamedTuple):
    """A package that is built without GPU code: the framework that it is of, and what to install in its place."""

    framework: str
    instead: str


# --- PyTorch --------------------------------------------------------------------------------------------------------------------


def torch_build(version: str | None, index: str | None = None, platform: str = "linux/amd64") -> Build:
    """The build of torch that an install brings.

    `version` is the exact version, with its local label if it has one, or None where none is pinned: then it is the newest release
    that the facts know. `index` is the address of the index that the package is taken from, None for PyPI.
    """
    if version and "+" in version:
        return _labelled(version.partition("+")[2])
    if index is not None and not _is_pypi(index):
        return _labelled(index_variant(index))
    row = _torch_row(version or newest("torch") or "")
    if row is None:
        return Build("")
    if platform.startswith("linux/arm64") and row["arm64"] == "cpu":
        return Build("cpu")
    return Build("cuda", row["cuda"], row.get("cudnn"))


def _labelled(label: str) -> Build:
    """The build that a local version or the last part of an index's address names."""
    for row in table("frameworks")["torch_indexes"]:
        if match := fullmatch(row["pattern"], label):
            return Build(row["kind"], "{major}.{minor}".format(**match.groupdict()) if row["kind"] == "cuda" else None)
    return Build("")


def _torch_row(version: str) -> Row | None:
    wanted = release_key(version)
    if wanted is None:
        return None
    exact = [row for row in table("frameworks")["torch"] if release_key(row["torch"]) == wanted]
    same_minor = [row for row in table("frameworks")["torch"] if (release_key(row["torch"]) or ())[:2] == wanted[:2]]
    ranges = [row for row in table("frameworks")["torch_ranges"] if _in_range(wanted, row)]
    return next(iter((*exact, *same_minor, *ranges)), None)


def index_variant(index: str) -> str:
    """The variant that a package index's address names: cpu, cu124, rocm6.2, xpu ...; "" where it names none."""
    for row in table("frameworks")["index_urls"]:
        if match := fullmatch(row["pattern"], index.strip()):
            return match.groupdict().get("variant") or ""
    return ""


def backend_index(backend: str) -> str:
    """PyTorch's index of a backend, as uv names it. `auto` is the CPU's where no driver is, as in a build."""
    indexes = {row["backend"]: str(row["index"]) for row in table("frameworks")["backends"]}
    return indexes.get(backend) or indexes[""] + backend


def _is_pypi(index: str) -> bool:
    rows = table("frameworks")["index_urls"]
    return any(row["package"] == "" and fullmatch(row["pattern"], index.strip()) for row in rows)


def is_known_index(index: str) -> bool:
    """Whether an index is PyPI or one that the facts know: another may hold builds of its own under the same names."""
    return any(fullmatch(row["pattern"], index.strip()) for row in table("frameworks")["index_urls"])


def torch_versions() -> tuple[str, ...]:
    """The releases of torch that the facts know one by one, the newest first."""
    return tuple(
        sorted((row["torch"] for row in table("frameworks")["torch"]), key=lambda version: release_key(version) or (), reverse=True)
    )


def torch_indexes(version: str) -> tuple[str, ...]:
    """The variants that PyTorch's own index offers for a version, () where not known."""
    row = _torch_row(version)
    return tuple(row.get("indexes") or ()) if row else ()


def torch_architectures(version: str, cuda: str) -> tuple[str, ...]:
    """The compute capabilities compiled into a Linux x86_64 wheel, "+PTX" where code for newer ones is too; () where not known."""
    wanted = release_key(version) or ()
    rows = table("frameworks")["torch_architectures"]
    return next((tuple(row["architectures"]) for row in rows if cuda in row["cuda"] and _in_range(wanted, row)), ())


def torch_companion(package: str, torch: str) -> str | None:
    """The minor of torchvision or torchaudio that goes with a version of torch; None where not known."""
    minor = ".".join(torch.split(".")[:2])
    rows = table("frameworks")["torch_companions"]
    return next((row["companion"] for row in rows if row["package"] == package and row["torch"] == minor), None)


def torch_requirement(package: str, version: str | None) -> str | None:
    """The version specifier that a package puts on torch: of the exact version, or for None of the newest one that the facts know.

    None where it is not known; "" where any torch serves.
    """
    rows = [row for row in table("frameworks")["torch_requirements"] if row["package"] == package]
    if version is None:
        row: Row = max(rows, key=lambda row: release_key(row["version"]) or (), default={})
        return row.get("torch")
    return next((row["torch"] for row in rows if row["version"] == version), None)


# --- Any framework --------------------------------------------------------------------------------------------------------------


def system_cuda(package: str, version: str | None, extras: tuple[str, ...] = ()) -> SystemCuda | None:
    """The CUDA and cuDNN that a package takes from the image; None where it brings its own, needs none, or nothing is known.

    `version` is the exact version, or None for the newest that the facts know. A range of versions has no answer: ask for its ends.
    """
    wanted = None if version is None else release_key(version)
    for row in table("frameworks")["system_cuda"]:
        if package in row["packages"] and _extras_fit(row, extras) and _is_meant(wanted, row):
            return SystemCuda(row["cuda"], row["cudnn"])
    return None


def needs_system_cuda(package: str, extras: tuple[str, ...] = ()) -> bool:
    """Whether some version of a package takes CUDA from the image, when it is installed with these extras."""
    return any(package in row["packages"] and _extras_fit(row, extras) for row in table("frameworks")["system_cuda"])


def followed_package(package: str, version: str | None) -> str | None:
    """The package that does a package's work on the GPU, in the version that the installer chooses for it; None for one that does its
    own. `version` is the exact version, None for the newest."""
    wanted = None if version is None else release_key(version)
    for row in table("frameworks")["follows"]:
        if row["package"] == package and (wanted is None or wanted >= (release_key(row["from"]) or ())):
            return str(row["of"])
    return None


def loads_torch_first(package: str) -> bool:
    """Whether a package loads torch, with the libraries that torch brings, before it uses CUDA itself."""
    return any(package in row["packages"] for row in table("frameworks")["loads_torch"])


def newest_by_python(package: str) -> tuple[str, ...]:
    """The releases that an installer may choose where nothing is asked of the version: the newest, and the last ones for older Pythons
    that systems still have; () where they are not known."""
    latest = newest(package)
    last = (str(row["version"]) for row in table("frameworks")["last_for_python"] if row["package"] == package)
    return () if latest is None else (latest, *last)


def _extras_fit(row: Row, extras: tuple[str, ...]) -> bool:
    brings_own = bool(row.get("unless_extras")) and set(row["unless_extras"]) <= set(extras)
    return not brings_own and ("extras" not in row or any(extra in row["extras"] for extra in extras))


def _is_meant(wanted: tuple[int, ...] | None, row: Row) -> bool:
    return row["below"] is None if wanted is None else _in_range(wanted, row)


def _in_range(version: tuple[int, ...], row: Row) -> bool:
    first, limit = release_key(row["from"] or ""), release_key(row["below"] or "")
    return (first is None or version >= first) and (limit is None or version < limit)


def jax_build(extras: tuple[str, ...]) -> str:
    """The build that an install of jax with these extras brings: cpu without any, else cuda12, cuda13, cuda11, rocm or tpu."""
    rows = table("frameworks")["jax"]
    found = (str(row["build"]) for extra in extras for row in rows if extra in row["extras"])
    return next(found, "cpu")


def conda_meaning(name: str) -> str:
    """What a conda package says of the variant: cpu, cuda, "solver" where the solver chooses, "" where it says nothing.

    In an image build no driver is seen, so the solver chooses the CPU build unless told otherwise.
    """
    return next((str(row["means"]) for row in table("frameworks")["conda"] if name in row["names"]), "")


def conda_torch() -> tuple[str, str]:
    """The names in conda of PyTorch, which pip sees as torch, and of the package that fixes its CUDA version."""
    (row,) = table("frameworks")["conda_torch"]
    return row["package"], row["cuda"]


def conda_build_meaning(specifier: str) -> str:
    """What the build string of a match specification (`=2.4=cuda120*`) says of the variant: cpu, cuda, "" for neither or none."""
    parts = specifier.replace("==", "=").split("=")
    build = parts[2] if len(parts) > 2 else ""
    return next((str(row["means"]) for row in table("frameworks")["conda_builds"] if fullmatch(row["pattern"], build)), "")


def has_cuda_builds(channel: str) -> bool:
    """Whether a conda channel has CUDA builds that are taken although no driver is seen."""
    return channel.rstrip("/").rpartition("/")[2].lower() in words("frameworks", "conda_channels")


def is_conda_override(variable: str) -> bool:
    """Whether an environment variable tells the solver of conda which CUDA to build for."""
    return variable in words("frameworks", "conda_variables")


def cpu_build(package: str, version: str | None) -> CpuBuild | None:
    """What a package of PyPI is that has no GPU code, None for any other. `version` is the exact one, None where none is pinned."""
    wanted = None if version is None else release_key(version)
    for row in table("frameworks")["cpu_builds"]:
        if package in row["packages"] and (_is_meant(wanted, row) or (row["from"] is None and row["below"] is None)):
            return CpuBuild(row["framework"], row["instead"])
    return None


@cache
def family(package: str) -> str:
    """The framework that a package is a build or a part of, the package itself for any other."""
    rows = table("frameworks")["families"]
    return next((str(row["family"]) for row in rows if package in row["packages"]), package)


@cache
def computes_by_itself(package: str) -> bool:
    """Whether a package for GPUs computes by itself. Extensions of PyTorch do on the device that PyTorch has; libraries of CUDA do not."""
    is_part = any(fullmatch(row["pattern"], package) for row in table("frameworks")["cuda_parts"])
    return not is_part and package not in words("frameworks", "runs_in_torch")


def same_module(package: str) -> tuple[str, tuple[str, ...]] | None:
    """The Python module of a CPU package, and the GPU packages that put their files in the same place; None for any other package."""
    rows = table("frameworks")["same_module"]
    return next(((str(row["module"]), tuple(row["gpu"])) for row in rows if package in row["cpu"]), None)


@cache
def newest(package: str) -> str | None:
    """The newest release of a framework that the facts know."""
    return next((str(row["version"]) for row in table("frameworks")["newest"] if row["package"] == package), None)


def wheel_glibc(package: str, version: str) -> str | None:
    """The glibc that the wheels of a version need, where they are known to need a newer one than 2.17; None else."""
    row = _glibc_row(package, version)
    return str(row["glibc"]) if row else None


@cache
def newest_wheel_glibc() -> str:
    """The newest glibc that any wheels are known to need."""
    return max((str(row["glibc"]) for row in table("frameworks")["wheel_glibc"]), key=version_key)


def has_source(package: str, version: str) -> bool:
    """Whether a version can also be built from source, by PyPI, where its wheels do not serve."""
    row = _glibc_row(package, version)
    return row is None or bool(row.get("source", False))


def _glibc_row(package: str, version: str) -> Row | None:
    wanted = (*(release_key(version) or ()), 0, 0)
    rows = [row for row in table("frameworks")["wheel_glibc"] if row["package"] == package and wanted >= (release_key(row["from"]) or ())]
    return rows[-1] if rows else None
