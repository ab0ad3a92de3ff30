"""A tree of what a linter meets in the worst of repositories: `build` writes all of it into a folder.

Every file holds what makes gpulint read it to its end, a GPU image or the name of a GPU resource. `BROKEN_POD` is the one honest file among
them, whose faults must be found all the same.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

IMAGE = "nvidia/cuda:12.4.1-runtime-ubuntu22.04"
OTHER_IMAGE = "nvidia/cuda:12.4.1-base-ubuntu22.04"
"""What is run with a GPU somewhere in the tree, so that no other container of this image is at fault."""
RUN = f"docker run --gpus all {OTHER_IMAGE}"
POD = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: trainer
      image: {IMAGE}
      command: [python, train.py, --device, cuda]
"""
DOCKERFILE = f'FROM {IMAGE}\nRUN pip install torch\nCMD ["python", "train.py"]\n'
COMPOSE = f"services:\n  trainer:\n    image: {IMAGE}\n    command: python train.py --device cuda\n"
PYTHON = 'import torch\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'
SCRIPT = f"#!/bin/bash\n{RUN} python train.py\n"
MAKEFILE = f"all:\n\t{RUN}\n"
WORKFLOW = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: "
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
CHART = "apiVersion: v2\nname: chart\nversion: 1.0.0\n"

BROKEN_POD = "honest/pod.yaml"
DEEP = 10_000
HUGE = 100 * 1024 * 1024
SERVICES = 2_000
SMALL_FILES = 20_000

EVERY_KIND = {
    "Dockerfile": DOCKERFILE,
    "compose.yaml": COMPOSE,
    "pod.yaml": POD,
    "train.py": PYTHON,
    "run.sh": SCRIPT,
    "Makefile": MAKEFILE,
    "requirements.txt": "torch==2.4.0\n",
    "chart/templates/pod.yaml": POD,
    "kustomization.yaml": KUSTOMIZATION + "resources: [pod.yaml]\n",
    ".github/workflows/ci.yml": f"{WORKFLOW}{RUN}\n",
    ".gitlab-ci.yml": f"a:\n  image: {IMAGE}\n  script: [{RUN}]\n",
    "pyproject.toml": '[project]\nname = "a"\ndependencies = ["torch"]\n',
}
"""One file of each kind, for what can befall any of them."""


def build(root: Path) -> None:
    """Write the tree, with a `.git` of its own."""
    for path, data in files().items():
        write(root, path, data)
    write_special_files(root)
    _write_huge_files(root)
    _write_small_files(root)
    _write_repository(root)


