"""Options of norms: weights stored less one, mixed types, and a gradient that is added on the way."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.common.norm.rows import BRAIN_TYPES, share_columns
from flashpath.kernels.rms_norm.reference import gradients
from tests.harness.guarded_output import Guarded, unchanged
from tests.harness.norm_checks import (
    BACKWARD,
    BRAIN,
    EPS,
    FORWARD,
    HALF,
    LADDERS,
    SINGLE,
    WITH_RESIDUAL,
    sample,
    saved,
    triton_reads_rows_again,
    vectors,
    verify,
)

RMS_FORWARD = [rung for name, rung in FORWARD if name == "rms_norm"]
RMS_BACKWARD = [rung for name, rung in BACKWARD if name == "rms_norm"]
OFFSET: dict[str, Any] = {"weight_offset": 1.0}


def near_one(n: int, dtype: Any) -> Any:
    """A weight that is stored less one, as a trained one is: small numbers."""
    return (sample((n,), SINGLE, seed=7) * 0.1).to(dtype)


# ---- Weights stored less one -----------------------------------------------------------------------------


@pytest.mark.parametrize("rung", RMS_FORWARD)
def test_a_weight_may_be_stored_less_one(rung: str) -> None:
    for shape, dtype, stored in (
        ((5, 37), SINGLE, SINGLE),
        ((3, 264), BRAIN, BRAIN),
        ((2, 264), HALF, SINGLE),
    ):
        x, weight, guarded = sample(shape, dtype), near_one(shape[1], stored), Guarded(sample(shape, dtype))
        with unchanged(x, weight):
            out = LADDERS["rms_norm"][rung](x, weight, EPS["rms_norm"], out=guarded.output, **OFFSET)
        # 1 + a half is exact in float32 down to 2^-13 of the half's last place.
        LADDERS["rms_norm"].check(out, (x, 1 + weight.float(), EPS["rms_norm"]))
        guarded.check()


@pytest.mark.parametrize("rung", ["fused_residual", "triton"])
def test_a_weight_may_be_stored_less_one_with_a_residual(rung: str) -> None:
    x, residual, weight = sample((3, 264), BRAIN), sample((3, 264), BRAIN, seed=3), near_one(264, BRAIN)
    result = LADDERS["rms_norm"][rung](x, weight, EPS["rms_norm"], residual, **OFFSET)
    LADDERS["rms_norm"].check(result, (x, 1 + weight.float(), EPS["rms_norm"], residual))


def test_rows_too_long_for_registers_have_weights_stored_less_one(monkeypatch: pytest.MonkeyPatch) -> None:
    triton_reads_rows_again(monkeypatch)
    n, eps = 70_000, EPS["rms_norm"]
    x, weight = sample((2, n), BRAIN), near_one(n, BRAIN)
    for rung, shape in (("vectorized", n), ("read_twice", 8200), ("triton", 5003)):
        rows, columns = x[:, :shape].contiguous(), weight[:shape].contiguous()
        out = LADDERS["rms_norm"][rung](rows, columns, eps, **OFFSET)
        LADDERS["rms_norm"].check(out, (rows, 1 + columns.float(), eps))


@pytest.mark.parametrize("rung", RMS_BACKWARD)
def test_gradients_of_a_weight_stored_less_one(rung: str) -> None:
    """dx is that of 1 + weight, and the weight's own gradient the same: one is a constant."""
    for shape, dtype, stored in (
        ((21, 37), SINGLE, SINGLE),
        ((5, 264), BRAIN, SINGLE),
        ((5, 264), BRAIN, BRAIN),
    ):
        x, dy = sample(shape, dtype), sample(shape, dtype, seed=2)
        weight = near_one(shape[1], stored)
        (rstd,) = saved("rms_norm", x)
        dx, dweight = LADDERS["rms_norm"][rung](dy, x, weight, rstd, **OFFSET)
        assert dweight.dtype == stored
        as_single = 1 + weight.float()
        if stored == SINGLE:
            LADDERS["rms_norm"].check((dx, dweight), (dy, x, as_single, rstd))
        else:
            expected = gradients(dy, x, as_single, rstd)
            torch.testing.assert_close(dx, expected[0], rtol=2**-7, atol=2**-7)
            torch.testing.assert_close(dweight, expected[1].to(stored), rtol=2**-7, atol=2**-7)


def test_without_a_weight_there_is_nothing_to_add_to() -> None:
    x = sample((3, 40), SINGLE)
    for rung in ("vectorized", "triton"):
        with_offset = LADDERS["rms_norm"][rung](x, None, EPS["rms_norm"], **OFFSET)
        assert torch.equal(with_offset, LADDERS["rms_norm"][rung](x, None, EPS["rms_norm"]))


