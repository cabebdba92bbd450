"""`flashpath ladder`: the operations, their rungs, and each rung's idea, traffic, speed and source."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.bench.counting import Counted
    from flashpath.bench.record import Record
    from flashpath.kernels import Case, Ladder, Rung


def ladder(
    name: Annotated[str | None, typer.Argument(help=say("cli.ladder-name"))] = None,
    rung: Annotated[str | None, typer.Argument(help=say("cli.ladder-rung"))] = None,
    count: Annotated[bool, typer.Option(help=say("cli.ladder-count"))] = True,
    as_json: Annotated[bool, typer.Option("--json", help=say("cli.option-json"))] = False,
) -> None:
    """Lists the ladders, the rungs of one, or the source of a rung."""
    from flashpath import kernels
    from flashpath.cli.output import console, print_json

    out = console()
    if name is None:
        every = [kernels.ladder(each) for each in kernels.ladders()]
        if as_json:
            print_json([{"name": each.name, "title": each.title, "rungs": len(each)} for each in every])
            return
        for each in every:
            out.print(
                say(
                    "cli.ladder-line",
                    name=each.name,
                    title=each.title,
                    maths=each.maths,
                    rungs=len(each),
                ),
                markup=False,
            )
        return
    found = kernels.ladder(name)
    if rung is not None:
        _show_source(found[rung], as_json)
        return
    _show(found, out, count, as_json)


def _show_source(rung: Rung, as_json: bool) -> None:
    """The rung's file, and where that only includes or imports its kernels, their files too."""
    from flashpath.bench.loc import borrowed
    from flashpath.cli.output import print_json

    source = rung.file.read_text(encoding="utf-8")
    others = {each: each.read_text(encoding="utf-8") for each in borrowed(rung.file)}
    if as_json:
        print_json(
            {**_facts(rung), "source": source, "borrowed": {str(each): text for each, text in others.items()}}
        )
        return
    typer.echo(source)
    comment = "#" if rung.file.suffix == ".py" else "//"
    for each, text in others.items():
        typer.echo(f"{comment} ---- {each.parent.name}/{each.name} ----\n\n{text}")


def _show(found: Ladder, out: Console, wants_counts: bool, as_json: bool) -> None:
    from flashpath.bench.counting import last_measured, samples
    from flashpath.cli.output import print_json

    measured = last_measured(found)
    cases = samples(found) if wants_counts and found.sized else []
    if as_json:
        counts = _counted(found, cases)
        records = {name: record for group in reversed(measured) for name, record in group.items()}
        print_json(
            [{**_facts(each), **_numbers(counts.get(each.name), records.get(each.name))} for each in found]
        )
        return
    _print_ideas(found, out)
    if cases:
        _print_counts(found, cases, _counted(found, cases), out)
    if measured:
        _print_speeds(found, measured, out)
    out.print(say("cli.ladder-more", name=found.name))


def _counted(found: Ladder, cases: Sequence[Case]) -> dict[str, tuple[Case, Counted]]:
    """For each rung the case that it was counted on, and what was counted."""
    from flashpath.bench.counting import count, first_taken
    from flashpath.bench.table import progress_bar

    counts: dict[str, tuple[Case, Counted]] = {}
    rungs = [each for each in found if each.language != "pytorch"] if cases else []
    with progress_bar(len(rungs), wanted=True) as advance:
        for each in rungs:
            case = first_taken(cases, each)
            counts[each.name] = case, count(each, case)
            advance(say("cli.ladder-counting", rung=each.name))
    return counts


def _print_ideas(found: Ladder, out: Console) -> None:
    from flashpath.bench.loc import count_file

    out.print(f"{found.title}  {found.maths}", markup=False, style="bold")  # [i] is no markup
    rows = [
        (
            each.name,
            each.language,
            each.arch,
            str(count_file(each.file)),
            each.improves_on or "–",
            each.idea,
        )
        for each in found
    ]
    headings = (
        say("cli.column-rung"),
        say("cli.column-language"),
        say("cli.column-from"),
        say("cli.column-lines"),
        say("cli.column-improves"),
        say("cli.column-idea"),
    )
    _print(out, headings, rows, right=headings[3:4])


