"""Requirements: single ones, requirements files, pyproject.toml, conda environments, lock files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.parse.requirement import Package, conda_package, pip_specifier, poetry_package, python_package, system_package
from gpulint.parse.requirements import Requirements, parse
from gpulint.source import Location, Source, Text, Unknown, Value


def word(text: str) -> Text:
    return Text(text, Location("Dockerfile", 1, 1, 1, 1 + len(text)))


def unknown(raw: str) -> Unknown:
    return Unknown(raw, word(raw).location)


def read(name: str, text: str) -> Requirements:
    return parse(Source(name, text.encode()))


def names(requirements: Requirements) -> list[tuple[str, str]]:
    return [(package.name, package.specifier) for package in requirements.packages]


def strings(values: tuple[Value, ...]) -> list[str]:
    return [value.raw if isinstance(value, Unknown) else str(value) for value in values]


# --- One requirement ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "extras", "specifier", "marker"),
    [
        ("torch", "torch", (), "", ""),
        ("torch==2.4.1+cu121", "torch", (), "==2.4.1+cu121", ""),
        ("Flash_Attn.x >= 2, < 3", "flash-attn-x", (), ">=2,<3", ""),
        ("jax[cuda12, K8s]~=0.4", "jax", ("cuda12", "k8s"), "~=0.4", ""),
        ("torch (>=2)", "torch", (), ">=2", ""),
        ("torch; python_version < '3.9'", "torch", (), "", "python_version < '3.9'"),
        ("torch==2 ; sys_platform == 'a/b'", "torch", (), "==2", "sys_platform == 'a/b'"),
        ("torch @ https://example.com/t.whl ; os_name == 'x'", "torch", (), "", "os_name == 'x'"),
        ("torch[a]@file:///t.whl", "torch", ("a",), "", ""),
        ("git+https://example.com/r.git@v1#egg=Deep_Speed[x]", "deep-speed", ("x",), "", ""),
        ("git+https://example.com/r.git#subdirectory=a&egg=b", "b", (), "", ""),
        ("git+https://example.com/r.git", "", (), "", ""),
        ("https://example.com/torch-2.4.1-cp310-cp310-linux_x86_64.whl", "", (), "", ""),
        *[
            (path, "", (), "", "")
            for path in (".", ".[gpu]", "./a", "a/b", "a\\b", "/a", "~/a", "a.whl", "a-1.tar.gz", "-c", "", "*", "\u00e9")
        ],
    ],
)
def test_python_package(text: str, name: str, extras: tuple[str, ...], specifier: str, marker: str) -> None:
    assert python_package(word(text)) == Package(name, word(text), extras, specifier, word(text).location, marker)


@pytest.mark.parametrize(
    ("raw", "name", "specifier"),
    [
        ("torch==${V}", "torch", "==${V}"),
        ("torch[${E}]>=2", "torch", ">=2"),
        ("torch$V", "", ""),
        ("${P}==2", "", ""),
        ("$(cat p)", "", ""),
    ],
)
def test_a_name_before_an_unknown_part_is_known(raw: str, name: str, specifier: str) -> None:
    package = python_package(unknown(raw))
    assert (package.name, package.specifier, package.shown) == (name, specifier, raw)
    assert isinstance(package.text, Unknown)


@pytest.mark.parametrize(
    ("text", "wheel"),
    [
        ("https://example.com/torch-2.6.0%2Brocm6.4-cp312-cp312-linux_x86_64.whl", ("torch", "2.6.0+rocm6.4")),
        ("./flash_attn-2.8.3-1-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", ("flash-attn", "2.8.3")),
        ("dist/*.whl", None),
        ("torch==2.6", None),
    ],
)
def test_wheel(text: str, wheel: tuple[str, str] | None) -> None:
    assert python_package(word(text)).wheel == wheel


@pytest.mark.parametrize(
    ("text", "name", "specifier"),
    [
        *[("pytorch", "pytorch", ""), ("pytorch=2.1=*cuda*", "pytorch", "=2.1=*cuda*"), ("numpy >=1.2, <2", "numpy", ">=1.2,<2")],
        *[
            ("conda-forge::Flash_Attn=2", "flash-attn", "=2"),
            ("nvidia/label/cuda-12.4::cuda-nvcc", "cuda-nvcc", ""),
            ("python 3.10", "python", "3.10"),
        ],
        *[("https://example.com/a.conda", "", ""), ("./a.tar.bz2", "", ""), ("", "", "")],
    ],
)
def test_conda_package(text: str, name: str, specifier: str) -> None:
    package = conda_package(word(text))
    assert (package.name, package.specifier) == (name, specifier)


@pytest.mark.parametrize(
    ("text", "name", "specifier"),
    [
        *[("libcudnn8", "libcudnn8", ""), ("libcudnn8=8.1.0-1+cuda11.2", "libcudnn8", "=8.1.0-1+cuda11.2"), ("gcc:arm64", "gcc", ":arm64")],
        *[
            ("python3.10-dev", "python3.10-dev", ""),
            ("cuda-*", "cuda-*", ""),
            ("g++", "g++", ""),
            ("a/stable", "a", "/stable"),
            ("b~1.2", "b", "~1.2"),
        ],
        *[
            ("@nvidia-driver:latest-dkms", "@nvidia-driver", ":latest-dkms"),
            ("./a.deb", "", ""),
            ("a.rpm", "", ""),
            ("https://example.com/a", "", ""),
        ],
    ],
)
def test_system_package(text: str, name: str, specifier: str) -> None:
    package = system_package(word(text))
    assert (package.name, package.specifier) == (name, specifier)


@pytest.mark.parametrize(
    ("text", "specifier"),
    [("torch", ""), ("torch@^2.1", ">=2.1,<3"), ("torch@latest", "==latest"), ("torch>=2", ">=2"), ("torch@git+https://example.com/r", "")],
)
def test_poetry_package(text: str, specifier: str) -> None:
    package = poetry_package(word(text))
    assert (package.name, package.specifier) == ("torch", specifier)


@pytest.mark.parametrize(
    ("constraint", "specifier"),
    [
        *[("^1.2.3", ">=1.2.3,<2"), ("^0.2.3", ">=0.2.3,<0.3"), ("^0.0.3", ">=0.0.3,<0.0.4"), ("^0", ">=0,<1"), ("^0.0", ">=0.0,<0.1")],
        *[("~1.2.3", ">=1.2.3,<1.3"), ("~1.2", ">=1.2,<1.3"), ("~1", ">=1,<2"), ("~=1.2", "~=1.2")],
        *[
            ("1.2", "==1.2"),
            ("2.*", "==2.*"),
            ("*", ""),
            (">=1, <2", ">=1,<2"),
            ("==2.1+cu121", "==2.1+cu121"),
            ("^2.1+cu121", ">=2.1+cu121,<3"),
        ],
        *[("^1 || ^2", "^1 || ^2"), ("", ""), ("^x", "^x"), ("^" + "9" * 5_000, "^" + "9" * 5_000)],
    ],
)
def test_pip_specifier(constraint: str, specifier: str) -> None:
    assert pip_specifier(constraint) == specifier


# --- Requirements files ---------------------------------------------------------------------------------------------------------

REQUIREMENTS = """\
# what the service needs
--index-url https://example.com/simple --extra-index-url=https://example.com/cpu  # two
-r base.txt
-cconstraints.txt
-f "https://example.com/links.html"
--pre

