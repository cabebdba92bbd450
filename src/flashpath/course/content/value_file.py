"""Reads the values of an exercise: its sizes and cases, scalars, arrays, and the expressions of them."""

from __future__ import annotations

import keyword
from collections.abc import Collection
from typing import Any, cast

from flashpath.course import expressions
from flashpath.course.content import exercise as model
from flashpath.course.content.table import Table
from flashpath.messages import told


def read_case(table: Table) -> model.CaseSpec:
    sizes: dict[str, tuple[model.Size, ...]] = {}
    for name, value in table.items("sizes"):
        choices = cast("list[Any]", value if isinstance(value, list) else [value])
        if not choices:
            table.wrong(f"sizes.{name}", "course.content.no-sizes")
        sizes[name] = tuple(_size(table, name, each, list(sizes)) for each in choices)
    if "sizes" not in table:
        table.missing("sizes", "{ n = 1000 }")
    values = table.raw("values")
    if isinstance(values, str):
        return model.CaseSpec(sizes, (table.choice("values", model.VALUES),))
    fills = table.strings("values") or ("normal",)
    for each in fills:
        table.one_of("values", each, model.VALUES)
    return model.CaseSpec(sizes, fills)


def _size(table: Table, name: str, value: Any, before: Collection[str]) -> model.Size:
    key = f"sizes.{name}"
    if type(value) is int:
        if not 0 <= value < 2**31:
            table.wrong(key, "course.content.size-out-of-range", value=value)
        return value
    if not isinstance(value, str):
        table.wrong(key, "course.content.not-a-size", value=value)
    try:
        found = expressions.drawn(value)
        expressions.check(found.step if found else value, before)
    except expressions.ExpressionError as error:
        table.wrong(key, "course.content.of-another", problem=error.said, advice=error.fix or "")
    return found or value


def size_names(table: Table, cases: tuple[model.CaseSpec, ...]) -> list[str]:
    if not cases:
        table.missing("cases", told("course.content.example-cases"))
    names = list(cases[0].sizes)
    for number, each in enumerate(cases[1:], 2):
        if set(each.sizes) != set(names):
            table.wrong(
                f"cases[{number}].sizes",
                "course.content.sizes-differ",
                given=list(each.sizes) or told("course.content.none"),
                expected=list(names),
            )
    return names


def distinct_names(table: Table, *groups: Collection[str]) -> list[str]:
    """The names of all values; none of them twice, none hidden by a function of expressions."""
    every = [name for group in groups for name in group]
    for name in every:
        if every.count(name) > 1:
            table.wrong(None, "course.content.name-twice", name=name)
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            table.wrong(None, "course.content.not-a-value-name", name=name)
        if name in ("np", "report", "between", *expressions.FUNCTIONS):
            table.wrong(None, "course.content.name-has-meaning", name=name)
    return every


def read_scalars(table: Table, sizes: Collection[str]) -> dict[str, model.ScalarSpec]:
    found: dict[str, model.ScalarSpec] = {}
    for name, each in table.named_tables("scalars"):
        found[name] = model.ScalarSpec(
            dtype=each.choice("dtype", model.DTYPES),
            value=expression(each, "value", sizes),
            values=each.choice("values", model.VALUES) if "values" in each else None,
        )
    return found


def read_arrays(table: Table, sizes: Collection[str]) -> dict[str, model.ArraySpec]:
    found: dict[str, model.ArraySpec] = {}
    for name, each in table.named_tables("arrays"):
        values = each.choice("values", model.VALUES) if "values" in each else None
        below = expression(each, "below", sizes)
        if (values in ("indices", "starts")) != (below is not None):
            each.wrong("below", "course.content.below-with-indices")
        role = each.choice("role", model.ROLES, "input")
        value = expression(each, "value", [*sizes, *(name for name, spec in found.items() if spec.is_input)])
        if value is not None and (values is not None or role == "output"):
            each.wrong("value", "course.content.value-of-input")
        found[name] = model.ArraySpec(
            dtype=each.choice("dtype", model.DTYPES),
            shape=expressions_of(each, "shape", sizes, most=8),
            role=role,
            values=values,
            below=below,
            value=value,
        )
    return found


def whole_sizes(table: Table, sizes: Collection[str]) -> dict[str, int]:
    """Sizes of one launch, as numbers."""
    found: dict[str, int] = {}
    for name, value in table.items("sizes"):
        if type(value) is not int or not 0 <= value < 2**31:
            table.wrong(f"sizes.{name}", "course.content.not-one-number", value=value)
        found[name] = value
    if set(found) != set(sizes):
        table.wrong(
            "sizes",
            "course.content.other-sizes",
            given=list(found) or told("course.content.none"),
            expected=list(sizes),
        )
    return found


# ---- Expressions ---------------------------------------------------------------------------------------


def checked(table: Table, key: str, value: Any, known: Collection[str]) -> str:
    """An expression; a number is one too."""
    text = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip():
        table.wrong(key, "course.content.not-an-expression", value=value)
    try:
        expressions.check(text, known)
    except expressions.ExpressionError as error:
        table.wrong(key, "course.content.of-another", problem=error.said, advice=error.fix or "")
    return text


def expression(table: Table, key: str, known: Collection[str]) -> str | None:
    value = table.raw(key)
    return None if value is None else checked(table, key, value, known)


def expressions_of(table: Table, key: str, known: Collection[str], most: int) -> tuple[str, ...]:
    value = table.raw(key)
    if value is None:
        table.missing(key, '["n"]')
    values = cast("list[Any]", value if isinstance(value, list) else [value])
    if not 1 <= len(values) <= most:
        table.wrong(key, "course.content.other-entry-count", count=len(values), most=most)
    return tuple(checked(table, key, each, known) for each in values)
