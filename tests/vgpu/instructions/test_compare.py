"""setp, set, testp, selections and predicates, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .exact import DTYPES
from .harness import Array, Case, Model, applied, check, floats, integers

Relation = Callable[[Any, Any], Any]
ORDER: dict[str, Relation] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
UNSIGNED: dict[str, Relation] = {"lo": ORDER["lt"], "ls": ORDER["le"], "hi": ORDER["gt"], "hs": ORDER["ge"]}
TAKE = "selp.u32 %d, 1, 0, %p;"


def unordered(x: Array, y: Array) -> Array:
    return np.isnan(x) | np.isnan(y)


def float_relations() -> dict[str, Relation]:
    """The plain ones are false with a NaN, those that end in u are true."""
    made: dict[str, Relation] = {
        "num": lambda x, y: ~unordered(x, y),
        "nan": unordered,
    }
    for name, relation in ORDER.items():
        made[name] = lambda x, y, f=relation: f(x, y) & ~unordered(x, y)
        made[f"{name}u"] = lambda x, y, f=relation: f(x, y) | unordered(x, y)
    return made


def mixed(a: Array, b: Array) -> Array:
    """b, equal to a here and there."""
    return np.where(np.arange(len(a)) % 5 == 0, a, b)


def picked(where: Array, x: Array, y: Array) -> Array:
    return np.where(where, x, y)


def number(x: Array) -> Array:
    return x.astype(np.float64)


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64"])
def test_integers(kind: str) -> None:
    dtype: Any = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")
    a = integers(dtype, 1)
    b = mixed(a, integers(dtype, 2))
    relations = dict(ORDER)
    if kind[0] == "b":
        relations = {name: ORDER[name] for name in ("eq", "ne")}
    if kind[0] == "u":
        relations |= UNSIGNED
    cases: list[tuple[Case, Model]] = []
    for name, relation in relations.items():
        cases.extend(
            [
                (Case(f"setp.{name}.{kind} %p, %a, %b; {TAKE}", np.uint32, a, b), relation),
                (
                    Case(f"set.{name}.u32.{kind} %d, %a, %b;", np.uint32, a, b),
                    lambda x, y, f=relation: np.where(f(x, y), 0xFFFFFFFF, 0),
                ),
                (Case(f"set.{name}.f32.{kind} %d, %a, %b;", np.float32, a, b), relation),
                (Case(f"set.{name}.f16.{kind} %d, %a, %b;", np.float16, a, b), relation),
                (Case(f"set.{name}.bf16.{kind} %d, %a, %b;", ml_dtypes.bfloat16, a, b), relation),
            ]
        )
    check(cases)


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_floats(kind: str) -> None:
    a = floats(DTYPES[kind], 3)
    b = mixed(a, floats(DTYPES[kind], 4))
    smallest = 2.0 ** (-14 if kind == "f16" else -126)

    def flush(x: Array) -> Array:
        return np.where(np.abs(x) < smallest, 0, x)

    cases: list[tuple[Case, Model]] = []
    for name, relation in float_relations().items():
        plain: Model = lambda x, y, f=relation: f(number(x), number(y))  # noqa: E731
        cases.append((Case(f"setp.{name}.{kind} %p, %a, %b; {TAKE}", np.uint32, a, b), plain))
        mask: Model = lambda x, y, f=plain: np.where(applied(f, x, y), -1, 0)  # noqa: E731
        cases.append((Case(f"set.{name}.s32.{kind} %d, %a, %b;", np.int32, a, b), mask))
        if kind in ("f32", "f16"):
            flushing: Model = lambda x, y, f=relation: f(flush(number(x)), flush(number(y)))  # noqa: E731
            cases.append((Case(f"setp.{name}.ftz.{kind} %p, %a, %b; {TAKE}", np.uint32, a, b), flushing))
        if kind in ("f16", "bf16"):
            cases.append((Case(f"set.{name}.u16.{kind} %d, %a, %b;", np.int16, a, b), mask))
            cases.append((Case(f"set.{name}.{kind}.{kind} %d, %a, %b;", a.dtype, a, b), plain))
        else:
            cases.append((Case(f"set.{name}.f32.{kind} %d, %a, %b;", np.float32, a, b), plain))
    check(cases)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_pairs_of_halves(kind: str) -> None:
    dtype = DTYPES[kind]
    a, b = floats(dtype, 5, 2048), floats(dtype, 6, 2048)
    pair_a, pair_b = a.view(np.uint32), mixed(a, b).view(np.uint32)
    third = integers(np.uint32, 7, 1024)

    def halves(relation: Relation, x: Array, y: Array) -> Array:
        return relation(number(x.view(dtype)), number(y.view(dtype))).reshape(-1, 2)

    both = "selp.u32 %x, 1, 0, %p; selp.u32 %y, 2, 0, %q; or.b32 %d, %x, %y;"
    load = "setp.lt.u32 %p, %c, 0x80000000;"
    cases: list[tuple[Case, Model]] = []
    for name, relation in float_relations().items():
        cases.extend(
            [
                (
                    Case(f"setp.{name}.{kind}x2 %p|%q, %a, %b; {both}", np.uint32, pair_a, pair_b),
                    lambda x, y, f=relation: halves(f, x, y) @ [1, 2],
                ),
                (
                    Case(
                        f"{load} setp.{name}.and.{kind}x2 %p|%q, %a, %b, !%p; {both}",
                        np.uint32,
                        pair_a,
                        pair_b,
                        third,
                    ),
                    lambda x, y, z, f=relation: (halves(f, x, y) & (z >= 2**31)[:, None]) @ [1, 2],
                ),
                (
                    Case(f"set.{name}.u32.{kind}x2 %d, %a, %b;", np.uint32, pair_a, pair_b),
                    lambda x, y, f=relation: (
                        np.where(halves(f, x, y), 0xFFFF, 0).astype(np.uint16).view(np.uint32)
                    ),
                ),
                (
                    Case(f"set.{name}.{kind}x2.{kind}x2 %d, %a, %b;", np.uint32, pair_a, pair_b),
                    lambda x, y, f=relation: halves(f, x, y).astype(dtype).view(np.uint32),
                ),
            ]
        )

    def flat(model: Model) -> Model:
        def made(*inputs: Array) -> Array:
            return np.asarray(applied(model, *inputs)).ravel()

        return made

    check([(case, flat(model)) for case, model in cases])


def test_joined_comparisons_and_opposites() -> None:
    a, c = floats(np.float32, 8), integers(np.uint32, 9, 1024)
    b = mixed(a, floats(np.float32, 10))
    load = "setp.lt.u32 %q, %c, 0x80000000;"
    joins: dict[str, Relation] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
    cases: list[tuple[Case, Model]] = []
    for name, join in joins.items():
        for sign, negate in (("", False), ("!", True)):

            def other(z: Array, negate: bool = negate) -> Array:
                return (z < 2**31) != negate

            cases.extend(
                [
                    (
                        Case(f"{load} setp.lt.{name}.f32 %p, %a, %b, {sign}%q; {TAKE}", np.uint32, a, b, c),
                        lambda x, y, z, j=join, o=other: j(x < y, o(z)),
                    ),
                    # The second result: the opposite comparison, joined alike.
                    (
                        Case(f"{load} setp.lt.{name}.f32 _|%p, %a, %b, {sign}%q; {TAKE}", np.uint32, a, b, c),
                        lambda x, y, z, j=join, o=other: j(~(x < y), o(z)),
                    ),
                    (
                        Case(f"{load} set.lt.{name}.u32.f32 %d, %a, %b, {sign}%q;", np.uint32, a, b, c),
                        lambda x, y, z, j=join, o=other: np.where(j(x < y, o(z)), 0xFFFFFFFF, 0),
                    ),
                ]
            )
    cases.extend(
        [
            (
                Case(f"setp.ge.f32 %p|%q, %a, %b; @%q mov.pred %p, 0; {TAKE}", np.uint32, a, b),
                lambda x, y: x >= y,
            ),
        ]
    )
    check(cases)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_properties(kind: str) -> None:
    dtype = DTYPES[kind]
    a = floats(dtype, 11)
    tiny = np.finfo(dtype).tiny
    properties: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda x: ~np.isnan(x),
        "notanumber": np.isnan,
        "normal": lambda x: np.isfinite(x) & (np.abs(x) >= tiny),
        "subnormal": lambda x: (np.abs(x) < tiny) & (x != 0),
    }
    check(
        [
            (Case(f"testp.{name}.{kind} %p, %a; {TAKE}", np.uint32, a), model)
            for name, model in properties.items()
        ]
    )


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_selections(bits: int) -> None:
    dtype: Any = np.dtype(f"u{bits // 8}")
    a, b = integers(dtype, 12, 1024), integers(dtype, 13, 1024)
    sign, by = integers(np.int32, 14, 1024), floats(np.float32, 15)
    load = "setp.lt.s32 %p, %c, 0;"
    cases: list[tuple[Case, Model]] = [
        (
            Case(f"{load} selp.b{bits} %d, %a, %b, %p;", dtype, a, b, sign),
            lambda x, y, z: picked(z < 0, x, y),
        ),
        (
            Case(f"{load} selp.u{bits} %d, %a, %b, !%p;", dtype, a, b, sign),
            lambda x, y, z: picked(z < 0, y, x),
        ),
        (
            Case(f"slct.b{bits}.s32 %d, %a, %b, %c;", dtype, a, b, sign),
            lambda x, y, z: picked(z >= 0, x, y),
        ),
        (
            Case(f"slct.u{bits}.f32 %d, %a, %b, %c;", dtype, a, b, by),
            lambda x, y, z: picked(z >= 0, x, y),
        ),
        (
            Case(f"slct.ftz.s{bits}.f32 %d, %a, %b, %c;", dtype, a, b, by),
            lambda x, y, z: picked((z >= 0) | (np.abs(z) < np.finfo(np.float32).tiny), x, y),
        ),
    ]
    check(cases)


def test_predicate_logic() -> None:
    a, b = integers(np.int32, 16), integers(np.int32, 17)
    load = "setp.lt.s32 %p, %a, 0; setp.lt.s32 %q, %b, 0;"

    def case(text: str) -> Case:
        return Case(f"{load} {text} {TAKE}", np.uint32, a, b)

    check(
        [
            (case("and.pred %p, %p, %q;"), lambda x, y: (x < 0) & (y < 0)),
            (case("or.pred %p, %p, %q;"), lambda x, y: (x < 0) | (y < 0)),
            (case("xor.pred %p, %p, %q;"), lambda x, y: (x < 0) ^ (y < 0)),
            (case("and.pred %p, !%p, %q;"), lambda x, y: (x >= 0) & (y < 0)),
            (case("or.pred %p, %p, !%q;"), lambda x, y: (x < 0) | (y >= 0)),
            (case("not.pred %p, %q;"), lambda x, y: y >= 0),
            (case("mov.pred %p, %q;"), lambda x, y: y < 0),
            (case("mov.pred %p, !%q;"), lambda x, y: y >= 0),
            (case("@%q mov.pred %p, 1;"), lambda x, y: (x < 0) | (y < 0)),
            (case("@!%q mov.pred %p, 0;"), lambda x, y: (x < 0) & (y < 0)),
        ]
    )
