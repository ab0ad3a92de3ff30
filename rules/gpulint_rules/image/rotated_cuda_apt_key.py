"""GPU115: apt meets NVIDIA's repositories with the signing key that was replaced in April 2022."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts.cuda_tags import signing_key
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.apt_keys import build_steps, first_update, revoked_key_fetched
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Unknown, known

CURE = "install cuda-keyring first, or remove /etc/apt/sources.list.d/cuda.list and nvidia-ml.list, or take a newer base"


def check(stage: Stage, project: Project) -> Iterator[Problem]:
    """An error where the build fetches the revoked key, a warning at the first update of apt's lists on a base that still trusts it."""
    dockerfile, base = project.dockerfile(stage.path), stage.chain()[-1].base
    if dockerfile is None or any(other.parent is stage for other in dockerfile.stages):
        return  # the stages that build on this one take its steps with their own
    if base is None or (not isinstance(base.tag, Unknown) and base.is_missing):
        return
    steps = tuple(build_steps(stage.chain()))
    fetched = revoked_key_fetched(steps)
    if fetched is not None:
        message = (
            "this fetches the key 7fa2af80, which the CUDA repositories are no longer signed with: apt refuses them, and the build fails"
        )
        yield Problem(fetched.location, message, Severity.ERROR, help="install cuda-keyring, which holds the key of today")
        return
    tag, update = known(base.tag), first_update(steps)
    if tag is not None and update is not None and signing_key(base.repository, tag) == "old":
        message = f"{base.shown} trusts the key that NVIDIA replaced in April 2022, so that apt-get update fails on its CUDA repositories"
        yield Problem(update.location, message, Severity.WARNING, help=CURE, related=(Related(base.location, "the base image"),))


RULE = Rule("GPU115", "rotated-cuda-apt-key", Stage, (Severity.ERROR, Severity.WARNING), Impact.BUILD_FAILS, check)
