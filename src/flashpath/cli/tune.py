"""`flashpath tune LADDER`: every configuration of the rungs, with its time and its error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.sizes import SIZES_HELP

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.bench.tuning import Tried, Tuning
    from flashpath.kernels import Case, Ladder, Rung

NO_CLOCK = (
    "There is no GPU here, and the virtual one has no clock: none of this is a time. “At least” is the bound "
    "of the roofline, the same wherever the same bytes and FLOPs are. The order is that of the counted cost: "
    "what the scarcest of memory, arithmetic, instructions, sectors and shared memory needs, without latency."
)


def tune(
    name: Annotated[str, typer.Argument(metavar="LADDER", help="Such as matmul.")],
    rung: Annotated[list[str] | None, typer.Option(help="Only this rung.")] = None,
    size: Annotated[str | None, typer.Option(help=SIZES_HELP)] = None,
    case: Annotated[str | None, typer.Option(help="A case of the benchmark: --case '2^24 float32'.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cuda or cpu; by default the GPU, if there is one.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time spent on each configuration.", min=0.01)] = 0.2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try every configuration of a ladder's rungs, and list each with its time and its error.

    The error is the largest distance from the float64 result, in units of that result's largest element: so
    the price of a faster configuration in accuracy can be seen. Without --case and --size each rung is tried
    on the first of the ladder's cases that it takes. Without a GPU these are small ones, the configurations
    run on the virtual GPU, and what it counts stands in the place of a time. Ctrl-C lists what was tried.

    Examples:

        flashpath tune reduction

        flashpath tune matmul --rung triton_persistent --case '4096³ bfloat16'
    """
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
        console().print(NO_CLOCK)
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
        raise FlashpathError("Both --size and --case were given.", "Name a case, or the size of a new one.")
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
        ("at least", "× least cost", "warp instructions", "sectors", "bank conflicts")
        if is_bound
        else ("median", "× fastest")
    )
    out.print(f"{name}: {tuning.case.name}", markup=False, style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("configuration")
    for heading in (*headings, "error"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for each in tuning:
        error = NO_VALUE if each.error is None else f"{each.error:.1e}"
        cells = (each.name, *(counted if is_bound else timed)(each), error, each.failure or "")
        table.add_row(*map(Text, cells))
    print_table(out, table)
