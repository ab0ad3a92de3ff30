"""What the labels and taints of a cluster's nodes say of its machines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpulint.facts import fullmatch, table, words


def stated(fact: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """What labels say of a machine, the surest first: its driver, driver-part (in order), model, count, mig-strategy, system or
    architecture."""
    return tuple(labels[row["label"]] for row in table("nodes")["facts"] if row["fact"] == fact and row["label"] in labels)


def card_model(model: str) -> tuple[str, str]:
    """The model of a card as a label has it, without what is added for shared and cut cards; and the profile of its slices, "" for none."""
    profile = ""
    for row in table("nodes")["model_suffixes"]:
        match = re.search(row["pattern"], model)
        if match:
            model, profile = model[: match.start()], match.groupdict().get("profile", profile)
    return model, profile


def pool_names(labels: Mapping[str, str]) -> tuple[str, ...]:
    """The names that labels give the node pool."""
    return tuple(labels[key] for row in table("nodes")["pool_names"] for key in row["words"] if key in labels)


def selects_pool(key: str) -> bool:
    """Whether pods pick machines by a node label of that key: by the card, the node pool, or the user's own words."""
    if any(fullmatch(row["pattern"], key) for row in table("nodes")["selecting"]):
        return True
    domain, slash, _ = key.rpartition("/")
    return not slash or not any(fullmatch(row["pattern"], domain) for row in table("nodes")["others_domains"])


def passing_taint(key: str) -> bool:
    """Whether a taint of that key tells of a node's state or role, and so keeps no workload from its kind of machines."""
    return any(fullmatch(row["pattern"], key) for row in table("nodes")["passing_taints"])


def cluster_adds_tolerations(labels: Mapping[str, str]) -> bool:
    """Whether the cluster of a node with these labels gives GPU pods their tolerations by itself."""
    return any(key in words("nodes", "adds_tolerations") for key in labels)


def comes_and_goes(labels: Mapping[str, str]) -> bool:
    """Whether a node with these labels is made when it is needed, and removed when not."""
    return any(key in words("nodes", "autoscaled") for key in labels)
