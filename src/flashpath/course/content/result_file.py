"""Reads what an exercise expects: the reference of its results, how near they must be, and its goals."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from flashpath.course.content import exercise as model
from flashpath.course.content.table import Table
from flashpath.course.content.value_file import checked, expression, whole_sizes
from flashpath.messages import told


def read_reference(
    table: Table, folder: Path, outputs: Collection[str], values: Collection[str]
) -> dict[str, Any]:
    reference: dict[str, str] = {}
    for name, value in table.items("reference"):
        reference[name] = checked(table, f"reference.{name}", value, values)
    own_file = folder / "reference.py"
    file = own_file if own_file.exists() else None
    if file is None and not reference:
        table.missing("reference", told("course.content.example-reference"))
    if file and reference:
        table.wrong("reference", "course.content.two-references")
    if reference and set(reference) != set(outputs):
        table.wrong(
            "reference", "course.content.other-outputs", given=list(reference), expected=list(outputs)
        )
    with table.table("tolerance") as each:
        tolerance = model.Tolerance(
            depth=_for_outputs(each, "depth", outputs, values) or "1",
            scale=_for_outputs(each, "scale", outputs, values),
            exact=each.flag("exact"),
        )
    return {"reference": reference, "reference_file": file, "tolerance": tolerance}


def _for_outputs(
    table: Table, key: str, outputs: Collection[str], values: Collection[str]
) -> str | dict[str, str] | None:
    """One expression for all outputs, or a table of one for each that needs its own."""
    names = [*values, *outputs]
    if not isinstance(table.raw(key), dict):
        return expression(table, key, names)
    by_output: dict[str, str] = {}
    for name, value in table.items(key):
        table.one_of(key, name, outputs)
        by_output[name] = checked(table, f"{key}.{name}", value, names)
    return by_output


def read_goals(table: Table, sizes: Collection[str]) -> tuple[model.Goal, ...]:
    goals: list[model.Goal] = []
    for each in table.tables("goals"):
        at_most, at_least = each.maybe_number("at_most"), each.maybe_number("at_least")
        if at_most is None and at_least is None:
            each.missing("at_most", told("course.content.example-at-most"))
        goals.append(
            model.Goal(
                name=each.text("name"),
                count=checked(each, "count", each.string("count"), [*sizes, "report"]),
                sizes=whole_sizes(each, sizes),
                missed=each.text("missed"),
                at_most=at_most,
                at_least=at_least,
            )
        )
    return tuple(goals)
