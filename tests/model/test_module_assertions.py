"""Where a Python module refuses to run without a GPU, in the forms that people write, and what only looks like it."""

from __future__ import annotations

import pytest
from module_reading import assertions, fallbacks, module_of, raising, scopes_of

from gpulint.model.module import AssertionKind, Gate

ASKS = "torch.cuda.is_available()"
HEAD = """
import os, shutil, subprocess, sys
import jax, onnxruntime, spacy, torch
import tensorflow as tf
from kit import require_gpu
"""


def noted(code: str) -> list[str]:
    return assertions(HEAD + code)


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("assert torch.cuda.is_available()", "assert torch.cuda.is_available()"),
        ('assert torch.cuda.is_available(), "no GPU"', 'assert torch.cuda.is_available(), "no GPU"'),
        ("assert torch.cuda.device_count() > 0", "assert torch.cuda.device_count() > 0"),
        ("assert torch.cuda.device_count() >= 2", "assert torch.cuda.device_count() >= 2"),
        ('assert jax.default_backend() == "gpu"', 'assert jax.default_backend() == "gpu"'),
        ('assert any(d.platform == "gpu" for d in jax.devices())', 'assert any(d.platform == "gpu" for d in jax.devices())'),
        ('assert tf.config.list_physical_devices("GPU")', 'assert tf.config.list_physical_devices("GPU")'),
        ('assert device.type == "cuda"', 'assert device.type == "cuda"'),
        ("assert use_cuda", "assert use_cuda"),
    ],
)
def test_an_assert_statement(code: str, place: str) -> None:
    assert noted(code) == [place]


@pytest.mark.parametrize(
    "body",
    [
        'raise RuntimeError("no GPU")',
        'sys.exit("no GPU")',
        "exit(1)",
        "quit()",
        "os._exit(2)",
        "raise SystemExit(1)",
        'log.critical("no GPU")\n    sys.exit(1)',
        'print("no GPU", file=sys.stderr)\n    raise typer.Exit(1)',
        'parser.error("no GPU")',
        'pytest.skip("no GPU")',
        'log.error("no GPU"); os._exit(1)',
        "with log.section():\n        raise RuntimeError",
    ],
)
def test_a_body_that_refuses(body: str) -> None:
    head = "import argparse, pytest, typer\nparser = argparse.ArgumentParser()\n"
    assert noted(f"{head}if not torch.cuda.is_available():\n    {body}\n") == [f"not {ASKS}"]


@pytest.mark.parametrize(
    "body",
    [
        'print("no GPU")',
        'log.warning("no GPU")',
        "pass",
        'device = "cpu"',
        "steps = 1",
        'log.error("no GPU")',
        'log.critical("no GPU")',
        'log.fatal("no GPU")',
        'RuntimeError("no GPU")',
        "sys.exit",
        'warnings.warn("no GPU")',
        'sys.stderr.write("no GPU")',
        "def stop():\n        sys.exit(1)",
    ],
)
def test_a_body_that_goes_on_is_none(body: str) -> None:
    assert noted(f"if not torch.cuda.is_available():\n    {body}\n") == []


@pytest.mark.parametrize(
    "test",
    [
        "torch.cuda.is_available() is False",
        "torch.cuda.is_available() == False",
        "torch.cuda.is_available() is not True",
        "(count := torch.cuda.device_count()) < 1",
        "torch.cuda.device_count() == 0",
        "torch.cuda.device_count() < 1",
        "torch.cuda.device_count() < args.gpus",
        "torch.cuda.device_count() != args.gpus",
        "not isinstance(trainer.accelerator, CUDAAccelerator)",
        'next(net.parameters()).device.type != "cuda"',
        "not next(net.parameters()).is_cuda",
        '"cuda" not in str(jax.devices()[0]).lower()',
        "args.gpus > torch.cuda.device_count()",
        "not torch.cuda.device_count()",
        "not (torch.cuda.is_available() and torch.cuda.device_count() > 0)",
        'jax.default_backend() != "gpu"',
        'jax.default_backend() == "cpu"',
        'jax.default_backend() not in ("gpu", "tpu")',
        'jax.devices()[0].platform == "cpu"',
        'not [d for d in jax.devices() if d.platform == "gpu"]',
        'not tf.config.list_physical_devices("GPU")',
        'len(tf.config.experimental.list_physical_devices("GPU")) == 0',
        "not tf.test.is_gpu_available()",
        "not spacy.prefer_gpu()",
        'session.get_providers()[0] != "CUDAExecutionProvider"',
        '"CUDAExecutionProvider" not in session.get_providers()',
        'shutil.which("nvidia-smi") is None',
        'not os.path.exists("/dev/nvidia0")',
        'subprocess.call(["nvidia-smi"]) != 0',
        'subprocess.run(["nvidia-smi", "-L"]).returncode != 0',
        'os.system("nvidia-smi > /dev/null")',
        'device == "cpu"',
        'device.type != "cuda"',
        'str(self.device) == "cpu"',
        'not args.device.startswith("cuda")',
        "not use_cuda",
        "n_gpu == 0",
        "not kit.has_gpu()",
    ],
)
def test_a_test_that_means_there_is_no_gpu(test: str) -> None:
    assert noted(f"if {test}:\n    raise RuntimeError\n") == [test]


