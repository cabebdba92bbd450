"""Where commands print: rich on a terminal, plain and uncut into a pipe, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

import typer
from rich.console import Console

_PIPE_WIDTH = 200  # a pipe has no width; this keeps tables whole and lines readable


def console() -> Console:
    """The console for a command's results."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout, and nothing else."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
