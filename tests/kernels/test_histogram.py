"""Every rung of histogram: torch.histc's bins, counted exactly, for any size, type, alignment and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.histogram import host
from tests.harness.guarded_output import run_guarded
from tests.harness.launches import nothing_found

LADDER = kernels.ladder("histogram")
RUNGS = [rung.name for rung in LADDER]
SHARED = [name for name in RUNGS[1:] if name != "global_atomics"]
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32]
INF, NAN = float("inf"), float("nan")


def sample(n: int, dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random values about 0, some of them equal, `offset` elements into their storage."""
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    full = torch.randn(n + offset, generator=generator, device=device)
    full = (full * 1000).to(dtype) if dtype == torch.int32 else full.to(dtype)
    full[offset + n // 2 :] = full[offset + n // 2 :].sort().values.roll(3)
    return full[offset:]


def run_poisoned(name: str, x: Any, bins: int, lo: float, hi: float) -> Any:
    counts = torch.empty(bins, dtype=torch.int64, device=x.device)
    return run_guarded(LADDER[name], x, bins, lo, hi, like=counts, offset=1)


def verify(name: str, x: Any, bins: int, lo: float, hi: float) -> None:
    LADDER.check(run_poisoned(name, x, bins, lo, hi), (x, bins, lo, hi))


def bounds(dtype: torch.dtype) -> tuple[float, float]:
    return (-1500, 1700) if dtype == torch.int32 else (-1.5, 1.7)


# ---- On the virtual GPU --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS[1:])
def test_counts(name: str) -> None:
    """Less than a pack and many blocks, at 16-byte boundaries and not, one bin and many."""
    cases = [(1, 0, 1), (7, 1, 3), (1000, 1, 256), (20_011, 3, 100), (9000, 0, 1000)]
    for n, offset, bins in [cases[0], cases[3]] if name == "triton" else cases:
        for dtype in (torch.float32, torch.int32):
            verify(name, sample(n, dtype, offset), bins, *bounds(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["shared", "vectorized", "triton"])
def test_half_types_are_counted_as_float32(name: str, dtype: torch.dtype) -> None:
    x = sample(5003, dtype, 1)
    verify(name, x, 100, -1.5, 1.7)
    assert torch.equal(LADDER[name](x, 100, -1.5, 1.7), LADDER.reference(x.float(), 100, -1.5, 1.7))


@pytest.mark.parametrize("name", RUNGS)
def test_bounds_nan_and_infinity(name: str) -> None:
    x = torch.tensor([0.0, -0.0, 1.0, 0.999999, -1e-9, 1.0000001, NAN, INF, -INF, 0.25, 0.5, 0.75])
    assert LADDER[name](x, 4, 0.0, 1.0).tolist() == [2, 1, 1, 3]
    integers = torch.tensor([-(2**31), 2**31 - 1, 0, 1, 2, 3, 4, 5], dtype=torch.int32)
    assert LADDER[name](integers, 4, 0, 4).tolist() == [1, 1, 1, 2]
    assert LADDER[name](integers, 2, -(2**31), 2**31 - 1).tolist() == [1, 7]


@pytest.mark.parametrize("name", RUNGS)
def test_all_values_in_one_bin_and_none_in_any(name: str) -> None:
    x = torch.full((5000,), 0.3)
    assert LADDER[name](x, 10, 0.0, 1.0).tolist() == [0, 0, 0, 5000, 0, 0, 0, 0, 0, 0]
    assert LADDER[name](x, 10, 1.0, 2.0).tolist() == [0] * 10
    assert run_poisoned(name, torch.empty(0), 10, 0.0, 1.0).tolist() == [0] * 10


@pytest.mark.parametrize("name", SHARED)
def test_more_bins_than_shared_memory_holds_are_counted_in_global_memory(name: str) -> None:
    bins = host.SHARED_BYTES // 4 + 1
    with fp.watch() as reports:
        verify(name, sample(3000, torch.float32), bins, -1.5, 1.7)
    (report,) = reports
    assert (report.shared_atomic.requests, report.global_atomic.requests > 0) == (0, True)


def edges(lo: float, hi: float, bins: int) -> Any:
    """The float32 numbers on both sides of where one bin ends and the next begins."""
    low, high = np.float32(lo), np.float32(hi)
    inner = (low.astype(np.float64) + (high.astype(np.float64) - low) * np.arange(bins + 1) / bins).astype(
        np.float32
    )
    around = [inner]
    for _ in range(3):
        around = [
            np.nextafter(around[0], np.float32(-INF)),
            *around,
            np.nextafter(around[-1], np.float32(INF)),
        ]
    return torch.tensor(np.concatenate(around))


# Widths whose reciprocals are exact, near and far from their float32 ones: 0, 1 and 2 corrections.
RANGES = [
    (0.0, 1.0, 1000),
    (-1.0, 2.0, 256),
    (0.1, 0.7, 100),
    (-3e-20, 5e-20, 77),
    (1e3, 1e30, 999),
    (0.0, 49.0, 7),
    (0.0, 63.0, 1000),
    (-500.0, 500.0, 256),
]


@pytest.mark.parametrize(("lo", "hi", "bins"), RANGES)
def test_multiplying_divides_as_division_does(lo: float, hi: float, bins: int) -> None:
    x = edges(lo, hi, bins)
    assert host.divides_by_multiplying(x, lo, hi)
    verify("vectorized", x, bins, lo, hi)


def test_corrections_are_as_many_as_the_reciprocal_asks_for() -> None:
    x = torch.empty(0)
    for width, corrections in ((1.0, 0), (0.125, 0), (3.0, 1), (49.0, 1), (63.0, 2), (1000.0, 2)):
        assert host.multiplier(x, 10, 0.0, width) == (float(np.float32(1 / width)), 0, corrections)


def test_what_multiplying_cannot_divide_is_divided() -> None:
    for lo, hi in ((0.0, 1e-40), (-1e36, 2e36)):
        x = edges(lo, hi, 100)
        assert not host.divides_by_multiplying(x, lo, hi)
        verify("vectorized", x, 100, lo, hi)


@pytest.mark.parametrize(
    ("lo", "hi", "bins"),
    [
        (0, 1, 3),
        (-(2**31), 2**31 - 1, 2**24),
        (-(2**31), 2**31 - 1, 999),
        (-7, 2**30, 12_287),
        (0, 999_983, 1000),
    ],
)
def test_integers_are_divided_exactly(lo: int, hi: int, bins: int) -> None:
    """The formula of bins.cuh in Python's numbers, at every edge and beside it."""
    x = torch.empty(0, dtype=torch.int32)
    factor, shift, _ = host.multiplier(x, bins, lo, hi)
    multiplier = int(factor)
    assert 0 <= shift < 64
    assert multiplier < 2**64
    width = hi - lo
    for b in range(0, bins + 1, max(1, bins // 1000)):
        for distance in {max(0, b * width // bins + step) for step in (-1, 0, 1, 2)}:
            if distance <= width:
                assert distance * (multiplier >> 32) + (distance * (multiplier % 2**32) >> 32) < 2**64
                assert distance * multiplier >> 32 + shift == distance * bins // width


@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_sanitizer_finds_nothing(name: str) -> None:
    with nothing_found(launches=1):
        verify(name, sample(3001, torch.float32, 1), 20, -1.0, 1.0)


# ---- What the headers say ------------------------------------------------------------------------------


def passes(name: str, x: Any) -> float:
    """Through shared memory, for the additions of a warp."""
    with fp.watch() as reports:
        LADDER[name](x, 256, 0.0, 1.0)
    (report,) = reports
    return report.shared_atomic.wavefronts * 32 / x.numel()


def test_lanes_meet_in_shared_memory_and_not_in_columns_of_their_own() -> None:
    random, equal = torch.rand(2**14, generator=torch.Generator().manual_seed(7)), torch.full((2**14,), 0.3)
    for name in ("shared", "per_warp", "aggregated", "vectorized"):
        assert 3 < passes(name, random) < 4
    assert passes("shared", equal) == passes("vectorized", equal) == 32  # which POPC.INC does in one
    assert passes("aggregated", equal) == passes("per_lane", random) == passes("per_lane", equal) == 1


def test_per_lane_takes_fewer_columns_for_more_bins() -> None:
    assert [host.columns(bins) for bins in (1, 256, 257, 1000, 4096, 8191, 12_287)] == [
        32,
        32,
        32,
        8,
        2,
        1,
        1,
    ]


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    good = torch.ones(4, 8)
    for args, says in [
        ((good.double(), 4, 0, 1), "float32"),
        ((good.t(), 4, 0, 1), "contiguous"),
        ((good, 0, 0, 1), "bins"),
        ((good, 2**24 + 1, 0, 1), "bins"),
        ((good, 4.0, 0, 1), "bins"),
        ((good, 4, 1, 1), "less than hi"),
        ((good, 4, 1, 1 + 1e-9), "less than hi"),
        ((good, 4, 0, INF), "finite"),
        ((good, 4, 0, 1e39), "float32"),
        ((good, 100, -2e36, 2e36), "bins"),
        ((good.int(), 4, 0, 1.5), "int32"),
        ((good.int(), 4, 0, 2**31), "int32"),
        ((good, 4, 0, 1, torch.empty(4)), "int64"),
        ((good, 4, 0, 1, torch.empty(3, dtype=torch.int64)), "must have shape"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)


def test_the_ladders_check_can_fail() -> None:
    x = sample(1000, torch.float32)
    right = LADDER.reference(x, 10, -1.0, 1.0)
    LADDER.check(right, (x, 10, -1.0, 1.0))
    wrong = right.clone()
    wrong[3] += 1
    for bad in (wrong, right[:9], right.int()):
        with pytest.raises(AssertionError):
            LADDER.check(bad, (x, 10, -1.0, 1.0))


def test_the_reference_is_numpys_histogram_where_nothing_is_rounded() -> None:
    x = torch.arange(-1000, 1000, dtype=torch.float32) / 64
    expected, _ = np.histogram(x.double().numpy(), bins=128, range=(-8, 8))
    assert LADDER.reference(x, 128, -8, 8).tolist() == expected.tolist()
    assert torch.equal(LADDER.reference(x, 128, -8, 8).float(), torch.histc(x, 128, -8, 8))


@pytest.mark.parametrize("arch", ["sm_75", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS)
def test_counts_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for n, offset in ((1, 0), (1021, 1), (65_537, 3), (2**22 + 5, 0), (2**22, 1)):
        for bins in (1, 100, 256, 1000, 5000, 20_000):
            verify(name, sample(n, dtype, offset, "cuda"), bins, *bounds(dtype))


@pytest.mark.gpu
@pytest.mark.parametrize(("lo", "hi", "bins"), RANGES)
@pytest.mark.parametrize("name", RUNGS)
def test_the_bins_are_torch_histcs(name: str, lo: float, hi: float, bins: int) -> None:
    near_edges = edges(lo, hi, bins).cuda()
    anywhere = torch.rand(2**23, device="cuda") * (hi - lo) * 1.1 + lo - 0.05 * (hi - lo)
    for x in (near_edges, anywhere):
        assert torch.equal(LADDER[name](x, bins, lo, hi).float(), torch.histc(x, bins, lo, hi))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS)
def test_the_bins_of_integers_are_torch_histcs(name: str) -> None:
    x = torch.randint(-(2**31), 2**31 - 1, (2**20,), device="cuda", dtype=torch.int32)
    for lo, hi, bins in ((-(2**31), 2**31 - 1, 1000), (-1_000_003, 2**30, 256), (0, 2**31 - 1, 8191)):
        assert torch.equal(LADDER[name](x, bins, lo, hi), torch.histc(x, bins, lo, hi).long())


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_more_values_than_32_bits_count(name: str) -> None:
    n = 2**31 + 4099
    free, _ = torch.cuda.mem_get_info()
    if free < 3 * n:
        pytest.skip(f"needs {3 * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(n, device="cuda", dtype=torch.bfloat16)
    x[n - 5] = 1
    assert LADDER[name](x, 4, 0, 1).tolist() == [n - 1, 0, 0, 1]


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    x = sample(1_000_003, torch.float32, device="cuda")
    LADDER[name](x, 256, -1.0, 1.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](x, 256, -1.0, 1.0)
    for scale in (2, 3):
        x *= scale
        graph.replay()
        LADDER.check(out, (x, 256, -1.0, 1.0))
