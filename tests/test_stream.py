"""`kubectl get ... -o yaml | gpulint -`: what runs in a cluster, as the API server gives it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_repository import concise, gpulint, spoken, write

CUDA = ["python", "train.py", "--device", "cuda"]
TRAINER = "Deployment prod/trainer"


def meta(name: str, owner: tuple[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """Metadata as the API server has it; `owner` is kind and name of the controller."""
    references = [{"apiVersion": "v1", "kind": owner[0], "name": owner[1], "controller": True, "uid": "0a"}] if owner else None
    fields = {"f:spec": {"f:containers": {'k:{"name":"main"}': {".": {}}}}}
    own = {"name": name, "namespace": "prod", "uid": f"{name}-1c", "managedFields": [{"manager": "kubectl", "fieldsV1": fields}]}
    return {**own, **({"ownerReferences": references} if references else {}), **more}


def spec(command: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """A pod spec with what the API server fills in; by itself one that says cuda and asks for no GPU."""
    container = {
        "name": "main",
        "image": "registry.example.com/ml/trainer:1.4.2",
        "command": command or CUDA,
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **more.pop("container", {}),
    }
    return {
        "containers": [container],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        **more,
    }


def pod(name: str, owner: tuple[str, str] | None = None, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    status = {"phase": "Running", "containers": [{"name": "main", "image": "vllm/vllm-openai:v0.8.5"}]}
    metadata = meta(name, owner, **({"labels": labels} if labels else {}))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec(**more), "status": status}


def deployment(name: str, **more: Any) -> dict[str, Any]:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    of = {"replicas": 1, "strategy": strategy, "template": {"metadata": {"labels": {"app": name}}, "spec": spec(**more)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name), "spec": of, "status": {"replicas": 1}}


def listed(*objects: dict[str, Any]) -> str:
    """What kubectl prints of them, without YAML's aliases."""
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "List", "items": json.loads(json.dumps(objects)), "metadata": {"resourceVersion": ""}}
    )


def said(folder: Path, given: str, *arguments: str) -> list[str]:
    """Severity and rule of each line with what the message begins with, the name of the object."""
    return [_said(line) for line in concise(folder, *arguments, "-", given=given)]


def _said(line: str) -> str:
    _, severity, rest = line.split(": ", 2)
    rule, _, message = rest.partition(" ")
    return f"{severity} {rule} {message.partition(':')[0]}"


def test_a_finding_names_its_object(tmp_path: Path) -> None:
    given = listed(deployment("trainer"))
    assert concise(tmp_path, "-", given=given)[0].startswith(
        "stdin.yaml:29:11: warning: GPU201 Deployment prod/trainer: the pod has no GPU limit although its command says --device cuda: "
    )
    assert "  Deployment prod/trainer: the pod has no GPU limit" in gpulint(tmp_path, "-", given=given).stdout
    assert said(tmp_path, json.dumps(json.loads(json.dumps(yaml.safe_load(given))), indent=4)) == [f"warning GPU201 {TRAINER}"]


def test_an_object_without_a_namespace_or_name_and_other_documents(tmp_path: Path) -> None:
    objects = [deployment("a"), deployment("b"), pod("c")]
    del objects[1]["metadata"]["namespace"]
    objects[2]["metadata"] = {"generateName": "c-"}
    given = "---\n".join(map(yaml.safe_dump, objects))
    assert said(tmp_path, given) == ["warning GPU201 Deployment prod/a", "warning GPU201 Deployment b", "warning GPU201 Pod c-"]


def test_a_named_file_has_lines_that_say_enough(tmp_path: Path) -> None:
    given = listed(deployment("trainer"))
    write(tmp_path, {"live.yaml": given})
    assert said(tmp_path, given, "--stdin-filename", "other.yaml")[-1].startswith("warning GPU201 the pod has no GPU limit")
    assert concise(tmp_path, "live.yaml")[0].startswith("live.yaml:29:11: warning: GPU201 the pod has no GPU limit")


def test_a_compose_file_has_no_objects(tmp_path: Path) -> None:
    given = "services:\n  a:\n    image: acme/render:latest-gpu\n    gpus: all\n"
    assert spoken(tmp_path, "-", given=given) == ["stdin.yaml:3:12 warning GPU101"]


def test_what_a_controller_made_is_judged_at_its_controller(tmp_path: Path) -> None:
    labels = {"pod-template-hash": "7d9f8c6b5"}
    pods = [pod(f"trainer-7d9f8c6b5-{end}", ("ReplicaSet", "trainer-7d9f8c6b5"), labels) for end in ("aaaaa", "bbbbb")]
    assert said(tmp_path, listed(*pods, deployment("trainer"))) == [f"warning GPU201 {TRAINER}"]
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("night"), "spec": {"template": {"spec": spec()}}}
    assert said(tmp_path, listed(pod("night-x", ("Job", "night")), job)) == ["warning GPU201 Job prod/night"]
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta("nightly"), "spec": {"jobTemplate": {"spec": job["spec"]}}}
    job["metadata"] = meta("nightly-29", ("CronJob", "nightly"))
    assert said(tmp_path, listed(pod("nightly-29-x", ("Job", "nightly-29")), job, cron)) == ["warning GPU201 CronJob prod/nightly"]


