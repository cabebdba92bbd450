"""All commands, as typer knows them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from flashpath.cli import (
    EXIT_CODES,
    bench,
    cache,
    explain,
    explain_dispatch,
    explain_finding,
    export,
    grade,
    hint,
    ladder,
    log,
    note,
    profile,
    progress,
    quick,
    read,
    reset,
    resources,
    review,
    run,
    sanitize,
    solution,
    start,
    tour,
    tune,
    validate,
    watch,
)
from flashpath.cli.doctor import doctor
from flashpath.cli.next import next_thing

app = typer.Typer(
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
    """Learn and build GPU kernels: compile, explain, check and time them."""


app.command("tour")(tour.tour)
app.command("doctor")(doctor)
app.command("read")(read.read)
app.command("resources")(resources.resources)
app.command("run", cls=ProgramCommand)(quick.for_typer(run.run))
app.command("explain")(explain.explain)
app.command("profile", cls=ProgramCommand)(profile.profile)
app.command("sanitize", cls=ProgramCommand)(sanitize.sanitize)
app.command("explain-finding")(explain_finding.explain_finding)
app.command("ladder")(ladder.ladder)
app.command("explain-dispatch", cls=explain_dispatch.ShapeCommand)(explain_dispatch.explain_dispatch)
app.command("bench")(bench.bench)
app.command("tune")(tune.tune)
app.command("validate")(validate.validate)
app.add_typer(cache.app, name="cache")
app.command("start")(start.start)
app.command("next")(quick.for_typer(next_thing))
app.command("watch")(watch.watch)
app.command("grade")(grade.grade)
app.command("hint")(hint.hint)
app.command("solution")(solution.solution)
app.command("reset")(reset.reset)
app.command("progress")(quick.for_typer(progress.progress))
app.command("review")(review.review)
app.command("note")(note.note)
app.command("log")(log.log)
app.command("export")(export.export)
