"""GPU702: CI pushes a GPU image, and nothing ever checks a GPU in it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.project import Project
from gpulint.project.claims import vendor_of
from gpulint.project.smoke_tests import checks_a_gpu, is_for_gpu, pushes
from gpulint.rule import Impact, Problem, Related, Rule, Severity

HELP = 'run the image with a GPU before it is used: docker run --rm {} IMAGE python -c "import torch; torch.zeros(1).cuda()"'
FLAGS = {"amd": "--device /dev/kfd --device /dev/dri"}


def check(project: Project, _project: Project) -> Iterator[Problem]:
    """A note at each step that pushes such an image."""
    for push in pushes(project):
        if is_for_gpu(push.stage, project) and not checks_a_gpu(push.stage, project):
            related = (Related(push.stage.from_location, "the image is built here"),)
            message = "this pushes a GPU image that nothing here ever runs on a GPU: that it cannot use one shows in production"
            flags = FLAGS.get(vendor_of(push.stage.chain()[-1].base), "--gpus all")
            yield Problem(push.location, message, Severity.NOTE, help=HELP.format(flags), related=related)


RULE = Rule("GPU702", "no-gpu-smoke-test", Project, (Severity.NOTE,), Impact.CPU_FALLBACK, check)
