"""Mutants: the solution with a few edits, or a whole file of their own."""

from __future__ import annotations

from typing import Any, cast

from flashpath.course.content.exercise import REASONS, Mutant
from flashpath.course.content.table import Table, check_slug


def read_mutants(table: Table, solution: str) -> tuple[Mutant, ...]:
    mutants: list[Mutant] = []
    for each in table.tables("mutants"):
        mutant = _mutant(each, solution)
        if any(other.name == mutant.name for other in mutants):
            each.wrong("name", "course.content.mutant-twice", name=mutant.name)
        mutants.append(mutant)
    return tuple(mutants)


def _mutant(table: Table, solution: str) -> Mutant:
    name = check_slug(table, "name", table.string("name"))
    source, edits = table.maybe_string("source"), _edits(table)
    if (source is None) == (not edits):
        table.wrong("edits", "course.content.mutant-without-edits")
    return Mutant(
        name=name,
        rejected_for=table.one_of("rejected_for", table.string("rejected_for"), reasons()),
        hint=table.text("hint"),
        source=_edited(table, solution, edits) if source is None else source,
        edits=edits,
        with_words=table.strings("with"),
        without_words=table.strings("without"),
    )


def reasons() -> tuple[str, ...]:
    """Every word for why a submission is rejected."""
    from flashpath.vgpu.findings import KINDS

    return tuple(dict.fromkeys((*KINDS, *REASONS)))


def _edits(table: Table) -> tuple[tuple[str, str], ...]:
    edits: list[tuple[str, str]] = []
    raw = table.raw("edits")
    for each in cast("list[Any]", raw if isinstance(raw, list) else [] if raw is None else [raw]):
        pair = cast("list[Any]", each) if isinstance(each, list) else []
        if len(pair) != 2 or not all(isinstance(text, str) for text in pair) or not pair[0]:
            table.wrong("edits", "course.content.not-an-edit", edit=each)
        edits.append((pair[0], pair[1]))
    return tuple(edits)


def _edited(table: Table, solution: str, edits: tuple[tuple[str, str], ...]) -> str:
    """All edits are of the solution itself: none sees what another one wrote."""
    places: list[tuple[int, str, str]] = []
    for number, (old, new) in enumerate(edits, 1):
        times = solution.count(old)
        if times != 1:
            table.wrong(
                f"edits[{number}]",
                "course.content.edit-many-times" if times else "course.content.edit-not-there",
                old=old,
                times=times,
            )
        places.append((solution.index(old), old, new))
    places.sort()
    parts, end = [""], 0
    for start, old, new in places:
        if start < end:
            table.wrong("edits", "course.content.edits-overlap", old=old)
        parts += [solution[end:start], new]
        end = start + len(old)
    text = "".join(parts) + solution[end:]
    if text == solution:
        table.wrong("edits", "course.content.edits-nothing")
    return text
