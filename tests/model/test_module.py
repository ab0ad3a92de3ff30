"""What a Module holds beside fallbacks and assertions: names, calls, settings, signs, starts; and that nothing makes it raise."""

from __future__ import annotations

import re

import pytest
from module_reading import Noted, module_of, scopes_of, source_of, text_at

from gpulint.model.module import MAIN, TOP, DeviceDefault, Gate, Scope
from gpulint.model.python_values import UNDECIDED
from gpulint.source import Location


def calls_of(code: str) -> dict[str, Gate]:
    return {call.name: call.gate for scope in scopes_of(code) for call in scope.calls if not call.handed}


# --- Names ----------------------------------------------------------------------------------------------------------------------


def test_qualified_names() -> None:
    code = """
        import torch.cuda as tc
        import app.models
        from torch import nn as layers
        from .device import pick
        from ..common import paths as p
        from . import steps

        class Trainer(Base):
            def __init__(self):
                super().__init__()
                self.clock = app.models.Clock()

            def fit(self):
                self.step()
                self.clock.tick()

        def build():
            return Trainer()

        tc.synchronize()
        layers.Linear(1, 2)
        pick()
        p.find()
        steps.run()
        trainer = Trainer()
        trainer.fit()
        build().fit()
        other = app.models.Net(3).to("cuda")
        unknown.cuda()
        items[0].cuda()
    """
    assert set(calls_of(code)) == {
        "torch.cuda.synchronize",
        "torch.nn.Linear",
        ".device.pick",
        "..common.paths.find",
        ".steps.run",
        ":Trainer",
        ":Trainer.fit",
        ":build",
        ":build.fit",
        "app.models.Net",
        "app.models.Net.to",
        "app.models.Clock",
        "app.models.Clock.tick",
        "*unknown.cuda",
        "*.cuda",
        ":Trainer.step",
        "Base.__init__",
    }


def test_scopes_and_their_places() -> None:
    code = """
        async  def  serve():
            def inner():
                pass

        class Worker:
            @cached
            def run(self): ...

        if __name__ == "__main__":
            serve()
    """
    module = module_of(code)
    assert list(module.scopes) == [TOP, MAIN, "serve", "serve.inner", "Worker.run"]
    assert len(module.scopes) == 5
    places = {name: text_at(code, scope.location) for name, scope in module.scopes.items() if name not in (TOP, MAIN)}
    assert places == {"serve": "serve", "serve.inner": "inner", "Worker.run": "run"}
    assert module.top.location == Location("job.py", 1, 1, 1, 1)
    assert module.decorators == {"Worker.run": ("cached",)}
    assert module.classes["Worker"].methods == {"run"}
    with pytest.raises(KeyError):
        module.scopes["missing"]


def test_what_is_called_and_how_surely() -> None:
    code = """
        import torch, a
        a.always()
        if ready:
            a.perhaps()
        if torch.cuda.is_available():
            a.never()
        else:
            a.without()
        for item in items:
            a.each()
        try:
            a.tried()
        except ValueError:
            a.handled()
        finally:
            a.finally_()
    """
    gates = {name.partition(".")[2]: gate for name, gate in calls_of(code).items() if name.startswith("a.")}
    assert gates == {
        "always": Gate.RUNS,
        "perhaps": Gate.MAY,
        "never": Gate.NEVER,
        "without": Gate.RUNS,
        "each": Gate.RUNS,
        "tried": Gate.RUNS,
        "handled": Gate.MAY,
        "finally_": Gate.RUNS,
    }


def test_functions_that_are_handed_over() -> None:
    code = """
        import threading, uvicorn
        import torch.multiprocessing as mp
        from jobs import work

        def serve(): ...

        def train(rank): ...

        threading.Thread(target=work).start()
        mp.spawn(train, nprocs=2)
        pool.map(serve, items)
        uvicorn.run("web.app:app", port=80)
    """
    (top, *_) = scopes_of(code)
    handed = {call.name: call.gate for call in top.calls if call.handed}
    assert handed == {"jobs.work": Gate.RUNS, ":train": Gate.RUNS, ":serve": Gate.MAY, "web.app.app": Gate.MAY}


def test_nothing_is_spawned_for_no_gpu() -> None:
    code = """
        import torch
        import torch.multiprocessing as mp

        def train(rank): ...

        def main():
            world = torch.cuda.device_count()
            mp.spawn(train, args=(world,), nprocs=world)
    """
    scope = module_of(code).scopes["main"]
    assert [call.gate for call in scope.calls if call.name == ":train"] == [Gate.NEVER]
    (spawn,) = [call for call in scope.calls if call.name == "torch.multiprocessing.spawn"]
    assert (spawn.arguments["nprocs"].value, spawn.arguments["nprocs"].subject) == (0, "torch.cuda.device_count")


