"""Where a Python module goes on with the CPU: its own choices, libraries' defaults, handlers; and what only looks so."""

from __future__ import annotations

import pytest
from module_reading import fallbacks, module_of, scopes_of, texts

from gpulint.model.module import FallbackKind

ASKS = "torch.cuda.is_available()"


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ('device = torch.device("cuda" if torch.cuda.is_available() else "cpu")', f'"cuda" if {ASKS} else "cpu"'),
        ('device = "cpu" if not torch.cuda.is_available() else "cuda"', f'"cpu" if not {ASKS} else "cuda"'),
        ('device = f"cuda:{rank}" if torch.cuda.is_available() else "cpu"', 'f"cuda:{rank}" if ' + ASKS + ' else "cpu"'),
        (
            'device = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")',
            f'torch.device("cuda", rank) if {ASKS} else torch.device("cpu")',
        ),
        ('device = "cuda" if torch.cuda.device_count() > 0 else "cpu"', '"cuda" if torch.cuda.device_count() > 0 else "cpu"'),
        ('device = "cuda" if torch.cuda.device_count() else "cpu"', '"cuda" if torch.cuda.device_count() else "cpu"'),
        ('device = "cuda" if args.gpu and torch.cuda.is_available() else "cpu"', f'"cuda" if args.gpu and {ASKS} else "cpu"'),
        ('device = "cpu" if args.cpu or not torch.cuda.is_available() else "cuda"', f'"cpu" if args.cpu or not {ASKS} else "cuda"'),
        ('device = torch.cuda.is_available() and "cuda" or "cpu"', f'{ASKS} and "cuda" or "cpu"'),
        ('device = ["cpu", "cuda"][torch.cuda.is_available()]', f'["cpu", "cuda"][{ASKS}]'),
        ('device = {True: "cuda", False: "cpu"}[torch.cuda.is_available()]', '{True: "cuda", False: "cpu"}[' + ASKS + "]"),
        (
            'kind, backend = ("cuda", "nccl") if torch.cuda.is_available() else ("cpu", "gloo")',
            f'("cuda", "nccl") if {ASKS} else ("cpu", "gloo")',
        ),
        ("net = net.cuda() if torch.cuda.is_available() else net", f"net.cuda() if {ASKS} else net"),
        ("run = make(device=0 if torch.cuda.is_available() else -1)", f"0 if {ASKS} else -1"),
        ("run = make(gpus=1 if torch.cuda.is_available() else 0)", f"1 if {ASKS} else 0"),
        ("reader = make(use_gpu=torch.cuda.is_available())", ASKS),
        ("args.cuda = args.cuda and torch.cuda.is_available()", f"args.cuda and {ASKS}"),
        ("args.cuda = not args.no_cuda and torch.cuda.is_available()", f"not args.no_cuda and {ASKS}"),
        (
            'device = torch.accelerator.current_accelerator() or torch.device("cpu")',
            'torch.accelerator.current_accelerator() or torch.device("cpu")',
        ),
        (
            'device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"',
            'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"',
        ),
        ('weights = torch.load(path, map_location=None if torch.cuda.is_available() else "cpu")', f'None if {ASKS} else "cpu"'),
        ("xp = cupy if cupy.cuda.is_available() else numpy", "cupy if cupy.cuda.is_available() else numpy"),
        ('device = "cuda" if (seen := torch.cuda.is_available()) else "cpu"', f'"cuda" if (seen := {ASKS}) else "cpu"'),
    ],
)
def test_a_choice_by_expression(code: str, place: str) -> None:
    assert fallbacks(f"import cupy, numpy, torch\n{code}\n") == [place]


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ('if torch.cuda.is_available():\n    device = "cuda"\nelse:\n    device = "cpu"\n', '"cpu"'),
        ('device = "cpu"\nif torch.cuda.is_available():\n    device = "cuda:0"\n', ASKS),
        ('device = "cuda"\nif not torch.cuda.is_available():\n    device = "cpu"\n', '"cpu"'),
        ("if torch.cuda.is_available():\n    net.cuda()\n", ASKS),
        ('if torch.cuda.is_available():\n    net.to("cuda")\n', ASKS),
        ("use_cuda = torch.cuda.is_available()\nif use_cuda:\n    net.cuda()\n", "use_cuda"),
        ('use_cuda = torch.cuda.is_available()\ndevice = "cuda" if use_cuda else "cpu"\n', '"cuda" if use_cuda else "cpu"'),
        ("if torch.cuda.is_available():\n    device = 0\nelse:\n    device = -1\n", "-1"),
        ('if wanted == "cuda" and not torch.cuda.is_available():\n    log.warning("none")\n    wanted = "cpu"\n', '"cpu"'),
        (
            'if torch.cuda.is_available():\n    d = "cuda"\nelif torch.backends.mps.is_available():\n    d = "mps"\nelse:\n    d = "cpu"\n',
            '"cpu"',
        ),
        ('if args.cpu:\n    d = "cpu"\nelif torch.cuda.is_available():\n    d = "cuda"\nelse:\n    d = torch.device("cpu")\n', '"cpu"'),
        ('if torch.cuda.is_available():\n    torch.set_default_tensor_type("torch.cuda.FloatTensor")\n', ASKS),
    ],
)
def test_a_choice_by_statement(code: str, place: str) -> None:
    assert fallbacks(f"import torch\n{code}") == [place]


