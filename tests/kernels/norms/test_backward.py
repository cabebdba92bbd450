"""Every backward rung of layer_norm and rms_norm: the formulas' gradients, whatever the shape and type."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.common.norm.rows import BRAIN_TYPES, HALF_TYPES, share_columns
from flashpath.kernels.layer_norm.reference import gradients as layer_norm_gradients
from flashpath.kernels.rms_norm.reference import gradients as rms_norm_gradients
from tests.harness.launches import launch_in_schedule
from tests.harness.norm_checks import (
    BACKWARD,
    BRAIN,
    EPS,
    GPU_SHAPES,
    HALF,
    LADDERS,
    SINGLE,
    sample,
    saved,
    vectors,
    verify_backward,
)

IN_FLOAT64 = [(name, rung) for name, rung in BACKWARD if rung != "triton_backward"]
# Rows for a warp, some lanes, all of a block; more rows than a round of all blocks takes.
BACKWARD_SHAPES = [((1, 1), 0), ((21, 37), 1), ((40, 256), 0), ((3, 1021), 0), ((2, 8200), 0)]
TRITON_BACKWARD_SHAPES = [((21, 37), 1), ((40, 256), 0)]


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_backward(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(
        TRITON_BACKWARD_SHAPES if rung == "triton_backward" else BACKWARD_SHAPES
    ):
        verify_backward(name, rung, shape, (SINGLE, BRAIN, HALF)[i % 3], offset=offset)


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_backward_without_weight_and_with_a_float32_one(name: str, rung: str) -> None:
    verify_backward(name, rung, (5, 264), BRAIN, weight=None)
    verify_backward(name, rung, (5, 264), BRAIN, weight=sample((264,), SINGLE))


@pytest.mark.parametrize("name", LADDERS)
def test_bfloat16_rows_of_64_lanes(name: str) -> None:
    for n in (1032, 2048):  # packs of a lane that are not all there, and all
        assert share_columns(n, 8, 2, 2**16, BRAIN_TYPES)[1:4] == (64, 4, 2)  # pyright: ignore[reportOptionalSubscript]
        verify_backward(name, "backward_fused", (21, n), BRAIN)
    assert share_columns(1032, 8, 2, 2**16, HALF_TYPES[0])[1] == 128  # pyright: ignore[reportOptionalSubscript]


@pytest.mark.parametrize("rung", ["backward", "backward_fused", "triton_backward"])
def test_no_bias_no_gradient_of_it(rung: str) -> None:
    x, dy = sample((5, 37), SINGLE), sample((5, 37), SINGLE, seed=1)
    inputs = (dy, x, sample((37,), SINGLE), *saved("layer_norm", x), False)
    result = LADDERS["layer_norm"][rung](*inputs)
    assert result[2] is None
    LADDERS["layer_norm"].check(result, inputs)


def test_rows_too_long_for_the_fused_backward_go_to_the_simple_one() -> None:
    verify_backward("layer_norm", "backward_fused", (2, 16_392), BRAIN)
    verify_backward("rms_norm", "backward_fused", (2, 16_392), BRAIN)
    with pytest.raises(FlashpathError, match="backward_fused"):
        verify_backward("layer_norm", "triton_backward", (1, 32_776), BRAIN)


@pytest.mark.parametrize(("name", "rung"), IN_FLOAT64)
def test_gradcheck_of_the_float64_kernels(name: str, rung: str) -> None:
    """torch differentiates the forward pass numerically, and the kernel has to agree to six digits."""

    class Norm(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any, *bias: Any) -> Any:
            ctx.save_for_backward(x, weight, *saved(name, x))
            normal = torch.nn.functional.layer_norm if name == "layer_norm" else torch.nn.functional.rms_norm
            return normal(x, x.shape[1:], weight, *bias, eps=EPS[name])

        @staticmethod
        def backward(ctx: Any, *dy: Any) -> Any:
            return LADDERS[name][rung](dy[0].contiguous(), *ctx.saved_tensors)

    for shape in ((3, 5), (4, 34)):
        x = sample(shape, torch.float64).requires_grad_()
        columns = [each.requires_grad_() for each in vectors(name, shape[1], torch.float64)]
        function: Any = Norm
        assert torch.autograd.gradcheck(function.apply, (x, *columns), fast_mode=True)


@pytest.mark.parametrize("name", LADDERS)
def test_the_formulas_that_gradients_are_checked_against_are_torchs(name: str) -> None:
    x = sample((4, 9), torch.float64).requires_grad_()
    columns = [each.requires_grad_() for each in vectors(name, 9, torch.float64)]
    normal: Any = torch.nn.functional.layer_norm if name == "layer_norm" else torch.nn.functional.rms_norm
    out = normal(x, (9,), *columns, eps=EPS[name])
    dy = sample((4, 9), torch.float64, seed=3)
    formulas: Any = layer_norm_gradients if name == "layer_norm" else rms_norm_gradients
    ours = formulas(dy, x.detach(), columns[0].detach(), *saved(name, x.detach()))
    for one, other in zip(torch.autograd.grad(out, [x, *columns], dy), ours, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_empty(name: str, rung: str) -> None:
    for shape in ((0, 8), (4, 0), (0, 0)):
        x = torch.zeros(shape)
        dx, *of_columns = LADDERS[name][rung](x, x, torch.ones(shape[1]), *saved(name, x))
        assert dx.shape == shape
        for each in of_columns:  # sums of nothing
            assert torch.equal(each, torch.zeros(shape[1]))


@pytest.mark.parametrize("name", LADDERS)
def test_the_gradients_bits_are_the_same_in_every_schedule(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, dy = sample((23, 1032), SINGLE), sample((23, 1032), SINGLE, seed=1)
    inputs = (dy, x, vectors(name, 1032, SINGLE)[0], *saved(name, x))
    first = LADDERS[name]["backward_fused"](*inputs)
    for seed in range(1, 4):
        launch_in_schedule(monkeypatch, seed)
        for one, other in zip(first, LADDERS[name]["backward_fused"](*inputs), strict=True):
            assert torch.equal(one, other)


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_wrong_arguments_of_a_backward_pass_are_refused(name: str, rung: str) -> None:
    x, weight = torch.ones(4, 8), torch.ones(8)
    statistics = saved(name, x)
    for args, says in [
        ((x.t(), x, weight, *statistics), "dy"),
        ((x, x.t(), weight, *statistics), "contiguous"),
        ((x, x, weight, *(each[:3] for each in statistics)), "shape"),
        ((x, x, weight, *(each.double() for each in statistics)), "float32"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDERS[name][rung](*args)


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), BACKWARD)
def test_backward_on_a_gpu(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(GPU_SHAPES[:-2]):
        verify_backward(name, rung, shape, (BRAIN, HALF, SINGLE)[i % 3], offset=offset, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("rung", ["backward", "backward_fused"])
@pytest.mark.parametrize("name", LADDERS)
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str, rung: str) -> None:
    x, dy = (sample((3000, 1024), BRAIN, device="cuda", seed=seed) for seed in (0, 1))
    inputs = (dy, x, vectors(name, 1024, SINGLE, "cuda")[0], *saved(name, x))
    first = LADDERS[name][rung](*inputs)
    for _ in range(100):
        assert all(map(torch.equal, first, LADDERS[name][rung](*inputs)))
