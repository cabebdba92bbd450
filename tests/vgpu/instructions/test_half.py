"""f16 and bf16, alone and in pairs, with ftz, sat and relu, against exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .exact import DTYPES, operation
from .harness import Array, Case, Model, applied, check, floats, run
from .test_float import EXACT

SIZE = 512


def operands(kind: str) -> tuple[Array, Array, Array]:
    a, b, c = (floats(DTYPES[kind], seed, SIZE) for seed in (1, 2, 3))
    b[::11] = -a[::11]
    return a, b, c


def paired(array: Array) -> Array:
    """Each value beside its neighbour, as pairs in one register."""
    return np.stack([array, np.roll(array, 1)], 1).copy().view(np.uint32).ravel()


def both_forms(text: str, kind: str, model: Model, *inputs: Array) -> list[tuple[Case, Model]]:
    """The instruction on single values (T is the type in the text) and on pairs."""
    dtype = DTYPES[kind]

    def on_pairs(*pairs: Array) -> Array:
        return np.asarray(applied(model, *(pair.view(dtype) for pair in pairs))).astype(dtype).view(np.uint32)

    pair_case = Case(text.replace("T", f"{kind}x2"), np.uint32, *map(paired, inputs))
    return [(Case(text.replace("T", kind), dtype, *inputs), model), (pair_case, on_pairs)]


def check_with_one_nan(cases: list[tuple[Case, Model]], kind: str) -> None:
    """As `check`; a NaN in a pair is the canonical one."""

    def canonical(model: Model) -> Model:
        def made(*inputs: Array) -> Array:
            result = np.asarray(applied(model, *inputs))
            if result.dtype != np.uint32:
                return result
            halves = result.view(DTYPES[kind]).copy()
            bits = halves.view(np.uint16)
            bits[np.isnan(halves)] = 0x7FFF
            return bits.view(np.uint32)

        return made

    check([(case, canonical(model)) for case, model in cases])


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_arithmetic(kind: str) -> None:
    a, b, c = operands(kind)
    flags: list[tuple[str, ...]] = [()]
    if kind == "f16":
        flags.extend([("ftz",), ("sat",), ("ftz", "sat")])
    cases: list[tuple[Case, Model]] = []
    for name in ("add", "sub", "mul", "fma"):
        exact, limit, _ = EXACT[name]
        inputs = (a, b, c) if name == "fma" else (a, b)
        registers = "%d, %a, %b, %c;" if name == "fma" else "%d, %a, %b;"
        variants = [*flags]
        if name == "fma":
            variants += [("relu",), ("ftz", "relu")] if kind == "f16" else [("relu",)]
        for variant in variants:
            suffix = "".join(f".{flag}" for flag in variant)
            model = operation(
                kind,
                exact,
                limit,
                ftz="ftz" in variant,
                sat="sat" in variant,
                relu="relu" in variant,
            )
            cases += both_forms(f"{name}.rn{suffix}.T {registers}", kind, model, *inputs)
    cases += both_forms("add.T %d, %a, %b;", kind, operation(kind, *EXACT["add"][:2]), a, b)
    check_with_one_nan(cases, kind)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_signs_and_extremes(kind: str) -> None:
    dtype = DTYPES[kind]
    a, b, _ = operands(kind)
    smallest = np.float32(2.0 ** (-14 if kind == "f16" else -126))

    def wide(x: Array, ftz: bool) -> Array:
        x = x.astype(np.float32)
        return np.where(np.abs(x) < smallest, np.copysign(np.float32(0), x), x) if ftz else x

    def extreme(x: Array, y: Array, sign: int, nan: bool) -> Array:
        less = (sign * x < sign * y) | ((x == y) & (np.signbit(x) == (sign > 0)))
        picked = np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.where(less, x, y)))
        return np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), picked) if nan else picked

    def model(sign: int, ftz: bool, nan: bool, xorsign: bool) -> Model:
        def made(x: Array, y: Array) -> Array:
            x, y = wide(x, ftz), wide(y, ftz)
            if not xorsign:
                return extreme(x, y, sign, nan).astype(dtype)
            value = extreme(np.abs(x), np.abs(y), sign, nan)
            return np.where(np.signbit(x) != np.signbit(y), -value, value).astype(dtype)

        return made

    cases: list[tuple[Case, Model]] = []
    for name, sign in (("min", 1), ("max", -1)):
        for ftz in (False, True) if kind == "f16" else (False,):
            for nan in (False, True):
                for xorsign in (False, True):
                    text = f"{name}{'.ftz' * ftz}{'.NaN' * nan}{'.xorsign.abs' * xorsign}.T %d, %a, %b;"
                    cases += both_forms(text, kind, model(sign, ftz, nan, xorsign), a, b)
    check_with_one_nan(cases, kind)

    def bits(function: Callable[[Any], Any]) -> Model:
        def made(x: Array) -> Array:
            halves = x.view(np.uint16)
            is_nan = (halves & 0x7FFF) > (0x7C00 if kind == "f16" else 0x7F80)
            return np.where(is_nan, np.uint16(0x7FFF), function(halves)).view(x.dtype)

        return made

    signs = both_forms("neg.T %d, %a;", kind, bits(lambda x: x ^ 0x8000), a)
    signs += both_forms("abs.T %d, %a;", kind, bits(lambda x: x & 0x7FFF), a)
    check(signs)
    if kind == "f16":
        flushing = both_forms("neg.ftz.T %d, %a;", kind, lambda x: (-wide(x, True)).astype(dtype), a)
        flushing += both_forms("abs.ftz.T %d, %a;", kind, lambda x: np.abs(wide(x, True)).astype(dtype), a)
        check_with_one_nan([(case, model) for case, model in flushing if case.result != np.uint32], kind)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(("kind", "ftz"), [("f16", ""), ("bf16", ".ftz")])
def test_approximations(kind: str, ftz: str) -> None:
    """Of all 65,536 values."""
    dtype = DTYPES[kind]
    every = np.arange(65536, dtype=np.uint16).view(dtype)
    exponential, tangent = run(
        [
            Case(f"ex2.approx{ftz}.{kind} %d, %a;", dtype, every),
            Case(f"tanh.approx.{kind} %d, %a;", dtype, every),
        ]
    )
    true = every.astype(np.float64)
    with np.errstate(all="ignore"):
        if ftz:
            true = np.where(np.abs(true) < 2.0**-126, 0, true)
        expected = np.exp2(true).astype(dtype)
        if ftz:
            expected = np.where(np.abs(expected.astype(np.float32)) < 2.0**-126, dtype.type(0), expected)
    unit = 2.0 ** -(10 if kind == "f16" else 7)
    for got, wanted in ((exponential, expected), (tangent, np.tanh(every.astype(np.float64)).astype(dtype))):
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        special = ~np.isfinite(wanted)
        assert np.array_equal(got[special], wanted[special], equal_nan=True)
        error = np.abs(got - wanted)[~special]
        assert (error <= np.maximum(unit * np.abs(wanted[~special]), 2.0**-24)).all()
