"""What every test may use: snapshots, the files `snapshots/<name>` beside a test, rewritten by `pytest --update-snapshots`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.load_profile("same")  # one commit passes or fails every time; --hypothesis-profile=default looks for more


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="write what the tests get as their new snapshots")


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """A function that holds a text against the snapshot of that name."""

    def check(name: str, text: str) -> None:
        path = request.path.parent / "snapshots" / name
        if request.config.getoption("update_snapshots"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check
