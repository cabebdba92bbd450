"""Runs lists of PTX instructions on arrays: one kernel for all of them, one thread per element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed

Array = np.ndarray[Any, Any]
# What an instruction should give: a function of one to six inputs. (A union, so that lambdas are typed.)
Model = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)

_NAMES = "abcefg"
_BLOCK = 256


@dataclass(frozen=True)
class Case:
    """One instruction (or a few): reads %a, %b, … and leaves its result in %d.

    It may also use the predicates %p and %q, and %x, %y (32 bits), %v, %w (64 bits), %h, %k (16 bits).
    """

    text: str
    result: Any  # a dtype
    inputs: tuple[Array, ...]

    def __init__(self, text: str, result: Any, *inputs: Array) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "result", np.dtype(result))
        object.__setattr__(self, "inputs", inputs)


def _memory_type(dtype: np.dtype[Any]) -> str:
    return ("s" if dtype.kind == "i" else "u") + str(8 * dtype.itemsize)


def _body(case: Case, number: int, parameters: dict[int, int], output: int) -> str:
    def register(name: str, dtype: np.dtype[Any]) -> str:
        return f".reg .b{8 * max(2, dtype.itemsize)} %{name};"

    def place(parameter: int, dtype: np.dtype[Any]) -> str:
        return f"ld.param.u64 %base, [p{parameter}]; mad.wide.u32 %at, %i, {dtype.itemsize}, %base;"

    lines = [
        f"// case {number}",
        "{",
        ".reg .pred %p, %q; .reg .b32 %x, %y; .reg .b64 %v, %w; .reg .b16 %h, %k;",
    ]
    lines += [register("d", case.result)]
    for name, array in zip(_NAMES, case.inputs, strict=False):
        kind = _memory_type(array.dtype)
        lines += [register(name, array.dtype), place(parameters[id(array)], array.dtype)]
        lines += [f"ld.global.{kind} %{name}, [%at];"]
    lines += [case.text, place(output, case.result), f"st.global.u{8 * case.result.itemsize} [%at], %d;", "}"]
    return "\n".join(lines)


def ptx_of(cases: Sequence[Case], target: str = "sm_90") -> tuple[str, list[Array]]:
    """A module with one kernel `k`, and its inputs; the results' parameters follow those of the inputs."""
    inputs: list[Array] = []
    parameters: dict[int, int] = {}
    for array in (array for case in cases for array in case.inputs):
        if id(array) not in parameters:
            parameters[id(array)] = len(inputs)
            inputs.append(array)
    count = len(inputs) + len(cases)
    bodies = "\n".join(_body(case, k, parameters, len(inputs) + k) for k, case in enumerate(cases))
    arguments = ", ".join(f".param .u64 p{k}" for k in range(count))
    return (
        f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k({arguments}) {{\n"
        ".reg .b32 %i, %t; .reg .b64 %base, %at;\n"
        f"mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, {_BLOCK}, %t;\n{bodies}\nret;\n}}\n"
    ), inputs


def _host_array(parameter: int, array: Array) -> HostArray:
    first = array.ctypes.data
    last = first + array.nbytes
    return HostArray(8 * parameter, first, first, last, first, last, True)


def run(cases: Sequence[Case]) -> list[Array]:
    """The results of all cases; all inputs have one length, a multiple of the block."""
    text, inputs = ptx_of(cases)
    size = len(inputs[0])
    assert all(len(array) == size for array in inputs)
    assert size % _BLOCK == 0
    results = [np.zeros(size, case.result) for case in cases]
    kernel = VirtualModule(text).kernel("k")
    arrays = [_host_array(k, array) for k, array in enumerate([*inputs, *results])]
    Launch(
        kernel, LaunchShape((size // _BLOCK, 1, 1), (_BLOCK, 1, 1)), Packed(bytes(8 * len(arrays)), arrays)
    ).run()
    return results


def same(got: Array, expected: Array) -> Array:
    """Where two arrays agree bit by bit; any NaN of a float type equals any other."""
    equal = got.view(f"u{got.itemsize}") == expected.view(f"u{got.itemsize}")
    if got.dtype.kind == "f" or got.dtype.name.startswith(("bfloat", "float8")):
        with np.errstate(invalid="ignore"):  # isnan of a bfloat16 complains about the NaNs that it looks for
            equal |= np.isnan(got) & np.isnan(expected)
    return equal


def applied(model: Model, *inputs: Any) -> Any:
    function: Any = model  # how many inputs it takes is its author's business
    return function(*inputs)


def check(cases: Sequence[tuple[Case, Model]]) -> None:
    """Every case gives what its model gives of the same inputs, as arrays."""
    for (case, model), got in zip(cases, run([case for case, _ in cases]), strict=True):
        with np.errstate(all="ignore"):
            expected = np.asarray(applied(model, *case.inputs)).astype(case.result)
        equal = same(got, expected)
        if not equal.all():
            k = int(np.argmin(equal))
            raise AssertionError(
                f"{case.text} of {[array[k] for array in case.inputs]} is {got[k]!r}, not {expected[k]!r} "
                f"({int((~equal).sum())} of {len(got)} differ)"
            )


def scalar(function: Model) -> Model:
    """A model on Python's integers, for each element; the result wraps to 64 bits."""

    def model(*arrays: Array) -> Array:
        values = zip(*(array.tolist() for array in arrays), strict=True)
        return np.array([applied(function, *each) % 2**64 for each in values], np.uint64)

    return model


# ---- Values --------------------------------------------------------------------------------------------


def integers(dtype: Any, seed: int, size: int = 512) -> Array:
    """The edges of the type, small numbers, numbers of all lengths, random ones."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    bits = limits.bits
    small = [*range(-3, 4), 31, 32, 33, 63, 64, 127, 128, 255, 256]
    powers = [sign * 2**k + off for k in range(bits) for sign in (1, -1) for off in (-1, 0, 1)]
    edges = [limits.min, limits.min + 1, limits.max - 1, limits.max]
    fitting = sorted({x for x in [*edges, *small, *powers] if limits.min <= x <= limits.max})
    chosen = np.array(fitting, dtype)
    if len(chosen) > size // 2:
        chosen = rng.permutation(chosen)[: size // 2]
    rest = rng.integers(limits.min, limits.max, size - len(chosen), dtype, endpoint=True)
    return rng.permutation(np.concatenate([chosen, rest]))


def floats(dtype: Any, seed: int, size: int = 1024) -> Array:
    """Specials, subnormals, halfway cases of narrower formats, any exponent, ordinary numbers."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    kind = f"u{dtype.itemsize}"
    with np.errstate(all="ignore"):
        special = np.array(
            [
                0.0,
                -0.0,
                1,
                -1,
                0.5,
                -0.5,
                1.5,
                2.5,
                -2.5,
                np.inf,
                -np.inf,
                np.nan,
                -np.nan,
                65504,
                65519.9,
                65520,
                448,
                464,
                465,
                57344,
                61440,
                3e38,
                -3e38,
                2**31,
                2**32,
                2**63,
                2**64,
                -(2**31),
                -(2**63),
                255,
                256,
                127.5,
                128.5,
                -128.5,
                1e-8,
                6e-8,
                2.0**-126,
                2.0**-149,
                2.0**-14,
                2.0**-24,
                2.0**-9,
                2.0**-10,
                1e-320,
            ],
            np.float64,
        ).astype(dtype)
        ordinary = (rng.standard_normal(size // 4) * 10.0 ** rng.integers(-3, 6, size // 4)).astype(dtype)
    any_bits = rng.integers(0, 2 ** (8 * dtype.itemsize), size // 4, np.uint64).astype(kind).view(dtype)
    low = np.iinfo(kind).bits // 2 - 3
    halfway = (ordinary.view(kind) >> low << low).view(dtype)
    subnormal = (
        rng.integers(0, 2**7, size // 8).astype(kind)
        | (any_bits[: size // 8].view(kind) & 1) << (8 * dtype.itemsize - 1)
    ).view(dtype)
    pool = np.concatenate([special, ordinary, any_bits, halfway, subnormal])
    if len(pool) < size:
        pool = np.concatenate([pool, rng.choice(ordinary, size - len(pool))])
    return rng.permutation(pool)[:size].copy()
