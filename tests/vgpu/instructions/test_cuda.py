"""Intrinsics and math functions of CUDA C++ as users write them, compiled for each architecture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp

from .exact import MODES
from .harness import Array, Model, applied, floats, integers, same

ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89")
HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
TYPES: dict[str, Any] = {
    "unsigned": np.uint32,
    "int": np.int32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
    "__half": np.float16,
    "__nv_bfloat16": ml_dtypes.bfloat16,
}
SIZE = 256


def evaluate(
    expressions: Sequence[str],
    result: str,
    arch: str,
    options: tuple[str, ...] = (),
    prelude: str = HEADERS,
    /,
    **inputs: tuple[str, Array],
) -> list[Array]:
    """Every expression of a, b, … for all elements, by one kernel."""
    parameters = "".join(f"const {kind}* p_{name}, " for name, (kind, _) in inputs.items())
    loads = "".join(f"{kind} {name} = p_{name}[i]; " for name, (kind, _) in inputs.items())
    stores = "\n".join(f"out[{k} * {SIZE} + i] = ({result})({text});" for k, text in enumerate(expressions))
    source = (
        f'{prelude}extern "C" __global__ void k({parameters}{result}* out) '
        f"{{ int i = threadIdx.x; {loads}\n{stores} }}"
    )
    out = np.zeros((len(expressions), SIZE), TYPES[result])
    fp.compile(source, arch, options=options)["k"][1, SIZE](*(array for _, array in inputs.values()), out)
    return list(out)


def check_bits(table: dict[str, Model], results: list[Array], *inputs: Array) -> None:
    for (text, model), got in zip(table.items(), results, strict=True):
        with np.errstate(all="ignore"):
            expected = np.asarray(applied(model, *inputs)).astype(got.dtype)
        equal = same(got, expected)
        k = int(np.argmin(equal))
        assert equal.all(), (text, [array[k] for array in inputs], got[k], expected[k])


# ---- Video intrinsics ----------------------------------------------------------------------------------


Lanes = Callable[[Any, Any], Any]


def lanes_of(bits: int, signed: bool) -> Callable[[Array], Array]:
    return lambda word: word.view(f"{'i' if signed else 'u'}{bits // 8}").astype(np.int64)


def packed(values: Array, bits: int) -> Array:
    return values.astype(f"i{bits // 8}").view(np.uint32)


def simd_table() -> dict[str, Model]:
    table: dict[str, Model] = {}
    relations: dict[str, Lanes] = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
    for count, bits in ((2, 16), (4, 8)):
        for sign, signed in (("s", True), ("u", False)):
            cut = lanes_of(bits, signed)
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)

            def lanewise(function: Lanes, cut: Any = cut, bits: int = bits) -> Model:
                return lambda x, y, _: packed(function(cut(x), cut(y)), bits)

            def saturating(
                function: Lanes,
                low: int = low,
                high: int = high,
                lanewise: Callable[[Lanes], Model] = lanewise,
            ) -> Model:
                return lanewise(lambda x, y: np.clip(function(x, y), low, high))

            table.update(
                {
                    f"__vadd{sign}s{count}(a, b)": saturating(np.add),
                    f"__vsub{sign}s{count}(a, b)": saturating(np.subtract),
                    f"__vmax{sign}{count}(a, b)": lanewise(np.maximum),
                    f"__vmin{sign}{count}(a, b)": lanewise(np.minimum),
                    f"__vabsdiff{sign}{count}(a, b)": lanewise(lambda x, y: np.abs(x - y)),
                    f"__vsad{sign}{count}(a, b)": lambda x, y, _, c=cut, n=count: (
                        np.abs(c(x) - c(y)).reshape(-1, n).sum(1)
                    ),
                }
            )
            for name, relation in relations.items():
                suffix = f"{name}{'' if name in ('eq', 'ne') else sign}{count}(a, b)"
                table[f"__vcmp{suffix}"] = lanewise(lambda x, y, f=relation: -f(x, y).astype(np.int64))
                table[f"__vset{suffix}"] = lanewise(lambda x, y, f=relation: f(x, y).astype(np.int64))
        unsigned, signed_cut = lanes_of(bits, False), lanes_of(bits, True)
        top = 2 ** (bits - 1) - 1
        table.update(
            {
                f"__vadd{count}(a, b)": lambda x, y, _, c=unsigned, n=bits: packed(c(x) + c(y), n),
                f"__vsub{count}(a, b)": lambda x, y, _, c=unsigned, n=bits: packed(c(x) - c(y), n),
                f"__vavgu{count}(a, b)": lambda x, y, _, c=unsigned, n=bits: packed(
                    (c(x) + c(y) + 1) >> 1, n
                ),
                f"__vhaddu{count}(a, b)": lambda x, y, _, c=unsigned, n=bits: packed((c(x) + c(y)) >> 1, n),
                f"__vabs{count}(a)": lambda x, y, _, c=signed_cut, n=bits: packed(np.abs(c(x)), n),
                f"__vneg{count}(a)": lambda x, y, _, c=signed_cut, n=bits: packed(-c(x), n),
                f"__vabsss{count}(a)": lambda x, y, _, c=signed_cut, n=bits, t=top: packed(
                    np.minimum(np.abs(c(x)), t), n
                ),
                f"__vnegss{count}(a)": lambda x, y, _, c=signed_cut, n=bits, t=top: packed(
                    np.minimum(-c(x), t), n
                ),
            }
        )
    s16, s32 = lanes_of(16, True), lanes_of(32, True)
    table.update(
        {
            "__viaddmax_s16x2(a, b, c)": lambda x, y, z: packed(
                np.maximum(s16(packed(s16(x) + s16(y), 16)), s16(z)), 16
            ),
            "__vimax3_s16x2_relu(a, b, c)": lambda x, y, z: packed(
                np.maximum(np.maximum(np.maximum(s16(x), s16(y)), s16(z)), 0), 16
            ),
            "__viaddmin_s32_relu(a, b, c)": lambda x, y, z: np.maximum(
                np.minimum((x + y).view(np.int32), z.view(np.int32)), 0
            ).view(np.uint32),
            "__dp4a((int)a, (int)b, (int)c)": lambda x, y, z: (
                (lanes_of(8, True)(x) * lanes_of(8, True)(y)).reshape(-1, 4).sum(1) + z
            ).astype(np.uint32),
            "__dp2a_hi(a, b, c)": lambda x, y, z: (
                (lanes_of(16, False)(x).reshape(-1, 2) * lanes_of(8, False)(y).reshape(-1, 4)[:, 2:]).sum(1)
                + z
            ).astype(np.uint32),
            "__mulhi((int)a, (int)b)": lambda x, y, _: s32(x) * s32(y) >> 32,
            "__rhadd((int)a, (int)b)": lambda x, y, _: (s32(x) + s32(y) + 1) >> 1,
            "__usad(a, b, c)": lambda x, y, z: np.maximum(x, y) - np.minimum(x, y) + z,
            "__byte_perm(a, b, 0x7531)": lambda x, y, _: (
                np.stack([x, y], 1).view(np.uint8).reshape(-1, 8)[:, 1::2].copy().view(np.uint32).ravel()
            ),
            "__funnelshift_rc(a, b, c % 40)": lambda x, y, z: (
                (y.astype(np.uint64) << np.uint64(32) | x) >> np.minimum(z % 40, 32).astype(np.uint64)
            ),
        }
    )

    def wrapped(model: Model) -> Model:
        def made(*inputs: Array) -> Array:
            return np.asarray(applied(model, *inputs)).astype(np.int64) % 2**32

        return made

    return {text: wrapped(model) for text, model in table.items()}


@pytest.mark.parametrize("arch", ARCHS)
def test_simd_intrinsics(arch: str) -> None:
    a, b, c = (integers(np.uint32, seed, SIZE) for seed in (1, 2, 3))
    table = simd_table()
    results = evaluate(list(table), "unsigned", arch, a=("unsigned", a), b=("unsigned", b), c=("unsigned", c))
    check_bits(table, results, a, b, c)


def test_128_bit_integers() -> None:
    """Sums with carries, products, shifts, quotients."""
    a, b = integers(np.uint64, 4, SIZE), integers(np.uint64, 5, SIZE)
    full = 2**128

    def signed(x: int) -> int:
        return x - full if x >= full // 2 else x

    def quotient(x: int, y: int) -> int:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    models: dict[str, Callable[[int, int], int]] = {
        "x + y": lambda x, y: x + y,
        "x - y": lambda x, y: x - y,
        "x * y": lambda x, y: x * y,
        "x / (y | 1)": lambda x, y: x // (y | 1),
        "x % (y | 1)": lambda x, y: x % (y | 1),
        "(I)x / (I)(y | 1)": lambda x, y: quotient(signed(x), signed(y | 1)),
        "x << (int)(y & 127)": lambda x, y: x << (y & 127),
        "(I)x >> (int)(y & 127)": lambda x, y: signed(x) >> (y & 127),
    }
    texts = [text.replace("x", "join(a, b)").replace("y", "join(b, a)") for text in models]
    results = evaluate(
        [half for text in texts for half in (text, f"(U)({text}) >> 64")],
        "unsigned long long",
        "sm_80",
        ("--device-int128",),
        "typedef unsigned __int128 U; typedef __int128 I;\n"
        "__device__ U join(U high, U low) { return high << 64 | low; }\n",
        a=("unsigned long long", a),
        b=("unsigned long long", b),
    )
    numbers = [(x << 64 | y, y << 64 | x) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    for k, model in enumerate(models.values()):
        true = [model(x, y) % full for x, y in numbers]
        assert results[2 * k].tolist() == [value % 2**64 for value in true]
        assert results[2 * k + 1].tolist() == [value >> 64 for value in true]


# ---- Math functions ------------------------------------------------------------------------------------


def each(function: Model) -> Model:
    def one(*values: float) -> float:
        try:
            return applied(function, *values)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    def model(*arrays: Array) -> Array:
        return np.array([one(*values) for values in zip(*(array.tolist() for array in arrays), strict=True)])

    return model


# (the function on doubles, units in the last place allowed for f32 and for f64, the range of its argument).
# The bounds are those of the CUDA programming guide and one more. None: not compared in double, where the
# reference is no better.
MATH: dict[str, tuple[Model, int, int | None, tuple[float, float]]] = {
    "sin": (np.sin, 3, 3, (-1e5, 1e5)),
    "cos": (np.cos, 3, 3, (-1e5, 1e5)),
    "tan": (np.tan, 5, 3, (-1e5, 1e5)),
    "sinpi": (each(lambda x: math.sin(math.pi * math.fmod(x, 2))), 4, None, (-1, 1)),
    "exp": (np.exp, 3, 2, (-80, 80)),
    "exp2": (np.exp2, 3, 2, (-120, 120)),
    "exp10": (lambda x: np.power(10.0, x), 3, 3, (-35, 35)),
    "expm1": (np.expm1, 2, 2, (-10, 10)),
    "log": (np.log, 2, 2, (1e-30, 1e30)),
    "log2": (np.log2, 2, 2, (1e-30, 1e30)),
    "log10": (np.log10, 3, 2, (1e-30, 1e30)),
    "log1p": (np.log1p, 2, 2, (-0.9, 100)),
    "asin": (np.arcsin, 5, 3, (-1, 1)),
    "acos": (np.arccos, 4, 3, (-1, 1)),
    "atan": (np.arctan, 3, 3, (-100, 100)),
    "sinh": (np.sinh, 4, 3, (-60, 60)),
    "cosh": (np.cosh, 3, 2, (-60, 60)),
    "tanh": (np.tanh, 3, 2, (-10, 10)),
    "asinh": (np.arcsinh, 4, 4, (-1e6, 1e6)),
    "acosh": (np.arccosh, 5, 4, (1, 1e6)),
    "atanh": (np.arctanh, 4, 3, (-0.999, 0.999)),
    "erf": (each(math.erf), 3, 3, (-4, 4)),
    "erfc": (each(math.erfc), 5, 6, (-4, 8)),
    "tgamma": (each(math.gamma), 12, 11, (0.1, 30)),
    "lgamma": (each(math.lgamma), 7, 5, (3, 1e6)),
    "cbrt": (np.cbrt, 2, 2, (-1e30, 1e30)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 3, 2, (1e-30, 1e30)),
    "sqrt": (np.sqrt, 1, 1, (0, 1e30)),
    "normcdf": (each(lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5))), 6, None, (-5, 5)),
    "rint": (np.rint, 0, 0, (-1e6, 1e6)),
    "round": (each(lambda x: math.copysign(math.floor(abs(x) + 0.5), x)), 0, 0, (-1e6, 1e6)),
    "trunc": (np.trunc, 0, 0, (-1e6, 1e6)),
    "floor": (np.floor, 0, 0, (-1e6, 1e6)),
    "ceil": (np.ceil, 0, 0, (-1e6, 1e6)),
}
MATH2: dict[str, tuple[Model, int, int]] = {
    "fmod": (each(math.fmod), 0, 0),
    "remainder": (each(math.remainder), 0, 0),
    "atan2": (np.arctan2, 4, 3),
    "hypot": (np.hypot, 4, 3),
    "fmax": (np.fmax, 0, 0),
    "fdim": (lambda x, y: np.maximum(x - y, 0), 1, 1),
    "copysign": (np.copysign, 0, 0),
    "pow": (lambda x, y: np.power(np.abs(x), y), 10, 3),
}


def arguments(low: float, high: float, dtype: Any, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if low > 0 and high / low > 1e4:
        return np.exp(rng.uniform(math.log(low), math.log(high), SIZE)).astype(dtype)
    spread = rng.uniform(low, high, SIZE)
    spread[: SIZE // 4] *= 1e-3
    return np.clip(spread, low, high).astype(dtype)


def check_near(text: str, got: Array, true: Array, bound: int) -> None:
    error = np.abs(got.astype(np.longdouble) - true) / np.spacing(np.abs(true).astype(got.dtype))
    worst = int(np.argmax(error))
    assert float(error[worst]) <= bound + 0.5, (text, got[worst], true[worst], float(error[worst]))


@pytest.mark.parametrize(("kind", "arch"), [("float", "sm_75"), ("float", "sm_89"), ("double", "sm_80")])
def test_math_functions(kind: str, arch: str) -> None:
    dtype = TYPES[kind]
    suffix = "f" if kind == "float" else ""
    chosen = {name: entry for name, entry in MATH.items() if entry[1 if suffix else 2] is not None}
    inputs = {f"a{k}": arguments(*entry[3], dtype, k) for k, entry in enumerate(chosen.values())}
    texts = [f"{name}{suffix}(a{k})" for k, name in enumerate(chosen)]
    x, y, z = (arguments(-limit, limit, dtype, seed) for seed, limit in ((97, 1e3), (98, 300), (99, 3)))
    texts += [f"{name}{suffix}({'fabs(x), z' if name == 'pow' else 'x, y'})" for name in MATH2]
    pointers = {name: (kind, array) for name, array in (inputs | {"x": x, "y": y, "z": z}).items()}
    results = evaluate(texts, kind, arch, **pointers)
    with np.errstate(all="ignore"):
        for (name, entry), array, got in zip(chosen.items(), inputs.values(), results, strict=False):
            bound = entry[1] if suffix else entry[2]
            assert bound is not None
            check_near(name, got, np.asarray(applied(entry[0], array.astype(np.float64)), np.float64), bound)
        for (name, entry), got in zip(MATH2.items(), results[len(chosen) :], strict=True):
            second = (z if name == "pow" else y).astype(np.float64)
            true = np.asarray(applied(entry[0], x.astype(np.float64), second), np.float64)
            check_near(name, got, true, entry[1] if suffix else entry[2])


def test_large_arguments_and_fast_functions() -> None:
    """Sines of arguments up to 1e38 are reduced exactly; the fast functions are near within their bounds."""
    rng = np.random.default_rng(6)
    a = (10.0 ** rng.uniform(5, 38, SIZE) * rng.choice([-1, 1], SIZE)).astype(np.float32)
    b = rng.uniform(-3, 3, SIZE).astype(np.float32)
    c = np.exp(rng.uniform(-20, 20, SIZE)).astype(np.float32)
    texts = [
        "sinf(a)",
        "cosf(a)",
        "__sinf(b)",
        "__cosf(b)",
        "__expf(b)",
        "__logf(c)",
        "__powf(c, b)",
        "__fdividef(b, c)",
    ]
    results = evaluate(texts, "float", "sm_80", a=("float", a), b=("float", b), c=("float", c))
    x, y, z = (array.astype(np.float64) for array in (a, b, c))
    true = [np.sin(x), np.cos(x), np.sin(y), np.cos(y), np.exp(y), np.log(z), z**y, y / z]
    absolute = [2e-7, 2e-7, 5e-7, 5e-7, 0, 5e-7, 0, 0]
    relative = [0, 0, 0, 0, 5e-7, 3e-7, 2e-5, 3e-7]
    for text, got, wanted, at_most, part in zip(texts, results, true, absolute, relative, strict=True):
        error = np.abs(got - wanted)
        assert (error <= at_most + part * np.abs(wanted)).all(), text


# ---- Conversions and halves ----------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHS)
def test_eight_bit_classes(arch: str) -> None:
    """cuda_fp8.h: by instructions from sm_89 on, by integer code before."""
    a = floats(np.float32, 7)[:SIZE].copy()
    texts = ["(float)__nv_fp8_e4m3(a)", "(float)__nv_fp8_e5m2(a)", "(float)__nv_fp8_e4m3(__float2half(a))"]
    results = evaluate(texts, "float", arch, a=("float", a))
    with np.errstate(all="ignore"):
        half = a.astype(np.float16).astype(np.float32)
        e4m3, e5m2 = (ml_dtypes.float8_e4m3fn, 448), (ml_dtypes.float8_e5m2, 57344)
        for got, source, (dtype, most) in zip(results, (a, a, half), (e4m3, e5m2, e4m3), strict=True):
            expected = np.clip(source, -most, most).astype(dtype).astype(np.float32)
            assert same(got, expected).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_conversions_by_name(arch: str) -> None:
    """__int2float_rd and its family, by the neighbours of the exact result."""
    x, n = integers(np.int64, 8, SIZE), integers(np.int32, 9, SIZE)
    texts = [f"__ll2float_{m}(x)" for m in ("rn", "rz", "rd", "ru")]
    texts += [f"__int2float_{m}(n)" for m in ("rn", "rz", "rd", "ru")]
    texts += [f"__half2float(__int2half_{m}(n % 60000))" for m in ("rn", "rz", "rd", "ru")]
    texts += [f"__bfloat162float(__int2bfloat16_{m}(n))" for m in ("rn", "rz", "rd", "ru")]
    results = evaluate(texts, "float", arch, x=("long long", x), n=("int", n))
    remainders = np.fmod(n.astype(np.int64), 60000)
    sources = [x, n.astype(np.int64), remainders, n.astype(np.int64)]
    dtypes: list[Any] = [np.float32, np.float32, np.float16, ml_dtypes.bfloat16]
    for group, (source, dtype) in enumerate(zip(sources, dtypes, strict=True)):
        exact = source.astype(np.longdouble)
        near = (
            exact.astype(np.float64).astype(dtype) if dtype is not np.float32 else source.astype(np.float32)
        )
        for mode, got in zip(MODES, results[4 * group : 4 * group + 4], strict=True):
            value = got.astype(np.longdouble)
            if mode == "rn":
                assert np.array_equal(got, near.astype(np.float32))
            side = {"rz": np.abs(value) <= np.abs(exact), "rm": value <= exact, "rp": value >= exact}.get(
                mode
            )
            if side is not None:
                assert side.all()
                # No value of the format lies between.
                step = np.nextafter(got.astype(dtype), np.where(value < exact, np.inf, -np.inf).astype(dtype))
                assert (
                    (value == exact) | (np.sign(exact - value) != np.sign(exact - step.astype(np.longdouble)))
                ).all()


@pytest.mark.parametrize(
    ("kind", "arch"), [("__half", arch) for arch in ARCHS] + [("__nv_bfloat16", arch) for arch in ARCHS]
)
def test_half_intrinsics(kind: str, arch: str) -> None:
    dtype = np.dtype(TYPES[kind])
    a, b = floats(dtype, 10)[:SIZE].copy(), floats(dtype, 11)[:SIZE].copy()
    b[::8] = a[::8]
    x, y = a.astype(np.float32), b.astype(np.float32)
    make, high = (
        ("__halves2half2", "__high2half") if kind == "__half" else ("__halves2bfloat162", "__high2bfloat16")
    )
    table: dict[str, Model] = {}
    for name, function in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
        table[f"__h{name}(a, b)"] = lambda _a, _b, f=function: f(x, y).astype(dtype)
        table[f"{high}(__h{name}2({make}(b, a), {make}(a, b)))"] = table[f"__h{name}(a, b)"]
        table[f"__h{name}_sat(a, b)"] = lambda _a, _b, f=function: np.where(
            f(x, y).astype(dtype).astype(np.float32) > 0,
            np.minimum(f(x, y).astype(dtype).astype(np.float32), 1),
            0,
        )
    relations = {
        "eq": x == y,
        "ne": (x < y) | (x > y),
        "lt": x < y,
        "ge": x >= y,
        "ltu": ~(x >= y),
        "neu": x != y,
    }
    for name, holds in relations.items():
        table[f"{kind}(__h{name}(a, b) ? 1.f : 0.f)"] = lambda _a, _b, h=holds: h
        table[f"{high}(__h{name}2({make}(b, a), {make}(a, b)))"] = lambda _a, _b, h=holds: h
        table[f"{kind}(__hb{name}2({make}(a, a), {make}(b, b)) ? 1.f : 0.f)"] = lambda _a, _b, h=holds: h
    table.update(
        {
            "__hmin(a, b)": lambda _a, _b: np.fmin(x, y),
            "__hmax(a, b)": lambda _a, _b: np.fmax(x, y),
            "__hmax_nan(a, b)": lambda _a, _b: np.maximum(x, y),
            "hsqrt(a)": lambda _a, _b: np.sqrt(x.astype(np.float64)).astype(dtype),
            "hfloor(a)": lambda _a, _b: np.floor(x),
            "hrint(a)": lambda _a, _b: np.rint(x),
        }
    )
    results = evaluate(list(table), kind, arch, a=(kind, a), b=(kind, b))
    for (text, model), got in zip(table.items(), results, strict=True):
        with np.errstate(all="ignore"):
            expected = np.asarray(applied(model, a, b)).astype(dtype)
        got, expected = got.astype(np.float32), expected.astype(np.float32)
        assert np.array_equal(got, expected, equal_nan=True), text
