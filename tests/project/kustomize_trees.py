"""Kustomizations over one base, made by hand for each construct and by a seeded generator, whose renderings are held to kubectl's."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from textwrap import dedent, indent

Files = dict[str, str]

FOLDER = "overlay"
"""The folder of each tree that is rendered."""

SEEDS = range(30)

BASE: Files = {
    "base/kustomization.yaml": "resources: [serve.yaml, train.yaml, ray.yaml]\n",
    "base/serve.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
  labels: {app: serve, tier: web}
  annotations: {team: speech}
spec:
  replicas: 1
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
      nodeSelector: {disk: ssd}
      tolerations:
        - {key: spot, operator: Exists}
      initContainers:
        - name: fetch
          image: registry.example.com/fetch:1.0
      containers:
        - name: main
          image: registry.example.com/serve:1.0
          args: [--port, "80"]
          env:
            - {name: MODE, value: fast}
            - {name: LEVEL, value: "1"}
          resources:
            requests: {cpu: "1"}
            limits: {memory: 4Gi}
          volumeMounts:
            - {name: data, mountPath: /data}
        - name: proxy
          image: nginx:1.27@sha256:0123456789abcdef
      volumes:
        - name: data
          emptyDir: {}
""",
    "base/train.yaml": """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: train, labels: {tier: batch}}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: registry.example.com/train
              command: [python, train.py]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store, namespace: data}
spec:
  replicas: 2
  template:
    spec:
      containers:
        - {name: main, image: "registry.example.com:5000/store:2.0", envFrom: [{configMapRef: {name: settings}}]}
""",
    "base/ray.yaml": """\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray, labels: {tier: batch}}
spec:
  headGroupSpec:
    template:
      spec:
        containers:
          - {name: head, image: "registry.example.com/ray:2.0", resources: {limits: {cpu: "2"}}}
  workerGroupSpecs:
    - groupName: gpu
      replicas: 1
      template:
        spec:
          containers:
            - {name: worker, image: "registry.example.com/ray:2.0", env: [{name: A, value: "1"}]}
""",
}

_SERVE = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: serve}\n"
_LIMIT = _SERVE + "spec: {template: {spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"
_ONE_CONTAINER = "spec: {template: {spec: {containers: [{name: a, %s}]}}}\n"
_COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
_EXTRA = "apiVersion: v1\nkind: Pod\nmetadata: {name: extra}\n"
_POD = "/spec/template/spec"


def _over(kustomization: str, resources: str = "../base", **files: str) -> Files:
    """The base below an overlay; `gpu` is overlay/gpu.yaml."""
    own = {f"{FOLDER}/{name}.yaml": dedent(text) for name, text in files.items()}
    return {**BASE, f"{FOLDER}/kustomization.yaml": f"resources: [{resources}]\n{dedent(kustomization)}", **own}


def _operations(*operations: str, target: str = "{kind: Deployment}") -> str:
    lines = "".join(f"      - {operation}\n" for operation in operations)
    return f"patches:\n  - target: {target}\n    patch: |-\n{lines}"


def _merged(spec: str) -> Files:
    """The overlay with a strategic merge patch of the Deployment's pod spec."""
    pod = indent(dedent(spec), " " * 6)
    return _over("patches: [{path: patch.yaml}]\n", patch=f"{_SERVE}spec:\n  template:\n    spec:\n{pod}")


