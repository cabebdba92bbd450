"""`flashpath tune LADDER`: every configuration of the rungs, with its time and its error."""

from __future__ import annotations

from typing import Annotated

import typer

from flashpath.cli.sizes import SIZES_HELP


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
    the price of a faster configuration in accuracy can be seen. The case is one that the rungs take, by
    default the ladder's first. Without a GPU it is a small one, the configurations run on the virtual GPU,
    and the time is the least that its roofline allows.

    Examples:

        flashpath tune reduction

        flashpath tune matmul --rung triton_persistent --case '4096³ bfloat16'
    """
    from rich.table import Table
    from rich.text import Text

    from flashpath import kernels
    from flashpath.bench.counting import first_taken, samples
    from flashpath.bench.device import resolve_device
    from flashpath.bench.ladder import choose_cases
    from flashpath.bench.table import NO_VALUE
    from flashpath.bench.table import seconds as shown_seconds
    from flashpath.bench.tuning import tune as try_all
    from flashpath.cli.output import console, print_json, print_table
    from flashpath.cli.sizes import sized_cases

    ladder = kernels.ladder(name)
    if case is not None:
        (chosen,) = choose_cases(ladder, [case])
    elif size is not None:
        (chosen,) = sized_cases(ladder, [size])
    else:
        cases = samples(ladder) if resolve_device(device) == "cpu" else ladder.cases()
        chosen = first_taken(cases, *(ladder[each] for each in rung or ()))
    tried = try_all(ladder, chosen, only=rung, device=device, seconds=seconds)
    if as_json:
        print_json({"ladder": name, "case": chosen.name, "tried": tried})
        return
    out = console()
    is_bound = any(each.is_bound for each in tried)
    out.print(f"{name}: {chosen.name}", markup=False, style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("configuration")
    headings = (
        "at least" if is_bound else "median",
        "× fastest",
        "warp instructions" if is_bound else "",
        "error",
    )
    for heading in filter(None, headings):
        table.add_column(heading, justify="right")
    table.add_column("")
    fastest = next((each.seconds for each in tried if each.seconds), None)
    for each in tried:
        slower = f"{each.seconds / fastest:.2f}" if each.seconds and fastest else NO_VALUE
        error = NO_VALUE if each.error is None else f"{each.error:.1e}"
        counted = [NO_VALUE if each.instructions is None else f"{each.instructions:,}"] if is_bound else []
        cells = (each.name, shown_seconds(each.seconds), slower, *counted, error, each.failure or "")
        table.add_row(*map(Text, cells))
    print_table(out, table)
    if is_bound:
        out.print(
            "There is no GPU here: the times are lower bounds of the virtual one's roofline, not measured."
        )
