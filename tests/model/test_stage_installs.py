"""What the RUNs of a stage install: packages, files and indexes, each with its place."""

from __future__ import annotations

import pytest

from gpulint.facts import table
from gpulint.facts.installers import installer, option_roles, variables_of
from gpulint.model.install import Install
from gpulint.model.stage import Stage, read_dockerfile
from gpulint.parse.dockerfile import parse
from gpulint.source import Source, Unknown, Value


def stage(text: str) -> Stage:
    return read_dockerfile("Dockerfile", parse(Source("Dockerfile", f"FROM a\n{text}".encode()))).stages[-1]


def only(command: str) -> Install:
    """The one install of a RUN."""
    (install,) = stage(f"RUN {command}\n").installs
    return install


def strings(values: tuple[Value, ...]) -> list[str]:
    return [f"?{value.raw}" if isinstance(value, Unknown) else str(value) for value in values]


def named(install: Install) -> list[str]:
    return [package.name + package.specifier for package in install.packages]


@pytest.mark.parametrize(
    ("command", "manager", "packages"),
    [
        ("pip install torch==2.4.1 'torchvision>=0.19,<1' numpy", "pip", ["torch==2.4.1", "torchvision>=0.19,<1", "numpy"]),
        ("pip3.11 --no-cache-dir install -qU a", "pip", ["a"]),
        ("python3 -m pip install a", "pip", ["a"]),
        ("python -u -m pip install a", "pip", ["a"]),
        ("/opt/venv/bin/python -m pip install a", "pip", ["a"]),
        ("sudo -H pip install a", "pip", ["a"]),
        ("A=b pip install a", "pip", ["a"]),
        ("conda run -n e pip install a", "pip", ["a"]),
        ("pipx install a", "pip", ["a"]),
        ("pip install --target /t --platform x --no-binary :all: --only-binary=b -t /u a", "pip", ["a"]),
        ("pip install -e . git+https://example.com/r#egg=b ./c.whl", "pip", ["", "b", ""]),
        ("pip install a -- -b", "pip", ["a", ""]),
        ("uv pip install --system --python 3.12 a", "uv", ["a"]),
        ("uv --quiet add 'a>=1' --group b", "uv", ["a>=1"]),
        ("uv tool install a", "uv", ["a"]),
        ("poetry add a@^1.2 --group b", "poetry", ["a>=1.2,<2"]),
        ("pipenv install a", "pipenv", ["a"]),
        ("conda install -y -n base -c x a=1.2=b 'c>=1' x::d", "conda", ["a=1.2=b", "c>=1", "d"]),
        ("mamba create --name e python=3.11 a", "conda", ["python=3.11", "a"]),
        ("micromamba install -p /e -c x a", "conda", ["a"]),
        ("apt-get install -y --no-install-recommends -t x -o A::B=c a b=1:2-3 c-dev:arm64", "apt", ["a", "b=1:2-3", "c-dev:arm64"]),
        ("apt -yq install a", "apt", ["a"]),
        ("dpkg -i a.deb", "apt", [""]),
        ("yum -y install --enablerepo x a", "yum", ["a"]),
        ("dnf module install -y a:1", "yum", ["a:1"]),
        ("microdnf install a-1.2", "yum", ["a-1.2"]),
        ("rpm -ivh https://example.com/a.rpm", "yum", [""]),
        ("apk add --no-cache -t .build a=1-r0 b", "apk", ["a=1-r0", "b"]),
        ("zypper --non-interactive in -r x a", "zypper", ["a"]),
        ("pacman -Syu --noconfirm a", "pacman", ["a"]),
        ("pixi add --platform x a", "pixi", ["a"]),
    ],
)
def test_packages(command: str, manager: str, packages: list[str]) -> None:
    install = only(command)
    assert (install.manager, named(install)) == (manager, packages)


@pytest.mark.parametrize(
    "command",
    [
        *[
            "pip download a",
            "pip wheel a",
            "pip --version",
            "pip",
            "apt-get update",
            "apt-get -y upgrade",
            "conda activate e",
            "conda env list",
        ],
        *[
            "uv venv",
            "uv run a",
            "poetry config a b",
            "dpkg --configure -a",
            "rpm -qa",
            "pacman -Q",
            "echo pip install a",
            "python -m a pip install",
        ],
    ],
)
def test_what_installs_nothing(command: str) -> None:
    assert not stage(f"RUN {command}\n").installs


def test_removals_stand_apart() -> None:
    found = stage("RUN pip uninstall -y a && apt-get purge -y b && conda remove c && pip install d\n")
    assert [(each.manager, named(each)) for each in found.removals] == [("pip", ["a"]), ("apt", ["b"]), ("conda", ["c"])]
    assert [named(each) for each in found.installs] == [["d"]]


