"""Claims of devices: what they ask for, and in the form of which API version."""

from __future__ import annotations

from textwrap import dedent

import pytest

from gpulint.model.device_claim import DeviceClaim, read_device_claim
from gpulint.parse.nodes import Mapping
from gpulint.parse.yaml import parse
from gpulint.source import Source


def claim(text: str) -> DeviceClaim | None:
    root = parse(Source("claim.yaml", dedent(text).encode())).documents[0].root
    assert isinstance(root, Mapping)
    return read_device_claim(root)


@pytest.mark.parametrize(
    ("version", "expected"), [("v1", "exactly"), ("v1beta2", "exactly"), ("v1beta1", "flat"), ("v1alpha3", "flat"), ("v9", "")]
)
def test_each_version_has_its_form(version: str, expected: str) -> None:
    found = claim(f"{{apiVersion: resource.k8s.io/{version}, kind: ResourceClaim, metadata: {{name: a}}}}")
    assert found and (found.version, found.expected, found.requests) == (version, expected, ())


def test_the_requests_of_a_template() -> None:
    found = claim(
        """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: one}
        spec:
          spec:
            devices:
              requests:
                - {name: a, exactly: {deviceClassName: gpu.nvidia.com}}
                - {name: b, deviceClassName: gpu.amd.com}
                - {name: c, firstAvailable: [{name: x, deviceClassName: big}, {name: y, deviceClassName: small}]}
        """
    )
    assert found and found.name == "one"
    shown = [([str(each) for each in request.classes], request.form, request.key.location.line) for request in found.requests]
    assert shown == [(["gpu.nvidia.com"], "exactly", 9), (["gpu.amd.com"], "flat", 10), (["big", "small"], "", 11)]


def test_another_kind_is_no_claim() -> None:
    assert claim("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a}}") is None
