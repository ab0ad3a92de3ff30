"""Where the pods of each kind stand, what its controller adds, and which workloads are infrastructure."""

from __future__ import annotations

import pytest

from gpulint.facts import table
from gpulint.facts.workloads import (
    PodPath,
    adds_shm,
    adds_tolerations,
    infrastructure,
    not_workload,
    pod_paths,
    queue_label,
    resources_from_elsewhere,
    stack_chart,
)


@pytest.mark.parametrize(
    ("api_version", "kind", "path"),
    [
        ("v1", "Pod", "spec"),
        ("apps/v1", "Deployment", "spec.template.spec"),
        ("batch/v1", "Job", "spec.template.spec"),
        ("batch/v1", "CronJob", "spec.jobTemplate.spec.template.spec"),
        ("batch.volcano.sh/v1alpha1", "Job", "spec.tasks.*.template.spec"),
        ("kubeflow.org/v1", "PyTorchJob", "spec.pytorchReplicaSpecs.*.template.spec"),
        ("serving.knative.dev/v1", "Service", "spec.template.spec"),
        (None, "Deployment", "spec.template.spec"),
    ],
)
def test_the_first_path_of_a_kind(api_version: str | None, kind: str, path: str) -> None:
    paths = pod_paths(api_version, kind)
    assert paths and paths[0] == PodPath(tuple(path.split(".")), "main", "pod")


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        ("kubeflow.org/v2beta1", "MPIJob", {("launcher", "pod"), ("main", "pod")}),
        ("ray.io/v1", "RayCluster", {("head", "pod"), ("worker", "pod")}),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {("head", "pod"), ("worker", "pod")}),
        ("argoproj.io/v1alpha1", "Workflow", {("main", "container"), ("init", "container"), ("sidecar", "container")}),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", {("main", "resources")}),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", {("head", "gpu"), ("worker", "gpu")}),
    ],
)
def test_roles_and_forms(api_version: str, kind: str, expected: set[tuple[str, str]]) -> None:
    assert {(path.role, path.form) for path in pod_paths(api_version, kind) or ()} == expected


def test_an_inference_service_has_a_pod_and_a_model() -> None:
    paths = pod_paths("serving.kserve.io/v1beta1", "InferenceService") or ()
    assert PodPath(("spec", "predictor"), "main", "pod") in paths
    assert PodPath(("spec", "predictor", "model"), "main", "container") in paths
    assert PodPath(("spec", "transformer"), "helper", "pod") in paths


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("v1", "Service"), ("v1", "ConfigMap"), ("karpenter.sh/v1", "NodePool"), ("example.com/v1", "Deployment"), (None, "Unheard")],
)
def test_kinds_without_pods(api_version: str | None, kind: str) -> None:
    assert pod_paths(api_version, kind) is None


def test_no_kind_is_a_workload_and_none_at_once() -> None:
    kinds = {row["kind"] for row in table("workloads")["kinds"]}
    assert not {kind for kind in kinds if not_workload(kind)}


def test_traits() -> None:
    assert resources_from_elsewhere("ClusterServingRuntime") and not resources_from_elsewhere("Deployment")
    assert adds_shm("RayCluster") and not adds_shm("Job")
    assert adds_tolerations("TrainJob") and not adds_tolerations("Deployment")
    assert not_workload("ResourceClaimTemplate") and not_workload("NodePool") and not_workload("CustomResourceDefinition")


@pytest.mark.parametrize(
    ("name", "namespace", "image", "kind"),
    [
        ("anything", "", "", "DaemonSet"),
        ("anything", "kube-system", "", "Deployment"),
        ("anything", "gpu-operator", "", "Deployment"),
        ("nvidia-device-plugin-daemonset", "", "", "Deployment"),
        ("nvidia-cuda-validator-x7k2p", "", "", "Pod"),
        ("gpu-feature-discovery", "", "", "Deployment"),
        ("", "", "nvcr.io/nvidia/k8s/dcgm-exporter", ""),
        ("", "", "portainer/portainer-ce", ""),
        ("dockge", "", "louislam/dockge", ""),
        ("image-puller", "ml", "registry.example.com/trainer", "Job"),
        ("github-runner", "ci", "", "Deployment"),
        ("tcpx-daemon", "", "", ""),
    ],
)
def test_infrastructure(name: str, namespace: str, image: str, kind: str) -> None:
    assert infrastructure(name, namespace, image, kind)


@pytest.mark.parametrize(
    ("name", "namespace", "image", "kind"),
    [
        ("", "", "", ""),
        ("trainer", "ml", "pytorch/pytorch", "Job"),
        ("model-exporter", "ml", "registry.example.com/exporter-of-models", "Job"),
        ("driver", "spark", "apache/spark", "Pod"),
        ("llm", "nvidia-nim", "nvcr.io/nim/meta/llama3-8b-instruct", "Deployment"),
        ("validation", "ml", "registry.example.com/validate", "Job"),
        ("runner-up", "ml", "", "Deployment"),
    ],
)
def test_workloads_that_are_no_infrastructure(name: str, namespace: str, image: str, kind: str) -> None:
    assert not infrastructure(name, namespace, image, kind)


def test_queues_and_charts() -> None:
    assert queue_label("kueue.x-k8s.io/queue-name") and not queue_label("app.kubernetes.io/name")
    assert stack_chart("nvidia/gpu-operator") and stack_chart("nvdp/nvidia-device-plugin")
    assert not stack_chart("bitnami/redis") and not stack_chart("./charts/trainer")
