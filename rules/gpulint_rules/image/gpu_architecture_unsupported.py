"""GPU123: a CUDA or framework build has no code for a GPU of the machines."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.facts import version_key
from gpulint.facts.drivers import Gpu, gpu
from gpulint.model.container import Container
from gpulint.model.stage import Stage
from gpulint.project import Project
from gpulint.project.cuda_uses import CudaUse, uses_of
from gpulint.rule import Impact, Problem, Rule, Severity


def check(node: Container | Stage, project: Project) -> Iterator[Problem]:
    """An error for each use of CUDA that does not run on some GPU that the user states."""
    for use, machines in uses_of(node, project):
        known = ((model, gpu(model)) for model in machines.gpus or ())
        unserved = [f"{model} ({each.capability})" for model, each in known if each is not None and not _serves(use, each)]
        if unserved:
            yield Problem(use.location, f"{_lack(use)} for {' and '.join(unserved)}: the first kernel fails", Severity.ERROR, help=_HELP)


_HELP = "use a build that lists this compute capability"


def _lack(use: CudaUse) -> str:
    if use.architectures is None:
        return f"{use.shown} holds CUDA {use.cuda}, which has no code"
    return f"{use.shown} for CUDA {use.cuda} has code for {', '.join(use.architectures)}, and none"


def _serves(use: CudaUse, card: Gpu) -> bool:
    """Whether a build runs on a card: with machine code of its major and no newer minor, or with PTX that is no newer than the card."""
    if use.architectures is None:
        last = card.last_cuda
        return not _is_older(use.cuda, card.oldest_cuda) and (last is None or not _is_older(last, use.cuda))
    capability = version_key(card.capability)
    for architecture in use.architectures:
        code = version_key(architecture.removesuffix("+PTX"))
        if code <= capability and (code[0] == capability[0] or architecture.endswith("+PTX")):
            return True
    return False


def _is_older(cuda: str, other: str) -> bool:
    """Whether a CUDA's minor is older than another's."""
    return version_key(cuda)[:2] < version_key(other)[:2]


RULE = Rule("GPU123", "gpu-architecture-unsupported", (Container, Stage), (Severity.ERROR,), Impact.FAILS_TO_START, check, ("gpus",))
