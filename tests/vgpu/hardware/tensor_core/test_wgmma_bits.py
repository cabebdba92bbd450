"""wgmma against the model of its sums, told a second time in NumPy; and against an H200."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from make_tensor_core_golden import checksums
from make_wgmma_golden import GOLDEN
from tensor_core_cases import FLOATS, Array, Case
from tensor_core_model import UNITS, Unit, add_group, decode, encode
from wgmma_cases import arguments, inputs, unpack_sums, wgmma_cases
from wgmma_runs import run_on_the_virtual_gpu

BYTES = Unit(13, 32, 7)


def modelled(case: Case, a: Array, b: Array, c: Array) -> Array:
    """All k at once: of bytes, with fewer bits, and float sums that keep as many."""
    d, kind_a, kind_b, _ = case.kinds
    is_bytes = FLOATS[kind_a].bits == 8
    unit = BYTES if is_bytes else UNITS["Hopper"]
    kept = 13 if is_bytes and d == "f32" else FLOATS[d].fraction_bits
    with np.errstate(all="ignore"):
        total = add_group(decode(d, c), decode(kind_a, a), decode(kind_b, b), (d, kind_a, kind_b), unit, kept)
        return encode(d, total)


def exactly(case: Case, a: Array, b: Array, c: Array) -> Array:
    """Integers and bits."""
    _, kind_a, kind_b, _ = case.kinds
    if kind_a == "b1":
        left, right = np.unpackbits(a, axis=2), np.unpackbits(b.transpose(0, 2, 1), axis=2).transpose(0, 2, 1)
    else:
        left, right = (
            a.view(np.int8 if kind_a == "s8" else np.uint8),
            b.view(np.int8 if kind_b == "s8" else np.uint8),
        )
    product = left.astype(np.int64) @ right.astype(np.int64)
    return (product + c.astype(np.int64)).astype(np.uint64).astype(np.uint32)


@pytest.mark.parametrize("name", wgmma_cases())
def test_the_bits_are_those_of_the_model(name: str) -> None:
    case = wgmma_cases()[name]
    matrices = inputs(case, 2, seed=7)
    d = unpack_sums(case, run_on_the_virtual_gpu(case, *arguments(matrices)))
    expected = (modelled if case.kinds[1] in FLOATS else exactly)(case, *matrices)
    np.testing.assert_array_equal(d, expected)


@pytest.mark.skipif(not GOLDEN.exists(), reason="no GPU has been asked yet: make_wgmma_golden.py")
@pytest.mark.parametrize("name", wgmma_cases())
def test_the_bits_are_those_of_an_h200(name: str) -> None:
    golden: Any = np.load(GOLDEN)
    about = json.loads(str(golden["about"]))
    case = wgmma_cases()[name]
    matrices = inputs(case, about["tiles"], about["seed"])
    d = run_on_the_virtual_gpu(case, *arguments(matrices))
    assert (checksums(d) == golden[f"{name}/checksums"]).all()
