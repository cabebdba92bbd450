"""Every rung of elementwise, every operation: near float64 as the tolerance rule asks, for any size, type,
alignment and value; bit for bit where PyTorch rounds once, too."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS
from flashpath.kernels.elementwise import fit_gelu, host
from flashpath.kernels.elementwise.operations import GRADIENTS, OPERATIONS, checked
from flashpath.kernels.elementwise.reference import TORCH, truth
from flashpath.kernels.elementwise.traffic import traffic
from tests.harness.guarded_output import bits, run_guarded

LADDER = kernels.ladder("elementwise")
TWO_RESULTS = ("backward", "backward_vectorized", "triton_backward")  # test_elementwise_backward.py
RUNGS = [rung.name for rung in LADDER if rung.name not in TWO_RESULTS]
CUDA_FILES = [host.SCALAR, host.GRID_STRIDE, host.VECTORIZED, host.FUSED_CHAIN]
CHAINS = [name for name, operation in OPERATIONS.items() if len(operation.functors) > 1]
GATED = [name for name, operation in OPERATIONS.items() if operation.gated]
FUSING = ("fused_chain", "triton")
NAN, INF = float("nan"), float("inf")
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1e38, -1e38, 1e-45, -1e-45, 88.0, -88.0, 104.0, -104.0, 6.0, -6.0, 20.0]
SCALARS = {
    "int32": {"factor": -1_640_531_527, "low": -(2**30), "high": 2**29},
    "float": {"factor": 0.7, "low": -0.6, "high": 1.3},
}


def tensor(
    shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, seed: int = 0, device: str = "cpu"
) -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = torch.Size(shape).numel()
    generator = torch.Generator().manual_seed(n * 31 + offset + 7919 * seed)
    if dtype == torch.int32:
        full = torch.randint(-(2**31), 2**31 - 1, (n + offset,), generator=generator)
    else:
        full = torch.randn(n + offset, generator=generator) * 3 + 0.3
    return full.to(device, dtype)[offset:].view(shape)


def arguments(
    operation: str, shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu"
) -> tuple[Any, ...]:
    """x, the operation's name, its operands; `shape` is the output's."""
    what = OPERATIONS[operation]
    of_x = (*shape[:-1], 2 * shape[-1]) if what.gated else shape
    scalars = SCALARS["int32" if dtype == torch.int32 else "float"]
    operands = [
        tensor(of_x, dtype, offset, 1, device) if name == "y" else scalars[name] for name in what.operands
    ]
    return (tensor(of_x, dtype, offset, 0, device), operation, *operands)


def run(rung: str, given: tuple[Any, ...], shape: tuple[int, ...], offset: int = 0) -> Any:
    """The rung's result in a poisoned buffer; what lies around it and the inputs are as they were."""
    return run_guarded(LADDER[rung], *given, like=given[0].new_empty(shape), offset=offset)


