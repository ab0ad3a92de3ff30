"""Programs: what is met on the start path, through functions, classes and modules."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from python_files import PythonFiles

from gpulint.model.module import FallbackKind, Gate
from gpulint.project.programs import DEPTH, MOST_MODULES, Program, read_program

PICK = """
    import torch

    def pick():
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("cpu")

    def require_gpu():
        if not torch.cuda.is_available():
            raise RuntimeError("no GPU")
"""
CHOICE = 'device = "cuda" if torch.cuda.is_available() else "cpu"'


def program(
    files: dict[str, str], path: str = "fit.py", function: str = "", roots: Sequence[str] = ("", "src")
) -> tuple[Program, PythonFiles]:
    tree = PythonFiles(files)
    found = read_program(tree, path, function, roots)
    assert found is not None
    return found, tree


def met(files: dict[str, str], path: str = "fit.py", function: str = "") -> dict[str, list[str]]:
    """The text of what was met: fallbacks, assertions, raising."""
    found, tree = program(files, path, function)
    return {
        "fallbacks": [tree.text(each.location) for each in found.fallbacks],
        "assertions": [tree.text(each.location) for each in found.assertions],
        "raising": [tree.text(each.location) for each in found.raising],
    }


# --- The path -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("imports", "call", "path"),
    [
        ("from kit.device import pick", "pick()", "kit/device.py"),
        ("from kit.device import pick as choose", "choose()", "kit/device.py"),
        ("import kit.device", "kit.device.pick()", "kit/device.py"),
        ("import kit.device as d", "d.pick()", "kit/device.py"),
        ("from kit import device", "device.pick()", "kit/device.py"),
        ("from kit.device import *", "pick()", "kit/device.py"),
        ("from device import pick", "pick()", "device.py"),
        ("from jobkit.device import pick", "pick()", "src/jobkit/device.py"),
        ("from .device import pick", "pick()", "device.py"),
        ("from . import device", "device.pick()", "device.py"),
    ],
)
def test_modules_are_found(imports: str, call: str, path: str) -> None:
    found = met({"fit.py": f"{imports}\n\n{call}\n", path: PICK})
    assert found["fallbacks"] == [f'{path}: "cpu"']


def test_relative_imports_lead_up() -> None:
    files = {
        "src/jobs/train/fit.py": "from ...common.device import pick\n\npick()\n",
        "common/device.py": PICK,
        "src/common/device.py": PICK,
    }
    assert met(files, "src/jobs/train/fit.py")["fallbacks"] == ['src/common/device.py: "cpu"']


def test_the_entry_modules_own_folder_comes_first() -> None:
    files = {"jobs/fit.py": "from device import pick\n\npick()\n", "jobs/device.py": PICK, "device.py": PICK}
    assert met(files, "jobs/fit.py")["fallbacks"] == ['jobs/device.py: "cpu"']


def test_re_exports_and_star_imports() -> None:
    files = {
        "fit.py": "from kit import pick\n\npick()\n",
        "kit/__init__.py": "from .tools import *\n",
        "kit/tools/__init__.py": "from kit.tools.device import pick\n",
        "kit/tools/device.py": PICK,
    }
    assert met(files)["fallbacks"] == ['kit/tools/device.py: "cpu"']


def test_only_what_is_called_counts() -> None:
    files = {"fit.py": "from kit.device import pick, require_gpu\n\nprint(pick)\n", "kit/device.py": PICK}
    assert met(files) == {"fallbacks": [], "assertions": [], "raising": []}


CHECKS = """
    import logging

    def check(condition, message=""):
        if not condition:
            raise RuntimeError(message)

    def insist(*, condition):
        assert condition

    def mention(condition, message):
        if not condition:
            logging.warning(message)

    def forbid(condition):
        if condition:
            raise RuntimeError

    def check_if(wanted, condition):
        if wanted:
            if not condition:
                raise RuntimeError

    class Guard:
        def check(self, condition):
            if not condition:
                raise RuntimeError
