"""Writes a tree of files of real sizes: 300 Dockerfiles of 25 lines, 300 Compose files of 40, 600 manifests of 60, 800 Python files of 150.

A tenth of each kind names a GPU. The same seed gives the same tree.

    python bench/generate.py FOLDER [--scale 1.0]
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

WORDS = [
    "billing",
    "catalog",
    "search",
    "media",
    "ledger",
    "orders",
    "profile",
    "geo",
    "notify",
    "audit",
    "session",
    "cart",
    "quota",
    "index",
    "feed",
    "invoice",
]
BASES = ("python:3.12-slim-bookworm", "debian:12.8-slim", "node:22.12.0-bookworm-slim", "golang:1.23.4-bookworm")
GPU_BASES = ("nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04", "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime")


def dockerfile(rng: random.Random, gpu: bool) -> str:
    """A two-stage Dockerfile of about 25 lines."""
    name = rng.choice(WORDS)
    packages = " \\\n      ".join(sorted(rng.sample(("ca-certificates", "curl", "git", "libpq-dev", "tini", "tzdata", "unzip", "wget"), 5)))
    torch = "RUN pip install --no-cache-dir torch==2.5.1 transformers==4.48.0\n" if gpu else ""
    return f"""# syntax=docker/dockerfile:1
FROM {rng.choice(BASES)} AS build
ARG VERSION=1.{rng.randrange(40)}.{rng.randrange(9)}
WORKDIR /src
COPY requirements.txt ./
RUN --mount=type=cache,target=/root/.cache \\
    pip install --prefix=/install -r requirements.txt

FROM {rng.choice(GPU_BASES) if gpu else rng.choice(BASES)}
LABEL org.opencontainers.image.title="{name}"
ENV PYTHONUNBUFFERED=1 \\
    APP_HOME=/srv/{name}
RUN apt-get update \\
  && apt-get install -y --no-install-recommends \\
      {packages} \\
  && rm -rf /var/lib/apt/lists/*
{torch}COPY --from=build /install /usr/local
COPY {name} /srv/{name}
RUN useradd --uid 10001 app
USER app
EXPOSE {rng.randrange(3000, 9000)}
HEALTHCHECK CMD curl -fsS http://127.0.0.1/health || exit 1
ENTRYPOINT ["tini", "--"]
CMD ["python", "-m", "{name}"]
"""


def compose(rng: random.Random, gpu: bool) -> str:
    """A Compose file of four services and about 40 lines."""
    services = [
        f"""  {name}:
    image: registry.example.com/shop/{name}:{rng.randrange(9)}.{rng.randrange(20)}.0
    restart: unless-stopped
    environment:
      LOG_LEVEL: info
      DATABASE_URL: postgres://app@db:5432/{name}
    ports: ["127.0.0.1:{rng.randrange(3000, 9000)}:8080"]
    volumes:
      - {name}:/data
"""
        for name in rng.sample(WORDS, 4)
    ]
    if gpu:
        services.append("""  embed:
    image: registry.example.com/shop/embed:1.4.0-cuda12.4
    deploy:
      resources:
        reservations:
          devices:
            - {driver: nvidia, count: 1, capabilities: [gpu]}
""")
    return "name: shop\nservices:\n" + "".join(services) + "volumes:\n  data:\n"


def manifest(rng: random.Random, gpu: bool) -> str:
    """A Deployment and its Service, about 60 lines."""
    name = rng.choice(WORDS)
    limit = "\n              nvidia.com/gpu: 1" if gpu else ""
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: shop
  labels:
    app.kubernetes.io/name: {name}
    app.kubernetes.io/part-of: shop
spec:
  replicas: {rng.randrange(1, 6)}
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app.kubernetes.io/name: {name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {name}
    spec:
      serviceAccountName: {name}
      securityContext:
        runAsNonRoot: true
      containers:
        - name: {name}
          image: registry.example.com/shop/{name}:{rng.randrange(9)}.{rng.randrange(20)}.1
          args: ["--listen", "0.0.0.0:8080", "--workers", "{rng.randrange(2, 9)}"]
          ports:
            - name: http
              containerPort: 8080
          env:
            - name: LOG_LEVEL
              value: info
            - name: DATABASE_PASSWORD
              valueFrom:
                secretKeyRef: {{name: {name}, key: password}}
          readinessProbe:
            httpGet: {{path: /health, port: http}}
          resources:
            requests:
              cpu: 500m
              memory: 1Gi
            limits:
              memory: 2Gi{limit}
          volumeMounts:
            - name: data
              mountPath: /data
      volumes:
        - name: data
          emptyDir: {{}}
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: shop
spec:
  selector:
    app.kubernetes.io/name: {name}
  ports:
    - name: http
      port: 80
      targetPort: http
"""


def module(rng: random.Random, gpu: bool) -> str:
    """A Python module of about 150 lines."""
    head = (
        'import torch\n\nDEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        if gpu
        else "import logging\n\nlog = logging.getLogger(__name__)\n"
    )
    functions = []
    for number in range(12):
        name = f"{rng.choice(WORDS)}_{number}"
        functions.append(f'''

def {name}(rows: list[dict[str, int]], limit: int = {rng.randrange(10, 99)}) -> int:
    """Sum what the rows hold below the limit."""
    total = 0
    for row in rows:
        value = row.get("{rng.choice(WORDS)}", 0)
        if value < limit:
            total += value * {rng.randrange(2, 9)}
        elif value > limit * 2:
            total -= 1
    return total
''')
    return head + "".join(functions)


KINDS = (
    (300, "docker", "Dockerfile.{0}", dockerfile),
    (300, "compose", "{0}/docker-compose.yml", compose),
    (600, "k8s", "{0}.yaml", manifest),
    (800, "src", "module_{0}.py", module),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0, help="how many times as many files of each kind")
    options = parser.parse_args()
    rng = random.Random(20)
    for count, folder, name, write in KINDS:
        for number in range(int(count * options.scale)):
            path = options.folder / folder / name.format(f"{number:04}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write(rng, gpu=number % 10 == 0))


if __name__ == "__main__":
    main()
