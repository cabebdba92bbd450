"""Every rung of sort: torch's stable sort to the bit, for any size, type, alignment and value."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.sort import host
from tests.harness.guarded_output import Guarded, unchanged
from tests.harness.launches import launch_in_schedule

LADDER = kernels.ladder("sort")
RUNGS = [rung.name for rung in LADDER]
CUDA = [rung.name for rung in LADDER if rung.language == "cuda"]
DTYPES = [torch.float32, torch.int32, torch.float16, torch.bfloat16]
INF, NAN = float("inf"), float("nan")


def sample(n: int, dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random keys of every size and sign, many more than once, `offset` elements into their storage."""
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    if dtype == torch.int32:
        full = torch.randint(-(2**31), 2**31, (n + offset,), generator=generator, device=device)
        full[::3] >>= 24  # small ones, of both signs
    else:
        full = torch.randn(n + offset, generator=generator, device=device)
        full[::3] *= 10.0 ** (torch.arange(len(full[::3]), device=device) % 9 - 4)
        full[1::5] = full[1::5].round()  # with -0 and +0 among them
    full = full.to(dtype)
    keys = full[offset:]
    if n > 100:
        keys[n // 2 : n // 2 + 20] = keys[:20]
        if dtype != torch.int32:
            keys[n // 7], keys[n // 5], keys[n // 3], keys[n // 9] = NAN, INF, -INF, NAN
            keys[n // 4] = -keys[n // 7]  # a NaN with its sign set
    return keys


def run_poisoned(name: str, x: Any, return_indices: bool) -> Any:
    """The rung's result, out of guarded buffers that held other values; x must stay as it is."""
    outputs = [Guarded(x, 1), Guarded(x.to(torch.int64), 1)][: 2 if return_indices else 1]
    values, *indices = (guarded.output for guarded in outputs)
    with unchanged(x):
        result = LADDER[name](x, return_indices, (values, *indices) if return_indices else values)
    assert (result[0] if return_indices else result).data_ptr() == values.data_ptr()
    for guarded in outputs:
        guarded.check()
    return result


def verify(name: str, x: Any, return_indices: bool) -> None:
    LADDER.check(run_poisoned(name, x, return_indices), (x, return_indices))


# ---- On the virtual GPU --------------------------------------------------------------------------------


# (n, offset): less than a warp, a tile with a rest, several tiles; at a 16-byte boundary or not.
SIZES = [(31, 3), (1021, 1), (4096, 0), (20_011, 1)]


# What a type changes is the same in all rungs (keys.cuh): one takes all types, each other one two of them.
TYPES = {
    "bitonic": [torch.float32, torch.bfloat16],
    "radix": [torch.float32, torch.int32],
    "radix_tiled": [torch.float32, torch.float16],
    "onesweep": DTYPES,
}


@pytest.mark.parametrize(("name", "dtype"), [(name, kind) for name in CUDA for kind in TYPES[name]], ids=str)
def test_keys_and_indices(name: str, dtype: torch.dtype) -> None:
    for n, offset in SIZES:
        verify(name, sample(n, dtype, offset), return_indices=True)


@pytest.mark.parametrize("name", CUDA)
def test_keys_alone(name: str) -> None:
    for n, offset in SIZES:
        verify(name, sample(n, torch.float32, offset), return_indices=False)


def test_triton() -> None:
    """One type with indices and one without: each is compiled anew."""
    for n, offset in SIZES:
        verify("triton", sample(n, torch.float32, offset), return_indices=True)
        verify("triton", sample(n, torch.bfloat16, offset), return_indices=False)


@pytest.mark.parametrize("name", CUDA)
def test_no_key_and_one_key(name: str) -> None:
    for return_indices in (False, True):
        verify(name, torch.empty(0), return_indices)
        verify(name, torch.tensor([-3.0]), return_indices)


@pytest.mark.parametrize("name", CUDA)
def test_special_values_are_where_torch_has_them(name: str) -> None:
    tiny = 2.0**-149
    x = torch.tensor([0.0, NAN, -0.0, 1.0, -INF, tiny, -NAN, -tiny, INF, -0.0, 3e38, -1.0, 0.0, -3e38, NAN])
    bits = x.view(torch.int32)
    bits[6] |= -(2**31)  # the sign of a NaN counts for nothing
    bits[14] ^= 0x12345  # nor does what it carries
    values, indices = run_poisoned(name, x, return_indices=True)
    assert indices.tolist() == [4, 13, 11, 7, 0, 2, 9, 12, 5, 3, 10, 8, 1, 6, 14]
    assert torch.equal(values.view(torch.int32), bits[indices])
    LADDER.check((values, indices), (x, True))  # torch agrees


@pytest.mark.parametrize("name", ["radix", "onesweep"])
def test_negative_numbers_come_first(name: str) -> None:
    integers = torch.tensor([0, -1, 2**31 - 1, -(2**31), 1, -1, 255, 256, -256], dtype=torch.int32)
    expected = [-(2**31), -256, -1, -1, 0, 1, 255, 256, 2**31 - 1]
    assert run_poisoned(name, integers, True)[0].tolist() == expected


@pytest.mark.parametrize("name", CUDA)
def test_keys_that_are_already_in_order_or_all_equal(name: str) -> None:
    rising = torch.arange(9001, dtype=torch.float32)
    for x in (rising, rising.flip(0), torch.full((9001,), 7.0), (rising % 2) * -0.0):
        verify(name, x.contiguous(), return_indices=True)


@pytest.mark.parametrize("name", CUDA)
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    verify(name, sample(9001 if name != "onesweep" else 20_011, torch.float16, 1), return_indices=True)
    assert findings == []


def test_tiles_may_start_and_publish_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sample(40_009, torch.float16)
    for seed in range(1, 5):
        launch_in_schedule(monkeypatch, seed)
        verify("onesweep", x, return_indices=True)


def test_a_weakly_published_state_is_found() -> None:
    source = host.ONESWEEP.read_text(encoding="utf-8")
    assert source.count("st.relaxed.gpu.global.u32") == 1
    weak = source.replace("st.relaxed.gpu.global.u32", "st.global.u32")
    name, items = "sort_digit<float, false, 4>", 4
    x = sample(4000, torch.float32)
    tiles = -(-x.numel() // (host.SWEEP_THREADS * items))
    histograms = host.counters(x, 4 * 256)
    count_all = host.cuda_kernel(host.ONESWEEP, "count_all_digits<float>", x)
    count_all[1, host.COUNT_THREADS](x.numel(), x, histograms, 0, None)
    for text, is_right in ((source, True), (weak, False)):
        kernel = fp.compile(text, arch="sm_80", includes=[host.FOLDER], name_expressions=[name])[name]
        states, next_tile = host.counters(x, tiles * 256), host.counters(x, 1)
        args = (x.numel(), 0, x, None, histograms, next_tile, states, torch.empty_like(x), None, None)
        found = fp.sanitize(kernel, tiles, host.SWEEP_THREADS, args, seeds=3)
        assert (found == []) == is_right


# ---- What the headers say ------------------------------------------------------------------------------


def test_stores_coalesce_where_tiles_are_sorted_first() -> None:
    """Sectors written per key of a pass: nearly one for each in radix, runs in radix_tiled."""
    n = 4096
    x, out = torch.randn(n), torch.empty(n)
    sectors: dict[str, float] = {}
    for name, bits, threads, tile in (
        ("radix", host.RADIX_BITS, host.RADIX_THREADS, host.RADIX_TILE),
        ("radix_tiled", host.TILED_BITS, host.TILED_THREADS, host.TILED_TILE),
    ):
        digits, tiles = 1 << bits, -(-n // tile)
        counts, totals = host.empty(x, digits * tiles, "uint32"), host.counters(x, digits)
        file = LADDER[name].file
        host.cuda_kernel(file, "count_digits<float>", x)[tiles, threads](n, 0, x, tiles, counts, totals)
        host.cuda_kernel(file, f"scan_counts<{digits}>", x)[digits, host.SCAN_THREADS](tiles, totals, counts)
        scatter = host.cuda_kernel(file, "scatter<float>", x)
        report = fp.profile(scatter, tiles, threads, (n, 0, x, None, tiles, counts, out, None, None))
        sectors[name] = report.global_store.sectors / n
    assert sectors["radix"] > 0.8
    assert sectors["radix_tiled"] < 0.3


def test_onesweep_reads_every_key_once_per_digit() -> None:
    n = host.SWEEP_THREADS * 16
    x, out = torch.randn(n), torch.empty(n)
    histogram, next_tile = host.counters(x, 4 * 256), host.counters(x, 1)
    states = host.empty(x, 4 * 256, "uint32")
    count_all = host.cuda_kernel(host.ONESWEEP, "count_all_digits<float>", x)
    count_all[1, host.COUNT_THREADS](n, x, histogram, states.numel(), states)
    kernel = host.cuda_kernel(host.ONESWEEP, "sort_digit<float, false, 16>", x)
    args = (n, 0, x, None, histogram, next_tile, states, out, None, None)
    report = fp.profile(kernel, 1, host.SWEEP_THREADS, args)
    assert report.instructions_by_class["global load"] == n + 256  # the keys, and the histogram


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    good = torch.ones(8)
    for args, says in [
        ((good.double(),), "float32"),
        ((good.view(2, 4),), "1 dimensions"),
        ((torch.ones(16)[::2],), "contiguous"),
        (([1.0],), "torch tensor"),
        ((good, False, torch.ones(7)), "must have shape"),
        ((good, False, good), "overlaps"),
        ((good, True, torch.ones(8)), "values, indices"),
        ((good, True, (torch.ones(8), torch.ones(8))), "int64"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)


@pytest.mark.parametrize("name", RUNGS)
def test_more_keys_than_a_rung_can_count_are_refused(name: str) -> None:
    most = {"bitonic": host.MOST_BITONIC, "onesweep": host.MOST_ONESWEEP}.get(name, host.MOST)
    with pytest.raises(FlashpathError, match=f"up to {most}"):
        LADDER[name](torch.empty(most + 1, dtype=torch.float16, device="meta"))


def test_the_ladders_check_can_fail() -> None:
    x = sample(257, torch.float32)
    values, indices = LADDER.reference(x, True)
    LADDER.check((values, indices), (x, True))
    swapped = indices.clone()
    swapped[[3, 4]] = indices[[4, 3]]
    for bad in ((values, swapped), (values.flip(0), indices), (values, indices.int())):
        with pytest.raises(AssertionError):
            LADDER.check(bad, (x, True))
    zeros = torch.tensor([0.0, -0.0])
    with pytest.raises(AssertionError, match=r"the first is \[0\]: -0\.0, not 0\.0"):
        LADDER.check(zeros.flip(0), (zeros, False))


@pytest.mark.parametrize("arch", ["sm_75", "sm_100a"])
@pytest.mark.parametrize("name", CUDA)
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------


def compare_with_the_cpu(name: str, x: Any, return_indices: bool) -> None:
    """CUDA's torch.sort minds the sign of a NaN; the CPU's is the rule."""
    result = run_poisoned(name, x, return_indices)
    on_cpu = tuple(each.cpu() for each in result) if return_indices else result.cpu()
    LADDER.check(on_cpu, (x.cpu(), return_indices))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS[1:])
def test_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for n in (1, 31, 1021, 65_537, 1_000_003):
        for offset in (0, 1):
            compare_with_the_cpu(name, sample(n, dtype, offset, "cuda"), return_indices=bool(offset))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_many_keys_on_a_gpu(name: str) -> None:
    for return_indices in (False, True):
        x = torch.randint(-(2**31), 2**31, (2**24 + 7,), device="cuda").to(torch.int32)
        verify(name, x, return_indices)
        verify(name, x % 1000, return_indices)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str) -> None:
    x = sample(300_007, torch.float32, device="cuda")
    values, indices = LADDER[name](x, True)
    for _ in range(99):
        again = LADDER[name](x, True)
        assert torch.equal(again[1], indices)
        assert torch.equal(again[0].view(torch.int32), values.view(torch.int32))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    x = torch.randn(1_000_003, device="cuda")
    LADDER[name](x, True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](x, True)
    for _ in range(2):
        x.normal_()
        graph.replay()
        LADDER.check(out, (x, True))
