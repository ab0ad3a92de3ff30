"""One run from its paths to its reports: finds root and configuration, builds the project, and hands findings to a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulint import __version__, engine, registry, report
from gpulint.config import Config, find_config, glob_pattern, load_config
from gpulint.deferred import NamedTuple
from gpulint.discover import Kind, is_below, list_files, upward
from gpulint.engine import Outcome, Selection
from gpulint.errors import GpulintError
from gpulint.project import Project
from gpulint.project.tree import Tree
from gpulint.report.run import Run as Report
from gpulint.rule import Entry, Finding, Severity

if TYPE_CHECKING:
    from gpulint.model.container import Container as StartedContainer

STANDARD_INPUT = "-"
INPUT_LIMIT = 64 * 1024 * 1024
"""More is not read from standard input: the pods of a large cluster are less."""
COUNTED = (Kind.DOCKERFILE, Kind.COMPOSE, Kind.MANIFEST, Kind.PYTHON, Kind.SHELL, Kind.UNIT)
"""The kinds that the last line counts."""


class Run(NamedTuple):
    """A run that is ready: its project, settings, and what of it is reported. `stream` is the path under which standard input is read
    that has no name of its own, None where there is none."""

    project: Project
    config: Config
    selection: Selection
    root: str
    stream: str | None = None

    def check(self, use_ignores: bool = True) -> Outcome:
        outcome = engine.check(self.project, self.config, self.selection, use_ignores)
        if self.stream is None or self.project.tree.kind(self.stream) is not Kind.MANIFEST:
            return outcome
        from gpulint.project.object_names import namer

        name = namer(self.project.tree, self.stream)
        return outcome._replace(findings=tuple(_named(finding, self.stream, name) for finding in outcome.findings))

    def notices(self) -> Iterator[str]:
        """What of the settings makes the run see less than whoever wrote them expects."""
        if not engine.active_rules(self.config):
            yield "no rule is selected, so nothing is checked"
        if self.config.machines.states("gpus"):
            from gpulint.project.pools import unknown_gpus

            for model in unknown_gpus(self.config.machines):
                yield f'machines.gpus: no GPU {model!r} is known, so no rule judges by it; write it as nvidia-smi does, such as "T4"'

    def details(self) -> Iterator[str]:
        """What -v says of the run: its configuration, its root, and which rules wait for which facts of the machines."""
        yield f"configuration: {self.config.path or 'none'}"
        yield f"root: {self.root}"
        for entry in self._waiting():
            yield f"{entry.id} {entry.name} waits for {' and '.join(f'machines.{fact}' for fact in entry.machines)}"

    def _waiting(self) -> list[Entry]:
        """The rules that say nothing until the user states a fact of the machines."""
        return [entry for entry in engine.active_rules(self.config) if engine.waits(entry, self.config.machines)]

    def files(self) -> Iterator[tuple[str, Kind]]:
        """The files that would be read, with their kinds."""
        tree = self.project.tree
        for path in sorted(tree.all_paths):
            kind = tree.kind(path)
            if kind:
                yield (path.rpartition("/")[0] if path in tree.documents else path), kind

    def fails(self, outcome: Outcome) -> bool:
        """Whether something is found from --fail-on on."""
        threshold = self.config.fail_on
        return threshold is not None and any(finding.problem.severity >= threshold for finding in outcome.shown)

    def render(self, name: str, outcome: Outcome, color: bool) -> str:
        """The findings in one of the report's formats."""
        return report.render(name, self._report(outcome, color))

    def _report(self, outcome: Outcome, color: bool = False) -> Report:
        held = tuple(finding for finding in outcome.findings if finding.suppressed_by)
        return Report(
            findings=outcome.shown,
            suppressed=held,
            rules={entry.id: entry for entry in engine.active_rules(self.config)},
            source=self.project.tree.source,
            root=self.root,
            version=__version__,
            color=color,
        )

    def write_step_summary(self, outcome: Outcome) -> str:
        """Where GitHub runs this step, append the table of all findings to its summary. A notice where that fails: they are printed."""
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if not path:
            return ""
        from gpulint.report.github import step_summary

        text = step_summary(replace(self._report(outcome), summary=self.summary(outcome)))
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            return f"the step summary {path} cannot be written: {error.strerror}"
        return ""

    def statistics(self, outcome: Outcome) -> str:
        """How often each rule spoke, the most frequent first."""
        counts: dict[tuple[str, str], int] = {}
        for finding in outcome.shown:
            counts[finding.rule, finding.name] = counts.get((finding.rule, finding.name), 0) + 1
        rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        return "".join(f"{count:6}  {rule}  {name}\n" for (rule, name), count in rows)

    def summary(self, outcome: Outcome) -> str:
        """The last line: what was found, and what was understood, so that silence is not mistaken for blindness."""
        counts = {level: sum(finding.problem.severity is level for finding in outcome.shown) for level in reversed(Severity)}
        found = ", ".join(counted(count, level.label) for level, count in counts.items() if count) or "no findings"
        held = len(outcome.findings) - len(outcome.shown)
        ignored = f" ({held} ignored)" if held else ""
        understood = (*self._files_understood(), *self._containers_understood())
        return f"{found}{ignored}: {', '.join(understood) or 'no files of a known kind'}"

    def _files_understood(self) -> Iterator[str]:
        for kind in COUNTED:
            count = self._selected(kind)
            if count:
                yield counted(count, kind.value)
        rendered = self.project.tree.rendered
        templates = [path in rendered for path in self.project.tree.paths(Kind.TEMPLATE) if self._is_selected(path)]
        for outcome, count in (("rendered", sum(templates)), ("not rendered", len(templates) - sum(templates))):
            if count:
                yield f"{counted(count, 'template')} {outcome}"

    def _selected(self, kind: Kind) -> int:
        return sum(map(self._is_selected, self.project.tree.paths(kind)))

    def _is_selected(self, path: str) -> bool:
        return self.selection.has(self.project.tree.documents.get(path, path))

    def _containers_understood(self) -> Iterator[str]:
        """How many containers have or want a GPU, and how many of them are linked to what they run."""
        containers = [container for container in self.project.containers if self._is_selected(container.location.path)]
        if not containers:
            return
        from gpulint.evidence import is_gpu_container

        with_gpu = [container for container in containers if is_gpu_container(container, self.project)]
        images = sum(self.project.build_of(container) is not None for container in with_gpu)
        programs = sum(self.project.start_of(container).program is not None for container in with_gpu)
        links = f" ({images} linked to a Dockerfile, {programs} to a program)" if with_gpu else ""
        yield f"{counted(len(with_gpu), 'GPU container')}{links}"
        waiting = len(self._waiting())
        if with_gpu and waiting:
            yield f"{counted(waiting, 'rule')} {'waits' if waiting == 1 else 'wait'} for [machines]"

    def graph(self, form: str) -> str:
        """What was linked to what, in one of the forms of report.graph."""
        from gpulint.project.graph import read_graph
        from gpulint.report.graph import render

        return render(form, read_graph(self.project, self.selection.has))

    def links(self, name: str, form: str) -> str:
        """The five links of the container of that name. Raises GpulintError where none or several have it."""
        from gpulint.project.five_links import five_links
        from gpulint.project.graph import chain_of
        from gpulint.report.graph import render_links

        container = _container_named(name, self.project)
        return render_links(form, chain_of(container, self.project), five_links(container, self.project))


