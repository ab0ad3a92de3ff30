"""Settings of a program whose default is the CPU, in the forms that people write, and what overrules them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_repository import gpulint, write

DOCKERFILE = """
FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
WORKDIR /app
COPY . /app
"""
COMPOSE = """
services:
  fit:
    build: .
    command: {command}
    environment: {env}
    deploy:
      resources:
        reservations:
          devices: [{{driver: nvidia, count: 1, capabilities: [gpu]}}]
"""
FIT = "    model.to({device})(x).sum().backward()\n"
OPTION = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument({option})\nargs = parser.parse_args()\n"
HYDRA = (
    'import hydra\n\n@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):\n'
    + FIT.format(device="cfg.device")
    + "\nif __name__ == '__main__':\n    main()\n"
)
YAML = 'import yaml\ncfg = yaml.safe_load(open("config.yaml"))\n'


def program(head: str, device: str) -> str:
    return f"import os\nimport torch\n{head}\ndef main():\n{FIT.format(device=device)}\nmain()\n"


def handed(head: str, start: str, parameter: str = "device='cpu'") -> str:
    return f"import torch\n{head}\ndef main({parameter}):\n{FIT.format(device='device')}\nif __name__ == '__main__':\n    {start}\n"


SWITCH = '"cuda" if args.cuda else "cpu"'
FORMS = {
    "argparse": (program(OPTION.format(option='"--device", default="cpu"'), "args.device"), {}, "fit.py: the option --device is cpu"),
    "a switch": (program(OPTION.format(option='"--cuda", action="store_true"'), SWITCH), {}, "fit.py: the option --cuda is off"),
    "a switch, default": (program(OPTION.format(option='"--cuda", default=False'), SWITCH), {}, "fit.py: the option --cuda is off"),
    "typer": (handed("import typer", "typer.run(main)"), {}, "fit.py: the option --device is cpu"),
    "tyro": (handed("import tyro", "tyro.cli(main)"), {}, "fit.py: the option --device is cpu"),
    "fire": (handed("import fire", "fire.Fire(main)"), {}, "fit.py: the option --device is cpu"),
    "a variable": (program('device = os.getenv("DEVICE", "cpu")', "device"), {}, "fit.py: the variable DEVICE is cpu"),
    "a variable or": (program('device = os.environ.get("DEVICE") or "cpu"', "device"), {}, "fit.py: the variable DEVICE is cpu"),
    "a variable that switches": (
        program('use_gpu = os.getenv("USE_GPU", "false") == "true"', '"cuda" if use_gpu else "cpu"'),
        {},
        "fit.py: the variable USE_GPU is off",
    ),
    "a dataclass": (
        program("from dataclasses import dataclass\n@dataclass\nclass C:\n    device: str = 'cpu'\nc = C()", "c.device"),
        {},
        "fit.py: the field device is cpu",
    ),
    "pydantic": (
        program("from pydantic import BaseModel, Field\nclass C(BaseModel):\n    device: str = Field('cpu')\nc = C()", "c.device"),
        {},
        "fit.py: the field device is cpu",
    ),
    "Hydra": (HYDRA, {"conf/config.yaml": "lr: 0.1\ndevice: cpu\n"}, "conf/config.yaml: the setting device is cpu"),
    "OmegaConf": (
        program('from omegaconf import OmegaConf\ncfg = OmegaConf.load("config.yaml")', "cfg.device"),
        {"config.yaml": "device: cpu\n"},
        "config.yaml: the setting device is cpu",
    ),
    "YAML": (program(YAML, 'cfg["fit"]["device"]'), {"config.yaml": "fit:\n  device: cpu\n"}, "config.yaml: the setting device is cpu"),
}
CALLED = ["python", "fit.py"]
QUIET = {
    "the option is passed": (FORMS["argparse"][0], {}, [*CALLED, "--device", "cuda"], {}),
    "the switch is passed": (FORMS["a switch"][0], {}, [*CALLED, "--cuda"], {}),
    "a switch that chooses nothing": (program(OPTION.format(option='"--cuda", action="store_true"'), "'cpu'"), {}, CALLED, {}),
    "the number of a card": (
        program(OPTION.format(option='"--gpu", default="0"'), "'cuda:' + args.gpu if args.gpu else 'cpu'"),
        {},
        CALLED,
        {},
    ),
    "fire, passed": (FORMS["fire"][0], {}, [*CALLED, "--device=cuda"], {}),
    "fire, by position": (FORMS["fire"][0], {}, [*CALLED, "cuda"], {}),
    "the variable is set": (FORMS["a variable or"][0], {}, CALLED, {"DEVICE": "cuda"}),
    "the variable that switches is set": (FORMS["a variable that switches"][0], {}, CALLED, {"USE_GPU": "true"}),
    "Hydra, passed": (HYDRA, FORMS["Hydra"][1], [*CALLED, "device=cuda"], {}),
    "Hydra, another file": (HYDRA, FORMS["Hydra"][1], [*CALLED, "--config-name", "gpu"], {}),
    "Hydra, a device": (HYDRA, {"conf/config.yaml": "device: cuda\n"}, CALLED, {}),
    "Hydra, put together": (HYDRA, {"conf/config.yaml": "defaults: [_self_, trainer: gpu]\ndevice: cpu\n"}, CALLED, {}),
    "Hydra, no file": (HYDRA, {}, CALLED, {}),
    "YAML, another device beside": (FORMS["YAML"][0], {"config.yaml": "a: {device: cpu}\nb: {device: cuda}\n"}, CALLED, {}),
    "YAML, a device that waits": (FORMS["YAML"][0], {"config.yaml": "offload_device: cpu\n"}, CALLED, {}),
    "YAML, an anchor in itself": (FORMS["YAML"][0], {"config.yaml": "a: &a {b: *a}\n"}, CALLED, {}),
}


def unset(folder: Path, code: str, files: dict[str, str], command: list[str], env: dict[str, str]) -> list[str]:
    compose = COMPOSE.format(command=json.dumps(command), env=json.dumps(env))
    write(folder, {"Dockerfile": DOCKERFILE, "compose.yaml": compose, "fit.py": code, **files})
    return gpulint(folder, "--select", "GPU603", "--format", "concise").stdout.splitlines()


@pytest.mark.parametrize(("code", "files", "said"), FORMS.values(), ids=FORMS)
def test_a_setting_that_stays_at_the_cpu(tmp_path: Path, code: str, files: dict[str, str], said: str) -> None:
    (line,) = unset(tmp_path, code, files, CALLED, {})
    path, words = said.split(": ")
    assert line.startswith(f"{path}:")
    assert f"GPU603 {words} by default" in line


@pytest.mark.parametrize(("code", "files", "command", "env"), QUIET.values(), ids=QUIET)
def test_a_setting_that_may_be_set(tmp_path: Path, code: str, files: dict[str, str], command: list[str], env: dict[str, str]) -> None:
    assert unset(tmp_path, code, files, command, env) == []
