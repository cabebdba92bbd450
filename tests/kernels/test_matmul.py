"""Every rung of matmul: the product within its type's rounding, for any shape, alignment and value."""

from __future__ import annotations

import functools
import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels import building
from flashpath.kernels.matmul import float32
from flashpath.kernels.matmul.ladder import allowed_error
from flashpath.kernels.matmul.problem import FOLDER
from flashpath.kernels.matmul.reference import to_tf32
from flashpath.kernels.rung import Case
from tests.harness.guarded_output import run_guarded
from tests.harness.launches import nothing_found

LADDER = kernels.ladder("matmul")
INF, NAN = float("inf"), float("nan")
Arithmetic = tuple[torch.dtype, str]
ARITHMETICS: list[Arithmetic] = [
    (torch.float32, "ieee"),
    (torch.float32, "tf32"),
    (torch.float16, "ieee"),
    (torch.bfloat16, "ieee"),
]


def takes(name: str, arithmetic: Arithmetic) -> bool:
    dtype, precision = arithmetic
    parameters = {"dtype": building.dtype_name(torch.empty(0, dtype=dtype)), "precision": precision}
    declines = LADDER[name].declines
    return declines is None or declines(Case("", lambda device: (), parameters=parameters)) is None


# A rung with each arithmetic that it takes.
PAIRS = [(rung.name, each) for rung in LADDER for each in ARITHMETICS if takes(rung.name, each)]
# On the virtual GPU: to Triton, whose compiler takes a second each time, float16 is bfloat16 by another name.
VIRTUAL = [pair for pair in PAIRS if LADDER[pair[0]].language != "triton" or pair[1][0] != torch.float16]
# One of them for what does not depend on the arithmetic.
FIRSTS = [next(pair) for _, pair in itertools.groupby(PAIRS, key=lambda pair: pair[0])]


def name_of(value: object) -> str:
    return value if isinstance(value, str) else "-".join(str(each).removeprefix("torch.") for each in value)  # type: ignore[attr-defined]


def sample(
    shape: tuple[int, int], dtype: torch.dtype, offset: int = 0, device: str = "cpu", seed: int = 0
) -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = shape[0] * shape[1]
    generator = torch.Generator(device=device).manual_seed(1009 * shape[0] + shape[1] + seed)
    full = torch.randn(n + offset, generator=generator, device=device) + 0.5
    return full.to(dtype)[offset:].view(shape)


def operands(
    m: int, n: int, k: int, dtype: torch.dtype, offset: int = 0, device: str = "cpu"
) -> tuple[Any, Any]:
    return sample((m, k), dtype, offset, device), sample((k, n), dtype, offset, device, seed=1)


def run_poisoned(name: str, a: Any, b: Any, precision: str = "ieee", offset: int = 0) -> Any:
    return run_guarded(LADDER[name], a, b, precision, like=a.new_empty(a.shape[0], b.shape[1]), offset=offset)


def verify(name: str, a: Any, b: Any, precision: str = "ieee", offset: int = 0) -> None:
    LADDER.check(run_poisoned(name, a, b, precision, offset), (a, b, precision))


# ---- On the virtual GPU --------------------------------------------------------------------------------

# (m, n, k, offset): less than a tile, one and several; whole packs of 16 bytes or not, aligned or not.
SHAPES = [
    (1, 1, 1, 0),
    (1, 37, 5, 1),
    (31, 1, 17, 0),
    (2, 8, 129, 0),
    (67, 131, 41, 3),
    (128, 256, 32, 0),
    (136, 264, 72, 0),
    (130, 140, 64, 1),
]


