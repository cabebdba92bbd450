"""The command line: one file per command, registered here."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flashpath.cli import bench, cache, explain, ladder, tour
from flashpath.cli.doctor import doctor
from flashpath.errors import FlashpathError, MissingDevice

# What the exit codes mean, for every command.
EXIT_CODES = {
    0: "done",
    1: "the work failed: a compile error, a wrong result, something required is missing",
    2: "the command was written wrongly",
    3: "it needs a device that this machine does not have",
    130: "stopped with Ctrl-C",
}

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


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn and build GPU kernels: compile, explain, check and time them."""


app.command("tour")(tour.tour)
app.command("doctor")(doctor)
app.command("explain")(explain.explain)
app.command("ladder")(ladder.ladder)
app.command("bench")(bench.bench)
app.add_typer(cache.app, name="cache")


def main() -> None:
    """The `flashpath` command."""
    try:
        app()
    except FlashpathError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, MissingDevice) else 1)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # `flashpath … | head`: the reader has seen enough
        sys.stderr.close()
        sys.exit(0)