torch[a]==2.4.1 ; python_version < "3.13"  # pinned
  torchvision >= 0.19, \\
    < 1 --hash=sha256:00 \\
    --hash=sha256:01
-e git+https://example.com/r.git#egg=lib
tool#1==2
${PRIVATE}==1
last==1 \\"""


def test_requirements_file() -> None:
    requirements = read("requirements/gpu.txt", REQUIREMENTS)
    assert names(requirements) == [("torch", "==2.4.1"), ("torchvision", ">=0.19,<1"), ("lib", ""), ("", ""), ("", ""), ("last", "==1")]
    assert requirements.packages[0].marker == 'python_version < "3.13"'
    assert strings(requirements.requirement_files) == ["base.txt"]
    assert strings(requirements.constraint_files) == ["constraints.txt"]
    assert strings(requirements.indexes) == ["https://example.com/simple", "https://example.com/cpu", "https://example.com/links.html"]
    assert strings(requirements.extra_indexes) == ["https://example.com/cpu", "https://example.com/links.html"]
    assert requirements.option("--pre") is not None
    assert requirements.option("--no-index") is None


def test_places_in_a_requirements_file() -> None:
    requirements = read("requirements.txt", REQUIREMENTS)
    assert [package.location[1:] for package in requirements.packages[:3]] == [(8, 1, 8, 42), (9, 3, 10, 8), (12, 4, 12, 41)]
    assert requirements.indexes[1].location[1:] == (2, 58, 2, 81)
    assert requirements.constraint_files[0].location[1:] == (4, 3, 4, 18)


def test_a_requirements_file_with_carriage_returns() -> None:
    assert names(read("requirements.txt", "torch==2\r\nnumpy \\\r\n  <2\r\n")) == [("torch", "==2"), ("numpy", "<2")]


# --- TOML -----------------------------------------------------------------------------------------------------------------------

PYPROJECT = """\
[project]
name = "app"  # "torch>=2" is said again below
dependencies = ["torch>=2", 'numpy<2']

