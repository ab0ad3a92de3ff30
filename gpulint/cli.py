"""The command line: parses options and hands over."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from gpulint import __version__
from gpulint.errors import CLEAN, FAILED, FINDINGS, GpulintError
from gpulint.report import FORMATS, GRAPHS
from gpulint.report.terminal import printable

Function = TypeVar("Function", bound=Callable[..., Any])
LEVELS = ("note", "warning", "error")


class VerbOrPaths(click.Group):
    """`gpulint PATH...` is `gpulint check PATH...`: a first word that is no verb begins the arguments of check."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own_options = {"--help", "-h", "--version"}
        if not args or (args[0] not in self.commands and args[0] not in own_options):
            args = ["check", *args]
        elif args[0] in self.commands and args[0] != "check" and os.path.exists(args[0]):
            click.echo(f"gpulint: running the verb {args[0]}; to check what lies there, write gpulint ./{args[0]}", err=True)
        return super().parse_args(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Turn what ends a run early into one line and exit code 2."""
        try:
            return super().main(*args, **kwargs)
        except GpulintError as error:
            _say(str(error))
        except Exception as error:  # a defect must not pass for a run with findings, whose exit code Python's own end would give
            if os.environ.get("GPULINT_TRACEBACK"):
                raise
            _say(f"failed with {type(error).__name__}: {error}; this is a defect of gpulint, please report it")
        sys.exit(FAILED)


def _say(line: str) -> None:
    """A line for the user on standard error; nothing for an empty one."""
    if line:
        click.echo(f"gpulint: {printable(line)}", err=True)


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from gpulint.facts import facts_date

        click.echo(f"gpulint {__version__} (facts of {facts_date()})")
        ctx.exit()


@click.group(cls=VerbOrPaths, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print version and date of the facts.")
def cli() -> None:
    """Find, before anything runs, what would make a GPU container fall to CPU, fail to start, or run insecurely.

    gpulint [PATH...] is gpulint check [PATH...], whose options gpulint check --help lists. In a repository's folder, gpulint . checks all
    of it: Dockerfiles, Compose files, Kubernetes manifests, Helm charts, Kustomize trees, Python, shell and CI files.

    \b
    Exit codes: 0 no findings, 1 findings, 2 wrong use, a bad configuration or a crash.
    """


def _options(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


common = _options(
    click.option("--config", type=click.Path(exists=True, dir_okay=False), help="Use this configuration file."),
    click.option("--isolated", is_flag=True, help="Use no configuration file."),
    click.option(
        "--machine", "machine", multiple=True, metavar="KEY=VALUE", help="A fact of the machines, such as default_runtime=nvidia."
    ),
    click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out, besides those of the configuration."),
)


@cli.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@common
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules: ids, names, prefixes such as GPU2, or ALL.")
@click.option("--ignore", multiple=True, metavar="RULES", help="None of these rules.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="These rules besides the configured ones.")
@click.option("--extend-ignore", multiple=True, metavar="RULES", help="None of these rules either.")
@click.option("--min-severity", type=click.Choice(LEVELS), help="Show findings from this severity on.  [default: warning]")
@click.option("--fail-on", type=click.Choice((*reversed(LEVELS), "never")), help="Exit with 1 from this severity on.  [default: warning]")
@click.option(
    "--format", "formats", multiple=True, metavar="FORMAT[=PATH]", help=f"{', '.join(FORMATS)}; to a file with =PATH. Repeatable."
)
@click.option("--strict", is_flag=True, help="Ask for what common guides ask beyond what the facts support.")
@click.option("--docs", is_flag=True, help="Check the code blocks of Markdown files too: commands, Compose files, manifests, Dockerfiles.")
@click.option("--no-ignores", is_flag=True, help="Report what ignore comments hold back, too.")
@click.option("--stdin-filename", metavar="PATH", help="The name under which standard input (-) is read.")
@click.option("--statistics", is_flag=True, help="Print how often each rule spoke instead of its findings.")
@click.option(
    "--show-files", is_flag=True, help="Print which files would be read, and as what; what these name, such as .env, is read too."
)
@click.option("-q", "--quiet", is_flag=True, help="No summary line.")
@click.option("-v", "--verbose", is_flag=True, help="Say which configuration and root are used, and which rules wait for [machines].")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour the text report.  [default: auto]")
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Check a repository: the current folder, or PATHs ('-' is standard input).

    PATHs select what is reported; links between files are read from the whole repository.
    """
    from gpulint import session

    _require_paths(paths)
    formats = _formats(options["formats"])
    run = session.prepare(paths, config=_configured(paths, options), stdin_filename=options["stdin_filename"])
    for line in (*run.notices(), *(run.details() if options["verbose"] else ())):
        _say(line)
    if options["show_files"]:
        click.echo("".join(f"{printable(path)}: {kind.value}\n" for path, kind in run.files()), nl=False)
        return
    outcome = run.check(use_ignores=not options["no_ignores"])
    for name, path in formats:
        if path or not options["statistics"]:
            _write(run.render(name, outcome, color=_color(options["color"], path)), path)
    if options["statistics"]:
        click.echo(run.statistics(outcome), nl=False)
    _say(run.write_step_summary(outcome))
    if not options["quiet"]:
        in_text = bool(outcome.shown) and ("text", None) in formats and not options["statistics"]
        click.echo("\n" * in_text + run.summary(outcome), err=True)  # a line between the last paragraph and what is said of all
    sys.exit(FAILED if outcome.crashed else FINDINGS if run.fails(outcome) else CLEAN)


def _require_paths(paths: tuple[str, ...]) -> None:
    """Raises GpulintError for a first word that is neither a path nor a verb, with the verb that it may be meant for."""
    from gpulint import session
    from gpulint.config import nearest

    if paths and not session.is_there(paths[0]):
        raise GpulintError(f"{paths[0]}: no such file or folder{nearest(paths[0], cli.commands)}")


def _configured(paths: tuple[str, ...], options: dict[str, Any]) -> Any:
    """The configuration for these paths with the command line's options over it."""
    from gpulint import session
    from gpulint.config import at_least, machine_option, severity, severity_or_never

    config, notice = session.find_configuration(paths, options["config"], options["isolated"])
    changes: dict[str, Any] = {}
    for option in ("select", "ignore"):
        if options.get(option):
            changes[option] = _rules(option, options[option])
    for option in ("extend_select", "extend_ignore"):
        if options.get(option):
            changes[option] = (*getattr(config, option), *_rules(option, options[option]))
    if options.get("exclude"):
        changes["extend_exclude"] = (*config.extend_exclude, *options["exclude"])
    if options.get("min_severity"):
        changes["min_severity"] = severity(options["min_severity"])
        changes["fail_on"] = at_least(config.fail_on, changes["min_severity"])
    if options.get("fail_on"):
        changes["fail_on"] = severity_or_never(options["fail_on"])
    for option in ("strict", "docs"):
        if options.get(option):
            changes[option] = True
    if options.get("machine"):
        changes["machines"] = config.machines._replace(**dict(machine_option(fact) for fact in options["machine"]))
    _say(notice)
    return replace(config, **changes)


def _rules(option: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """The rules that an option names, each time it is given, separated by commas. Raises GpulintError for one that does not exist."""
    from gpulint.registry import check_selectors

    rules = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    check_selectors(rules, f"--{option.replace('_', '-')}")
    return rules


def _formats(values: tuple[str, ...]) -> list[tuple[str, str | None]]:
    """Formats with the file each is written to; None for standard output, which takes one."""
    chosen: list[tuple[str, str | None]] = []
    for value in values or ("text",):
        name, _, path = value.partition("=")
        if name not in FORMATS:
            from gpulint.config import nearest

            raise GpulintError(f"--format {value}: no format {name!r}{nearest(name, FORMATS)}; there are {', '.join(FORMATS)}")
        chosen.append((name, path or None))
    if sum(path is None for _, path in chosen) > 1:
        raise GpulintError("--format: only one format can go to standard output; write the others to files with FORMAT=PATH")
    return chosen


def _write(report: str, path: str | None) -> None:
    try:
        if path is None:
            click.echo(report, nl=False, color=True)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(report)
    except BrokenPipeError:  # whoever reads has read enough, which click takes care of
        raise
    except OSError as error:
        raise GpulintError(f"{path or 'standard output'}: cannot be written: {error.strerror}") from None


def _color(choice: str, path: str | None) -> bool:
    """Whether to colour: as asked, else by NO_COLOR and FORCE_COLOR, else on a terminal alone."""
    if choice != "auto":
        return choice == "always"
    if path is not None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout is not None and sys.stdout.isatty())


@cli.command()
@click.argument("rules", nargs=-1, metavar="[RULE]...")
def rule(rules: tuple[str, ...]) -> None:
    """List the rules, those of a prefix such as GPU2, or print the pages of some, by id or name."""
    from gpulint import session

    click.echo("\n".join(map(session.rules_named, rules)) if rules else session.rule_list(), nl=False)


@cli.command()
@click.argument("paths", nargs=-1, metavar="[PATH | NAME]...")
@common
@click.option("--format", "form", type=click.Choice(GRAPHS), default="text", help="How to print it.  [default: text]")
def graph(paths: tuple[str, ...], form: str, **options: Any) -> None:
    """Show what was linked to what, and how: containers, images, Dockerfiles, programs.

    PATHs select what is shown: what stands in them, or is linked to a file there. A NAME that is no path is that of one container: a
    Compose service, POD/CONTAINER, a workload, or the stage that it runs; with its file before it (compose.yaml:train) where several have
    it. Its five links are shown as a table: what is known of each, and the command that proves it on the machine.
    """
    from gpulint import session

    names = [path for path in paths if not session.is_there(path)]
    folders = tuple(path for path in paths if path not in names)
    if len(names) > 1:
        raise GpulintError(f"{names[0]} and {names[1]} are no files or folders; ask for one container at a time")
    run = session.prepare(folders, config=_configured(folders, options), stdin_filename=None)
    click.echo(run.links(names[0], form) if names else run.graph(form), nl=False)


@cli.command()
@click.argument("source", metavar="FILE")
def setup(source: str) -> None:
    """Print the table [machines] of gpulint.toml from what the machines print of themselves, in FILE or on standard input (-).

    \b
    kubectl get nodes -o json | gpulint setup - >> gpulint.toml
    nvidia-smi -q -x | gpulint setup - >> gpulint.toml
    """
    from gpulint.setup import setup

    click.echo(setup(source), nl=False)
