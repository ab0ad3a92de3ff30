"""What speaks for a container wanting a GPU, how sure that is, and where the absence of a request says nothing."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from small_repository import project

from gpulint.evidence import has_gpu, is_gpu_container, wanted
from gpulint.model.container import Container
from gpulint.model.machines import Machines
from gpulint.project import Project

CUDA = "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime"
"""An image that needs a GPU by the facts."""
UNKNOWN = "registry.example.com/ml/app:1.0.0"
"""An image of which nobody knows anything."""

SELECTOR = 'nodeSelector: {nvidia.com/gpu.present: "true"}'
TOLERATION = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"

TRAINS = """
    import torch
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Linear(8, 8).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(10):
        model(torch.rand(8).to(device)).sum().backward()
        optimizer.step()
    """
SERVES = """
    import torch
    import uvicorn
    from fastapi import FastAPI

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Linear(8, 8).to(device)
    app = FastAPI()

    @app.get("/")
    def predict() -> list[float]:
        return model(torch.rand(8).to(device)).tolist()

    uvicorn.run(app)
    """
RAISES = """
    import torch
    if not torch.cuda.is_available():
        raise SystemExit("no GPU")
    print(torch.rand(8).cuda())
    """


def pod(
    container: str = "",
    spec: str = "",
    image: str = UNKNOWN,
    name: str = "main",
    kind: str = "Pod",
    owner: str = "job",
    namespace: str = "ml",
) -> str:
    """A manifest of one container; `container` and `spec` are further lines of the two, `owner` is the object's name."""
    head = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {owner}, namespace: {namespace}}}\n"
    inner = f"{spec}\ncontainers:\n  - name: {name}\n    image: {image}\n{indent(container, '    ')}\n"
    if kind == "Pod":
        return f"{head}spec:\n{indent(inner, '  ')}"
    return f"{head}spec:\n  template:\n    spec:\n{indent(inner, '      ')}"


def verdict(folder: Path, files: dict[str, str], name: str = "main", machines: Machines | None = None) -> str:
    """How surely the container of that name wants a GPU that nothing asks for: error, warning or "", with its pieces of evidence."""
    whole = project(folder, files, machines, everything=True)
    severity, pieces = wanted(_named(whole, name), whole)
    return ": ".join(filter(None, (severity.label if severity else "", ", ".join(piece.says for piece in pieces))))


def _named(whole: Project, name: str) -> Container:
    (container,) = (each for each in whole.containers if each.name == name)
    return container


# --- Explicit -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("container", "says"),
    [
        ('command: ["python", "run.py", "--device", "cuda"]', "its command says --device cuda"),
        ('command: ["python", "run.py", "--device=cuda:0"]', "its command says --device=cuda:0"),
        ('args: ["--gpu", "0"]', "its command says --gpu 0"),
        ('args: ["--n-gpu-layers", "35"]', "its command says --n-gpu-layers 35"),
        ("command: [sh, -c, 'cd /app && python run.py --device cuda']", "its command says --device cuda"),
        ('command: ["nvidia-smi", "-L"]', "its command says nvidia-smi"),
        ('env: [{name: ENABLE_GPU, value: "true"}]', "its environment says ENABLE_GPU=true"),
        ('env: [{name: CUDA_VISIBLE_DEVICES, value: "0"}]', "its environment says CUDA_VISIBLE_DEVICES=0"),
        ("env: [{name: NVIDIA_DRIVER_CAPABILITIES, value: compute}]", "its environment says NVIDIA_DRIVER_CAPABILITIES=compute"),
    ],
)
def test_an_explicit_piece_of_the_command_or_the_environment_is_a_warning(tmp_path: Path, container: str, says: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(container)}) == f"warning: {says}"


@pytest.mark.parametrize(
    "container",
    [
        'command: ["python", "run.py", "--device", "cpu"]',
        'args: ["--gpus", "0"]',
        'args: ["--n-gpu-layers", "0"]',
        'args: ["--no-gpu"]',
        'args: ["--device", "$(DEVICE)"]',
        'env: [{name: ENABLE_GPU, value: "false"}]',
        "env: [{name: DEVICE, value: cpu}]",
        "env: [{name: ENABLE_GPU, valueFrom: {configMapKeyRef: {name: a, key: b}}}]",
    ],
)
def test_a_word_that_means_off_or_is_not_known_says_nothing(tmp_path: Path, container: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(container)}) == ""


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (SELECTOR, "nvidia.com/gpu.present=true"),
        ("nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}", "cloud.google.com/gke-accelerator=nvidia-l4"),
        (
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
            "[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}]}]}}}",
            "nvidia.com/gpu.product=NVIDIA-L4",
        ),
    ],
)
def test_a_selector_or_required_affinity_for_a_gpu_label_is_explicit(tmp_path: Path, spec: str, shown: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(spec=spec)}) == f"warning: the pod selects GPU nodes by {shown}"


