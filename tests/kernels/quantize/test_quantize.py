"""What holds for bits and rows alike: no fault in any schedule, refusals, the ladder's check and cases."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.quantize.operations import OPERATIONS
from tests.harness.quantize_cases import (
    LADDER,
    OF_ROWS,
    QUANTIZE,
    RUNGS,
    SEGMENTS,
    flags,
    indptr,
    matrix,
    verify,
)


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    verify(name, flags(1031, torch.uint8, 1), "packbits")
    verify(name, flags(1024 + 9), "packbits", "little")
    lengths = SEGMENTS["ragged"]
    verify(name, flags(sum(lengths), torch.uint8, 1), "segment_packbits", indptr(lengths, torch.int32))
    if name in OF_ROWS:
        codes, scale = verify(name, matrix((7, 13), torch.float32, 1), "quantize_int8")
        verify(name, codes, "dequantize", scale)
        codes, scale = verify(name, matrix((3, 5000), torch.bfloat16), "quantize_fp8")
        verify(name, codes, "dequantize", scale, torch.bfloat16)
        for shape in ((5, 1024), (2, 16_384), (1, 20_000)):
            verify(name, matrix(shape, torch.bfloat16), "quantize_int8")
    assert findings == []


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    x, rows = flags(64), torch.ones(4, 8)
    codes, scale = torch.ones(4, 8, dtype=torch.int8), torch.ones(4)
    for given, says in [
        ((x, "packbit"), "segment_packbits"),
        ((x, "packbits", "middle"), "little"),
        ((x, "packbits", "big", 1), "Write rung"),
        ((x.int(), "packbits"), "bool, uint8"),
        ((x[::2], "packbits"), r"contiguous\(\)"),
        ((x, "segment_packbits"), "Write rung"),
        ((x, "segment_packbits", torch.ones(2)), "int32, int64"),
        ((x, "segment_packbits", torch.ones(0, dtype=torch.int32)), "one more than"),
        ((rows, "quantize_int8", 1), "Write rung"),
        ((rows.double(), "quantize_fp8"), "bfloat16"),
        ((rows.T, "quantize_fp8"), r"contiguous\(\)"),
        ((torch.tensor(1.0), "quantize_int8"), "a row"),
        ((rows, "dequantize", scale), "float8_e4m3fn"),
        ((codes, "dequantize", scale[1:]), r"shape \(4,\)"),
        ((codes, "dequantize", scale, torch.float64), "bfloat16"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*given)
    for out in (torch.empty(4, 8), (codes, torch.empty(5)), (codes.float(), scale)):
        with pytest.raises(FlashpathError, match=r"It (is a pair|must)"):
            LADDER[name](rows, "quantize_int8", out=out)
    with pytest.raises(FlashpathError, match="overlaps"):
        LADDER[name](x, "packbits", out=x.view(torch.uint8)[:8])


def test_ballot_says_who_takes_rows() -> None:
    with pytest.raises(FlashpathError, match="vectorized"):
        LADDER["ballot"](torch.ones(4, 8), "quantize_int8")


def test_the_ladders_check_can_fail() -> None:
    x = matrix((9, 64), torch.float32)
    for operation in QUANTIZE:
        codes, scale = LADDER.reference(x, operation)
        LADDER.check((codes, scale), (x, operation))
        off = codes.clone()
        off.view(torch.uint8)[3, 7] += 1
        for wrong in ((off, scale), (codes, scale * 1.00001), (codes[1:], scale), (codes.float(), scale)):
            with pytest.raises(AssertionError):
                LADDER.check(wrong, (x, operation))
    packed = LADDER.reference(y := flags(64), "packbits")
    with pytest.raises(AssertionError):
        LADDER.check(packed ^ 1, (y, "packbits"))


def test_cases_count_every_tensor_once() -> None:
    for case in LADDER.cases():
        if "shape" in case.parameters:
            rows, n = case.parameters["shape"]
            assert case.bytes == rows * (n * (getattr(torch, case.dtype).itemsize + 1) + 4)
        else:
            assert case.bytes >= case.parameters["n"] * 9 // 8
    assert {case.parameters["operation"] for case in LADDER.cases()} == {*OPERATIONS}
    segmented = LADDER.cases()[4]
    x, _, ends, _, size = segmented.inputs("cpu")
    packed = int(((ends.diff() + 7) // 8).sum())
    assert packed == size
    assert segmented.bytes == x.numel() + packed + 2 * 4 * ends.numel()


@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_old_and_new_architectures(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None
