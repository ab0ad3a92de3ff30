"""Workloads that are put together from two objects: each judged as the whole, at the place that a person would edit."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import concise, spoken, write

from gpulint.project import assembled

RUNTIME = """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: ClusterTrainingRuntime
    metadata: {name: torch-team}
    spec:
      template:
        spec:
          replicatedJobs:
            - name: node
              template:
                spec:
                  template:
                    spec:
                      nodeSelector: {nvidia.com/gpu.present: "true"}
                      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                      containers:
                        - name: node
                          image: registry.example.com/ml/torch:2.5.1
                          command: [torchrun, train.py, --device, cuda]
                          env: [{name: MODE, value: full}]
    """
TRAIN_JOB = """
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: finetune}
    spec:
      runtimeRef: {name: torch-team}
      trainer:
        numNodes: 2
    """
GPU = "resourcesPerNode: {limits: {nvidia.com/gpu: 1}}"


def test_a_train_job_has_what_its_runtime_has(tmp_path: Path) -> None:
    write(tmp_path, {"runtime.yaml": RUNTIME, "job.yaml": TRAIN_JOB})
    (line,) = concise(tmp_path)
    assert line.startswith("job.yaml:7:5: error: GPU201 the pod has no GPU limit although its command says --device cuda")


def test_either_brings_the_gpu(tmp_path: Path) -> None:
    write(tmp_path, {"runtime.yaml": RUNTIME, "job.yaml": TRAIN_JOB.replace("numNodes: 2", GPU)})
    assert concise(tmp_path) == []
    with_gpu = RUNTIME.replace("env: [", "resources: {limits: {nvidia.com/gpu: 1}}\n                          env: [")
    write(tmp_path, {"runtime.yaml": with_gpu, "job.yaml": TRAIN_JOB})
    assert concise(tmp_path) == []


def test_resources_of_the_job_take_the_place_of_those_of_the_runtime(tmp_path: Path) -> None:
    with_gpu = RUNTIME.replace("env: [", "resources: {limits: {nvidia.com/gpu: 1}}\n                          env: [")
    write(tmp_path, {"runtime.yaml": with_gpu, "job.yaml": TRAIN_JOB.replace("numNodes: 2", "resourcesPerNode: {limits: {cpu: 4}}")})
    assert spoken(tmp_path) == ["job.yaml:7:5 error GPU201"]


def test_tolerations_of_the_runtime_are_the_jobs(tmp_path: Path) -> None:
    declared = ("--machine", "gpu_taint=nvidia.com/gpu:NoSchedule")
    write(tmp_path, {"runtime.yaml": RUNTIME, "job.yaml": TRAIN_JOB.replace("numNodes: 2", GPU)})
    assert spoken(tmp_path, *declared) == []
    write(tmp_path, {"runtime.yaml": RUNTIME.replace("nvidia.com/gpu, operator", "other, operator")})
    assert spoken(tmp_path, *declared) == ["runtime.yaml:14:32 warning GPU404"]
    overridden = TRAIN_JOB.replace("numNodes: 2", GPU).replace("spec:", "spec:\n      podTemplateOverrides: []", 1)
    write(tmp_path, {"job.yaml": overridden})
    assert spoken(tmp_path, *declared) == []


@pytest.mark.parametrize(
    "runtime",
    [
        "",
        RUNTIME.replace("torch-team", "other"),
        RUNTIME.replace("ClusterTrainingRuntime", "TrainingRuntime").replace("{name: torch-team}", "{name: torch-team, namespace: a}"),
        RUNTIME + "---" + RUNTIME,
        RUNTIME.replace("- name: node\n              template", "- {name: launcher}\n            - name: node\n              template"),
        RUNTIME.replace(
            "name: node\n                          image",
            "name: other\n                        - name: two\n                          image",
        ),
        RUNTIME.replace("replicatedJobs:", "unknown:"),
    ],
    ids=["none", "another name", "another namespace", "two", "a launcher", "no such container", "another shape"],
)
def test_a_runtime_that_is_not_here_leaves_all_open(runtime: str, tmp_path: Path) -> None:
    job = TRAIN_JOB.replace("{name: finetune}", "{name: finetune, namespace: b}").replace("numNodes: 2", "args: [--device, cuda]")
    write(tmp_path, {"runtime.yaml": runtime or "a: 1\n", "job.yaml": job})
    assert spoken(tmp_path, "--select", "GPU2,GPU4") == []


SERVING_RUNTIME = """
    apiVersion: serving.kserve.io/v1alpha1
    kind: ServingRuntime
    metadata: {name: vllm}
    spec:
      supportedModelFormats: [{name: vllm}]
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers:
        - name: kserve-container
          image: vllm/vllm-openai:v0.8.5
          args: [--port, "8080"]
    """
SERVICE = """
    apiVersion: serving.kserve.io/v1beta1
    kind: InferenceService
    metadata: {name: llm}
    spec:
      predictor:
        model:
          modelFormat: {name: vllm}
          runtime: vllm
          args: [--tensor-parallel-size, "2"]
    """


def test_an_inference_service_has_the_image_of_its_runtime(tmp_path: Path) -> None:
    write(tmp_path, {"runtime.yaml": SERVING_RUNTIME, "service.yaml": SERVICE})
    (line,) = concise(tmp_path, "--select", "GPU201")
    assert line.startswith(
        "service.yaml:7:7: warning: GPU201 the pod has no GPU limit although its image vllm/vllm-openai:v0.8.5 needs a GPU"
    )


def test_resources_of_runtime_or_service_suffice(tmp_path: Path) -> None:
    resources = "resources: {limits: {nvidia.com/gpu: 2}}"
    write(
        tmp_path,
        {"runtime.yaml": SERVING_RUNTIME, "service.yaml": SERVICE.replace("runtime: vllm", f"runtime: vllm\n          {resources}")},
    )
    assert spoken(tmp_path, "--select", "GPU201,GPU404", "--machine", "gpu_taint=nvidia.com/gpu:NoSchedule") == []
    write(tmp_path, {"runtime.yaml": SERVING_RUNTIME.replace("args:", f"{resources}\n          args:"), "service.yaml": SERVICE})
    assert spoken(tmp_path, "--select", "GPU201") == []


def test_arguments_of_both_are_one_command(tmp_path: Path) -> None:
    resources = "resources: {limits: {nvidia.com/gpu: 1}}"
    write(tmp_path, {"runtime.yaml": SERVING_RUNTIME.replace("args:", f"{resources}\n          args:"), "service.yaml": SERVICE})
    assert spoken(tmp_path, "--select", "GPU210") == ["service.yaml:9:14 error GPU210"]


@pytest.mark.parametrize(
    "service", [SERVICE.replace("runtime: vllm", "storageUri: s3://a"), SERVICE.replace("runtime: vllm", "runtime: other")]
)
def test_a_runtime_that_the_cluster_picks_is_not_known(service: str, tmp_path: Path) -> None:
    write(tmp_path, {"runtime.yaml": SERVING_RUNTIME, "service.yaml": service})
    assert spoken(tmp_path) == []


WORKFLOW = """
    apiVersion: argoproj.io/v1alpha1
    kind: Workflow
    metadata: {generateName: train-}
    spec:
      SETTING
      templates:
        - name: train
          container:
            image: registry.example.com/ml/torch:2.5.1
            command: [python, train.py, --device, cuda]
        - name: all
          steps: [[{name: a, template: train}]]
    """


@pytest.mark.parametrize(
    ("setting", "faults"),
    [
        ("entrypoint: all", ["work.yaml:9:9 warning GPU201"]),
        ("templateDefaults: {container: {resources: {limits: {nvidia.com/gpu: 1}}}}", []),
        ("templateDefaults: {script: {resources: {limits: {nvidia.com/gpu: 1}}}}", ["work.yaml:9:9 warning GPU201"]),
        ("templateDefaults: {nodeSelector: {nvidia.com/gpu.present: 'true'}}", ["work.yaml:9:9 error GPU201"]),
        ('podSpecPatch: \'{"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}\'', []),
        ("podSpecPatch: '{nodeSelector: {nvidia.com/gpu.present: \"true\"}}'", ["work.yaml:9:9 error GPU201"]),
        ("podSpecPatch: '{priority: 1}'", ["work.yaml:9:9 warning GPU201"]),
        ("podSpecPatch: '{{inputs.parameters.patch}}'", []),
        ("podSpecPatch: '{containers: ['", []),
    ],
)
def test_what_a_workflow_says_of_all_templates_holds_for_each(setting: str, faults: list[str], tmp_path: Path) -> None:
    write(tmp_path, {"work.yaml": WORKFLOW.replace("SETTING", setting)})
    assert spoken(tmp_path) == faults


def test_a_patch_of_one_template_is_that_templates(tmp_path: Path) -> None:
    patch = "podSpecPatch: '{containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}'"
    write(tmp_path, {"work.yaml": WORKFLOW.replace("SETTING", "entrypoint: all").replace("container:", f"{patch}\n          container:")})
    assert spoken(tmp_path) == []


def test_a_workflow_has_the_templates_that_it_refers_to(tmp_path: Path) -> None:
    template = (
        WORKFLOW.replace("Workflow", "WorkflowTemplate").replace("{generateName: train-}", "{name: train}").replace("SETTING", "x: 1")
    )
    run = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: run-}\nspec:\n  workflowTemplateRef: {name: train}\n"
    write(tmp_path, {"template.yaml": template})
    assert spoken(tmp_path) == []
    write(tmp_path, {"run.yaml": run})
    assert spoken(tmp_path) == ["template.yaml:9:9 warning GPU201"]
    write(tmp_path, {"run.yaml": run + "  templateDefaults: {container: {resources: {limits: {nvidia.com/gpu: 1}}}}\n"})
    assert spoken(tmp_path) == []


def test_objects_of_a_kustomization_are_put_together_too(tmp_path: Path) -> None:
    kustomization = "resources: [runtime.yaml, job.yaml]\n"
    write(tmp_path, {"kustomization.yaml": kustomization, "runtime.yaml": RUNTIME, "job.yaml": TRAIN_JOB})
    assert spoken(tmp_path) == ["job.yaml:7:5 error GPU201"]


def test_a_file_that_names_no_gpu_itself_is_read_for_its_other_half(tmp_path: Path) -> None:
    plain = SERVING_RUNTIME.replace("tolerations: [{key: nvidia.com/gpu, operator: Exists}]", "x: 1").replace("vllm", "engine")
    service = SERVICE.replace("vllm", "engine").replace("args:", "env: [{name: ENABLE_GPU, value: 'true'}]\n          args:")
    write(tmp_path, {"runtime.yaml": plain.replace("engine/engine-openai:v0.8.5", "registry.example.com/a:1.0"), "service.yaml": service})
    assert spoken(tmp_path, "--select", "GPU201") == ["service.yaml:7:7 warning GPU201"]


def test_what_a_thousand_objects_name_is_not_read_a_thousand_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembled, "_MOST_VALUES", 100)
    jobs = "---".join(TRAIN_JOB.replace("finetune", f"job-{number}") for number in range(20))
    write(tmp_path, {"runtime.yaml": RUNTIME, "job.yaml": jobs})
    assert 0 < len(spoken(tmp_path)) < 20
    monkeypatch.setattr(assembled, "_MOST_PATCHED", 20)
    write(tmp_path, {"job.yaml": WORKFLOW.replace("SETTING", "podSpecPatch: '{priority: 1}'")})
    assert spoken(tmp_path) == []
