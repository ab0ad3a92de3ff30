"""Which release of docker compose takes which form of a GPU request."""

from __future__ import annotations

from gpulint.facts import fullmatch, table


def needs_compose(feature: str, file_version: str) -> str:
    """The first release that takes the feature in a file of that `version` ("" for none): runtime, reservation, gpus, or a reservation
    without count."""
    rows = table("compose_cli")["features"]
    return next(str(row["since"]) for row in rows if row["feature"] == feature and fullmatch(row["file"], file_version))


def is_older(version: str, than: str) -> bool:
    """Whether one release of docker compose is older than another; a part that is not said counts as the newest."""
    mine, other = (tuple(int(part) for part in each.lstrip("v").split(".")) for each in (version, than))
    return mine < other[: len(mine)]