@pytest.mark.parametrize(
    "spec",
    [
        "nodeSelector: {kubernetes.io/arch: amd64}",
        "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
        "{matchExpressions: [{key: nvidia.com/gpu.present, operator: Exists}]}}]}}",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: nvidia.com/gpu.present, operator: DoesNotExist}]}]}}}",
    ],
    ids=["another label", "preferred affinity", "nodes without a GPU"],
)
def test_other_placement_is_no_evidence(tmp_path: Path, spec: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(spec=spec)}) == ""


def test_a_selector_counts_once_for_its_pod(tmp_path: Path) -> None:
    files = {"pod.yaml": f"{pod(spec=SELECTOR)}    - name: other\n      image: {UNKNOWN}\n"}
    assert verdict(tmp_path, files) == "warning: the pod selects GPU nodes by nvidia.com/gpu.present=true"
    assert verdict(tmp_path, files, "other") == ""


# --- Strong ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (CUDA, "needs a GPU"),
        ("vllm/vllm-openai:v0.8.5", "needs a GPU"),
        ("registry.example.com/app:1.0.0-gpu", "says gpu"),
        ("registry.example.com/app:1.0.0-cu124", "says cu124"),
        ("registry.example.com/app:nvidia", "says nvidia"),
    ],
)
def test_an_image_that_needs_a_gpu_or_says_so_in_its_tag_is_strong(tmp_path: Path, image: str, says: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(image=image)}) == f"warning: its image {image} {says}"


@pytest.mark.parametrize(
    "image", [UNKNOWN, "registry.example.com/gpu-tools/app:1.0.0", "registry.example.com/app:${TAG}", "ollama/ollama:0.5.1"]
)
def test_a_name_alone_an_unknown_tag_and_an_image_with_a_cpu_mode_are_not(tmp_path: Path, image: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(image=image)}) == ""


@pytest.mark.parametrize(
    ("dockerfile", "says"),
    [
        ("FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n", "stands on nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
        ("FROM python:3.12\nRUN pip install torch==2.5.1+cu124\n", "installs torch==2.5.1+cu124"),
        ("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS base\nFROM base\n", "stands on nvidia/cuda:12.4.1-devel-ubuntu22.04"),
    ],
)
def test_an_image_that_is_built_here_on_cuda_is_strong(tmp_path: Path, dockerfile: str, says: str) -> None:
    files = {"compose.yaml": "services:\n  main:\n    build: .\n", "Dockerfile": dockerfile + 'CMD ["./app"]\n'}
    assert verdict(tmp_path, files) == f"warning: its image is built here and {says}"


@pytest.mark.parametrize(
    "dockerfile", ["FROM python:3.12\n", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nFROM python:3.12\nCOPY --from=build /a /a\n"]
)
def test_an_image_that_is_built_here_without_cuda_is_not(tmp_path: Path, dockerfile: str) -> None:
    files = {"compose.yaml": "services:\n  main:\n    build: .\n", "Dockerfile": dockerfile + 'CMD ["./app"]\n'}
    assert verdict(tmp_path, files) == ""


def test_a_program_that_fails_without_cuda_is_strong(tmp_path: Path) -> None:
    files = {"pod.yaml": pod("command: [python, run.py]"), "run.py": RAISES}
    assert verdict(tmp_path, files) == "warning: its program run.py fails without CUDA"


# --- Supporting -----------------------------------------------------------------------------------------------------------------


def test_a_program_that_trains_and_prefers_cuda_speaks_alone(tmp_path: Path) -> None:
    files = {"pod.yaml": pod("command: [python, run.py]"), "run.py": TRAINS}
    assert verdict(tmp_path, files) == "warning: its program run.py trains and prefers CUDA"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("", "its program run.py serves and prefers CUDA"),
        (TOLERATION, "the pod tolerates the GPU taint nvidia.com/gpu, its program run.py serves and prefers CUDA"),
        (SELECTOR, "error: the pod selects GPU nodes by nvidia.com/gpu.present=true, its program run.py serves and prefers CUDA"),
    ],
    ids=["alone", "beside another supporting piece", "beside an explicit one"],
)
def test_a_program_that_serves_and_prefers_cuda_is_only_a_second_piece(tmp_path: Path, spec: str, expected: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod("command: [python, run.py]", spec), "run.py": SERVES}) == expected