@pytest.mark.parametrize(
    "test",
    [
        'device not in ("cuda", "cpu")',
        'device == "cuda"',
        "device is None",
        "device",
        "use_cuda",
        "gpu is None",
        "args.gpus > 8",
        "args.no_cuda",
        "not path",
        "torch.cuda.is_available()",
        '"CUDAExecutionProvider" not in onnxruntime.get_available_providers()',
        "torch.version.cuda is None",
        "not torch.backends.cuda.is_built()",
        "not isinstance(torch.cuda.is_available(), bool)",
        "len(devices) != 1",
    ],
)
def test_a_test_that_means_something_else_is_none(test: str) -> None:
    assert noted(f"if {test}:\n    raise RuntimeError\n") == []


def test_an_else_that_refuses() -> None:
    assert noted('if torch.cuda.is_available():\n    device = "cuda"\nelse:\n    raise RuntimeError\n') == [ASKS]
    chain = (
        'if torch.cuda.is_available():\n    d = "cuda"\nelif torch.backends.mps.is_available():\n    d = "mps"\nelse:\n    sys.exit(1)\n'
    )
    assert noted(chain) == [ASKS]
    assert fallbacks(HEAD + chain) == []


def test_a_switch_behind_the_return_of_the_gpu() -> None:
    code = """
def pick(require_gpu=True):
    if torch.cuda.is_available():
        return torch.device("cuda")
    if require_gpu:
        raise RuntimeError
    return torch.device("cpu")
"""
    assert noted(code) == ["require_gpu"]
    assert noted(code.replace("raise RuntimeError", 'print("no GPU")')) == []
    assert noted(code.replace("torch.cuda.is_available()", "args.fast")) == []


def test_a_chain_that_knows_the_cpu_refuses_only_what_it_does_not_know() -> None:
    assert noted('if device == "cpu":\n    n = 1\nelif device == "cuda":\n    n = 2\nelse:\n    raise ValueError\n') == []
    assert noted('if device == "cuda":\n    n = 2\nelse:\n    raise ValueError\n') == ['device == "cuda"']


def test_variables_hold_the_answer() -> None:
    assert noted("ready = torch.cuda.is_available()\nif not ready:\n    raise RuntimeError\n") == ["not ready"]
    assert noted("count = torch.cuda.device_count()\nif count == 0:\n    raise RuntimeError\n") == ["count == 0"]
    assert noted("if not (ready := torch.cuda.is_available()):\n    raise RuntimeError\n") == [f"not (ready := {ASKS})"]
    picked = 'device = "cuda" if torch.cuda.is_available() else "cpu"\nif device == "cpu":\n    raise RuntimeError\n'
    assert noted(picked) == ['device == "cpu"']
    gpus = 'gpus = tf.config.list_physical_devices("GPU")\nif not gpus:\n    raise RuntimeError\n'
    assert noted(gpus) == ["not gpus"]


def test_variables_stand_for_modules_and_functions() -> None:
    assert noted("cuda = torch.cuda\nif not cuda.is_available():\n    raise RuntimeError\n") == ["not cuda.is_available()"]
    assert noted("ready = torch.cuda.is_available\nif not ready():\n    raise RuntimeError\n") == ["not ready()"]
    assert noted("ready = lambda: torch.cuda.is_available()\nif not ready():\n    raise RuntimeError\n") == ["not ready()"]