HAND_MADE: dict[str, Files] = {
    "nothing": _over(""),
    "merge in a file": _over("patches: [{path: gpu.yaml}]\n", gpu=_LIMIT),
    "merge in the old list": _over("patchesStrategicMerge: [gpu.yaml]\n", gpu=_LIMIT),
    "merge in the old list, inline": _over(f"patchesStrategicMerge:\n  - |-\n{indent(_LIMIT, '    ')}"),
    "merge with a target": _over(
        "patches: [{path: gpu.yaml, target: {kind: Deployment, name: s.*}}]\n", gpu=_LIMIT.replace("serve", "any")
    ),
    "several documents": _over("patches: [{path: both.yaml}]\n", both=f"{_LIMIT}---\n{_SERVE}spec: {{replicas: 3}}\n"),
    "the order of merged lists": _merged("""\
        containers:
          - {name: proxy, env: [{name: P, value: "1"}]}
          - {name: new, image: example/new:1}
          - {name: main, env: [{name: NEW, value: "1"}, {name: LEVEL, value: "2"}]}
        """),
    "lists without a key": _merged("""\
        tolerations: [{key: nvidia.com/gpu, operator: Exists}]
        containers: [{name: main, args: [--gpu], envFrom: [{secretRef: {name: token}}]}]
        """),
    "delete in lists and mappings": _merged("""\
        nodeSelector: null
        initContainers: [{name: fetch, $patch: delete}]
        containers:
          - {name: proxy, $patch: delete}
          - {name: main, env: [{name: MODE, $patch: delete}], resources: {requests: null, limits: {memory: null, cpu: "2"}}}
        """),
    "replace a list": _merged("containers: [{$patch: replace}, {name: only, image: example/only:1}]\n"),
    "replace a mapping": _merged("containers: [{name: main, resources: {$patch: replace, limits: {nvidia.com/gpu: 2}}}]\n"),
    "the order of elements": _merged("""\
        $setElementOrder/containers: [{name: proxy}, {name: main}]
        containers: [{name: main, image: example/other:1}]
        """),
    "volumes and mounts": _merged("""\
        runtimeClassName: nvidia
        volumes: [{name: shm, emptyDir: {medium: Memory}}, {name: data, emptyDir: null, hostPath: {path: /data}}]
        containers: [{name: main, volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: shm, mountPath: /data}]}]
        """),
    "delete an object": _over("patches: [{path: gone.yaml}]\n", gone=f"$patch: delete\n{_SERVE}"),
    "delete by a target": _over("patches: [{path: gone.yaml, target: {labelSelector: tier=batch}}]\n", gone=f"$patch: delete\n{_SERVE}"),
    "a custom resource": _over(
        "patches: [{path: ray.yaml}]\n",
        ray="""\
        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: ray}
        spec:
          headGroupSpec: {rayStartParams: {num-gpus: "0"}}
          workerGroupSpecs: [{template: {spec: {containers: [{name: worker, resources: {limits: {nvidia.com/gpu: 1}}}]}}}]
        """,
    ),
    "operations": _over(
        _operations(
            "{op: add, path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu, value: 1}",
            "{op: replace, path: /spec/template/spec/containers/0/image, value: example/other:3}",
            "{op: add, path: /spec/template/spec/tolerations/-, value: {key: nvidia.com/gpu, operator: Exists}}",
            "{op: add, path: /spec/template/spec/containers/0/env/0, value: {name: FIRST, value: x}}",
            "{op: remove, path: /spec/template/spec/initContainers}",
            "{op: replace, path: /spec/replicas, value: 4}",
            "{op: add, path: /spec/template/spec/containers/-, value: {name: last, image: example/last:1}}",
        )
    ),
    "operations on what is new": _over(
        _operations(
            "{op: replace, path: /spec/template/spec/runtimeClassName, value: nvidia}",
            "{op: copy, from: /spec/template/spec/containers/0/resources/limits, path: /spec/template/spec/containers/1/resources}",
            "{op: move, from: /spec/template/spec/nodeSelector/disk, path: /spec/template/spec/nodeSelector/drive}",
            "{op: replace, path: /spec/template/spec/containers/-1/image, value: example/edge:1}",
            "{op: test, path: /kind, value: Deployment}",
        )
    ),
    "operations in a file, the old way": _over(
        "patchesJson6902: [{path: ops.yaml, target: {group: apps, version: v1, kind: Deployment, name: serve}}]\n",
        ops=json.dumps([{"op": "replace", "path": f"{_POD}/containers/1/image", "value": "x:1"}]),
    ),
    "operations for several kinds": _over(_operations("{op: add, path: /metadata/labels/new, value: x}", target="{labelSelector: tier}")),
    "targets by labels": _over(
        "patches:\n"
        "  - {path: a.yaml, target: {labelSelector: 'tier in (web, other), app!=x'}}\n"
        "  - {path: b.yaml, target: {annotationSelector: team=speech}}\n"
        "  - {path: c.yaml, target: {labelSelector: '!tier'}}\n",
        a=f"{_SERVE}spec: {{template: {{spec: {{nodeSelector: {{a: a}}}}}}}}\n",
        b=f"{_SERVE}spec: {{template: {{spec: {{nodeSelector: {{b: b}}}}}}}}\n",
        c=f"{_SERVE}spec: {{template: {{spec: {{nodeSelector: {{c: c}}}}}}}}\n",
    ),
    "targets by namespace": _over(
        "patches:\n  - {path: a.yaml, target: {namespace: data}}\n  - {path: b.yaml, target: {namespace: default}}\n",
        a=f"{_SERVE}spec: {{template: {{spec: {{nodeSelector: {{a: a}}}}}}}}\n",
        b=f"{_SERVE}spec: {{template: {{spec: {{nodeSelector: {{b: b}}}}}}}}\n",
    ),
    "a pattern of names": _over(
        "patches: [{path: a.yaml, target: {kind: (Deployment|CronJob), name: 's.*e|nothing'}}]\n", a=f"{_SERVE}spec: {{replicas: 5}}\n"
    ),
    "images": _over("""\
        images:
          - {name: registry.example.com/serve, newName: mirror.example.com/serve, newTag: "2.0"}
          - {name: nginx, digest: "sha256:fedcba"}
          - {name: registry.example.com/ray, newTag: 2.1-gpu}
          - {name: registry.example.com, newName: never}
          - {name: "registry.example.com:5000/store", newTag: "2.1", digest: "sha256:aa"}
          - {name: registry.example.com/train, newTag: v3}
        """),
    "an image of a patch": _over(
        "patches: [{path: p.yaml}]\nimages: [{name: example/new, newTag: '9'}]\n",
        p=_LIMIT.replace("resources", "image: example/new:1, resources"),
    ),
    "a tag's suffix": _over("images: [{name: nginx, tagSuffix: -x}, {name: registry.example.com/train, tagSuffix: -y}]\n"),
    "replicas": _over("replicas: [{name: serve, count: 5}, {name: store, count: 0}]\n"),
    "names and namespaces": _over("namespace: prod\nnamePrefix: a-\nnameSuffix: -z\nreplicas: [{name: serve, count: 2}]\n"),
    "labels": _over("labels: [{pairs: {x: z}}]\ncommonLabels: {c: d}\ncommonAnnotations: {e: f}\n"),
    "config maps": _over(
        "configMapGenerator: [{name: settings, namespace: data, literals: [CUDA=on]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n"
    ),
    "replacements": _over("""\
        replacements:
          - source: {kind: StatefulSet, name: store, fieldPath: metadata.namespace}
            targets:
              - select: {kind: Deployment}
                fieldPaths: ["spec.template.spec.containers.[name=main].env.[name=MODE].value", spec.template.spec.nodeSelector.disk]
              - select: {name: train}
                fieldPaths: [spec.jobTemplate.spec.template.spec.containers.*.image]
        """),
    "vars": _over(
        "vars: [{name: STORE, objref: {apiVersion: apps/v1, kind: StatefulSet, name: store, namespace: data}}]\n"
        "patches: [{path: p.yaml}]\n",
        p=_LIMIT.replace("resources", "args: [--store, $(STORE), $(OTHER)], resources"),
    ),
    "a replacement that rejects": _over("""\
        replacements:
          - source: {kind: StatefulSet, name: store, fieldPath: metadata.name}
            targets:
              - select: {group: apps}
                reject: [{kind: Deployment}]
                fieldPaths: [spec.template.spec.runtimeClassName]
                options: {create: true}
        """),
    "two layers": {
        **_over("", gpu=_LIMIT, again=f"{_SERVE}spec: {{replicas: 9}}\n"),
        f"{FOLDER}/kustomization.yaml": dedent("""\
            resources: [../middle]
            namePrefix: top-
            patches: [{path: gpu.yaml}, {path: again.yaml, target: {name: mid-serve}}]
            """),
        "middle/kustomization.yaml": dedent("""\
            resources: [../base]
            namePrefix: mid-
            images: [{name: nginx, newName: middle/nginx, newTag: '1'}]
            """),
    },
    "components": {
        **_over("components: [../gpu, ../more]\nimages: [{name: registry.example.com/serve, newTag: '7'}]\n"),
        "gpu/kustomization.yaml": f"{_COMPONENT}patches: [{{path: gpu.yaml}}]\nresources: [extra.yaml]\n",
        "gpu/gpu.yaml": _LIMIT,
        "gpu/extra.yaml": f"{_EXTRA}spec: {{containers: [{{name: a, image: registry.example.com/serve:1}}]}}\n",
        "more/kustomization.yaml": f"{_COMPONENT}namespace: more\npatches: [{{path: p.yaml}}]\n",
        "more/p.yaml": f"{_EXTRA}spec: {{runtimeClassName: nvidia}}\n",
    },
    "lists of objects": {
        f"{FOLDER}/Kustomization": "resources: [list.yaml]\nimages: [{name: a, newTag: '2'}]\n",
        f"{FOLDER}/list.yaml": dedent("""\
            apiVersion: v1
            kind: List
            items:
              - {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: a}]}}
            """),
    },
    "an older version": _over(
        "patches: [{path: p.yaml, target: {name: old.*}}]\n",
        "../base, old.yaml",
        old=f"{_SERVE.replace('apps/v1', 'extensions/v1beta1').replace('serve', 'old')}{_ONE_CONTAINER % 'image: a'}",
        p=f"{_SERVE}{_ONE_CONTAINER % 'args: [x]'}",
    ),
    "harmless transformers": _over(
        "transformers: [labels.yaml]\npatches: [{path: gpu.yaml}]\n",
        gpu=_LIMIT,
        labels="""\
        apiVersion: builtin
        kind: LabelTransformer
        metadata: {name: x}
        labels: {a: b}
        fieldSpecs: [{path: metadata/labels, create: true}]
        """,
    ),
}


