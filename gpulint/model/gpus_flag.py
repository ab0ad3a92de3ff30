"""The value of `--gpus`, as docker and its kin read it once the shell has taken its quotes away.

Docker reads one CSV record: a bare number or `all` is a count, the other fields are `key=value` (gpulint/facts/docker_cli.json).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpulint.deferred import NamedTuple, regex
from gpulint.facts.requests import drivers
from gpulint.model.container import GpuRequest, RequestFault, RequestKind, RequestState
from gpulint.parse.shell import UnknownWord
from gpulint.source import Location, Text, Unknown, Value

_KEYS = frozenset({"count", "device", "capabilities", "driver", "options"})
_INTEGER = regex(r"[+-]?[0-9]+")
_QUOTED_FIELD = regex(r'"((?:[^"]|"")*)"(?=,|\Z)')
_PLAIN_FIELD = regex(r'[^",]*(?=,|\Z)')
_ONE_DEVICE = regex(r'"?device=')
_ANOTHER_FLAG = regex(r"\s--?[A-Za-z]")


class _RefusedError(Exception):
    """The tool refuses the value: why, as a clause for a message."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


class _Field(NamedTuple):
    """One field of the record: its key ("count" for a bare number), its value, and whether it was bare."""

    key: str
    value: Text
    bare: bool


def gpus_request(value: Value | None, location: Location, ids_alone: bool = False) -> GpuRequest:
    """The request that one `--gpus` makes; no value where nothing follows the flag.

    `ids_alone` for tools that take names of devices and no counts. A request that the tool refuses or reads otherwise than it is
    written is BROKEN, and its faults say why.
    """
    if value is None:
        return _broken(RequestFault("`--gpus` has no value", location, remedy="all"), location)
    if not isinstance(value, Text):
        return _unknown_request(value, location)
    if _ANOTHER_FLAG.search(value):
        return _broken(RequestFault(f"`{value}` stands in one word, and is the value as a whole", location, misplaced=True), location)
    try:
        return _ids_request(value, location) if ids_alone else _record_request(value, location)
    except _RefusedError as refused:
        return _broken(RequestFault(str(refused), value.location, remedy=refused.remedy), location)


def unknown_flag_request(name: str, location: Location) -> GpuRequest:
    """The request of a flag that no tool knows and that was meant as `--gpus`."""
    if " " in name:
        return _broken(
            RequestFault(f"`{name}` is one word, and so the name of a flag that does not exist", location, misplaced=True), location
        )
    return _broken(RequestFault(f"there is no flag `{name}`", location, remedy="all"), location)


def _broken(fault: RequestFault, location: Location) -> GpuRequest:
    return GpuRequest(RequestKind.GPUS, RequestState.BROKEN, location, faults=(fault,))


def _unknown_request(value: Value, location: Location) -> GpuRequest:
    """A value that is not known: a device where what is known says so, else a count."""
    match = _ONE_DEVICE.match(value.prefix) if isinstance(value, UnknownWord) else None
    if match and isinstance(value, UnknownWord):
        device = Unknown(value.raw[match.end() :].rstrip('"'), value.location)
        return GpuRequest(RequestKind.GPUS, RequestState.ASKED, location, ids=(device,))
    return GpuRequest(RequestKind.GPUS, RequestState.ASKED, location, count=value)


def _ids_request(value: Text, location: Location) -> GpuRequest:
    ids = _csv_fields(value)
    wrong = next((each for each in ids if not each or "=" in each), None)
    if wrong is not None:
        raise _RefusedError(f"`{wrong}` is neither `all` nor the name of a device", value.replace("device=", "").replace('"', ""))
    if ids[-1] == "all":
        return GpuRequest(RequestKind.GPUS, RequestState.ASKED, location, count=ids[-1])
    return GpuRequest(RequestKind.GPUS, RequestState.ASKED, location, ids=tuple(ids))


def _record_request(value: Text, location: Location) -> GpuRequest:
    fields = _fields(_csv_fields(value), value)
    last = {field.key: field.value for field in fields}
    count = _count(last["count"]) if "count" in last else None
    ids = tuple(_split(last["device"])) if "device" in last else ()
    if ids == ("all",):
        count, ids = ids[0], ()
    driver = last.get("driver")
    faults = tuple(RequestFault(reason, value.location, remedy=_regrouped(value)) for reason in _misread(fields, count, ids))
    return GpuRequest(
        RequestKind.GPUS,
        RequestState.BROKEN if faults else _state(count, ids),
        location,
        drivers()[driver].vendor if driver is not None and driver in drivers() else "",
        count,
        ids,
        tuple(_split(last["capabilities"])) if "capabilities" in last else (),
        driver,
        faults=faults,
    )


