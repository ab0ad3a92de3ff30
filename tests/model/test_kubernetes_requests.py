"""GPU requests in Kubernetes: quantities, names, claims, products, annotations, and settings in the wrong place."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from gpulint.model.container import Container, GpuRequest, RequestKind, RequestState
from gpulint.model.kubernetes import read_containers
from gpulint.parse.yaml import parse
from gpulint.source import Location, Source, Unknown, Value

ASKED, ZERO, BROKEN = RequestState.ASKED, RequestState.ZERO, RequestState.BROKEN


def containers(text: str) -> list[Container]:
    return list(read_containers(parse(Source("pod.yaml", text.encode())).documents[0].root))


def of_resources(resources: str) -> tuple[GpuRequest, ...]:
    (container,) = containers(with_resources(resources))
    return container.requests


def with_resources(resources: str) -> str:
    return f"kind: Pod\nspec:\n  containers:\n    - image: a\n      resources: {resources}\n"


def shown(value: Value | None) -> str | None:
    return f"?{value.raw}" if isinstance(value, Unknown) else None if value is None else str(value)


def at(text: str, location: Location) -> str:
    assert location.line == location.end_line
    return text.splitlines()[location.line - 1][location.column - 1 : location.end_column - 1]


@pytest.mark.parametrize(
    ("resources", "state", "limit", "request_"),
    [
        ("{limits: {nvidia.com/gpu: 1}}", ASKED, "1", None),
        ("{limits: {nvidia.com/gpu: '2'}, requests: {nvidia.com/gpu: 1}}", ASKED, "2", "1"),
        ("{requests: {nvidia.com/gpu: 1}}", ASKED, None, "1"),
        ("{limits: {nvidia.com/gpu: 0.5}}", ASKED, "0.5", None),
        ("{limits: {nvidia.com/gpu: -1}}", ASKED, "-1", None),
        ("{limits: {nvidia.com/gpu: one}}", ASKED, "one", None),
        ("{limits: {nvidia.com/gpu: '${GPUS}'}}", ASKED, "?${GPUS}", None),
        ("{limits: {nvidia.com/gpu: <count>}}", ASKED, "?<count>", None),
        ("{limits: {nvidia.com/gpu: }}", ASKED, None, None),
        ("{limits: {nvidia.com/gpu: 0}}", ZERO, "0", None),
        ("{limits: {nvidia.com/gpu: '0.0'}}", ZERO, "0.0", None),
        ("{limits: {nvidia.com/gpu: 0k}, requests: {nvidia.com/gpu: 0}}", ZERO, "0k", "0"),
        ("{limits: {nvidia.com/gpu: 0}, requests: {nvidia.com/gpu: 1}}", ASKED, "0", "1"),
    ],
)
def test_quantities(resources: str, state: RequestState, limit: str | None, request_: str | None) -> None:
    (request,) = of_resources(resources)
    assert (request.kind, request.state, request.vendor, request.faults) == (RequestKind.LIMIT, state, "nvidia", ())
    assert (shown(request.limit), shown(request.request)) == (limit, request_)


def test_the_place_of_a_limit_is_its_entry() -> None:
    text = with_resources("{limits: {cpu: 1, nvidia.com/gpu: 2}}")
    (request,) = containers(text)[0].requests
    assert at(text, request.location) == "nvidia.com/gpu: 2"
    assert request.resource is not None and request.limit is not None
    assert (at(text, request.resource.location), at(text, request.limit.location)) == ("nvidia.com/gpu", "2")


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("amd.com/gpu", "amd"),
        ("gpu.intel.com/i915", "intel"),
        ("habana.ai/gaudi", "habana"),
        ("google.com/tpu", "google"),
        ("aws.amazon.com/neuron", "aws"),
        ("nvidia.com/mig-1g.10gb", "nvidia"),
        ("nvidia.com/gpu.shared", "nvidia"),
        ("volcano.sh/vgpu-number", "nvidia"),
        ("koordinator.example/gpu-core", ""),
    ],
)
def test_names_that_ask(name: str, vendor: str) -> None:
    (request,) = of_resources(f"{{limits: {{{name}: 1}}}}")
    assert (request.state, request.vendor) == (ASKED, vendor)


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage", "rdma/hca_shared", "vendor.example/fpga", "hugepages-2Mi"])
def test_names_that_do_not(name: str) -> None:
    assert of_resources(f"{{limits: {{{name}: 1}}}}") == ()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gpu", "`gpu` has no domain, which an extended resource must have: the API server refuses the pod"),
        ("nvidia-gpu", "`nvidia-gpu` has no domain, which an extended resource must have: the API server refuses the pod"),
        ("alpha.kubernetes.io/nvidia-gpu", "nothing advertises `alpha.kubernetes.io/nvidia-gpu` any more: the pod is never scheduled"),
        ("nvidia.com/gpus", "no device plugin advertises `nvidia.com/gpus`: the pod is never scheduled"),
        ("nvidia.com/GPU", "no device plugin advertises `nvidia.com/GPU`: the pod is never scheduled"),
        ("nvidia.com/gpu/1", "`nvidia.com/gpu/1` is no well-formed resource name: the API server refuses the pod"),
        (
            "requests.nvidia.com/gpu",
            "`requests.nvidia.com/gpu` is a quota's name of a resource, not a container's: the API server refuses the pod",
        ),
    ],
)
def test_names_that_no_plugin_advertises(name: str, says: str) -> None:
    text = with_resources(f"{{limits: {{{name}: 1}}}}")
    (request,) = containers(text)[0].requests
    (fault,) = request.faults
    assert (request.state, fault.reason, fault.misplaced, at(text, fault.location)) == (BROKEN, says, False, name)


def test_each_name_is_one_request() -> None:
    found = of_resources("{limits: {nvidia.com/gpu: 1, nvidia.com/mig-1g.10gb: 1}, requests: {nvidia.com/gpu: 1, amd.com/gpu: 1}}")
    assert sorted(str(request.resource) for request in found) == ["amd.com/gpu", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"]


def spec(body: str, metadata: str = "") -> str:
    return "kind: Pod\n" + dedent(metadata) + "spec:\n" + indent(dedent(body), "  ")


def test_a_claim_that_the_pod_declares() -> None:
    text = spec("resourceClaims: [{name: card}]\ncontainers: [{image: a, resources: {claims: [{name: card}]}}]\n")
    (request,) = containers(text)[0].requests
    assert (request.kind, request.state, shown(request.resource)) == (RequestKind.CLAIM, ASKED, "card")


def test_a_claim_that_it_does_not_declare() -> None:
    text = spec("containers:\n  - image: a\n    resources: {claims: [{name: card}]}\n")
    (request,) = containers(text)[0].requests
    assert (request.state, request.faults[0].reason) == (BROKEN, "the pod declares no claim `card`")
    assert at(text, request.location) == "card"


def test_a_claim_that_no_container_uses() -> None:
    found = containers(
        spec("resourceClaims: [{name: a}, {name: b}]\ncontainers: [{image: x, resources: {claims: [{name: a}]}}, {image: y}]\n")
    )
    assert [[(request.state, shown(request.resource)) for request in each.requests] for each in found] == [
        [(ASKED, "a"), (BROKEN, "b")],
        [(BROKEN, "b")],
    ]


def test_a_workflow_declares_claims_for_its_templates() -> None:
    claims = "{resources: {claims: [{name: card}]}, image: a}"
    text = (
        f"kind: Workflow\nspec: {{resourceClaims: [{{name: card}}], templates: [{{container: {claims}}}, {{container: {{image: b}}}}]}}\n"
    )
    assert [[request.state for request in each.requests] for each in containers(text)] == [[ASKED], []]


def test_a_runtime_class_is_a_request_of_every_container() -> None:
    found = containers(spec("runtimeClassName: nvidia\ncontainers: [{image: a}, {image: b}]\n"))
    assert [[(request.kind, request.vendor) for request in each.requests] for each in found] == [[(RequestKind.RUNTIME, "nvidia")]] * 2


@pytest.mark.parametrize("name", ["gvisor", "kata", "''"])
def test_another_runtime_class_is_none(name: str) -> None:
    assert containers(spec(f"runtimeClassName: {name}\ncontainers: [{{image: a}}]\n"))[0].requests == ()


@pytest.mark.parametrize(
    ("entry", "kinds"),
    [
        ("{name: NVIDIA_VISIBLE_DEVICES, value: all}", [RequestKind.VISIBLE_DEVICES]),
        ("{name: NVIDIA_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: x}}}", [RequestKind.VISIBLE_DEVICES]),
        ("{name: NVIDIA_VISIBLE_DEVICES, value: void}", []),
        ("{name: NVIDIA_VISIBLE_DEVICES, value: ''}", []),
        ("{name: CUDA_VISIBLE_DEVICES, value: '0'}", []),
    ],
)
def test_variables_that_name_devices(entry: str, kinds: list[RequestKind]) -> None:
    (container,) = containers(spec(f"containers: [{{image: a, env: [{entry}]}}]\n"))
    assert [request.kind for request in container.requests] == kinds


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [("gpu-fraction: '0.5'", RequestKind.PRODUCT), ("cdi.k8s.io/gpu: nvidia.com/gpu=all", RequestKind.CDI)],
)
def test_annotations(annotation: str, kind: RequestKind) -> None:
    (container,) = containers(spec("containers: [{image: a}]\n", f"metadata: {{annotations: {{{annotation}, other: x}}}}\n"))
    assert [request.kind for request in container.requests] == [kind]


def test_annotations_of_a_template_count_too() -> None:
    text = "kind: Deployment\nspec: {template: {metadata: {annotations: {gpu-memory: '2000'}}, spec: {containers: [{image: a}]}}}\n"
    assert [request.kind for request in containers(text)[0].requests] == [RequestKind.PRODUCT]


GPU = "{limits: {nvidia.com/gpu: 1}}"


@pytest.mark.parametrize(
    "text",
    [
        spec(f"resources: {GPU}\ncontainers: [{{image: a}}]\n"),
        spec("limits: {nvidia.com/gpu: 1}\ncontainers: [{image: a}]\n"),
        spec("nvidia.com/gpu: 1\ncontainers: [{image: a}]\n"),
        spec("containers: [{image: a}]\n", "metadata: {resources: {limits: {nvidia.com/gpu: 1}}}\n"),
        f"kind: Job\nspec: {{template: {{resources: {GPU}, spec: {{containers: [{{image: a}}]}}}}}}\n",
        f"kind: Job\nspec: {{template: {{metadata: {{resources: {GPU}}}, spec: {{containers: [{{image: a}}]}}}}}}\n",
        f"kind: Job\nspec: {{resources: {GPU}, template: {{spec: {{containers: [{{image: a}}]}}}}}}\n",
        f"kind: Job\nresources: {GPU}\nspec: {{template: {{spec: {{containers: [{{image: a}}]}}}}}}\n",
    ],
)
def test_resources_outside_of_a_container(text: str) -> None:
    (container,) = containers(text)
    (request,) = container.requests
    assert (request.kind, request.state, request.faults[0].misplaced) == (RequestKind.LIMIT, BROKEN, True)
    assert request.faults[0].reason == "`nvidia.com/gpu` stands outside of a container"
    assert at(text, request.location) == "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("field", "kind", "place"),
    [
        ("limits: {nvidia.com/gpu: 1}", RequestKind.LIMIT, "nvidia.com/gpu"),
        ("nvidia.com/gpu: 1", RequestKind.LIMIT, "nvidia.com/gpu"),
        ("resources: {nvidia.com/gpu: 1}", RequestKind.LIMIT, "nvidia.com/gpu"),
        ("runtimeClassName: nvidia", RequestKind.RUNTIME, "runtimeClassName"),
        ("tolerations: [{key: nvidia.com/gpu, operator: Exists}]", RequestKind.PLACEMENT, "tolerations"),
        ("nodeSelector: {nvidia.com/gpu.present: 'true'}", RequestKind.PLACEMENT, "nodeSelector"),
    ],
)
def test_settings_in_the_wrong_place_of_a_container(field: str, kind: RequestKind, place: str) -> None:
    text = spec(f"containers:\n  - image: a\n    {field}\n")
    (request,) = containers(text)[0].requests
    assert (request.kind, request.state, request.faults[0].misplaced) == (kind, BROKEN, True)
    assert at(text, request.location) == place


@pytest.mark.parametrize("field", ["runtimeClassName: gvisor", "tolerations: [{key: spot}]", "nodeSelector: {zone: a}", "limits: {cpu: 1}"])
def test_other_settings_in_the_wrong_place_are_not_about_gpus(field: str) -> None:
    assert containers(spec(f"containers:\n  - image: a\n    {field}\n"))[0].requests == ()


def test_resources_of_an_unknown_kind_may_be_its_own() -> None:
    assert containers(f"kind: Unheard\nspec: {{resources: {GPU}, pod: {{containers: [{{image: a}}]}}}}\n")[0].requests == ()


def ray(group: str) -> Container:
    (container,) = containers(
        f"kind: RayCluster\nspec: {{workerGroupSpecs: [{{{group}, template: {{spec: {{containers: [{{image: a}}]}}}}}}]}}\n"
    )
    return container


@pytest.mark.parametrize(
    ("group", "state", "name", "count"),
    [
        ("rayStartParams: {num-gpus: '2'}", ASKED, "num-gpus", "2"),
        ("rayStartParams: {num-gpus: '0'}", ZERO, "num-gpus", "0"),
        ("resources: {GPU: '1', CPU: '2'}", ASKED, "GPU", "1"),
    ],
)
def test_ray(group: str, state: RequestState, name: str, count: str) -> None:
    (request,) = ray(group).requests
    assert (request.kind, request.state, shown(request.resource), shown(request.count)) == (RequestKind.PRODUCT, state, name, count)


def test_a_ray_group_without_gpus() -> None:
    assert ray("rayStartParams: {num-cpus: '2'}").requests == ()


@pytest.mark.parametrize(
    ("gpu", "state", "vendor"),
    [
        ("{name: nvidia.com/gpu, quantity: 1}", ASKED, "nvidia"),
        ("{name: nvidia.com/gpu, quantity: 0}", ZERO, "nvidia"),
        ("{quantity: 1}", BROKEN, ""),
    ],
)
def test_spark(gpu: str, state: RequestState, vendor: str) -> None:
    driver, executor = containers(f"kind: SparkApplication\nspec: {{image: a, driver: {{cores: 1}}, executor: {{gpu: {gpu}}}}}\n")
    (request,) = executor.requests
    assert driver.requests == () and (request.kind, request.state, request.vendor) == (RequestKind.PRODUCT, state, vendor)


def test_a_train_job_asks_by_node() -> None:
    text = "kind: TrainJob\nspec: {trainer: {image: a, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}}\n"
    (request,) = containers(text)[0].requests
    assert (request.kind, shown(request.limit)) == (RequestKind.LIMIT, "4")