[project.optional-dependencies]
gpu = ["torch>=2", "cupy-cuda12x"]

[dependency-groups]
dev = ["pytest", { include-group = "other" }]

[tool.uv.sources]
torch = { index = "cpu" }

[[tool.uv.index]]
name = "cpu"
url = "https://example.com/whl/cpu"
"""

POETRY = """\
[tool.poetry.dependencies]
python = "^3.10"
torch = { version = "^2.1", extras = ["a"], markers = "x", source = "cpu" }
numpy = "1.26"  # pinned
local = { path = "../local" }

[tool.poetry.group.dev.dependencies]
torch = [{ version = "2.0" }, { version = ">=2.1,<3" }]

[[tool.poetry.source]]
name = "cpu"
url = "https://example.com/whl/cpu"
"""


def test_pyproject() -> None:
    requirements = read("app/pyproject.toml", PYPROJECT)
    assert requirements.manager == "uv"
    assert [(package.name, package.specifier, package.group) for package in requirements.packages] == [
        *[("torch", ">=2", ""), ("numpy", "<2", ""), ("torch", ">=2", "gpu"), ("cupy-cuda12x", "", "gpu"), ("pytest", "", "dev")]
    ]
    assert [package.location[1:3] for package in requirements.packages] == [(3, 18), (3, 30), (6, 9), (6, 21), (9, 9)]
    assert [package.from_index for package in requirements.packages[:2]] == ["https://example.com/whl/cpu", None]
    assert strings(requirements.indexes) == strings(requirements.extra_indexes) == ["https://example.com/whl/cpu"]
    assert requirements.indexes[0].location[1:3] == (16, 8)


def test_poetry() -> None:
    requirements = read("pyproject.toml", POETRY)
    assert requirements.manager == "poetry"
    assert [(package.name, package.specifier, package.group) for package in requirements.packages] == [
        *[("torch", ">=2.1,<3", ""), ("numpy", "==1.26", ""), ("local", "", ""), ("torch", "==2.0", "dev"), ("torch", ">=2.1,<3", "dev")]
    ]
    torch, numpy = requirements.packages[:2]
    assert (torch.extras, torch.marker, torch.from_index) == (("a",), "x", "https://example.com/whl/cpu")
    assert (numpy.text, numpy.location[1:]) == ('numpy = "1.26"', (4, 1, 4, 15))


SOURCES_OF_UV = """
[project]
dependencies = ["torchaudio"]
[project.optional-dependencies]
cpu = ["torch"]
cu124 = ["torch"]
both = ["torch"]
[tool.uv.sources]
torch = [{ index = "cpu", extra = "cpu" }, { index = "cu124", extra = "cu124" }]
torchaudio = [{ index = "cpu", marker = "sys_platform == 'darwin'" }, { index = "cu124", marker = "sys_platform != 'darwin'" }]
[[tool.uv.index]]
name = "cpu"
url = "https://example.com/cpu"
explicit = true
[[tool.uv.index]]
name = "cu124"
url = "https://example.com/cu124"
explicit = true
"""


def test_sources_of_uv_for_extras_and_systems() -> None:
    requirements = parse(Source("pyproject.toml", SOURCES_OF_UV.encode()))
    found = [(package.name, package.group, package.from_index) for package in requirements.packages]
    assert found == [
        ("torchaudio", "", "https://example.com/cu124"),
        ("torch", "cpu", "https://example.com/cpu"),
        ("torch", "cu124", "https://example.com/cu124"),
        ("torch", "both", None),
    ]
    assert requirements.indexes == ()


def test_a_source_that_the_machine_decides_is_not_known() -> None:
    text = SOURCES_OF_UV.replace("sys_platform == 'darwin'", "platform_machine == 'aarch64'")
    assert isinstance(parse(Source("pyproject.toml", text.encode())).packages[0].from_index, Unknown)


def test_indexes_of_uv() -> None:
    text = '[tool.uv]\nindex-url = "https://a"\nextra-index-url = ["https://b"]\nfind-links = ["https://c"]\n'
    requirements = read("pyproject.toml", text)
    assert strings(requirements.indexes) == ["https://a", "https://b", "https://c"]
    assert strings(requirements.extra_indexes) == ["https://b", "https://c"]


def test_lock_file() -> None:
    text = '[[package]]\nname = "Torch"\nversion = "2.4.1+cpu"\n\n[[package]]\nname = "numpy"\nversion = "2"\n'
    requirements = read("uv.lock", text)
    assert names(requirements) == [("torch", "==2.4.1+cpu"), ("numpy", "==2")]
    assert requirements.packages[0].location[1:] == (2, 9, 2, 14)


# --- Conda ----------------------------------------------------------------------------------------------------------------------

ENVIRONMENT = """\
name: app
channels: [pytorch, nvidia]
dependencies:
  - python=3.10
  - pytorch::pytorch=2.4
  - pip:
      - --extra-index-url https://example.com/whl/cpu
      - vllm==0.6
      - -r requirements.txt