"""
ASKS = "torch.cuda.is_available()"


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (f'check({ASKS}, "no GPU")', f'fit.py: check({ASKS}, "no GPU")'),
        (f"check(message='no GPU', condition={ASKS})", f"fit.py: check(message='no GPU', condition={ASKS})"),
        ("check(torch.cuda.device_count() > 0)", "fit.py: check(torch.cuda.device_count() > 0)"),
        (f"insist(condition={ASKS})", "kit.py: assert condition"),
        (f"Guard().check({ASKS})", f"fit.py: Guard().check({ASKS})"),
    ],
)
def test_a_function_that_insists_on_what_it_is_given(call: str, place: str) -> None:
    assert met({"fit.py": f"import torch\nfrom kit import Guard, check, insist\n\n{call}\n", "kit.py": CHECKS})["assertions"] == [place]


@pytest.mark.parametrize(
    "call",
    [
        f'mention({ASKS}, "no GPU")',
        f"forbid({ASKS})",
        f"check(not {ASKS})",
        f"check(path, {ASKS})",
        "check(path.exists())",
        f"check_if(args.strict, {ASKS})",
        f"print(check, {ASKS})",
    ],
)
def test_a_function_that_does_not_insist_on_the_gpu(call: str) -> None:
    files = {"fit.py": f"import torch\nfrom kit import check, check_if, forbid, mention\n\n{call}\n", "kit.py": CHECKS}
    assert met(files)["assertions"] == []


def test_a_context_that_is_entered() -> None:
    code = """
        import contextlib
        import torch

        class Gpu:
            def __enter__(self):
                if not torch.cuda.is_available():
                    raise RuntimeError

        @contextlib.contextmanager
        def gpu():
            assert torch.cuda.device_count()
            yield

        """
    assert met({"fit.py": code + "with Gpu():\n            fit()\n"})["assertions"] == ["fit.py: not torch.cuda.is_available()"]
    assert met({"fit.py": code + "with gpu():\n            fit()\n"})["assertions"] == ["fit.py: assert torch.cuda.device_count()"]
    assert met({"fit.py": code + "guard = Gpu()\n"})["assertions"] == []


def test_the_top_level_of_an_imported_module_runs() -> None:
    files = {"fit.py": "import kit.checks\nimport kit.setup\n", "kit/checks.py": "import torch\nassert torch.cuda.is_available()\n"}
    assert met(files)["assertions"] == ["kit/checks.py: assert torch.cuda.is_available()"]
    files = {
        "fit.py": "from kit.sub import name\n",
        "kit/__init__.py": "import torch\nassert torch.cuda.is_available()\n",
        "kit/sub.py": "",
    }
    assert met(files)["assertions"] == ["kit/__init__.py: assert torch.cuda.is_available()"]


def test_the_main_guard_runs_only_in_the_entry_module() -> None:
    guarded = f'import torch\n\nif __name__ == "__main__":\n    {CHOICE}\n'
    assert len(met({"fit.py": guarded})["fallbacks"]) == 1
    assert met({"fit.py": "import other\n", "other.py": guarded})["fallbacks"] == []
    assert met({"fit.py": guarded + "def app(): ...\n"}, function="app")["fallbacks"] == []


def test_a_function_that_is_named_runs() -> None:
    code = f"import torch\n\ndef main():\n    {CHOICE}\n\ndef other():\n    torch.cuda.synchronize()\n"
    assert met({"fit.py": code}, function="main") == {
        "fallbacks": ['fit.py: "cuda" if torch.cuda.is_available() else "cpu"'],
        "assertions": [],
        "raising": [],
    }


@pytest.mark.parametrize(("length", "count"), [(DEPTH - 1, 1), (DEPTH, 0)])
def test_calls_are_followed_to_a_depth(length: int, count: int) -> None:
    chain = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(length))
    code = f"import torch\n{chain}def f{length}():\n    torch.cuda.synchronize()\n\nf0()\n"
    assert len(met({"fit.py": code})["raising"]) == count


def test_classes_constructors_and_methods() -> None:
    code = """
        import torch
        from kit.base import Base

        class Trainer(Base):
            def __init__(self):
                super().__init__()

            def fit(self):
                self.step()

            def step(self):
                torch.cuda.synchronize()

            def unused(self):
                torch.cuda.set_device(3)

        trainer = Trainer()
        trainer.fit()
    """
    base = "import torch\n\nclass Base:\n    def __init__(self):\n        self." + CHOICE + "\n"
    assert met({"fit.py": code, "kit/base.py": base}) == {
        "fallbacks": ['kit/base.py: "cuda" if torch.cuda.is_available() else "cpu"'],
        "assertions": [],
        "raising": ["fit.py: torch.cuda.synchronize()"],
    }


def test_methods_of_objects_that_were_handed_on() -> None:
    code = """
        import torch

        class Model:
            def load(self):
                torch.cuda.synchronize()

        def run(model):
            model.load()

        run(Model())
    """
    assert met({"fit.py": code})["raising"] == ["fit.py: torch.cuda.synchronize()"]


def test_methods_that_a_framework_calls() -> None:
    code = f"""
        import torch

        class Net(torch.nn.Module):
            def forward(self, x):
                {CHOICE}
                return x.to(device)

        Net()(x)
    """
    assert len(met({"fit.py": code})["fallbacks"]) == 1


def test_decorators_run_round_the_function() -> None:
    files = {
        "fit.py": "from kit.guard import needs_gpu\n\n@needs_gpu\ndef main(): ...\n\nmain()\n",
        "kit/guard.py": """
            import functools, torch

            def needs_gpu(function):
                @functools.wraps(function)
                def wrapper(*args):
                    if not torch.cuda.is_available():
                        raise RuntimeError
                    return function(*args)
                return wrapper
        """,
    }
    assert met(files)["assertions"] == ["kit/guard.py: not torch.cuda.is_available()"]


def test_properties_and_validators_run_with_their_object() -> None:
    code = f"""
        import torch

        class Settings:
            @property
            def device(self):
                {CHOICE}
                return device

        print(Settings().device)
    """
    assert len(met({"fit.py": code})["fallbacks"]) == 1


def test_a_helper_from_outside_refuses_as_its_name_says() -> None:
    code = "from kit.device import require_gpu\n\nrequire_gpu()\n"
    assert met({"fit.py": code})["raising"] == ["fit.py: require_gpu()"]
    lax = "import logging\n\ndef require_gpu():\n    logging.warning('none')\n"
    assert met({"fit.py": code, "kit/device.py": lax}) == {"fallbacks": [], "assertions": [], "raising": []}


def test_objects_of_other_modules() -> None:
    files = {
        "fit.py": "from kit.service import service\n\nservice.start()\n",
        "kit/service.py": "import torch\n\nclass Service:\n    def start(self):\n        torch.cuda.synchronize()\n\nservice = Service()\n",
    }
    assert met(files)["raising"] == ["kit/service.py: torch.cuda.synchronize()"]


def test_what_is_handed_to_a_runner_runs() -> None:
    code = "import threading, torch\n\ndef work():\n    torch.cuda.synchronize()\n\nthreading.Thread(target=work).start()\n"
    assert met({"fit.py": code})["raising"] == ["fit.py: torch.cuda.synchronize()"]


def test_a_handler_in_a_mapping() -> None:
    code = f'import runpod, torch\n\ndef run(job):\n    {CHOICE}\n\nrunpod.serverless.start({{"handler": run}})\n'
    assert len(met({"fit.py": code})["fallbacks"]) == 1


def test_a_server_that_is_run_by_name() -> None:
    files = {"fit.py": 'import uvicorn\nuvicorn.run("web.app:app")\n', "web/app.py": f"import torch\n{CHOICE}\napp = make()\n"}
    assert len(met(files)["fallbacks"]) == 1


# --- What counts ----------------------------------------------------------------------------------------------------------------


def test_an_assertion_in_a_helper_that_is_called() -> None:
    files = {"fit.py": "from kit.device import pick, require_gpu\n\nrequire_gpu()\npick()\n", "kit/device.py": PICK}
    assert met(files)["assertions"] == ["kit/device.py: not torch.cuda.is_available()"]
    assert program(files)[0].raises_without_cuda


def test_a_helper_that_a_handler_catches_asserts_nothing() -> None:
    code = 'from kit.device import require_gpu\n\ntry:\n    require_gpu()\nexcept RuntimeError:\n    device = "cpu"\n'
    found = met({"fit.py": code, "kit/device.py": PICK})
    assert found["assertions"] == []
    assert found["fallbacks"] == ['fit.py: "cpu"']


def test_a_call_that_only_runs_with_a_gpu_counts_for_nothing() -> None:
    code = "import torch\n\ndef tune():\n    torch.cuda.synchronize()\n\nif torch.cuda.is_available():\n    tune()\n"
    assert met({"fit.py": code})["raising"] == []


def test_raising_counts_only_where_it_certainly_runs() -> None:
    code = "import torch\n\ndef profile():\n    torch.cuda.synchronize()\n\nif options.profile:\n    profile()\n"
    found, _ = program({"fit.py": code})
    assert not found.raises_without_cuda


def test_an_assertion_under_a_switch_counts_but_is_not_certain() -> None:
    code = 'import os, torch\nif os.environ.get("REQUIRE_GPU") and not torch.cuda.is_available():\n    raise RuntimeError\n'
    found, _ = program({"fit.py": code})
    assert found.asserts_gpu
    assert not found.raises_without_cuda
    assert [assertion.gate for assertion in found.assertions] == [Gate.MAY]


@pytest.mark.parametrize("tail", ["sys.exit(main())", "main()", "raise SystemExit(main())"])
def test_a_return_where_the_program_started_is_a_refusal(tail: str) -> None:
    code = f"import sys, torch\n\ndef main():\n    if not torch.cuda.is_available():\n        return 1\n    net.cuda()\n\n{tail}\n"
    found = met({"fit.py": code})
    assert "fit.py: not torch.cuda.is_available()" in found["assertions"]
    assert found["fallbacks"] == []


def test_a_return_elsewhere_is_a_fallback() -> None:
    code = """
        import torch

        def move(net):
            if not torch.cuda.is_available():
                return
            net.cuda()

        def main():
            move(net)

        main()
    """
    found = met({"fit.py": code})
    assert found["assertions"] == []
    assert found["fallbacks"] == ["fit.py: not torch.cuda.is_available()"]


def test_choices_come_before_defaults_and_each_default_once() -> None:
    code = f"""
        import torch
        import jax.numpy as jnp

        def first():
            return jnp.ones(3)

        def second():
            return jnp.zeros(3)

        first()
        second()
        {CHOICE}
    """
    found, _ = program({"fit.py": code})
    assert [fallback.kind for fallback in found.fallbacks] == [FallbackKind.CHOICE, FallbackKind.DEFAULT]


def test_prefers_cuda_by_its_own_choice_only() -> None:
    assert program({"fit.py": f"import torch\n{CHOICE}\n"})[0].prefers_cuda
    assert not program({"fit.py": "import jax\njax.jit(f)\n"})[0].prefers_cuda
    assert not program({"fit.py": "import torch\nnet.cuda()\n"})[0].prefers_cuda


def test_a_library_that_is_told_to_use_the_cpu_falls_nowhere() -> None:
    assert met({"fit.py": 'import os\nos.environ["JAX_PLATFORMS"] = "cpu"\nimport jax\njax.jit(f)\n'})["fallbacks"] == []


@pytest.mark.parametrize(
    ("backend", "on_cpu"),
    [('"gloo"', True), ('backend="gloo"', True), ('"nccl"', False), ('"nccl" if torch.cuda.is_available() else "gloo"', False)],
)
def test_a_program_whose_processes_meet_on_the_cpu(backend: str, on_cpu: bool) -> None:
    found, _ = program({"fit.py": f"import torch\nimport torch.distributed as dist\ndist.init_process_group({backend})\n{CHOICE}\n"})
    assert found.fallbacks
    assert bool(found.on_cpu) is on_cpu


def test_a_program_that_hides_the_gpus_from_itself_falls_nowhere() -> None:
    assert met({"fit.py": f'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = ""\nimport torch\n{CHOICE}\n'})["fallbacks"] == []


def test_what_it_is_for() -> None:
    trains, _ = program(
        {"fit.py": "from kit.loop import run\n\nrun()\n", "kit/loop.py": "import torch\n\ndef run():\n    loss.backward()\n"}
    )
    assert trains.trains
    assert not trains.serves
    serves, _ = program({"fit.py": "import onnxruntime\nonnxruntime.InferenceSession(path)\n"})
    assert serves.serves
    assert not serves.trains


def test_settings_of_the_device_that_it_imports() -> None:
    files = {"serve.py": "import torch\nfrom config import DEVICE\n", "config.py": 'import os\n\nDEVICE = os.getenv("DEVICE", "cpu")\n'}
    found, tree = program(files, "serve.py")
    assert [(each.name, tree.text(each.location)) for each in found.device_defaults] == [("DEVICE", 'config.py: "cpu"')]


def test_imports_and_modules() -> None:
    found, tree = program({"fit.py": "import torch.nn\nfrom kit.device import pick\npick()\n", "kit/device.py": PICK})
    assert found.imports >= {"torch", "kit"}
    assert found.modules == ("fit.py", "kit/device.py")
    assert sorted(tree.parsed) == ["fit.py", "kit/device.py"]


# --- Where it starts ------------------------------------------------------------------------------------------------------------


def entry(files: dict[str, str], path: str = "fit.py", function: str = "") -> str:
    found, tree = program(files, path, function)
    return tree.text(found.entry) if found.entry else ""


def test_the_function_that_it_starts_with() -> None:
    assert entry({"fit.py": 'def check(): ...\n\ndef fit(): ...\n\nif __name__ == "__main__":\n    check()\n    fit()\n'}) == "fit.py: fit"
    assert entry({"fit.py": "from kit.cli import main\n\nmain()\n", "kit/cli.py": "def main(): ...\n"}) == "kit/cli.py: main"
    assert entry({"fit.py": "def load(): ...\n\nx = load()\nfor y in x:\n    print(y)\n"}) == ""
    assert entry({"fit.py": "def main(): ...\n"}, function="main") == "fit.py: main"


def test_the_function_that_a_server_starts_with() -> None:
    code = """
        from contextlib import asynccontextmanager
        from fastapi import FastAPI

        @asynccontextmanager
        async def lifespan(app):
            yield

        app = FastAPI(lifespan=lifespan)

        @app.get("/")
        def root(): ...
    """
    assert entry({"fit.py": code}, function="app") == "fit.py: lifespan"
    assert entry({"fit.py": "app = make()\n"}, function="app") == ""


def test_startup_handlers_assert_and_request_handlers_do_not() -> None:
    code = """
        import torch
        from fastapi import FastAPI

        app = FastAPI()

        @app.on_event("startup")
        def begin():
            assert torch.cuda.is_available()

        @app.get("/ready")
        def ready():
            assert torch.cuda.device_count() > 0
    """
    assert met({"fit.py": code}, function="app")["assertions"] == ["fit.py: assert torch.cuda.is_available()"]


def test_commands_and_tasks_assert() -> None:
    code = """
        import torch, typer

        app = typer.Typer()

        @app.command()
        def fit():
            assert torch.cuda.is_available()

        if __name__ == "__main__":
            app()
    """
    found, _ = program({"fit.py": code})
    assert found.asserts_gpu
    assert not found.raises_without_cuda


def test_a_request_meets_no_fallback_where_the_start_may_end() -> None:
    serve = """
        import torch
        from fastapi import FastAPI
        from settings import use_cpu
        {start}
        app = FastAPI()

        @app.post("/run")
        def run(text):
            device = "cuda" if torch.cuda.is_available() else "cpu"
            return model.to(device)(text)
    """
    assert program({"serve.py": serve.format(start="limit = None")}, "serve.py", "app")[0].fallbacks
    start = "limit = None if use_cpu else torch.cuda.mem_get_info()"
    assert not program({"serve.py": serve.format(start=start)}, "serve.py", "app")[0].fallbacks


def test_request_handlers_fall_back() -> None:
    code = f'import torch\nfrom flask import Flask\n\napp = Flask(__name__)\n\n@app.route("/")\ndef run():\n    {CHOICE}\n'
    assert len(met({"fit.py": code}, function="app")["fallbacks"]) == 1


@pytest.mark.parametrize(
    ("head", "name", "method"),
    [
        ("from cog import BasePredictor", "Predictor(BasePredictor)", "setup"),
        ("", "TritonPythonModel", "initialize"),
        ("from ts.torch_handler.base_handler import BaseHandler", "Handler(BaseHandler)", "initialize"),
    ],
)
def test_classes_that_a_model_server_starts(head: str, name: str, method: str) -> None:
    code = f"import torch\n{head}\n\nclass {name}:\n    def {method}(self, context):\n        {CHOICE}\n"
    found, tree = program({"fit.py": code})
    assert found.serves
    assert len(found.fallbacks) == 1
    assert found.entry is not None
    assert tree.text(found.entry) == f"fit.py: {method}"


# --- Bounds ---------------------------------------------------------------------------------------------------------------------


def test_no_program_where_the_module_cannot_be_read() -> None:
    assert read_program(PythonFiles({"fit.py": "print 'old'\n"}), "fit.py") is None
    assert read_program(PythonFiles({}), "fit.py") is None


def test_circles_end() -> None:
    files = {
        "fit.py": "import torch, other\n\ndef f():\n    other.g()\n\nf()\n",
        "other.py": "import torch, fit\nfrom fit import *\n\ndef g():\n    fit.f()\n\nclass A(B): ...\n\nclass B(A): ...\n\nA().run()\n",
    }
    assert met(files)["raising"] == []


def test_so_many_modules_are_read_and_no_more() -> None:
    files = {f"m{n}.py": f"import torch, m{n + 1}\n" for n in range(MOST_MODULES * 3)}
    found, tree = program(files, "m0.py")
    assert len(found.modules) == MOST_MODULES
    assert len(tree.parsed) <= MOST_MODULES + 1


def test_modules_without_a_word_of_a_gpu_are_not_parsed_for_their_top_level() -> None:
    _, tree = program({"fit.py": "import torch, kit.text\n", "kit/text.py": "x = 1\n"})
    assert tree.parsed == ["fit.py"]
