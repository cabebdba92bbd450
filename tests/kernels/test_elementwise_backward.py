"""Gradients of gates and chains on every rung: near float64, for any size, type, alignment and value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.jit.virtual import profile
from flashpath.kernels.arguments import FLOATS
from flashpath.kernels.elementwise import gradients, host
from flashpath.kernels.elementwise.operations import GRADIENTS, OPERATIONS, checked_gradient
from flashpath.kernels.elementwise.reference import TORCH, results, truth
from tests.harness.guarded_output import Guarded, unchanged

LADDER = kernels.ladder("elementwise")
RUNGS = ["reference", "backward", "backward_vectorized", "triton_backward"]
FILES = [gradients.BACKWARD, gradients.BACKWARD_VECTORIZED]
POINTWISE = [name for name in OPERATIONS if name.endswith("_backward")]
NAN, INF = float("nan"), float("inf")
FACTOR = 0.75  # exact in every type: relu's kink is where float64 has it


def tensor(
    shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, seed: int = 0, device: str = "cpu"
) -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = torch.Size(shape).numel()
    generator = torch.Generator().manual_seed(n * 31 + offset + 7919 * seed)
    full = torch.randn(n + offset, generator=generator) * 3 + 0.3
    return full.to(device, dtype)[offset:].view(shape)


def arguments(
    name: str, shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu"
) -> tuple[Any, ...]:
    """The gradient that comes in, of this shape, then the name and the operands."""
    dout = tensor(shape, dtype, offset, 0, device)
    if GRADIENTS[name].gated:
        return dout, name, tensor((*shape[:-1], 2 * shape[-1]), dtype, offset, 1, device)
    factor = (FACTOR,) if GRADIENTS[name].is_chain else ()
    return dout, name, *factor, *(tensor(shape, dtype, offset, seed, device) for seed in (1, 2))


def run(rung: str, given: tuple[Any, ...], offset: int = 0) -> Any:
    """The rung's results in poisoned buffers; what lies around them and the inputs are as they were."""
    x = given[-1]
    guarded = [Guarded(x, offset) for _ in results(LADDER["reference"](*given))]
    outputs: list[Any] = [each.output for each in guarded]
    with unchanged(*given):
        LADDER[rung](*given, out=tuple(outputs) if len(outputs) > 1 else outputs[0])
    for each in guarded:
        each.check()
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


def assert_right(result: Any, given: tuple[Any, ...]) -> None:
    """The ladder's own check; and each element of a half type is rounded once, from a float32 nearby."""
    LADDER.check(result, given)
    dout, name, *operands = given
    pairs = zip(results(result), results(truth(dout, name, *operands)), strict=True)
    for i, (each, exact) in enumerate(pairs):
        if each.itemsize == 2:
            half_unit = (
                torch.finfo(each.dtype).eps / 2 * exact.abs() + torch.finfo(each.dtype).smallest_normal
            )
            wide = dout.double().abs().expand_as(dout)
            if GRADIENTS[name].gated:
                up = operands[0].double().abs().chunk(2, -1)
                wide = torch.cat((wide * up[1], wide * (1 + up[0])), -1)
            elif not GRADIENTS[name].is_chain:
                gate, up = (operand.double().abs() for operand in operands)
                wide = wide * (1 + gate if i else up)
            assert bool(((each.double() - exact).abs() <= 1.001 * half_unit + 1e-6 * wide).all())


# ---- On the virtual GPU ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("rung", RUNGS)
def test_every_gradient_on_every_rung(rung: str, name: str) -> None:
    turn = RUNGS.index(rung) + list(GRADIENTS).index(name)
    dtype = getattr(torch, FLOATS[turn % len(FLOATS)])
    for shape in ((1, 8), (17, 72)):
        given = arguments(name, shape, dtype)
        assert_right(run(rung, given), given)