def assert_right(rung: str, result: Any, given: tuple[Any, ...]) -> None:
    """The ladder's own check; and each element of a half type is at most half a unit off: rounded once.

    What float32 gets wrong before the rounding, 1e-6 of an activation, a gate multiplies by its other half.
    """
    LADDER.check(result, given)
    x, operation, *operands = given
    if result.itemsize == 2 and (rung in FUSING or operation not in CHAINS):
        exact = truth(x, operation, *operands)
        half_unit = torch.finfo(x.dtype).eps / 2 * exact.abs() + torch.finfo(x.dtype).smallest_normal
        gate = 1
        if OPERATIONS[operation].is_gate:
            other = operands[0] if operands else x[..., x.shape[-1] // 2 :]
            gate = other.double().abs()
        assert bool(((result.double() - exact).abs() <= 1.001 * half_unit + 1e-6 * gate).all())


# ---- On the virtual GPU ----------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("rung", RUNGS)
def test_every_operation_on_every_rung(rung: str, operation: str) -> None:
    # Compiling takes the time: the types take turns, so that rung and operation meet one of them each. The
    # tests on hardware have all of them.
    turn = RUNGS.index(rung) + list(OPERATIONS).index(operation)
    dtype = getattr(torch, FLOATS[turn % len(FLOATS)])
    for shape in ((1, 8), (17, 72)):
        given = arguments(operation, shape, dtype)
        assert_right(rung, run(rung, given, shape), given)


@pytest.mark.parametrize("operation", ["add", "silu", "silu_and_mul", "swiglu"])
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_any_size_and_alignment(rung: str, operation: str) -> None:
    dtype = torch.bfloat16
    gated = operation in GATED
    # Gated: rows of whole packs and others, shorter and longer than a block, some of one element.
    shapes = [(0, 8), (3, 0), (1, 1), (5, 3), (300, 8), (7, 20), (2, 2056), (3, 1021)] if gated else []
    flat = [(n,) for n in (0, 1, 2, 7, 8, 9, 31, 33, 255, 257, 2049, 4099)] + [(), (3, 5, 7)]
    for shape in shapes or flat:
        for offset in (0, 1, 2, 4) if rung in ("vectorized", "fused_chain") else (0, 1):
            given = arguments(operation, shape, dtype, offset)
            assert_right(rung, run(rung, given, shape, offset), given)


@pytest.mark.parametrize(
    ("operation", "shape", "packs"),
    [("add", (262_144 + 1029,), 2), ("silu_and_mul", (9, 16_384), 2), ("silu_and_mul", (16_500, 8), 2)],
    ids=str,
)
def test_large_enough_for_several_packs_a_thread(operation: str, shape: tuple[int, ...], packs: int) -> None:
    given = arguments(operation, shape, torch.bfloat16)
    (launch,) = host.launches(host.VECTORIZED, checked(given[0], operation, given[2:], None))
    assert f"bfloat16, 8, {packs}, " in launch.kernel.name
    assert_right("vectorized", run("vectorized", given, shape), given)


@pytest.mark.parametrize("row", [1, 2, 3, 7, 1021, 2**20, 2**31 + 11, 2**37 - 25])
def test_rows_are_found_by_multiplying(row: int) -> None:
    """The arithmetic of `gate` in vectorized.cu for starts that no test has the memory for."""
    for start in {0, 1, row - 1, row, row + 1, 5 * row - 1, 5 * row, 2**32, 2**40 // row * row, 2**45 - 1}:
        assert 0 <= start // row - (start * host.reciprocal(row) >> 64) <= 1


@pytest.mark.parametrize("operation", ["scale", "add", "relu", "clamp"])
@pytest.mark.parametrize("rung", RUNGS)
def test_integers_wrap_and_equal_torch(rung: str, operation: str) -> None:
    given = arguments(operation, (1029,), torch.int32)
    assert torch.equal(run(rung, given, (1029,)), TORCH[operation](given[0], *given[2:]))


@pytest.mark.parametrize("rung", RUNGS[1:])
def test_scale_and_add_have_the_bits_of_torch(rung: str) -> None:
    for operation in ("scale", "add"):
        x, _, *operands = arguments(operation, (1029,), torch.float16)
        assert torch.equal(bits(LADDER[rung](x, operation, *operands)), bits(TORCH[operation](x, *operands)))


@pytest.mark.parametrize(
    "operation",
    [name for name in OPERATIONS if name not in (*GATED, *CHAINS) and not name.endswith("_backward")],
)
@pytest.mark.parametrize("rung", ["vectorized", "triton"])
def test_special_values(rung: str, operation: str) -> None:
    """NaN stays, infinities go where float64 has them: silu(-inf) and gelu(-inf) are NaN, relu(-inf) is 0."""
    x = torch.tensor(SPECIAL)
    _, _, *operands = arguments(operation, (len(SPECIAL),), torch.float32)
    result = LADDER[rung](x, operation, *operands).double()
    exact = truth(x, operation, *operands).to(torch.float32).double()
    torch.testing.assert_close(result, exact, rtol=3e-7, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("rung", ["scalar", "triton"])
@pytest.mark.parametrize("bounds", [(NAN, 1.0), (-1.0, NAN), (NAN, NAN), (2.0, -2.0), (-INF, INF)], ids=str)
def test_clamp_treats_its_bounds_as_torch_does(rung: str, bounds: tuple[float, float]) -> None:
    x = torch.tensor(SPECIAL)
    torch.testing.assert_close(
        LADDER[rung](x, "clamp", *bounds), x.clamp(*bounds), rtol=0, atol=0, equal_nan=True
    )


@pytest.mark.parametrize("operation", ["gelu", "gelu_tanh", "silu"])
def test_activations_are_as_good_as_torchs_in_float32(operation: str) -> None:
    x = torch.cat(
        [torch.linspace(-16, 16, 60_001), torch.logspace(-30, 0, 1001), -torch.logspace(-30, 0, 1001)]
    )
    exact = truth(x, operation)
    error = (LADDER["vectorized"](x, operation).double() - exact).abs()
    right = x > 0
    assert float((error / exact.abs())[right].max()) < 4e-7
    assert float(error[~right].max()) < 2e-7


def test_gelus_polynomial_is_what_the_fit_gives() -> None:
    header = (host.FOLDER / "../common/activations.cuh").read_text(encoding="utf-8")
    body = header[header.index("float normal_tail") :]
    constants = re.findall(r"(-?[\d.]+(?:e-\d+)?)f[,;)]", body[: body.index("exp2_approx")])
    stated = [float(each) for each in constants]
    assert stated[-1] == 1.0
    torch.testing.assert_close(stated[-2::-1], fit_gelu.fit(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("rung", RUNGS)
def test_the_output_may_be_an_input(rung: str) -> None:
    for operation, place in (("add", 0), ("add", 2), ("silu", 0)):
        given = arguments(operation, (4099,), torch.float32)
        kept = tuple(each.clone() if isinstance(each, torch.Tensor) else each for each in given)
        LADDER[rung](*given, out=given[place])
        LADDER.check(given[place], kept)


@pytest.mark.parametrize("file", CUDA_FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize(
    ("operation", "shape", "offset"),
    [("scale_add_silu", (1021,), 0), ("silu_and_mul", (5, 24), 0), ("silu_and_mul", (3, 7), 1)],
    ids=str,
)
def test_the_sanitizer_finds_nothing(file: Any, operation: str, shape: tuple[int, ...], offset: int) -> None:
    x, _, *operands = arguments(operation, shape, torch.bfloat16, offset)
    call = checked(x, operation, operands, None)
    launches = list(host.launches(file, call))
    assert len(launches) == (3 if operation in CHAINS and file != host.FUSED_CHAIN else 1)
    for each in launches:
        assert fp.sanitize(each.kernel, grid=each.blocks, block=each.threads, args=each.args) == []


def test_the_sanitizer_finds_nothing_in_triton() -> None:
    x, _, factor, y = arguments("scale_add_silu", (1021,), torch.bfloat16)
    out = torch.empty_like(x)
    found = fp.sanitize(
        host.triton_map(),
        grid=(4,),
        args=(x, y, out, factor, 0.0, 1021),
        STEP0="Scale",
        STEP1="Add",
        STEP2="Silu",
        READS_Y=True,
        BLOCK=256,
    )
    assert found == []
    rows, _ = arguments("silu_and_mul", (5, 24), torch.bfloat16)
    out = torch.empty(5, 24, dtype=torch.bfloat16)
    given = (rows, out, 24)
    assert fp.sanitize(host.triton_gate(), grid=(5, 1), args=given, ACTIVATION="Silu", BLOCK=32) == []


def test_fusing_moves_three_tensors_in_place_of_seven() -> None:
    n = 2**13
    x, _, factor, y = arguments("scale_add_silu", (n,), torch.bfloat16)
    unfused = traffic(host.VECTORIZED, x, "scale_add_silu", factor, y)
    fused = traffic(host.FUSED_CHAIN, x, "scale_add_silu", factor, y)
    assert (unfused.launches, unfused.bytes) == (3, 7 * 2 * n)
    assert (fused.launches, fused.bytes) == (1, 3 * 2 * n)
    scalar = traffic(host.SCALAR, x, "scale_add_silu", factor, y)
    assert scalar.bytes == unfused.bytes
    assert scalar.requests == 8 * unfused.requests  # a pack is eight elements


# ---- Without running anything ----------------------------------------------------------------------------


@pytest.mark.parametrize("rung", RUNGS[1:])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100a"])
def test_rung_compiles_for_old_and_new_architectures(rung: str, arch: str) -> None:
    compile_for = LADDER[rung].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


@pytest.mark.parametrize("rung", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(rung: str) -> None:
    x = torch.ones(8)
    for given, says in [
        ((x, "gelo"), "scale_add_gelu"),
        ((x, "gelu", 1.0), "takes nothing"),
        ((x, "scale"), "takes factor"),
        ((x, "clamp", 1.0), "takes low, high"),
        ((x, "add", 1.0), "must be a tensor"),
        ((x, "add", torch.ones(9)), r"must have shape \(8,\)"),
        ((x, "add", x.half()), "float32"),
        ((x, "add", torch.ones(16)[::2]), "not contiguous"),
        ((x, "scale", "two"), "must be a number"),
        ((x.int(), "scale", 0.5), "int of 32 bits"),
        ((x.int(), "clamp", 0, 2**31), "int of 32 bits"),
        ((x.int(), "gelu"), "bfloat16"),
        ((x.double(), "relu"), "int32"),
        ((torch.ones(16)[::2], "relu"), r"contiguous\(\)"),
        ((torch.ones(3, 5), "silu_and_mul"), "two halves"),
        ((torch.tensor(1.0), "silu_and_mul"), "two halves"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[rung](*given)


@pytest.mark.parametrize("rung", RUNGS)
def test_an_output_that_does_not_fit_is_refused(rung: str) -> None:
    memory = torch.ones(17)
    x = memory[:16]
    for out in (torch.empty(3), torch.empty(16, dtype=torch.float64), torch.empty(32)[::2]):
        with pytest.raises(FlashpathError, match=r"It must have shape \(16,\)"):
            LADDER[rung](x, "relu", out=out)
    with pytest.raises(FlashpathError, match="exactly the input"):
        LADDER[rung](x, "relu", out=memory[1:])
    with pytest.raises(FlashpathError, match="overlaps"):
        LADDER[rung](x, "silu_and_mul", out=x[:8])


def test_the_check_can_fail() -> None:
    for operation in ("gelu", "add", "silu_and_mul"):
        given = arguments(operation, (64, 32), torch.float32)
        result = LADDER["reference"](*given)
        LADDER.check(result, given)
        for wrong in (result + 1e-4, result[1:], result.double(), result.clone().fill_(NAN)):
            with pytest.raises(AssertionError):
                LADDER.check(wrong, given)


def test_cases_count_every_tensor_once() -> None:
    for case in LADDER.cases():
        operation = case.parameters["operation"]
        what = OPERATIONS.get(operation) or GRADIENTS[operation]
        n = torch.Size(case.parameters["shape"]).numel()
        assert case.bytes == what.streams * n * getattr(torch, case.dtype).itemsize
    assert {case.parameters["operation"] for case in LADDER.cases()} >= {*OPERATIONS} - {*CHAINS}


# ---- On hardware -----------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("operation", "dtype"), [(name, dtype) for name, each in OPERATIONS.items() for dtype in each.dtypes]
)
@pytest.mark.parametrize("rung", RUNGS)
def test_rung_on_hardware(rung: str, operation: str, dtype: str) -> None:
    shapes = ((0, 8), (1, 1), (5, 3), (300, 8), (7, 20), (3, 1021), (1000, 4096))
    for shape in shapes:
        # Each alignment is an instance to compile: three operations stand for all.
        for offset in (0, 1, 2, 4) if operation in ("add", "silu", "silu_and_mul") else (0, 1):
            given = arguments(operation, shape, getattr(torch, dtype), offset, "cuda")
            assert_right(rung, run(rung, given, shape, offset), given)


@pytest.mark.gpu
@pytest.mark.parametrize("operation", ["add", "gelu", "silu_and_mul"])
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_the_same_call_gives_the_same_bits(rung: str, operation: str) -> None:
    given = arguments(operation, (1000, 104), torch.float32, device="cuda")
    first = LADDER[rung](*given)
    for _ in range(99):
        assert torch.equal(LADDER[rung](*given), first)


@pytest.mark.gpu
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_a_gated_row_of_more_pieces_than_a_grid_is_wide(rung: str) -> None:
    """65,535 blocks are all that a second dimension has: pieces of 2048 elements would not fit."""
    d = 2**27 + 8
    x = torch.zeros(1, 2 * d, device="cuda", dtype=torch.bfloat16)
    x[0, d - 3], x[0, 2 * d - 3] = 30, 0.5
    out = LADDER[rung](x, "silu_and_mul")
    assert (out[0, d - 3].item(), int(out.count_nonzero())) == (15.0, 1)


@pytest.mark.gpu
@pytest.mark.parametrize("operation", ["scale", "silu_and_mul"])
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_more_elements_than_32_bits_count(rung: str, operation: str) -> None:
    rows, d = 2**20 + 3, 2056  # over 2^31 elements of output
    columns = 2 * d if operation in GATED else d
    free, _ = torch.cuda.mem_get_info()
    if free < 2 * rows * (columns + 2 * d):
        pytest.skip(
            f"needs {2 * rows * (columns + 2 * d) / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free"
        )
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    operands = [0.7] if operation == "scale" else []
    out = torch.full((rows, d), NAN, device="cuda", dtype=torch.bfloat16)
    LADDER[rung](x, operation, *operands, out=out)
    for start in (0, 2**31 // d - 2, rows - 4):
        part = slice(start, start + 4)
        LADDER.check(out[part], (x[part], operation, *operands))
    assert not bool(out.isnan().any())