def test_an_early_return_in_a_function_that_picks() -> None:
    code = """
        import torch

        def pick():
            if torch.cuda.is_available():
                return torch.device("cuda")
            return torch.device("cpu")

        def choose():
            if not torch.cuda.is_available():
                return "cpu"
            return "cuda"

        def move(net):
            if not torch.cuda.is_available():
                return net
            return net.cuda()
    """
    assert fallbacks(code) == ['"cpu"', '"cpu"', f"not {ASKS}"]


def test_a_return_of_nothing_is_a_fallback_of_its_own_kind() -> None:
    code = "import torch\n\ndef move(net):\n    if not torch.cuda.is_available():\n        return\n    net.cuda()\n"
    (fallback,) = module_of(code).scopes["move"].fallbacks
    assert fallback.kind is FallbackKind.RETURN


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ('try:\n    net.cuda()\nexcept RuntimeError:\n    device = "cpu"\n', '"cpu"'),
        ('try:\n    net = net.to("cuda")\nexcept Exception as error:\n    print(error)\n    net = net.to("cpu")\n', '"cpu"'),
        ("try:\n    net.cuda()\nexcept:\n    pass\nfit(net)\n", "except:"),
        ("try:\n    require_gpu()\nexcept SystemExit:\n    options.use_gpu = False\n", "False"),
        ('try:\n    gpu = jax.devices("gpu")[0]\nexcept RuntimeError:\n    gpu = jax.devices("cpu")[0]\n', '"cpu"'),
    ],
)
def test_a_handler_that_goes_on(code: str, place: str) -> None:
    whole = f"import torch, jax\nfrom kit import require_gpu\n{code}"
    noted = [fallback for scope in scopes_of(whole) for fallback in scope.fallbacks]
    assert [fallback.kind for fallback in noted] == [FallbackKind.HANDLER]
    assert texts(whole, noted) == [place]


@pytest.mark.parametrize(
    "code",
    [
        "import jax.numpy as jnp\nx = jnp.ones(3)",
        "import optax\nstep = optax.adam(1e-3)",
        "from lightning import Trainer\ntrainer = Trainer(max_epochs=3)",
        'import pytorch_lightning as pl\ntrainer = pl.Trainer(accelerator="auto", devices=4)',
        "from lightning.fabric import Fabric\nfabric = Fabric()",
        "from accelerate import Accelerator\naccelerator = Accelerator()",
        'from accelerate import Accelerator\naccelerator = Accelerator(mixed_precision="bf16")',
        "from transformers import Trainer\ntrainer = Trainer(model)",
        'from transformers import pipeline\nrun = pipeline("summarization")',
        "from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer(path)",
        'from ultralytics import YOLO\nmodel = YOLO(path)\nmodel.train(data="d.yaml")',
        "from ultralytics import YOLO\nfound = YOLO(path).predict(image)",
        "import tensorflow as tf\nmodel.fit(x, y)",
        "import keras\nmodel = keras.models.load_model(path)",
        "import onnxruntime as ort\nsession = ort.InferenceSession(path)",
        "import torch.distributed as dist\ndist.init_process_group()",
        "import whisper\nmodel = whisper.load_model(size)",
        "from faster_whisper import WhisperModel\nmodel = WhisperModel(size)",
        'from faster_whisper import WhisperModel\nmodel = WhisperModel(size, device="auto")',
        'import easyocr\nreader = easyocr.Reader(["en"])',
        'import stanza\nnlp = stanza.Pipeline("en")',
    ],
)
def test_a_default_that_is_silent(code: str) -> None:
    (fallback,) = [fallback for scope in scopes_of(code) for fallback in scope.fallbacks]
    assert fallback.kind is FallbackKind.DEFAULT
    assert fallback.then
    assert fallback.framework


