"""All commands, as typer knows them."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from flashpath.cli import (
    EXIT_CODES,
    bench,
    cache,
    explain,
    explain_dispatch,
    explain_finding,
    ladder,
    profile,
    quick,
    run,
    sanitize,
    tour,
    tune,
)
from flashpath.cli.doctor import doctor
from flashpath.cli.failures import tell_program
from flashpath.cli.learning import (
    export,
    grade,
    hint,
    log,
    note,
    progress,
    read,
    reset,
    resources,
    review,
    solution,
    start,
    validate,
    watch,
)
from flashpath.cli.learning.next import next_thing
from flashpath.messages import say


class _Group(TyperGroup):
    """Tells programs, too, what is wrong with a command line; typer tells people, and exits with 2."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _telling_programs():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _telling_programs():
            return super().invoke(ctx)


@contextlib.contextmanager
def _telling_programs() -> Generator[None]:
    try:
        yield
    except Exception as error:
        # typer has its own copy of click or shares it, by its version: its errors are known by what they can.
        if hasattr(error, "format_message") and getattr(error, "exit_code", 0) == 2:
            about: Any = getattr(error, "ctx", None)
            command = about.command_path if about is not None else "flashpath"
            tell_program(cast("Any", error).format_message(), f"{command} --help")
        raise


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # our errors are shown without a traceback, bugs with a plain one
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
)


def _version(wanted: bool) -> None:
    if wanted:
        from flashpath import __version__

        typer.echo(f"flashpath {__version__}")
        raise typer.Exit


class ProgramCommand(TyperCommand):
    """A command after whose `--` the program's own arguments stand, whatever they look like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, run.for_program(args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENTS]"]


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn and build GPU kernels: a course that grades itself; tools that run, explain, check and time."""


_COURSE, _KERNELS, _MACHINE = "The course", "Kernels", "This machine"

app.command("tour", rich_help_panel=_COURSE)(tour.tour)
app.command("start", rich_help_panel=_COURSE, help=say("cli.start-help"))(start.start)
app.command("next", rich_help_panel=_COURSE, help=say("cli.next-help"))(quick.for_typer(next_thing))
app.command("read", rich_help_panel=_COURSE, help=say("cli.read-help"))(read.read)
app.command("watch", rich_help_panel=_COURSE, help=say("cli.watch-help"))(watch.watch)
app.command("grade", rich_help_panel=_COURSE, help=say("cli.grade-help"))(grade.grade)
app.command("hint", rich_help_panel=_COURSE, help=say("cli.hint-help"))(hint.hint)
app.command("solution", rich_help_panel=_COURSE, help=say("cli.solution-help"))(solution.solution)
app.command("reset", rich_help_panel=_COURSE, help=say("cli.reset-help"))(reset.reset)
app.command("progress", rich_help_panel=_COURSE, help=say("cli.progress-help"))(
    quick.for_typer(progress.progress)
)
app.command("review", rich_help_panel=_COURSE, help=say("cli.review-help"))(review.review)
app.command("note", rich_help_panel=_COURSE, help=say("cli.note-help"))(note.note)
app.command("log", rich_help_panel=_COURSE, help=say("cli.log-help"))(log.log)
app.command("export", rich_help_panel=_COURSE, help=say("cli.export-help"))(export.export)
app.command("resources", rich_help_panel=_COURSE, help=say("cli.resources-help"))(resources.resources)

app.command("run", cls=ProgramCommand, rich_help_panel=_KERNELS)(quick.for_typer(run.run))
app.command("explain", rich_help_panel=_KERNELS)(explain.explain)
app.command("profile", cls=ProgramCommand, rich_help_panel=_KERNELS)(profile.profile)
app.command("sanitize", cls=ProgramCommand, rich_help_panel=_KERNELS)(sanitize.sanitize)
app.command("explain-finding", rich_help_panel=_KERNELS)(explain_finding.explain_finding)
app.command("validate", rich_help_panel=_KERNELS, help=say("cli.validate-help"))(validate.validate)
app.command("ladder", rich_help_panel=_KERNELS)(ladder.ladder)
app.command("bench", rich_help_panel=_KERNELS)(bench.bench)
app.command("tune", rich_help_panel=_KERNELS)(tune.tune)
app.command("explain-dispatch", cls=explain_dispatch.ShapeCommand, rich_help_panel=_KERNELS)(
    explain_dispatch.explain_dispatch
)

app.command("doctor", rich_help_panel=_MACHINE)(doctor)
app.add_typer(cache.app, name="cache", rich_help_panel=_MACHINE)