def test_a_loop_over_the_gpus_runs_for_none() -> None:
    code = """
        import torch, a
        for rank in range(torch.cuda.device_count()):
            a.each(rank)
        for item in range(3):
            a.item()
    """
    gates = calls_of(code)
    assert (gates["a.each"], gates["a.item"]) == (Gate.NEVER, Gate.RUNS)


def test_arguments_of_calls_that_matter() -> None:
    code = 'import torch\nw = torch.load("w.pt", map_location="cpu", weights_only=flag)\n'
    (call,) = [call for scope in scopes_of(code) for call in scope.calls]
    assert {key: answer.value for key, answer in call.arguments.items()} == {"0": "w.pt", "map_location": "cpu", "weights_only": UNDECIDED}


def test_imports_with_how_surely_they_run() -> None:
    code = """
        from typing import TYPE_CHECKING
        import a
        if TYPE_CHECKING:
            import b
        def late():
            from . import c
        from d import *
    """
    module = module_of(code)
    assert [(each.name, each.gate) for each in module.top.imports if each.name != "typing.TYPE_CHECKING"] == [
        ("a", Gate.RUNS),
        ("b", Gate.NEVER),
        ("d", Gate.RUNS),
    ]
    assert [each.name for each in module.scopes["late"].imports] == [".c"]
    assert module.stars == ("d",)
    assert module.aliases["c"] == ".c"


# --- Settings, signs, starts ----------------------------------------------------------------------------------------------------


def test_what_the_code_sets_in_its_environment() -> None:
    code = """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        os.environ.setdefault("OMP_NUM_THREADS", "4")
        os.putenv("HOME", home)
        child["CUDA_VISIBLE_DEVICES"] = ""
    """
    (top,) = scopes_of(code)
    assert [(write.name, write.value.value) for write in top.environment] == [
        ("CUDA_VISIBLE_DEVICES", "1"),
        ("OMP_NUM_THREADS", "4"),
        ("HOME", UNDECIDED),
    ]
    assert text_at(code, top.environment[0].location) == 'os.environ["CUDA_VISIBLE_DEVICES"]'


def defaults_of(code: str) -> list[DeviceDefault]:
    return [default for scope in scopes_of(code) for default in scope.device_defaults]


def test_device_settings_whose_default_is_the_cpu() -> None:
    code = """
        import argparse, os
        import torch
        from dataclasses import dataclass

        DEVICE = os.getenv("DEVICE", "cpu")
        KIND = os.environ.get("TORCH_DEVICE", "cpu")
        OTHER = os.getenv("DEVICE", "cuda")
        SIZE = os.getenv("SIZE", "cpu")
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cpu")
        parser.add_argument("--gpu-id", type=int, default=-1)
        parser.add_argument("--workers", type=int, default=-1)
        parser.add_argument("--kind-device", default="cuda" if torch.cuda.is_available() else "cpu")

        @dataclass
        class Settings:
            epochs: int = 3
            device: str = "cpu"
            cuda_device: int = -1
    """
    assert [(each.kind, each.name, str(each.value)) for each in defaults_of(code)] == [
        ("variable", "DEVICE", "cpu"),
        ("variable", "TORCH_DEVICE", "cpu"),
        ("option", "--device", "cpu"),
        ("option", "--gpu-id", "-1"),
        ("field", "device", "cpu"),
        ("field", "cuda_device", "-1"),
    ]
    assert text_at(code, defaults_of(code)[0].location) == '"cpu"'


@pytest.mark.parametrize(
    "code",
    [
        "loss.backward()",
        "import torch\noptimizer = torch.optim.Adam(weights)\noptimizer.step()",
        "import jax\nstep = jax.value_and_grad(loss)",
        "import keras\nmodel.fit(x, y)",
        "import lightning as L\nL.Trainer().fit(model)",
        "from transformers import Trainer\ntrainer = Trainer(model)\ntrainer.train()",
        "import xgboost as xgb\nxgb.train(settings, data)",
        'parser.add_argument("--epochs", type=int)',
    ],
)
def test_signs_of_training(code: str) -> None:
    assert "trains" in {sign.means for scope in scopes_of(code) for sign in scope.signs}


@pytest.mark.parametrize(
    "code",
    [
        "from fastapi import FastAPI\napp = FastAPI()",
        "import flask\napp = flask.Flask(__name__)",
        "model.generate(tokens)",
        "import onnxruntime as ort\nsession = ort.InferenceSession(path)",
        'import torch\nmodel = torch.jit.load("m.pt")',
        "import torch\nwith torch.inference_mode():\n    model(x)",
        "import gradio as gr\ngr.Interface(fn=run)",
        "from sentence_transformers import SentenceTransformer\nSentenceTransformer(path)",
    ],
)
def test_signs_of_serving(code: str) -> None:
    assert {sign.means for scope in scopes_of(code) for sign in scope.signs} == {"serves"}