@pytest.mark.parametrize(
    "code",
    [
        'from transformers import pipeline\nrun = pipeline("summarization", device=0)',
        'from transformers import AutoModel\nmodel = AutoModel.from_pretrained(path, device_map="auto")',
        'import onnxruntime\nsession = onnxruntime.InferenceSession(path, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])',
        'import onnxruntime\nsession = onnxruntime.InferenceSession(path, None, [("CUDAExecutionProvider", {"device_id": 0})])',
        "import onnxruntime\nsession = onnxruntime.InferenceSession(path, providers=onnxruntime.get_available_providers())",
        'import xgboost as xgb\nmodel = xgb.XGBClassifier(device="cuda")',
        'import xgboost as xgb\nsettings = {"device": "cuda:0"}\nmodel = xgb.train(settings, data)',
        'import tensorflow as tf\nwith tf.device("/GPU:0"):\n    x = tf.zeros(3)',
        "import spacy\nspacy.prefer_gpu()",
        "from llama_cpp import Llama\nmodel = Llama(path, n_gpu_layers=-1)",
        'import ctranslate2\nmodel = ctranslate2.Translator(path, device="auto")',
    ],
)
def test_a_gpu_that_is_named_and_silently_not_taken(code: str) -> None:
    (fallback,) = [fallback for scope in scopes_of(code) for fallback in scope.fallbacks]
    assert fallback.kind is FallbackKind.CHOICE
    assert fallback.then


def test_a_default_is_noted_once_a_scope() -> None:
    code = "import jax.numpy as jnp\nx = jnp.ones(3)\ny = jnp.zeros(3)\n"
    assert fallbacks(code) == ["jnp.ones(3)"]


@pytest.mark.parametrize(
    "code",
    [
        "if torch.cuda.is_available():\n    torch.cuda.empty_cache()\n",
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed_all(seed)\n    torch.backends.cudnn.benchmark = True\n",
        'if torch.cuda.is_available():\n    stats["gpu"] = torch.cuda.max_memory_allocated("cuda")\n',
        'if torch.cuda.is_available():\n    print("cuda", torch.cuda.get_device_name(0))\nelse:\n    print("cpu")\n',
        'if not torch.cuda.is_available():\n    logger.warning("slow: no cuda, only cpu")\n',
        "if not torch.cuda.is_available():\n    torch.set_num_threads(8)\n",
        'print("cuda" if torch.cuda.is_available() else "cpu")',
        "logger.info(f\"running on {'cuda' if torch.cuda.is_available() else 'cpu'}\")",
        'name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "CPU"',
        "size = 64 if torch.cuda.is_available() else 8",
        "kind = torch.float16 if torch.cuda.is_available() else torch.float32",
        "count = torch.cuda.device_count() if torch.cuda.is_available() else 0",
        "if torch.cuda.is_available():\n    ngpus = torch.cuda.device_count()\nelse:\n    ngpus = 0\n",
        "loader = DataLoader(data, pin_memory=torch.cuda.is_available())",
        "report = Status(gpu_available=torch.cuda.is_available())",
        'device = "cuda" if args.cuda else "cpu"',
        'device = "cuda:1" if torch.cuda.device_count() > 1 else "cuda:0"',
        'device = "cuda"',
        "has_cuda = torch.cuda.is_available()",
        'if device == "cpu":\n    steps = 1\n',
    ],
)
def test_what_chooses_no_device_is_none(code: str) -> None:
    assert fallbacks(f"import torch\n{code}\n") == []


def test_a_health_report_chooses_nothing() -> None:
    code = 'import torch\n\ndef health():\n    return {"ok": True, "device": "cuda" if torch.cuda.is_available() else "cpu"}\n'
    assert fallbacks(code) == []


@pytest.mark.parametrize(
    "code",
    [
        'from lightning import Trainer\ntrainer = Trainer(accelerator="cpu")',
        "from accelerate import Accelerator\naccelerator = Accelerator(cpu=True)",
        'from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer(path, device="cpu")',
        'from transformers import pipeline\nrun = pipeline("summarization", device=-1)',
        'import onnxruntime\nsession = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])',
        "import whisper\nmodel = whisper.load_model(size, device=device)",
        "from lightning import Trainer\ntrainer = Trainer(**settings)",
        "import jax\nprint(jax.devices())",
        "from llama_cpp import Llama\nmodel = Llama(path)",
    ],
)
def test_a_device_that_is_chosen_or_unknown_falls_nowhere(code: str) -> None:
    assert fallbacks(code) == []


