"""Reads `exercise.toml` into an `Exercise`, and refuses what cannot be graded."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

from flashpath.course.content import exercise as model
from flashpath.course.content.exercise import Exercise, Launch
from flashpath.course.content.launch_file import launch_of, read_launch
from flashpath.course.content.mutant_file import read_mutants
from flashpath.course.content.program_file import read_program
from flashpath.course.content.quiz import read_items, upstream_path
from flashpath.course.content.result_file import read_goals, read_reference
from flashpath.course.content.table import Table, check_slug, read, table_of
from flashpath.course.content.value_file import (
    checked,
    distinct_names,
    expression,
    read_arrays,
    read_case,
    read_scalars,
    size_names,
    whole_sizes,
)
from flashpath.messages import LANGUAGES, Text, told

GRADED_BY_RUNNING = ("kernel", "debug", "program", "derive")
_FILE = "exercise.toml"


def load_exercise(folder: Path, unit: str) -> Exercise:
    with table_of(folder / _FILE) as table:
        kind = table.choice("kind", model.KINDS)
        common: dict[str, Any] = {
            "unit": unit,
            "name": folder.name,
            "kind": kind,
            "title": table.text("title"),
            "minutes": table.integer("minutes", 1, 24 * 60),
            "folder": folder,
            "hints": _hints(table, kind),
        }
        _need_files(folder, "task")
        return Exercise(**common, **_READERS[kind](table, folder, kind))


def _hints(table: Table, kind: str) -> tuple[Text, ...]:
    hints = tuple(each.own_text() for each in table.tables("hints"))
    if len(hints) != 3 and (hints or kind in GRADED_BY_RUNNING):
        table.wrong("hints", "course.content.not-three-hints", count=len(hints))
    return hints


def _need_files(folder: Path, stem: str) -> None:
    for lang in LANGUAGES:
        read(folder / f"{stem}.{lang}.md")


# ---- Graded by running it ------------------------------------------------------------------------------


def _read_graded(table: Table, folder: Path, kind: str) -> dict[str, Any]:
    _need_files(folder, "explanation")
    language = "python" if kind == "derive" else table.choice("language", _languages(kind), "cuda")
    if kind == "derive" and table.raw("language") not in (None, "python"):
        table.wrong("language", "course.content.derive-is-python", value=table.raw("language"))
    suffix = model.SUFFIXES[language]
    skeleton, solution = folder / f"skeleton{suffix}", folder / f"solution{suffix}"
    read(skeleton)
    cases = tuple(read_case(each) for each in table.tables("cases"))
    sizes = size_names(table, cases)
    scalars = read_scalars(table, sizes)
    arrays = read_arrays(table, sizes)
    values = distinct_names(table, sizes, scalars, arrays)
    is_function = language in ("pytorch", "python")
    found: dict[str, Any] = {
        "language": language,
        "skeleton": skeleton,
        "solution": solution,
        "cases": cases,
        "scalars": scalars,
        "arrays": arrays,
        "mutants": read_mutants(table, read(solution)),
        "forbidden": table.strings("forbidden"),
    }
    if is_function:
        found |= _function(table, values, language)
        outputs = found["returns"]
    else:
        launch = launch_of(table, values, sizes, language)
        outputs = [name for name, each in arrays.items() if each.is_written]
        if not outputs:
            table.wrong("arrays", "course.content.nothing-written")
        found |= {"launch": launch, "goals": read_goals(table, sizes), "atomics": table.flag("atomics")}
        found |= {"speed": _speed(table, sizes), "required": table.strings("required")}
    readable = [name for name in values if name not in arrays or arrays[name].is_input]
    return found | read_reference(table, folder, outputs, readable)


def _read_program(table: Table, folder: Path, kind: str) -> dict[str, Any]:
    del kind
    _need_files(folder, "explanation")
    return read_program(table, folder)


def _languages(kind: str) -> tuple[str, ...]:
    return model.LANGUAGES if kind == "kernel" else ("cuda", "triton")


def _speed(table: Table, sizes: Collection[str]) -> model.Speed | None:
    with table.table("speed") as each:
        if "speed" not in table:
            return None
        return model.Speed(
            rung=each.string("rung", '"vector_add/one_per_thread"'),
            at_least=each.number("at_least", 0.01, 10),
            sizes=whole_sizes(each, sizes),
            bytes=expression(each, "bytes", sizes) or each.missing("bytes", '"8 * n"'),
            flops=expression(each, "flops", sizes),
            problem={name: each.one_of("problem", str(size), sizes) for name, size in each.items("problem")},
        )


def _function(table: Table, values: Collection[str], language: str) -> dict[str, Any]:
    arguments, returns = table.strings("arguments"), table.strings("returns")
    if not returns:
        table.missing("returns", '["y"]')
    for each in arguments:
        table.one_of("arguments", each, values)
    if not arguments:
        table.missing("arguments", '["x"]')
    imports = table.strings("imports")
    known = ("heapq", "math", "numpy") + (("torch",) if language == "pytorch" else ())
    for each in imports:
        table.one_of("imports", each, known)
    return {
        "function": table.string("function", '"its name"'),
        "arguments": arguments,
        "returns": returns,
        "imports": imports,
    }


# ---- Foretold ------------------------------------------------------------------------------------------


def _read_predict(table: Table, folder: Path, kind: str) -> dict[str, Any]:
    del kind
    language = table.choice("language", ("cuda", "triton"), "cuda")
    sizes = list(
        dict.fromkeys(
            name for each in cast("list[Any]", table.raw("questions") or []) for name in _keys(each)
        )
    )
    scalars, arrays = read_scalars(table, sizes), read_arrays(table, sizes)
    values = distinct_names(table, sizes, scalars, arrays)
    base = launch_of(table, values, sizes, language) if "launch" in table else None
    questions: list[model.Question] = []
    for each in table.tables("questions"):
        question = _question(each, folder, base, values, sizes, language)
        if any(other.id == question.id for other in questions):
            each.wrong("id", "course.content.question-twice", id=question.id)
        questions.append(question)
    if not questions:
        table.missing("questions", told("course.content.example-questions"))
    return {
        "language": language,
        "launch": base,
        "scalars": scalars,
        "arrays": arrays,
        "questions": tuple(questions),
    }


def _keys(question: Any) -> list[str]:
    """The names of a question's sizes, whatever else is wrong with it."""
    values = cast("dict[str, Any]", question) if isinstance(question, dict) else {}
    sizes: Any = values.get("sizes")
    return list(cast("dict[str, Any]", sizes)) if isinstance(sizes, dict) else []


