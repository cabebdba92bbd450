"""`flashpath bench LADDER`: time the rungs, their peers and your own function in one run."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from flashpath.cli.sizes import SIZES_HELP


def bench(
    name: Annotated[str, typer.Argument(metavar="LADDER", help="Such as vector_add.")],
    own: Annotated[
        list[str] | None, typer.Option("--with", help="FILE.py:function to time beside the rungs.")
    ] = None,
    dev_hours: Annotated[
        float | None, typer.Option(help="How long your function took to write; kept in its record.", min=0)
    ] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only this case; --case '2^20 float32'.")] = None,
    list_cases: Annotated[
        bool, typer.Option("--list", help="Only list the ladder's cases, for --case, and time nothing.")
    ] = False,
    sizes: Annotated[
        list[str] | None, typer.Option(help=f"In place of the ladder's own cases. {SIZES_HELP}")
    ] = None,
    rung: Annotated[list[str] | None, typer.Option(help="Only this rung (and the peers).")] = None,
    device: Annotated[
        str | None, typer.Option(help="cuda or cpu; by default the GPU, if there is one.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time spent on each implementation and case.", min=0.01)
    ] = 0.5,
    ceilings: Annotated[
        bool, typer.Option(help="Measure copy, read and GEMM ceilings in the same run.")
    ] = True,
    output: Annotated[Path | None, typer.Option(help="Append the records to this JSON-lines file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw speeds and the roofline: .svg, .png or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON lines.")] = False,
) -> None:
    """Time every rung of a ladder against PyTorch and, with --with, against your own function.

    Results are checked before anything is timed, and again on new data after; all are interleaved in one run.
    Records are kept as soon as a case is done, so Ctrl-C loses nothing. Without a GPU, only what runs on the
    CPU is timed. What your function prints goes to stderr. The exit code is 1 where it fails, where a result
    is wrong, and where nothing could be timed.

    Examples:

        flashpath bench vector_add

        flashpath bench vector_add --sizes 2^16,2^20,2^24 --plot speeds.svg

        flashpath bench attention --list

        flashpath bench attention --sizes 1x512x8x64

        flashpath bench vector_add --with my_kernels.py:my_add --dev-hours 1.5 --output results.jsonl
    """
    from flashpath import kernels
    from flashpath.bench import Implementation, Record, append, bench_ladder, load_function
    from flashpath.bench.plot import draw, require_drawable
    from flashpath.bench.record_files import require_appendable
    from flashpath.bench.table import print_table
    from flashpath.cli.sizes import sized_cases, split_sizes
    from flashpath.errors import FlashpathError

    out = sys.stdout

    def keep(record: Record) -> None:
        if output is not None:
            append(output, [record])
        if as_json:
            typer.echo(record.to_json(), file=out)

    ladder = kernels.ladder(name)
    if list_cases:
        names = [each.name for each in ladder.cases()]
        typer.echo(json.dumps(names, ensure_ascii=False) if as_json else "\n".join(names))
        return
    if output is not None:
        require_appendable(output)
    if plot is not None:
        require_drawable(plot)
    if sizes and case:
        raise FlashpathError("Both --sizes and --case were given.", "Name cases, or sizes for new ones.")
    # Around everything, not around each call: that would be timed too.
    with contextlib.redirect_stdout(sys.stderr):
        extra = {text: Implementation(load_function(text), dev_hours=dev_hours) for text in own or []}
        results = bench_ladder(
            ladder,
            cases=sized_cases(ladder, split_sizes(sizes)) if sizes else case,
            extra=extra,
            device=device,
            only=rung,
            ceilings=ceilings,
            seconds=seconds,
            on_record=keep,
        )
    if not as_json:
        print_table(results.records)
        typer.echo(f"On {results.environment.describe()}.")
    if plot is not None:
        draw(results.records, plot)
    if results.interrupted:
        raise KeyboardInterrupt
    failed = [record for record in results.records if record.error and not record.skipped]
    is_bad = any(
        record.implementation in extra or "wrong result" in (record.error or "") for record in failed
    )
    has_times = any(record.time and record.time.samples for record in results.records)
    if is_bad or (failed and not has_times):
        raise typer.Exit(1)
