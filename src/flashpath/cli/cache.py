"""`flashpath cache`: look at the compiled kernels, and clear them."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli.typer_words import Command, Group
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.jit.cache import Summary

app = typer.Typer(
    cls=Group,
    help=say("cli.cache-help"),
    no_args_is_help=True,
    epilog=say("cli.example", command="flashpath cache list"),
)

_NAMES_WIDTH = 48

Json = Annotated[bool, typer.Option("--json", help=say("cli.option-json"))]


@app.command(
    "list",
    cls=Command,
    help=say("cli.cache-list-help"),
    epilog=say("cli.example", command="flashpath cache list --json"),
)
def list_entries(as_json: Json = False) -> None:
    """Lists the entries, the most recently used first."""
    from rich.table import Table
    from rich.text import Text

    from flashpath.cli.output import console, print_json, print_table
    from flashpath.jit import KernelCache

    cache = KernelCache()
    entries = [entry for entry in cache.entries() if _is_whole(entry)]
    if as_json:
        print_json(entries)
        return
    table = Table(box=None, pad_edge=False)
    size_heading = say("cli.column-size")
    for heading in (
        say("cli.column-key"),
        say("cli.column-arch"),
        size_heading,
        say("cli.column-used"),
        say("cli.column-kernels"),
        say("cli.column-source"),
    ):
        table.add_column(heading, justify="right" if heading == size_heading else "left", overflow="fold")
    for entry in entries:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.last_used))
        kernels = shortened(", ".join(entry.kernels))
        size = f"{entry.bytes / 1024:.0f} KiB"
        row = (entry.key[:12], entry.arch, size, used, kernels, entry.source)
        table.add_row(*(Text(cell) for cell in row))  # names and paths may hold brackets: no markup
    out = console()
    if entries:
        print_table(out, table)
    total = sum(entry.bytes for entry in entries)
    out.print(
        say(
            "cli.cache-total",
            entries=len(entries),
            size=total / 2**20,
            limit=cache.limit_bytes / 2**20,
            folder=cache.folder,
        ),
        markup=False,
    )


@app.command(
    "show",
    cls=Command,
    help=say("cli.cache-show-help"),
    epilog=say("cli.example", command="flashpath cache show 3fa9 --file kernel.ptx"),
)
def show(
    key: Annotated[str, typer.Argument(help=say("cli.cache-key"))],
    file: Annotated[str | None, typer.Option(help=say("cli.cache-file"))] = None,
    as_json: Json = False,
) -> None:
    """Shows what one entry holds and how it was built."""
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError
    from flashpath.jit import KernelCache

    place = KernelCache().find(key)
    if file is not None:
        names = sorted(each.name for each in place.iterdir())
        if file not in names:
            raise FlashpathError("cli.cache-no-file", file=file, names=names)
        sys.stdout.flush()
        sys.stdout.buffer.write((place / file).read_bytes())  # to the byte: a cubin may be redirected
        return
    try:
        build = json.loads((place / "build.json").read_bytes())
        facts = _facts(build)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FlashpathError(
            "cli.cache-damaged", entry=place, why=f"{type(error).__name__}: {error}"
        ) from None
    if as_json:
        print_json(build)
        return
    facts += [("file", f"{each} ({each.stat().st_size} B)") for each in sorted(place.iterdir())]
    out = console()
    for name, value in facts:
        out.print(f"{name:<10} {value}", markup=False)


@app.command(
    "clear",
    cls=Command,
    help=say("cli.cache-clear-help"),
    epilog=say("cli.example", command="flashpath cache clear"),
)
def clear() -> None:
    """Removes every entry."""
    from flashpath.jit import KernelCache

    entries, size = KernelCache().clear()
    typer.echo(say("cli.cache-cleared", entries=entries, size=size / 2**20))


def shortened(names: str) -> str:
    """Names of template instances have hundreds of letters; `cache show` and --json tell all of them."""
    return names if len(names) <= _NAMES_WIDTH else f"{names[: _NAMES_WIDTH - 1]}…"


def _is_whole(entry: Summary) -> bool:
    """Whether what build.json says has the right types; files on a disk can be damaged."""
    return all(isinstance(text, str) for text in (entry.source, entry.arch, *entry.kernels))


def _facts(build: Any) -> list[tuple[str, str]]:
    """What `show` prints of build.json, by name; raises where it is not as it was written."""
    facts = [(name, str(build[name])) for name in ("key", "source", "arch", "compiler", "seconds")]
    facts.append(("flags", " ".join([*build["flags"], *build["assembler_flags"]])))
    for kernel in build["kernels"]:
        parameters: list[Any] = kernel["parameters"] or []
        types = ", ".join(each["text"] for each in parameters)
        facts.append(("kernel", f"{kernel['name']}({types})"))
    return facts
