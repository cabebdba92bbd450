"""Arguments of kernels as they are written on the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flashpath.cli.arguments import parse_arguments
from flashpath.errors import FlashpathError


def values(*texts: str) -> list[Any]:
    return [argument.value for argument in parse_arguments(texts)]


def test_scalars() -> None:
    found = values("3", "-3", "2.0", "1e-3", "2**20", "n=6", "4*n*n", "true", "null")
    assert found == [3, -3, 2.0, 1e-3, 2**20, 6, 144, True, None]
    assert [type(value) for value in found[:3]] == [int, int, float]


def test_arrays() -> None:
    n, x, zeros, ones, count = parse_arguments(
        ["n=100", "x=f32[n]", "zeros:f64[n,2*n]", "y=ones:u8[3]", "arange:i32[2,3]"]
    )
    assert (n.name, x.name, zeros.name, ones.name) == ("n", "x", "", "y")
    assert (x.value.dtype, x.value.shape) == (np.float32, (100,))
    assert 0.5 < x.value.std() < 1.5
    assert (zeros.value.dtype, zeros.value.shape, zeros.value.any()) == (np.float64, (100, 200), False)
    assert ones.value.tolist() == [1, 1, 1]
    assert count.value.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_ranges_of_random_values() -> None:
    digits, floats, byte, bits, brain = values(
        "i32[1000]:0..9", "f32[1000]:-0.5..0.5", "u8[1000]", "bool[100]", "bf16[4]"
    )
    assert (digits.min(), digits.max()) == (0, 9)
    assert floats.min() >= -0.5
    assert -0.5 < floats.min() < -0.4
    assert 0.4 < floats.max() <= 0.5
    assert 0 <= byte.min() < byte.max() <= 99
    assert 0 < bits.sum() < 100
    assert brain.dtype.name == "bfloat16"


def test_the_seed_repeats_the_values() -> None:
    (one,), (again,), (other,) = (parse_arguments(["f32[9]"], seed) for seed in (1, 1, 2))
    assert np.array_equal(one.value, again.value)
    assert not np.array_equal(one.value, other.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("abc", "neither a number nor an array"),
        ("f32(8)", "zeros:f32[n,n]"),
        ("f33[8]", "It is one of f16, bf16, f32"),
        ("nought:f32[8]", "random, zeros, ones, arange"),
        ("f32[m]", "Name a number before it"),
        ("f32[-1]", "[-1] is no shape"),
        ("f32[]", "[] is no shape"),
        ("i32[8]:9..0", "the lower number first"),
        ("i32[8]:0.5..2", "Give two numbers"),
        ("u8[8]:0..256", "from 0 to 255"),
        ("f32[2**50]", "cannot be made here"),
        ("f32[99999999999999999999]", "cannot be made here"),
        ("zeros:f32[99999999999999999999]", "cannot be made here"),
        ("f32[" + ",".join("1" * 71) + "]", "cannot be made here"),
        ("f32[8]:0..inf", "no finite distance"),
        ("f64[8]:-1e308..1e308", "no finite distance"),
        ("zeros:i32[8]:0..9", "zeros has no range"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, says: str) -> None:
    with pytest.raises(FlashpathError) as refused:
        parse_arguments([text])
    assert says in str(refused.value)
    assert text in str(refused.value)


def test_names_so_far_are_told() -> None:
    with pytest.raises(FlashpathError, match="Names so far: n, k"):
        parse_arguments(["n=4", "k=5", "f32[m]"])