def test_what_is_always_true_asks_nothing() -> None:
    assert noted('assert (torch.cuda.is_available(), "no GPU")') == []
    assert noted('assert "torch.cuda.is_available()"') == []


def test_a_function_that_is_not_called_asks_nothing() -> None:
    assert noted("if not torch.cuda.is_available:\n    raise RuntimeError\n") == []
    assert noted("assert torch.cuda.is_available") == []
    assert noted("assert torch.version.cuda") == []


def test_a_list_that_is_filled_once_for_each_gpu() -> None:
    code = "names = []\nfor n in range(torch.cuda.device_count()):\n    names.append(n)\nif not names:\n    raise RuntimeError\n"
    assert noted(code) == ["not names"]
    assert noted("names = []\nnames.append(1)\nif not names:\n    raise RuntimeError\n") == []


def test_an_expression_that_refuses() -> None:
    assert noted('torch.cuda.is_available() or sys.exit("no GPU")') == [f'{ASKS} or sys.exit("no GPU")']


@pytest.mark.parametrize(
    "code",
    [
        'None if torch.cuda.is_available() else sys.exit("no GPU")',
        "sys.exit(1) if not torch.cuda.is_available() else None",
        'device = "cuda" if torch.cuda.is_available() else sys.exit("no GPU")',
    ],
)
def test_a_conditional_expression_that_refuses(code: str) -> None:
    assert noted(code) == [code.removeprefix("device = ")]
    assert fallbacks(HEAD + code) == []


def test_a_conditional_expression_that_only_makes_an_exception_is_none() -> None:
    assert noted('error = None if torch.cuda.is_available() else RuntimeError("no GPU")') == []


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("match torch.cuda.is_available():\n    case False:\n        raise RuntimeError\n", "False"),
        ("match torch.cuda.is_available():\n    case True:\n        pass\n    case _:\n        sys.exit(1)\n", "True"),
        ("match torch.cuda.device_count():\n    case 0:\n        raise RuntimeError\n    case n:\n        fit(n)\n", "0"),
        ('match device:\n    case "cpu" | "mps":\n        raise RuntimeError\n', '"cpu" | "mps"'),
        ("match mode:\n    case _ if not torch.cuda.is_available():\n        raise RuntimeError\n", f"not {ASKS}"),
    ],
)
def test_a_match_that_refuses(code: str, place: str) -> None:
    assert noted(code) == [place]


@pytest.mark.parametrize(
    "code",
    [
        'match torch.cuda.is_available():\n    case False:\n        print("no GPU")\n',
        'match command:\n    case "fit":\n        fit()\n    case _:\n        raise ValueError\n',
        'match device:\n    case "cuda" | "cpu":\n        pass\n    case _:\n        raise ValueError\n',
        "match torch.cuda.is_available():\n    case True:\n        raise RuntimeError\n",
        "match items:\n    case [first, *_]:\n        pass\n    case _:\n        raise ValueError\n",
    ],
)
def test_a_match_that_means_something_else_is_none(code: str) -> None:
    assert noted(code) == []


def test_a_match_that_chooses() -> None:
    code = 'match torch.cuda.is_available():\n    case True:\n        device = "cuda"\n    case _:\n        device = "cpu"\n'
    assert fallbacks(HEAD + code) == ['"cpu"']


def test_an_exit_code_that_says_there_is_no_gpu() -> None:
    code = """
def run():
    if not torch.cuda.is_available():
        return 2
    fit()
    return 0

def main():
    return run()

sys.exit(main())
"""
    assert noted(code)[0] == "sys.exit(main())"
    assert noted("sys.exit(0 if torch.cuda.is_available() else 1)") == [f"sys.exit(0 if {ASKS} else 1)"]
    assert noted("sys.exit(1 if torch.cuda.is_available() else 0)") == []
    assert noted("raise SystemExit(0 if torch.cuda.is_available() else 1)") == [f"SystemExit(0 if {ASKS} else 1)"]
    assert noted("raise SystemExit(1 if torch.cuda.is_available() else 0)") == []


def test_a_loop_that_waits_for_a_gpu() -> None:
    assert noted("while not torch.cuda.is_available():\n    time.sleep(1)\n") == [f"not {ASKS}"]
    assert noted("while not torch.cuda.is_available():\n    if late():\n        break\n") == []


