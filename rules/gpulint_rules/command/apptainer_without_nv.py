"""GPU506: a job starts a container of a GPU image without the option that brings the GPU into it."""

from __future__ import annotations

from collections.abc import Iterator

from gpulint.evidence import CI_CONTEXTS
from gpulint.facts.batch import stands_for_gpu_option
from gpulint.facts.commands import cpu_argument, hides_gpu, plain_tool
from gpulint.model.batch_job import BatchRun, apptainer_run
from gpulint.model.command import CommandLine
from gpulint.project import Project
from gpulint.project.batch_jobs import asks_for_gpu, assignments, defined, directives, names_gpu, unasked_step
from gpulint.rule import Impact, Problem, Related, Rule, Severity
from gpulint.source import Text, as_written


def check(line: CommandLine, project: Project) -> Iterator[Problem]:
    """A problem where the image is made for a GPU, a program works in it, and neither an option nor a variable brings the GPU."""
    if line.context in CI_CONTEXTS:
        return
    run = apptainer_run(line.command, line.script)
    if run is not None and not (run.gets_gpu or _is_set_by_variable(line) or _is_for_cpu(line, project)):
        run = defined(run, line, project)
        yield from _problem(run, "the container gets no GPU without --nv", "add --nv behind exec, run or shell, or --rocm for an AMD image")
    step = unasked_step(line, project)
    if step is not None:
        yield from _problem(step, "the job asks for no GPU", "add --gpus-per-node or --gres=gpu:1 to srun, or to the #SBATCH lines")


def _is_set_by_variable(line: CommandLine) -> bool:
    """Whether the script sets a variable in place of the option."""
    return any(stands_for_gpu_option(each.name) for each in assignments(line.script))


def _is_for_cpu(line: CommandLine, project: Project) -> bool:
    """Whether the script is told to do without a GPU: by a variable, or as a job that asks its scheduler for none."""
    if any(hides_gpu(each.name, str(each.value)) for each in assignments(line.script) if isinstance(each.value, Text)):
        return True
    told = directives(line.location.path, project)
    return bool(told) and not asks_for_gpu(told)


def _problem(run: BatchRun, message: str, help_line: str) -> Iterator[Problem]:
    words = [as_written(word) for word in run.words]
    says = names_gpu(run)
    if says and not (plain_tool(words) or cpu_argument(words) is not None):
        place = run.image.location if run.image is not None else run.location
        related = (Related(place, f"the image: {says}"),)
        yield Problem(run.location, f"{message}, and {says}: it runs on CPU or fails", Severity.WARNING, help_line, related)


RULE = Rule("GPU506", "apptainer-without-nv", CommandLine, (Severity.WARNING,), Impact.CPU_FALLBACK, check)
