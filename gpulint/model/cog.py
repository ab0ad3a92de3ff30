"""cog.yaml: the container that Cog builds of a folder, and serves its predictor in.

Source: replicate/cog, docs/yaml.md and docs/getting-started-own-model.md: the folder is copied to /src.
"""

from __future__ import annotations

from posixpath import basename

from gpulint.model.container import Container, Dialect, GpuRequest, Mount, RequestKind, RequestState
from gpulint.model.manifest import read
from gpulint.parse.nodes import Mapping, Scalar
from gpulint.parse.yaml import YamlSyntax
from gpulint.source import Text

_FOLDER = "/src"
_OPEN = frozenset({"image", "env", "shm"})
"""What Cog and who runs the image decide."""


def is_cog(path: str) -> bool:
    """Whether a file of that name is Cog's."""
    return basename(path) == "cog.yaml"


def read_cog(syntax: YamlSyntax) -> Container | None:
    """The container of a predictor that is built for a GPU; None for any other."""
    root = syntax.documents[0].root if syntax.documents else None
    gpu = root.mapping("build").entry("gpu") if isinstance(root, Mapping) else None
    predict = read(root.get("predict")) if isinstance(root, Mapping) else None
    if gpu is None or not isinstance(gpu.value, Scalar) or gpu.value.lower() != "true" or not isinstance(predict, Text):
        return None
    words = tuple(Text(word, predict.location, ()) for word in ("cog", "predict"))
    return Container(
        dialect=Dialect.TASK,
        name=None,
        location=predict.location,
        entrypoint=(*words, predict),
        working_directory=Text(_FOLDER, predict.location, ()),
        mounts=(Mount(Text(".", predict.location, ()), Text(_FOLDER, predict.location, ()), predict.location),),
        requests=(GpuRequest(RequestKind.PRODUCT, RequestState.ASKED, gpu.key.location, resource=gpu.key),),
        open=_OPEN,
    )
