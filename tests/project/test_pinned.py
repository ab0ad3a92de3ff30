"""Whether another form of the place that names an image pins it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import project

from gpulint.model.image import ImageRef

BASE = """
    apiVersion: v1
    kind: Pod
    metadata: {name: chat}
    spec:
      containers:
        - name: chat
          image: vllm/vllm-openai
    """


def overlay(number: int) -> str:
    return f"""
        resources: [../base]
        patches:
          - patch: '{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "chat"}}, "spec": {{"hostname": "chat{number}"}}}}'
        """


def test_each_form_of_a_place_is_asked_only_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ImageRef] = []
    read = ImageRef.version_location.fget
    monkeypatch.setattr(ImageRef, "version_location", property(lambda image: asked.append(image) or read(image)))
    overlays = {f"overlay{number}/kustomization.yaml": overlay(number) for number in range(30)}
    whole = project(tmp_path, {"base/kustomization.yaml": "resources: [pod.yaml]\n", "base/pod.yaml": BASE, **overlays})
    for image in whole.images:
        whole.is_pinned_elsewhere(image)
    assert len(whole.images) >= 30
    assert len(asked) <= 3 * len(whole.images)