RETRY = "    if torch.cuda.is_available():\n        break\n    time.sleep(1)\n"


def test_a_loop_that_looks_again_and_gives_up() -> None:
    assert noted(f"for _ in range(5):\n{RETRY}else:\n    raise RuntimeError\n") == ["raise RuntimeError"]
    assert noted(f"while True:\n{RETRY}") == ["True"]
    assert noted(f"for _ in range(5):\n{RETRY}fit()\n") == []
    assert noted(f'for _ in range(5):\n{RETRY}else:\n    print("no GPU")\n') == []
    assert noted("for item in items:\n    if item:\n        break\nelse:\n    raise RuntimeError\n") == []


def test_a_list_of_faults() -> None:
    asked = "if not torch.cuda.is_available():\n    faults.append('no GPU')\n"
    assert noted(f"faults = []\n{asked}if faults:\n    raise RuntimeError(faults)\n") == ["faults"]
    assert noted(f"faults = []\n{asked}if faults:\n    print(faults)\n") == []
    assert noted("faults = []\nif not path:\n    faults.append('no path')\nif faults:\n    raise RuntimeError(faults)\n") == []


def test_a_table_of_checks() -> None:
    table = 'checks = {"gpu": torch.cuda.is_available(), "data": path.exists()}\n'
    assert noted(f"{table}if not all(checks.values()):\n    sys.exit(1)\n") == ["not all(checks.values())"]
    assert noted(f"{table}for name, found in checks.items():\n    if not found:\n        sys.exit(name)\n") == ["not found"]
    assert noted(f"{table}for name, found in checks.items():\n    if not found:\n        print(name)\n") == []


def test_assertions_of_libraries() -> None:
    assert raising(f'{HEAD}torch._assert(torch.cuda.is_available(), "no GPU")') == ['torch._assert(torch.cuda.is_available(), "no GPU")']
    assert raising(f"{HEAD}import numpy as np\nnp.testing.assert_(torch.cuda.is_available())") != []
    assert raising(f"{HEAD}torch._assert(x.shape[0] == 3)") == []


def test_functions_of_the_same_file_that_refuse_or_answer() -> None:
    code = """
def die(message):
    print(message)
    sys.exit(1)

def has_gpu():
    return torch.cuda.is_available()

def pick():
    return "cuda" if torch.cuda.is_available() else "cpu"

def first():
    if not torch.cuda.is_available():
        die("no GPU")

def second():
    if not has_gpu():
        raise RuntimeError

def third():
    device = pick()
    if device == "cpu":
        raise RuntimeError
"""
    assert noted(code) == [f"not {ASKS}", "not has_gpu()", 'device == "cpu"']


@pytest.mark.parametrize(
    ("code", "places"),
    [
        (
            'if os.environ.get("REQUIRE_GPU") == "1" and not torch.cuda.is_available():\n    raise RuntimeError\n',
            ['os.environ.get("REQUIRE_GPU") == "1" and not torch.cuda.is_available()'],
        ),
        (
            'if os.environ.get("REQUIRE_GPU", "0") == "1":\n    if not torch.cuda.is_available():\n        raise RuntimeError\n',
            [f"not {ASKS}"],
        ),
        (
            'if not torch.cuda.is_available():\n    if os.getenv("ALLOW_CPU") != "1":\n        raise RuntimeError\n    device = "cpu"\n',
            [f"not {ASKS}", 'os.getenv("ALLOW_CPU") != "1"'],
        ),
        ('if args.device == "cuda" and not torch.cuda.is_available():\n    raise ValueError\n', ['args.device == "cuda" and not ' + ASKS]),
        ("assert args.allow_cpu or torch.cuda.is_available()", [f"assert args.allow_cpu or {ASKS}"]),
    ],
)
def test_a_switch_that_asks_for_the_gpu(code: str, places: list[str]) -> None:
    assert noted(code) == places
    assert {assertion.gate for scope in scopes_of(HEAD + code) for assertion in scope.assertions} == {Gate.MAY}


