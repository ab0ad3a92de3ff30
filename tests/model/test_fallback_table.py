"""What each way to use a GPU does where there is none: nothing is said, a line in the log, an exception; a test a row of what is known."""

from __future__ import annotations

import pytest
from module_reading import scopes_of

SILENT, NOTE, RAISES, CPU, NOTHING = "goes on", "goes on, with a note", "raises", "takes the CPU with a GPU too", "says nothing"

HEAD = """
import accelerate, catboost, ctranslate2, cudf.pandas, cupy, faster_whisper, jax, lightgbm, lightning, llama_cpp, onnxruntime, os
import spacy, tensorflow as tf, torch, transformers, trl, ultralytics, vllm, whisper, xgboost
import torch.distributed as dist
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, pipeline
"""


def outcome(code: str) -> str:
    """What this code does without a GPU, by what its scopes note. A choice or default that goes on counts before an exception."""
    scopes = scopes_of(f"{HEAD}\n{code}\n")
    fallbacks = [fallback for scope in scopes for fallback in scope.fallbacks]
    if fallbacks:
        return NOTE if any(word in fallbacks[0].then for word in ("log", "warning")) else SILENT
    if any(scope.raising for scope in scopes):
        return RAISES
    return CPU if any(scope.on_cpu for scope in scopes) else NOTHING


CUDA = 'providers=["CUDAExecutionProvider"]'
BOTH = 'providers=["CUDAExecutionProvider", "CPUExecutionProvider"]'
ARGUMENTS = "transformers.TrainingArguments"

