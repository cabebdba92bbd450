"""`flashpath ladder`: the operations, their rungs, and each rung's idea and source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from flashpath.kernels import Rung


def ladder(
    name: Annotated[str | None, typer.Argument(help="A ladder, such as vector_add; without it, all.")] = None,
    rung: Annotated[str | None, typer.Argument(help="A rung: its source is printed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the ladders, the rungs of one, or the source of a rung.

    Examples:

        flashpath ladder

        flashpath ladder vector_add

        flashpath ladder vector_add vectorized
    """
    from rich.table import Table
    from rich.text import Text

    from flashpath import kernels
    from flashpath.bench.loc import count_file
    from flashpath.cli.output import console, print_json, print_table

    out = console()
    if name is None:
        every = [kernels.ladder(each) for each in kernels.ladders()]
        if as_json:
            print_json([{"name": each.name, "title": each.title, "rungs": len(each)} for each in every])
            return
        for each in every:
            out.print(f"{each.name}  {each.title}: {each.maths}  ({len(each)} rungs)", markup=False)
        return
    found = kernels.ladder(name)
    if rung is not None:
        source = found[rung].file.read_text(encoding="utf-8")
        if as_json:
            print_json({**_facts(found[rung]), "source": source})
        else:
            typer.echo(source)
        return
    if as_json:
        print_json([_facts(each) for each in found])
        return
    out.print(f"{found.title}  {found.maths}", markup=False, style="bold")  # [i] is no markup
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("rung", "language", "from", "lines", "improves on", "idea"):
        table.add_column(heading, justify="right" if heading == "lines" else "left")
    for each in found:
        lines = str(count_file(each.file))
        cells = (each.name, each.language, each.arch, lines, each.improves_on or "–", each.idea)
        table.add_row(*map(Text, cells))  # a[i] is no markup
    print_table(out, table)
    out.print(f"flashpath ladder {name} RUNG shows its source; flashpath bench {name} times them.")


def _facts(rung: Rung) -> dict[str, Any]:
    """A rung for programs; its two scores come with their reasons."""
    fields = (
        "name",
        "language",
        "arch",
        "idea",
        "improves_on",
        "readability",
        "debugging",
        "dev_hours",
        "file",
    )
    return {field: getattr(rung, field) for field in fields}
