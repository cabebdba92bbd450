"""`flashpath bench LADDER`: time the rungs, their peers and your own function in one run."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from flashpath.messages import say


def bench(
    name: Annotated[str, typer.Argument(metavar="LADDER", help=say("cli.bench-ladder"))],
    own: Annotated[list[str] | None, typer.Option("--with", help=say("cli.bench-with"))] = None,
    dev_hours: Annotated[float | None, typer.Option(help=say("cli.bench-hours"), min=0)] = None,
    case: Annotated[list[str] | None, typer.Option(help=say("cli.bench-case"))] = None,
    list_cases: Annotated[bool, typer.Option("--list", help=say("cli.bench-list"))] = False,
    sizes: Annotated[list[str] | None, typer.Option(help=say("cli.bench-sizes") + say("cli.sizes"))] = None,
    rung: Annotated[list[str] | None, typer.Option(help=say("cli.bench-rung"))] = None,
    device: Annotated[str | None, typer.Option(help=say("cli.bench-device"))] = None,
    seconds: Annotated[float, typer.Option(help=say("cli.bench-seconds"), min=0.01)] = 0.5,
    eager: Annotated[bool, typer.Option("--eager", help=say("cli.bench-eager"))] = False,
    ceilings: Annotated[bool, typer.Option(help=say("cli.bench-ceilings"))] = True,
    output: Annotated[Path | None, typer.Option(help=say("cli.bench-output"))] = None,
    plot: Annotated[Path | None, typer.Option(help=say("cli.bench-plot"))] = None,
    as_json: Annotated[bool, typer.Option("--json", help=say("cli.bench-json"))] = False,
) -> None:
    """Times every rung of a ladder, its peers and your own function."""
    from flashpath import kernels
    from flashpath.bench import Implementation, Record, append, bench_ladder, load_function
    from flashpath.bench.failure import is_wrong
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
        raise FlashpathError("cli.bench-sizes-and-cases")
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
            eager=eager,
            on_record=keep,
        )
    if not as_json:
        print_table(results.records)
        typer.echo(say("cli.bench-on", machine=results.environment.describe()))
    if plot is not None:
        draw(results.records, plot)
    if results.interrupted:
        raise KeyboardInterrupt
    failed = [record for record in results.records if record.error and not record.skipped]
    is_bad = any(record.implementation in extra or is_wrong(record.error) for record in failed)
    has_times = any(record.time and record.time.samples for record in results.records)
    if is_bad or (failed and not has_times):
        raise typer.Exit(1)
