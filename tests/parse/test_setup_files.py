"""setup.py, setup.cfg, Pipfile and Pipfile.lock: the packages that stand in them as literals, and where."""

from __future__ import annotations

import pytest

from gpulint.parse.requirements import parse
from gpulint.source import Source

SETUP = """
from setuptools import find_packages, setup

REQUIRED = ["torch>=2.0", "numpy"]

setup(
    name="ours",
    install_requires=REQUIRED,
    extras_require={"gpu": ["onnxruntime-gpu==1.20.1"], "all": [*REQUIRED], KEY: ["x"]},
)
"""
CFG = """
[metadata]
name = ours
[options]
packages = find:
install_requires =
    torch>=2.0
    # a remark
    numpy; python_version < "4"
[options.extras_require]
gpu =
    onnxruntime-gpu==1.20.1
"""
PIPFILE = """
[[source]]
name = "pypi"
url = "https://pypi.org/simple"
[[source]]
name = "pytorch"
url = "https://download.pytorch.org/whl/cpu"
[packages]
torch = {version = "==2.4.1", index = "pytorch"}
numpy = "*"
[dev-packages]
pytest = ">=8"
"""
LOCK = """
{
    "_meta": {"requires": {"python_version": "3.11"}},
    "default": {
        "torch": {
            "hashes": ["sha256:1"],
            "version": "==2.4.1+cpu"
        }
    }
}
"""


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("setup.py", SETUP, [("torch", ">=2.0", "", 4, 14), ("numpy", "", "", 4, 28), ("onnxruntime-gpu", "==1.20.1", "gpu", 9, 30)]),
        ("setup.cfg", CFG, [("torch", ">=2.0", "", 7, 5), ("numpy", "", "", 9, 5), ("onnxruntime-gpu", "==1.20.1", "gpu", 12, 5)]),
        ("Pipfile", PIPFILE, [("torch", "==2.4.1", "", 9, 1), ("numpy", "", "", 10, 1), ("pytest", ">=8", "dev", 12, 1)]),
        ("Pipfile.lock", LOCK, [("torch", "==2.4.1+cpu", "", 5, 10)]),
    ],
)
def test_packages_and_their_places(name: str, text: str, found: list[tuple[str, str, str, int, int]]) -> None:
    packages = parse(Source(name, text.encode())).packages
    assert [(each.name, each.specifier, each.group, each.location.line, each.location.column) for each in packages] == found


def test_the_index_of_a_pipfile() -> None:
    requirements = parse(Source("Pipfile", PIPFILE.encode()))
    assert requirements.packages[0].from_index == "https://download.pytorch.org/whl/cpu"
    assert requirements.extra_indexes == ("https://download.pytorch.org/whl/cpu",)


@pytest.mark.parametrize("name", ["setup.py", "setup.cfg", "Pipfile", "Pipfile.lock"])
@pytest.mark.parametrize("text", ["", "setup(", "setup(install_requires=read('r.txt'), extras_require=x)", "[packages]\na = 1", "\0", "{"])
def test_odd_files_name_no_package_or_are_read(name: str, text: str) -> None:
    assert all(package.name == "a" for package in parse(Source(name, text.encode())).packages)