@pytest.mark.parametrize(
    ("container", "image", "severity"),
    [("", UNKNOWN, "the pod"), ("", CUDA, "warning"), ('args: ["--gpu", "0"]', UNKNOWN, "error")],
    ids=["alone", "beside a strong piece", "beside an explicit one"],
)
def test_a_toleration_is_only_a_second_piece(tmp_path: Path, container: str, image: str, severity: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(container, TOLERATION, image)}).startswith(severity)


# --- Several pieces -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manifest", "severity"),
    [
        (pod('args: ["--gpu", "0"]\nenv: [{name: ENABLE_GPU, value: "1"}]'), "warning"),
        (pod(spec=f"{SELECTOR}\n{TOLERATION}"), "warning"),
        (pod("command: [python, run.py]", image=CUDA), "warning"),
        (pod('args: ["--gpu", "0"]', image=CUDA), "error"),
        (pod(spec=SELECTOR, image=CUDA), "error"),
        (pod('args: ["--gpu", "0"]', SELECTOR), "error"),
        (pod("command: [python, run.py]", SELECTOR), "error"),
        (pod('command: [python, run.py, "--device", "cuda"]'), "error"),
    ],
    ids=[
        "command and environment are one origin",
        "selector and toleration are one origin",
        "two origins, none explicit",
        "command and image",
        "selector and image",
        "command and selector",
        "selector and program",
        "command and program",
    ],
)
def test_two_origins_with_an_explicit_piece_are_an_error(tmp_path: Path, manifest: str, severity: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": manifest, "run.py": RAISES}).startswith(f"{severity}: ")


def test_pieces_come_strongest_first_with_their_places(tmp_path: Path) -> None:
    whole = project(tmp_path, {"pod.yaml": pod('args: ["--gpu", "0"]', TOLERATION, CUDA)})
    _, pieces = wanted(_named(whole, "main"), whole)
    assert [(piece.strength.name, piece.origin.name, str(piece.location)) for piece in pieces] == [
        ("EXPLICIT", "COMMAND", "pod.yaml:9:15"),
        ("STRONG", "IMAGE", "pod.yaml:8:14"),
        ("SUPPORTING", "PLACEMENT", "pod.yaml:5:17"),
    ]


# --- What does not count --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "[chown, -R, app, /data]",
        "[cp, -r, /models, /data]",
        "[sleep, infinity]",
        "[pip, install, -r, requirements.txt]",
        "[alembic, upgrade, head]",
        "[huggingface-cli, download, acme/model]",
        "[sh, -c, 'pip install x && cp a b']",
        '[python, -c, "import torch; print(torch.__version__)"]',
        "[/bin/app, --version]",
    ],
)
def test_a_plain_tool_wants_no_gpu(tmp_path: Path, command: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(f"command: {command}", image=CUDA)}) == ""


@pytest.mark.parametrize("command", ["[sleep, infinity]", "[tail, -f, /dev/null]", "[sh, -c, 'date; exec sleep 1d']"])
def test_where_a_container_that_only_waits_is_placed_counts(tmp_path: Path, command: str) -> None:
    placed = verdict(tmp_path, {"pod.yaml": pod(f"command: {command}", SELECTOR, CUDA)})
    assert placed == "warning: the pod selects GPU nodes by nvidia.com/gpu.present=true"


@pytest.mark.parametrize(
    "command", ["[cp, -r, /models, /data]", "[huggingface-cli, download, acme/model]", "[pip, install, x]", "[sh, -c, 'sleep 5; cp a b']"]
)
def test_a_tool_that_fetches_or_copies_wants_no_gpu_wherever_it_is_placed(tmp_path: Path, command: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(f"command: {command}", SELECTOR, CUDA)}) == ""


COUNTS = """
    import csv
    import sys

    print(sum(1 for _ in csv.reader(sys.stdin)))
    """


