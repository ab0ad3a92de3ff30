"""Each exemption of GPU201 by itself: what is a fault without it, and none with it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from small_repository import spoken, write

IMAGE = "registry.example.com/asr/engine:2.0.0-cuda12.4"


def pod(name: str = "asr", container: str = "asr", image: str = IMAGE, command: str = "[serve, --device, cuda]", **more: str) -> str:
    """A pod on GPU nodes that says cuda and asks for no GPU; `more` are `namespace`, `kind`, `container_more` and `spec_more`."""
    spec = (
        f"nodeSelector: {{nvidia.com/gpu.present: 'true'}}\n{more.get('spec_more', '')}\n"
        f"containers:\n  - name: {container}\n    image: {image}\n    command: {command}\n    {more.get('container_more', '')}\n"
    )
    metadata = f"metadata: {{name: {name}, namespace: {more.get('namespace', 'ml')}}}"
    kind = more.get("kind", "Pod")
    if kind == "Pod":
        return f"apiVersion: v1\nkind: Pod\n{metadata}\nspec:\n{indent(spec, '  ')}"
    return f"apiVersion: apps/v1\nkind: {kind}\n{metadata}\nspec:\n  template:\n    spec:\n{indent(spec, '      ')}"


def test_without_an_exemption_it_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, {"pod.yaml": pod()})
    assert spoken(tmp_path, "--select", "GPU201") == ["pod.yaml:8:7 error GPU201"]
    write(tmp_path, {"pod.yaml": pod(kind="Deployment")})
    assert spoken(tmp_path, "--select", "GPU201") == ["pod.yaml:10:11 error GPU201"]


INFRASTRUCTURE = {
    "a DaemonSet": pod(kind="DaemonSet"),
    "kube-system": pod(namespace="kube-system"),
    "an operator's namespace": pod(namespace="gpu-operator"),
    "a device plugin": pod(name="nvidia-device-plugin"),
    "a driver": pod(name="nvidia-driver-installer"),
    "an exporter": pod(name="dcgm-exporter-standalone"),
    "an exporter by its image": pod(image="nvcr.io/nvidia/k8s/dcgm-exporter:4.1.1-4.0.4-ubuntu22.04"),
    "a validator": pod(name="cuda-validator"),
    "feature discovery": pod(name="gpu-feature-discovery"),
    "node feature discovery": pod(container="node-feature-discovery"),
    "a MIG manager": pod(name="mig-manager"),
    "a toolkit": pod(name="nvidia-container-toolkit"),
    "a container manager": pod(name="portainer", image="portainer/agent:2.27.6"),
    "an image pre-pull": pod(name="engine-prepull"),
    "a CI runner": pod(name="gitlab-runner"),
    "a CI runner by its image": pod(image="ghcr.io/actions/actions-runner:2.321.0"),
    "a network side-car": pod(container="tcpx-daemon"),
    "a monitor": pod(name="gpu-monitor"),
}
OTHER_REQUESTS = {
    "a limit": pod(container_more="resources: {limits: {nvidia.com/gpu: 1}}"),
    "a slice": pod(container_more="resources: {limits: {nvidia.com/mig-1g.5gb: 1}}"),
    "a share": pod(container_more="resources: {limits: {nvidia.com/gpu.shared: 1}}"),
    "a vGPU": pod(container_more="resources: {limits: {volcano.sh/vgpu-number: 1}}"),
    "AMD": pod(container_more="resources: {limits: {amd.com/gpu: 1}}"),
    "Intel": pod(container_more="resources: {limits: {gpu.intel.com/i915: 1}}"),
    "Gaudi": pod(container_more="resources: {limits: {habana.ai/gaudi: 1}}"),
    "TPU": pod(container_more="resources: {limits: {google.com/tpu: 4}}"),
    "Neuron": pod(container_more="resources: {limits: {aws.amazon.com/neuron: 1}}"),
    "a runtime class": pod(spec_more="runtimeClassName: nvidia"),
    "a claim": pod(
        spec_more="resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]", container_more="resources: {claims: [{name: gpu}]}"
    ),
    "the variable": pod(container_more="env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]"),
    "a zero, which is another rule's": pod(container_more="resources: {limits: {nvidia.com/gpu: 0}}"),
    "a name that nothing advertises": pod(container_more="resources: {limits: {nvidia.com/gpus: 1}}"),
    "a limit in the wrong place": pod(container_more="limits: {nvidia.com/gpu: 1}"),
    "the driver mounted by hand": pod(
        spec_more="volumes: [{name: d, hostPath: {path: /dev/nvidia0}}]",
        container_more="volumeMounts: [{name: d, mountPath: /dev/nvidia0}]",
    ),
    "a sidecar that has it": pod(
        spec_more="initContainers: [{name: w, image: a/b:1, restartPolicy: Always, resources: {limits: {nvidia.com/gpu: 1}}}]"
    ),
}
COMMANDS = {
    "changes owners": "[chown, -R, '1000', /models]",
    "copies": "[cp, -r, /a, /b]",
    "packs": "[tar, xf, a.tar]",
    "downloads": "[huggingface-cli, download, a/b]",
    "fetches": "[curl, -fLO, https://example.com/a]",
    "synchronises": "[aws, s3, sync, 's3://a', /b]",
    "installs": "[pip, install, a]",
    "migrates": "[alembic, upgrade, head]",
    "prints": "[python, -c, 'import torch; print(torch.__version__)']",
    "tells its version": "[vllm, --version]",
    "tells its options": "[serve, --help]",
    "several behind a shell": "[sh, -c, 'mkdir -p /a && cp /b /a']",
}
ON_PURPOSE = {
    "CUDA_VISIBLE_DEVICES is empty": pod(container_more="env: [{name: CUDA_VISIBLE_DEVICES, value: ''}]"),
    "CUDA_VISIBLE_DEVICES is -1": pod(container_more="env: [{name: CUDA_VISIBLE_DEVICES, value: '-1'}]"),
    "NVIDIA_VISIBLE_DEVICES is void": pod(container_more="env: [{name: NVIDIA_VISIBLE_DEVICES, value: void}]"),
    "NVIDIA_VISIBLE_DEVICES is none": pod(container_more="env: [{name: NVIDIA_VISIBLE_DEVICES, value: none}]"),
    "cpu in the tag": pod(image="registry.example.com/asr/engine:2.0.0-cpu"),
    "cpu in the image": pod(image="registry.example.com/asr/engine-cpu:2.0.0"),
    "cpu in the name": pod(container="asr-cpu"),
    "cpu in the command": pod(command="[serve, --device, cpu]"),
}
JOB = "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {spec}\n"
TEMPLATE = f"{{spec: {{containers: [{{name: c, image: '{IMAGE}', command: [serve, --device, cuda]}}]}}}}"
POD_SPEC = f"{{containers: [{{name: c, image: '{IMAGE}', command: [serve, --device, cuda]}}]}}"
KINDS = {
    "the launcher of an MPIJob": ("kubeflow.org/v2beta1", "MPIJob", f"{{mpiReplicaSpecs: {{Launcher: {{template: {TEMPLATE}}}}}}}"),
    "a parameter server": ("kubeflow.org/v1", "TFJob", f"{{tfReplicaSpecs: {{PS: {{template: {TEMPLATE}}}}}}}"),
    "a Ray head": ("ray.io/v1", "RayCluster", f"{{headGroupSpec: {{template: {TEMPLATE}}}}}"),
    "who submits a RayJob": ("ray.io/v1", "RayJob", f"{{submitterPodTemplate: {TEMPLATE}}}"),
    "the leader of a group": (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        f"{{leaderWorkerTemplate: {{leaderTemplate: {TEMPLATE}}}}}",
    ),
    "a transformer": ("serving.kserve.io/v1beta1", "InferenceService", f"{{transformer: {POD_SPEC}}}"),
    "a serving runtime": ("serving.kserve.io/v1alpha1", "ServingRuntime", POD_SPEC),
    "a preset": ("serving.kserve.io/v1alpha1", "LLMInferenceServiceConfig", f"{{template: {POD_SPEC}}}"),
    "a training runtime": (
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        f"{{template: {{spec: {{replicatedJobs: [{{name: node, template: {{spec: {{template: {TEMPLATE}}}}}}}]}}}}}}",
    ),
    "a TrainJob without its runtime": (
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        f"{{runtimeRef: {{name: torch}}, trainer: {{image: '{IMAGE}', command: [serve, --device, cuda]}}}}",
    ),
    "a workflow's template": (
        "argoproj.io/v1alpha1",
        "WorkflowTemplate",
        f"{{templates: [{{name: a, container: {{image: '{IMAGE}', command: [serve, --device, cuda]}}}}]}}",
    ),
    "a kind that nobody knows": ("example.com/v1", "Trainer", f"{{pod: {POD_SPEC}}}"),
    "a schema": ("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{{versions: [{{schema: {POD_SPEC}}}]}}"),
    "a policy": ("kyverno.io/v1", "ClusterPolicy", f"{{rules: [{{validate: {{pattern: {{spec: {POD_SPEC}}}}}}}]}}"),
    "a fragment without an image": (
        "apps/v1",
        "Deployment",
        "{template: {spec: {containers: [{name: c, command: [serve, --device, cuda]}]}}}",
    ),
}
FAULTY_KINDS = {
    "the worker of an MPIJob": ("kubeflow.org/v2beta1", "MPIJob", f"{{mpiReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}"),
    "a launcher that works": (
        "kubeflow.org/v2beta1",
        "MPIJob",
        f"{{runLauncherAsWorker: true, mpiReplicaSpecs: {{Launcher: {{template: {TEMPLATE}}}}}}}",
    ),
    "a Ray worker": ("ray.io/v1", "RayCluster", f"{{workerGroupSpecs: [{{template: {TEMPLATE}}}]}}"),
    "a worker of a group": ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"{{leaderWorkerTemplate: {{workerTemplate: {TEMPLATE}}}}}"),
    "a predictor": ("serving.kserve.io/v1beta1", "InferenceService", f"{{predictor: {POD_SPEC}}}"),
    "a Job": ("batch/v1", "Job", f"{{template: {TEMPLATE}}}"),
}


def cases(groups: dict[str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("text", groups.values(), ids=groups.keys())


@cases({**INFRASTRUCTURE, **OTHER_REQUESTS, **ON_PURPOSE})
def test_exempt(text: str, tmp_path: Path) -> None:
    write(tmp_path, {"pod.yaml": text})
    assert spoken(tmp_path, "--select", "GPU201") == []


@cases(COMMANDS)
def test_a_command_that_computes_nothing(text: str, tmp_path: Path) -> None:
    plain = pod(command=text).replace("nodeSelector: {nvidia.com/gpu.present: 'true'}", "priority: 1")
    write(tmp_path, {"pod.yaml": plain})
    assert spoken(tmp_path, "--select", "GPU201") == []
    write(tmp_path, {"pod.yaml": plain.replace(text, "[serve]")})
    assert spoken(tmp_path, "--select", "GPU201") == ["pod.yaml:8:7 warning GPU201"]


def test_a_container_that_waits_on_a_gpu_node_is_for_somebody_who_works_in_it(tmp_path: Path) -> None:
    write(tmp_path, {"pod.yaml": pod(command="[sleep, infinity]")})
    assert spoken(tmp_path, "--select", "GPU201") == ["pod.yaml:8:7 warning GPU201"]


@pytest.mark.parametrize(("version", "kind", "spec"), KINDS.values(), ids=KINDS.keys())
def test_kinds_whose_gpu_comes_from_elsewhere_or_that_need_none(version: str, kind: str, spec: str, tmp_path: Path) -> None:
    write(tmp_path, {"job.yaml": JOB.format(version=version, kind=kind, spec=spec)})
    assert spoken(tmp_path, "--select", "GPU201") == []


@pytest.mark.parametrize(("version", "kind", "spec"), FAULTY_KINDS.values(), ids=FAULTY_KINDS.keys())
def test_kinds_that_need_their_own(version: str, kind: str, spec: str, tmp_path: Path) -> None:
    write(tmp_path, {"job.yaml": JOB.format(version=version, kind=kind, spec=spec)})
    assert [line.rpartition(" ")[2] for line in spoken(tmp_path, "--select", "GPU201")] == ["GPU201"]


def test_a_queue_brings_a_node_and_no_gpu(tmp_path: Path) -> None:
    job = JOB.format(version="batch/v1", kind="Job", spec=f"{{template: {TEMPLATE}}}")
    queued = job.replace("{name: x}", "{name: x, labels: {kueue.x-k8s.io/queue-name: team}}")
    write(tmp_path, {"job.yaml": queued})
    assert len(spoken(tmp_path, "--select", "GPU201")) == 1
    with_gpu = queued.replace("command:", "resources: {limits: {nvidia.com/gpu: 1}}, command:")
    write(tmp_path, {"job.yaml": with_gpu})
    declared = ("--machine", "gpu_taint=nvidia.com/gpu:NoSchedule", "--select", "GPU404")
    assert spoken(tmp_path, *declared) == []
    write(tmp_path, {"job.yaml": with_gpu.replace(", labels: {kueue.x-k8s.io/queue-name: team}", "")})
    assert len(spoken(tmp_path, *declared)) == 1


def test_the_machines_give_every_container_the_gpus(tmp_path: Path) -> None:
    write(tmp_path, {"pod.yaml": pod()})
    assert spoken(tmp_path, "--select", "GPU201", "--machine", "default_runtime=nvidia") == []
    assert spoken(tmp_path, "--select", "GPU201", "--machine", "default_runtime=runc") != []


CODE = """[python3, -c, "import os, time\\nfor epoch in range(3):\\n    print(os.environ['RANK'])\\n    time.sleep(5)"]"""


@pytest.mark.parametrize(
    ("command", "faults"),
    [(CODE, 0), (CODE.replace("import os", "import torch, os"), 1), (CODE.replace("import os", "import trainer, os"), 1)],
    ids=["nothing of a GPU", "torch", "a module that nobody knows"],
)
def test_code_of_its_own_that_has_nothing_to_do_with_a_gpu(command: str, faults: int, tmp_path: Path) -> None:
    plain = pod(command=command).replace("nodeSelector: {nvidia.com/gpu.present: 'true'}", "priority: 1")
    write(tmp_path, {"pod.yaml": plain})
    assert len(spoken(tmp_path, "--select", "GPU201")) == faults


def test_another_pod_runs_the_same_image_with_a_gpu(tmp_path: Path) -> None:
    plain = pod(command="[serve]").replace("nodeSelector: {nvidia.com/gpu.present: 'true'}", "priority: 1")
    write(tmp_path, {"api.yaml": plain})
    assert len(spoken(tmp_path, "--select", "GPU201")) == 1
    write(tmp_path, {"worker.yaml": pod(name="worker", container_more="resources: {limits: {nvidia.com/gpu: 1}}")})
    assert spoken(tmp_path, "--select", "GPU201") == []
    write(tmp_path, {"api.yaml": pod()})
    assert spoken(tmp_path, "--select", "GPU201") == ["api.yaml:8:7 error GPU201"]


def test_a_manifest_in_a_config_map_is_left_alone(tmp_path: Path) -> None:
    held = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: templates}\ndata:\n  pod.yaml: |\n" + indent(pod(), "    ")
    write(tmp_path, {"map.yaml": held})
    assert spoken(tmp_path, "--min-severity", "note") == []
