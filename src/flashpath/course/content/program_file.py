"""Reads an exercise of the kind `program`: a whole program, host code included."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from flashpath.course.content import exercise as model
from flashpath.course.content.mutant_file import read_mutants
from flashpath.course.content.result_file import read_goals, read_reference
from flashpath.course.content.table import Table, read
from flashpath.course.content.value_file import (
    distinct_names,
    expression,
    expressions_of,
    read_case,
    read_scalars,
    size_names,
)

_SUFFIX = model.SUFFIXES["cuda"]


def read_program(table: Table, folder: Path) -> dict[str, Any]:
    """Returns what the file says of the program: how it is run, and what it must print."""
    skeleton, solution = folder / f"skeleton{_SUFFIX}", folder / f"solution{_SUFFIX}"
    read(skeleton)
    cases = tuple(read_case(each) for each in table.tables("cases"))
    sizes = size_names(table, cases)
    scalars = read_scalars(table, sizes)
    printed = _printed(table, sizes)
    distinct_names(table, sizes, scalars, printed)
    given = [*sizes, *scalars]
    found: dict[str, Any] = {
        "language": "cuda",
        "skeleton": skeleton,
        "solution": solution,
        "cases": cases,
        "scalars": scalars,
        "arrays": printed,
        "program": _program(table, given, cases),
        "mutants": read_mutants(table, read(solution)),
        "forbidden": table.strings("forbidden"),
        "required": table.strings("required"),
        "goals": read_goals(table, sizes),
    }
    return found | read_reference(table, folder, list(printed), given)


def _program(table: Table, given: Collection[str], cases: Sequence[model.CaseSpec]) -> model.Program:
    with table.table("program") as each:
        arguments = each.strings("arguments")
        for name in arguments:
            each.one_of("arguments", name, given)
        if not arguments:
            each.missing("arguments", '["n"]')
        return model.Program(
            arguments=arguments,
            exit_code=expression(each, "exit_code", given) or "0",
            gpus=_gpus(each, cases),
        )


def _gpus(table: Table, cases: Sequence[model.CaseSpec]) -> tuple[str, ...]:
    """The GPUs on which the program runs: one, or several that the size `gpu` numbers."""
    if "gpus" not in table:
        return (table.string("gpu") if "gpu" in table else "A100",)
    names = table.strings("gpus")
    for case in cases:
        for number in case.sizes.get("gpu", ("",)):
            if not isinstance(number, int) or number >= len(names):
                table.wrong(
                    "gpus", "course.content.no-number-of-a-gpu", count=len(names), last=len(names) - 1
                )
    return names


def _printed(table: Table, sizes: Collection[str]) -> dict[str, model.ArraySpec]:
    """The values that the program prints, by the names that stand before them."""
    found: dict[str, model.ArraySpec] = {}
    for name, each in table.named_tables("prints"):
        shape = expressions_of(each, "shape", sizes, most=1) if "shape" in each else ()
        found[name] = model.ArraySpec(each.choice("dtype", model.DTYPES), shape, "output")
    if not found:
        table.missing("prints", 'total = { dtype = "int64" }')
    return found