def write(root: Path, path: str, data: str | bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def files() -> dict[str, str | bytes]:
    """The regular files by their paths: each kind of trouble in a folder of its own."""
    groups = {
        "encodings": _encodings,
        "nesting": _nesting,
        "growth": _growth,
        "shared": _shared,
        "patterns": _patterns,
        "cycles": _cycles,
        "outside": _outside,
        "types": _wrong_types,
        "texts": _texts,
        "ignores": _ignores,
        "length": _length,
    }
    made: dict[str, str | bytes] = {BROKEN_POD: POD, "gpulint.toml": "# nothing\n"}
    made.update((f"{folder}/{path}", data) for folder, group in groups.items() for path, data in group())
    made.update(_names())
    return made


def _encodings() -> Iterator[tuple[str, bytes]]:
    forms = {
        "latin-1": lambda text: (text + "# \xe9\xff\n").encode("latin-1"),
        "utf-16": lambda text: text.encode("utf-16"),
        "utf-16-be": lambda text: text.encode("utf-16-be"),
        "utf-32": lambda text: text.encode("utf-32"),
        "bom": lambda text: text.encode("utf-8-sig"),
        "crlf": lambda text: text.replace("\n", "\r\n").encode(),
        "cr": lambda text: text.replace("\n", "\r").encode(),
        "other-breaks": lambda text: (text + "# a\x85# b\u2028# c\u2029# d\n").encode(),
        "surrogates": lambda text: (text + "# \ud800\n").encode("utf-8", "surrogatepass"),
        "nul": lambda text: text.encode() + b"\0",
        "cut": lambda text: text[: len(text) // 2].encode() + b"\xf0\x9f",
        "binary": lambda text: text.encode() + bytes(range(1, 256)) * 20,
        "conflict": lambda text: f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n".encode(),
        "template": lambda text: (text + "{{ if x }}{% if %}<%= y %>{{{{ }}\n${{ a }}\n").encode(),
        "empty": lambda _: b"",
        "blank": lambda _: b"\xef\xbb\xbf \t\r\n\n",
        "twice": lambda text: (text * 2).encode(),
        "tabs": lambda text: text.replace("  ", "\t").encode(),
    }
    for form, encode in forms.items():
        for path, text in EVERY_KIND.items():
            yield f"{form}/{path}", encode(text)
        yield f"{form}/chart/Chart.yaml", CHART.encode()


def _nesting() -> Iterator[tuple[str, str]]:
    for name, (opening, closing) in {
        "flow": ("[", "]"),
        "flow-map": ("{a: ", "}"),
        "question": ("? ", ""),
        "dash": ("- ", ""),
        "open": ("[{", ""),
    }.items():
        yield f"{name}/pod.yaml", f"{POD}---\n{POD}x: {opening * DEEP}a{closing * DEEP}\n"
    yield "block/pod.yaml", POD + "".join(f"{' ' * depth}a:\n" for depth in range(2_000))
    for name, (opening, closing) in {"array": ("[", "]"), "object": ('{"a":', "}")}.items():
        yield f"{name}/pod.json", f'{{"apiVersion": "v1", "kind": "Pod", "a": "{IMAGE}", "b": {opening * DEEP}1{closing * DEEP}}}'
        yield f"{name}/devcontainer.json", f'{{"image": "{IMAGE}", "runArgs": {opening * DEEP}1{closing * DEEP}}}'
    for number, (opening, closing) in enumerate(_PYTHON_NESTS):
        for depth in (90, 1_000, DEEP):
            yield (
                f"python/{number}-{depth}.py",
                f"{PYTHON}if {opening * depth}a{closing * depth}: device = {opening * depth}a{closing * depth}\n",
            )
    yield "python/blocks.py", PYTHON + "".join(f"{' ' * depth}if torch.cuda.is_available():\n" for depth in range(99)) + " " * 99 + "pass\n"
    yield "python/elif.py", f"{PYTHON}if a: pass\n" + "elif torch.cuda.is_available(): pass\n" * 900
    for number, (opening, closing) in enumerate(_SHELL_NESTS):
        nested = f"{opening * DEEP}{RUN}{closing * DEEP}"
        yield f"shell/{number}.sh", f"{SCRIPT}{nested}\n{SCRIPT}"
        yield f"shell/{number}/Dockerfile", f"{DOCKERFILE}RUN {nested}\n"
        yield f"shell/{number}/Makefile", f"{MAKEFILE}\t{nested}\n"
        yield f"shell/{number}/.github/workflows/a.yml", f"{WORKFLOW}|\n          {nested}\n"
    for number, (opening, closing) in enumerate(
        (("{{ if a }}\n", "{{ end }}\n"), ("{{ (", ") }}"), ("{{ `", ""), ("{{/*", ""), ("{{ end }}", ""))
    ):
        yield f"chart{number}/Chart.yaml", CHART
        yield f"chart{number}/templates/pod.yaml", f"{opening * DEEP}{POD}{closing * DEEP}"
    yield "variables/compose.yaml", COMPOSE.replace("--device cuda", f"--device cuda {'${A:-' * DEEP}x{'}' * DEEP}")
    yield "variables/Dockerfile", f"ARG A\nFROM {'${A:-' * DEEP}x{'}' * DEEP}\n{DOCKERFILE}"
    yield "variables/Makefile", f"{MAKEFILE}\tdocker run {'$(A' * DEEP}{')' * DEEP}\n"
    yield "variables/justfile", f"a:\n  docker run --gpus all {'{{(' * DEEP}a\n"
    yield "variables/requirements.txt", f"torch; {'(' * DEEP}\ntorch{'[' * DEEP}\ntorch{'>=1,' * DEEP}\n"
    yield "variables/pyproject.toml", f"[project]\ndependencies = {'[' * DEEP}{']' * DEEP}\n"
    yield (
        "list/pod.yaml",
        "".join(
            f"{' ' * 2 * at}{'- ' if at else '  '}apiVersion: v1\n{' ' * 2 * at}  kind: List\n{' ' * 2 * at}  items:\n" for at in range(90)
        ),
    )


_PYTHON_NESTS = (
    ("(", ")"),
    ("[", "]"),
    ("{1: ", "}"),
    ("-", ""),
    ("not ", ""),
    ("a.", ""),
    ("a[", "]"),
    ("f(", ")"),
    ("lambda: ", ""),
    ("1 + ", ""),
    ("a or ", ""),
    ("a and not ", ""),
    ("1 if a else ", ""),
    ("a < ", ""),
    ("torch.device(", ")"),
    ("''.format(", ")"),
    ("await ", ""),
    ("f'{", "}'"),
)
_SHELL_NESTS = (
    ("$(", ")"),
    ("(", ")"),
    ("$((", "))"),
    ("{ ", "; }"),
    ("if a; then ", "; fi"),
    ("while a; do ", "; done"),
    ("case a in a) ", ";; esac"),
    ("${a:-", "}"),
    ('"$(', ')"'),
    ("<(", ")"),
    ("`", "`"),
    ("f() { ", "; }"),
    ("sh -c '", "'"),
    ("sudo ", ""),
    ("a && ", ""),
    ("<<A ", ""),
)


def _growth() -> Iterator[tuple[str, str]]:
    levels = range(1, 40)
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{at}: &a{at} [{f'*a{at - 1}, ' * 10}]\n" for at in levels)
    merges = "x-0: &a0 {a: 1}\n" + "".join(f"x-{at}: &a{at}\n  <<: [{f'*a{at - 1}, ' * 10}]\n  k{at}: 1\n" for at in levels)
    yield "laughs/pod.yaml", POD + laughs
    yield "laughs/compose.yaml", merges + COMPOSE
    yield "laughs/values/Chart.yaml", CHART
    yield "laughs/values/values.yaml", f"image: {{repository: nvidia/cuda, tag: a}}\n{laughs}"
    yield "quadratic/pod.yaml", f"{POD}a: &a [{'x, ' * 1000}]\nb: [{'*a, ' * 1000}]\n"
    yield (
        "quadratic/compose.yaml",
        f"x-a: &a {{{''.join(f'k{at}: 1, ' for at in range(500))}}}\n{COMPOSE}"
        + "".join(f"  s{at}:\n    image: {IMAGE}\n    environment: *a\n" for at in range(300)),
    )
    doubled = "".join(f"A{at}=$A{at - 1}$A{at - 1}\n" for at in levels)
    yield "doubling/.env", f"A0=xxxxxxxx\n{doubled}"
    yield "doubling/compose.yaml", f"{COMPOSE}    env_file: .env\n    environment: {{DEVICE: $A39}}\n"
    yield "doubling/run.sh", f"{SCRIPT}A0=xxxxxxxx\n{doubled}docker run --gpus $A39 {OTHER_IMAGE}\n"
    yield (
        "doubling/Dockerfile",
        "ARG A0=xxxxxxxx\n" + "".join(f"ARG A{at}=$A{at - 1}$A{at - 1}\n" for at in levels) + f"FROM $A39\n{DOCKERFILE}",
    )
    yield (
        "doubling/Makefile",
        "A0=xxxxxxxx\n" + "".join(f"A{at}=$(A{at - 1})$(A{at - 1})\n" for at in levels) + f"{MAKEFILE}\tdocker run $(A39)\n",
    )
    variables = "".join(f"        - {{name: A{at}, value: $(A{at - 1})$(A{at - 1})}}\n" for at in levels)
    yield "doubling/pod.yaml", f"{POD}      args: [$(A39)]\n      env:\n        - {{name: A0, value: xxxxxxxx}}\n{variables}"
    yield (
        "doubling/train.py",
        PYTHON + "device = device + device\n" * 60 + "x = y = [1]\n" + "x = [x, x]\ny = [y, y]\n" * 60 + "if x == y: pass\n",
    )
    for at in range(30):
        for side in "ab":
            yield f"overlays/{at}{side}/kustomization.yaml", f"{KUSTOMIZATION}namePrefix: {side}\nresources: [../{at + 1}a, ../{at + 1}b]\n"
            yield f"overlays/30{side}/kustomization.yaml", f"{KUSTOMIZATION}resources: [../pod]\nnamePrefix: {side}\n"
    yield "overlays/pod/kustomization.yaml", f"{KUSTOMIZATION}resources: [pod.yaml]\n"
    yield "overlays/pod/pod.yaml", POD
    steps = "".join(
        f"- {{target: {{kind: Pod}}, patch: '[{{op: add, path: /spec{'/a' * at}, value: {{a: {{}}}}}}]'}}\n" for at in range(1, 90)
    )
    yield "deeper/kustomization.yaml", f"{KUSTOMIZATION}resources: [pod.yaml]\npatches:\n{steps}"
    yield "deeper/pod.yaml", POD


def _shared() -> Iterator[tuple[str, str]]:
    """One thing that is long or heavy, and thousands of places that use it."""
    long, many = "cuda " * 20_000, range(400)
    services = "".join(f"  s{at}: {{image: {IMAGE}, command: KEY}}\n" for at in many)
    containers = "".join(f"    - {{name: c{at}, image: {IMAGE}, command: [python, --device, cuda]}}\n" for at in many)
    users = "".join(f"  s{at}: {{image: *x, gpus: all}}\n" for at in many)
    metadata = f"{{name: {'x' * 1_000_000}, namespace: {'y' * 500_000}}}"
    yield "alias/compose.yaml", f"x: &x '{'python --device cuda ' * 10_000}'\nservices:\n{services.replace('KEY', '*x')}"
    yield "alias-of-name/pod.yaml", f"{POD}x: &x {'x' * 500_000}\ny: [{'*x, ' * 5_000}]\n"
    yield (
        "alias-of-image/compose.yaml",
        f"x: &x '{'cuda' * 100_000}'\nservices:\n{users}",
    )
    yield "variable/compose.yaml", f"services:\n{services.replace('KEY', '$A')}"
    yield "variable/.env", f"A={long[:90_000]}\n"
    yield "env-file/compose.yaml", "services:\n" + "".join(f"  s{at}: {{image: {IMAGE}, env_file: a.env}}\n" for at in many)
    yield "env-file/a.env", "".join(f"A{at}=1\n" for at in range(9_000))
    yield "argument/pod.yaml", (f"{POD}      env: [{{name: A, value: '{long[:90_000]}'}}]\n      args: [{'$(A), ' * 5_000}]\n")
    yield (
        "pod/pod.yaml",
        (f"apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec:\n  containers:\n{containers}"),
    )
    yield "line/compose.yaml", "services: {" + "".join(f"s{at}: {{image: {IMAGE}}}, " for at in many) + f"}}\nx: {long}\n"
    yield (
        "line/pod.json",
        (
            f'{{"apiVersion": "v1", "kind": "Pod", "x": "{chr(0x1F600) * 500_000}", "spec": {{"containers": ['
            + ", ".join(f'{{"name": "c{at}", "image": "{IMAGE}"}}' for at in many)
            + "]}}"
        ),
    )
    yield "reason/compose.yaml", f"# gpulint: ignore-file[ALL] {long}\nservices:\n{services.replace('KEY', 'x')}"
    yield "copies/Dockerfile", DOCKERFILE + "".join(f"COPY a{at} /b{at}/\n" for at in range(5_000))
    yield (
        "copies/compose.yaml",
        "services:\n" + "".join(f"  s{at}: {{build: ., command: python /b{at}/a.py --device cuda}}\n" for at in many),
    )


def _patterns() -> Iterator[tuple[str, str]]:
    """Words on which a careless regular expression tries every way of many to match."""
    tags = ("cu8" + "9" * 80 + "x-latest", "py3" + "9" * 80 + "x-latest", "12.4.1-cudnn1" + "1." * 100_000 + "\\n", "cuda-" * 50_000 + "x")
    names = ("x/" + "comfyui" * 20_000 + "!", "a/" * 100_000 + "cuda", "{{" * 100_000, "$" * 100_000, "`" * 100_000, "${" * 100_000)
    for at, image in enumerate((*(f"x/gpu:{tag}" for tag in tags), *names)):
        yield f"image/{at}/compose.yaml", f'services: {{a: {{gpus: all, image: "{image}"}}}}\n'
        yield f"image/{at}/Dockerfile", f"FROM {image[:60_000]}\n{DOCKERFILE}"
    words = {
        "bash": "-" + "c" * 100_000 + "!",
        "python": "-" + "O" * 100_000 + "!",
        "rpm": "-" + "U" * 100_000 + "!",
        "sh": "NVIDIA-Linux-x86_64-" + "1" * 100_000,
        "torchrun": "--" + "a-" * 50_000 + "=",
        "env": "A" * 100_000 + "!",
    }
    for program, word in words.items():
        yield f"words/{program}/pod.yaml", POD.replace("[python, train.py", f'[{program}, "{word}", train.py')
        yield f"words/{program}/Dockerfile", f"{DOCKERFILE}RUN {program} {word[:60_000]}\n"
    many = ", ".join(f'"-{letter * 900}!"' for letter in "cOUi" * 500)
    yield "words/many/pod.yaml", POD.replace("[python, train.py", f"[bash, {many}")
    quantities = ("0" * 200_000 + "x", "1" * 200_000, "." * 200_000, "1e" + "9" * 200_000)
    limits = "".join(
        f"    - {{image: {OTHER_IMAGE}, resources: {{limits: {{nvidia.com/gpu: '{quantity}', {'a-' * 50_000}/gpu: 1}}}}}}\n"
        for quantity in quantities
    )
    yield "quantity/pod.yaml", f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n{limits}"
    yield "volumes/run.sh", f"docker run --gpus all -v $A{'{{' * 50_000}:/x {OTHER_IMAGE}\ndocker run -v '{'$(' * 50_000}' {OTHER_IMAGE}\n"
    yield "volumes/compose.yaml", f'{COMPOSE}    volumes: ["$A{"{{" * 100_000}", "{"$(" * 100_000}"]\n    gpus: \'{chr(34) * 100_000}\'\n'
    digits = "9" * 5_000
    count = '"$(nvidia-smi -L | wc -l)"'
    checks = f"if [ {count} -gt {digits} ] || [ {count} -eq \u00b2 ]; then exit 1; fi\n"
    yield "digits/entry.sh", f"#!/bin/sh\n{checks}{SCRIPT}"
    yield "digits/Dockerfile", f'FROM {IMAGE}\nCOPY entry.sh /\nENTRYPOINT ["/entry.sh"]\n'
    yield (
        "digits/compose.yaml",
        f"services:\n  a:\n    image: {OTHER_IMAGE}\n    gpus: {digits}\n    shm_size: {digits}\n"
        f"    command: torchrun --nproc-per-node {digits} train.py\n    environment: {{CUDA_VISIBLE_DEVICES: {digits}}}\n"
        f"  b: {{build: ., gpus: all, shm_size: '{digits}.5', environment: {{CUDA_VISIBLE_DEVICES: '\u0661,\u00b2'}}}}\n",
    )
    blanks = " " * 200_000
    yield "env/compose.yaml", f"{COMPOSE}    env_file: a.env\n"
    yield "env/a.env", f"A{blanks}!\nA=x{blanks}\ry\nB='x'{blanks}y\nC={'${A:-' * 50_000}\nexport{blanks}!\n"


def _cycles() -> Iterator[tuple[str, str]]:
    yield "merge/compose.yaml", f"a: &a\n  <<: *a\n  b: 1\nx: &x\n  <<: [*x, *x]\n{COMPOSE}"
    extends = "".join(f"  s{at}: {{extends: s{at + 1}, image: {IMAGE}}}\n" for at in range(500))
    yield (
        "extends/compose.yaml",
        f"services:\n  a: {{extends: a, image: {IMAGE}}}\n  b: {{extends: {{service: c}}}}\n"
        f"  c: {{extends: {{service: b, file: compose.yaml}}}}\n{extends}",
    )
    for here, there in (("a", "b"), ("b", "a")):
        yield f"include/{here}/compose.yaml", f"include: [../{there}/compose.yaml, compose.yaml, ../{here}/compose.yaml]\n{COMPOSE}"
        yield (
            f"kustomize/{here}/kustomization.yaml",
            f"{KUSTOMIZATION}resources: [., .., ../{there}, pod.yaml]\ncomponents: [../{here}, ../{there}]\n",
        )
        yield f"kustomize/{here}/pod.yaml", POD
        yield (
            f"programs/{here}.py",
            f"from {there} import *\nfrom {here} import *\nimport {there}\n{PYTHON}def run(): {there}.run(); run()\nrun()\n",
        )
        yield f"programs/{here}.sh", f"#!/bin/sh\n./{there}.sh\n. ./{here}.sh\nexec ./{here}.sh\n{SCRIPT}"
    yield "kustomize/kustomization.yaml", f"{KUSTOMIZATION}resources: [a, b, .]\npatches: [{{path: kustomization.yaml}}]\n"
    yield "programs/Dockerfile", f'FROM {IMAGE}\nCOPY . .\nENTRYPOINT ["./a.sh"]\nCMD ["python", "a.py"]\n'
    yield (
        "stages/Dockerfile",
        f"FROM a AS a\nFROM b AS c\nFROM c AS b\nCOPY --from=d . .\nFROM d AS d\nCOPY --from=d / /\n"
        f"ONBUILD {'ONBUILD ' * DEEP}RUN x\n{DOCKERFILE}",
    )
    yield (
        "classes/train.py",
        f"{PYTHON}class A(A): pass\nclass B(C): pass\nclass C(B): pass\nf = f\ng = h\nh = g\nf()\ng()\nA().run()\nB().run()\n",
    )
    yield "make/Makefile", f"A=$(A)\nB=$(C)\nC=$(B)\ninclude Makefile\n{MAKEFILE}\tdocker run $(A) $(B)\n"
    yield "requirements/requirements.txt", "-r requirements.txt\n-c requirements.txt\ntorch\n"
    yield (
        "gitlab/.gitlab-ci.yml",
        f"a: {{extends: a, script: docker run {IMAGE}}}\nb: {{extends: [c, b]}}\nc: {{extends: [b, c], script: [docker run {IMAGE}]}}\n",
    )


OUTSIDE = (
    "/etc/passwd",
    "../../../../../../../../etc/passwd",
    "~/.bashrc",
    "https://example.com/a",
    "file:///etc/passwd",
    "..",
    "/",
    ".",
    "",
)


def _outside() -> Iterator[tuple[str, str]]:
    quoted = ", ".join(f"'{path}'" for path in OUTSIDE)
    lines = "".join(f"{{0}}{path}\n" for path in OUTSIDE)
    yield (
        "compose.yaml",
        f"include: [{quoted}]\n{COMPOSE}    env_file: [{quoted}]\n    volumes: [{quoted}]\n"
        + "".join(
            f"  s{at}: {{image: {IMAGE}, build: {{context: '{path}', dockerfile: '{path}'}},"
            f" extends: {{file: '{path}', service: a}}, env_file: '{path}'}}\n"
            for at, path in enumerate(OUTSIDE)
        ),
    )
    yield (
        "kustomization.yaml",
        f"{KUSTOMIZATION}resources: [{quoted}]\nbases: [{quoted}]\ncomponents: [{quoted}]\npatchesStrategicMerge: [{quoted}]\n",
    )
    yield (
        "Dockerfile",
        DOCKERFILE
        + "".join(
            form.format(path)
            for path in OUTSIDE
            for form in (
                "COPY {0} /app/\n",
                "ADD {0} /app/\n",
                "WORKDIR {0}\n",
                'ENTRYPOINT ["{0}"]\n',
                "RUN pip install -r {0}\n",
                "CMD sh {0}\n",
            )
        ),
    )
    yield (
        "run.sh",
        SCRIPT
        + lines.format(". ", *[". "] * 9)
        + "".join(f"docker build -f {path} {path}\nsource {path}\nbash {path}\n" for path in OUTSIDE),
    )
    yield "requirements.txt", "torch\n" + "".join(f"-r {path}\n-c {path}\n-e {path}\n" for path in OUTSIDE)
    yield ".gitlab-ci.yml", f"include: [{quoted}]\na:\n  script: [docker run {IMAGE}]\n"
    yield "chart/Chart.yaml", CHART + f"dependencies: [{', '.join(f'{{name: a, repository: {path!r}}}' for path in OUTSIDE)}]\n"
    yield "chart/templates/pod.yaml", POD + "".join(f'{{{{ .Files.Get "{path}" }}}}\n' for path in OUTSIDE)


def _wrong_types() -> Iterator[tuple[str, str]]:
    for number, value in enumerate(
        ("[]", "{}", "[[]]", "{a: {b: [c]}}", "null", "true", "''", "-1", "1e999999999", "9" * 5_000, "!!binary x", "cuda")
    ):
        keys = ["image", "command", "args", "env", "resources", "securityContext", "volumeMounts", "name"]
        containers = "".join(
            f"    - {{image: {OTHER_IMAGE}, command: [python, train.py, --device, cuda], {key}: {value}}}\n" for key in keys
        )
        limits = "".join(
            f"    - {{image: {OTHER_IMAGE}, resources: {{{key}: {{nvidia.com/gpu: {value}}}}}}}\n" for key in ("limits", "requests")
        )
        pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n"
        pod += f"  tolerations: {value}\n  nodeSelector: {value}\n  volumes: {value}\n"
        yield (
            f"{number}/pod.yaml",
            f"{pod}  containers:\n{containers}{limits}---\napiVersion: {value}\nkind: {value}\nspec: {value}\nx: {OTHER_IMAGE}\n",
        )
        service = [
            "image",
            "command",
            "entrypoint",
            "environment",
            "env_file",
            "deploy",
            "gpus",
            "runtime",
            "devices",
            "volumes",
            "shm_size",
            "build",
            "extends",
            "privileged",
        ]
        services = "".join(f"  s{key}: {{image: {OTHER_IMAGE}, command: python --device cuda, {key}: {value}}}\n" for key in service)
        yield f"{number}/compose.yaml", f"include: {value}\nservices:\n  a: {value}\n{services}"
        yield f"{number}/kustomization.yaml", f"{KUSTOMIZATION}resources: {value}\npatches: {value}\nimages: {value}\n"
        yield (
            f"{number}/.github/workflows/a.yml",
            f"on: push\njobs:\n  a: {value}\n  b: {{container: {value}, steps: {value}}}\n"
            f"  c:\n    steps: [{value}, {{run: {value}}}, {{run: docker run --gpus {value[:90]} {OTHER_IMAGE}}}]\n",
        )
        yield (
            f"{number}/.gitlab-ci.yml",
            f"default: {value}\ninclude: {value}\na: {value}\n"
            f"b: {{image: {value}, script: {value}, services: {value}, extends: {value}}}\nc: {{script: docker run {OTHER_IMAGE}}}\n",
        )
        yield f"{number}/Chart.yaml", f"name: {value}\ndependencies: {value}\n"
        yield f"{number}/values.yaml", f"image: {value}\nresources: {{limits: {{nvidia.com/gpu: {value}}}}}\n"
        yield (
            f"{number}/devcontainer.json",
            f'{{"image": "{OTHER_IMAGE}", "runArgs": {value if value[0] in "[-9" else 3}, "hostRequirements": []}}',
        )
        yield f"{number}/environment.yml", f"dependencies: [{value}, {{pip: {value}}}, pytorch-cuda]\n"


ESCAPES = (
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202e",
    "\r",
    "%0A::error::hostile",
    "::error file=a::hostile",
    "##[error]hostile",
    "]]>",
    "</script>",
    "|`*_@x",
)


def _texts() -> Iterator[tuple[str, str]]:
    """Values that would drive a terminal or a workflow, in whatever a message may quote."""
    for number, text in enumerate(ESCAPES):
        word, quoted = text.replace(" ", ""), '"' + "".join(f"\\u{ord(character):04x}" for character in text) + '"'
        yield f"{number}/pod.yaml", POD.replace("trainer\n", f"{quoted}\n")
        yield (
            f"{number}/compose.yaml",
            COMPOSE.replace("  trainer:", f"  {quoted}:").replace(IMAGE, f"nvidia/cuda:{word.strip()}x" if word.isprintable() else IMAGE),
        )
        yield f"{number}/Dockerfile", f"FROM nvidia/cuda:{word}\n{DOCKERFILE}LABEL a={text}\nFROM nvidia/cuda AS {word}\n"
        yield f"{number}/run.sh", f"{SCRIPT}docker run --gpus '{text}' 'other:{text}' '{text}'\n"
        yield f"{number}/train.py", f"{PYTHON}raise {text}\n"

    code = "$'import torch\\ud800\\udfff\\x00\\xff\\U00110000\\ntorch.cuda.init()'"
    yield "code/run.sh", f"docker run --gpus all {OTHER_IMAGE} python -c {code}\ndocker run -e A={code} {OTHER_IMAGE} {code}\n"
    yield "code/Dockerfile", f'FROM {IMAGE}\nSHELL ["bash", "-c"]\nRUN python -c {code}\nENTRYPOINT python -c {code}\n'
    yield "code/compose.yaml", 'services: {a: {build: ., command: ["python", "-c", "import torch\\uFFFE\\x00\\uFEFF"]}}\n'


def _ignores() -> Iterator[tuple[str, str]]:
    forms = (
        *("ignore", "ignore[", "ignore]", "ignore[]", "ignore[GPU201", "ignore[,,,]", "ignore[GPU999]", "ignore[[GPU201]]", "ignore-file"),
        *("ignore-file[ALL", f"ignore[{'GPU201,' * 2_000}]", "ignore[\x1b[31m]", "ignored[GPU201]", "gpulint: ignore[GPU201]"),
    )
    comments = "".join(f"# gpulint: {form}\n" for form in forms)
    for path, text in EVERY_KIND.items():
        yield path, comments + text + comments
    junk = ("", "GPU201", "GPU", "[GPU201]", "{a: b}", "'", '"', "GPU201 " + "x" * 10_000, "a-" * 5_000, "GPU201," * 2_000)
    for number, value in enumerate(junk):
        yield (
            f"{number}/pod.yaml",
            POD.replace("  name: trainer\nspec", f"  name: trainer\n  annotations: {{gpulint/ignore: {value!r}}}\nspec"),
        )
        yield f"{number}/compose.yaml", f"{COMPOSE}    x-gpulint: {value!r}\nx-gpulint: {value}\n"
    yield "many/pod.yaml", "# gpulint: ignore[GPU201] a\n" * 2_000 + "a:\n" * 3 + POD


def _length() -> Iterator[tuple[str, str]]:
    yield (
        "compose.yaml",
        "services:\n" + "".join(f"  s{at}:\n    image: {IMAGE}\n    command: python --device cuda\n" for at in range(SERVICES)),
    )
    yield "script/run.sh", SCRIPT * 5_000
    yield "script/Makefile", MAKEFILE * 5_000
    yield "lines/Dockerfile", DOCKERFILE + "RUN echo cuda\n" * 100_000
    strings = '"a", ' * 100_000
    yield "columns/Dockerfile", f"{DOCKERFILE}RUN {'x' * 1_000_000}\nENV A={'b' * 1_000_000}\nCMD [{strings}]\n"
    yield "columns/pod.yaml", f"{POD}# {'x' * 1_000_000}\nx: {'y' * 1_000_000}\n"
    yield "columns/run.sh", f"{SCRIPT}echo {'x ' * 100_000}\n"
    yield "columns/train.py", f"{PYTHON}x = [{'1, ' * 100_000}]\n"
    yield "documents/pod.yaml", f"{POD}---\n" * 300 + "---\n" * 20_000
    yield "broken/pod.yaml", f"{POD}]]]\n---\n" * 200
    yield "python2/train.py", f"{PYTHON}print 'cuda'\nexec 'x'\nraise E, 'a'\n"


def _names() -> Iterator[tuple[str, str]]:
    """Names that would drive a terminal or a workflow, or that the system can hardly hold."""
    for number, text in enumerate(ESCAPES):
        yield f"names/{number}/{text.replace('/', '_')}/Dockerfile", DOCKERFILE
        yield f"names/{number}/{text.replace('/', '_')}.yaml", POD
    for name in ("a\nb", "a:1:1: error", "a,b=c::d", "'\"\\$(id)`id`;&|", " lead", "trail ", "-rf", "--help", "é中\u0301🚀", "a" * 240):
        yield f"names/{name}.yaml", POD
        yield f"names/{name}/Dockerfile", DOCKERFILE
    yield "names/" + "d/" * 200 + "Dockerfile", DOCKERFILE


def write_special_files(root: Path) -> None:
    """What is no regular file under names that are read, and what may not be read at all."""
    special = root / "special"
    for name in ("folder/Dockerfile", "folder/pod.yaml", "folder/train.py", "folder/gpulint.toml", "folder/.gitignore"):
        (special / name).mkdir(parents=True)
    for name in ("Dockerfile", "pipe.yaml", "compose.yaml", "train.py", ".env", "pyproject.toml", "kustomization.yaml"):
        os.mkfifo(special / name)
    links = {
        "loop.yaml": "loop.yaml",
        "passwd.yaml": "/etc/passwd",
        "Dockerfile.zero": "/dev/zero",
        "up": "../..",
        "etc": "/etc",
        "here": ".",
        "gone.yaml": "gone",
    }
    for name, target in links.items():
        (special / name).symlink_to(target)
    write(special, "unreadable/Dockerfile", DOCKERFILE)
    (special / "unreadable/Dockerfile").chmod(0)
    write(
        special,
        "uses/compose.yaml",
        f"{COMPOSE}    env_file: [../.env, ../passwd.yaml, ../etc/passwd]\n  b: {{extends: {{file: ../pipe.yaml, service: a}}}}\n",
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(special / "Dockerfile.socket"))
    for name in (b"\xff\xfe.yaml", b"\x80Dockerfile", b"a\xf0.Dockerfile"):
        (special / os.fsdecode(name)).write_text(POD if name.endswith(b"yaml") else DOCKERFILE)


def _write_huge_files(root: Path) -> None:
    """Files of 100 MiB that take no room."""
    for path, text in EVERY_KIND.items():
        write(root, f"huge/{path}", text)
        os.truncate(root / "huge" / path, HUGE)


def _write_small_files(root: Path) -> None:
    for number in range(SMALL_FILES // 500):
        folder = root / "small" / str(number)
        folder.mkdir(parents=True)
        for at in range(500):
            (folder / f"{at}.yaml").write_text("a: 1\n")


def _write_repository(root: Path) -> None:
    """A repository that names a program wherever git would run one; each would leave a file `ran` beside it."""
    program = root / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch '{root}/ran'\n")
    program.chmod(0o755)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    write(root, ".gitattributes", "* filter=hostile diff=hostile merge=hostile\n")
    write(root, "submodule/.git", "gitdir: ../.git\n")
    write(root, "worktree/.git", "gitdir: /nonexistent\n")
    write(root, ".gitmodules", '[submodule "a"]\n\tpath = submodule\n\turl = ext::sh -c touch% ran\n\tupdate = !./program.sh\n')
    settings = {
        "alias.ls-files": f"!{program}",
        "core.editor": str(program),
        "core.fsmonitor": str(program),
        "core.hooksPath": str(root),
        "core.pager": str(program),
        "core.sshCommand": str(program),
        "core.untrackedCache": "true",
        "credential.helper": str(program),
        "filter.hostile.clean": str(program),
        "filter.hostile.smudge": str(program),
        "include.path": "/etc/passwd",
    }
    for key, value in settings.items():
        if key != "include.path":
            subprocess.run(["git", "-C", str(root), "config", key, value], check=True)