@pytest.mark.parametrize("rung", [*RMS_FORWARD, "fused_residual", *RMS_BACKWARD])
def test_other_offsets_are_refused(rung: str) -> None:
    x, weight = torch.ones(4, 8), torch.ones(8)
    inputs = (x, x, weight, *saved("rms_norm", x)) if rung in RMS_BACKWARD else (x, weight, 1e-6)
    more = (x,) if rung == "fused_residual" else ()
    for offset in (0.5, -1, "one"):
        with pytest.raises(FlashpathError, match="weight_offset"):
            LADDERS["rms_norm"][rung](*inputs, *more, weight_offset=offset)


# ---- Mixed types -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_float32_rows_with_half_weights(name: str, rung: str) -> None:
    for shape, dtype in (((5, 37), BRAIN), ((3, 256), HALF)):
        verify(name, rung, sample(shape, SINGLE), *vectors(name, shape[1], dtype), EPS[name])


@pytest.mark.parametrize(("name", "rung"), WITH_RESIDUAL)
def test_float32_rows_with_half_weights_and_a_residual(name: str, rung: str) -> None:
    x, residual = sample((3, 256), SINGLE), sample((3, 256), SINGLE, seed=3)
    verify(name, rung, x, *vectors(name, 256, BRAIN), EPS[name], residual)


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_gradients_of_float32_rows_with_half_weights(name: str, rung: str) -> None:
    for n, dtype in ((37, BRAIN), (256, HALF)):
        x, dy = sample((5, n), SINGLE), sample((5, n), SINGLE, seed=2)
        inputs = (dy, x, vectors(name, n, dtype)[0], *saved(name, x))
        result = LADDERS[name][rung](*inputs)
        assert [each.dtype for each in result][:2] == [SINGLE, dtype]
        LADDERS[name].check(result, inputs)


@pytest.mark.parametrize("name", LADDERS)
def test_halves_of_another_kind_are_refused(name: str) -> None:
    x = sample((3, 8), BRAIN)
    with pytest.raises(FlashpathError, match="bfloat16 / float32"):
        LADDERS[name]["vectorized"](x, torch.ones(8, dtype=HALF))
    if name == "layer_norm":
        with pytest.raises(FlashpathError, match=r"bias|weight"):
            LADDERS[name]["vectorized"](x, torch.ones(8), torch.ones(8, dtype=BRAIN))


# ---- A gradient that is added ----------------------------------------------------------------------------


def with_added(name: str, x: Any, dy: Any, weight: Any, added: Any) -> tuple[Any, ...]:
    flag = (True,) if name == "layer_norm" else ()
    return (dy, x, weight, *saved(name, x), *flag, added)


ADDED_SHAPES = [((1, 1), 0), ((21, 37), 1), ((40, 256), 0), ((3, 1021), 0), ((2, 8200), 0)]


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_a_gradient_from_elsewhere_is_added(name: str, rung: str) -> None:
    shapes = ADDED_SHAPES[1:3] if rung == "triton_backward" else ADDED_SHAPES
    for i, (shape, offset) in enumerate(shapes):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        x, dy, added = (sample(shape, dtype, offset, seed=seed) for seed in (0, 2, 4))
        inputs = with_added(name, x, dy, vectors(name, shape[1], dtype)[0], added)
        with unchanged(*inputs):
            result = LADDERS[name][rung](*inputs)
        LADDERS[name].check(result, inputs)


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_a_gradient_of_another_shape_is_refused(name: str, rung: str) -> None:
    x = sample((4, 8), SINGLE)
    with pytest.raises(FlashpathError, match="added"):
        LADDERS[name][rung](*with_added(name, x, x, vectors(name, 8, SINGLE)[0], x[:3]))


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_nothing_is_wrong_with_a_gradient_that_is_added(name: str, rung: str, findings: list[Any]) -> None:
    for shape in ((3, 37), (5, 264)):
        x, dy, added = (sample(shape, BRAIN, seed=seed) for seed in (0, 2, 4))
        inputs = with_added(name, x, dy, vectors(name, shape[1], BRAIN)[0], added)
        LADDERS[name].check(LADDERS[name][rung](*inputs), inputs)
    assert findings == []


def test_rows_that_shared_memory_does_not_hold_three_times_go_to_the_simple_kernel() -> None:
    assert share_columns(16_384, 8, 2, 2**17, BRAIN_TYPES) is not None
    assert share_columns(16_384, 8, 2, 2**17, BRAIN_TYPES, matrices=3) is not None
    assert share_columns(16_384, 8, 2, 2**16, BRAIN_TYPES, matrices=3) is None
    n = 16_384  # in float32 three rows take 192 KiB, and an A100 has 163
    x, dy, added = (sample((2, n), SINGLE, seed=seed) for seed in (0, 2, 4))
    inputs = with_added("rms_norm", x, dy, vectors("rms_norm", n, SINGLE)[0], added)
    LADDERS["rms_norm"].check(LADDERS["rms_norm"]["backward_fused"](*inputs), inputs)
