"""Files of any shape: whatever stands where, nothing is raised, and the same is found twice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gpulint.project.compose import compose_containers
from gpulint.project.kubernetes import kubernetes_containers
from gpulint.project.tree import Tree


def words(text: str) -> list[str]:
    return re.findall(r"\S+", text)


TEXTS = words(
    """ all 0 x a:b ${X} ${X:-y} $ $(A) {{x}} nvidia nvidia.com/gpu gpu Always app ../base app.yaml patch.yaml . add remove replace
    /spec/containers/0 /spec/- Exists In Memory delete image:tag@sha256:0 /dev/shm /dev/nvidia0 A=1 NVIDIA_VISIBLE_DEVICES """
)
SCALARS = st.sampled_from([None, True, 0, 1, -1, 0.5, "", *TEXTS])
MANIFEST_KEYS = words(
    """ metadata name namespace labels annotations spec template containers initContainers image command args env envFrom value valueFrom
    resources limits requests claims nvidia.com/gpu gpu tolerations key operator effect nodeSelector affinity runtimeClassName volumes
    volumeMounts mountPath hostPath path emptyDir medium securityContext privileged items templates container script source $patch target
    patches patch op from images newTag digest components bases values helm repository tag kind """
)
COMPOSE_KEYS = words(
    """ services app x-a image build context args deploy resources reservations limits devices gpus count capabilities device_ids driver
    runtime environment env_file extends file service include path command entrypoint volumes source target type tmpfs shm_size ipc
    profiles privileged """
)
KINDS = st.sampled_from(words("Pod Deployment List Workflow RayCluster InferenceService TrainJob SparkApplication HelmRelease Own"))


def shapes(keys: list[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=5),
        max_leaves=25,
    )


@settings(max_examples=150, deadline=None)
@given(kind=KINDS, body=shapes(MANIFEST_KEYS), kustomization=shapes(MANIFEST_KEYS), values=shapes(MANIFEST_KEYS))
def test_manifests(kind: str, body: Any, kustomization: Any, values: Any) -> None:
    def files() -> Tree:
        app = {"apiVersion": "v1", "kind": kind, **(body if isinstance(body, dict) else {"spec": body})}
        given = {
            "base/app.yaml": app,
            "base/kustomization.yaml": {"resources": ["app.yaml"]},
            "over/kustomization.yaml": {
                "resources": ["../base"],
                "patches": [{"path": "patch.yaml"}, kustomization],
                "images": kustomization,
            },
            "over/patch.yaml": {**app, "spec": values},
            "odd/kustomization.yaml": kustomization,
            "chart/Chart.yaml": {"name": "demo"},
            "chart/values.yaml": values,
            "alone.yaml": {"apiVersion": "v1", **app},
        }
        return Tree(Path(), (), {path: json.dumps(content).encode() for path, content in given.items()})

    first, second = kubernetes_containers(files()), kubernetes_containers(files())
    assert [container.location for container in first] == [container.location for container in second]


@settings(max_examples=150, deadline=None)
@given(base=shapes(COMPOSE_KEYS), app=shapes(COMPOSE_KEYS), fragment=shapes(COMPOSE_KEYS))
def test_compose_files(base: Any, app: Any, fragment: Any) -> None:
    given = {
        "compose.yaml": {"services": {"app": app, "base": base}},
        "compose.override.yaml": {"services": {"app": fragment}},
        "compose.gpu.yaml": {"services": fragment},
        "odd/compose.yaml": base,
    }
    tree = Tree(Path(), (), {path: json.dumps(content).encode() for path, content in given.items()})
    for container in compose_containers(tree):
        assert container.location.path in given