def test_frameworks_that_are_told_to_use_the_cpu() -> None:
    (scope,) = scopes_of('import jax\njax.config.update("jax_platforms", "cpu")\n')
    assert scope.on_cpu == {"jax"}
    (scope,) = scopes_of('import os\nos.environ["JAX_PLATFORMS"] = "cpu"\n')
    assert scope.on_cpu == {"jax"}
    (scope,) = scopes_of('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "-1"\n')
    assert scope.on_cpu == {"*"}


def test_a_choice_by_the_answer_is_no_order_to_use_the_cpu() -> None:
    code = "import torch\nfrom accelerate import Accelerator\naccelerator = Accelerator(cpu=not torch.cuda.is_available())\n"
    (scope,) = scopes_of(code)
    assert scope.on_cpu == frozenset()


def test_switches_that_overrule_a_choice() -> None:
    code = """
        import argparse, os
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("-d", "--device", default="cuda" if torch.cuda.is_available() else "cpu")
        kind = os.getenv("JOB_DEVICE", "cuda" if torch.cuda.is_available() else "cpu")
    """
    (scope,) = scopes_of(code)
    assert [fallback.switches for fallback in scope.fallbacks] == [("-d", "--device"), ("$JOB_DEVICE",)]


def test_aliases_lead_to_the_same_name() -> None:
    code = """
        import torch as t
        import torch.cuda as tc
        from torch import cuda
        from torch import cuda as gpu, device as place
        from torch.cuda import is_available as ready

        a = "cuda" if t.cuda.is_available() else "cpu"
        b = "cuda" if tc.is_available() else "cpu"
        c = "cuda" if cuda.is_available() else "cpu"
        d = place("cuda" if gpu.is_available() else "cpu")
        e = "cuda" if ready() else "cpu"
    """
    assert len(fallbacks(code)) == 5


def test_a_helper_of_the_same_file_answers_for_itself() -> None:
    code = """
        import torch

        def has_gpu():
            return torch.cuda.is_available()

        def works():
            try:
                torch.zeros(1).cuda()
                return True
            except RuntimeError:
                return False

        first = "cuda" if has_gpu() else "cpu"
        second = "cuda" if works() else "cpu"
    """
    assert fallbacks(code) == ['"cuda" if has_gpu() else "cpu"', '"cuda" if works() else "cpu"']


def test_a_helper_from_elsewhere_answers_by_its_name() -> None:
    assert fallbacks('from kit.gpu import has_gpu\ndevice = "cuda" if has_gpu() else "cpu"\n') == ['"cuda" if has_gpu() else "cpu"']
    assert fallbacks('from kit.text import has_title\ndevice = "cuda" if has_title() else "cpu"\n') == []


def test_attributes_carry_the_answer_to_other_methods() -> None:
    code = """
        import torch

        class Runner:
            def __init__(self):
                self.use_cuda = torch.cuda.is_available()

            def load(self, net):
                if self.use_cuda:
                    net = net.cuda()
                return net
    """
    assert fallbacks(code) == ["self.use_cuda"]


def test_class_bodies_and_default_values_run_where_they_stand() -> None:
    code = """
        import torch

        class Settings:
            device = "cuda" if torch.cuda.is_available() else "cpu"

        def load(path, device="cuda" if torch.cuda.is_available() else "cpu"):
            return torch.load(path, map_location=device)
    """
    module = module_of(code)
    assert len(module.top.fallbacks) == 2
    assert not module.scopes["load"].raising


def test_places_behind_other_letters() -> None:
    code = 'import torch\ngröße, gerät = "ü", "cuda" if torch.cuda.is_available() else "cpu"\n'
    assert fallbacks(code) == ['"cuda" if torch.cuda.is_available() else "cpu"']


@pytest.mark.parametrize(
    "code",
    [
        'device = "cuda"\n' + "device = device + device\n" * 64,
        'device = "cuda"\n' + 'device = f"{device}{device}"\n' * 64,
        "x = y = [1]\n" + "x = [x, x]\ny = [y, y]\n" * 64 + 'if x == y:\n    device = f"{x}"\n',
        "x = {1: 1}\n" + "x = {1: x, 2: x}\n" * 64 + 'device = f"{x}"\n',
        f"device = -0x{'9' * 10_000}\n",
        f'device = f"{{0x{"9" * 10_000}}}"\n',
        "if int(1e999): device = 1\n",
        "def main():\n    if not torch.cuda.is_available(): return\n" * 3000,
        "if a: pass\n" + "elif torch.cuda.is_available(): pass\n" * 700,
        "if a: pass\n" + 'elif a: device = "cpu"\n' * 700,
    ],
)
def test_values_that_grow_without_end_are_not_followed(code: str) -> None:
    assert scopes_of("import torch\n" + code)