ROWS = {
    "torch.device, a choice": ('d = torch.device("cuda" if torch.cuda.is_available() else "cpu")', SILENT),
    "torch, a choice by if": ('if torch.cuda.is_available():\n    d = "cuda"\nelse:\n    d = "cpu"', SILENT),
    "torch, a choice kept in a variable": ('use_cuda = torch.cuda.is_available()\nd = "cuda" if use_cuda else "cpu"', SILENT),
    "torch, a choice and an option": ("args.cuda = args.cuda and torch.cuda.is_available()", SILENT),
    "torch.accelerator or the CPU": ('d = torch.accelerator.current_accelerator() or torch.device("cpu")', SILENT),
    "map_location of a choice": ('torch.load("m", map_location="cuda" if torch.cuda.is_available() else "cpu")', SILENT),
    "pin_memory": ("torch.utils.data.DataLoader(d, pin_memory=True)", NOTHING),
    "a dtype by the answer": ("dtype = torch.float16 if torch.cuda.is_available() else torch.float32", NOTHING),
    "a guard": ("if torch.cuda.is_available():\n    torch.cuda.empty_cache()", NOTHING),
    "a handler that takes the CPU": ('try:\n    m.cuda()\nexcept RuntimeError:\n    d = "cpu"', SILENT),
    "Lightning Trainer": ("lightning.Trainer()", NOTE),
    "Lightning Trainer, auto": ('lightning.Trainer(accelerator="auto", devices=4)', NOTE),
    "Lightning Fabric": ("lightning.Fabric()", NOTE),
    "Lightning Trainer, gpu": ('lightning.Trainer(accelerator="gpu")', RAISES),
    "Lightning Fabric, cuda": ('lightning.Fabric(accelerator="cuda")', RAISES),
    "Lightning Trainer, cpu": ('lightning.Trainer(accelerator="cpu")', CPU),
    "Lightning Trainer, gpus": ("lightning.Trainer(gpus=1)", RAISES),
    "Lightning Trainer, named elsewhere": ("lightning.Trainer(**options)", NOTHING),
    "Lightning Trainer, a mapping": ('options = {"accelerator": "gpu"}\nlightning.Trainer(**options)', RAISES),
    "Lightning Trainer, a mapping that is filled": ('options = {}\noptions["accelerator"] = "gpu"\nlightning.Trainer(**options)', NOTHING),
    "Lightning Trainer, a mapping with another": ('lightning.Trainer(**{**options, "max_epochs": 3})', NOTHING),
    "Lightning Trainer, a mapping without it": ('lightning.Trainer(**{"max_epochs": 3})', NOTE),
    "Accelerator": ("accelerate.Accelerator()", SILENT),
    "PartialState": ("accelerate.PartialState()", SILENT),
    "Accelerator, fp16": ('accelerate.Accelerator(mixed_precision="fp16")', RAISES),
    "Accelerator, bf16": ('accelerate.Accelerator(mixed_precision="bf16")', SILENT),
    "Trainer of transformers": ("transformers.Trainer(model=m, args=a)", SILENT),
    "TrainingArguments, bf16": (f"{ARGUMENTS}(bf16=True)", RAISES),
    "TrainingArguments, tf32": (f"{ARGUMENTS}(tf32=True)", RAISES),
    "TrainingArguments, fp16": (f"{ARGUMENTS}(fp16=True)", RAISES),
    "TrainingArguments, use_cpu": (f"{ARGUMENTS}(use_cpu=True)", CPU),
    "pipeline": ('pipeline("fill-mask")', SILENT),
    "pipeline, a number": ('pipeline("fill-mask", device=0)', SILENT),
    "pipeline, cuda": ('pipeline("fill-mask", device="cuda")', RAISES),
    "pipeline, cpu": ('pipeline("fill-mask", device=-1)', CPU),
    "device_map auto": ('AutoModel.from_pretrained("m", device_map="auto")', SILENT),
    "device_map cuda": ('AutoModel.from_pretrained("m", device_map="cuda")', RAISES),
    "device_map with a number": ('AutoModel.from_pretrained("m", device_map={"": 0})', RAISES),
    "quantised": ('AutoModel.from_pretrained("m", quantization_config=transformers.BitsAndBytesConfig(load_in_4bit=True))', NOTHING),
    "pipeline, device_map auto": ('pipeline("fill-mask", device_map="auto")', SILENT),
    "SentenceTransformer": ('SentenceTransformer("m")', SILENT),
    "SentenceTransformer, cuda": ('SentenceTransformer("m", device="cuda")', RAISES),
    "ultralytics, train": ('ultralytics.YOLO("m.pt").train(data="d.yaml")', NOTE),
    "ultralytics, predict": ('model = ultralytics.YOLO("m.pt")\nmodel.predict("a.jpg")', NOTE),
    "ultralytics, a number": ('ultralytics.YOLO("m.pt").train(data="d.yaml", device=0)', RAISES),
    "ultralytics, cuda": ('ultralytics.YOLO("m.pt").predict("a.jpg", device="cuda")', RAISES),
    "ultralytics, numbers": ('ultralytics.YOLO("m.pt").train(data="d.yaml", device=[0, 1])', RAISES),
    "ultralytics, a text": ('ultralytics.YOLO("m.pt").train(data="d.yaml", device="0")', RAISES),
    "ultralytics, the object itself": ('model = ultralytics.YOLO("m.pt")\nmodel("a.jpg")', NOTE),
    "ultralytics, the object itself, cuda": ('model = ultralytics.YOLO("m.pt")\nmodel("a.jpg", device="cuda")', RAISES),
    "JAX": ("jax.numpy.ones(3)", SILENT),
    "JAX, devices of a GPU": ('jax.devices("gpu")', RAISES),
    "JAX_PLATFORMS=cuda": ('os.environ["JAX_PLATFORMS"] = "cuda"', RAISES),
    "jax_platforms=cuda": ('jax.config.update("jax_platforms", "cuda")', RAISES),
    "JAX_PLATFORMS=cuda,cpu": ('os.environ["JAX_PLATFORMS"] = "cuda,cpu"\njax.numpy.ones(3)', SILENT),
    "JAX_PLATFORMS=cpu": ('os.environ["JAX_PLATFORMS"] = "cpu"', CPU),
    "Keras": ("model = tf.keras.Sequential()\nmodel.fit(x)", NOTE),
    "Keras beside scikit-learn": ("from sklearn.preprocessing import StandardScaler\nStandardScaler().fit(x)", NOTHING),
    "tf.device": ('with tf.device("/GPU:0"):\n    pass', SILENT),
    "ONNX Runtime, CUDA": (f'onnxruntime.InferenceSession("m.onnx", {CUDA})', NOTE),
    "ONNX Runtime, CUDA and CPU": (f'onnxruntime.InferenceSession("m.onnx", {BOTH})', NOTE),
    "ONNX Runtime, no providers": ('onnxruntime.InferenceSession("m.onnx")', SILENT),
    "ONNX Runtime, CPU": ('onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])', CPU),
    "XGBoost, cuda": ('xgboost.XGBClassifier(device="cuda")', NOTE),
    "XGBoost, parameters": ('xgboost.train({"device": "gpu"}, d)', NOTE),
    "XGBoost, parameters in a variable": ('p = dict(device="cuda")\nxgboost.train(p, d)', NOTE),
    "XGBoost, parameters handed on": ('p = {"device": "cuda"}\nxgboost.XGBClassifier(**p)', NOTE),
    "XGBoost on the CPU": ("xgboost.XGBClassifier()", NOTHING),
    "XGBoost, gpu_hist": ('xgboost.XGBClassifier(tree_method="gpu_hist")', RAISES),
    "LightGBM, gpu": ('lightgbm.LGBMClassifier(device_type="gpu")', RAISES),
    "LightGBM, cuda": ('lightgbm.train({"device_type": "cuda"}, d)', RAISES),
    "LightGBM, device": ('lightgbm.LGBMRegressor(device="gpu")', RAISES),
    "CatBoost": ('catboost.CatBoostClassifier(task_type="GPU")', RAISES),
    "CatBoost, parameters": ('catboost.CatBoost({"task_type": "GPU"})', RAISES),
    "spaCy, prefer": ("spacy.prefer_gpu()", SILENT),
    "spaCy, require": ("spacy.require_gpu()", RAISES),
    "thinc, prefer": ("import thinc.api\nthinc.api.prefer_gpu()", SILENT),
    "thinc, require": ("import thinc.api\nthinc.api.require_gpu()", RAISES),
    "CuPy": ("cupy.zeros(3)", RAISES),
    "cudf.pandas": ("cudf.pandas.install()", SILENT),
    "cuDF": ('import cudf\ncudf.read_csv("a.csv")', RAISES),
    "cuml.accel": ("import cuml.accel\ncuml.accel.install()", SILENT),
    "nccl": ('dist.init_process_group("nccl")', RAISES),
    "no backend": ("dist.init_process_group()", SILENT),
    "gloo": ('dist.init_process_group(backend="gloo")', CPU),
    "vLLM": ('vllm.LLM("m")', RAISES),
    "vLLM, a server": ("vllm.AsyncLLMEngine.from_engine_args(a)", RAISES),
    "Ray Train, use_gpu": ("import ray.train\nray.train.ScalingConfig(num_workers=2, use_gpu=True)", RAISES),
    "Ray Train": ("import ray.train\nray.train.ScalingConfig(num_workers=2)", NOTHING),
    "llama.cpp": ('llama_cpp.Llama("m.gguf", n_gpu_layers=-1)', SILENT),
    "llama.cpp, some layers": ('llama_cpp.Llama("m.gguf", n_gpu_layers=35)', SILENT),
    "llama.cpp, no layers": ('llama_cpp.Llama("m.gguf")', NOTHING),
    "faster-whisper": ('faster_whisper.WhisperModel("small")', SILENT),
    "faster-whisper, auto": ('faster_whisper.WhisperModel("small", device="auto")', SILENT),
    "faster-whisper, cuda": ('faster_whisper.WhisperModel("small", device="cuda")', RAISES),
    "CTranslate2, auto": ('ctranslate2.Translator("m", device="auto")', SILENT),
    "CTranslate2, cuda": ('ctranslate2.Translator("m", device="cuda")', RAISES),
    "whisper": ('whisper.load_model("small")', SILENT),
    "torch, cuda": ("m.cuda()", RAISES),
    "torch, to": ('m.to("cuda:0")', RAISES),
    "torch, a tensor": ('torch.zeros(3, device="cuda")', RAISES),
    "torch, set_device": ("torch.cuda.set_device(0)", RAISES),
    "torch, the name of the card": ("torch.cuda.get_device_name(0)", RAISES),
    "autocast": ('with torch.autocast("cuda"):\n    pass', NOTHING),
    "CUDA_VISIBLE_DEVICES empty": ('os.environ["CUDA_VISIBLE_DEVICES"] = ""', CPU),
}


