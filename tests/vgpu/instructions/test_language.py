"""C++ operators and casts on all types, against NumPy, for edge values and random ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp

Array = np.ndarray[Any, Any]
INTEGERS = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
}


def values(dtype: Any, seed: int) -> Array:
    """256 values: the edges of the type, the small ones, and random ones."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    edges = np.array([limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max], dtype)
    rest = rng.integers(limits.min, limits.max, 248, dtype, endpoint=True)
    return rng.permutation(np.concatenate([edges, rest]))


def floats(dtype: Any, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    special = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        np.inf,
        -np.inf,
        np.nan,
        1e-8,
        65504.0,
        1e38,
        -2147483648.0,
        4294967040.0,
    ]
    with np.errstate(over="ignore"):
        scaled = rng.standard_normal(244) * 10.0 ** rng.integers(-3, 4, 244)
        return rng.permutation(np.concatenate([special, scaled])).astype(dtype)


def run(expression: str, result: str, out: Array, **inputs: tuple[str, Array]) -> Array:
    """out[i] = expression, in which a, b, c … are the inputs' elements."""
    parameters = "".join(f"const {kind}* p_{name}, " for name, (kind, _) in inputs.items())
    elements = "".join(f"{kind} {name} = p_{name}[i]; " for name, (kind, _) in inputs.items())
    headers = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" if "__" in parameters + result else ""
    kernel = fp.compile(
        f'{headers}extern "C" __global__ void k({parameters}{result}* out) {{ int i = threadIdx.x; '
        f"{elements}out[i] = ({result})({expression}); }}",
        "sm_80",
    )["k"]
    kernel[1, len(out)](*(array for _, array in inputs.values()), out)
    return out


@pytest.mark.parametrize("operation", ["+", "-", "*", "&", "|", "^"])
@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_arithmetic_wraps(kind: str, operation: str) -> None:
    dtype: Any = INTEGERS[kind]
    a, b = values(dtype, 1), values(dtype, 2)
    got = run(f"a {operation} b", kind, np.zeros(256, dtype), a=(kind, a), b=(kind, b))
    with np.errstate(over="ignore"):
        expected = eval(f"a {operation} b", {"a": a, "b": b})  # the same symbols in NumPy
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("kind", ["int", "unsigned int", "long long", "unsigned long long"])
def test_division_shifts_and_bits(kind: str) -> None:
    dtype: Any = INTEGERS[kind]
    bits = np.dtype(dtype).itemsize * 8
    a, b = values(dtype, 3), values(dtype, 4)
    b[b == 0] = 7
    b[(b == dtype(-1)) if b.dtype.kind == "i" else np.zeros(256, bool)] = 5
    inputs = {"a": (kind, a), "b": (kind, b)}
    quotient = [
        int(abs(int(x)) // abs(int(y))) * (-1 if (x < 0) != (y < 0) else 1) for x, y in zip(a, b, strict=True)
    ]
    assert run("a / b", kind, np.zeros(256, dtype), **inputs).tolist() == quotient
    remainder = [int(x) - q * int(y) for x, y, q in zip(a, b, quotient, strict=True)]
    assert run("a % b", kind, np.zeros(256, dtype), **inputs).tolist() == remainder
    amount = (np.arange(256) % bits).astype(np.int32)
    for symbol in ("<<", ">>"):
        got = run(f"a {symbol} n", kind, np.zeros(256, dtype), a=(kind, a), n=("int", amount))
        assert np.array_equal(got, eval(f"a {symbol} n", {"a": a, "n": amount.astype(dtype)}))
    suffix = "ll" if bits == 64 else ""
    counted = run(f"__popc{suffix}(a) + 100 * __clz{suffix}(a)", "int", np.zeros(256, np.int32), a=(kind, a))
    masked = [int(x) % 2**bits for x in a]
    assert counted.tolist() == [x.bit_count() + 100 * (bits - x.bit_length()) for x in masked]


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_conversions(source: str, to: str) -> None:
    a = values(INTEGERS[source], 5)
    got = run("a", to, np.zeros(256, INTEGERS[to]), a=(source, a))
    assert np.array_equal(got, a.astype(INTEGERS[to]))


@pytest.mark.parametrize(("kind", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_float_arithmetic_and_conversions(kind: str, dtype: Any) -> None:
    a, b = floats(dtype, 6), floats(dtype, 7)
    with np.errstate(all="ignore"):
        for symbol in "+-*/":
            got = run(f"a {symbol} b", kind, np.zeros(256, dtype), a=(kind, a), b=(kind, b))
            np.testing.assert_array_equal(got, eval(f"a {symbol} b", {"a": a, "b": b}))
        np.testing.assert_array_equal(run("sqrt(a)", kind, np.zeros(256, dtype), a=(kind, a)), np.sqrt(a))
        for name, integer in INTEGERS.items():
            source = values(integer, 8)
            got = run("a", kind, np.zeros(256, dtype), a=(name, source))
            np.testing.assert_array_equal(got, source.astype(dtype))
            limits = np.iinfo(integer)
            fitting = np.nan_to_num(a, nan=0, posinf=0, neginf=0)
            fitting = np.where((fitting > limits.min) & (fitting < limits.max), fitting, dtype(1.75))
            got = run("a", name, np.zeros(256, integer), a=(kind, fitting))
            np.testing.assert_array_equal(got, np.trunc(fitting).astype(integer))


def test_a_float_out_of_range_becomes_the_nearest_integer_and_a_nan_zero() -> None:
    a = np.array([3e9, -3e9, np.inf, -np.inf, np.nan, 2.5, 3.5, -2.5], np.float32)
    got = run("__float2int_rn(a)", "int", np.zeros(8, np.int32), a=("float", a))
    assert got.tolist() == [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 2, 4, -2]


def test_directed_rounding() -> None:
    a = np.array([1.0, -1.0, 3.0, 1e10], np.float32)
    third = np.float32(3)
    for mode in ("rz", "ru", "rd", "rn"):
        got = run(f"__fdiv_{mode}(a, 3.f)", "float", np.zeros(4, np.float32), a=("float", a)).astype(
            np.float64
        )
        exact = a.astype(np.float64) / np.float64(third)
        step = np.spacing(np.abs(got.astype(np.float32))).astype(np.float64)
        assert (np.abs(got - exact) <= step).all()
        if mode == "ru":
            assert (got >= exact).all()
        if mode == "rd":
            assert (got <= exact).all()


@pytest.mark.parametrize("symbol", "+-*")
@pytest.mark.parametrize(
    ("kind", "dtype"), [("__half", np.float16), ("__nv_bfloat16", ml_dtypes.bfloat16)], ids=["fp16", "bf16"]
)
def test_half_arithmetic(kind: str, dtype: Any, symbol: str) -> None:
    a, b = floats(dtype, 9), floats(dtype, 10)
    got = run(f"a {symbol} b", kind, np.zeros(256, dtype), a=(kind, a), b=(kind, b))
    with np.errstate(all="ignore"):
        expected = eval(f"a {symbol} b", {"a": a, "b": b})
    same = (got.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(got) & np.isnan(expected))
    assert same.all(), (a[~same], b[~same], got[~same], expected[~same])
