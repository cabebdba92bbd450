"""Every rung of layer_norm and rms_norm: torch's result for any shape, type, alignment and value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.jit.launcher import Launcher
from flashpath.kernels.layer_norm import host as layer_norm
from flashpath.kernels.layer_norm import rows as shared
from flashpath.kernels.layer_norm import triton_host
from flashpath.kernels.layer_norm.reference import gradients as layer_norm_gradients
from flashpath.kernels.rms_norm import host as rms_norm
from flashpath.kernels.rms_norm.reference import gradients as rms_norm_gradients
from flashpath.vgpu.options import Options

LADDERS = {name: kernels.ladder(name) for name in ("layer_norm", "rms_norm")}
HOSTS: dict[str, Any] = {"layer_norm": layer_norm, "rms_norm": rms_norm}
EPS = {"layer_norm": layer_norm.EPS, "rms_norm": rms_norm.EPS}
FORWARD = [
    ("layer_norm", "two_pass"),
    ("layer_norm", "welford"),
    ("layer_norm", "vectorized"),
    ("layer_norm", "triton"),
    ("rms_norm", "two_pass"),
    ("rms_norm", "vectorized"),
    ("rms_norm", "triton"),
]
WITH_RESIDUAL = [(name, rung) for name in LADDERS for rung in ("fused_residual", "triton")]
BACKWARD = [(name, rung) for name in LADDERS for rung in ("backward", "backward_fused", "triton_backward")]
IN_FLOAT64 = [(name, rung) for name, rung in BACKWARD if rung != "triton_backward"]
EVERY = [(name, rung.name) for name in LADDERS for rung in LADDERS[name].rungs[1:]]

INF, NAN = float("inf"), float("nan")
HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32


def sample(shape: tuple[int, ...], dtype: Any, offset: int = 0, device: str = "cpu", seed: int = 0) -> Any:
    """Random values with a mean that is not 0, `offset` elements into their storage."""
    full = torch.empty(*shape).numel() + offset
    generator = torch.Generator(device=device).manual_seed(full * 31 + seed)
    values = torch.randn(full, generator=generator, device=device) * 2 + 1
    return values.to(dtype)[offset:].view(shape)


def vectors(name: str, n: int, dtype: Any, device: str = "cpu") -> tuple[Any, ...]:
    """weight, and for layer_norm bias."""
    many = 2 if name == "layer_norm" else 1
    return tuple(sample((n,), dtype, device=device, seed=7 + i) for i in range(many))


def poisoned(like: Any) -> tuple[Any, Any]:
    """A tensor of NaN between two guards, and the storage it lies in."""
    width = 16 // like.element_size()
    guarded = torch.full((like.numel() + 2 * width,), NAN, dtype=like.dtype, device=like.device)
    return guarded[width:-width].view(like.shape), guarded


def guards_hold(like: Any, guarded: Any) -> bool:
    width = 16 // like.element_size()
    return bool(guarded[:width].isnan().all() and guarded[-width:].isnan().all())


def verify(name: str, rung: str, x: Any, *rest: Any) -> Any:
    """Right to the last element, all of it written, nothing beside it, and the inputs as they were."""
    inputs = (x, *rest)
    before = [each.clone() for each in inputs if isinstance(each, torch.Tensor)]
    out, guarded = poisoned(x)
    options: dict[str, Any] = {"out": out}
    if rest and isinstance(rest[-1], torch.Tensor):  # a residual
        options["total"], guarded_total = poisoned(x)
    result = LADDERS[name][rung](*inputs, **options)
    LADDERS[name].check(result, inputs)
    assert guards_hold(x, guarded), "it wrote beside its output"
    if "total" in options:
        assert guards_hold(x, guarded_total), "it wrote beside the sum"  # pyright: ignore[reportPossiblyUnboundVariable]
    after = [each for each in inputs if isinstance(each, torch.Tensor)]
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    return result


def saved(name: str, x: Any, eps: float | None = None) -> tuple[Any, ...]:
    """What a forward pass leaves for the backward pass."""
    eps = EPS[name] if eps is None else eps
    wide = x.double()
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    if name == "layer_norm":
        return wide.mean(1).to(kind), ((wide - wide.mean(1, keepdim=True)).square().mean(1) + eps).rsqrt().to(
            kind
        )
    return ((wide.square().mean(1) + eps).rsqrt().to(kind),)


def verify_backward(name: str, rung: str, shape: tuple[int, int], dtype: Any, **how: Any) -> None:
    device, offset = how.get("device", "cpu"), how.get("offset", 0)
    x, dy = (sample(shape, dtype, offset, device, seed) for seed in (1, 2))
    weight = how.get("weight", vectors(name, shape[1], dtype, device)[0])
    inputs = (dy, x, weight, *saved(name, x))
    before = [each.clone() for each in inputs if each is not None]
    result = LADDERS[name][rung](*inputs)
    LADDERS[name].check(result, inputs)
    for one, other in zip(before, [each for each in inputs if each is not None], strict=True):
        assert torch.equal(one, other)


@pytest.fixture(autouse=True)
def nothing_is_zero_by_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that rungs ask for themselves is full of NaN."""

    def full_of_nan(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **options: Any) -> Any:
            return make(*args, **options).fill_(NAN)

        return made

    monkeypatch.setattr(torch, "empty", full_of_nan(torch.empty))
    monkeypatch.setattr(torch, "empty_like", full_of_nan(torch.empty_like))