def _fields(texts: Sequence[Text], whole: str) -> list[_Field]:
    """The fields as docker takes them, each key once; a bare field counts as its own key and is a count. `whole` is the record."""
    seen: set[str] = set()
    fields: list[_Field] = []
    for text in texts:
        key, equals, _ = text.partition("=")
        if key in seen:
            raise _RefusedError(f"`{key}` is given twice")
        seen |= {key} if equals else {key, "count"}
        if equals and key not in _KEYS:
            raise _RefusedError(f"`{key}` is no key of the flag")
        field = _Field(key, text.cut(len(key) + 1, len(text)), False) if equals else _Field("count", text, True)
        if field.key == "count":
            _check_count(field, fields, _regrouped(whole))
        fields.append(field)
    return fields


def _check_count(field: _Field, before: Sequence[_Field], remedy: str) -> None:
    """Refuse what is no count. Behind a list whose quotes the shell has taken, its next part stands as a count."""
    if field.value == "all" or _INTEGER.fullmatch(field.value):
        return
    if not field.value:
        raise _RefusedError("a field of the value is empty")
    if field.bare and before and before[-1].key in ("capabilities", "device", "options"):
        key = before[-1].key
        reason = f"the comma ends `{key}={before[-1].value}`, and `{field.value}` is neither `all` nor a whole number"
        raise _RefusedError(reason, remedy)
    raise _RefusedError(f"`{field.value}` is neither `all` nor a whole number")


def _count(value: Text) -> Text:
    """The count as docker takes it: any negative number is all."""
    return Text("all", value.location, ()) if value.startswith("-") else value


def _state(count: Text | None, ids: tuple[Text, ...]) -> RequestState:
    return RequestState.ZERO if count is not None and not ids and count.strip("+0") == "" else RequestState.ASKED


def _misread(fields: Sequence[_Field], count: Text | None, ids: tuple[Text, ...]) -> list[str]:
    """What docker takes otherwise than it is written, or its engine refuses."""
    bare = [field.value for field in fields if field.bare]
    if ids and count is not None and count.strip("+0") != "" and fields[0].key == "count":
        return [f"`{count}` is a count and `device={','.join(ids)}` names devices, and a request has either"]
    if ids and count is not None and count.strip("+0") != "":
        return [f"the comma ends `device={','.join(ids)}`, `{count}` becomes a count, and a request has either devices or a count"]
    if ids and not all(ids):
        return ["`device=` names no device"]
    if len(bare) > 1:
        return [f"`{','.join(bare)}` picks no cards: docker takes bare numbers for counts, and the last one, {bare[-1]}, is what it uses"]
    return []


def _regrouped(value: str) -> str:
    """The record with quotes around each list that has lost them; numbers alone are taken for devices. "" where it names no device."""
    groups: list[str] = []
    for part in value.split(","):
        if groups and "=" in groups[-1] and "=" not in part:
            groups[-1] += f",{part}"
        else:
            groups.append(part)
    if len(groups) > 1 and all(map(_INTEGER.fullmatch, groups)):
        groups = [f"device={value}"]
    if '"' in value or "=," in f"{value}," or value.endswith(","):
        return ""
    quoted = ",".join(f'"{group}"' if "," in group else group for group in groups)
    return quoted if quoted != value else ""


def _split(value: Text) -> list[Text]:
    """The parts between commas."""
    starts = [0, *(match.end() for match in re.finditer(",", value))]
    return [value.cut(start, end - 1) for start, end in zip(starts, [*starts[1:], len(value) + 1], strict=True)]


def _csv_fields(value: Text) -> list[Text]:
    """The fields of one CSV record, quoted fields without their quotes."""
    if not value:
        raise _RefusedError("the value is empty")
    fields: list[Text] = []
    at = 0
    while at <= len(value):
        quoted = value[at : at + 1] == '"'
        match = (_QUOTED_FIELD if quoted else _PLAIN_FIELD).match(value, at)
        if match is None:
            reason = f"a double quote of `{value}` stands inside a field, where CSV takes quotes around a whole field alone"
            raise _RefusedError(reason, value.strip("'") if value[:1] == value[-1:] == "'" else "")
        field = value.cut(*match.span(1 if quoted else 0))
        fields.append(Text(field.replace('""', '"'), field.location, ()) if '""' in field else field)
        at = match.end() + 1
    return fields