def _container_named(name: str, project: Project) -> StartedContainer:
    from gpulint.config import nearest
    from gpulint.project.container_names import all_names, distinct_name, named

    found = named(project, name)
    if len(found) == 1:
        return found[0]
    if found:
        ways = (f"{each.location} (ask for {distinct_name(each, project) or each.location.path})" for each in found[:_MOST_NAMED])
        raise GpulintError(f"{name}: {len(found)} containers have this name: {', '.join(ways)}{', ...' * (len(found) > _MOST_NAMED)}")
    names = all_names(project)
    listed = f"; there are {', '.join(names[:_MOST_NAMED])}{', ...' * (len(names) > _MOST_NAMED)}" if names else ""
    raise GpulintError(f"{name}: no such file or folder, and no container of that name{nearest(name, names)}{listed}")


_MOST_NAMED = 10  # containers that a message names


def _named(finding: Finding, stream: str, name: Callable[[int], str]) -> Finding:
    """A finding in a stream, whose lines nobody can look up, with the name of the object that it is in."""
    problem = finding.problem
    of = name(problem.location.line) if problem.location.path == stream else ""
    return finding._replace(problem=problem._replace(message=f"{of}: {problem.message}")) if of else finding


def counted(count: int, noun: str) -> str:
    """`1 error`, `2 errors`, `0 errors`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def find_configuration(paths: tuple[str, ...], given: str | None, isolated: bool) -> tuple[Config, str]:
    """The configuration that holds for these paths, and a notice where two files compete. Raises GpulintError."""
    if isolated:
        return Config(), ""
    folder = _folder(paths)
    path, notice = (given, "") if given else find_config(folder, work_tree(folder))
    if path is None:
        return Config(), ""
    config = load_config(path, work_tree(os.path.dirname(os.path.abspath(path))))
    _check_rules(config)
    return config, notice


def _check_rules(config: Config) -> None:
    """Raises GpulintError for a rule that a key of the configuration names and that does not exist."""
    named = {
        "select": config.select,
        "extend-select": config.extend_select,
        "ignore": config.ignore,
        "extend-ignore": config.extend_ignore,
        "severity": tuple(config.severity),
        "per-file-ignores": tuple(rule for rules in config.per_file_ignores.values() for rule in rules),
    }
    for key, selectors in named.items():
        registry.check_selectors(selectors, f"{config.path}: {key}")


def _folder(paths: tuple[str, ...]) -> str:
    """The folder that the paths share, absolute."""
    named = [os.path.abspath(path) for path in paths if path != STANDARD_INPUT] or [os.getcwd()]
    return os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in named])


def is_there(path: str) -> bool:
    """Whether a path of the command line can be read: standard input, or a file or folder that is there."""
    return path == STANDARD_INPUT or os.path.exists(path)


def work_tree(folder: str) -> str | None:
    """The top of the git work tree around a folder."""
    return next((each for each in upward(folder) if os.path.exists(os.path.join(each, ".git"))), None)


def prepare(paths: tuple[str, ...], config: Config, stdin_filename: str | None) -> Run:
    """Read what the paths name and all that their links may need. Raises GpulintError for a path that is not there."""
    paths = paths or (".",)
    for path in paths:
        if not is_there(path):
            raise GpulintError(f"{path}: no such file or folder")
    if stdin_filename and STANDARD_INPUT not in paths:
        raise GpulintError(f"--stdin-filename {stdin_filename}: standard input is not read; add {STANDARD_INPUT} to the paths")
    root = _root(_folder(paths), config.path)
    if root == os.path.dirname(root) and not any(os.path.abspath(path) == root for path in paths):
        raise GpulintError(
            f"{root} is the only folder that holds these paths, and all of it would be read: give it itself if that is meant"
        )
    given = _standard_input(root, stdin_filename) if STANDARD_INPUT in paths else {}
    only_input = set(paths) == {STANDARD_INPUT} and not stdin_filename
    selection = _selection(root, paths, frozenset(given))
    paths_below = [] if only_input else _files(root, config, selection)
    blocks, documents = _documents(root, paths_below) if config.docs else ({}, {})
    tree = Tree(root, paths_below, {**given, **blocks}, documents)
    for path, data in given.items():
        _require_known_input(path, data, tree)
    project = Project(
        tree, config.machines, strict=config.strict, named=selection.files, wants_notes=engine.visible_from(config) is Severity.NOTE
    )
    stream = None if stdin_filename else next(iter(given), None)
    return Run(project, config, selection, root, stream)


def _root(folder: str, config: str | None) -> str:
    """The folder of the configuration file, else the top of the work tree: the first of them around that folder; else the folder itself."""
    configured = os.path.dirname(os.path.abspath(config)) if config else None
    around = (each for each in (configured, work_tree(folder)) if each and is_below(folder, each))
    return next(around, folder)


def _files(root: str, config: Config, selection: Selection) -> list[str]:
    """The files below the root without the excluded ones; what the command line names is never excluded."""
    excluded = glob_pattern((*config.exclude, *config.extend_exclude))
    files = set(list_files(root, excluded))
    if excluded:
        named = (folder for folder in selection.folders if folder and excluded.search(folder + "/"))
        files.update(f"{folder}/{path}" for folder in named for path in list_files(os.path.join(root, folder), None))
        files.update(path for path in selection.files if os.path.isfile(os.path.join(root, path)))
    return sorted(files)


def _documents(root: str, paths: list[str]) -> tuple[dict[str, bytes], dict[str, str]]:
    """The blocks of code in the documents, each as a file, and of each the path of its document."""
    from gpulint.project.documents import read_documents

    return read_documents(root, paths)


def _standard_input(root: str, name: str | None) -> dict[str, bytes]:
    path = os.path.abspath(name) if name else os.path.join(root, "stdin.yaml")
    inside = os.path.relpath(path, root) if is_below(path, root) else os.path.basename(path)
    return {inside: read_standard_input(INPUT_LIMIT)}


def read_standard_input(limit: int) -> bytes:
    """What stands on standard input. Raises GpulintError where that is more than the limit, or it is closed."""
    if sys.stdin is None:
        raise GpulintError("standard input is closed")
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise GpulintError(f"standard input has more than {limit // 1024 // 1024} MiB")
    return data


def _require_known_input(path: str, data: bytes, tree: Tree) -> None:
    """Refuse standard input in which nothing would be checked, so that a failed command before the pipe is not taken for a clean file."""
    if not data.strip():
        raise GpulintError("standard input is empty: did the command before the pipe fail?")
    if tree.kind(path) is None:
        raise GpulintError(
            "standard input is no manifest and no Compose file: say what it is by a name, such as --stdin-filename Dockerfile"
        )


def _selection(root: str, paths: tuple[str, ...], given: frozenset[str]) -> Selection:
    folders, files = [], set(given)
    for path in paths:
        if path == STANDARD_INPUT:
            continue
        absolute = os.path.abspath(path)
        inside = os.path.relpath(absolute, root)
        if os.path.isdir(absolute):
            folders.append("" if inside == "." else inside)
        else:
            files.add(inside)
    return Selection(tuple(folders), frozenset(files))


def rules_named(word: str) -> str:
    """The page of the rule with that id or name, in capitals or not; the list of those that a prefix names. Raises GpulintError where
    there is none."""
    exact = [entry for entry in registry.catalogue() if word.lower() in (entry.id.lower(), entry.name)]
    if exact:
        return _page(exact[0])
    ids = registry.matching([word.upper()])
    if ids:
        return rule_list(ids)
    raise GpulintError(registry.missing(word))


def rule_list(ids: Container[str] | None = None) -> str:
    """Rules, one a line: id, name, severities; all of them, or those with these ids."""
    entries = (entry for entry in registry.catalogue() if ids is None or entry.id in ids)
    return "".join(f"{entry.id}  {entry.name:32}  {'/'.join(level.label for level in entry.severities)}\n" for entry in entries)


def _page(entry: Entry) -> str:
    from gpulint.pages import page_text, read_page

    page = read_page(entry.page)
    return page_text(page) if page else f"{entry.id} {entry.name}\n"