# ---- On the virtual GPU --------------------------------------------------------------------------------

# (shape, offset): less than a pack, a few lanes, a warp, a block; whole packs or not; at a boundary or not.
SHAPES = [((1, 1), 0), ((5, 37), 1), ((3, 256), 0), ((2, 1021), 0), ((2, 2048), 0), ((2, 1030), 4)]
# Triton compiles anew for each block size and alignment.
TRITON_SHAPES = [((5, 37), 1), ((2, 256), 0)]


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_forward(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(TRITON_SHAPES if rung == "triton" else SHAPES):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        verify(name, rung, sample(shape, dtype, offset), *vectors(name, shape[1], dtype), EPS[name])


@pytest.mark.parametrize(("name", "rung"), WITH_RESIDUAL)
def test_with_residual(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(TRITON_SHAPES if rung == "triton" else SHAPES[1:4]):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        residual = sample(shape, dtype, 0, seed=5)
        verify(name, rung, sample(shape, dtype, offset), *vectors(name, shape[1], dtype), EPS[name], residual)


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_without_weight_and_bias_and_with_float32_ones(name: str, rung: str) -> None:
    x = sample((3, 264), BRAIN)
    verify(name, rung, x, *([None] * len(vectors(name, 1, BRAIN))), EPS[name])
    verify(name, rung, x, *vectors(name, 264, SINGLE), EPS[name])
    if name == "layer_norm":
        verify(name, rung, x, sample((264,), BRAIN), None, EPS[name])
        verify(name, rung, x, None, sample((264,), BRAIN), EPS[name])


def test_a_row_of_more_than_a_block_holds() -> None:
    n = 65_536 + 8
    verify("layer_norm", "vectorized", sample((1, n), BRAIN), *vectors("layer_norm", n, BRAIN), 1e-5)


@pytest.mark.parametrize(("name", "rung"), [*FORWARD, *WITH_RESIDUAL])
def test_rows_that_no_block_holds_are_read_again(
    name: str, rung: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of next to no registers: rows of a few packs are too long for them."""

    def nowhere(*_: Any) -> None:
        return None

    monkeypatch.setattr(shared, "share_row", nowhere)
    monkeypatch.setattr(triton_host, "MOST_COLUMNS", 64)
    for dtype, n in ((BRAIN, 8208), (SINGLE, 331)) if rung != "triton" else ((BRAIN, 331),):
        residual = [sample((2, n), dtype, seed=3)] if (name, rung) in WITH_RESIDUAL else []
        verify(name, rung, sample((2, n), dtype), *vectors(name, n, dtype), EPS[name], *residual)


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_nothing_cancels_where_the_mean_dwarfs_the_deviation(name: str, rung: str) -> None:
    """Mean 1000, deviation 1, in float32: Σx² / n - mean² would have two digits left, and in sum no more."""
    x = sample((4, 1000), SINGLE) / 2 + 1000
    verify(name, rung, x, *([None] * len(vectors(name, 1, SINGLE))), EPS[name])


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_nan_infinity_huge_and_constant_rows_are_torchs(name: str, rung: str) -> None:
    """A NaN spoils its row and no other. An infinity makes layer norm's row NaN; RMS norm divides by it, so
    that all others become 0. A constant row has no deviation: eps alone stands below the fraction."""
    rows = [
        [NAN] + [1.0] * 36,
        [1.0] * 30 + [INF] + [2.0] * 6,
        [-INF, INF] + [0.0] * 35,
        [1e15, -1e15] + [1e14] * 35,
        [3.0] * 37,
        [0.0] * 37,
        [1e-30] * 36 + [-1e-30],
        [float(i) for i in range(37)],
    ]
    x = torch.tensor(rows)
    result = verify(name, rung, x, *vectors(name, 37, SINGLE), EPS[name])
    assert result[0].isnan().all()
    assert result[3:].isfinite().all()
    if name == "layer_norm":
        assert result[1:3].isnan().all()
    else:
        assert (result[1][:30] == 0).all()
        assert result[1][30].isnan()


@pytest.mark.parametrize(("name", "rung"), FORWARD + BACKWARD)
def test_empty(name: str, rung: str) -> None:
    for shape in ((0, 8), (4, 0), (0, 0)):
        x = torch.zeros(shape)
        weight = torch.ones(shape[1])
        if (name, rung) in FORWARD:
            assert LADDERS[name][rung](x, weight).shape == shape
        else:
            dx, *of_columns = LADDERS[name][rung](x, x, weight, *saved(name, x))
            assert dx.shape == shape
            for each in of_columns:  # sums of nothing
                assert torch.equal(each, torch.zeros(shape[1]))


@pytest.mark.parametrize("rung", ["vectorized", "fused_residual", "triton"])
@pytest.mark.parametrize("name", LADDERS)
def test_statistics_are_saved_for_the_backward_pass(name: str, rung: str) -> None:
    for n in (40, 1000):
        x = sample((3, n), BRAIN)
        residual = torch.zeros_like(x)
        wanted = saved(name, x)
        places = {key: torch.empty(3) for key in (("mean", "rstd") if len(wanted) == 2 else ("rstd",))}
        more = () if rung != "fused_residual" else (residual,)
        LADDERS[name][rung](x, *([None] * len(wanted)), EPS[name], *more, **places)
        for got, right in zip(places.values(), wanted, strict=True):
            torch.testing.assert_close(got, right, rtol=1e-5, atol=1e-6)


# ---- Gradients -----------------------------------------------------------------------------------------

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


# ---- Schedules and sanitizer ---------------------------------------------------------------------------


class Sanitized:
    """Stands for a kernel: each launch runs under several schedules, and what is found is kept."""

    def __init__(self, kernel: Any, findings: list[Any]) -> None:
        self.kernel, self.findings = kernel, findings

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        def launch(*args: Any, **options: Any) -> None:
            if not options:  # a CUDA kernel: Triton's have their constants as options
                grid, block, *memory = shape
                more = {"shared": memory[0]} if memory else {}
                self.findings += fp.sanitize(self.kernel, grid, block, args, seeds=2, **more)
            else:
                self.findings += fp.sanitize(self.kernel, shape, args=args, **options)

        return launch


class TritonModule:
    """Stands for a module of Triton kernels."""

    def __init__(self, module: Any, findings: list[Any]) -> None:
        self.module, self.findings = module, findings

    def __getattr__(self, name: str) -> Sanitized:
        return Sanitized(getattr(self.module, name), self.findings)


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    real = shared.cuda_kernel

    def cuda_kernel(*args: Any) -> Sanitized:
        return Sanitized(real(*args), found)

    for module in (shared, layer_norm, rms_norm):
        monkeypatch.setattr(module, "cuda_kernel", cuda_kernel)
    for module in (layer_norm, rms_norm):
        triton = TritonModule(module.triton_module(), found)
        monkeypatch.setattr(module, "triton_module", lambda triton=triton: triton)
    return found


@pytest.mark.parametrize(("name", "rung"), EVERY)
def test_nothing_is_wrong_in_any_schedule(name: str, rung: str, findings: list[Any]) -> None:
    for shape in ((3, 37), (5, 264)):
        if (name, rung) in BACKWARD:
            verify_backward(name, rung, shape, BRAIN)
        else:
            residual = (sample(shape, BRAIN, seed=3),) if (name, rung) in WITH_RESIDUAL else ()
            inputs = (sample(shape, BRAIN), *vectors(name, shape[1], BRAIN), EPS[name])
            verify(name, rung, *inputs, *residual)
    assert findings == []


def test_nothing_is_wrong_with_rows_of_several_warps(findings: list[Any]) -> None:
    x = sample((2, 2056), BRAIN)
    verify("layer_norm", "vectorized", x, *vectors("layer_norm", 2056, BRAIN), 1e-5)
    verify_backward("layer_norm", "backward_fused", (5, 1032), BRAIN)
    assert findings == []


class Scheduled:
    """Stands for a kernel whose launches run under another schedule."""

    def __init__(self, kernel: Any, seed: int) -> None:
        self.kernel, self.seed = kernel, seed

    def __getitem__(self, shape: Any) -> Launcher:
        return Launcher(self.kernel, self.kernel[shape].shape, Options(seed=self.seed))


@pytest.mark.parametrize("name", LADDERS)
def test_the_gradients_bits_are_the_same_in_every_schedule(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, dy = sample((23, 1032), SINGLE), sample((23, 1032), SINGLE, seed=1)
    inputs = (dy, x, vectors(name, 1032, SINGLE)[0], *saved(name, x))
    real, first = shared.cuda_kernel, LADDERS[name]["backward_fused"](*inputs)
    for seed in range(1, 4):

        def cuda_kernel(*args: Any, seed: int = seed) -> Scheduled:
            return Scheduled(real(*args), seed)

        monkeypatch.setattr(shared, "cuda_kernel", cuda_kernel)
        for one, other in zip(first, LADDERS[name]["backward_fused"](*inputs), strict=True):
            assert torch.equal(one, other)


# ---- What the headers say ------------------------------------------------------------------------------


def test_vectorized_reads_and_writes_each_row_once_in_packs() -> None:
    x = sample((2, 1024), BRAIN)
    weight, bias = vectors("layer_norm", 1024, BRAIN)
    kind = "__nv_bfloat16"
    share = shared.share_row(1024, 8, shared.SHARES["layer_norm"])
    assert share is not None
    shape = ", ".join(map(str, share))
    vectorized = layer_norm.cuda_kernel(
        layer_norm.VECTORIZED, f"layer_norm<{kind}, {kind}, {shape}, true, true, true>", x
    )
    args = (2, 1024, x, weight, bias, 1e-5, torch.empty_like(x), None, None)
    blocks = -(-2 // share.rows_of_block)
    counts = fp.profile(vectorized, blocks, share.threads, args).instructions_by_class
    packs = 2 * 1024 // 8
    assert counts["global load"] == 3 * packs  # x, weight and bias
    assert counts["global store"] == packs
    simple = layer_norm.cuda_kernel(layer_norm.TWO_PASS, f"layer_norm<{kind}, {kind}>", x)
    counts = fp.profile(simple, 2, 256, args[:7]).instructions_by_class
    assert counts["global load"] == 2 * 1024 * 5  # x three times


@pytest.mark.parametrize("arch", ["oldest", "sm_100a"])
@pytest.mark.parametrize(("name", "rung"), EVERY)
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, rung: str, arch: str) -> None:
    entry = LADDERS[name][rung]
    assert entry.compile_for is not None
    assert entry.compile_for(entry.arch if arch == "oldest" else arch) is not None


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_wrong_arguments_are_refused_before_anything_runs(name: str, rung: str) -> None:
    x, weight = torch.ones(4, 8), torch.ones(8)
    for args, options, says in [
        ((x[0], weight), {}, "2 dimensions"),
        ((x.double(), weight), {}, "float32"),
        ((x.t(), weight), {}, "contiguous"),
        ((x, torch.ones(7)), {}, "shape"),
        ((x, torch.ones(8, dtype=HALF)), {}, "float32"),
        ((x, torch.ones(16)[::2]), {}, "contiguous"),
        ((x, weight), {"eps": -1.0}, "0 or more"),
        ((x, weight), {"out": torch.empty(4, 7)}, "shape"),
        ((x, weight), {"out": x}, "overlaps"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDERS[name][rung](*args, **options)


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


@pytest.mark.parametrize("name", LADDERS)
def test_lanes_may_be_chosen_where_they_hold_the_row(name: str) -> None:
    x = sample((3, 512), BRAIN)
    columns = vectors(name, 512, BRAIN)
    right = LADDERS[name]["vectorized"](x, *columns)
    for lanes in (32, 128):
        near = LADDERS[name]["vectorized"](x, *columns, lanes=lanes)  # another order of the sums
        torch.testing.assert_close(near, right, rtol=2**-7, atol=2**-7)
    with pytest.raises(FlashpathError, match="no instance of 8 threads"):
        LADDERS[name]["vectorized"](sample((3, 1024), BRAIN), lanes=8)


def test_mean_and_rstd_are_asked_for_together() -> None:
    with pytest.raises(FlashpathError, match="no rstd="):
        layer_norm.vectorized(torch.ones(4, 8), mean=torch.empty(4))


@pytest.mark.parametrize("name", LADDERS)
def test_the_ladders_checks_can_fail(name: str) -> None:
    ladder, x, eps = LADDERS[name], sample((4, 100), SINGLE), EPS[name]
    columns = vectors(name, 100, SINGLE)
    right = ladder.reference(x, *columns, eps)
    ladder.check(right, (x, *columns, eps))
    for wrong in (right * 1.0001, right[:3], right.half()):
        with pytest.raises(AssertionError):
            ladder.check(wrong, (x, *columns, eps))
    with_sum = (x, *columns, eps, x)
    out, total = ladder.reference(*with_sum)
    with pytest.raises(AssertionError):
        ladder.check((out, total + 1e-6), with_sum)
    backward = (x, x, columns[0], *saved(name, x))
    gradients = ladder.reference(*backward)
    ladder.check(gradients, backward)
    for i in range(len(gradients)):
        with pytest.raises(AssertionError):
            ladder.check([each * (1.0001 if i == j else 1) for j, each in enumerate(gradients)], backward)


# ---- On a GPU ------------------------------------------------------------------------------------------

GPU_SHAPES = [
    ((1, 1), 0),
    ((70_001, 3), 1),
    ((1000, 129), 0),
    ((4099, 1024), 0),
    ((513, 4096), 0),
    ((33, 5003), 3),
    ((40, 16_384), 0),
    ((3, 131_072), 0),
    ((2, 100_003), 1),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_forward_on_a_gpu(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(GPU_SHAPES):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        x = sample(shape, dtype, offset, "cuda")
        verify(name, rung, x, *vectors(name, shape[1], dtype, "cuda"), EPS[name])


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), WITH_RESIDUAL)
def test_with_residual_on_a_gpu(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(GPU_SHAPES):
        dtype = (BRAIN, HALF, SINGLE)[i % 3]
        x, residual = sample(shape, dtype, offset, "cuda"), sample(shape, dtype, 0, "cuda", seed=3)
        verify(name, rung, x, *vectors(name, shape[1], dtype, "cuda"), EPS[name], residual)


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


@pytest.mark.gpu
@pytest.mark.parametrize("name", LADDERS)
def test_more_elements_than_32_bits_count(name: str) -> None:
    shape = (2**19 + 1, 4096)
    x = torch.ones(shape, device="cuda", dtype=BRAIN)
    x[-1, ::2] = -1
    expected = x[-1].clone()
    for rung in ("vectorized", "triton"):
        out = LADDERS[name][rung](x, out=torch.empty_like(x))
        torch.testing.assert_close(out[-1], expected, rtol=1e-2, atol=0)
        torch.testing.assert_close(out[0], torch.full_like(expected, 0 if name == "layer_norm" else 1))
        del out


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), FORWARD + BACKWARD)
def test_a_graph_replays_it(name: str, rung: str) -> None:
    x = sample((64, 1024), SINGLE, device="cuda")
    weight = vectors(name, 1024, SINGLE, "cuda")[0]
    statistics = saved(name, x)
    is_backward = (name, rung) in BACKWARD
    more = () if is_backward else (*vectors(name, 1024, SINGLE, "cuda")[1:], EPS[name])
    inputs = (x, x, weight, *statistics) if is_backward else (x, weight, *more)
    LADDERS[name][rung](*inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDERS[name][rung](*inputs)
    x *= 3
    for old, new in zip(statistics, saved(name, x), strict=True):
        old.copy_(new)
    graph.replay()
    LADDERS[name].check(out, inputs)
