"""Which files there are, and of which kind, by name and first bytes."""

from __future__ import annotations

import enum


class Kind(enum.Enum):
    """What a file is, as far as its name and first bytes tell."""

    DOCKERFILE = "Dockerfile"
    COMPOSE = "Compose file"
    MANIFEST = "manifest"
    KUSTOMIZATION = "kustomization"
    CHART = "chart"
    VALUES = "values file"
    TEMPLATE = "template"
    PYTHON = "Python file"
    SHELL = "script"
    MAKEFILE = "Makefile"
    GITHUB = "GitHub file"
    GITLAB = "GitLab CI file"
    REQUIREMENTS = "requirements file"
    ENVIRONMENT = "conda environment"
    PYPROJECT = "pyproject.toml"
    DEVCONTAINER = "dev container"
