"""Reads how a kernel is launched."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from flashpath.course.content import exercise as model
from flashpath.course.content.exercise import Launch
from flashpath.course.content.table import Table
from flashpath.course.content.value_file import expression, expressions_of


def launch_of(table: Table, values: Collection[str], sizes: Collection[str], language: str) -> Launch:
    with table.table("launch") as each:
        return read_launch(each, values, sizes, language, None)


def read_launch(
    table: Table, values: Collection[str], sizes: Collection[str], language: str, base: Launch | None
) -> Launch:
    """A launch; `base` gives what this table leaves out."""
    entries: dict[str, Any] = {} if base is None else dict(vars(base))
    if base is None or "kernel" in table:
        entries["kernel"] = table.string("kernel", '"saxpy"')
    if base is None or "arguments" in table:
        entries["arguments"] = _launch_arguments(table, values)
    if base is None or "grid" in table:
        entries["grid"] = expressions_of(table, "grid", sizes, most=3)
    if base is None or "constants" in table:
        entries["constants"] = _constants(table)
    if "gpu" in table:
        entries["gpu"] = table.string("gpu")
    if language == "triton":
        entries["num_warps"] = table.integer("num_warps", 1, 32, default=entries.get("num_warps", 4))
        if "block" in table or "shared" in table:
            table.wrong("block", "course.content.block-is-cuda")
    else:
        if base is None or "block" in table:
            entries["block"] = expressions_of(table, "block", sizes, most=3)
        shared = expression(table, "shared", sizes)
        entries |= {} if shared is None else {"shared": shared}
        if "num_warps" in table:
            table.wrong("num_warps", "course.content.num-warps-is-triton")
    return Launch(**entries)


def _launch_arguments(table: Table, values: Collection[str]) -> tuple[str, ...]:
    raw = table.raw("arguments")
    names = cast("list[Any]", raw if isinstance(raw, list) else [])
    if not names:
        table.missing("arguments", '["n", "x", "y"]')
    for each in names:  # one value may be two arguments: of a square matrix, n is
        if not isinstance(each, str):
            table.wrong("arguments", "course.content.not-an-argument", name=each)
        table.one_of("arguments", each, values)
    return tuple(names)


def _constants(table: Table) -> dict[str, model.Constant]:
    found: dict[str, model.Constant] = {}
    for name, value in table.items("constants"):
        if not name.isidentifier() or not isinstance(value, (int, float, bool, str)):
            table.wrong(f"constants.{name}", "course.content.not-a-constant", value=value)
        found[name] = value
    return found