def test_pods_that_an_absent_controller_made_alike_are_one(tmp_path: Path) -> None:
    pods = [pod(f"trainer-7d9f-{end}", ("ReplicaSet", "trainer-7d9f")) for end in ("aaaaa", "bbbbb")]
    other = pod("other-1-aaaaa", ("ReplicaSet", "other-1"))
    assert said(tmp_path, listed(*pods, other)) == ["warning GPU201 Pod prod/trainer-7d9f-aaaaa", "warning GPU201 Pod prod/other-1-aaaaa"]


def test_an_owner_of_another_namespace_is_another(tmp_path: Path) -> None:
    owned = pod("trainer-7d9f-aaaaa", ("ReplicaSet", "trainer-7d9f"), {"pod-template-hash": "7d9f"})
    elsewhere = deployment("trainer", command=["sleep", "1"])
    elsewhere["metadata"]["namespace"] = "dev"
    assert said(tmp_path, listed(owned, elsewhere)) == ["warning GPU201 Pod prod/trainer-7d9f-aaaaa"]


def test_pods_of_daemon_sets_heads_and_launchers_are_what_their_owners_are(tmp_path: Path) -> None:
    quiet = [
        pod("plugin-x", ("DaemonSet", "plugin")),
        pod("ray-head-x", ("RayCluster", "ray"), {"ray.io/node-type": "head"}),
        pod("mpi-launcher-x", ("Job", "mpi-launcher"), {"training.kubeflow.org/replica-type": "launcher"}),
        pod("lws-0", ("StatefulSet", "lws"), {"leaderworkerset.sigs.k8s.io/worker-index": "0"}),
    ]
    assert said(tmp_path, listed(*quiet)) == []
    workers = [
        pod("ray-worker-x", ("RayCluster", "ray"), {"ray.io/node-type": "worker"}),
        pod("mpi-worker-0", ("MPIJob", "mpi"), {"training.kubeflow.org/replica-type": "worker"}),
    ]
    assert said(tmp_path, listed(*quiet, *workers)) == ["warning GPU201 Pod prod/ray-worker-x", "warning GPU201 Pod prod/mpi-worker-0"]


@pytest.mark.parametrize(("phase", "faults"), [("Running", 1), ("Pending", 1), ("Succeeded", 0), ("Failed", 0)])
def test_a_pod_that_has_ended_runs_no_more(phase: str, faults: int, tmp_path: Path) -> None:
    ended = pod("probe")
    ended["status"]["phase"] = phase
    assert len(said(tmp_path, listed(ended))) == faults


def test_what_the_cluster_notes_of_an_object_is_not_read(tmp_path: Path) -> None:
    unknown = {"apiVersion": "acme.example/v1", "kind": "Trainer", "metadata": meta("own"), "spec": {}}
    unknown["status"] = {"pod": {"containers": [{"name": "main", "image": "acme/train:latest-gpu", "command": CUDA}]}}
    assert said(tmp_path, listed(unknown)) == []
    unknown["spec"] = unknown.pop("status")
    assert said(tmp_path, listed(unknown)) == ["warning GPU101 Trainer prod/own"]


@pytest.mark.parametrize(("uid", "faults"), [(True, 2), (False, 1)])
def test_a_default_that_the_api_server_fills_in_is_not_the_authors_word(uid: bool, faults: int, tmp_path: Path) -> None:
    gpu = {"container": {"command": ["./train"], "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 4, "memory": "8Gi"}}}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta("night"),
        "spec": {"backoffLimit": 6, "template": {"spec": spec(**gpu)}},
    }
    if not uid:
        del job["metadata"]["uid"]
    lines = concise(tmp_path, "--min-severity", "note", "--select", "GPU418", "-", given=listed(job))
    assert [line.count(" has no ") for line in lines] == [faults]


def test_a_pod_that_has_its_node_needs_no_toleration(tmp_path: Path) -> None:
    gpu = {"container": {"command": ["./train"], "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 4, "memory": "8Gi"}}}}
    rule = ("--machine", "gpu_taint=nvidia.com/gpu:NoSchedule", "--select", "GPU404")
    assert said(tmp_path, listed(pod("waits", **gpu)), *rule) == ["warning GPU404 Pod prod/waits"]
    assert said(tmp_path, listed(pod("runs", nodeName="gpu-1", **gpu)), *rule) == []


def test_a_fleet_as_it_runs_raises_no_note_of_its_own(tmp_path: Path) -> None:
    """A sound workload, with all that the API server adds."""
    resources = {"limits": {"nvidia.com/gpu": "1", "cpu": "4", "memory": "8Gi"}}
    resources["requests"] = resources["limits"]
    probe = {"failureThreshold": 3, "initialDelaySeconds": 180, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
    sound = {
        "container": {"resources": resources, "livenessProbe": {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTP"}, **probe}},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "volumes": [{"name": "kube-api-access-x", "projected": {"defaultMode": 420, "sources": []}}],
    }
    served = deployment("serve", **sound)
    served["spec"]["strategy"] = {"type": "Recreate"}
    assert said(tmp_path, listed(served, pod("serve-1-x", ("ReplicaSet", "serve-1"), **sound)), "--min-severity", "note") == []
