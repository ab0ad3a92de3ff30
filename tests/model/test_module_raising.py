"""What raises by itself without a GPU: only what certainly runs there."""

from __future__ import annotations

import pytest
from module_reading import module_of, raising, scopes_of

from gpulint.model.module import Gate

HEAD = "import torch\n"


@pytest.mark.parametrize(
    "code",
    [
        "net.cuda()",
        'net.to("cuda")',
        'net.to(torch.device("cuda", rank))',
        'net.to(f"cuda:{rank}")',
        'net.to("cuda:" + str(rank))',
        'net.to("cuda:%d" % rank)',
        'net.to("cuda:{}".format(rank))',
        "net.to(0)",
        'x = torch.zeros(3, device="cuda")',
        'w = torch.load(path, map_location="cuda")',
        "torch.cuda.set_device(rank)",
        "name = torch.cuda.get_device_name(0)",
        "torch.cuda.synchronize()",
        'torch.distributed.init_process_group("nccl")',
        'torch.distributed.init_process_group(backend="nccl", rank=rank)',
        'device = "cuda"\nnet.to(device)',
        'import jax\ngpu = jax.devices("gpu")',
        'import jax\njax.config.update("jax_platforms", "cuda")',
        'import os\nos.environ["JAX_PLATFORMS"] = "cuda"',
        'import lightning as L\ntrainer = L.Trainer(accelerator="gpu")',
        "import pytorch_lightning as pl\ntrainer = pl.Trainer(gpus=2)",
        'from accelerate import Accelerator\naccelerator = Accelerator(mixed_precision="fp16")',
        "from transformers import TrainingArguments\narguments = TrainingArguments(out, bf16=True)",
        'from transformers import pipeline\nrun = pipeline("summarization", device="cuda:0")',
        'from transformers import AutoModel\nmodel = AutoModel.from_pretrained(path, device_map="cuda")',
        'from transformers import AutoModel\nmodel = AutoModel.from_pretrained(path, device_map={"": 0})',
        'from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer(path, device="cuda")',
        "from ultralytics import YOLO\nYOLO(path).train(data=d, device=0)",
        "from catboost import CatBoostClassifier\nmodel = CatBoostClassifier(task_type='GPU')",
        'import lightgbm as lgb\nmodel = lgb.train({"device_type": "cuda"}, data)',
        'import xgboost\nmodel = xgboost.XGBClassifier(tree_method="gpu_hist")',
        "import spacy\nspacy.require_gpu()",
        "import cupy as cp\nx = cp.arange(3)",
        "from vllm import LLM\nmodel = LLM(path)",
        'from faster_whisper import WhisperModel\nmodel = WhisperModel(size, "cuda")',
        'import whisper\nmodel = whisper.load_model(size, device="cuda")',
        'import subprocess\nsubprocess.run(["nvidia-smi"], check=True)',
        'import subprocess\nsubprocess.check_output("nvidia-smi -L", shell=True)',
        'import tensorflow as tf\ngpu = tf.config.list_physical_devices("GPU")[0]',
        "import pycuda.autoinit",
        "from ray.train import ScalingConfig\nscaling = ScalingConfig(num_workers=2, use_gpu=True)",
        "pipe.enable_model_cpu_offload()",
    ],
)
def test_raises_without_a_gpu(code: str) -> None:
    found = [each for scope in scopes_of(HEAD + code) for each in scope.raising]
    assert [each.gate for each in found] == [Gate.RUNS]
    assert all(each.then for each in found)


@pytest.mark.parametrize(
    "code",
    [
        "if torch.cuda.is_available():\n    net.cuda()\n",
        "if not torch.cuda.is_available():\n    raise SystemExit\nnet.cuda()\n",
        "net = net.cuda() if torch.cuda.is_available() else net",
        "torch.cuda.is_available() and net.cuda()",
        'device = "cuda" if torch.cuda.is_available() else "cpu"\nnet.to(device)\n',
        "if use_cuda:\n    net.cuda()\n",
        'if mode == "profile":\n    torch.cuda.synchronize()\n',
        "moves = lambda net: net.cuda()",
        "net.to(device)",
        'net.to("cpu")',
        "net.to(torch.float16)",
        'device = torch.device("cuda")',
        "torch.cuda.empty_cache()",
        "torch.cuda.manual_seed_all(1)",
        "import torch.cuda",
        "import cupy",
        'import subprocess\nsubprocess.run(["nvidia-smi"])',
        'import jax\njax.devices("cpu")',
        "import lightning as L\ntrainer = L.Trainer(accelerator=kind)",
        "try:\n    net.cuda()\nexcept RuntimeError:\n    pass\nfit(net)\n",
        'import tensorflow as tf\nfor gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.set_memory_growth(gpu, True)\n',
        "loss.item()",
    ],
)
def test_does_not_certainly_raise(code: str) -> None:
    found = [each for scope in scopes_of(HEAD + code) for each in scope.raising]
    assert [each for each in found if each.gate is Gate.RUNS] == []


def test_each_function_speaks_for_itself() -> None:
    module = module_of("def move(net):\n    return net.cuda()\n\n\ndef keep(net):\n    return net\n")
    assert len(module.scopes["move"].raising) == 1
    assert module.scopes["keep"].raising == ()


def test_loops_and_contexts_run() -> None:
    assert raising("for batch in loader:\n    with lock:\n        batch.cuda()\n") == ["batch.cuda()"]
    assert raising("moved = [batch.cuda() for batch in loader]\n") == ["batch.cuda()"]
