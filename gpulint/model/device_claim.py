"""DRA objects (dynamic resource allocation): the devices that a ResourceClaim or ResourceClaimTemplate asks for."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.deferred import NamedTuple, dataclass
from gpulint.facts.resources import claim_form
from gpulint.model.manifest import value
from gpulint.model.workload import kind_of
from gpulint.parse.nodes import Mapping
from gpulint.source import Location, Text, Value

FLAT, NESTED = "flat", "exactly"
_SPECS = {"ResourceClaim": ("spec",), "ResourceClaimTemplate": ("spec", "spec")}
_NESTING_KEYS = (NESTED, "firstAvailable")


class DeviceRequest(NamedTuple):
    """One entry of `devices.requests`: the classes that it takes a device of, and the key under which the first stands, with its form.

    `form` is that of the API versions which write the class flat, or nested below `exactly`; "" where all take it, as `firstAvailable`.
    """

    classes: tuple[Value, ...]
    form: str
    key: Text


@dataclass(frozen=True, eq=False)
class DeviceClaim:
    """A claim, or the template of claims that a controller makes for each pod. `expected` is the form that its API version takes, or ""."""

    kind: str
    name: Value | None
    version: str
    expected: str
    requests: tuple[DeviceRequest, ...]
    location: Location


def read_device_claim(owner: Mapping) -> DeviceClaim | None:
    """The claim that an object is; None for an object of another kind."""
    kind = kind_of(owner)
    if kind not in _SPECS:
        return None
    version = value(owner, "apiVersion")
    short = version.rpartition("/")[2] if isinstance(version, Text) else ""
    requests = tuple(_requests(owner.mapping(*_SPECS[kind])))
    return DeviceClaim(kind, value(owner, "metadata", "name"), short, claim_form(short), requests, owner.location)


def _requests(spec: Mapping) -> Iterator[DeviceRequest]:
    for item in spec.sequence("devices", "requests").mappings():
        flat = item.entry("deviceClassName")
        if flat:
            yield DeviceRequest(tuple(_classes([item])), FLAT, flat.key)
        for key in _NESTING_KEYS:
            entry = item.entry(key)
            if entry:
                inner = [entry.value] if isinstance(entry.value, Mapping) else list(item.sequence(key).mappings())
                yield DeviceRequest(tuple(_classes(inner)), NESTED if key == NESTED else "", entry.key)


def _classes(items: list[Mapping]) -> Iterator[Value]:
    return (found for found in (value(item, "deviceClassName") for item in items) if found is not None)
