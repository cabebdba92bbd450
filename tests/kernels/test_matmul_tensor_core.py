"""The tensor-core, Triton and epilogue rungs of matmul: what test_matmul.py does not ask of every rung."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels import building
from flashpath.kernels.matmul import tensor_core, triton_rungs
from flashpath.kernels.matmul.epilogue import ACTIVATIONS, Epilogue
from flashpath.kernels.matmul.tensor_core import LARGE, SMALL, Plan
from flashpath.kernels.matmul.triton_rungs import Config

LADDER = kernels.ladder("matmul")
NAN, INF = float("nan"), float("inf")
WITH_EPILOGUE = ["unfused", "fused", "triton_fused"]
ON_TENSOR_CORES = ["wmma", "mma_ldmatrix", "mma_pipelined"]
ARITHMETICS = [(torch.bfloat16, "ieee"), (torch.float16, "ieee"), (torch.float32, "tf32")]


def operands(m: int, n: int, k: int, dtype: torch.dtype, device: str = "cpu") -> tuple[Any, Any]:
    generator = torch.Generator(device=device).manual_seed(m * 31 + n * 7 + k)
    a, b = (torch.randn(shape, generator=generator, device=device) + 0.25 for shape in ((m, k), (k, n)))
    return a.to(dtype), b.to(dtype)


def epilogue_for(
    m: int,
    n: int,
    dtype: torch.dtype,
    activation: str,
    *,
    bias: bool = True,
    mask: bool = True,
    residual: bool = True,
    device: str = "cpu",
) -> Epilogue:
    generator = torch.Generator(device=device).manual_seed(n)
    return Epilogue(
        scale=0.125,
        bias=torch.randn(n, generator=generator, device=device).to(dtype) if bias else None,
        activation=activation,
        mask=torch.rand(m, n, generator=generator, device=device) < 0.7 if mask else None,
        residual=torch.randn(m, n, generator=generator, device=device).to(dtype) if residual else None,
    )


def poisoned(m: int, n: int, dtype: torch.dtype, device: str = "cpu") -> Any:
    return torch.full((m, n), NAN, dtype=dtype, device=device)


# ---- The plans of mma_pipelined and the configurations of Triton, which small shapes do not choose ------


@pytest.mark.parametrize(("dtype", "precision"), ARITHMETICS, ids=str)
@pytest.mark.parametrize("plan", [LARGE, SMALL], ids=str)
def test_each_plan_of_mma_pipelined(
    plan: Plan, dtype: torch.dtype, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than one tile in each direction, none of them full; fewer steps than stages, and more."""
    monkeypatch.setattr(tensor_core, "LARGE", plan)
    for m, n, k in ((136, 264, 40), (200, 72, 328)):
        a, b = operands(m, n, k, dtype)
        out = poisoned(m, n, dtype)
        LADDER.check(LADDER["mma_pipelined"](a, b, precision, out), (a, b, precision))


def test_tiles_are_taken_once_each_in_any_number_of_rows() -> None:
    """17 rows of tiles: two whole strips of 8 and one of a single row, all by one block."""
    a, b = operands(SMALL.m * 16 + 1, SMALL.n + 9, 33, torch.bfloat16)
    assert SMALL.tiles(a.shape[0], b.shape[1]) == 34
    LADDER.check(LADDER["mma_pipelined"](a, b), (a, b, "ieee"))


@pytest.mark.parametrize("split", [1, 2])
def test_a_persistent_program_takes_many_tiles_and_stores_them_in_parts(
    split: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton_rungs, "SMALL", Config(64, 64, group=2, warps=4, stages=3, split=split))
    a, b = operands(200, 200, 136, torch.bfloat16)
    out = poisoned(200, 200, torch.bfloat16)
    LADDER.check(LADDER["triton_persistent"](a, b, "ieee", out), (a, b, "ieee"))