@pytest.mark.parametrize(
    ("command", "files", "constraints"),
    [
        ("pip install -r a.txt --requirement=b.txt -rc.txt -c d.txt", ["a.txt", "b.txt", "c.txt"], ["d.txt"]),
        ("pip install -qUr a.txt", ["a.txt"], []),
        ("pip install -r $A/b.txt", ["?$A/b.txt"], []),
        ("uv pip sync a.txt", ["a.txt"], []),
        ("uv pip install -r a.txt --override b.txt", ["a.txt"], ["b.txt"]),
        ("uv sync --frozen --extra x", ["pyproject.toml"], []),
        ("poetry install --no-root --with x", ["pyproject.toml"], []),
        ("pipenv install --deploy", ["Pipfile"], []),
        ("conda install --file a.txt", ["a.txt"], []),
        ("conda env create -n x -f a.yml", ["a.yml"], []),
        ("mamba env update", ["environment.yml"], []),
        ("micromamba create -f a.yml", ["a.yml"], []),
    ],
)
def test_files(command: str, files: list[str], constraints: list[str]) -> None:
    install = only(command)
    assert (strings(install.requirement_files), strings(install.constraint_files)) == (files, constraints)


@pytest.mark.parametrize(
    ("text", "indexes", "extra"),
    [
        (
            "RUN pip install a -i https://x --extra-index-url=https://y -f https://z",
            ["https://x", "https://y", "https://z"],
            ["https://y", "https://z"],
        ),
        ("RUN pip install a --index-url https://x/cu${V}", ["?https://x/cu${V}"], []),
        ("RUN pip install a --extra-index-url=https://x/cu${V}", ["?https://x/cu${V}"], ["?https://x/cu${V}"]),
        ("RUN uv pip install a --index https://x --default-index https://y", ["https://x", "https://y"], ["https://x"]),
        ("RUN conda install -c x --channel y a", ["x", "y"], []),
        ("RUN apk add -X https://x a", ["https://x"], []),
        (
            "ENV PIP_INDEX_URL=https://x PIP_EXTRA_INDEX_URL='https://y https://z'\nRUN pip install a",
            ["https://x", "https://y", "https://z"],
            ["https://y", "https://z"],
        ),
        ("ENV PIP_INDEX_URL=https://x\nRUN pip install a -i https://y", ["https://y"], []),
        ("ENV PIP_INDEX_URL=https://x\nRUN uv pip install a", [], []),
        ("ARG UV_INDEX_URL\nRUN uv pip install a", ["?${UV_INDEX_URL}"], []),
        ("RUN PIP_INDEX_URL=https://x pip install a", ["https://x"], []),
        ("RUN export PIP_INDEX_URL=https://x && pip install a", ["https://x"], []),
    ],
)
def test_indexes(text: str, indexes: list[str], extra: list[str]) -> None:
    (install,) = stage(f"{text}\n").installs
    assert (strings(install.indexes), strings(install.extra_indexes)) == (indexes, extra)


def test_options_are_at_hand() -> None:
    install = only("pip install --no-deps a --torch-backend=x -U --dry-run")
    assert [option.name for option in install.options] == ["--no-deps", "--torch-backend", "-U", "--dry-run"]
    backend = install.option("--torch-backend")
    assert backend is not None
    assert backend.value == "x"
    assert install.option("--pre") is None


def test_unknown_words_may_be_packages() -> None:
    install = only('pip install torch==${V} $MORE "$(cat a)" b')
    assert [package.name for package in install.packages] == ["torch", "", "", "b"]
    assert [isinstance(package.text, Unknown) for package in install.packages] == [True, True, True, False]


def test_a_known_variable_is_a_version() -> None:
    (install,) = stage("ARG V=2.4.1\nRUN pip install torch==${V}\n").installs
    assert named(install) == ["torch==2.4.1"]


def test_every_package_points_to_its_word() -> None:
    (first, second) = stage("RUN apt-get install -y \\\n    # why\n    gcc \\\n  libcudnn8=8.1 && \\\n  pip install 'torch==2'\n").installs
    assert [package.location[1:] for package in first.packages] == [(4, 5, 4, 8), (5, 3, 5, 16)]
    assert second.packages[0].location[1:] == (6, 16, 6, 24)
    assert second.location[1:] == (6, 3, 6, 25)


def test_a_condition_around_an_install_can_be_seen() -> None:
    assert only('if [ "$A" = 1 ]; then pip install b; fi').command.block == ("then",)


# --- The table ------------------------------------------------------------------------------------------------------------------


def test_options_belong_to_commands() -> None:
    options = {row["options"] for row in table("installers")["options"]} | {row["options"] for row in table("installers")["variables"]}
    assert options == {row["options"] for row in table("installers")["commands"]}


def test_all_commands_of_a_program_share_their_options() -> None:
    by_program: dict[str, set[str]] = {}
    for row in table("installers")["commands"]:
        by_program.setdefault(row["name"].split()[0], set()).add(row["options"])
    assert all(len(options) == 1 for options in by_program.values())


def test_every_row_has_its_source() -> None:
    rows = [row for key in ("commands", "options", "variables") for row in table("installers")[key]]
    assert all(source.strip() in table("installers")["sources"] for row in rows for source in row["src"].split(","))


def test_look_ups_of_the_table() -> None:
    assert option_roles("cp") is None
    assert installer("cp", ["install"], []) is None
    assert variables_of("apt") == ()
