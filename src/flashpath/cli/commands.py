"""All commands, as typer knows them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from flashpath.cli import (
    bench,
    cache,
    explain,
    explain_dispatch,
    explain_finding,
    export_kernel,
    ladder,
    layout,
    profile,
    quick,
    run,
    sanitize,
    tour,
    tune,
    typer_words,
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
from flashpath.cli.typer_words import Command, Group, Speaking, translated
from flashpath.messages import say

typer_words.install()  # typer puts some of them into the commands that it makes


class _Group(Group):
    """Says in the language, and to programs too, what is wrong with a command line; typer exits with 2."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _saying_usage_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _saying_usage_errors():
            return super().invoke(ctx)


@contextlib.contextmanager
def _saying_usage_errors() -> Generator[None]:
    try:
        yield
    except Exception as error:
        # typer has its own copy of click or shares it, by its version: its errors are known by what they can.
        if hasattr(error, "format_message") and getattr(error, "exit_code", 0) == 2:
            usage_error = cast("Any", error)
            about = getattr(usage_error, "ctx", None)
            command = about.command_path if about is not None else "flashpath"
            sentence = translated(usage_error.format_message())
            usage_error.format_message = lambda: sentence
            tell_program(sentence, f"{command} --help")
        raise


_EXIT_CODES = (
    (0, say("cli.exit-0")),
    (1, say("cli.exit-1")),
    (2, say("cli.exit-2")),
    (3, say("cli.exit-3")),
    (124, say("cli.exit-124")),
    (130, say("cli.exit-130")),
    (141, say("cli.exit-141")),
)

app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # our errors are shown without a traceback, bugs with a plain one
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=say("cli.exit-codes", codes="; ".join(f"{code} {meaning}" for code, meaning in _EXIT_CODES)),
)


def _version(wanted: bool) -> None:
    if wanted:
        from flashpath import __version__

        typer.echo(f"flashpath {__version__}")
        raise typer.Exit


class ProgramCommand(Command):
    """A command after whose `--` the program's own arguments stand, whatever they look like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, run.for_program(args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENTS]"]


class ShapeCommand(Speaking, explain_dispatch.ShapeCommand):
    """A command that reads shapes, and speaks the language."""


@app.callback(help=say("cli.root-help"))
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help=say("cli.root-version"))
    ] = False,
) -> None:
    """Says what flashpath is, above the list of its commands."""


_COURSE = say("cli.panel-course")
_KERNELS = say("cli.panel-kernels")
_MACHINE = say("cli.panel-machine")


def _command(
    panel: str,
    name: str,
    function: Callable[..., Any],
    help_text: str | None = None,
    cls: type[TyperCommand] = Command,
) -> None:
    """Registers a command; its help, in the language that is spoken, is `say("cli.NAME-help")`."""
    app.command(name, cls=cls, help=help_text, rich_help_panel=panel)(function)


_command(_COURSE, "tour", tour.tour, say("cli.tour-help"))
_command(_COURSE, "start", start.start, say("cli.learning.start-help"))
_command(_COURSE, "next", quick.for_typer(next_thing), say("cli.learning.next-help"))
_command(_COURSE, "read", read.read, say("cli.learning.read-help"))
_command(_COURSE, "watch", watch.watch, say("cli.learning.watch-help"))
_command(_COURSE, "grade", grade.grade, say("cli.learning.grade-help"))
_command(_COURSE, "hint", hint.hint, say("cli.learning.hint-help"))
_command(_COURSE, "solution", solution.solution, say("cli.learning.solution-help"))
_command(_COURSE, "reset", reset.reset, say("cli.learning.reset-help"))
_command(_COURSE, "progress", quick.for_typer(progress.progress), say("cli.learning.progress-help"))
_command(_COURSE, "review", review.review, say("cli.learning.review-help"))
_command(_COURSE, "note", note.note, say("cli.learning.note-help"))
_command(_COURSE, "log", log.log, say("cli.learning.log-help"))
_command(_COURSE, "export", export.export, say("cli.learning.export-help"))
_command(_COURSE, "resources", resources.resources, say("cli.learning.resources-help"))

_command(_KERNELS, "run", quick.for_typer(run.run), say("cli.run-help"), ProgramCommand)
_command(_KERNELS, "explain", explain.explain, say("cli.explain-help"))
_command(_KERNELS, "profile", profile.profile, say("cli.profile-help"), ProgramCommand)
_command(_KERNELS, "sanitize", sanitize.sanitize, say("cli.sanitize-help"), ProgramCommand)
_command(_KERNELS, "explain-finding", explain_finding.explain_finding, say("cli.explain-finding-help"))
_command(_KERNELS, "validate", validate.validate, say("cli.learning.validate-help"))
_command(_KERNELS, "ladder", ladder.ladder, say("cli.ladder-help"))
_command(_KERNELS, "bench", bench.bench, say("cli.bench-help"))
_command(_KERNELS, "tune", tune.tune, say("cli.tune-help"))
_command(_KERNELS, "export-kernel", export_kernel.export_kernel, say("cli.export-kernel-help"))
_command(_KERNELS, "layout", layout.layout, say("cli.layout-help"))
_command(_KERNELS, "explain-dispatch", explain_dispatch.explain_dispatch, cls=ShapeCommand)

_command(_MACHINE, "doctor", doctor, say("cli.doctor.help"))
app.add_typer(cache.app, name="cache", rich_help_panel=_MACHINE)