@pytest.mark.parametrize(
    "code", ["model.fit(x, y)", "model.train()", "env.step(action)", 'print("--epochs")', "import torch\nx = torch.ones(3)"]
)
def test_no_sign(code: str) -> None:
    assert not {sign.means for scope in scopes_of(code) for sign in scope.signs}


def test_a_decorator_says_what_its_function_is_for_and_not_its_module() -> None:
    """A library whose functions need no gradients serves nothing as it is imported."""
    code = """
        import torch

        @torch.no_grad()
        def blend(left, right):
            return left + right

        class Net:
            @torch.inference_mode()
            def forward(self, x):
                return x
    """
    signs = {scope.name: [sign.means for sign in scope.signs] for scope in scopes_of(code)}
    assert signs == {"": [], "blend": ["serves"], "Net.forward": ["serves"]}


@pytest.mark.parametrize(
    ("tail", "start"),
    [
        ('if __name__ == "__main__":\n    check()\n    fit()\n', ":fit"),
        ('if __name__ == "__main__":\n    sys.exit(main())\n', ":main"),
        ('if "__main__" == __name__:\n    main()\n    check()\n', ":main"),
        ("main()\n", ":main"),
        ("raise SystemExit(main())\n", ":main"),
        ("asyncio.run(main())\n", ":main"),
        ("try:\n    main()\nexcept KeyboardInterrupt:\n    pass\n", ":main"),
        ("from kit.cli import main\nmain()\n", "kit.cli.main"),
    ],
)
def test_where_it_starts(tail: str, start: str) -> None:
    code = "import asyncio, sys\n\ndef check(): ...\n\ndef fit(): ...\n\nasync def main(): ...\n\n" + tail
    code = code.replace("async def main(): ...", "") if "kit.cli" in tail else code
    assert module_of(code).starts[-1] == start


# --- Hostile input --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "x = 1" + " + 1" * 900 + "\n",
        "x = a" + ".b" * 900 + "()\n",
        "x = f" + "(1)" * 900 + "\n",
        "x = " + "[" * 150 + "]" * 150 + "\n",
        "if a:\n    f()\n" + "elif a:\n    f()\n" * 900,
        "import torch\nif torch.cuda.is_available():\n    f()\n" + "elif torch.cuda.is_available():\n    f()\n" * 300,
        "".join(" " * depth + "if a:\n" for depth in range(90)) + " " * 90 + "net.cuda()\n",
        "".join(" " * depth + f"def f{depth}():\n" for depth in range(90)) + " " * 90 + "net.cuda()\n",
        "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(2000)) + "x = f0()\n",
        "def f():\n    return g()\n\ndef g():\n    return f()\n\nif f():\n    raise ValueError\n",
        "class A(B): pass\nclass B(A): pass\nA().run()\n",
        "x: int\ndel x\nglobal_ = x = y = z\n(a, *b), c = d\nx[0][1] = 2\nx += 1\n",
        "lambda *a, b=1, **c: (yield)\n",
        "match x:\n    case {'a': [1, *_]} if y:\n        net.cuda()\n    case _:\n        pass\n",
        "from . import *\nfrom .. import a\nfrom ... import b\nimport a.b.c\n",
        "for x in y: break\nelse: z()\nwhile 1: continue\n",
        "if __name__ == '__main__': pass\n",
        "import torch\ntorch.cuda.is_available()[0].x()()\n(lambda: 1)()\nf'{x!r:>{width}}'\n",
        "@a.b(c)[0]\nclass X: y = 1\n",
        "import os\nos.environ[1] = 2\nos.environ[k] = 3\n",
        "",
        "\n\n# nothing\n",
    ],
)
def test_reads_whatever_parses(code: str) -> None:
    for scope in scopes_of(code):
        assert isinstance(scope, Scope)


def test_a_long_line_is_read() -> None:
    line = "names = [" + ", ".join(f'pick("{n}")' for n in range(30_000)) + "]\n"
    assert len(line) > 400_000
    (top,) = scopes_of(line)
    assert top.calls == ()


def test_every_place_lies_in_the_file() -> None:
    code = """
        import torch
        ä = "ö" if torch.cuda.is_available() else "cpu"; assert torch.cuda.is_available()
        gerät = torch.device("cuda" if torch.cuda.is_available()
                             else "cpu")
        net.to("cuda")
    """
    source = source_of(code)
    for scope in scopes_of(code):
        noted: list[Noted] = [*scope.fallbacks, *scope.assertions, *scope.raising]
        for each in noted:
            assert 1 <= each.location.line <= each.location.end_line <= source.line_count
            assert re.match(r"\S", text_at(code, each.location))


@pytest.mark.parametrize(("code", "column"), [("async  def  main(): ...", 13), ("def \\\n    main(): ...", 1), ("def ma\uff49n(): ...", 1)])
def test_the_place_of_a_function(code: str, column: int) -> None:
    place = module_of(code).scopes["main"].location
    assert (place.line, place.column) == (1, column)
