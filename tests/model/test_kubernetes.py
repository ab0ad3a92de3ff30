"""Kubernetes objects as containers and pods: every kind's places, every field, what is open."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from gpulint.model.container import ASPECTS, Container, RequestKind, RequestState, Role
from gpulint.model.kubernetes import read_containers
from gpulint.parse.yaml import parse
from gpulint.source import Source, Unknown, Value


def containers(text: str, template: bool = False) -> list[Container]:
    documents = parse(Source("pod.yaml", dedent(text).encode())).documents
    return [container for document in documents for container in read_containers(document.root, template)]


def pod(body: str) -> list[Container]:
    """The containers of a Pod whose spec is that."""
    return containers(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: app, namespace: ml, labels: {team: a}}\nspec:\n" + indent(dedent(body), "  ")
    )


def only(body: str) -> Container:
    """The container of a Pod with further fields of the container."""
    (container,) = pod("containers:\n  - name: main\n    image: example/app:1.0\n" + indent(dedent(body), "    "))
    return container


def shown(value: Value | None) -> str | None:
    return f"?{value.raw}" if isinstance(value, Unknown) else None if value is None else str(value)


def named(found: list[Container]) -> list[str | None]:
    return [shown(container.name) for container in found]


def test_a_container_has_its_place_and_pod() -> None:
    app = only("workingDir: /srv\n")
    assert (shown(app.name), str(app.location), app.role, app.open) == ("main", "pod.yaml:6:7", Role.MAIN, frozenset())
    assert app.pod and (app.pod.kind, shown(app.pod.name), shown(app.pod.namespace)) == ("Pod", "app", "ml")
    assert [(str(name), shown(value)) for name, value in app.pod.owner_labels] == [("team", "a")]
    assert str(app.pod.location) == "pod.yaml:5:3"
    assert app.image and shown(app.image.tag) == "1.0"


def test_containers_of_a_pod_share_it_and_have_their_roles() -> None:
    found = pod(
        """
        initContainers:
          - {name: fetch, image: a}
          - {name: log, image: a, restartPolicy: Always}
        containers:
          - {name: main, image: a}
          - {name: other, image: a}
        """
    )
    assert [(shown(each.name), each.role) for each in found] == [
        ("fetch", Role.INIT),
        ("log", Role.SIDECAR),
        ("main", Role.MAIN),
        ("other", Role.MAIN),
    ]
    assert len({id(each.pod) for each in found}) == 1


POD_SPEC = "{containers: [{name: c, image: a}]}"
TEMPLATE = f"{{metadata: {{labels: {{app: x}}}}, spec: {POD_SPEC}}}"


JOB_SET = f"{{spec: {{replicatedJobs: [{{name: node, template: {{spec: {{template: {TEMPLATE}}}}}}}]}}}}"


@pytest.mark.parametrize(
    ("api_version", "kind", "spec"),
    [
        ("apps/v1", "Deployment", f"{{template: {TEMPLATE}}}"),
        ("apps/v1", "StatefulSet", f"{{template: {TEMPLATE}}}"),
        ("batch/v1", "Job", f"{{template: {TEMPLATE}}}"),
        ("batch/v1", "CronJob", f"{{jobTemplate: {{spec: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "PyTorchJob", f"{{pytorchReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}"),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", f"{{replicatedJobs: [{{template: {{spec: {{template: {TEMPLATE}}}}}}}]}}"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"{{leaderWorkerTemplate: {{workerTemplate: {TEMPLATE}}}}}"),
        ("ray.io/v1", "RayCluster", f"{{workerGroupSpecs: [{{template: {TEMPLATE}}}]}}"),
        ("ray.io/v1", "RayJob", f"{{rayClusterSpec: {{workerGroupSpecs: [{{template: {TEMPLATE}}}]}}}}"),
        ("argoproj.io/v1alpha1", "Workflow", "{templates: [{name: c, container: {image: a}}]}"),
        ("argoproj.io/v1alpha1", "CronWorkflow", "{workflowSpec: {templates: [{name: c, script: {image: a, source: x}}]}}"),
        ("argoproj.io/v1alpha1", "Workflow", "{templates: [{containerSet: {containers: [{name: c, image: a}]}}]}"),
        ("serving.kserve.io/v1beta1", "InferenceService", f"{{predictor: {POD_SPEC}}}"),
        ("serving.kserve.io/v1beta1", "InferenceService", "{predictor: {model: {name: c, image: a}}}"),
        ("serving.knative.dev/v1", "Service", f"{{template: {{spec: {POD_SPEC}}}}}"),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", "{trainer: {name: c, image: a}}"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", "{image: a, executor: {name: c}}"),
        ("batch.volcano.sh/v1alpha1", "Job", f"{{tasks: [{{template: {TEMPLATE}}}]}}"),
        ("batch.volcano.sh/v1alpha1", "CronJob", f"{{jobTemplate: {{spec: {{tasks: [{{template: {TEMPLATE}}}]}}}}}}"),
        ("v1", "Pod", POD_SPEC),
        ("v1", "ReplicationController", f"{{template: {TEMPLATE}}}"),
        ("apps/v1", "ReplicaSet", f"{{template: {TEMPLATE}}}"),
        ("apps/v1", "DaemonSet", f"{{template: {TEMPLATE}}}"),
        ("extensions/v1beta1", "Deployment", f"{{template: {TEMPLATE}}}"),
        ("kubeflow.org/v1", "PyTorchJob", f"{{pytorchReplicaSpecs: {{Master: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "TFJob", f"{{tfReplicaSpecs: {{Chief: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "TFJob", f"{{tfReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "XGBoostJob", f"{{xgbReplicaSpecs: {{Master: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "PaddleJob", f"{{paddleReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "JAXJob", f"{{jaxReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1", "MPIJob", f"{{mpiReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v2beta1", "MPIJob", f"{{mpiReplicaSpecs: {{Launcher: {{template: {TEMPLATE}}}}}}}"),
        ("kubeflow.org/v1alpha1", "MPIJob", f"{{template: {TEMPLATE}}}"),
        ("kubeflow.org/v1", "Notebook", f"{{template: {{spec: {POD_SPEC}}}}}"),
        ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", f"{{template: {JOB_SET}}}"),
        ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", f"{{template: {JOB_SET}}}"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"{{leaderWorkerTemplate: {{leaderTemplate: {TEMPLATE}}}}}"),
        ("ray.io/v1", "RayCluster", f"{{headGroupSpec: {{template: {TEMPLATE}}}}}"),
        ("ray.io/v1", "RayService", f"{{rayClusterConfig: {{workerGroupSpecs: [{{template: {TEMPLATE}}}]}}}}"),
        ("ray.io/v1", "RayJob", f"{{submitterPodTemplate: {{spec: {POD_SPEC}}}}}"),
        ("argoproj.io/v1alpha1", "WorkflowTemplate", "{templates: [{name: c, container: {image: a}}]}"),
        ("argoproj.io/v1alpha1", "ClusterWorkflowTemplate", "{templates: [{name: c, script: {image: a, source: x}}]}"),
        ("argoproj.io/v1alpha1", "Workflow", "{templates: [{initContainers: [{name: c, image: a}]}]}"),
        ("argoproj.io/v1alpha1", "Rollout", f"{{template: {TEMPLATE}}}"),
        ("serving.kserve.io/v1beta1", "InferenceService", f"{{transformer: {POD_SPEC}}}"),
        ("serving.kserve.io/v1beta1", "InferenceService", f"{{explainer: {POD_SPEC}}}"),
        ("serving.kserve.io/v1beta1", "InferenceService", f"{{predictor: {{workerSpec: {POD_SPEC}}}}}"),
        ("serving.kserve.io/v1beta1", "InferenceService", "{predictor: {triton: {name: c, image: a}}}"),
        ("serving.kserve.io/v1alpha1", "ServingRuntime", POD_SPEC),
        ("serving.kserve.io/v1alpha1", "ClusterServingRuntime", f"{{workerSpec: {POD_SPEC}}}"),
        ("serving.kserve.io/v1alpha1", "LLMInferenceService", f"{{template: {POD_SPEC}}}"),
        ("serving.kserve.io/v1alpha1", "LLMInferenceService", f"{{prefill: {{worker: {POD_SPEC}}}}}"),
        ("serving.kserve.io/v1alpha1", "LLMInferenceServiceConfig", f"{{worker: {POD_SPEC}}}"),
        ("machinelearning.seldon.io/v1", "SeldonDeployment", f"{{predictors: [{{componentSpecs: [{{spec: {POD_SPEC}}}]}}]}}"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", "{image: a, driver: {name: c}}"),
        ("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "{template: {image: a, executor: {name: c}}}"),
        ("apps.openshift.io/v1", "DeploymentConfig", f"{{template: {TEMPLATE}}}"),
        ("tekton.dev/v1", "Task", "{steps: [{name: c, image: a}]}"),
        ("tekton.dev/v1", "TaskRun", "{taskSpec: {steps: [{name: c, image: a}]}}"),
        ("tekton.dev/v1", "Pipeline", "{tasks: [{taskSpec: {steps: [{name: c, image: a}]}}]}"),
        ("keda.sh/v1alpha1", "ScaledJob", f"{{jobTargetRef: {{template: {TEMPLATE}}}}}"),
        ("example.com/v1", "Anything", f"{{deep: [{{inside: {POD_SPEC}}}]}}"),
    ],
)
def test_where_the_pods_stand(api_version: str, kind: str, spec: str) -> None:
    (found,) = containers(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {spec}\n")
    assert (shown(found.name), found.image is not None) == ("c", True)
    assert found.pod and found.pod.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        f"kind: CustomResourceDefinition\nspec: {{versions: [{{schema: {POD_SPEC}}}]}}",
        f"kind: ConfigMap\ndata: {POD_SPEC}",
        f"kind: NodePool\nspec: {POD_SPEC}",
        f"kind: ResourceClaimTemplate\nspec: {POD_SPEC}",
        "kind: Service\nspec: {ports: [{port: 80}]}",
        "kind: Pod\nspec: {containers: [a, b]}",
    ],
)
def test_no_workloads(text: str) -> None:
    assert containers(f"apiVersion: v1\n{text}\n") == []


def test_lists_are_opened() -> None:
    one = f"{{kind: Pod, spec: {POD_SPEC}}}"
    text = f"kind: List\nitems: [{one}, {{kind: PodList, items: [{one}, 1, null]}}]\n"
    assert named(containers(text)) == ["c", "c"]


@pytest.mark.parametrize(
    ("kind", "spec", "role"),
    [
        ("MPIJob", f"{{mpiReplicaSpecs: {{Launcher: {{template: {TEMPLATE}}}}}}}", Role.LAUNCHER),
        ("MPIJob", f"{{runLauncherAsWorker: true, mpiReplicaSpecs: {{Launcher: {{template: {TEMPLATE}}}}}}}", Role.MAIN),
        ("MPIJob", f"{{mpiReplicaSpecs: {{Worker: {{template: {TEMPLATE}}}}}}}", Role.MAIN),
        ("MPIJob", f"{{template: {TEMPLATE}}}", Role.LAUNCHER),
        ("TFJob", f"{{tfReplicaSpecs: {{PS: {{template: {TEMPLATE}}}}}}}", Role.LAUNCHER),
        ("PyTorchJob", f"{{pytorchReplicaSpecs: {{Master: {{template: {TEMPLATE}}}}}}}", Role.MAIN),
        ("LeaderWorkerSet", f"{{leaderWorkerTemplate: {{leaderTemplate: {TEMPLATE}}}}}", Role.LAUNCHER),
        ("LeaderWorkerSet", f"{{leaderWorkerTemplate: {{workerTemplate: {TEMPLATE}}}}}", Role.MAIN),
        ("RayJob", f"{{submitterPodTemplate: {{spec: {POD_SPEC}}}}}", Role.LAUNCHER),
        ("InferenceService", f"{{transformer: {POD_SPEC}}}", Role.LAUNCHER),
        ("InferenceService", f"{{explainer: {POD_SPEC}}}", Role.LAUNCHER),
        ("SparkApplication", "{image: a, driver: {name: c}}", Role.LAUNCHER),
        ("SparkApplication", "{image: a, executor: {name: c}}", Role.MAIN),
        ("RayCluster", f"{{headGroupSpec: {{template: {TEMPLATE}}}}}", Role.LAUNCHER),
        ("Workflow", "{templates: [{name: t, sidecars: [{name: c, image: a}]}]}", Role.SIDECAR),
        ("Workflow", "{templates: [{name: t, initContainers: [{name: c, image: a}]}]}", Role.INIT),
    ],
)
def test_roles(kind: str, spec: str, role: Role) -> None:
    (found,) = containers(f"kind: {kind}\nspec: {spec}\n")
    assert found.role is role


def test_a_head_that_takes_cards_works_as_well() -> None:
    spec = "{containers: [{name: h, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]}"
    (found,) = containers(f"kind: RayCluster\nspec: {{headGroupSpec: {{template: {{spec: {spec}}}}}}}\n")
    assert found.role is Role.MAIN


def test_an_argo_template_is_one_pod_and_takes_fields_from_around_it() -> None:
    found = containers(
        """
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        metadata: {generateName: run-}
        spec:
          tolerations: [{key: nvidia.com/gpu, operator: Exists}]
          nodeSelector: {pool: cpu}
          templates:
            - name: train
              nodeSelector: {pool: gpu}
              container: {image: a, command: [train]}
              sidecars: [{name: side, image: b}]
            - name: report
              script: {image: c, command: [python], source: "print(1)"}
        """
    )
    assert [(shown(each.name), each.role) for each in found] == [("train", Role.MAIN), ("side", Role.SIDECAR), ("report", Role.MAIN)]
    assert found[0].pod is found[1].pod and found[0].pod is not found[2].pod
    assert [[shown(label.values[0]) for label in each.pod.labels] for each in found if each.pod] == [["gpu"], ["gpu"], ["cpu"]]
    assert all(each.pod and len(each.pod.tolerations) == 1 and shown(each.pod.name) == "run-" for each in found)
    assert found[2].arguments and [shown(word) for word in found[2].arguments] == ["-c", "print(1)"]


def test_spark_and_tekton_say_where_their_pods_run_beside_what_they_run() -> None:
    spark = containers(
        """
        kind: SparkApplication
        spec:
          image: a
          driver: {tolerations: [{key: batch}]}
          executor: {gpu: {name: nvidia.com/gpu, quantity: 1}, tolerations: [{key: nvidia.com/gpu}], nodeSelector: {pool: gpu}}
        """
    )
    assert [[shown(each.key) for each in found.pod.tolerations] for found in spark if found.pod] == [["batch"], ["nvidia.com/gpu"]]
    assert [[str(label.key) for label in found.pod.labels] for found in spark if found.pod] == [[], ["pool"]]
    tekton = containers(
        """
        kind: TaskRun
        spec:
          podTemplate: {tolerations: [{key: nvidia.com/gpu}], runtimeClassName: nvidia}
          taskSpec: {steps: [{name: c, image: a, computeResources: {limits: {nvidia.com/gpu: 1}}}]}
        """
    )
    assert [(len(found.pod.tolerations), shown(found.pod.runtime_class)) for found in tekton if found.pod] == [(1, "nvidia")]
    assert [request.kind for found in tekton for request in found.requests] == [RequestKind.LIMIT, RequestKind.RUNTIME]


def test_command_and_arguments_with_their_variables() -> None:
    app = only(
        """
        command: [serve, --port, $(PORT), $(TOKEN), $(MISSING), $$(PORT), '{{inputs.parameters.model}}']
        args: ['${HOME}', 8]
        env:
          - {name: PORT, value: "80"}
          - {name: TOKEN, valueFrom: {secretKeyRef: {name: a, key: b}}}
        """
    )
    assert app.entrypoint and [shown(word) for word in app.entrypoint] == [
        "serve",
        "--port",
        "80",
        "?$(TOKEN)",
        "$(MISSING)",
        "$(PORT)",
        "?{{inputs.parameters.model}}",
    ]
    assert app.arguments and [shown(word) for word in app.arguments] == ["${HOME}", "8"]
    assert [(str(name), shown(value)) for name, value in app.env] == [("PORT", "80"), ("TOKEN", None)]


def test_variables_from_elsewhere_leave_the_environment_open() -> None:
    app = only("envFrom: [{configMapRef: {name: x}}]\nargs: [$(PORT)]\n")
    assert app.open == {"env"} and app.arguments and shown(app.arguments[0]) == "?$(PORT)"


@pytest.mark.parametrize("image", ["{{ .Values.image }}", "${REGISTRY}/app", "$(params.image)"])
def test_placeholders_are_not_known(image: str) -> None:
    (found,) = containers(f"kind: Pod\nspec: {{containers: [{{name: c, image: '{image}'}}]}}\n")
    assert found.image and isinstance(found.image.name, Unknown)


def test_placement_of_the_pod() -> None:
    (app,) = pod(
        """
        runtimeClassName: nvidia
        hostIPC: true
        hostPID: true
        nodeSelector: {accelerator: nvidia-l4, pool: '${POOL}'}
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
                - matchExpressions:
                    - {key: gpu, operator: In, values: [a100, h100]}
                    - {key: present, operator: Exists}
                    - {key: spot, operator: NotIn, values: [yes]}
            preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: x, operator: Exists}]}}]
        tolerations:
          - {key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}
          - {operator: Exists}
        resourceClaims: [{name: card, resourceClaimTemplateName: t}]
        volumes: [{name: h, hostPath: {path: /dev/nvidia0}}]
        containers: [{name: c, image: a}]
        """
    )
    assert app.pod
    assert [(str(label.key), [shown(value) for value in label.values]) for label in app.pod.labels] == [
        ("accelerator", ["nvidia-l4"]),
        ("pool", ["?${POOL}"]),
        ("gpu", ["a100", "h100"]),
        ("present", []),
    ]
    first, second = app.pod.tolerations
    assert [shown(each) for each in first[:4]] == ["nvidia.com/gpu", "Equal", "present", "NoSchedule"]
    assert [shown(each) for each in second[:4]] == [None, "Exists", None, None]
    assert app.pod.tolerations_location and app.pod.tolerations_location.line == first.location.line
    assert (shown(app.pod.runtime_class), app.pod.host_ipc, app.pod.host_pid) == ("nvidia", True, True)
    assert [(str(claim.name), shown(claim.source)) for claim in app.pod.claims] == [("card", "t")]
    assert [shown(path) for path in app.pod.host_paths] == ["/dev/nvidia0"]


def test_terms_of_an_affinity_are_alternatives() -> None:
    (app,) = pod(
        """
        affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
          {matchExpressions: [{key: gpu, operator: In, values: [a]}, {key: zone, operator: Exists}]},
          {matchExpressions: [{key: gpu, operator: In, values: [b]}]}]}}}
        containers: [{name: c, image: a}]
        """
    )
    assert app.pod and [(str(label.key), [shown(value) for value in label.values]) for label in app.pod.labels] == [("gpu", ["a", "b"])]


@pytest.mark.parametrize(
    ("volume", "size", "in_memory"),
    [
        ("emptyDir: {medium: Memory, sizeLimit: 8Gi}", "8Gi", True),
        ("emptyDir: {medium: Memory}", None, True),
        ("emptyDir: {}", None, False),
        ("hostPath: {path: /dev/shm}", None, True),
        ("persistentVolumeClaim: {claimName: x}", None, False),
    ],
)
def test_shared_memory(volume: str, size: str | None, in_memory: bool) -> None:
    (app,) = pod(
        f"""
        volumes: [{{name: shm, {volume}}}, {{name: other, emptyDir: {{}}}}]
        containers: [{{name: c, image: a, volumeMounts: [{{name: other, mountPath: /x}}, {{name: shm, mountPath: /dev/shm}}]}}]
        """
    )
    assert app.shared_memory and (shown(app.shared_memory.size), app.shared_memory.in_memory) == (size, in_memory)


def test_mounts_and_devices_of_the_host() -> None:
    (app,) = pod(
        """
        volumes: [{name: dev, hostPath: {path: /dev/nvidia0}}, {name: lib, hostPath: {path: /usr/lib}}, {name: tmp, emptyDir: {}}]
        containers:
          - name: c
            image: a
            securityContext: {privileged: true}
            volumeMounts: [{name: dev, mountPath: /dev/nvidia0}, {name: lib, mountPath: /lib}, {name: tmp, mountPath: /tmp}, {}]
            volumeDevices: [{name: raw, devicePath: /dev/xvda}]
        """
    )
    assert [(shown(source), shown(target)) for source, target, _ in app.mounts] == [
        ("/dev/nvidia0", "/dev/nvidia0"),
        ("/usr/lib", "/lib"),
        (None, "/tmp"),
        (None, None),
        (None, "/dev/xvda"),
    ]
    assert [shown(device.source) for device in app.devices] == ["/dev/nvidia0"]
    assert app.privileged is not None
    assert [(request.kind, request.vendor) for request in app.requests] == [(RequestKind.RAW_DEVICE, "nvidia")]


@pytest.mark.parametrize(
    ("kind", "spec", "is_open"),
    [
        ("ClusterServingRuntime", POD_SPEC, {"gpu", "toleration", "runtime-class"}),
        ("RayCluster", f"{{workerGroupSpecs: [{{template: {TEMPLATE}}}]}}", {"shm"}),
        ("Workflow", "{templates: [{container: {image: a}, podSpecPatch: x}]}", {"gpu", "shm", "toleration", "runtime-class"}),
        ("Unheard", POD_SPEC, {"gpu", "shm", "toleration", "runtime-class"}),
        ("TrainJob", "{trainer: {image: a}}", {"gpu", "toleration", "runtime-class"}),
        ("TrainJob", "{trainer: {image: a, resourcesPerNode: {limits: {cpu: 1}}}}", {"toleration", "runtime-class"}),
        ("SparkApplication", "{image: a, executor: {cores: 1}}", {"gpu"}),
        ("Deployment", "{template: {spec: {containers: [{name: c}]}}}", ASPECTS),
        ("InferenceService", "{predictor: {model: {modelFormat: {name: onnx}}}}", ASPECTS),
        ("Pod", "{runtimeClassName: '${CLASS}', containers: [{image: a}]}", {"gpu"}),
    ],
)
def test_what_others_may_supply_is_open(kind: str, spec: str, is_open: set[str]) -> None:
    (found,) = containers(f"kind: {kind}\nspec: {spec}\n")
    assert found.open == is_open


def test_a_queue_brings_tolerations_of_its_own() -> None:
    labels = "metadata: {labels: {kueue.x-k8s.io/queue-name: team}}"
    (found,) = containers(f"kind: Job\n{labels}\nspec: {{template: {TEMPLATE}}}\n")
    assert found.pod and found.open == found.pod.open == {"toleration"}


def test_in_a_template_everything_is_open() -> None:
    (found,) = containers(f"kind: Pod\nspec: {POD_SPEC}\n", template=True)
    assert found.open == ASPECTS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "kind: [Pod]\nspec: {containers: [{image: a}]}",
        "kind: Pod\napiVersion: {}\nspec: [1]",
        "kind: Pod\nmetadata: x\nspec: {containers: {name: a}, initContainers: 1, volumes: x, tolerations: {}, nodeSelector: []}",
        "kind: Pod\nspec: {containers: [null, 1, [x], {image: [1], name: {}, command: x, args: {}, env: {}, resources: []}]}",
        "kind: Pod\nspec: {containers: [{volumeMounts: 7, securityContext: 1, envFrom: {}, resources: {limits: [1], requests: x}}]}",
        "kind: Pod\nspec: {containers: [{resources: {claims: [1, {name: []}]}}]}",
        "kind: Pod\nspec: {containers: [{resources: {limits: {nvidia.com/gpu: [1]}}, resources: {limits: {1: 2, nvidia.com/gpu: }}}]}",
        "kind: Pod\nspec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [1]}}, containers: [{image: a}]}",
        "kind: Pod\nspec: {volumes: [{name: a, hostPath: x}], containers: [{volumeMounts: [{name: a, mountPath: [1]}]}]}",
        "kind: Pod\nspec: {nodeSelector: {a: [1]}, tolerations: [1, {key: [x]}], containers: [{image: a}]}",
        "kind: List\nitems: {a: b}",
        "kind: Workflow\nspec: {templates: {a: {container: [1], script: 2}}}",
        "kind: RayCluster\nspec: {headGroupSpec: [1], workerGroupSpecs: {a: {template: 1, rayStartParams: [x]}}}",
        "kind: SparkApplication\nspec: {driver: {gpu: 1}, executor: [2]}",
        "kind: InferenceService\nspec: {predictor: [1]}",
        "kind: X\nspec: &a [&b {containers: [*b]}]",
    ],
)
def test_hostile_shapes(text: str) -> None:
    for container in containers(text):
        assert isinstance(container, Container) and all(request.state in RequestState for request in container.requests)