@pytest.mark.parametrize(
    ("command", "program", "expected"),
    [
        ("command: [python, count.py]", COUNTS, ""),
        ("command: [python, count.py]", SERVES, "warning: its image is built here and stands on nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
        ("command: [python, count.py]", f"import torch{COUNTS}", "warning: its image is built here and stands on"),
        ("", COUNTS, "warning: its image is built here and stands on nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
    ],
)
def test_a_program_of_another_use_says_that_its_image_does_not_count(tmp_path: Path, command: str, program: str, expected: str) -> None:
    files = {
        "compose.yaml": f"services:\n  main:\n    build: .\n    {command}\n",
        "Dockerfile": "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nWORKDIR /app\nCOPY . .\nCMD [python, count.py]\n",
        "count.py": program,
    }
    found = verdict(tmp_path, files)
    assert found.startswith(expected) if expected else found == ""


@pytest.mark.parametrize("command", ["[sh, -c, 'cp a b; python serve.py']", "[bash]", "[python, serve.py]", '[sh, -c, "$(PROGRAM)"]'])
def test_what_is_more_than_a_plain_tool_does(tmp_path: Path, command: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(f"command: {command}", image=CUDA)}).startswith("warning: its image")


@pytest.mark.parametrize(
    ("container", "image", "name"),
    [
        ("", "registry.example.com/app:1.0.0-gpu", "app-cpu"),
        ("", "registry.example.com/app-cpu:1.0.0-gpu", "main"),
        ("", "pytorch/pytorch:2.5.1-cpu", "main"),
        ('args: ["--device", "cpu"]', CUDA, "main"),
        ("command: [python, /app/run_cpu.py]", CUDA, "main"),
    ],
)
def test_what_says_cpu_silences_all_evidence(tmp_path: Path, container: str, image: str, name: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(container, SELECTOR, image, name)}, name) == ""


@pytest.mark.parametrize(
    ("gpus", "expected"), [("    gpus: all\n", ""), ("    runtime: nvidia\n", ""), ("", f"warning: its image {CUDA} needs a GPU")]
)
def test_an_image_that_the_project_runs_elsewhere_with_a_gpu_does_not_count(tmp_path: Path, gpus: str, expected: str) -> None:
    files = {
        "a/compose.yaml": f"services:\n  main:\n    image: {CUDA}\n",
        "b/compose.yaml": f"services:\n  other:\n    image: {CUDA}\n{gpus}",
    }
    assert verdict(tmp_path, files) == expected


def test_an_explicit_piece_counts_although_the_image_runs_elsewhere_with_a_gpu(tmp_path: Path) -> None:
    files = {
        "a/compose.yaml": f"services:\n  main:\n    image: {CUDA}\n    command: [python, a.py, --device, cuda]\n",
        "b/compose.yaml": f"services:\n  other:\n    image: {CUDA}\n    gpus: all\n",
    }
    assert verdict(tmp_path, files) == "warning: its command says --device cuda"


# --- Where absence says nothing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "owner",
    [
        {"kind": "DaemonSet"},
        {"namespace": "kube-system"},
        {"namespace": "gpu-operator"},
        {"owner": "nvidia-device-plugin"},
        {"owner": "dcgm-exporter"},
    ],
    ids=lambda owner: next(iter(owner.values())),
)
def test_infrastructure_is_exempt(tmp_path: Path, owner: dict[str, str]) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(spec=SELECTOR, image=CUDA, **owner)}) == ""


@pytest.mark.parametrize(
    "variable",
    ['{name: CUDA_VISIBLE_DEVICES, value: ""}', '{name: CUDA_VISIBLE_DEVICES, value: "-1"}', "{name: NVIDIA_VISIBLE_DEVICES, value: void}"],
)
def test_a_gpu_hidden_on_purpose_is_not_missed(tmp_path: Path, variable: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(f"env: [{variable}]", SELECTOR, CUDA)}) == ""


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [("nvidia", ""), ("runc", f"warning: its image {CUDA} needs a GPU"), (None, f"warning: its image {CUDA} needs a GPU")],
)
def test_where_nvidia_is_the_default_runtime_nothing_is_missed(tmp_path: Path, runtime: str | None, expected: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(image=CUDA)}, machines=Machines(default_runtime=runtime)) == expected


