"""Security contexts of Kubernetes in the terms of a Container: security options as `docker run` takes them, and whom the process runs as.

A container's own context overrides its pod's, field by field.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.model.manifest import flag, text, value
from gpulint.model.pod import metadatas
from gpulint.model.workload import Site
from gpulint.parse.nodes import Mapping
from gpulint.source import Text, Unknown, Value

_FIELDS = (("seccomp", "seccompProfile", "type"), ("apparmor", "appArmorProfile", "type"), ("label=type", "seLinuxOptions", "type"))
_APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"


def security_options(container: Mapping, site: Site) -> Iterator[Value]:
    """Its profiles of seccomp, AppArmor and SELinux: `seccomp=Unconfined` becomes `seccomp=unconfined`, a type `label=type:spc_t`."""
    for option, *path in _FIELDS:
        found = _own_or_pods(container, site, *path)
        if isinstance(found, Text):
            yield _option(option, found)
    name = text(container, "name")
    for metadata in metadatas(site):
        profile = text(metadata, "annotations", f"{_APPARMOR_ANNOTATION}{name}")
        if profile is not None:
            yield _option("apparmor", profile)


def _option(name: str, found: Text) -> Text:
    joined = f"{name}:{found}" if "=" in name else f"{name}={found.lower()}"
    return Text(joined, found.location, ())


def run_as(container: Mapping, site: Site) -> Value | None:
    """The user's number; `nonroot` where only that is said; None where the image decides."""
    number = _own_or_pods(container, site, "runAsUser")
    if number is not None:
        return number
    flags = (flag(holder, "securityContext", "runAsNonRoot") for holder in (container, site.holder))
    said = next((each for each in flags if each is not None), None)
    return None if said is None else Text("nonroot", said.location, ())


def _own_or_pods(container: Mapping, site: Site, *path: str) -> Text | Unknown | None:
    found = (value(holder, "securityContext", *path) for holder in (container, site.holder))
    return next((each for each in found if each is not None), None)