@pytest.mark.parametrize(("code", "expected"), ROWS.values(), ids=ROWS)
def test_what_happens_without_a_gpu(code: str, expected: str) -> None:
    assert outcome(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "from lightning.pytorch import Trainer as T\nT()",
        "import pytorch_lightning as pl\npl.Trainer()",
        "def build():\n    from lightning import Trainer\n    return Trainer()",
        "from ultralytics import YOLO\nYOLO('m.pt').predict('a.jpg')",
        "import onnxruntime as ort\nort.InferenceSession('m.onnx', None, ['CUDAExecutionProvider'])",
        "import xgboost as xgb\nxgb.train({'device': 'cuda'}, d)",
        "from tensorflow import keras\nkeras.models.load_model('m')",
    ],
)
def test_aliases_and_imports_of_parts(code: str) -> None:
    assert outcome(code) == NOTE


@pytest.mark.parametrize(
    "code",
    [
        "from torch.cuda import is_available\nd = 'cuda' if is_available() else 'cpu'",
        "import torch.cuda as tc\nd = 'cuda' if tc.is_available() else 'cpu'",
        "from torch import cuda\nd = 'cuda' if cuda.is_available() else 'cpu'",
        "from accelerate import Accelerator as A\nA()",
        "import jax.numpy as jnp\njnp.ones(3)",
        "from jax import numpy as jnp\njnp.ones(3)",
        "from faster_whisper import WhisperModel\nWhisperModel('small', 'auto')",
    ],
)
def test_aliases_of_what_is_silent(code: str) -> None:
    assert outcome(code) == SILENT


@pytest.mark.parametrize(
    "code",
    [
        "from catboost import CatBoostClassifier as C\nC(task_type='GPU')",
        "import cupy as cp\ncp.asarray(x)",
        "from jax import config\nconfig.update('jax_platforms', 'cuda')",
        "from torch import zeros\nzeros(3, device='cuda')",
        "from torch.distributed import init_process_group as start\nstart(backend='nccl')",
        "from vllm import LLM\nLLM('m')",
    ],
)
def test_aliases_of_what_raises(code: str) -> None:
    assert outcome(code) == RAISES