@pytest.mark.parametrize(
    "request_",
    [
        "resources: {limits: {nvidia.com/gpu: 1}}",
        "resources: {limits: {nvidia.com/gpu: 0}}",
        "resources: {limits: {nvidia.com/gpu: 0.5}}",
        "resources: {requests: {nvidia.com/gpu: 1}}",
        "resources: {limits: {nvidia.com/gpus: 1}}",
        "resources: {limits: {google.com/tpu: 8}}",
        "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]",
    ],
)
def test_an_attempt_at_a_request_is_no_missing_one(tmp_path: Path, request_: str) -> None:
    assert verdict(tmp_path, {"pod.yaml": pod(request_, SELECTOR, CUDA)}) == ""


def test_another_container_of_the_pod_may_have_it(tmp_path: Path) -> None:
    first = pod("resources: {limits: {nvidia.com/gpu: 1}}", SELECTOR)
    assert verdict(tmp_path, {"pod.yaml": f"{first}    - name: side\n      image: {CUDA}\n"}, "side") == ""


def test_in_ci_only_what_the_command_says_counts(tmp_path: Path) -> None:
    job = f"test:\n  script:\n    - docker run --name main {CUDA} python run.py"
    assert verdict(tmp_path, {".gitlab-ci.yml": f"{job}\n", "run.py": RAISES}) == ""
    assert verdict(tmp_path, {".gitlab-ci.yml": f"{job} --device cuda\n"}) == "warning: its command says --device cuda"


OPEN = {
    "a sibling override that is not known": {
        "compose.yaml": f"services:\n  main:\n    image: {CUDA}\n    extends: {{file: ../outside.yaml, service: main}}\n"
    },
    "a fragment that an include may complete": {"compose.yaml": f"include: [gone.yaml]\nservices:\n  main:\n    image: {CUDA}\n"},
    "an object whose kind gets its resources elsewhere": {
        "runtime.yaml": "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: a}\n"
        f"spec:\n  containers:\n    - name: main\n      image: {CUDA}\n"
    },
    "a template with a part that is not rendered": {
        "chart/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n",
        "chart/templates/pod.yaml": f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: main\n      image: {CUDA}\n"
        "      resources:\n        {{- toYaml .Values.resources | nindent 8 }}\n",
    },
    "flags from a variable of a script": {"run.sh": f"docker run $FLAGS --name main {CUDA}\n"},
}


@pytest.mark.parametrize("case", OPEN)
def test_where_something_else_may_supply_it_nothing_is_missed(tmp_path: Path, case: str) -> None:
    whole = project(tmp_path, OPEN[case])
    assert whole.containers
    for container in whole.containers:
        assert "gpu" in container.open
        assert wanted(container, whole) == (None, ())


def test_only_main_containers_are_missed(tmp_path: Path) -> None:
    files = {"pod.yaml": pod(spec=f"initContainers:\n  - name: first\n    image: {CUDA}\n    command: [python, a.py, --device, cuda]")}
    assert verdict(tmp_path, files, "first") == ""


def test_the_launcher_of_a_job_computes_nothing(tmp_path: Path) -> None:
    container = f"{{containers: [{{name: NAME, image: {CUDA}}}]}}"
    replicas = "\n".join(
        f"    {role}: {{template: {{spec: {container.replace('NAME', role.lower())}}}}}" for role in ("Launcher", "Worker")
    )
    files = {"job.yaml": f"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {{name: a}}\nspec:\n  mpiReplicaSpecs:\n{replicas}\n"}
    assert verdict(tmp_path, files, "launcher") == ""
    assert verdict(tmp_path, files, "worker") == f"warning: its image {CUDA} needs a GPU"


# --- GPU containers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manifest", "has", "counts"),
    [
        (pod("resources: {limits: {nvidia.com/gpu: 1}}"), True, True),
        (pod("resources: {limits: {nvidia.com/gpu: 0.5}}"), True, True),
        (pod("resources: {limits: {nvidia.com/gpu: 0}}"), False, False),
        (pod(spec="runtimeClassName: nvidia"), True, True),
        (pod(image=CUDA), False, True),
        (pod(), False, False),
    ],
    ids=["asks", "asks wrongly", "asks for none", "by its RuntimeClass", "wants one", "has nothing to do with it"],
)
def test_a_gpu_container_has_a_request_or_wants_one(tmp_path: Path, manifest: str, has: bool, counts: bool) -> None:
    whole = project(tmp_path, {"pod.yaml": manifest}, everything=True)
    container = _named(whole, "main")
    assert (has_gpu(container), is_gpu_container(container, whole)) == (has, counts)
