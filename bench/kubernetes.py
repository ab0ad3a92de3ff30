"""Times gpulint on 10,000 Kubernetes documents, a third of them CRD schemas, beside reading them once with PyYAML's C parser, in one run.

    python bench/kubernetes.py [--documents 10000] [--gpu-every 10] [--runs 5]

The tree is made anew in a scratch folder: a folder a component with two CRDs, a Deployment with its Service, and a Job with its ConfigMap,
every tenth for a GPU. What gpulint is measured against composes every document of every file, `yaml.compose_all(text,
Loader=CBaseLoader)`, and does nothing with it. The two take turns; the medians are printed, of the time on the clock and of the time that
the processors worked, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from dockerfiles import medians
from generate import WORDS, manifest

OF_A_COMPONENT = 6
"""Documents of one folder."""

READ_ONCE = """
import glob, yaml
for path in glob.glob("*/*.yaml"):
    with open(path, encoding="utf-8") as file:
        for _ in yaml.compose_all(file.read(), Loader=yaml.CBaseLoader):
            pass
"""


def definition(rng: random.Random, name: str) -> str:
    """A CRD with a schema of some 120 lines."""
    fields = "".join(
        f"""
                {rng.choice(WORDS)}{number}:
                  description: {rng.choice(WORDS).capitalize()} of the {name}, as its controller reads it.
                  type: object
                  properties:
                    enabled: {{type: boolean, default: false}}
                    replicas:
                      type: integer
                      format: int32
                      minimum: {rng.randrange(4)}
                    selector:
                      type: object
                      additionalProperties:
                        type: string"""
        for number in range(9)
    )
    return f"""apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {name}s.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names: {{kind: {name.capitalize()}, plural: {name}s, singular: {name}}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:{fields}
"""


def job(rng: random.Random, name: str, gpu: bool) -> str:
    """A Job and the ConfigMap that it mounts."""
    limit = "\n              nvidia.com/gpu: 1" if gpu else ""
    toleration = "      tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n" if gpu else ""
    image = "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime" if gpu else f"registry.example.com/shop/{name}:1.{rng.randrange(9)}.0"
    settings = "\n".join(f"    {rng.choice(WORDS)}-{number}: {rng.randrange(999)}" for number in range(12))
    return f"""apiVersion: batch/v1
kind: Job
metadata:
  name: {name}-nightly
  namespace: shop
spec:
  backoffLimit: 1
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: {name}
          image: {image}
          command: ["/bin/sh", "-c", "exec ./run --config /etc/{name}/settings.yaml"]
          resources:
            limits:
              cpu: "2"
              memory: 4Gi{limit}
          volumeMounts:
            - name: settings
              mountPath: /etc/{name}
{toleration}      volumes:
        - name: settings
          configMap:
            name: {name}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: shop
data:
  settings.yaml: |
{settings}
"""


def write_tree(folder: Path, documents: int, gpu_every: int) -> list[str]:
    """Components with their manifests; gives the paths of the files. The same numbers give the same tree."""
    rng = random.Random(20)
    paths = []
    for number in range(documents // OF_A_COMPONENT):
        gpu = number % gpu_every == 0
        name = f"{rng.choice(WORDS)}-{number:04}"
        component = folder / name
        component.mkdir()
        files = {
            "crds.yaml": "---\n".join(definition(rng, f"{name}{which}") for which in ("order", "batch")),
            "app.yaml": manifest(rng, gpu),
            "job.yaml": job(rng, name, gpu),
        }
        for file, text in files.items():
            (component / file).write_text(text)
            paths.append(f"{name}/{file}")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--gpu-every", type=int, default=10, help="every how many-th component is for a GPU")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--gpulint", default=shutil.which("gpulint", path=str(Path(sys.executable).parent)) or shutil.which("gpulint"))
    options = parser.parse_args()
    if options.gpulint is None:
        parser.error("gpulint has to be installed")
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        paths = write_tree(tree, options.documents, options.gpu_every)
        subprocess.run(["git", "init", "-q", scratch], check=True)
        times = medians({"compose_all": [sys.executable, "-c", READ_ONCE], "gpulint": [options.gpulint, "."]}, tree, options.runs)
        size = sum((tree / path).stat().st_size for path in paths)
    documents = len(paths) // 3 * OF_A_COMPONENT
    print(f"{documents} documents in {len(paths)} files, {size / 1e6:.1f} MB; gpulint {version('gpulint')}")
    for name, (clock, processors) in times.items():
        shares = clock / times["compose_all"].clock, processors / times["compose_all"].processors
        print(f"{name:12} {clock:7.2f} s ({shares[0]:.2f} x compose_all)   processors {processors:7.2f} s ({shares[1]:.2f} x compose_all)")


if __name__ == "__main__":
    main()
