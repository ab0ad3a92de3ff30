"""What `nvidia-smi -q -x` prints: the driver and the cards of one machine, as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulint.deferred import regex
from gpulint.model.machines import Machines

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DRIVER = regex(r"\d{3}(?:\.\d{1,9}){0,2}")
_MODEL = regex(r"[A-Za-z0-9][-A-Za-z0-9 .+()/]*")
_ROOT = "nvidia_smi_log"


def read_report(text: str) -> Machines | None:
    """The facts of the machine that a report is of; None for a text that is no such report."""
    root = _parsed(text)
    if root is None or root.tag != _ROOT:
        return None
    cards = root.findall("gpu")
    driver = _said(root, "driver_version")
    models = tuple(dict.fromkeys(model for card in cards if _MODEL.fullmatch(model := _said(card, "product_name"))))
    return Machines(driver=driver if _DRIVER.fullmatch(driver) else None, gpus=models or None, gpus_per_node=len(cards) or None)


def _said(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _parsed(text: str) -> Element | None:
    """The root of a document without declared entities, which might grow beyond all bounds; a report has none."""
    from xml.etree import ElementTree

    if "<!ENTITY" in text:
        return None
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):  # ValueError for an encoding that is not known
        return None
