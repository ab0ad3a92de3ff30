"""Settings: what they mean, and what is said of wrong ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gpulint.config import Config, find_config, glob_pattern, load_config, machine_option
from gpulint.errors import GpulintError
from gpulint.rule import Severity


def _load(folder: Path, text: str, name: str = "gpulint.toml") -> Config:
    path = folder / name
    path.write_text(text)
    return load_config(str(path))


def test_every_key_is_read(tmp_path: Path) -> None:
    config = _load(
        tmp_path,
        """
        select = ["GPU2"]
        extend-select = ["GPU402"]
        ignore = ["privileged-gpu-container"]
        exclude = ["third_party"]
        min-severity = "note"
        fail-on = "never"
        strict = true
        [per-file-ignores]
        "docs/**" = ["GPU101"]
        [severity]
        GPU103 = "error"
        [machines]
        driver = "535.161.07"
        gpus = ["T4", "RTX 4090"]
        gpus_per_node = 4
        default_runtime = "nvidia"
        gpu_taint = "nvidia.com/gpu=present:NoSchedule"
        """,
    )
    assert (config.select, config.extend_select, config.ignore) == (("GPU2",), ("GPU402",), ("privileged-gpu-container",))
    assert (config.min_severity, config.fail_on, config.strict) == (Severity.NOTE, None, True)
    assert config.per_file_ignores == {"docs/**": ("GPU101",)}
    assert config.severity == {"GPU103": Severity.ERROR}
    assert (config.machines.gpus, config.machines.gpus_per_node, config.machines.default_runtime) == (("T4", "RTX 4090"), 4, "nvidia")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "unknown key 'selct' (did you mean 'select'?)"),
        ("select = 'GPU2'", 'select = "GPU2": must be a list of strings'),
        ("min-severity = 'grave'", "must be note, warning or error"),
        ("strict = 1", "strict = 1: must be true or false"),
        ("machines = 3", "machines must be a table"),
        ("[machines]\ndrivr = '535'", "machines: unknown key 'drivr' (did you mean 'driver'?)"),
        ("[machines]\ndriver = 'new'", "must be a driver version"),
        ("[machines]\ngpus_per_node = -1", "must be a whole number"),
        ("[machines]\npools = 3", "machines.pools must be a table"),
        ("[machines.pools]\na = 3", "machines.pools.a must be a table"),
        ("[machines.pools.a]\ndriver = '535'", "machines.pools.a: labels = nothing: must be a table of the node labels"),
        ("[machines.pools.a]\nlabels = {x = 1}", 'machines.pools.a: labels = {"x": 1}: must be a string'),
        ("[machines.pools.a]\nlabels = {x = 'y'}\ndrivr = '535'", "machines.pools.a: unknown key 'drivr' (did you mean 'driver'?)"),
        ("[machines]\ndefault_runtime = 'crun'", 'must be "runc" or "nvidia"'),
        ("[machines]\ngpu_taint = 'nvidia.com/gpu'", 'must be "key=value:Effect"'),
        ("severity = {GPU201 = 'warn'}", 'severity = {"GPU201": "warn"}: GPU201 = "warn": must be note, warning or error'),
        ("[tool.gpulint]\nstrict = true", "unknown key 'tool': in gpulint.toml the keys stand at the top, not below [tool.gpulint]"),
        ("x = [", "no valid TOML"),
        ("extend = 3", "extend must be the path of one file, not 3"),
    ],
)
def test_a_wrong_setting_is_named_with_file_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GpulintError) as error:
        _load(tmp_path, text)
    assert message in str(error.value)
    assert "gpulint.toml" in str(error.value)


def test_extend_reads_another_file_first(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('ignore = ["GPU2"]\nstrict = true\n')
    config = _load(tmp_path, 'extend = "base.toml"\nignore = ["GPU1"]\n')
    assert (config.ignore, config.strict) == (("GPU1",), True)


def test_what_extends_is_joined_with_what_is_extended(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(
        """
        select = ["GPU1"]
        extend-ignore = ["GPU101"]
        [severity]
        GPU102 = "note"
        GPU103 = "note"
        [machines]
        driver = "535"
        gpus_total = 8
        """
    )
    config = _load(
        tmp_path,
        """
        extend = "base.toml"
        select = ["GPU2"]
        extend-ignore = ["GPU202"]
        [severity]
        GPU103 = "error"
        [machines]
        gpus_total = 4
        """,
    )
    assert (config.select, config.extend_ignore) == (("GPU2",), ("GPU101", "GPU202"))
    assert config.severity == {"GPU102": Severity.NOTE, "GPU103": Severity.ERROR}
    assert (config.machines.driver, config.machines.gpus_total) == ("535", 4)


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("", Severity.WARNING),
        ('min-severity = "note"', Severity.WARNING),
        ('min-severity = "error"', Severity.ERROR),
        ('min-severity = "error"\nfail-on = "warning"', Severity.WARNING),
        ('min-severity = "error"\nfail-on = "never"', None),
    ],
)
def test_a_threshold_that_nobody_stated_is_no_lower_than_what_is_shown(tmp_path: Path, text: str, threshold: Severity | None) -> None:
    assert _load(tmp_path, text).fail_on is threshold


def test_extend_in_a_circle_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GpulintError, match="leads back"):
        _load(tmp_path, 'extend = "gpulint.toml"')


def test_gpulint_toml_wins_over_pyproject_with_a_notice(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.gpulint]\nstrict = true\n")
    (tmp_path / "sub").mkdir()
    assert find_config(str(tmp_path / "sub"), None)[0] == str(tmp_path / "pyproject.toml")
    (tmp_path / "gpulint.toml").write_text("")
    path, notice = find_config(str(tmp_path / "sub"), None)
    assert path == str(tmp_path / "gpulint.toml")
    assert "is not" in notice


def test_the_search_ends_at_the_work_tree(tmp_path: Path) -> None:
    (tmp_path / "gpulint.toml").write_text("")
    (tmp_path / "repo").mkdir()
    assert find_config(str(tmp_path / "repo"), str(tmp_path / "repo")) == (None, "")


@pytest.mark.parametrize(
    ("option", "pair"),
    [
        ("driver=535", ("driver", "535")),
        ("gpus=T4,A100", ("gpus", ("T4", "A100"))),
        ("gpus_per_node=4", ("gpus_per_node", 4)),
        ("autoscaled=true", ("autoscaled", True)),
    ],
)
def test_machine_options(option: str, pair: tuple[str, object]) -> None:
    assert machine_option(option) == pair


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("vendor", "a/vendor/b.py", True),
        ("vendor", "vendored/b.py", False),
        ("*.yaml", "a/b.yaml", True),
        ("docs/**", "docs/a/b.md", True),
        ("docs/*.py", "docs/a/b.py", False),
        ("**/test_*.py", "a/b/test_c.py", True),
        ("docs/", "x/docs/a", True),
        ("/docs", "docs/a", True),
        ("/docs", "x/docs/a", False),
        ("a?.py", "x/ab.py", True),
        ("a[bc].py", "ab.py", False),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    pattern = glob_pattern((glob,))
    assert pattern is not None
    assert bool(pattern.search(path)) is matches


def test_a_glob_of_many_wildcards_is_matched() -> None:
    pattern = glob_pattern(("*a" * 30 + "*b",))
    assert pattern
    assert not pattern.search("a" * 250)
    assert pattern.search("x/" + "a" * 40 + "b/y")
    with pytest.raises(GpulintError, match="more than 3"):
        glob_pattern(("**/a/" * 4,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpus_per_node = 0x" + "f" * 10_000, "unknown key"),
        ("[machines]\ngpus_per_node = 0x" + "f" * 10_000, "gpus_per_node = ...: must be a whole number"),
        ("[machines]\ngpus_per_node = " + "9" * 5000, "no valid TOML"),
        ("[machines]\ndriver = '" + "9" * 5000 + "'", "9...: must be a driver version"),
        ("select = " + "[" * 10_000, "no valid TOML"),
        ("# " + "x" * 1024 * 1024, "has over 1 MiB"),
        ('extend = "\\u0000"', "must be the path of one file"),
        ('extend = "loop.toml"', "no such file"),
        ('extend = "pipe.toml"', "no such file"),
        ('extend = "' + "x" * 5000 + '"', "no such file"),
        ('extend = "/etc/passwd"', "leads out of"),
        ('extend = "../outside.toml"', "leads out of"),
        ('extend = "link.toml"', "leads out of"),
    ],
)
def test_hostile_settings_are_an_error_that_is_short(tmp_path: Path, text: str, message: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.toml").write_text("strict = true\n")
    (root / "link.toml").symlink_to("../outside.toml")
    (root / "loop.toml").symlink_to("loop.toml")
    os.mkfifo(root / "pipe.toml")
    with pytest.raises(GpulintError, match=re.escape(message)) as error:
        _load(root, text)
    assert len(str(error.value)) < 6000


def test_extend_may_name_a_file_elsewhere_in_the_repository(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "base.toml").write_text("strict = true\n")
    path = tmp_path / "sub" / "gpulint.toml"
    path.write_text('extend = "../base.toml"\n')
    assert load_config(str(path), within=str(tmp_path)).strict