@pytest.mark.parametrize(("name", "arithmetic"), VIRTUAL, ids=name_of)
def test_any_shape_and_alignment(name: str, arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    for m, n, k, offset in SHAPES:
        verify(name, *operands(m, n, k, dtype, offset), precision, offset)


@pytest.mark.parametrize(("name", "arithmetic"), FIRSTS, ids=name_of)
def test_nothing_to_add_up_gives_zeros_and_no_elements_nothing(name: str, arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    out = run_poisoned(name, *operands(5, 7, 0, dtype), precision)
    assert torch.equal(out, torch.zeros(5, 7, dtype=dtype))
    for m, n, k in ((0, 7, 3), (5, 0, 3), (0, 0, 0)):
        assert LADDER[name](*operands(m, n, k, dtype), precision).shape == (m, n)


@pytest.mark.parametrize(("name", "arithmetic"), VIRTUAL, ids=name_of)
def test_nan_and_infinity_reach_their_row_and_column_alone(name: str, arithmetic: Arithmetic) -> None:
    """Also in the last row and column, where tiles are padded: what pads must not meet them."""
    dtype, precision = arithmetic
    m, n, k = 37, 45, 19
    a, b = (torch.ones(shape, dtype=dtype) for shape in ((m, k), (k, n)))
    a[3, 5], a[m - 1, k - 1] = INF, NAN
    b[5, 9], b[0, n - 1], b[k - 1, 11] = -INF, INF, 0.0
    out = run_poisoned(name, a, b, precision)
    expected = torch.full((m, n), float(k), dtype=dtype)
    expected[:, 11] = k - 1
    expected[3, :] = INF
    expected[:, 9] = -INF
    expected[:, n - 1] = INF
    expected[3, 9] = -INF  # inf × -inf, and nothing but finite numbers beside it
    expected[m - 1, :] = NAN
    torch.testing.assert_close(out, expected, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(LADDER.reference(a, b, precision), expected, rtol=0, atol=0, equal_nan=True)
    b[5, 12] = 0.0  # inf × 0
    assert run_poisoned(name, a, b, precision)[3].isnan().nonzero().tolist() == [[12]]


@pytest.mark.parametrize(("name", "arithmetic"), VIRTUAL, ids=name_of)
def test_small_integers_are_multiplied_without_error(name: str, arithmetic: Arithmetic) -> None:
    """Products and sums that every type holds: any order of additions gives the same bits."""
    dtype, precision = arithmetic
    a = (torch.arange(33 * 24).view(33, 24) % 5 - 2).to(dtype)
    b = (torch.arange(24 * 40).view(24, 40) % 7 - 3).to(dtype)
    assert torch.equal(run_poisoned(name, a, b, precision), (a.double() @ b.double()).to(dtype))


@pytest.mark.parametrize(("name", "arithmetic"), VIRTUAL, ids=name_of)
def test_sums_are_kept_in_float32(name: str, arithmetic: Arithmetic) -> None:
    """512 × 16 × 16 passes float16's range, and 4096 ones its integers: only the result is rounded."""
    dtype, precision = arithmetic
    a, b = torch.full((1, 512), 16.0, dtype=dtype), torch.full((512, 1), 16.0, dtype=dtype)
    b[256:] = -16.0
    b[0] = 0.0
    assert LADDER[name](a, b, precision).item() == -256
    a, b = torch.ones(1, 4096, dtype=dtype), torch.ones(4096, 1, dtype=dtype)
    assert LADDER[name](a, b, precision).item() == 4096


@pytest.mark.parametrize("name", [name for name, each in PAIRS if each == (torch.float32, "ieee")])
def test_float32_is_not_rounded_to_tf32(name: str) -> None:
    a, b = torch.full((1, 8), 1 + 2**-20), torch.ones(8, 1)
    assert LADDER[name](a, b).item() == 8 + 8 * 2**-20


@pytest.mark.parametrize("name", [name for name, each in PAIRS if each == (torch.float32, "tf32")])
def test_tf32_rounds_to_the_nearest_and_ties_away_from_zero(name: str) -> None:
    for value, rounded in (
        (1 + 2**-12, 1.0),
        (1 + 2**-11, 1 + 2**-10),
        (-1 - 2**-11, -1 - 2**-10),
        (1 + 2**-10 + 2**-12, 1 + 2**-10),
        (2 - 2**-12, 2.0),
    ):
        a, b = torch.full((1, 8), value), torch.ones(8, 1)
        assert LADDER[name](a, b, "tf32").item() == 8 * rounded
        assert LADDER[name](b.view(1, 8), a.view(8, 1), "tf32").item() == 8 * rounded
        assert to_tf32(torch.tensor([value])).item() == rounded


@pytest.mark.parametrize(("name", "arithmetic"), FIRSTS[1:], ids=name_of)
def test_the_sanitizer_finds_nothing(name: str, arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    with nothing_found():
        verify(name, *operands(37, 45, 27, dtype, 1), precision, 1)
        verify(name, *operands(72, 136, 40, dtype), precision)


@pytest.mark.parametrize("name", ["shared_tile", "vectorized", "double_buffered", "warp_tiled"])
def test_a_missing_barrier_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last barrier of the loop keeps a tile from being overwritten while others still read it."""
    before, barrier, after = LADDER[name].file.read_text(encoding="utf-8").rpartition("__syncthreads();")
    for folder in (FOLDER, FOLDER.parent / "common"):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    file = tmp_path / FOLDER.name / f"{name}.cu"
    file.write_text(before + after, encoding="utf-8")
    monkeypatch.setattr(float32, name.upper(), file)
    with fp.watch(sanitize=True) as reports:
        LADDER[name](*operands(40, 40, 96, torch.float32))
    assert barrier
    assert "race" in {finding.kind for finding in reports[0].findings}


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("tiling", float32.TILINGS, ids=lambda tiling: f"{tiling[0]}×{tiling[1]}")
def test_every_tiling_of_warp_tiled(tiling: float32.Tiling, offset: int) -> None:
    a, b = operands(
        2 * tiling.block_m + 8, 2 * tiling.block_n + 4, 5 * tiling.block_k // 2, torch.float32, offset
    )
    with nothing_found(launches=1) as reports:
        LADDER.check(float32.warp_tiled(a, b, tiling=tiling), (a, b))
    (report,) = reports
    assert (report.shared_load.bank_conflicts, report.shared_store.bank_conflicts) == (0, 0)


def test_small_results_are_cut_into_small_tiles() -> None:
    large, small = float32.TILINGS
    for m, n, expected in ((4096, 4096, large), (8192, 512, large), (1024, 1024, small), (1, 100_000, small)):
        assert min(float32.TILINGS, key=lambda each: each.time(m, n, sms=132)) == expected


@pytest.mark.parametrize("name", ["naive", "coalesced", "shared_tile"])
def test_simple_rungs_also_multiply_float64(name: str) -> None:
    verify(name, *operands(37, 45, 129, torch.float64))


# ---- What the headers say ------------------------------------------------------------------------------


# What a block of each rung computes.
TILES = {
    "naive": (32, 32),
    "coalesced": (32, 32),
    "shared_tile": (32, 32),
    "register_1d": (64, 64),
    "register_2d": (128, 128),
    "vectorized": (128, 128),
    "double_buffered": (128, 128),
    "warp_tiled": (128, 256),
}
FLOAT32 = list(TILES)
STEPS = 64  # their k


@functools.cache
def profile_of(name: str) -> tuple[Any, int]:
    """A report of one block, and how often a warp multiplied and added."""
    m, n = TILES[name]
    with fp.watch() as reports:
        LADDER[name](*operands(m, n, STEPS, torch.float32))
    (report,) = reports
    return report, m * n * STEPS // 32


def test_loads_for_each_multiply_add_fall_from_rung_to_rung() -> None:
    per_fma: dict[str, float] = {}
    for name in FLOAT32:
        report, fmas = profile_of(name)
        assert report.instructions_by_class["float32"] == 32 * fmas
        per_fma[name] = (report.shared_load.requests or report.global_load.requests) / fmas
    assert per_fma.pop("warp_tiled") == pytest.approx(6 / 128, rel=0.02)  # one more: what would come next
    assert per_fma == {
        "naive": 2,
        "coalesced": 2,
        "shared_tile": 2,
        "register_1d": 3 / 8,
        "register_2d": 12 / 64,
        "vectorized": 4 / 64,
        "double_buffered": 4 / 64,
    }


def test_a_warp_of_naive_reads_and_writes_32_sectors_for_what_takes_4() -> None:
    (naive, fmas), (coalesced, _) = profile_of("naive"), profile_of("coalesced")
    assert naive.global_load.sectors == (32 + 1) * fmas
    assert coalesced.global_load.sectors == (1 + 4) * fmas
    assert naive.global_store.sectors == 8 * coalesced.global_store.sectors == 32 * 32


def test_no_rung_has_bank_conflicts() -> None:
    for name in FLOAT32[2:]:
        report, _ = profile_of(name)
        assert (report.shared_load.bank_conflicts, report.shared_store.bank_conflicts) == (0, 0), name


def test_sectors_come_from_memory_once_per_block() -> None:
    for name in FLOAT32[2:]:
        report, _ = profile_of(name)
        assert report.global_load.sectors * 32 == sum(TILES[name]) * STEPS * 4, name


# ---- At the border -------------------------------------------------------------------------------------


# They read a transposed matrix as it lies: of one that does not fit, the shape is wrong and not the order.
TAKE_TRANSPOSED = ("reference", "triton_persistent", "triton_fused")


@pytest.mark.parametrize(("name", "arithmetic"), FIRSTS, ids=name_of)
def test_wrong_arguments_are_refused_before_anything_runs(name: str, arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    a, b = operands(4, 6, 8, dtype)
    other = torch.float16 if dtype == torch.bfloat16 else torch.bfloat16
    for args, says in [
        (([[1.0]], b, precision), "torch tensor"),
        ((a.int(), b.int(), precision), "int32"),
        ((a[0], b, precision), "2 dimensions"),
        ((a, b[:5], precision), r"\(m, k\) and \(k, n\)"),
        ((a.t(), b, precision), r"\(m, k\) and \(k, n\)" if name in TAKE_TRANSPOSED else "contiguous"),
        ((a[:, ::2], b[:4], precision), "contiguous"),
        ((a, b[:, :3], precision), "contiguous"),
        ((a, b.to(other), precision), "one type|It takes"),
        ((a, b, "fp8"), "ieee, tf32"),
        ((a, b, precision, torch.empty(6, 4, dtype=dtype)), "must have shape"),
        ((a, b, precision, torch.empty(4, 6, dtype=other)), "must have shape"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)
    square = sample((8, 8), dtype)
    with pytest.raises(FlashpathError, match="overlaps"):
        LADDER[name](square, b.new_ones(8, 8), precision, square)


@pytest.mark.parametrize(("name", "arithmetic"), FIRSTS[1:], ids=name_of)
def test_what_a_rung_declines_it_also_refuses(name: str, arithmetic: Arithmetic) -> None:
    for dtype, precision in ARITHMETICS:
        if not takes(name, (dtype, precision)):
            with pytest.raises(FlashpathError, match="takes"):
                LADDER[name](*operands(4, 6, 8, dtype), precision)


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=name_of)
def test_the_ladders_check_can_fail(arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    a, b = operands(20, 30, 256, dtype)
    inputs = a, b, precision
    right = LADDER.reference(a, b, precision)
    LADDER.check(right, inputs)
    product = torch.argmax((a[7] * b[:, 11]).float().abs())
    for wrong in (right.t(), right.double(), right[:, :29]):
        with pytest.raises(AssertionError):
            LADDER.check(wrong, inputs)
    lost = right.clone()
    lost[7, 11] -= a[7, product] * b[product, 11]
    with pytest.raises(AssertionError, match=r"1 of 600 elements are wrong; the first is \[7, 11\]"):
        LADDER.check(lost, inputs)
    if dtype == torch.float32:
        typical = (a.abs().mean() * b.abs().mean()).item()
        assert allowed_error(a, b, precision).max().item() < typical / (10 if precision == "tf32" else 1000)


@pytest.mark.parametrize(
    "rung", [rung for rung in LADDER if rung.language != "pytorch"], ids=lambda r: r.name
)
def test_rung_compiles_for_the_oldest_and_the_newest(rung: kernels.Rung) -> None:
    assert rung.compile_for is not None
    for arch in (rung.arch, "sm_100a"):
        assert rung.compile_for(arch) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------

LARGE = [
    (1, 1, 1, 0),
    (1, 4097, 513, 0),
    (3001, 1, 129, 1),
    (257, 509, 1021, 1),
    (1000, 1000, 1000, 0),
    (2048, 1152, 640, 0),
    (70_001, 33, 20, 0),
    (33, 70_001, 20, 3),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "arithmetic"), PAIRS, ids=name_of)
def test_any_shape_and_alignment_on_a_gpu(name: str, arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    for m, n, k, offset in SHAPES + LARGE:
        verify(name, *operands(m, n, k, dtype, offset, "cuda"), precision, offset)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "arithmetic"), PAIRS[1:], ids=name_of)
def test_the_same_call_gives_the_same_bits_and_a_graph_replays_it(name: str, arithmetic: Arithmetic) -> None:
    dtype, precision = arithmetic
    a, b = operands(509, 512, 516, dtype, device="cuda")
    first = LADDER[name](a, b, precision)
    for _ in range(20):
        assert torch.equal(LADDER[name](a, b, precision), first)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](a, b, precision)
    a *= 2
    graph.replay()
    assert torch.equal(out, LADDER[name](a, b, precision))


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "arithmetic"), FIRSTS[1:], ids=name_of)
def test_more_elements_than_32_bits_count(name: str, arithmetic: Arithmetic) -> None:
    """The last rows of an output and of an a of more than 2^31 elements."""
    dtype, precision = arithmetic
    m, k, n = 2**20 + 3, 8, 2056
    free, _ = torch.cuda.mem_get_info()
    if free < 3 * m * n * dtype.itemsize:
        pytest.skip(
            f"needs {3 * m * n * dtype.itemsize / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free"
        )
    a, b = operands(m, n, k, dtype, device="cuda")
    LADDER.check(LADDER[name](a, b, precision)[-200:].clone(), (a[-200:].clone(), b, precision))
    del a, b
    a, b = torch.zeros(m, n, dtype=dtype, device="cuda"), torch.ones(n, 8, dtype=dtype, device="cuda")
    a[-1, -1] = 3
    out = LADDER[name](a, b, precision)
    assert out[-1].tolist() == [3.0] * 8
    assert not out[:-1].any()
