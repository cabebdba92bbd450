"""`flashpath tune LADDER`: every configuration of the rungs, with its time and its error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.bench.failure import shown
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.bench.tuning import Tried, Tuning
    from flashpath.kernels import Case, Ladder, Rung


def tune(
    name: Annotated[str, typer.Argument(metavar="LADDER", help=say("cli.tune-ladder"))],
    rung: Annotated[list[str] | None, typer.Option(help=say("cli.tune-rung"))] = None,
    size: Annotated[str | None, typer.Option(help=say("cli.sizes"))] = None,
    case: Annotated[str | None, typer.Option(help=say("cli.tune-case"))] = None,
    device: Annotated[str | None, typer.Option(help=say("cli.bench-device"))] = None,
    seconds: Annotated[float, typer.Option(help=say("cli.tune-seconds"), min=0.01)] = 0.2,
    as_json: Annotated[bool, typer.Option("--json", help=say("cli.option-json"))] = False,
) -> None:
    """Tries every configuration of a ladder's rungs."""
    from flashpath import kernels
    from flashpath.bench.tuning import tune as try_all
    from flashpath.cli.output import console, print_json

    ladder = kernels.ladder(name)
    rungs = [ladder[each] for each in rung] if rung else list(ladder)
    tunings: list[Tuning] = []
    for chosen, takers in _chosen(ladder, rungs, case, size, device):
        names = [each.name for each in takers]
        tunings.append(try_all(ladder, chosen, only=names, device=device, seconds=seconds))
        if not as_json:
            _show(name, tunings[-1], console())
        if tunings[-1].interrupted:
            break
    if as_json:
        cases = [{"case": each.case.name, "tried": each.tried} for each in tunings]
        print_json({"ladder": name, "cases": cases})
    elif any(each.is_bound for tuning in tunings for each in tuning):
        console().print(say("cli.tune-no-clock"))
    if tunings[-1].interrupted:
        raise KeyboardInterrupt


def _chosen(
    ladder: Ladder, rungs: list[Rung], case: str | None, size: str | None, device: str | None
) -> list[tuple[Case, list[Rung]]]:
    """The cases, each with the rungs that are tried on it."""
    from flashpath.bench.counting import samples
    from flashpath.bench.device import resolve_device
    from flashpath.bench.ladder import choose_cases
    from flashpath.bench.tuning import cases_of
    from flashpath.cli.sizes import sized_cases
    from flashpath.errors import FlashpathError

    if case is not None and size is not None:
        raise FlashpathError("cli.tune-size-and-case")
    if case is not None:
        return [(each, rungs) for each in choose_cases(ladder, [case])]
    if size is not None:
        return [(each, rungs) for each in sized_cases(ladder, [size])]
    return cases_of(rungs, samples(ladder) if resolve_device(device) == "cpu" else ladder.cases())


def _show(name: str, tuning: Tuning, out: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from flashpath.bench.table import NO_VALUE
    from flashpath.bench.table import seconds as shown_seconds
    from flashpath.cli.output import print_table

    def whole(count: int | None) -> str:
        return NO_VALUE if count is None else f"{count:,}"

    def times(value: float | None, least: float | None) -> str:
        return f"{value / least:.2f}" if value and least else NO_VALUE

    def timed(each: Tried) -> list[str]:
        return [shown_seconds(each.seconds), times(each.seconds, tuning.tried[0].seconds)]

    def counted(each: Tried) -> list[str]:
        counts = map(whole, (each.instructions, each.sectors, each.bank_conflicts))
        return [shown_seconds(each.seconds), times(each.cost, tuning.tried[0].cost), *counts]

    is_bound = any(each.is_bound for each in tuning)
    headings = (
        (
            say("cli.column-at-least"),
            say("cli.column-least-cost"),
            say("cli.column-warp-instructions"),
            say("cli.column-sectors"),
            say("cli.column-bank-conflicts"),
        )
        if is_bound
        else (say("cli.column-median"), say("cli.column-fastest"))
    )
    out.print(f"{name}: {tuning.case.name}", markup=False, style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(say("cli.column-configuration"))
    for heading in (*headings, say("cli.column-error")):
        table.add_column(heading, justify="right")
    table.add_column("")
    for each in tuning:
        error = NO_VALUE if each.error is None else f"{each.error:.1e}"
        cells = (each.name, *(counted if is_bound else timed)(each), error, shown(each.failure or ""))
        table.add_row(*map(Text, cells))
    print_table(out, table)
