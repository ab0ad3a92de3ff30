"""The built-in rules. tools/catalogue.py writes this file: change a rule or its page, then run it.

No rule's module is imported here: a run imports those that it needs.
"""

from __future__ import annotations

from gpulint.rule import Entry, Impact, Severity

_FOLDER = __file__.rpartition("/")[0]
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def _entry(
    rule_id: str, name: str, folder: str, node: str, impact: Impact, severities: tuple[Severity, ...], machines: tuple[str, ...] = ()
) -> Entry:
    """The entry of a rule whose page, and module unless it is the engine's own, lie in that folder under its name."""
    stem = name.replace("-", "_")
    module = "" if folder == "engine" else f"{__name__}.{folder}.{stem}"
    return Entry(rule_id, name, node, severities, impact, module, f"{_FOLDER}/{folder}/{stem}.md", machines)


CATALOGUE = (
    _entry("GPU001", "syntax-error", "engine", "File", Impact.UNREAD, (WARNING, NOTE)),
    _entry("GPU002", "unreadable-file", "engine", "File", Impact.UNREAD, (WARNING,)),
    _entry("GPU003", "rule-crashed", "engine", "File", Impact.UNREAD, (ERROR,)),
    _entry("GPU004", "unused-ignore", "engine", "File", Impact.UNREAD, (WARNING,)),
    _entry("GPU101", "unpinned-gpu-image", "image", "ImageRef", Impact.UNREPRODUCIBLE, (ERROR, WARNING)),
    _entry("GPU102", "nonexistent-cuda-tag", "image", "ImageRef", Impact.BUILD_FAILS, (ERROR, NOTE)),
    _entry("GPU103", "devel-image-at-runtime", "image", "Stage", Impact.WASTEFUL, (WARNING,)),
    _entry("GPU104", "minimal-base-for-gpu", "image", "Stage", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU105", "driver-in-image", "image", "Stage", Impact.FAILS_TO_START, (ERROR, WARNING)),
    _entry("GPU106", "gpu-probe-at-build", "image", "Stage", Impact.BUILD_FAILS, (ERROR, WARNING)),
    _entry("GPU107", "cpu-only-framework", "image", "Stage", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU108", "cuda-build-mismatch", "image", "Stage", Impact.CPU_FALLBACK, (ERROR, WARNING, NOTE)),
    _entry("GPU109", "unpinned-framework", "image", "Stage", Impact.UNREPRODUCIBLE, (NOTE,)),
    _entry("GPU110", "cudnn-missing", "image", "Stage", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU111", "cuda-libraries-left-behind", "image", "Stage", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU112", "nvcc-missing", "image", "Stage | Container", Impact.BUILD_FAILS, (ERROR,)),
    _entry("GPU113", "cuda-arch-list-unset", "image", "Stage", Impact.BUILD_FAILS, (WARNING,)),
    _entry("GPU114", "extension-built-without-cuda", "image", "Stage", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU115", "rotated-cuda-apt-key", "image", "Stage", Impact.BUILD_FAILS, (ERROR, WARNING)),
    _entry("GPU116", "library-path-clobbered", "image", "Stage | Container", Impact.CPU_FALLBACK, (WARNING, NOTE)),
    _entry("GPU117", "conflicting-framework-installs", "image", "Stage", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU118", "desktop-wheel-on-jetson", "image", "Stage", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU119", "driver-check-disabled", "image", "Stage | Container", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU120", "arg-scope-lost", "image", "Stage", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU121", "build-tools-in-runtime-image", "image", "Stage", Impact.WASTEFUL, (NOTE,)),
    _entry(
        "GPU122",
        "cuda-newer-than-driver",
        "image",
        "Container | Stage",
        Impact.FAILS_TO_START,
        (ERROR, WARNING, NOTE),
        machines=("driver",),
    ),
    _entry("GPU123", "gpu-architecture-unsupported", "image", "Container | Stage", Impact.FAILS_TO_START, (ERROR,), machines=("gpus",)),
    _entry("GPU124", "glibc-too-old", "image", "Stage", Impact.BUILD_FAILS, (ERROR,)),
    _entry("GPU125", "jit-compiler-missing", "image", "Stage", Impact.FAILS_TO_START, (WARNING,)),
    _entry("GPU126", "visible-devices-baked-in", "image", "Stage", Impact.WRONG_GPU, (WARNING, NOTE)),
    _entry("GPU201", "gpu-not-requested", "container", "Container", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU202", "privileged-gpu-container", "container", "Container", Impact.INSECURE, (WARNING,)),
    _entry("GPU203", "gpu-mapped-by-hand", "container", "Container", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU204", "gpu-hidden-by-env", "container", "Container", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU205", "gpu-taken-past-scheduler", "container", "Container", Impact.INSECURE, (WARNING,)),
    _entry("GPU206", "runtime-without-visible-devices", "container", "Container", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU207", "driver-capabilities-incomplete", "container", "Container", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU208", "shm-too-small", "container", "Container", Impact.FAILS_TO_START, (ERROR, WARNING, NOTE)),
    _entry("GPU209", "confinement-disabled", "container", "Container", Impact.INSECURE, (NOTE,)),
    _entry("GPU210", "parallelism-exceeds-gpus", "container", "Container | CommandLine", Impact.FAILS_TO_START, (ERROR,)),
    _entry("GPU211", "wrong-image-for-gpu", "container", "Container", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU212", "rocm-devices-missing", "container", "Container", Impact.CPU_FALLBACK, (ERROR, NOTE)),
    _entry("GPU213", "docker-socket-mounted", "container", "Container", Impact.INSECURE, (NOTE,)),
    _entry("GPU214", "legacy-gpu-runtime", "container", "Container", Impact.FAILS_TO_START, (WARNING, NOTE)),
    _entry("GPU215", "all-gpus-requested", "container", "Container", Impact.WASTEFUL, (WARNING, NOTE)),
    _entry("GPU301", "malformed-gpu-request", "compose", "Container", Impact.FAILS_TO_START, (ERROR,)),
    _entry("GPU302", "misplaced-gpu-request", "compose", "Container", Impact.FAILS_TO_START, (ERROR,)),
    _entry("GPU303", "shared-gpu", "compose", "Container", Impact.WRONG_GPU, (NOTE,)),
    _entry("GPU304", "gpu-required-by-default", "compose", "Container", Impact.FAILS_TO_START, (NOTE,)),
    _entry("GPU401", "gpu-request-limit-mismatch", "kubernetes", "Container", Impact.FAILS_TO_START, (ERROR, WARNING)),
    _entry("GPU402", "fractional-gpu", "kubernetes", "Container", Impact.FAILS_TO_START, (ERROR,)),
    _entry("GPU403", "unknown-gpu-resource", "kubernetes", "Container", Impact.NEVER_SCHEDULED, (ERROR, WARNING)),
    _entry("GPU404", "gpu-toleration-missing", "kubernetes", "Pod", Impact.NEVER_SCHEDULED, (WARNING, NOTE)),
    _entry("GPU405", "gpu-toleration-too-strict", "kubernetes", "Pod", Impact.NEVER_SCHEDULED, (WARNING,)),
    _entry("GPU406", "rollout-deadlock", "kubernetes", "Pod", Impact.NEVER_SCHEDULED, (WARNING, NOTE)),
    _entry("GPU407", "misplaced-gpu-setting", "kubernetes", "Pod", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU408", "runtimeclass-missing", "kubernetes", "Pod", Impact.CPU_FALLBACK, (WARNING,), machines=("gpu_runtime_class",)),
    _entry("GPU409", "mixed-gpu-resources", "kubernetes", "Container", Impact.NEVER_SCHEDULED, (ERROR, WARNING)),
    _entry("GPU410", "broken-gpu-claim", "kubernetes", "Pod | DeviceClaim", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU411", "liveness-kills-loading", "kubernetes", "Container", Impact.FAILS_TO_START, (WARNING,)),
    _entry("GPU412", "gpu-on-wrong-container", "kubernetes", "Pod", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU413", "ray-gpus-without-limit", "kubernetes", "Pod", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU414", "mig-resource-mismatch", "kubernetes", "Container", Impact.NEVER_SCHEDULED, (WARNING, NOTE)),
    _entry("GPU415", "misconfigured-device-plugin", "kubernetes", "StackPart", Impact.CPU_FALLBACK, (ERROR, NOTE)),
    _entry("GPU416", "gpu-value-not-rendered", "kubernetes", "Chart | Container", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU417", "cpu-memory-unset", "kubernetes", "Container", Impact.WASTEFUL, (NOTE,)),
    _entry("GPU418", "job-without-deadline", "kubernetes", "Pod", Impact.WASTEFUL, (NOTE,)),
    _entry("GPU419", "floating-gpu-stack", "kubernetes", "StackPart | Pod | CommandLine", Impact.UNREPRODUCIBLE, (NOTE,)),
    _entry("GPU420", "cpu-starved-gpu", "kubernetes", "Container", Impact.WASTEFUL, (NOTE,)),
    _entry("GPU421", "cpu-autoscaled-gpu", "kubernetes", "Autoscaler", Impact.WASTEFUL, (NOTE,)),
    _entry("GPU501", "malformed-gpus-flag", "command", "Container", Impact.FAILS_TO_START, (ERROR,)),
    _entry("GPU502", "gpus-after-image", "command", "Container", Impact.CPU_FALLBACK, (ERROR, NOTE)),
    _entry("GPU503", "gpu-on-cpu-runner", "command", "Container | CommandLine", Impact.FAILS_TO_START, (ERROR, WARNING)),
    _entry("GPU504", "malformed-devcontainer-gpu", "command", "Container", Impact.FAILS_TO_START, (ERROR,)),
    _entry("GPU505", "nvidia-default-runtime", "command", "EngineConfig | CommandLine", Impact.INSECURE, (NOTE,)),
    _entry("GPU506", "apptainer-without-nv", "command", "CommandLine", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU507", "unescaped-helm-set", "command", "CommandLine | CutName", Impact.CPU_FALLBACK, (ERROR,)),
    _entry("GPU508", "malformed-ecs-gpu", "command", "Container", Impact.FAILS_TO_START, (ERROR, WARNING)),
    _entry("GPU509", "toolkit-not-wired", "command", "CommandLine", Impact.FAILS_TO_START, (NOTE,)),
    _entry("GPU601", "missing-startup-assertion", "python", "EntryPoint", Impact.CPU_FALLBACK, (WARNING, NOTE)),
    _entry("GPU602", "late-visible-devices", "python", "Module", Impact.WRONG_GPU, (ERROR, WARNING, NOTE)),
    _entry("GPU603", "default-device-cpu", "python", "EntryPoint", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU604", "unchecked-onnxruntime-providers", "python", "Module", Impact.CPU_FALLBACK, (ERROR, WARNING)),
    _entry("GPU605", "cuda-before-fork", "python", "Module | EntryPoint", Impact.FAILS_TO_START, (ERROR, WARNING)),
    _entry("GPU606", "gpu-hidden-in-code", "python", "EntryPoint", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU607", "zero-process-launch", "python", "Module", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU608", "stripped-assertion", "python", "EntryPoint", Impact.CPU_FALLBACK, (WARNING,)),
    _entry("GPU609", "cuda-hard-coded", "python", "Module", Impact.FAILS_TO_START, (NOTE,)),
    _entry("GPU701", "version-drift", "project", "Project", Impact.UNREPRODUCIBLE, (NOTE,)),
    _entry("GPU702", "no-gpu-smoke-test", "project", "Project", Impact.CPU_FALLBACK, (NOTE,)),
)
