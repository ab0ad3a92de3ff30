"""GPU702: CI pushes a GPU image, and nothing ever checks a GPU in it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.project import Project
from gpulint.project.smoke_tests import checks_a_gpu, is_for_gpu, pushes
from gpulint.rule import Impact, Problem, Related, Rule, Severity

HELP = 'run the image with a GPU before it is used: docker run --rm --gpus all IMAGE python -c "import torch; torch.zeros(1).cuda()"'


def check(project: Project, _project: Project) -> Iterator[Problem]:
    """A note at each step that pushes such an image."""
    for push in pushes(project):
        if is_for_gpu(push.stage, project) and not checks_a_gpu(push.stage, project):
            related = (Related(push.stage.from_location, "the image is built here"),)
            message = "this pushes a GPU image that nothing here ever runs on a GPU: that it cannot use one shows in production"
            yield Problem(push.location, message, Severity.NOTE, help=HELP, related=related)


RULE = Rule("GPU702", "no-gpu-smoke-test", Project, (Severity.NOTE,), Impact.CPU_FALLBACK, check)
