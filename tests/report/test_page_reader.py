"""Reading a rule's page: sections, the sentence that stands for it, its examples, and its look in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpulint.pages import HOMEPAGE, page_address, page_text, parse_page, read_page

PAGE = """\
# gpu-not-requested (GPU201)

## What

A container that **wants** a GPU, see `--gpus`
and [the docs](https://docs.example/gpu), asks for none. That is:

- an error with two pieces of evidence, which
  may stand far apart
- a warning with one:
  1. an image
  2. a program

## Why

| build | device |
|-------|--------|
| `a*b` | `**`   |

Shell has comments:

```sh
# a comment
## another
```

## Bad

### A job

The job of `train/`:

`job.yaml`:

```yaml
kind: Job
```

`images/Dockerfile`:
````dockerfile
FROM scratch
```
````

### A service

`compose.yaml`:

```yaml
services: {}
"""


def test_sections_and_the_sentence_that_stands_for_the_page() -> None:
    page = parse_page(PAGE)
    assert page.title == "gpu-not-requested (GPU201)"
    assert list(page.sections) == ["What", "Why", "Bad"]
    assert page.summary == "A container that wants a GPU, see `--gpus` and the docs (https://docs.example/gpu), asks for none."
    assert page.description == f"{page.summary} That is:"
    assert page.markdown.startswith("## What\n")


def test_examples_are_sets_of_named_files() -> None:
    job, service = parse_page(PAGE).examples("Bad")
    assert (job.title, service.title) == ("A job", "A service")
    assert job.files == {"job.yaml": "kind: Job\n", "images/Dockerfile": "FROM scratch\n```\n"}
    assert service.files == {"compose.yaml": "services: {}\n"}
    assert parse_page(PAGE).examples("Good") == []


def test_example_without_a_heading() -> None:
    (example,) = parse_page("# x\n\n## Good\n\n`a.sh`:\n\n~~~\nls\n\nls\n~~~\n").examples("Good")
    assert (example.title, example.files) == ("", {"a.sh": "ls\n\nls\n"})


def test_code_without_a_file_name_is_no_example() -> None:
    with pytest.raises(ValueError, match="code in Bad stands below no file name"):
        parse_page("# x\n\n## Bad\n\n```\nls\n```\n").examples("Bad")


def test_page_text(snapshot: Callable[[str, str], None]) -> None:
    snapshot("page.txt", page_text(parse_page(PAGE)))


@pytest.mark.parametrize("text", ["", "\n", "# only a title", "no title\n\n## What\n", "## What\n\n```", "#\n#####\n- \n|\n"])
def test_any_text_is_some_page(text: str) -> None:
    page = parse_page(text)
    assert isinstance(page_text(page), str)
    assert page.summary == page.description == ""


def test_missing_and_unreadable_pages(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"# \xff")
    assert [read_page(path) for path in (tmp_path / "none.md", tmp_path, tmp_path / "latin.md", "")] == [None] * 4


def test_address_of_a_page() -> None:
    address = "https://github.com/gpulint/gpulint/blob/main/rules/gpulint_rules/image/driver_in_image.md"
    assert page_address("/lib/gpulint_rules/image/driver_in_image.md") == address
    assert page_address("/lib/other_rules/image/driver_in_image.md") == ""
    assert page_address("") == ""


def test_homepage_is_that_of_the_project() -> None:
    pyproject = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'Homepage = "{HOMEPAGE}"' in pyproject