@pytest.mark.parametrize(
    "code",
    [
        "if args.fp16 and not torch.cuda.is_available():\n    raise ValueError\n",
        "if args.debug:\n    assert torch.cuda.is_available()\n",
        'if os.getenv("DEBUG") == "1":\n    assert torch.cuda.is_available()\n',
        'if os.environ["JOB_DEBUG"]:\n    assert torch.cuda.is_available()\n',
        "if local_rank != -1:\n    assert torch.cuda.device_count() > local_rank\n",
        'if args.bf16 and device == "cpu":\n    raise ValueError\n',
    ],
)
def test_a_switch_that_is_about_something_else(code: str) -> None:
    assert noted(code) == []


def test_an_option_whose_default_falls_back_is_never_refused() -> None:
    code = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()
if args.device == "cuda" and not torch.cuda.is_available():
    raise ValueError
"""
    assert noted(code) == []


def test_an_option_whose_default_is_cuda_is_refused() -> None:
    code = """
import argparse

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    return parser.parse_args()

def main():
    args = options()
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError
"""
    (assertion,) = module_of(HEAD + code).scopes["main"].assertions
    assert assertion.gate is Gate.RUNS


def test_a_request_that_may_be_left_out_asserts_nothing() -> None:
    code = """
def select(requested=""):
    if requested:
        assert torch.cuda.is_available()
        return torch.device(requested)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")

def validate(device=None):
    if device is not None:
        assert torch.cuda.is_available()
"""
    assert noted(code) == ["assert torch.cuda.is_available()"]
    assert module_of(HEAD + code).scopes["select"].assertions == ()


def test_a_handler_that_goes_on_takes_it_back() -> None:
    assert noted('try:\n    assert torch.cuda.is_available()\nexcept AssertionError:\n    print("none")\ntrain()\n') == []
    assert noted("try:\n    assert torch.cuda.is_available()\nexcept ImportError:\n    pass\n") == ["assert torch.cuda.is_available()"]
    passed_on = "try:\n    assert torch.cuda.is_available()\nexcept AssertionError:\n    print()\n    raise\n"
    assert noted(passed_on) == ["assert torch.cuda.is_available()"]
    whole = "try:\n    assert torch.cuda.is_available()\n    train()\nexcept Exception as error:\n    log.error(error)\n"
    assert noted(whole) == ["assert torch.cuda.is_available()"]


def test_a_with_that_suppresses_takes_it_back() -> None:
    assert noted("import contextlib\nwith contextlib.suppress(AssertionError):\n    assert torch.cuda.is_available()\n") == []
    kept = "import contextlib\nwith contextlib.suppress(ImportError):\n    assert torch.cuda.is_available()\n"
    assert noted(kept) == ["assert torch.cuda.is_available()"]


def test_a_call_that_a_handler_catches_is_marked() -> None:
    (scope,) = scopes_of('from kit import require_gpu\ntry:\n    require_gpu()\nexcept RuntimeError:\n    print("none")\ntrain()\n')
    assert [call.caught for call in scope.calls if call.name == "kit.require_gpu"] == [True]


def test_a_refusal_by_return_value() -> None:
    code = "def main():\n    if not torch.cuda.is_available():\n        return 1\n    fit()\n"
    (assertion,) = module_of(HEAD + code).scopes["main"].assertions
    assert assertion.kind is AssertionKind.RETURN


def test_how_surely_it_refuses_and_what_it_asks() -> None:
    (assertion,) = module_of(HEAD + "if not torch.cuda.is_available():\n    raise RuntimeError\n").top.assertions
    assert (assertion.kind, assertion.subject, assertion.gate) == (AssertionKind.REFUSAL, "torch.cuda.is_available", Gate.RUNS)
    (assertion,) = module_of(HEAD + 'assert device.type == "cuda"\n').top.assertions
    assert (assertion.kind, assertion.gate) == (AssertionKind.ASSERT, Gate.MAY)


def test_nothing_behind_a_certain_refusal_runs_without_a_gpu() -> None:
    code = """
def check():
    if not torch.cuda.is_available():
        raise RuntimeError

def main():
    check()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net.cuda()
"""
    assert fallbacks(HEAD + code) == []
    assert raising(HEAD + code) == []


def test_places_behind_other_letters() -> None:
    assert noted('größe = "ü"; assert torch.cuda.is_available(), "kein Gerät"\n') == ['assert torch.cuda.is_available(), "kein Gerät"']
