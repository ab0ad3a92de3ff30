"""What the facts say of a container image: by its name, and by the words of its name and tag."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from gpulint.deferred import NamedTuple
from gpulint.facts import Row, fullmatch, table, words


class Need(enum.Enum):
    """How surely a container of the image wants a GPU. UNKNOWN where neither a row nor a word of the tag tells."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"
    NONE = "none"
    UNKNOWN = "unknown"


class ImageFacts(NamedTuple):
    """What is known of an image.

    `vendor` is whose GPU it is made for: nvidia, jetson, amd, intel, habana, google, aws; "cpu" where it is a build without GPU code;
    "" where the image is made for none. `listed` says that a row of the facts names it. `cuda` is the CUDA inside ("12.4" or "12.4.1"),
    `cuda_compat` whether the package cuda-compat is, with which data-centre cards run it on some older drivers,
    `cudnn` whether the system's cuDNN is inside, `nvcc` and `c_compiler` whether these compilers are; None where not known. `flavour` is
    base, runtime, devel, or "devel-like" for an image that has nvcc and no smaller twin; `runtime_tag` is the tag of the runtime twin
    of a devel image. `minimal` says what a minimal base lacks a GPU's libraries for: musl, distroless, scratch or busybox.
    `capabilities` are the driver capabilities it wants beyond compute and utility, `sets_visible_devices` whether it sets
    NVIDIA_VISIBLE_DEVICES, `driver_capabilities` what it sets NVIDIA_DRIVER_CAPABILITIES to.
    """

    vendor: str = ""
    need: Need = Need.UNKNOWN
    listed: bool = False
    carries_cuda: bool | None = None
    cuda_compat: bool = False
    cuda: str | None = None
    cudnn: bool | None = None
    flavour: str | None = None
    nvcc: bool | None = None
    c_compiler: bool | None = None
    runtime_tag: str | None = None
    infrastructure: bool = False
    optional_gpu: bool = False
    model_server: bool = False
    minimal: str = ""
    sets_visible_devices: bool | None = None
    capabilities: tuple[str, ...] = ()
    driver_capabilities: str | None = None

    @property
    def without_gpu(self) -> bool:
        """Whether the image is known to bring nothing for a GPU: a CPU build, or a plain system or language."""
        return self.need is Need.NONE or (self.listed and self.carries_cuda is False and not self.vendor and not self.optional_gpu)


_PLAIN_FIELDS = (
    "vendor",
    "carries_cuda",
    "cuda_compat",
    "cudnn",
    "flavour",
    "nvcc",
    "c_compiler",
    "infrastructure",
    "optional_gpu",
    "model_server",
    "minimal",
    "sets_visible_devices",
    "driver_capabilities",
)


def normalised(name: str) -> str:
    """An image's name without Docker Hub's registry and `library/`, which it also has when they are not written."""
    hub = next((prefix for prefix in words("images", "hub_prefixes") if name.startswith(prefix)), "")
    return name.removeprefix(hub).removeprefix("library/")


@cache
def image_facts(repository: str, tag: str | None) -> ImageFacts:
    """What is known of an image by its normalised name and its tag (None where it has none)."""
    row = _row(repository)
    facts = _from_row(row, repository, tag or "latest") if row else _from_words(repository, tag or "")
    return facts._replace(minimal=facts.minimal or _minimal_by_tag(tag or ""))


@cache
def repository_facts(repository: str) -> ImageFacts:
    """What holds of an image whatever its tag: need and vendor are not told where they depend on the tag."""
    row = _row(repository)
    if row is None:
        return _from_words(repository, "")
    told_by_tag = {key for variant in row.get("tags", ()) for key in variant} | {"cuda", "ngc"}
    common = {key: value for key, value in row.items() if key not in told_by_tag}
    return _from_row({"need": Need.UNKNOWN.value, **common}, repository, "")


def _row(repository: str) -> Row | None:
    """The row of an image, also where a private registry mirrors it under its full name."""
    found = _by_name(repository)
    inner = repository.partition("/")[2] if has_registry(repository) else ""
    while found is None and "/" in inner:
        found = _by_name(inner)
        inner = inner.partition("/")[2]
    return found


def is_mirrored(repository: str) -> bool:
    """Whether the facts name an image only under another registry: what a private one holds under that name may be changed."""
    return _by_name(repository) is None and _row(repository) is not None


def has_registry(repository: str) -> bool:
    """Whether a normalised name begins with the host of a registry."""
    first, slash, _ = repository.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")


def _by_name(repository: str) -> Row | None:
    exact = _rows_by_name().get(repository)
    return exact or next((row for row in _other_rows() if _matches(row, repository)), None)


@cache
def _rows_by_name() -> dict[str, Row]:
    return {name: row for row in table("images")["images"] for name in row.get("names", ())}


@cache
def _other_rows() -> tuple[Row, ...]:
    return tuple(row for row in table("images")["images"] if "names" not in row)


