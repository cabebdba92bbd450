"""Reads the values of an exercise: its sizes and cases, scalars, arrays, and the expressions of them."""

from __future__ import annotations

import keyword
from collections.abc import Collection
from typing import Any, cast

from flashpath.course import expressions
from flashpath.course.content import exercise as model
from flashpath.course.content.table import Table


def read_case(table: Table) -> model.CaseSpec:
    sizes: dict[str, tuple[model.Size, ...]] = {}
    for name, value in table.items("sizes"):
        choices = cast("list[Any]", value if isinstance(value, list) else [value])
        if not choices:
            table.wrong(f"sizes.{name}", "is an empty list.", "Write at least one size.")
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
            table.wrong(key, f"is {value}, and must be from 0 to 2³¹ − 1.")
        return value
    if not isinstance(value, str):
        table.wrong(key, f"is {value!r}.", 'Write a number, a list of numbers, or "between(2000, 5000)".')
    try:
        found = expressions.drawn(value)
        if found is None:
            expressions.check(value, before)
    except expressions.ExpressionError as error:
        table.wrong(key, error.problem, error.fix)
    return found or value


def size_names(table: Table, cases: tuple[model.CaseSpec, ...]) -> list[str]:
    if not cases:
        table.missing("cases", "… : at least one under [[cases]]")
    names = list(cases[0].sizes)
    for number, each in enumerate(cases[1:], 2):
        if set(each.sizes) != set(names):
            table.wrong(
                f"cases[{number}].sizes",
                f"has {', '.join(each.sizes) or 'none'}, and the first case has {', '.join(names)}.",
                "Give every case the same sizes.",
            )
    return names


def distinct_names(table: Table, *groups: Collection[str]) -> list[str]:
    """The names of all values; none of them twice, none hidden by a function of expressions."""
    every = [name for group in groups for name in group]
    for name in every:
        if every.count(name) > 1:
            table.wrong(None, f"{name} is a size, scalar or array more than once.", "Name them apart.")
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            table.wrong(None, f"{name!r} cannot be the name of a value.", "Write a name such as row_stride.")
        if name in ("np", "report", "between", *expressions.FUNCTIONS):
            table.wrong(None, f"{name} has a meaning in expressions.", "Choose another name.")
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
        if (values == "indices") != (below is not None):
            each.wrong(
                "below",
                'belongs to values = "indices", and that to it.',
                'Write values = "indices", below = "n".',
            )
        found[name] = model.ArraySpec(
            dtype=each.choice("dtype", model.DTYPES),
            shape=expressions_of(each, "shape", sizes, most=8),
            role=each.choice("role", model.ROLES, "input"),
            values=values,
            below=below,
        )
    return found


def whole_sizes(table: Table, sizes: Collection[str]) -> dict[str, int]:
    """Sizes of one launch, as numbers."""
    found: dict[str, int] = {}
    for name, value in table.items("sizes"):
        if type(value) is not int or not 0 <= value < 2**31:
            table.wrong(f"sizes.{name}", f"is {value!r}, and one number is wanted here.")
        found[name] = value
    if set(found) != set(sizes):
        table.wrong(
            "sizes", f"has {', '.join(found) or 'none'}.", f"Give a number for each of {', '.join(sizes)}."
        )
    return found


# ---- Expressions ---------------------------------------------------------------------------------------


def checked(table: Table, key: str, value: Any, known: Collection[str]) -> str:
    """An expression; a number is one too."""
    text = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip():
        table.wrong(
            key, f"is {value!r}, and an expression is wanted.", 'Write a text such as "ceil_div(n, 256)".'
        )
    try:
        expressions.check(text, known)
    except expressions.ExpressionError as error:
        table.wrong(key, error.problem, error.fix)
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
        table.wrong(key, f"has {len(values)} entries, and must have 1 to {most}.")
    return tuple(checked(table, key, each, known) for each in values)
