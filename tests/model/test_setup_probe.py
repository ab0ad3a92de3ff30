"""What a setup.py asks of the machine that it builds on."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from gpulint.model.setup_probe import setup_probes
from gpulint.source import Source


def probes(code: str) -> list[tuple[str, int, str]]:
    """Name, line and outcome of each question in the code."""
    text = "import os, sys, torch\nfrom torch.utils.cpp_extension import CppExtension, CUDAExtension\n" + dedent(code)
    source = Source("setup.py", text.encode())
    return [(probe.name, probe.location.line, probe.outcome) for probe in setup_probes(source, ast.parse(text))]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("extensions = [CUDAExtension('a', ['a.cu'])] if torch.cuda.is_available() else []", "without CUDA"),
        ("if torch.cuda.is_available():\n    macros.append(('WITH_CUDA', None))", "without CUDA"),
        ("if torch.cuda.device_count() > 0:\n    sources += ['a.cu']", "without CUDA"),
        ("if torch.cuda.is_available():\n    flags = ['-arch=sm_90']\nelse:\n    flags = ['-arch=sm_70']", "other architectures"),
        ("if not torch.cuda.is_available():\n    sys.exit('no GPU')", "fails"),
        ("if not torch.cuda.is_available():\n    raise RuntimeError('no GPU')", "fails"),
        ("assert torch.cuda.is_available()", "fails"),
        ("major, minor = torch.cuda.get_device_capability(0)", "fails"),
    ],
)
def test_questions_that_decide_what_is_built(code: str, outcome: str) -> None:
    assert [found for _, _, found in probes(code)] == [outcome]


@pytest.mark.parametrize(
    "code",
    [
        "print(torch.cuda.is_available())",
        "if torch.cuda.is_available():\n    print('CUDA')",
        "if torch.version.cuda:\n    sources += ['a.cu']",
        "if os.environ.get('FORCE_CUDA') or torch.cuda.is_available():\n    sources += ['a.cu']",
        "if 'BUILD_CUDA' in os.environ:\n    sources += ['a.cu']\nelif torch.cuda.is_available():\n    sources += ['a.cu']",
        "archs = os.environ['TORCH_CUDA_ARCH_LIST']\nassert torch.cuda.is_available()",
        "try:\n    major, minor = torch.cuda.get_device_capability()\nexcept RuntimeError:\n    major, minor = 8, 0",
        "def capability():\n    return torch.cuda.get_device_capability()",
        "if torch.cuda.is_available():\n    major, minor = torch.cuda.get_device_capability()",
    ],
)
def test_questions_that_do_not(code: str) -> None:
    assert probes(code) == []


def test_an_answer_is_followed_through_its_variable() -> None:
    assert probes("has_gpu = torch.cuda.is_available()\n\nif has_gpu:\n    sources += ['a.cu']") == [
        ("torch.cuda.is_available", 3, "without CUDA")
    ]


def test_a_file_that_nobody_writes_by_hand_is_not_read() -> None:
    assert probes("assert torch.cuda.is_available()\n" + "x = 1\n" * 20_000) == []