"""


def test_conda_environment() -> None:
    requirements = read("environment.yml", ENVIRONMENT)
    assert requirements.manager == "conda"
    assert names(requirements) == [("python", "=3.10"), ("pytorch", "=2.4")]
    assert strings(requirements.indexes) == ["pytorch", "nvidia"]
    (pip,) = requirements.nested
    assert (pip.manager, names(pip), strings(pip.requirement_files)) == ("pip", [("vllm", "==0.6")], ["requirements.txt"])
    assert strings(pip.extra_indexes) == ["https://example.com/whl/cpu"]


def test_places_in_a_conda_environment() -> None:
    requirements = read("environment.yml", ENVIRONMENT)
    assert requirements.packages[1].location[1:] == (5, 5, 5, 25)
    assert requirements.nested[0].packages[0].location[1:] == (8, 9, 8, 18)
    assert requirements.nested[0].indexes[0].location[1:] == (7, 27, 7, 54)


# --- Any input ------------------------------------------------------------------------------------------------------------------

FILES = ("requirements.txt", "pyproject.toml", "environment.yml", "uv.lock")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "text",
    [
        *["", "\ufeff", "\x00", "[", "= 1", "[project]\ndependencies = 1", "[project]\ndependencies = [1, {}]", "project = 1\ntool = []"],
        *[
            "[tool]\npoetry = 1\nuv = 2",
            '[tool.poetry.dependencies]\na = 1\nb = ["x"]\nc = { version = 1, extras = 2 }',
            "[tool.uv]\nindex = [1]",
        ],
        *["[tool.uv.sources]\na = 1\nb = [{ index = 2 }]", "dependencies: 1\nchannels: {}", "dependencies: [1, {pip: 2}, {pip: [~]}, [a]]"],
        *[
            "[dependency-groups]\na = 1",
            '[project]\ndependencies = ["\\u0061"]',
            "a = " + "[" * 5_000,
            "\\\n" * 5_000,
            "- " * 5_000,
            "-r",
            "-e",
            "--index-url=",
        ],
    ],
    ids=lambda text: repr(text[:20]),
)
def test_odd_files_are_read(name: str, text: str) -> None:
    read(name, text)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(FILES), st.text(max_size=80))
def test_any_text_is_read(name: str, text: str) -> None:
    read(name, text)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.sampled_from([python_package, conda_package, system_package, poetry_package]), st.text(max_size=40))
def test_any_word_is_read(reader: object, text: str) -> None:
    assert callable(reader)
    assert reader(word(text)).location == word(text).location
