"""Scalars as truth values, as the tools read them that the files are for."""

from __future__ import annotations

from gpulint.parse.nodes import Scalar

_YAML_1_1_TRUE = frozenset(spelling for word in ("y", "yes", "true", "on") for spelling in (word, word.capitalize(), word.upper()))
_YAML_1_1_FALSE = frozenset(spelling for word in ("n", "no", "false", "off") for spelling in (word, word.capitalize(), word.upper()))


def kubernetes_boolean(scalar: Scalar) -> bool | None:
    """The truth value that the API server decodes; None where it would refuse the scalar as one, as it does everything in quotes.

    Source: sigs.k8s.io/yaml decodes by go.yaml.in/yaml/v2, whose resolve.go has the spellings of YAML 1.1.
    """
    if not scalar.plain:
        return None
    return True if scalar in _YAML_1_1_TRUE else False if scalar in _YAML_1_1_FALSE else None


def compose_boolean(text: str) -> bool | None:
    """The truth value that Compose makes of a scalar, in quotes or not, in any case; None where it would refuse it.

    Source: compose-spec/compose-go, toBoolean of loader/interpolate.go.
    """
    word = text.lower()
    return True if word in ("true", "y", "yes", "on") else False if word in ("false", "n", "no", "off") else None