def _matches(row: Row, repository: str) -> bool:
    if "starts" in row:
        return repository.startswith(row["starts"])
    may_match = any(part in repository for part in row["holds"])  # a pattern costs more to compile than to find unneeded
    return may_match and bool(fullmatch(row["pattern"], repository)) and _is_account(row, repository)


def _is_account(row: Row, repository: str) -> bool:
    first = repository.partition(".")[0]
    return not first.isdigit() or first in row.get("accounts", (first,))


def _from_row(row: Row, repository: str, tag: str) -> ImageFacts:
    variant: Row = next((variant for variant in row.get("tags", ()) if re.search(variant["tag"], tag)), {})
    merged = {**row, **variant}
    values: dict[str, Any] = {field: merged[field] for field in _PLAIN_FIELDS if field in merged}
    values["capabilities"] = tuple(merged.get("capabilities", ()))
    if isinstance(values.get("cudnn"), str):
        values["cudnn"] = bool(re.search(values["cudnn"], tag))
    if "twin" in merged:
        values["runtime_tag"] = re.sub(merged["tag"], merged["twin"], tag)
    return ImageFacts(need=Need(merged["need"]), listed=True, cuda=_cuda(merged, repository, tag), **values)


def _cuda(row: Row, repository: str, tag: str) -> str | None:
    """The CUDA version inside, as the row says it is to be read from tag or name."""
    if "cuda_is" in row:
        return str(row["cuda_is"])
    if row.get("ngc"):
        return _cuda_of_release(tag)
    match = None
    if row.get("carries_cuda") and "tensorflow" in row:
        return _cuda_of_tensorflow(re.search(row["tensorflow"], tag))
    if "cuda_in_name" in row:
        match = re.search(row["cuda_in_name"], repository)
    elif "cuda" in row:
        match = re.search(row["cuda"], tag)
    return _version_of(match.groupdict()) if match else None


def _version_of(groups: dict[str, str]) -> str:
    """`12.4` of a version that is written so, or as 124."""
    return groups.get("version") or f"{groups['major']}.{groups['minor']}"


def _cuda_of_tensorflow(match: re.Match[str] | None) -> str | None:
    """The CUDA that TensorFlow's own images hold: the one that the release is built with."""
    from gpulint.facts.frameworks import system_cuda

    needed = system_cuda("tensorflow", match["version"]) if match else None
    return needed.cuda if needed else None


def _cuda_of_release(tag: str) -> str | None:
    """The CUDA of a monthly NGC release, where a source tells it."""
    release = tag[:5]
    rows = table("ngc_releases")["releases"]
    return next((row["cuda"] for row in rows if row["release"] == release and row["sure"] != "low"), None)


def _from_words(repository: str, tag: str) -> ImageFacts:
    """An image that no row names: what the words of its tag, or else of its own name, say."""
    if cpu_word(tag) or cpu_word(repository):
        return ImageFacts(vendor="cpu", need=Need.NONE)
    found = list(_gpu_words(tag))
    vendor = next((vendor for vendor in map(_vendor_of_word, found) if vendor), "")
    return ImageFacts(vendor=vendor, need=Need.LIKELY) if found else ImageFacts()


@cache
def gpu_variant(repository: str, tag: str | None) -> str:
    """The word in the tags of an image's GPU variant, where this tag is of a variant without GPU code; "" where it is none.

    An image that asks the runtime for GPUs by itself, or works on them by other parts than CUDA, is no such variant. Nor is one under a
    tag of somebody's own, such as `ci`, which may hold anything.
    """
    if tag is not None and not (is_moving_tag(tag) or cpu_word(tag) or any(map(str.isdigit, tag))):
        return ""
    row, facts = _by_name(repository), image_facts(repository, tag)
    if row is None or row["sure"] != "high" or facts.sets_visible_devices or facts.capabilities:
        return ""
    has_none = facts.vendor == "cpu" or (facts.carries_cuda is False and not facts.vendor)
    variants = (each for each in row.get("tags", ()) if each.get("vendor") == "nvidia" and each.get("carries_cuda"))
    return next((word for each in variants if (word := gpu_word(each["tag"]))), "") if has_none else ""


@cache
def brought_packages(repository: str, tag: str | None) -> tuple[tuple[str, str | None], ...]:
    """The frameworks that are installed in an image by its normalised name, each with its version; None where its tag does not tell it."""
    row: Row = next((row for row in table("images")["brings"] if re.search(rf"(?:^|/)(?:{row['pattern']})$", repository)), {})
    match = re.search(row["version"], tag or "") if "version" in row else None
    packages = row.get("packages", ())
    return tuple((name, match["version"] if match and name == packages[0] else None) for name in packages)


@cache
def is_jetson_base(repository: str, tag: str | None) -> bool:
    """Whether an image is a base for Jetson on which only wheels that are made for it use the GPU, and pip is given no index of such."""
    rows = [row for row in table("images")["jetson_bases"] if fullmatch(row["pattern"], repository)]
    return bool(rows) and not ("not_tag" in rows[0] and re.search(rows[0]["not_tag"], tag or ""))