def _question(
    table: Table,
    folder: Path,
    base: Launch | None,
    values: Collection[str],
    sizes: Collection[str],
    language: str,
) -> model.Question:
    source, rung = table.maybe_string("source"), table.maybe_string("rung")
    if (source is None) == (rung is None):
        table.wrong("source", "course.content.one-kernel")
    if source is not None:
        read(folder / source)
    if base is None and "launch" not in table:
        table.missing("launch", told("course.content.example-launch"))
    with table.table("launch") as each:
        launch = read_launch(each, values, sizes, language, base)
    return model.Question(
        id=check_slug(table, "id", table.string("id")),
        ask=table.text("ask"),
        explain=table.text("explain"),
        count=checked(table, "count", table.string("count"), [*sizes, "report"]),
        launch=launch,
        sizes=whole_sizes(table, sizes),
        source=folder / source if source else None,
        rung=rung,
        tolerance=table.maybe_number("tolerance", 0, 1) or 0.0,
        common=tuple(
            model.CommonAnswer(each.number("answer"), each.own_text()) for each in table.tables("common")
        ),
    )


# ---- Read and written ----------------------------------------------------------------------------------


def _read_reading(table: Table, folder: Path, kind: str) -> dict[str, Any]:
    del folder, kind
    from flashpath.course.content.references import counterpart_file

    with table.table("upstream") as each:
        upstream = _upstream(each)
    counterpart = table.string("counterpart", '"kernels/attention/flash_v2/cuda/softmax.cuh"')
    if counterpart_file(counterpart) is None:
        table.wrong("counterpart", "course.content.no-counterpart", counterpart=counterpart)
    return {
        "upstream": upstream,
        "counterpart": counterpart,
        "items": read_items(table, about_functions=True),
    }


def _upstream(table: Table) -> model.Upstream:
    commit, path = table.maybe_string("commit"), table.string("path")
    if commit is not None:
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            table.wrong("commit", "course.content.not-a-commit", commit=commit)
        upstream_path(table, "path", path)
    return model.Upstream(table.string("repository", '"https://…"'), path, table.string("version"), commit)


def _read_written(table: Table, folder: Path, kind: str) -> dict[str, Any]:
    del kind
    _need_files(folder, "template")
    return {"least": table.integer("least", 1, 10_000, default=30)}


_READERS = {
    "kernel": _read_graded,
    "debug": _read_graded,
    "program": _read_program,
    "derive": _read_graded,
    "predict": _read_predict,
    "read": _read_reading,
    "note": _read_written,
    "report": _read_written,
}
