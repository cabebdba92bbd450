"""f32 and f64: all rounding modes, ftz and sat, against rational arithmetic; approximate functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from .exact import DTYPES, MODES, operation
from .harness import Array, Case, Model, check, floats, run

SIZE = 512


def true_root(x: Fraction) -> Fraction | None:
    """A square root to 80 digits, with a last digit that says whether it is exact."""
    if x <= 0:
        return None
    shift = 2**160
    root = math.isqrt(x.numerator * shift * x.denominator)
    exact = root * root == x.numerator * shift * x.denominator
    return Fraction(2 * root + (0 if exact else 1), 2 * x.denominator * 2**80)


EXACT: dict[str, tuple[Model, Model, Model | None]] = {
    "add": (lambda x, y: x + y, lambda x, y: x + y, lambda x, y: (-x, -y)),
    "sub": (lambda x, y: x - y, lambda x, y: x - y, lambda x, y: (-x, -y)),
    "mul": (lambda x, y: x * y, lambda x, y: x * y, None),
    "fma": (lambda x, y, z: x * y + z, lambda x, y, z: x * y + z, lambda x, y, z: (-x, y, -z)),
    "div": (lambda x, y: x / y if y else None, lambda x, y: x / y, None),
    "rcp": (lambda x: 1 / x if x else None, lambda x: 1 / x, None),
    "sqrt": (true_root, np.sqrt, None),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_rounding(kind: str, mode: str) -> None:
    dtype = DTYPES[kind]
    a, b, c = (floats(dtype, seed, SIZE) for seed in (1, 2, 3))
    # Sums that cancel, and nearly so: where rounding shows most.
    b[::7] = -a[::7]
    with np.errstate(all="ignore"):
        b[3::7] = np.nextafter(-a[3::7], dtype.type(0))
        product = a[::5] * b[::5]
    c[::5] = np.where(np.isfinite(product), -product, c[::5])
    cases: list[tuple[Case, Model]] = []
    for name, (exact, limit, mirror) in EXACT.items():
        inputs = {"rcp": (a,), "sqrt": (a,), "fma": (a, b, c)}.get(name, (a, b))
        operands = ", ".join(("%d", "%a", "%b", "%c")[: 1 + len(inputs)])
        variants: list[tuple[str, bool, bool]] = [("", False, False)]
        if kind == "f32":
            saturates = name in ("add", "sub", "mul", "fma")
            variants.extend([(".ftz", True, False)])
            variants += [(".ftz.sat", True, True), (".sat", False, True)] if saturates else []
        for suffix, ftz, sat in variants:
            model = operation(kind, exact, limit, mode, mirror=mirror, ftz=ftz, sat=sat)
            cases.append((Case(f"{name}.{mode}{suffix}.{kind} {operands};", dtype, *inputs), model))
    check(cases)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_signs_and_extremes(kind: str) -> None:
    dtype = DTYPES[kind]
    a, b = floats(dtype, 4, SIZE), floats(dtype, 5, SIZE)
    b[::9] = a[::9]
    b[1::9] = -a[1::9]

    def flushed(x: Array) -> Array:
        return np.where(np.abs(x) < np.finfo(dtype).tiny, np.copysign(dtype.type(0), x), x)

    def extreme(x: Array, y: Array, sign: int, nan: bool) -> Array:
        # Below the other, or equal and the one with a minus: zeros have an order here.
        less = (sign * x < sign * y) | ((x == y) & (np.signbit(x) == (sign > 0)))
        picked = np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.where(less, x, y)))
        return np.where(np.isnan(x) | np.isnan(y), np.nan, picked) if nan else picked

    def magnitude(x: Array, y: Array, sign: int, nan: bool) -> Array:
        value = extreme(np.abs(x), np.abs(y), sign, nan)
        return np.where(np.signbit(x) != np.signbit(y), -value, value)

    bits = f"u{dtype.itemsize}"
    top = np.array(1, bits) << np.array(8 * dtype.itemsize - 1, bits)

    def signed(x: Array, made: Array) -> Array:
        # A NaN of f32 becomes the one that f32 has; one of f64 becomes quiet and keeps its sign.
        nan = x.view(bits) | np.uint64(1 << 51) if kind == "f64" else np.uint32(0x7FFFFFFF)
        return np.where(np.isnan(x), nan, made)

    cases: list[tuple[Case, Model]] = [
        (Case(f"neg.{kind} %d, %a;", bits, a), lambda x: signed(x, x.view(bits) ^ top)),
        (Case(f"abs.{kind} %d, %a;", bits, a), lambda x: signed(x, x.view(bits) & ~top)),
        (Case(f"copysign.{kind} %d, %a, %b;", dtype, a, b), lambda x, y: np.copysign(y, x)),
    ]
    for name, sign in (("min", 1), ("max", -1)):
        cases.append(
            (Case(f"{name}.{kind} %d, %a, %b;", dtype, a, b), lambda x, y, s=sign: extreme(x, y, s, False))
        )
        if kind == "f64":
            continue
        for nan in (False, True):
            text = f"{name}{{}}{'.NaN' if nan else ''}{{}}.f32 %d, %a, %b;"
            cases.extend(
                [
                    (
                        Case(text.format(".ftz", ""), dtype, a, b),
                        lambda x, y, s=sign, n=nan: extreme(flushed(x), flushed(y), s, n),
                    ),
                    (
                        Case(text.format("", ".xorsign.abs"), dtype, a, b),
                        lambda x, y, s=sign, n=nan: magnitude(x, y, s, n),
                    ),
                ]
            )
    if kind == "f32":
        cases.extend(
            [
                (Case("neg.ftz.f32 %d, %a;", dtype, a), lambda x: -flushed(x)),
                (Case("abs.ftz.f32 %d, %a;", dtype, a), lambda x: np.abs(flushed(x))),
                (
                    Case("max.NaN.f32 %d, %a, %b;", dtype, a, b),
                    lambda x, y: extreme(x, y, -1, True),
                ),
            ]
        )
    check(cases)


APPROXIMATE: dict[str, tuple[Callable[[Any], Any], float]] = {
    # The function in double precision, and the largest error that the PTX ISA allows, relative to the result.
    "rcp.approx": (lambda x: 1 / x, 2**-23),
    "sqrt.approx": (np.sqrt, 2**-22),
    "rsqrt.approx": (lambda x: 1 / np.sqrt(x), 2**-22.4),
    "ex2.approx": (np.exp2, 2**-22),
    "tanh.approx": (np.tanh, 2**-11),
}


@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_approximations_of_f32(ftz: str) -> None:
    rng = np.random.default_rng(6)
    a = floats(np.float32, 7, SIZE)
    a[::2] = (rng.uniform(-120, 120, SIZE // 2)).astype(np.float32)
    angle = rng.uniform(-math.pi, math.pi, SIZE).astype(np.float32)
    b = np.where(np.isfinite(a[::-1]), a[::-1], 3).astype(np.float32)
    tiny = np.finfo(np.float32).tiny

    def flushed(x: Array) -> Array:
        return np.where(np.abs(x) < tiny, np.copysign(0, x), x) if ftz else x

    def check_near(got: Array, true: Array, relative: float, absolute: float = 0.0) -> None:
        true = flushed(true)
        with np.errstate(all="ignore"):
            narrow = flushed(true.astype(np.float32))
        special = ~np.isfinite(narrow) | (narrow == 0)
        subnormal = np.abs(true) < tiny
        assert np.array_equal(got[special], narrow[special], equal_nan=True)
        error = np.abs(got[~special] - true[~special])
        bound = np.maximum(
            relative * np.abs(true[~special]), np.where(subnormal[~special], 2.0**-149, absolute)
        )
        assert (error <= bound).all()

    names = [name for name in APPROXIMATE if not (ftz and name == "tanh.approx")]
    unary = [Case(f"{name}{ftz}.f32 %d, %a;", np.float32, a) for name in names]
    others = [
        Case(f"lg2.approx{ftz}.f32 %d, %a;", np.float32, a),
        Case(f"sin.approx{ftz}.f32 %d, %a;", np.float32, angle),
        Case(f"cos.approx{ftz}.f32 %d, %a;", np.float32, angle),
        Case(f"div.full{ftz}.f32 %d, %a, %b;", np.float32, a, b),
        Case(f"div.approx{ftz}.f32 %d, %a, %b;", np.float32, a, b),
    ]
    results = run(unary + others)
    x, y, turn = (flushed(array.astype(np.float64)) for array in (a, b, angle))
    with np.errstate(all="ignore"):
        for name, got in zip(names, results, strict=False):
            function, error = APPROXIMATE[name]
            check_near(got, function(x), error)
        logarithm, sine, cosine, full, quotient = results[len(unary) :]
        check_near(logarithm, np.log2(x), 2**-22, 2**-22)
        check_near(sine, np.sin(turn), 0, 2**-20.5)
        check_near(cosine, np.cos(turn), 0, 2**-20.5)
        check_near(full, x / y, 2**-21.9)  # 2 ulp
        usual = np.abs(y) <= 2.0**126
        check_near(quotient[usual], (x / y)[usual], 2**-21.9)
        # Of a divisor whose reciprocal is subnormal: zero, and NaN of an infinite dividend.
        assert np.array_equal(quotient[~usual], x[~usual] * np.copysign(0, y[~usual]), equal_nan=True)


def test_approximations_of_f64() -> None:
    """The coarse ones see and give only the upper word of a double."""
    a = floats(np.float64, 8, SIZE)
    results = run(
        [
            Case("rcp.approx.ftz.f64 %d, %a;", np.float64, a),
            Case("rsqrt.approx.ftz.f64 %d, %a;", np.float64, a),
            Case("rsqrt.approx.f64 %d, %a;", np.float64, a),
        ]
    )
    tiny = np.finfo(np.float64).tiny
    with np.errstate(all="ignore"):
        x = np.where(np.abs(a) < tiny, np.copysign(0, a), a)
        for got, true, bits in zip(
            results, (1 / x, 1 / np.sqrt(x), 1 / np.sqrt(a)), (20, 20, 52), strict=True
        ):
            expected = np.where(np.abs(true) < tiny, np.copysign(0, true), true)
            special = ~np.isfinite(expected) | (expected == 0)
            assert np.array_equal(got[special], expected[special], equal_nan=True)
            assert (np.abs(got / expected - 1)[~special] < 2.0 ** -(bits - 1)).all()
            if bits == 20:
                assert (got[~special].view(np.uint64) % 2**32 == 0).all()
