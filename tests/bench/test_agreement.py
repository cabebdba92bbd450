from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from flashpath.bench.agreement import assert_agreement
from flashpath.bench.arrays import (
    altered,
    can_replace,
    changed_argument,
    copy_of,
    restore,
    same_bits,
    total_bytes,
)

SEEDED: Any = torch.Generator().manual_seed(0)


def random(*shape: int) -> Any:
    return torch.randn(*shape, generator=SEEDED)


def agrees(output: Any, expected: Any) -> bool:
    try:
        assert_agreement(output, expected, "reference")
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("dtype", "small", "large"),
    [
        (torch.float64, 1e-12, 1e-6),
        (torch.float32, 1e-5, 1e-1),
        (torch.float16, 1e-3, 1e-1),
        (torch.bfloat16, 8e-3, 2e-1),
    ],
)
def test_tolerance_follows_the_dtype(dtype: Any, small: float, large: float) -> None:
    expected = random(1000).to(dtype)
    assert agrees((expected.double() * (1 + small)).to(dtype), expected)
    assert not agrees((expected.double() * (1 + large)).to(dtype), expected)


def test_integers_are_exact() -> None:
    expected = torch.arange(100)
    assert agrees(expected.clone(), expected)
    changed = expected.clone()
    changed[99] += 1
    assert not agrees(changed, expected)


def test_one_unwritten_element_in_a_million_is_found() -> None:
    expected = random(1_000_000)
    output = expected.clone()
    index = int(expected.abs().argmax())
    output[index] = 0.0
    with pytest.raises(AssertionError, match=rf"1 of 1,000,000 elements, first at \[{index}\]"):
        assert_agreement(output, expected, "reference")


def test_nan_and_infinity_agree_only_with_themselves() -> None:
    expected = torch.tensor([1.0, math.nan, math.inf, -math.inf])
    assert agrees(expected.clone(), expected)
    for index, value in ((0, math.nan), (0, math.inf), (1, 1.0), (2, -math.inf), (3, 1e30)):
        changed = expected.clone()
        changed[index] = value
        assert not agrees(changed, expected), (index, value)


def test_shape_and_number_of_results_must_match() -> None:
    x = random(4, 4)
    assert not agrees(x.flatten(), x)
    assert not agrees((x, x), x)
    assert agrees((x, [x]), [x, x])


def test_dtypes_must_match() -> None:
    x = random(10)
    with pytest.raises(AssertionError, match="is of dtype float32, but 'reference' returned float64"):
        assert_agreement(x, x.double(), "reference")
    assert not agrees(x.numpy().astype("float16"), x)
    assert agrees(1.0, torch.tensor(1.0, dtype=torch.float64))  # a plain number has no dtype


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.complex64, torch.bool, torch.int64]
)
def test_a_changed_argument_is_found_bit_for_bit(dtype: Any) -> None:
    arguments: Any = (random(3), [torch.tensor([0.0, 1.0, 1.0]).to(dtype), 5], "text")
    saved = copy_of(arguments)
    assert changed_argument(arguments, saved) is None
    arguments[1][0][0] = 1.0
    assert changed_argument(arguments, saved) == 1


def test_nan_is_unchanged_and_a_lost_sign_is_not() -> None:
    assert same_bits(torch.tensor([math.nan]), torch.tensor([math.nan]))
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert not same_bits((torch.zeros(1), torch.zeros(1)), torch.zeros(1))


def test_new_values_keep_shapes_dtypes_and_integers() -> None:
    for dtype in (torch.float64, torch.bfloat16, torch.float8_e5m2, torch.complex64):
        before = torch.tensor([[1.0, 2.0], [4.0, 8.0]]).to(dtype)
        after, offsets = altered((before, torch.arange(3)))
        assert after.to(torch.complex64).real.tolist() == [[4.0, 2.0], [1.0, 0.5]]
        assert (after.dtype, offsets.tolist()) == (dtype, [0, 1, 2])


def test_only_data_of_the_same_kind_replace_others() -> None:
    x = random(4)
    assert can_replace((random(4), 3), (x, 3))
    for fresh in ((x, 3), (random(4), 4), (random(5), 3), (random(4).double(), 3), (random(4),), (3, x)):
        assert not can_replace(fresh, (x, 3))


def test_empty_and_zero_results() -> None:
    assert agrees(torch.empty(0), torch.empty(0))
    assert agrees(torch.zeros(3), torch.zeros(3))
    assert not agrees(torch.tensor([0.0, 1e-3, 0.0]), torch.zeros(3))


def test_returning_nothing_is_no_agreement() -> None:
    with pytest.raises(AssertionError, match="returned None"):
        assert_agreement(None, None, "reference")


def test_numpy_and_numbers_are_compared_too() -> None:
    x = random(10)
    assert agrees(x.numpy().copy(), x)
    assert not agrees(x.numpy() + 1, x)
    assert agrees(2.0, np.float64(2.0))
    assert not agrees(2, 3)


def test_arguments_are_restored_through_any_nesting() -> None:
    x, y = random(3), np.ones(3)
    broadcast = random(1).expand(4)
    arguments = (x, [y, 5], {"z": broadcast}, "text")
    saved = copy_of(arguments)
    x.zero_()
    y[:] = 7
    restore(arguments, saved)
    assert torch.equal(x, saved[0])
    assert y.tolist() == [1.0, 1.0, 1.0]
    assert saved[1][1] == 5


def test_a_tensor_that_is_input_and_output_is_counted_once() -> None:
    x, y = random(10), random(20)
    assert total_bytes((x, y)) == 120
    assert total_bytes(((x, y), y)) == 120
