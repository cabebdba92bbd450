"""cvt: every pair of types, every rounding mode, saturation and packing, against exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from .exact import DTYPES, FORMATS, MODES, flushed, integral, rounded, saturated
from .harness import Array, Case, Model, check, floats, integers, scalar

INTEGERS: dict[str, Any] = {
    "u8": np.uint8,
    "s8": np.int8,
    "u16": np.uint16,
    "s16": np.int16,
    "u32": np.uint32,
    "s32": np.int32,
    "u64": np.uint64,
    "s64": np.int64,
}
FLOATS = ("f16", "bf16", "f32", "f64")
SIZE = 1024


def register_type(dtype: Any) -> Any:
    """The dtype of a register that holds it: 8-bit values stand in 16 bits."""
    kind = np.dtype(dtype)
    return np.dtype(f"{kind.kind}2") if kind.itemsize == 1 else kind


def bounds(kind: str) -> tuple[int, int]:
    limits = np.iinfo(INTEGERS[kind])
    return int(limits.min), int(limits.max)


# ---- Integers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", INTEGERS)
def test_between_integers(source: str) -> None:
    a = integers(INTEGERS[source], 1)
    cases: list[tuple[Case, Model]] = []
    for to, dtype in INTEGERS.items():
        low, high = bounds(to)
        # A result narrower than its register is extended by its sign.
        for wide in {register_type(dtype), np.dtype(f"{np.dtype(dtype).kind}8")}:
            cases.append((Case(f"cvt.{to}.{source} %d, %a;", wide, a), lambda x, t=dtype: x.astype(t)))
            if not (low <= bounds(source)[0] and bounds(source)[1] <= high):  # else PTX has no .sat
                cases.append(
                    (
                        Case(f"cvt.sat.{to}.{source} %d, %a;", wide, a),
                        scalar(lambda x, lo=low, hi=high: min(max(x, lo), hi)),
                    )
                )
    check(cases)


def test_the_upper_bits_of_a_wide_register_are_not_read() -> None:
    a = integers(np.uint64, 2)
    cases: list[tuple[Case, Model]] = [
        (Case("cvt.u32.u16 %d, %a;", np.uint32, a), lambda x: x % 2**16),
        (Case("cvt.s64.s8 %d, %a;", np.int64, a), lambda x: x.astype(np.int8)),
        (Case("cvt.sat.u8.s32 %d, %a;", np.uint16, a), lambda x: np.clip(x.astype(np.int32), 0, 255)),
        (Case("cvt.rn.f32.s8 %d, %a;", np.float32, a), lambda x: x.astype(np.int8)),
    ]
    check(cases)


def test_packing() -> None:
    a, b, c = integers(np.int32, 3), integers(np.int32, 4), integers(np.uint32, 5)
    cases: list[tuple[Case, Model]] = []
    for kind in ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"):
        bits, signed = int(kind[1:]), kind[0] == "s"
        low = -(2 ** (bits - 1)) if signed else 0

        def part(x: int, low: int = low, bits: int = bits) -> int:
            return min(max(x, low), low + 2**bits - 1) % 2**bits

        def pair(x: int, y: int, z: int = 0, bits: int = bits, part: Callable[[int], int] = part) -> int:
            return (z << 2 * bits | part(x) << bits | part(y)) % 2**32

        if bits == 16:
            cases.append((Case(f"cvt.pack.sat.{kind}.s32 %d, %a, %b;", np.uint32, a, b), scalar(pair)))
        else:
            text = f"cvt.pack.sat.{kind}.s32.b32 %d, %a, %b, %c;"
            cases.append((Case(text, np.uint32, a, b, c), scalar(pair)))
    check(cases)


# ---- Between integers and floats -----------------------------------------------------------------------


def integers_beside(kind: str) -> dict[str, Any]:
    """PTX converts bf16 to and from 16 bits and more only."""
    return {name: dtype for name, dtype in INTEGERS.items() if kind != "bf16" or not name.endswith("8")}


@pytest.mark.parametrize("kind", FLOATS)
def test_floats_to_integers(kind: str) -> None:
    a = floats(DTYPES[kind], 6, SIZE)
    halves = np.random.default_rng(7).integers(-300, 300, SIZE // 4) + 0.5
    a[: SIZE // 4] = halves.astype(DTYPES[kind])
    cases: list[tuple[Case, Model]] = []
    for to, dtype in integers_beside(kind).items():
        low, high = bounds(to)
        # A NaN is zero, or the top bit alone where f64 or 64 bits take part.
        wide = kind == "f64" or to.endswith("64")
        nan = (low if low else 2 ** (int(to[1:]) - 1)) if wide else 0
        for mode in MODES:
            for ftz in (False, True) if kind == "f32" else (False,):

                def model(
                    x: float,
                    low: int = low,
                    high: int = high,
                    nan: int = nan,
                    mode: str = mode,
                    ftz: bool = ftz,
                ) -> int:
                    if math.isnan(x):
                        return nan
                    if math.isinf(x):
                        return high if x > 0 else low
                    return min(max(integral(Fraction(flushed(x, kind) if ftz else x), mode), low), high)

                text = f"cvt.{mode}i{'.ftz' * ftz}.{to}.{kind} %d, %a;"
                cases.append((Case(text, register_type(dtype), a), on_floats(model)))
    check(cases)


def on_floats(function: Callable[[float], int]) -> Model:
    def model(x: Array) -> Array:
        values = [function(each) for each in x.astype(np.float64).tolist()]
        return np.array([value % 2**64 for value in values], np.uint64)

    return model


@pytest.mark.parametrize("kind", FLOATS)
def test_integers_to_floats(kind: str) -> None:
    dtype = DTYPES[kind]
    cases: list[tuple[Case, Model]] = []
    for source, integer in integers_beside(kind).items():
        a = integers(integer, 8)
        for mode in MODES:
            for sat in (False, True) if kind in ("f32", "f64", "f16") else (False,):

                def model(x: Array, mode: str = mode, sat: bool = sat) -> Array:
                    made = [rounded(Fraction(v), kind, mode) if v else 0.0 for v in x.tolist()]
                    return np.array([saturated(v) if sat else v for v in made]).astype(dtype)

                cases.append((Case(f"cvt.{mode}{'.sat' * sat}.{kind}.{source} %d, %a;", dtype, a), model))
    check(cases)


# ---- Between floats ------------------------------------------------------------------------------------


def narrowing(
    to: str,
    mode: str = "rn",
    *,
    source: str = "f64",
    ftz: bool = False,
    sat: bool = False,
    relu: bool = False,
    finite: bool = False,
) -> Model:
    def one(x: float) -> float:
        if ftz and source == "f32":
            x = flushed(x, "f32")
        if math.isnan(x):
            return 0.0 if sat else x
        if math.isinf(x):
            result = math.copysign(float(FORMATS[to].largest), x) if finite else x
        else:
            result = rounded(Fraction(x), to, mode, finite=finite) if x else x
        if ftz and to == "f32":
            result = flushed(result, "f32")
        if relu:
            result = result if result > 0 else 0.0
        return saturated(result) if sat else result

    def model(x: Array) -> Array:
        return np.array([one(each) for each in x.astype(np.float64).tolist()]).astype(DTYPES[to])

    return model


@pytest.mark.parametrize("source", FLOATS)
def test_between_floats(source: str) -> None:
    a = floats(DTYPES[source], 9, SIZE)
    digits = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
    cases: list[tuple[Case, Model]] = []

    def add(modifiers: str, to: str, mode: str = "rn", **flags: bool) -> None:
        text = f"cvt{modifiers}.{to}.{source} %d, %a;"
        cases.append((Case(text, DTYPES[to], a), narrowing(to, mode, source=source, **flags)))

    for to in FLOATS:
        loses = digits[to] < digits[source] or {source, to} == {"f16", "bf16"}
        if loses:
            for mode in MODES:
                add(f".{mode}", to, mode)
                if {source, to} == {"f32", "f64"}:
                    add(f".{mode}.ftz.sat", to, mode, ftz=True, sat=True)
                if (source, to) == ("f32", "f16"):
                    add(f".{mode}.ftz", to, mode, ftz=True)
                    add(f".{mode}.sat", to, mode, sat=True)
            if source == "f32" and to in ("f16", "bf16"):
                for mode in ("rn", "rz"):
                    add(f".{mode}.relu", to, mode, relu=True)
                    add(f".{mode}.satfinite", to, mode, finite=True)
                    add(f".{mode}.relu.satfinite", to, mode, relu=True, finite=True)
        elif to != source:
            add("", to)
            if (source, to) == ("f32", "f64"):
                add(".ftz", to, ftz=True)
            if source != "bf16":
                add(".sat", to, sat=True)
        elif source != "bf16":
            add(".sat", to, sat=True)
        if to == source:
            cases += integral_cases(source, a)
    check(cases)


def integral_cases(kind: str, a: Array) -> list[tuple[Case, Model]]:
    """cvt.rni.f32.f32 and its kind: to an integral value of the same type."""
    functions = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
    tiny = 2.0**-126

    def model(x: Array, function: Any, ftz: bool, sat: bool) -> Array:
        value = x.astype(np.float64)
        if ftz:
            value = np.where(np.abs(value) < tiny, np.copysign(0, value), value)
        value = function(value)
        return np.where(value > 0, np.minimum(value, 1), 0) if sat else value

    cases: list[tuple[Case, Model]] = []
    for mode, function in functions.items():
        for ftz in (False, True) if kind == "f32" else (False,):
            for sat in (False, True) if kind != "bf16" else (False,):
                text = f"cvt.{mode}{'.ftz' * ftz}{'.sat' * sat}.{kind}.{kind} %d, %a;"
                made: Model = lambda x, f=function, z=ftz, s=sat: model(x, f, z, s)  # noqa: E731
                cases.append((Case(text, a.dtype, a), made))
    return cases


def test_tf32() -> None:
    a = floats(np.float32, 10, SIZE)
    cases: list[tuple[Case, Model]] = []
    for modifiers, mode, flags in (
        ("rna", "rna", {}),
        ("rna.satfinite", "rna", {"finite": True}),
        ("rn", "rn", {}),
        ("rz", "rz", {}),
        ("rn.relu", "rn", {"relu": True}),
        ("rz.relu", "rz", {"relu": True}),
    ):
        model = narrowing("tf32", mode, source="f32", **flags)
        cases.append((Case(f"cvt.{modifiers}.tf32.f32 %d, %a;", np.float32, a), model))
    check(cases)


def test_bits_of_a_nan() -> None:
    """As an H200 gives them: where a payload is kept, where it is cut, and where one NaN stands for all."""
    single = np.resize(np.array([0x7FFF8001, 0xFFFFFFFF, 0x7F800001, 0xFFC00001], np.uint32), 256)
    double = np.resize(np.array([0x7FFF800178DDE6C4, 0xFFFFFFFFA708A7AE], np.uint64), 256)
    half = np.resize(np.array([0x7FFF, 0xFFC0], np.uint16), 256)
    table: list[tuple[str, Any, Array, list[int]]] = [
        ("cvt.f32.f32", np.uint32, single, [0x7FFF8001, 0xFFFFFFFF, 0x7F800001, 0xFFC00001]),
        ("cvt.rni.f32.f32", np.uint32, single, [0x7FFFFFFF]),
        (
            "cvt.f64.f32",
            np.uint64,
            single,
            [0x7FFFF00020000000, 0xFFFFFFFFE0000000, 0x7FF8000020000000, 0xFFF8000020000000],
        ),
        ("cvt.ftz.f64.f32", np.uint64, single, [0x7FFFFFFFE0000000]),
        ("cvt.rna.tf32.f32", np.uint32, single, [0x7FFF8000, 0xFFFFE000, 0x7F800000, 0xFFC00000]),
        ("cvt.rz.relu.tf32.f32", np.uint32, single, [0x7FFFE000]),
        ("cvt.rn.f16.f32", np.uint16, single, [0x7FFF]),
        ("cvt.rn.bf16.f32", np.uint16, single, [0x7FFF]),
        ("cvt.rn.f32.f64", np.uint32, double, [0x7FFC000B, 0xFFFFFFFD]),
        ("cvt.rni.f64.f64", np.uint64, double, [0x7FFF800178DDE6C4, 0xFFFFFFFFA708A7AE]),
        ("cvt.f32.f16", np.uint32, half, [0x7FFFFFFF]),
        ("cvt.f32.bf16", np.uint32, half, [0x7FFF0000, 0xFFC00000]),
        ("cvt.f64.f16", np.uint64, half, [0x7FFFFC0000000000, 0xFFFF000000000000]),
        ("neg.ftz.f32", np.uint32, single, [0x7FFFFFFF]),
        ("abs.ftz.f32", np.uint32, single, [0x7FFFFFFF]),
        ("rcp.approx.ftz.f64", np.uint64, double, [0x7FFFFFFF00000000]),
    ]
    check(
        [
            (Case(f"{name} %d, %a;", dtype, a), lambda x, b=bits, t=dtype: np.resize(np.array(b, t), len(x)))
            for name, dtype, a, bits in table
        ]
    )


# ---- Pairs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_pairs_of_halves(kind: str) -> None:
    a, b = floats(np.float32, 11, SIZE), floats(np.float32, 12, SIZE)
    cases: list[tuple[Case, Model]] = []
    for mode in ("rn", "rz"):
        for relu in (False, True):
            for finite in (False, True):
                one = narrowing(kind, mode, source="f32", relu=relu, finite=finite)
                text = f"cvt.{mode}{'.relu' * relu}{'.satfinite' * finite}.{kind}x2.f32 %d, %a, %b;"
                for pick, shift in (("low", 0), ("high", 16)):
                    # Half by half, so that the NaNs of a float type compare as such.
                    unpack = f"mov.b32 {{%h, %k}}, %x; mov.b16 %d, {'%h' if pick == 'low' else '%k'};"
                    case = Case(text.replace("%d", "%x") + unpack, DTYPES[kind], a, b)
                    cases.append((case, lambda x, y, f=one, s=shift: f(x if s else y)))
    check(cases)


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_eight_bit_floats(kind: str) -> None:
    """From f32 and from f16 with saturation; to f16, of all 256 values."""
    dtype = DTYPES[kind]
    a, b = floats(np.float32, 13, SIZE), floats(np.float32, 14, SIZE)
    rng = np.random.default_rng(15)
    grid = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    grid = np.sort(grid[np.isfinite(grid)])
    between = ((grid[1:].astype(np.float64) + grid[:-1]) / 2).astype(np.float32)  # ties
    b[: len(between)] = between
    b[256 : 256 + len(between)] = np.nextafter(between, np.float32(np.inf))
    b[512 : 512 + len(between)] = np.nextafter(between, np.float32(-np.inf))
    halves = floats(np.float16, 16, SIZE)
    halves[: len(between)] = between.astype(np.float16)
    pair = np.stack([rng.permutation(halves), halves], 1).copy().view(np.uint32).ravel()
    bytes_ = rng.integers(0, 2**16, SIZE).astype(np.uint16)
    bytes_[:256] = np.arange(256) | np.arange(256)[::-1] << 8
    cases: list[tuple[Case, Model]] = []
    for relu in (False, True):
        suffix = ".relu" * relu
        one = narrowing(kind, relu=relu, finite=True)
        for shift in (0, 8):
            get = f"shr.u16 %h, %h, {shift}; mov.b16 %d, %h;"
            cases.extend(
                [
                    (
                        Case(f"cvt.rn.satfinite{suffix}.{kind}x2.f32 %h, %a, %b; {get}", dtype, a, b),
                        lambda x, y, f=one, s=shift: f(x if s else y),
                    ),
                    (
                        Case(f"cvt.rn.satfinite{suffix}.{kind}x2.f16x2 %h, %a; {get}", dtype, pair),
                        lambda x, f=one, s=shift: f(x.view(np.float16)[s // 8 :: 2]),
                    ),
                ]
            )
        for shift in (0, 16):
            text = f"cvt.rn{suffix}.f16x2.{kind}x2 %x, %a; shr.u32 %x, %x, {shift}; cvt.u16.u32 %d, %x;"

            def widened(x: Array, shift: int = shift, relu: bool = relu) -> Array:
                value = x.view(dtype)[shift // 16 :: 2].astype(np.float32)
                value = np.where(np.isnan(value) | (value > 0), value, 0) if relu else value
                return value.astype(np.float16)

            cases.append((Case(text, np.float16, bytes_), widened))
    check(cases)


def test_newer_formats_are_refused_by_name() -> None:
    from flashpath.vgpu.device import UnsupportedInstruction

    a = floats(np.float32, 17, 256)
    for text in (
        "cvt.rn.satfinite.e2m3x2.f32 %h, %a, %a;",
        "cvt.rz.satfinite.ue8m0x2.f32 %h, %a, %a;",
        "cvt.rn.satfinite.e2m1x2.f32 %h, %a, %a;",
    ):
        with pytest.raises(UnsupportedInstruction, match=text.split()[0].replace(".", r"\.")):
            check([(Case(text, np.float32, a), lambda x: x)])
