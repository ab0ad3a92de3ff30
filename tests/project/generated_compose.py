"""Generated Compose projects: GPU blocks of every form in every way that files come together, the same on every run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

ITEMS = (
    "{capabilities: [gpu]}",
    "{capabilities: [gpu], count: 1}",
    "{capabilities: [gpu], count: 0}",
    "{capabilities: [gpu], count: -1}",
    "{capabilities: [gpu], count: all}",
    "{capabilities: [gpu], count: ALL}",
    '{capabilities: [gpu], count: "2"}',
    "{capabilities: [gpu], count: 0x2}",
    "{capabilities: [gpu], count: 1_0}",
    "{capabilities: [gpu], count: +3}",
    '{capabilities: [gpu], count: "+3"}',
    '{capabilities: [gpu], count: "${COUNT}"}',
    '{capabilities: [gpu], count: "${INNER:-4}"}',
    '{capabilities: ["${NONE:-gpu}"], device_ids: ["${GPU}", "${NONE-1}"]}',
    "{capabilities: [compute, utility], driver: nvidia, device_ids: ['0', GPU-1a]}",
    "{capabilities: [gpu], driver: amd}",
    "{capabilities: [nvidia, tpu], driver: nvidia}",
    '{capabilities: [gpu], driver: ""}',
    "{capabilities: [gpu], options: {a: b, c: , d: 1}}",
    "{capabilities: [gpu], options: [a=b, c]}",
    "{capabilities: [gpu], driver: cdi, device_ids: [nvidia.com/gpu=0]}",
    "{capabilities: [gpu], x-note: mine}",
)
"""Devices that every party takes, under `gpus` and under reservations."""

ITEMS_OF_GPUS = ("{}", "{count: 2}", "{device_ids: ['1']}", "{count: 1, priority: high}", "{driver: nvidia}")

ITEMS_FOR_ENGINE = (
    "{capabilities: [gpu], driver: cuda}",
    "{capabilities: [gpu], driver: NVIDIA, count: 1}",
    "{capabilities: [gpus]}",
    "{capabilities: [on]}",
    "{capabilities: [gpu], driver: cdi}",
    "{capabilities: [gpu], driver: cdi, count: 1}",
    "{capabilities: [gpu], driver: cdi, device_ids: ['0']}",
)
"""Devices that Compose takes and the engine refuses."""

BROKEN_ITEMS = (
    "{capabilities: gpu}",
    "{capabilities: [[gpu]]}",
    "{capabilities: [1]}",
    "{capabilities: [gpu, gpu]}",
    "{capabilities: [gpu], device_ids: [0]}",
    "{capabilities: [gpu], device_ids: '0'}",
    "{capabilities: [gpu], device_ids: [1e3]}",
    "{capabilities: [gpu], device_ids: [2020-01-01]}",
    "{capabilities: [gpu], device_ids: ['${NONE:-0}', '0']}",
    "{capabilities: [gpu], count: 1.5}",
    "{capabilities: [gpu], count: two}",
    "{capabilities: [gpu], count: true}",
    "{capabilities: [gpu], count: }",
    "{capabilities: [gpu], count: [1]}",
    "{capabilities: [gpu], count: '0x2'}",
    "{capabilities: [gpu], count: '${NONE:-0x2}'}",
    "{capabilities: [gpu], count: 99999999999999999999}",
    "{capabilities: [gpu], count: 1, count: 2}",
    "{capabilities: [gpu], count: all, device_ids: ['0']}",
    "{capabilities: [gpu], driver: }",
    "{capabilities: [gpu], driver: 1}",
    "{capabilities: [gpu], driver: [nvidia]}",
    "{capabilities: [gpu], options: }",
    "{capabilities: [gpu], options: fast}",
    "{capabilities: [gpu], options: {a: [b]}}",
    "{capabilities: [gpu], options: [a, 1]}",
    "gpu",
    "[gpu]",
    "~",
)
"""Devices that Compose refuses, under `gpus` and under reservations."""

BROKEN_RESERVATIONS = ("{count: 1}", "{capabilities: [gpu], counts: 1}", "{}", "{capabilities: [gpu], X-note: mine}")

OTHER_BODIES = (
    "gpus: all",
    'gpus: "${GPUS}"',
    "gpus: ${NONE:-all}",
    "gpus: []",
    "runtime: nvidia",
    "runtime: ${NONE:-nvidia}",
    "devices: [nvidia.com/gpu=all]",
    "devices: ['nvidia.com/gpu=0:nvidia.com/gpu=0', /dev/snd]",
    "devices: [/dev/nvidia0, '/dev/nvidiactl:/dev/nvidiactl:rw']",
    "devices: [{source: /dev/nvidia1, target: /dev/nvidia0, permissions: rwm}]",
    "environment: [NVIDIA_VISIBLE_DEVICES, OTHER=1]",
    "environment: {NVIDIA_VISIBLE_DEVICES: , OTHER: 1}",
    "environment: {NVIDIA_VISIBLE_DEVICES: '${GPU}'}",
    "deploy: {}",
    "deploy: {replicas: 2, resources: {limits: {memory: 1g}}}",
    "deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec: {kind: gpu, value: 1}}]}}}",
)

BROKEN_BODIES = (
    "gpus: 1",
    'gpus: "1"',
    "gpus: true",
    "gpus: ALL",
    "gpus: ${NONE:-1}",
    "gpus: [all]",
    "gpus: {count: 1}",
    "gpus:",
    "gpu: all",
    "runtime:",
    "runtime: [nvidia]",
    "devices: nvidia.com/gpu=all",
    "devices: [{source: nvidia.com/gpu=all}]",
    "devices: [{capabilities: [gpu]}]",
    "resources: {reservations: {devices: [{capabilities: [gpu]}]}}",
    "deploy: {devices: [{capabilities: [gpu]}]}",
    "deploy: {gpus: all}",
    "deploy: {runtime: nvidia}",
    "deploy: {reservations: {devices: [{capabilities: [gpu]}]}}",
    "deploy: {resources: {devices: [{capabilities: [gpu]}]}}",
    "deploy: {resources: {limits: {devices: [{capabilities: [gpu]}]}}}",
    "deploy: {resources: {limits: {nvidia.com/gpu: 1}}}",
    "deploy: {resources: {reservations: {device: [{capabilities: [gpu]}]}}}",
    "deploy: {resources: {reservations: {gpus: 1}}}",
    "deploy: {resources: {reservations: {devices: {capabilities: [gpu]}}}}",
    "deploy: {resources: {reservations: {devices: }}}",
    "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}\ndeploy: {replicas: 1}",
)

TAKING_AWAY = (
    "gpus: !reset null",
    "gpus: !reset []",
    "gpus: !override all",
    "gpus: !override [{count: 5}]",
    "gpus:",
    "deploy: !reset null",
    "deploy: {resources: !reset null}",
    "deploy: {resources: {reservations: !reset {}}}",
    "deploy: {resources: {reservations: {devices: !reset []}}}",
    "deploy: {resources: {reservations: {devices: !override [{capabilities: [gpu], count: 6}]}}}",
    "deploy: !override {replicas: 1}",
    "deploy:",
    "runtime: !reset null",
    "runtime: runc",
    "runtime:",
    "devices: !reset []",
    "environment: {NVIDIA_VISIBLE_DEVICES: void}",
    "environment: !override [OTHER=2]",
    "environment: {NVIDIA_VISIBLE_DEVICES: !reset null}",
    "profiles: [gpu]",
)
"""What an upper layer says to take something of the lower ones away, or to put something in its place."""

_REPEATED = re.compile(r"\n|count.*count: 2")

ENV = "COUNT=7\nGPU=3\nGPUS=all\nNVIDIA_VISIBLE_DEVICES=0,1\n"


class Generated(NamedTuple):
    """A project: its files, and those that the command line names (none for the default ones)."""

    files: dict[str, str]
    named: tuple[str, ...] = ()


def every_form() -> Iterator[Generated]:
    """Each form alone in a file of its own project."""
    bodies = [*OTHER_BODIES, *BROKEN_BODIES]
    bodies += (f"gpus: [{item}]" for item in (*ITEMS, *ITEMS_OF_GPUS, *ITEMS_FOR_ENGINE, *BROKEN_ITEMS))
    bodies += (_reserved(f"[{item}]") for item in (*ITEMS_FOR_ENGINE, *BROKEN_ITEMS, *BROKEN_RESERVATIONS))
    bodies += (_reserved(f"[{', '.join(ITEMS)}]"),)
    return (Generated({"compose.yaml": _file({"app": ["image: acme/app:1", body]}), ".env": ENV}) for body in bodies)


def generated_projects(count: int, seed: int) -> Iterator[Generated]:
    """That many projects. Some are refused by Compose, for what is said of GPUs alone."""
    random = Random(seed)
    return (_Generator(random).project() for _ in range(count))


def _reserved(items: str) -> str:
    return f"deploy: {{resources: {{reservations: {{devices: {items}}}}}}}"


def _file(services: dict[str, list[str]], head: str = "") -> str:
    lines = [f"{head}services:"]
    for name, body in services.items():
        lines.append(f"  {name}:")
        lines += (f"    {line}" for part in body for line in part.split("\n"))
    return "\n".join(lines) + "\n"


class _Generator:
    """Writes one project. `broken` is how often a block is one that Compose refuses."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.broken = random.choice((0.0, 0.0, 0.25))

    def project(self) -> Generated:
        of_one = (self._alone, self._extends, self._documents, self._anchor)
        of_several = (self._override, self._named, self._extends_file, self._include)
        return self.random.choice((*of_one, *of_several))()

    def _body(self, upper: bool = False) -> list[str]:
        """Up to two blocks of different keys, of which an upper layer may take away what is below it."""
        found: dict[str, str] = {}
        for _ in range(self.random.choice((1, 1, 2))):
            block = self.random.choice(TAKING_AWAY) if upper and self.random.random() < 0.5 else self._block()
            found.setdefault(block.partition(":")[0], block)
        return list(found.values())

    def _block(self) -> str:
        if self.random.random() < self.broken:
            return self.random.choice((self.random.choice(BROKEN_BODIES), self._devices(BROKEN_ITEMS)))
        return self.random.choice((self.random.choice(OTHER_BODIES), self._devices(ITEMS), self._devices(ITEMS)))

    def _devices(self, items: tuple[str, ...]) -> str:
        chosen = f"[{', '.join(self.random.sample(items, self.random.choice((1, 1, 2))))}]"
        return self.random.choice((f"gpus: {chosen}", _reserved(chosen)))

    def _app(self) -> list[str]:
        profiles = self.random.choice(([], [], ["profiles: [gpu, big]"]))
        return ["image: acme/app:1", *profiles, *self._body()]

    def _alone(self) -> Generated:
        return Generated({"compose.yaml": _file({"app": self._app(), "other": ["build: .", *self._body()]}), ".env": ENV})

    def _override(self) -> Generated:
        base, over = self.random.choice((("compose.yaml", "compose.override.yaml"), ("docker-compose.yml", "docker-compose.override.yml")))
        upper = {"app": self._body(upper=True), "more": ["image: acme/more:1", *self._body()]}
        return Generated({base: _file({"app": self._app()}), over: _file(upper), ".env": ENV})

    def _named(self) -> Generated:
        """Files that a command line names, or COMPOSE_FILE."""
        files = ("base.compose.yaml", "gpu/gpu.compose.yaml", "prod.compose.yaml")[: self.random.choice((2, 3))]
        texts = {path: _file({"app": self._body(upper=True)}) for path in files[1:]}
        texts[files[0]] = _file({"app": self._app()})
        if self.random.random() < 0.5:
            return Generated({**texts, ".env": f"{ENV}COMPOSE_FILE={':'.join(files)}\n"})
        return Generated({**texts, ".env": ENV}, files)

    def _extends(self) -> Generated:
        """What the middle one of three takes away Compose takes away in most runs, not in all."""
        services = {"base": self._app(), "app": ["extends: base", *self._body()]}
        services["last"] = ["extends: {service: app}", *self._body(upper=True)]
        return Generated({"compose.yaml": _file(services), ".env": ENV})

    def _extends_file(self) -> Generated:
        """Compose holds its schema against what comes of it alone, so that what is extended is well formed here."""
        self.broken, broken = 0.0, self.broken
        base = _file({"base": self._app()})
        self.broken = broken
        app = _file({"app": ["extends: {file: common/base.yaml, service: base}", *self._body(upper=True)]})
        return Generated({"compose.yaml": app, "common/base.yaml": base, ".env": ENV, "common/.env": "GPU=9\n"})

    def _include(self) -> Generated:
        one, more = "lib/compose.yaml", "{path: [lib/compose.yaml, lib/more.yaml]}"
        include = f"include: [{self.random.choice((one, f'{{path: {one}}}', more))}]\n"
        files = {
            "compose.yaml": _file({"main": ["image: acme/main:1", *self._body()]}, include),
            "lib/compose.yaml": _file({"app": self._app()}),
            ".env": ENV,
            "lib/.env": "GPU=9\nINNER=2\n",
        }
        if "more" in include:
            files["lib/more.yaml"] = _file({"app": self._body(upper=True)})
        if self.random.random() < 0.5:
            files["compose.override.yaml"] = _file({"app": self._body(upper=True)}).replace("INNER", "NONE")
        return Generated(files)

    def _documents(self) -> Generated:
        text = f"{_file({'app': self._app()})}---\n{_file({'app': self._body(upper=True)})}"
        return Generated({"compose.yaml": text, ".env": ENV})

    def _anchor(self) -> Generated:
        """No key stands twice in an anchored block: that is a fault of the file, whether a service uses the block or not."""
        blocks = [next(block for block in iter(self._block, "") if not _REPEATED.search(block)) for _ in range(2)]
        head = "".join(f"x-{name}: &{name}\n  {block}\n" for name, block in zip(("one", "two"), blocks, strict=True))
        services = {"app": ["<<: [*one, *two]", "image: acme/app:1"], "other": ["<<: *two", "image: acme/other:1", *self._body()]}
        return Generated({"compose.yaml": _file(services, head), ".env": ENV})