def test_autotuning_chooses_by_size_and_keeps_its_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    autotuned: Any = triton_rungs.module_of("autotuned")
    monkeypatch.setattr(autotuned, "CANDIDATES", ((32, 32, 8, 1, 4, 2), (64, 64, 8, 2, 4, 2)))
    monkeypatch.setattr(triton_rungs, "ENOUGH_PROGRAMS", 1)
    autotuned.autotuned.cache_clear()
    a, b = operands(72, 104, 64, torch.float16)
    try:
        for _ in range(2):
            LADDER.check(
                LADDER["triton_autotuned"](a, b, "ieee", poisoned(72, 104, torch.float16)), (a, b, "ieee")
            )
        assert autotuned.autotuned.cache_info().misses == 1
    finally:
        autotuned.autotuned.cache_clear()


def test_only_what_makes_many_large_tiles_has_them() -> None:
    for shape, dtype, is_large in (
        ((128, 128), torch.bfloat16, False),
        ((2048, 2048), torch.bfloat16, True),
        ((1024, 1024), torch.bfloat16, False),  # 32 tiles of 128 × 256
        ((1024, 1024), torch.float32, True),  # 64 of 128 × 128
    ):
        config = triton_rungs.config_for(torch.empty(shape, dtype=dtype, device="meta"))
        assert (config is not triton_rungs.SMALL) == is_large


# ---- Epilogues -----------------------------------------------------------------------------------------