@pytest.mark.parametrize("name", ["silu_and_mul_backward", "scale_add_silu_backward", "swiglu_backward"])
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_any_size_and_alignment(rung: str, name: str) -> None:
    gated = [(0, 8), (3, 0), (1, 1), (5, 3), (300, 8), (7, 20), (2, 2056), (3, 1021)]
    flat = [(0,), (1,), (7,), (8,), (9,), (33,), (2049,), (4099,), (), (3, 5, 7)]
    for shape in gated if GRADIENTS[name].gated else flat:
        for offset in (0, 1, 2, 4) if rung == "backward_vectorized" else (0, 1):
            given = arguments(name, shape, torch.bfloat16, offset)
            assert_right(run(rung, given, offset), given)


@pytest.mark.parametrize("packs", [2, 4])
@pytest.mark.parametrize(
    ("name", "shape"), [("silu_and_mul_backward", (700, 24)), ("scale_add_silu_backward", (9001,))]
)
def test_several_packs_a_thread(name: str, shape: tuple[int, ...], packs: int) -> None:
    given = arguments(name, shape, torch.bfloat16)
    assert_right(LADDER["backward_vectorized"](*given, packs=packs, threads=128), given)


@pytest.mark.parametrize("rung", ["vectorized", "triton"])
@pytest.mark.parametrize("name", POINTWISE)
def test_special_values_are_torchs(name: str, rung: str) -> None:
    far = torch.tensor([1e38, -1e38, 1e30, 1e-40, 88.0, -88.0, 104.0, -104.0, 6.0, -6.0])
    near = torch.tensor([0.0, -0.0, NAN, INF, -INF, 1.0, -0.3, 2.0])  # slopes are 0, or far from it
    bounds = (-0.5, 1.0) if name == "clamp_backward" else ()
    for gradient, x in ((1.5, torch.cat((near, far))), (INF, near), (-INF, near), (NAN, near)):
        dout = torch.full_like(x, gradient)
        got, expected = LADDER[rung](dout, name, *bounds, x), TORCH[name](dout, *bounds, x)
        torch.testing.assert_close(got, expected, rtol=2e-6, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", ["gelu_backward", "gelu_tanh_backward", "silu_backward"])
def test_slopes_are_as_good_as_torchs_in_float32(name: str) -> None:
    x = torch.cat(
        [torch.linspace(-16, 16, 60_001), torch.logspace(-30, 0, 1001), -torch.logspace(-30, 0, 1001)]
    )
    ones = torch.ones_like(x)
    error = (LADDER["vectorized"](ones, name, x).double() - truth(ones, name, x)).abs()
    assert float(error.max()) < 5e-7


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize(
    ("name", "shape", "offset"),
    [
        ("scale_add_silu_backward", (1021,), 0),
        ("geglu_backward", (1021,), 1),
        ("silu_and_mul_backward", (5, 24), 0),
        ("silu_and_mul_backward", (3, 7), 1),
    ],
    ids=str,
)
def test_the_sanitizer_finds_nothing(file: Path, name: str, shape: tuple[int, ...], offset: int) -> None:
    dout, _, *operands = arguments(name, shape, torch.bfloat16, offset)
    (launch,) = gradients.launches(file, checked_gradient(dout, name, operands, None))
    assert fp.sanitize(launch.kernel, grid=launch.blocks, block=launch.threads, args=launch.args) == []


def test_the_sanitizer_finds_nothing_in_triton() -> None:
    module: Any = host.triton_module()
    dout, _, x = arguments("silu_and_mul_backward", (5, 24), torch.bfloat16)
    given = (dout, x, torch.empty_like(x), 24)
    assert fp.sanitize(module.gate_backward_kernel, grid=(5,), args=given, ACTIVATION="Silu", BLOCK=32) == []
    dout, _, factor, x, y = arguments("scale_add_silu_backward", (1021,), torch.bfloat16)
    given = (dout, x, y, torch.empty_like(x), torch.empty_like(y), factor, 1021)
    for gated in (False, True):
        constants: dict[str, Any] = {"GATED": gated, "ACTIVATION": "Silu", "BLOCK": 256}
        assert fp.sanitize(module.pair_backward_kernel, grid=(4,), args=given, **constants) == []


@pytest.mark.parametrize("name", ["silu_and_mul_backward", "scale_add_silu_backward"])
def test_each_tensor_is_moved_once(name: str) -> None:
    dout, _, *operands = arguments(name, (16, 512), torch.bfloat16)
    (launch,) = gradients.launches(
        gradients.BACKWARD_VECTORIZED, checked_gradient(dout, name, operands, None)
    )
    report = profile(launch.kernel, grid=launch.blocks, block=launch.threads, args=launch.args)
    assert report.dram_bytes == 5 * 2 * dout.numel()


# ---- Without running anything ----------------------------------------------------------------------------


@pytest.mark.parametrize("rung", RUNGS[1:])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100a"])
def test_rung_compiles_for_old_and_new_architectures(rung: str, arch: str) -> None:
    compile_for = LADDER[rung].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


@pytest.mark.parametrize("rung", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(rung: str) -> None:
    x = torch.ones(4, 8)
    for given, says in [
        ((x, "silu_and_mul_backwards", x), "silu_and_mul"),
        ((x, "silu_and_mul_backward"), "takes x"),
        ((x, "silu_and_mul_backward", x), "two halves"),
        ((x, "silu_and_mul_backward", torch.ones(4, 16).half()), "float32"),
        ((torch.tensor(1.0), "silu_and_mul_backward", x), "two halves"),
        ((x, "scale_add_silu_backward", 1.0, x), "takes factor, x, y"),
        ((x, "scale_add_silu_backward", "1", x, x), "must be a number"),
        ((x, "scale_add_silu_backward", 1.0, x, x[:2]), r"must have shape \(4, 8\)"),
        ((x.int(), "scale_add_silu_backward", 1.0, x, x), "bfloat16"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[rung](*given)


@pytest.mark.parametrize("rung", RUNGS)
def test_outputs_that_overlap_are_refused(rung: str) -> None:
    x = torch.ones(4, 8)
    dx = torch.empty(4, 8)
    for out in ((dx, dx), (x, dx), (dx, x)):
        with pytest.raises(FlashpathError, match="overlaps"):
            LADDER[rung](torch.ones(4, 8), "scale_add_silu_backward", 1.0, x, torch.ones(4, 8), out=out)


def test_the_check_can_fail() -> None:
    for name in ("silu_and_mul_backward", "scale_add_gelu_backward"):
        given = arguments(name, (64, 32), torch.float32)
        outputs = results(LADDER["reference"](*given))
        for at in range(len(outputs)):
            for change in (1e-4, NAN):
                wrong = [each.clone() for each in outputs]
                wrong[at][3, 5] += change
                with pytest.raises(AssertionError):
                    LADDER.check(tuple(wrong) if len(wrong) > 1 else wrong[0], given)


# ---- On hardware -----------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("rung", RUNGS)
def test_rung_on_hardware(rung: str, name: str, dtype: str) -> None:
    for shape in ((0, 8), (1, 1), (5, 3), (300, 8), (7, 20), (3, 1021), (1000, 4096)):
        for offset in (0, 1, 2, 4) if "silu" in name else (0, 1):
            given = arguments(name, shape, getattr(torch, dtype), offset, "cuda")
            assert_right(run(rung, given, offset), given)


@pytest.mark.gpu
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_more_elements_than_32_bits_count(rung: str) -> None:
    rows, d = 2**20 + 3, 2056  # over 2^31 elements of the gradient that comes in
    free, _ = torch.cuda.mem_get_info()
    if free < 2 * 5 * rows * d:
        pytest.skip(f"needs {10 * rows * d / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    dout = torch.randn(rows, d, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(rows, 2 * d, device="cuda", dtype=torch.bfloat16)
    dx = torch.full_like(x, NAN)
    LADDER[rung](dout, "silu_and_mul_backward", x, out=dx)
    for start in (0, 2**31 // d - 2, rows - 4):
        part = slice(start, start + 4)
        LADDER.check(dx[part], (dout[part], "silu_and_mul_backward", x[part]))
    assert not bool(dx.isnan().any())