def _print_counts(
    found: Ladder, cases: Sequence[Case], counts: Mapping[str, tuple[Case, Counted]], out: Console
) -> None:
    for case in cases:
        of_case = {name: counted for name, (on, counted) in counts.items() if on is case}
        if of_case:
            notes = {name: found[name].not_counted for name in of_case}
            _print_counts_of(case, of_case, {name: note for name, note in notes.items() if note}, out)


def _print_counts_of(
    case: Case, counts: Mapping[str, Counted], notes: Mapping[str, str], out: Console
) -> None:
    from flashpath.bench.table import digits, memory

    out.print(
        "\n" + say("cli.ladder-counted", case=case.name, bytes=memory(case.bytes)),
        markup=False,
        style="bold",
    )
    rows = [
        (
            name,
            say("cli.ladder-and-torch", launches=counted.launches)
            if name in notes
            else f"{counted.launches}",
            memory(counted.global_bytes),
            digits(counted.times_least),
            digits(counted.sectors_per_request),
            f"{counted.shared_requests:,}",
            f"{counted.bank_conflicts:,}",
            f"{counted.warp_instructions:,}",
        )
        if counted.failure is None
        else (name, "–", "–", "–", "–", "–", "–", counted.failure)
        for name, counted in counts.items()
    ]
    headings = (
        say("cli.column-rung"),
        say("cli.column-launches"),
        say("cli.column-asked"),
        say("cli.column-times-least"),
        say("cli.column-sectors-per-request"),
        say("cli.column-shared-requests"),
        say("cli.column-bank-conflicts"),
        say("cli.column-warp-instructions"),
    )
    _print(out, headings, rows, right=headings[1:])
    for name, note in notes.items():
        out.print(f"{name}: {note}", markup=False)


def _print_speeds(found: Ladder, measured: Sequence[Mapping[str, Record]], out: Console) -> None:
    for group in measured:
        _print_speeds_of(found, group, out)


def _print_speeds_of(found: Ladder, measured: Mapping[str, Record], out: Console) -> None:
    from flashpath.bench.table import digits, fraction, median

    record = next(iter(measured.values()))
    environment = record.environment
    commit = say("cli.ladder-commit", commit=environment.commit[:10]) if environment.commit else ""
    where = environment.gpu or environment.cpu or environment.device
    out.print(
        "\n" + say("cli.ladder-measured", case=record.case, where=where, commit=commit),
        markup=False,
        style="bold",
    )
    ours = {each.name for each in found}
    rows = [
        (
            name if name in ours else say("cli.ladder-peer", name=name),
            median(each),
            digits(each.gb_per_s),
            digits(each.tflop_per_s),
            digits(each.ratio_to_fastest_peer),
            fraction(each),
        )
        for name, each in measured.items()
    ]
    headings = (
        say("cli.column-rung"),
        say("cli.column-median"),
        "GB/s",
        "TFLOP/s",
        say("cli.column-peer"),
        say("cli.column-ceiling"),
    )
    _print(out, headings, rows, right=headings[1:])


def _print(
    out: Console, headings: tuple[str, ...], rows: list[tuple[str, ...]], right: tuple[str, ...]
) -> None:
    from rich.table import Table
    from rich.text import Text

    from flashpath.cli.output import print_table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left")
    for row in rows:
        table.add_row(*map(Text, row))  # a[i] is no markup
    print_table(out, table)


def _facts(rung: Rung) -> dict[str, Any]:
    """A rung for programs; its two scores come with their reasons."""
    fields = ("name", "language", "arch", "improves_on", "dev_hours", "not_counted", "file", "idea")
    return {field: getattr(rung, field) for field in fields} | {
        "readability": rung.score("readability"),
        "debugging": rung.score("debugging"),
    }


def _numbers(counted: tuple[Case, Counted] | None, measured: Record | None) -> dict[str, Any]:
    return {
        "counted": {"case": counted[0].name, **dataclasses.asdict(counted[1])} if counted else None,
        "measured": dataclasses.asdict(measured) if measured else None,
    }
