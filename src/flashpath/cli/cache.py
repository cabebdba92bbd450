"""`flashpath cache`: look at the compiled kernels, and clear them."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="The compiled kernels on disk: list them, look into one, clear them.",
    no_args_is_help=True,
    epilog="Example: flashpath cache list",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list", epilog="Example: flashpath cache list --json")
def list_entries(as_json: Json = False) -> None:
    """List the entries, the most recently used first."""
    from rich.table import Table

    from flashpath.cli.output import console, print_json
    from flashpath.jit import KernelCache

    cache = KernelCache()
    entries = cache.entries()
    if as_json:
        print_json(entries)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("key", "arch", "size", "last used", "kernels", "source"):
        table.add_column(heading, justify="right" if heading == "size" else "left", overflow="fold")
    for entry in entries:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.last_used))
        kernels = ", ".join(entry.kernels)
        table.add_row(
            entry.key[:12], entry.arch, f"{entry.bytes / 1024:.0f} KiB", used, kernels, entry.source
        )
    out = console()
    if entries:
        out.print(table)
    total = sum(entry.bytes for entry in entries)
    out.print(
        f"{len(entries)} entries, {total / 2**20:.1f} of at most {cache.limit_bytes / 2**20:.0f} MiB, "
        f"in {cache.folder}"
    )


@app.command("show", epilog="Example: flashpath cache show 3fa9 --file kernel.ptx")
def show(
    key: Annotated[str, typer.Argument(help="The key, or its first letters.")],
    file: Annotated[
        str | None, typer.Option(help="Print this file: source.cu, kernel.ptx, compiler.log.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what one entry holds and how it was built."""
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError
    from flashpath.jit import KernelCache

    place = KernelCache().find(key)
    if file is not None:
        path = place / file
        names = sorted(each.name for each in place.iterdir())
        if file not in names:
            raise FlashpathError(f"The entry has no file {file!r}.", f"It has: {', '.join(names)}.")
        typer.echo(path.read_bytes() if file.endswith(".cubin") else path.read_text(encoding="utf-8"))
        return
    build: Any = json.loads((place / "build.json").read_text(encoding="utf-8"))
    if as_json:
        print_json(build)
        return
    out = console()
    for name in ("key", "source", "arch", "compiler", "seconds"):
        out.print(f"{name:<10} {build[name]}", markup=False)
    out.print(f"{'flags':<10} {' '.join(build['flags'] + build['assembler_flags'])}", markup=False)
    for kernel in build["kernels"]:
        parameters: list[Any] = kernel["parameters"] or []
        types = ", ".join(each["text"] for each in parameters)
        out.print(f"{'kernel':<10} {kernel['name']}({types})", markup=False)
    for each in sorted(place.iterdir()):
        out.print(f"{'file':<10} {each} ({each.stat().st_size} B)", markup=False)


@app.command("clear", epilog="Example: flashpath cache clear")
def clear() -> None:
    """Remove every entry; kernels are compiled again when next needed."""
    from flashpath.jit import KernelCache

    entries, size = KernelCache().clear()
    typer.echo(f"Removed {entries} entries, {size / 2**20:.1f} MiB.")