@pytest.fixture
def small_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the time to compile; test_nothing_is_wrong_in_any_schedule takes the large one."""
    monkeypatch.setattr(tensor_core, "LARGE", SMALL)


@pytest.mark.usefixtures("small_plan")
@pytest.mark.parametrize("name", WITH_EPILOGUE)
def test_every_activation_with_bias_residual_and_mask(name: str) -> None:
    for activation in ACTIVATIONS:
        a, b = operands(72, 136, 64, torch.bfloat16)
        epilogue = epilogue_for(72, 136, torch.bfloat16, activation)
        out = poisoned(72, 136, torch.bfloat16)
        assert LADDER[name](a, b, "ieee", out, epilogue) is out
        LADDER.check(out, (a, b, "ieee", None, epilogue))


@pytest.mark.usefixtures("small_plan")
@pytest.mark.parametrize("name", WITH_EPILOGUE)
def test_epilogues_of_any_shape_type_and_parts(name: str) -> None:
    """Rows at any address, and what is not asked for is left out."""
    parts: list[dict[str, Any]] = [
        {"mask": False, "residual": False},
        {"bias": False, "residual": False},
        {"bias": False, "mask": False},
    ]
    for (dtype, precision), without in zip((*ARITHMETICS[1:], ARITHMETICS[0]), parts, strict=True):
        a, b = operands(37, 45, 67, dtype)
        epilogue = epilogue_for(37, 45, dtype, "silu", **without)
        out = poisoned(37, 45, dtype)
        LADDER.check(LADDER[name](a, b, precision, out, epilogue), (a, b, precision, None, epilogue))


@pytest.mark.usefixtures("small_plan")
@pytest.mark.parametrize("name", ["reference", "fused", "triton_fused"])  # unfused is torch itself
def test_nan_infinity_and_masked_elements_are_torchs(name: str) -> None:
    a, b = torch.zeros(4, 16, dtype=torch.bfloat16), torch.ones(16, 8, dtype=torch.bfloat16)
    a[0, 0], a[1, 0], a[2, 0] = NAN, INF, -INF
    mask = torch.ones(4, 8, dtype=torch.bool)
    mask[:, 1] = False
    bias = torch.zeros(8, dtype=torch.bfloat16)
    for activation, expected in (
        ("none", [NAN, INF, -INF, 0.0]),
        ("relu", [NAN, INF, 0.0, 0.0]),
        ("silu", [NAN, INF, NAN, 0.0]),
        ("gelu", [NAN, INF, NAN, 0.0]),
    ):
        out = LADDER[name](a, b, "ieee", None, Epilogue(1.0, bias, activation, mask))
        assert torch.equal(out[:, 1], torch.zeros(4, dtype=torch.bfloat16)), activation
        column = torch.tensor(expected, dtype=torch.bfloat16)
        torch.testing.assert_close(out[:, 0], column, rtol=0, atol=0, equal_nan=True, msg=activation)


@pytest.mark.usefixtures("small_plan")
@pytest.mark.parametrize("name", WITH_EPILOGUE)
def test_an_epilogue_of_nothing_is_the_product_and_of_no_products_the_bias(name: str) -> None:
    a, b = operands(40, 48, 32, torch.float16)
    LADDER.check(LADDER[name](a, b), (a, b, "ieee"))
    a, b = operands(3, 8, 0, torch.float16)
    bias = torch.arange(8).half()
    out = LADDER[name](a, b, "ieee", poisoned(3, 8, torch.float16), Epilogue(bias=bias))
    assert torch.equal(out, bias.expand(3, 8))
    assert LADDER[name](b.t().contiguous(), a.t().contiguous()).shape == (8, 3)
    assert LADDER[name](*operands(0, 8, 4, torch.float16), "ieee", None, Epilogue(bias=bias)).shape == (0, 8)


@pytest.mark.usefixtures("small_plan")
@pytest.mark.parametrize("name", WITH_EPILOGUE)
def test_a_sum_is_rounded_once_after_its_epilogue(name: str) -> None:
    """2049 is no float16: added first and rounded, 2048 + 1 - 2048 is 0. Only the unfused rung gives that."""
    a, b = torch.ones(1, 2, dtype=torch.float16), torch.tensor([[2048.0] * 8, [1.0] * 8], dtype=torch.float16)
    bias = torch.full((8,), -2048.0, dtype=torch.float16)
    out = LADDER[name](a, b, "ieee", None, Epilogue(bias=bias))
    assert out.tolist() == [[0.0 if name == "unfused" else 1.0] * 8]


@pytest.mark.parametrize("name", WITH_EPILOGUE)
def test_wrong_epilogues_are_refused(name: str) -> None:
    a, b = operands(4, 8, 16, torch.bfloat16)
    for epilogue, says in (
        (Epilogue(activation="tanh"), "none, relu, gelu, silu"),
        (Epilogue(bias=torch.zeros(4, dtype=torch.bfloat16)), r"bias .*must have shape \(8,\)"),
        (Epilogue(bias=torch.zeros(8)), "bfloat16"),
        (Epilogue(mask=torch.ones(8, 4, dtype=torch.bool)), r"mask .*must have shape \(4, 8\)"),
        (Epilogue(mask=torch.ones(4, 8)), "bool"),
        (Epilogue(residual=torch.ones(8, 4).bfloat16()), r"residual .*must have shape \(4, 8\)"),
        (Epilogue(residual=torch.ones(4, 8)), "bfloat16"),
    ):
        with pytest.raises(FlashpathError, match=says.replace(" .*", "(?s:.*)")):
            LADDER[name](a, b, "ieee", None, epilogue)


def test_the_check_of_an_epilogue_can_fail() -> None:
    a, b = operands(40, 48, 64, torch.bfloat16)
    epilogue = epilogue_for(40, 48, torch.bfloat16, "gelu")
    right = LADDER.reference(a, b, "ieee", None, epilogue)
    LADDER.check(right, (a, b, "ieee", None, epilogue))
    for wrong in (
        Epilogue(),
        epilogue_for(40, 48, torch.bfloat16, "silu"),
        epilogue_for(40, 48, torch.bfloat16, "gelu", mask=False),
        epilogue_for(40, 48, torch.bfloat16, "gelu", residual=False),
    ):
        with pytest.raises(AssertionError):
            LADDER.check(LADDER.reference(a, b, "ieee", None, wrong), (a, b, "ieee", None, epilogue))


# ---- Nothing wrong in any schedule ---------------------------------------------------------------------


class Sanitized:
    """Stands for a kernel: each launch is checked, and what is found is kept."""

    def __init__(self, kernel: Any, findings: list[Any]) -> None:
        self.kernel, self.findings = kernel, findings

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        def launch(*args: Any, **options: Any) -> None:
            if options:
                self.findings += fp.sanitize(self.kernel, shape, args=args, **options)
            else:
                grid, block, shared = (*shape, 0)[:3]
                self.findings += fp.sanitize(self.kernel, grid, block, args, shared=shared, seeds=3)

        return launch


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    real, real_triton = building.cuda_kernel, triton_rungs.kernel_of

    def cuda_kernel(*args: Any) -> Sanitized:
        return Sanitized(real(*args), found)

    def kernel_of(name: str) -> Sanitized:
        return Sanitized(real_triton(name), found)

    monkeypatch.setattr(tensor_core, "cuda_kernel", cuda_kernel)
    monkeypatch.setattr(triton_rungs, "kernel_of", kernel_of)
    return found


@pytest.mark.parametrize("name", ["mma_pipelined", "fused", "triton_descriptors", "triton_fused"])
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    for m, n, k in ((136, 264, 200), (37, 45, 67)):
        a, b = operands(m, n, k, torch.bfloat16)
        if name in WITH_EPILOGUE:
            LADDER[name](a, b, "ieee", None, epilogue_for(m, n, torch.bfloat16, "gelu"))
        else:
            LADDER[name](a, b)
    assert findings == []


@pytest.mark.parametrize(
    ("taken_out", "instead"),
    [
        ("  wait_for_copies<kStages - 2>();\n          __sync", "  __sync"),
        ("  __syncthreads();  // the next slab", "  // the next slab"),
        (
            "wait_for_copies<kStages - 2>();\n          __sync",
            "wait_for_copies<kStages - 1>();\n          __sync",
        ),
        ("  wait_for_copies<kStages - 2>();\n  __syncthreads();\n", "  wait_for_copies<kStages - 2>();\n"),
    ],
    ids=["no wait", "no barrier", "a wait for one group too few", "no barrier before the first slab"],
)
def test_a_missing_wait_or_barrier_in_the_pipeline_is_found(taken_out: str, instead: str) -> None:
    source = tensor_core.MMA_PIPELINED.read_text(encoding="utf-8")
    assert source.count(taken_out) == 1
    plan = Plan(64, 128, 32, 64, stages=3, blocks_per_sm=1)
    name = f"matmul_mma_pipelined<__half, {plan}, Plain, true>"
    a, b = operands(64, 128, 384, torch.float16)
    text = source.replace(taken_out, instead)
    kernel = fp.compile(text, arch="sm_80", includes=[tensor_core.FOLDER], name_expressions=[name])[name]
    out = torch.empty(64, 128, dtype=torch.float16)
    args = (64, 128, 384, a, b, out, 1.0, None, None, None)
    assert fp.sanitize(kernel, 1, plan.threads, args, shared=plan.shared, seeds=3) != []


# ---- What the headers say ------------------------------------------------------------------------------


@functools.cache
def report_of(name: str, dtype: torch.dtype) -> Any:
    """Of one block: 128 × 256 of mma_pipelined, 128 × 128 of the others; 256 products for each element."""
    m, n, k = 128, 256 if name == "mma_pipelined" else 128, 256
    a, b = operands(m, n, k, dtype)
    out = torch.empty(m, n, dtype=dtype)
    kind = building.CPP_TYPES[building.dtype_name(a)]
    if name == "mma_pipelined":
        kernel = building.cuda_kernel(
            tensor_core.MMA_PIPELINED, f"matmul_{name}<{kind}, {LARGE}, Plain, true>", a
        )
        return fp.profile(
            kernel, 1, LARGE.threads, (m, n, k, a, b, out, 1.0, None, None, None), shared=LARGE.shared
        )
    file = LADDER[name].file
    kernel = building.cuda_kernel(file, f"matmul_{name}<{kind}, true>", a)
    return fp.profile(kernel, 1, tensor_core.SIMPLE_THREADS, (m, n, k, a, b, out))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_the_hand_laid_tiles_have_no_bank_conflicts(dtype: torch.dtype) -> None:
    for name in ("mma_ldmatrix", "mma_pipelined"):
        report = report_of(name, dtype)
        assert (report.shared_load.bank_conflicts, report.shared_store.bank_conflicts) == (0, 0), name


@pytest.mark.parametrize(
    ("name", "arguments", "per_step"),
    [
        ("mma_ldmatrix", "__nv_bfloat16, true", 6 / 16),
        ("mma_pipelined", f"__nv_bfloat16, {LARGE}, Plain, true", 8 / 32),
    ],
)
def test_few_ldmatrix_feed_many_mma(name: str, arguments: str, per_step: float) -> None:
    ptx = building.cuda_kernel(LADDER[name].file, f"matmul_{name}<{arguments}>", torch.empty(0)).ptx
    before_the_loop = 8 if name == "mma_pipelined" else 0
    assert ptx.count("ldmatrix.") - before_the_loop == per_step * ptx.count("mma.sync")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_large_tiles_with_every_step_after_them_fit_into_a_block(dtype: torch.dtype, turned: bool) -> None:
    """What Triton puts into shared memory it decides itself: stages, results on their way out, masks."""
    epilogue = epilogue_for(2048, 2048, dtype, "gelu")
    config = triton_rungs.config_for(torch.empty(2048, 2048, dtype=dtype), epilogue)
    assert config.m * config.n >= 128 * 128
    constants = config.constants(dtype.itemsize)
    options = {name: constants.pop(name) for name in ("num_warps", "num_stages")}
    element, precision = ("bf16", "ieee") if dtype == torch.bfloat16 else ("fp32", "tf32")
    block_k = constants["BLOCK_K"]
    of_b = f"{config.n}, {block_k}" if turned else f"{block_k}, {config.n}"
    compiled = building.triton_compiles_for(
        lambda: triton_rungs.kernel_of("persistent"),
        {
            "a_tiles": f"tensordesc<{element}[{config.m}, {block_k}]>",
            "b_tiles": f"tensordesc<{element}[{of_b}]>",
            "out_tiles": f"tensordesc<{element}[{config.m}, {config.n // config.split}]>",
            **dict.fromkeys(("m", "n", "k"), "i32"),
            "scale": "fp32",
            "bias_ptr": f"*{element}",
            "mask_ptr": "*u8",
            "residual_ptr": f"*{element}",
        },
        {
            "TURNED_A": False,
            "TURNED_B": turned,
            "FUSED": True,
            "ACTIVATION": "gelu",
            "PRECISION": precision,
            "PROGRAMS": 132,
            "SPLIT": config.split,
            **constants,
        },
        **options,
    )("sm_90a")
    assert compiled.metadata.shared <= 227 * 1024


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "precision"), ARITHMETICS, ids=str)
@pytest.mark.parametrize("name", WITH_EPILOGUE)
def test_epilogues_on_a_gpu(name: str, dtype: torch.dtype, precision: str) -> None:
    for (m, n, k), activation in itertools.product(((2048, 1280, 512), (509, 1021, 257)), ACTIVATIONS):
        a, b = operands(m, n, k, dtype, "cuda")
        epilogue = epilogue_for(m, n, dtype, activation, device="cuda")
        out = poisoned(m, n, dtype, "cuda")
        LADDER.check(LADDER[name](a, b, precision, out, epilogue), (a, b, precision, None, epilogue))


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "precision"), ARITHMETICS, ids=str)
@pytest.mark.parametrize("name", [*ON_TENSOR_CORES, *(rung.name for rung in triton_rungs.RUNGS[:5])])
def test_large_products_on_a_gpu(name: str, dtype: torch.dtype, precision: str) -> None:
    for m, n, k in ((4096, 4096, 1024), (4100, 4360, 72), (8200, 2056, 520)):
        a, b = operands(m, n, k, dtype, "cuda")
        LADDER.check(LADDER[name](a, b, precision, poisoned(m, n, dtype, "cuda")), (a, b, precision))