# --- Generated ------------------------------------------------------------------------------------------------------------------


def generated(seed: int) -> Files:
    """Two overlays on top of each other with some of everything."""
    chance = random.Random(seed)
    upper, lower = _Overlay(chance, "top"), _Overlay(chance, "mid")
    return {
        **BASE,
        **lower.files("middle", "../base"),
        **upper.files(FOLDER, "../middle"),
    }


class _Overlay:
    """One overlay of a generated tree."""

    def __init__(self, chance: random.Random, name: str) -> None:
        self._chance = chance
        self._name = name

    def files(self, folder: str, below: str) -> Files:
        chance = self._chance
        lines = {"resources": [below]}
        patches = [{"target": self._target(), "patch": json.dumps(self._merge(), indent=1)} for _ in range(chance.randint(0, 3))]
        patches += [{"target": {"kind": "Deployment"}, "patch": json.dumps(self._operations())} for _ in range(chance.randint(0, 2))]
        chance.shuffle(patches)
        optional = {
            "patches": patches,
            "images": [self._image() for _ in range(chance.randint(0, 3))],
            "replicas": [{"name": name, "count": chance.randint(0, 9)} for name in chance.sample(["serve", "store"], chance.randint(0, 2))],
            "namePrefix": f"{self._name}-" if chance.random() < 0.3 else "",
            "namespace": self._name if chance.random() < 0.3 else "",
            "commonAnnotations": {"layer": self._name} if chance.random() < 0.3 else {},
        }
        return {f"{folder}/kustomization.yaml": json.dumps({**lines, **{key: value for key, value in optional.items() if value}}, indent=1)}

    def _target(self) -> dict[str, str]:
        return self._chance.choice(
            [
                {"kind": "Deployment"},
                {"kind": "Deployment", "name": "serve"},
                {"name": "s.*"},
                {"group": "apps"},
                {"kind": "StatefulSet", "namespace": "data"},
                {"labelSelector": "tier=web"},
                {"annotationSelector": "layer"},
            ]
        )

    def _merge(self) -> dict[str, object]:
        containers = [self._container() for _ in range(self._chance.randint(1, 2))]
        names = {str(container["name"]): container for container in containers}
        pod = {"containers": list(names.values()), **dict(self._pod_parts())}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "any"}, "spec": {"template": {"spec": pod}}}

    def _pod_parts(self) -> Iterator[tuple[str, object]]:
        choices: list[tuple[str, object]] = [
            ("nodeSelector", {self._name: "yes", "disk": None}),
            ("tolerations", [{"key": "nvidia.com/gpu", "operator": "Exists"}]),
            ("runtimeClassName", "nvidia"),
            ("volumes", [{"name": self._name, "emptyDir": {"medium": "Memory"}}, {"name": "data", "$patch": "delete"}]),
            ("initContainers", [{"name": "fetch", "args": [self._name]}]),
        ]
        yield from self._chance.sample(choices, self._chance.randint(0, 3))

    def _container(self) -> dict[str, object]:
        chance = self._chance
        container: dict[str, object] = {"name": chance.choice(["main", "proxy", self._name])}
        parts: list[tuple[str, object]] = [
            ("image", f"example/{self._name}:{chance.randint(1, 9)}"),
            ("resources", {"limits": {"nvidia.com/gpu": chance.randint(0, 4), "memory": None}}),
            ("env", [{"name": "LEVEL", "value": str(chance.randint(1, 9))}, {"name": self._name, "value": "x"}]),
            ("env", [{"name": "MODE", "$patch": "delete"}, {"name": "Z", "value": "z"}]),
            ("volumeMounts", [{"name": self._name, "mountPath": chance.choice(["/dev/shm", "/data"])}]),
            ("args", [self._name]),
        ]
        container.update(chance.sample(parts, chance.randint(1, 3)))
        return container if chance.random() < 0.9 else {"name": container["name"], "$patch": "delete"}

    def _operations(self) -> list[dict[str, object]]:
        choices: list[dict[str, object]] = [
            {"op": "add", "path": f"{_POD}/containers/0/resources", "value": {"limits": {"nvidia.com/gpu": 1}}},
            {"op": "add", "path": f"{_POD}/tolerations/0", "value": {"key": self._name}},
            {"op": "replace", "path": f"{_POD}/containers/0/image", "value": f"example/{self._name}"},
            {"op": "add", "path": f"{_POD}/runtimeClassName", "value": self._name},
            {
                "op": "add",
                "path": f"{_POD}/containers/-",
                "value": {"name": f"{self._name}-{self._chance.random():.6f}", "image": "registry.example.com/serve:3"},
            },
        ]
        return self._chance.sample(choices, self._chance.randint(1, 3))

    def _image(self) -> dict[str, str]:
        chance = self._chance
        name = chance.choice(["registry.example.com/serve", "nginx", "example/mid", "example/top", "registry.example.com/ray"])
        change = [("newTag", f"{chance.randint(1, 9)}.0"), ("newName", f"mirror/{self._name}"), ("digest", "sha256:00ff")]
        return {"name": name, **dict(chance.sample(change, chance.randint(1, 2)))}


TREES: dict[str, Files] = {**HAND_MADE, **{f"generated {seed}": generated(seed) for seed in SEEDS}}
