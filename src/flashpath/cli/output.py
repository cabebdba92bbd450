"""Where commands print: rich on a terminal, plain and uncut into a pipe, JSON for programs."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from flashpath.messages import Text, spoken

if TYPE_CHECKING:
    from rich.table import Table

_PIPE_WIDTH = 200  # a pipe has no width; this is for rules
_UNBOUNDED = 10_000


def console() -> Console:
    """The console for a command's results. Text from users goes through it as Text or with markup=False."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(highlight=False, emoji=False, width=width, soft_wrap=True)


def print_table(out: Console, table: Table) -> None:
    """To the width of a terminal; into a pipe at full width, a line per row, without trailing spaces."""
    if out.is_terminal:
        out.print(table)
        return
    text = io.StringIO()
    Console(file=text, width=_UNBOUNDED, color_system=None, highlight=False, emoji=False).print(table)
    out.file.writelines(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def shown_file(name: str) -> str:
    """A file as a person here would call it: from the current folder on, where it lies in it."""
    try:
        return Path(name).relative_to(Path.cwd().resolve()).as_posix()
    except (ValueError, OSError):
        return name


def in_language(text: Text | str) -> str:
    """Returns a text of the course or of a ladder in the language that is spoken."""
    return text if isinstance(text, str) else text.in_(spoken())


def print_json(value: Any) -> None:
    """One JSON document on stdout, and nothing else."""
    import typer  # not needed by a command that only prints, and slow to load

    # Where the output is not UTF-8, escapes lose nothing and question marks would.
    utf8 = (sys.stdout.encoding or "utf-8").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(value, indent=1, ensure_ascii=not utf8, default=_plain))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