@cache
def glibc(repository: str, tag: str | None) -> str | None:
    """The glibc version of an image whose name or tag names its distribution, None where neither does or the image is no glibc one."""
    system = f"{repository.rpartition('/')[2]}-{tag or ''}".lower()
    if _minimal_by_tag(tag or ""):
        return None
    rows = table("images")["glibc"]
    return next((row["glibc"] for row in rows if re.search(rf"(?<![a-z0-9])(?:{row['system']})(?![0-9])", system)), None)


def _minimal_by_tag(tag: str) -> str:
    rows = table("images")["minimal_tags"]
    return next((row["minimal"] for row in rows if re.search(row["pattern"], tag)), "")


def gpu_tag_word(tag: str) -> str:
    """The word of a tag that says GPU, "" if none does or another word says CPU: `cuda-cpu`."""
    return "" if cpu_word(tag) else gpu_word(tag)


def gpu_word(text: str) -> str:
    """The word of an image's name or tag that says GPU (`cuda`, `cu124`, `gpu`, `nvidia`, `rocm` ...), "" if none does.

    Of a name with a path only the last part speaks: who publishes an image says nothing of it. A word counts between separators and
    next to digits: `12.4-cuda`, `cuda12`, `cu124`, and not `accuracy`, `cup`. Negated ones (`no-gpu`) and the names of what runs
    GPUs (`gpu-operator`, `nvidia-device-plugin`) do not count.
    """
    return next(_gpu_words(text), "")


def _gpu_words(text: str) -> Iterator[str]:
    """The words that say GPU, in their order."""
    return (match.group("word") for match in _word_pattern().finditer(_last_part(text)) if match.group("word"))


def is_made_for_gpu(name: str) -> bool:
    """Whether an image's own name says what GPUs are programmed with: `cuda-lua`, `asr-tensorrt`. Tools have `gpu` in their names too."""
    named = [row["pattern"] for row in table("images")["words"] if row.get("in_name")]
    return not cpu_word(name) and any(fullmatch(pattern, word) for word in _gpu_words(name) for pattern in named)


def cpu_word(text: str) -> str:
    """The word of an image's name or tag that says CPU, "" if none does; `no-gpu` and `without-cuda` say so too."""
    match = _cpu_pattern().search(_last_part(text))
    return match.group() if match else ""


def _last_part(text: str) -> str:
    name, colon, tag = text.rpartition("/")[2].partition(":")
    return (name + colon + tag).lower()


@cache
def _word_pattern() -> re.Pattern[str]:
    word = "|".join(row["pattern"] for row in table("images")["words"])
    before = "|".join(sorted(_around("before")))
    after = "|".join(sorted(_around("after")))
    return re.compile(
        rf"(?<![a-z])(?:{before})[-_.]?(?:{word})(?![a-z])"
        rf"|(?<![a-z])(?:{word})(?:[-_](?:{word}))*[-_.]?(?:{after})(?![a-z])"
        rf"|(?<![a-z])(?P<word>{word})(?![a-z])"
    )


@cache
def _cpu_pattern() -> re.Pattern[str]:
    word = "|".join(row["pattern"] for row in table("images")["words"])
    before = "|".join(sorted(_around("before")))
    cpu = "|".join(sorted(words("images", "cpu_words")))
    return re.compile(rf"(?<![a-z])(?:(?:{cpu})|(?:{before})[-_.]?(?:{word}))(?![a-z])")


def _around(where: str) -> set[str]:
    return {word for row in table("images")["words_around"] if row["where"] == where for word in row["words"]}


def _vendor_of_word(word: str) -> str:
    rows = table("images")["words"]
    return next((str(row["vendor"]) for row in rows if fullmatch(row["pattern"], word)), "")


def is_moving_tag(tag: str) -> bool:
    """Whether a tag names no version of the image and one of its words is one that moves: `latest`, `main`, `gpu`, `cuda12-latest`.

    Versions of the platform (`py3`, `cuda12.4`, `ubuntu22.04`) are none of the image; a commit hash is one. Where nothing but a word for
    the GPU or a variant moves, the version of the CUDA or the framework in it is enough: `vectoradd-cuda12.5` stays what it is.
    """
    rest = _platform_pattern().sub(" ", tag.lower())
    if re.search(r"\d", rest):
        return False
    named = set(re.split(r"[^a-z]+", rest))
    if named & _moving("branch"):
        return True
    names_variant = bool(named & _moving("variant")) or bool(gpu_word(tag))
    return names_variant and not _settling_pattern().search(tag.lower())


@cache
def _moving(kind: str) -> frozenset[str]:
    return frozenset(word for row in table("images")["moving_words"] if row["kind"] == kind for word in row["words"])


@cache
def _platform_pattern() -> re.Pattern[str]:
    return _as_words(row["pattern"] for row in table("images")["platform_words"])


@cache
def _settling_pattern() -> re.Pattern[str]:
    """The versions of a platform that say which build of a variant is meant."""
    return _as_words(row["pattern"] for row in table("images")["platform_words"] if row.get("settles"))


def _as_words(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(patterns)})(?![a-z0-9])")
