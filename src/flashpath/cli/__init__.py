"""The command line: one file per command, registered in `commands`."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath.cli.failures import file_error, tell, tell_failure
from flashpath.cli.language import language_of
from flashpath.errors import FlashpathError
from flashpath.messages import say, speaking

if TYPE_CHECKING:
    from flashpath.cli.commands import app as app


def main() -> None:
    """The `flashpath` command."""
    _prepare_streams()
    with speaking(language_of(sys.argv[1:])):
        sys.exit(_flushed(_run()))


def _run() -> int:
    """The exit code of the command; whatever a user can cause is told without a traceback."""
    try:
        code = _start_quickly(sys.argv[1:])
        if code is not None:
            return code
        from flashpath.cli.commands import app  # speaks the language in which it is imported

        app()
    except SystemExit as end:  # typer's way to end, after --help and usage errors too
        if end.code == 130:
            tell("\n" + say("cli.stopped"))
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except (FlashpathError, OSError) as error:
        return tell_failure(error)
    except KeyboardInterrupt:
        tell("\n" + say("cli.stopped"))
        return 130
    return 0


def _start_quickly(words: list[str]) -> int | None:
    """Run a command without loading what reads any other command line; None: typer is to read this one."""
    from flashpath.cli import quick

    match words[:1]:
        case ["run"]:
            from flashpath.cli import run

            command, rest = run.run, run.for_program(words[1:])
        case ["next"]:
            from flashpath.cli.learning.next import next_thing

            command, rest = next_thing, words[1:]
        case ["progress"]:
            from flashpath.cli.learning.progress import progress

            command, rest = progress, words[1:]
        case _:
            return None
    arguments = quick.read(command, rest)
    return None if arguments is None else command(**arguments)


def _prepare_streams() -> None:
    """Make printing safe: into any encoding, into a closed stream, and into a pipe that is closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: `>&-`
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # Dying of SIGPIPE is what other commands do in `… | head`. Python's exception instead is caught by typer
    # and by rich, each of which exits with 1.
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _flushed(code: int) -> int:
    """The exit code once the output is out: a full disk is a failure, told once."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if code == 0:
            tell(say("cli.error", what=say("cli.output-not-written", why=file_error(error))))
        # Python flushes again at its end, and would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or 1
    return code


def __getattr__(name: str) -> Any:
    if name == "app":
        from flashpath.cli.commands import app

        return app
    raise AttributeError(f"module 'flashpath.cli' has no attribute {name!r}")
