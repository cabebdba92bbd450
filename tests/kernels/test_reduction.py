"""Every rung of reduction: torch's result for any size, type, alignment and value; whole tensors and rows."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.counters import counters_at_zero
from flashpath.kernels.reduction import host
from flashpath.kernels.reduction.ladder import allowed_error
from tests.harness.guarded_output import run_guarded
from tests.harness.launches import launch_in_schedule, nothing_found

LADDER = kernels.ladder("reduction")
# Each kernel that includes CUB compiles for a second or two: cub_block has a test of its own.
RUNGS = [rung.name for rung in LADDER if rung.name != "cub_block"]
BY_ROW = ["reference", "single_pass", "by_row", "triton"]
WHOLE = [name for name in RUNGS if name != "by_row"]
OPERATIONS = list(host.OPERATIONS)
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32]
PRODUCT = [
    (op, dtype) for op in OPERATIONS for dtype in DTYPES if not (op == "mean" and dtype == torch.int32)
]
# Every operation and every type; the two are independent of the rung, so one rung takes the whole product.
CHOSEN = [
    ("sum", torch.float32),
    ("argmax", torch.float32),
    ("mean", torch.float16),
    ("max", torch.bfloat16),
    ("sum", torch.int32),
]

INF, NAN = float("inf"), float("nan")


def sample(shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random values with a non-zero mean and ties, `offset` elements into their storage."""
    n = math.prod(shape)
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    if dtype == torch.int32:
        full = torch.randint(-(2**31), 2**31, (n + offset,), generator=generator, device=device)
    else:
        full = torch.randn(n + offset, generator=generator, device=device) * 4 + 3
    full = full.to(dtype)
    if n > 100:  # the maximum is there twice: the first counts
        full[offset + n // 3] = full[offset + 3 * n // 4] = 2**31 - 1 if dtype == torch.int32 else 50
    return full[offset:].view(shape)


def run_poisoned(name: str, x: Any, op: str, dim: int | None) -> Any:
    return run_guarded(LADDER[name], x, op, dim, like=LADDER.reference(x, op, dim), offset=1)


def verify(name: str, x: Any, op: str, dim: int | None = None) -> None:
    out = run_poisoned(name, x, op, dim)
    LADDER.check(out, (x, op, dim))


# ---- On the virtual GPU --------------------------------------------------------------------------------


# (n, offset): one block or several, whole packs or not, at a 16-byte boundary or not.
SIZES = [(1, 0), (31, 3), (257, 1), (1021, 2), (1024, 0), (20_011, 1)]
# Triton compiles anew for each block size and alignment: less than a block, and several.
TRITON_SIZES = [(1021, 2), (20_011, 1)]
# (shape, offset): rows for 8 threads, a warp, a block, most of them at another alignment each.
ROWS = [((1, 1), 0), ((37, 13), 1), ((9, 129), 0), ((5, 333), 3), ((3, 2503), 1)]
TRITON_ROWS = [((37, 13), 1), ((3, 2503), 1)]


@pytest.mark.parametrize("name", WHOLE[1:])
def test_whole_tensors(name: str) -> None:
    for op, dtype in CHOSEN:
        for n, offset in TRITON_SIZES if name == "triton" else SIZES:
            verify(name, sample((n,), dtype, offset), op)


@pytest.mark.parametrize("name", RUNGS)
def test_one_element(name: str) -> None:
    verify(name, sample((1, 1), torch.float16), "mean", -1 if name == "by_row" else None)


@pytest.mark.parametrize(("op", "dtype"), PRODUCT, ids=str)
def test_every_operation_on_every_type(op: str, dtype: torch.dtype) -> None:
    verify("warp_shuffle", sample((509,), dtype, 1), op)


def test_more_blocks_than_one_launch_takes_in() -> None:
    """77,100 elements: the first launch leaves more partial results than one block of the second takes."""
    for name in ("divergent", "warp_shuffle", "vectorized", "single_pass", "triton"):
        verify(name, sample((257, 300), torch.float32), "argmax")


@pytest.mark.parametrize("name", BY_ROW[1:])
def test_rows(name: str) -> None:
    for op, dtype in CHOSEN:
        for shape, offset in TRITON_ROWS if name == "triton" else ROWS:
            verify(name, sample(shape, dtype, offset), op, -1)
    verify(name, sample((2, 20_011), torch.float32), "argmax", 1)  # several blocks per row in single_pass


@pytest.mark.parametrize("name", RUNGS)
def test_nan_infinity_and_ties_are_torchs(name: str) -> None:
    dim = -1 if name == "by_row" else None
    many = [1.0] * 300
    for values, op, expected in [
        ([1.0, NAN, 3.0, NAN, INF], "max", NAN),
        ([1.0, NAN, 3.0, NAN, INF], "argmax", 1),
        ([*many, NAN, *many, NAN], "argmax", 300),
        ([NAN, *many], "argmax", 0),
        ([*many, 7.0, *many, 7.0, *many], "argmax", 300),
        ([5.0] * 903, "argmax", 0),
        ([-INF] * 603, "argmax", 0),
        ([-INF] * 603, "max", -INF),
        ([-INF, -INF, -3.0], "argmax", 2),
        ([-0.0, 0.0], "argmax", 0),
        ([*many, INF], "max", INF),
        ([*many, INF], "sum", INF),
        ([INF, -INF, 1.0], "sum", NAN),
        ([*many, NAN], "sum", NAN),
        ([3e38, 3e38], "sum", INF),
    ]:
        x = torch.tensor(values)
        x = x if dim is None else x[None]
        result = run_poisoned(name, x, op, dim).item()
        assert result == expected or (expected != expected and result != result), (op, values[:5], result)
        LADDER.check(torch.full_like(LADDER.reference(x, op, dim), expected), (x, op, dim))  # torch agrees


@pytest.mark.parametrize("name", ["vectorized", "single_pass", "by_row"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_the_first_of_the_largest_is_found_in_any_round(name: str, dtype: torch.dtype) -> None:
    """Several rounds of loads, the last one partly filled, elements alone before and after them."""
    is_integer = dtype == torch.int32
    lowest, largest = (-(2**31), [7]) if is_integer else (-INF, [7.0, NAN])
    for n in (4001, 70_003):  # a warp's row, and a block's
        for places in ([0], [n - 1], [2, n - 1], [n // 2, n // 2 + 1, n - 40], [n // 3, n // 3 + 4, n // 2]):
            for value in largest:
                x = torch.full((n + 1,), lowest, dtype=dtype)[1:].view(1, n)  # misaligned
                x[0, n // 4] = 3
                x[0, places] = value
                result = LADDER[name](x, "argmax", -1 if name == "by_row" else None)
                assert result.item() == places[0], (n, places, value)


@pytest.mark.parametrize("name", RUNGS)
def test_extreme_integers(name: str) -> None:
    dim = -1 if name == "by_row" else None
    least, most = -(2**31), 2**31 - 1
    for values in ([least] * 600, [most] * 600, [least, most] * 300):
        x = torch.tensor(values, dtype=torch.int32)
        x = x if dim is None else x[None]
        assert LADDER[name](x, "sum", dim).item() == sum(values)
        assert LADDER[name](x, "argmax", dim).item() == values.index(max(values))


@pytest.mark.parametrize("name", RUNGS)
def test_nothing_sums_to_zero_has_no_mean_and_no_maximum(name: str) -> None:
    dim, shape = (-1, (3, 0)) if name == "by_row" else (None, (0,))
    x = torch.empty(shape)
    assert torch.equal(run_poisoned(name, x, "sum", dim), torch.sum(x, dim))
    assert run_poisoned(name, x, "mean", dim).isnan().all()
    for op in ("max", "min", "argmax"):
        with pytest.raises(FlashpathError, match="no elements"):
            LADDER[name](x, op, dim)
    if name in BY_ROW:
        for op in OPERATIONS:
            assert LADDER[name](torch.empty(0, 5), op, -1).shape == (0,)


@pytest.mark.parametrize("name", RUNGS)
def test_a_half_sum_is_rounded_once(name: str) -> None:
    """4096 ones in float16: a sum that stayed in float16 would stop at 2048."""
    dim = -1 if name == "by_row" else None
    x = torch.ones(1, 4096, dtype=torch.float16)
    assert LADDER[name](x, "mean", dim).item() == 1
    assert LADDER[name](x * 16, "sum", dim).item() == INF  # 65,536 is no float16
    assert LADDER[name](x * 8, "sum", dim).item() == 32768


@pytest.mark.parametrize("name", RUNGS)
def test_an_alternating_sum_keeps_what_a_running_sum_loses(name: str) -> None:
    """2^24 + 1 + … + 1: one after the other, every 1 is lost in float32; in a tree, hardly one is."""
    x = torch.ones(1, 16_384)
    x[0, 0] = 2.0**24
    result = LADDER[name](x, "sum", -1 if name == "by_row" else None).item()
    assert abs(result - (2**24 + 16_383)) <= 130


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    for op, dtype in (("sum", torch.float32), ("argmax", torch.float32)):
        if name != "by_row":
            verify(name, sample((9001,), dtype, 1), op)
        if name in BY_ROW:
            verify(name, sample((3, 333), dtype, 1), op, -1)
            verify(name, sample((2, 9001), dtype), op, -1)
    assert findings == []


def test_cub_block_reduces_as_the_others_do() -> None:
    """Two kernels, of elements and of partial results; the operations are those of all other rungs."""
    for n, offset in SIZES:
        verify("cub_block", sample((n,), torch.float32, offset), "argmax")
    for values, expected in [
        ([1.0, NAN, 3.0, NAN, INF], 1),
        ([*[1.0] * 300, 7.0, *[1.0] * 3000, 7.0], 300),
        ([-INF] * 2603, 0),
    ]:
        assert run_poisoned("cub_block", torch.tensor(values), "argmax", None).item() == expected
    x = sample((9001,), torch.float32, 1)
    with nothing_found(launches=2):
        verify("cub_block", x, "argmax")
    with pytest.raises(FlashpathError, match="by_row"):
        LADDER["cub_block"](x[None], "sum", -1)


def test_a_missing_fence_in_single_pass_is_found() -> None:
    source = host.SINGLE_PASS.read_text(encoding="utf-8")
    assert source.count("__threadfence();") == 2
    name = "reduce<Sum<float>, float>"
    unfenced = source.replace("__threadfence();", "")
    x, out = torch.ones(9001), torch.empty(())
    for text, is_right in ((source, True), (unfenced, False)):
        kernel = fp.compile(text, arch="sm_80", includes=[host.FOLDER], name_expressions=[name])[name]
        args = (x.numel(), x, 3, host.scratch(x, 3), counters_at_zero(x, 1), out)
        found = fp.sanitize(kernel, 3, 256, args, seeds=3)
        assert (found == []) == is_right


@pytest.mark.parametrize("name", [name for name in RUNGS if LADDER[name].language == "cuda"])
def test_the_bits_are_the_same_in_every_schedule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warps and blocks in other orders, so that another block comes last."""
    x = sample((1, 20_011), torch.float32)
    results: set[float] = set()
    for seed in range(6):
        launch_in_schedule(monkeypatch, seed)
        results.add(LADDER[name](x, "sum", -1 if name == "by_row" else None).item())
    assert len(results) == 1


# ---- What the headers say ------------------------------------------------------------------------------


@functools.cache
def profile_of(name: str) -> Any:
    x, out = torch.ones(256), torch.empty(())
    kernel = host.cuda_kernel(LADDER[name].file, "reduce<Sum<float>, float>", x)
    return fp.profile(kernel, 1, 256, (256, x, 256, None, out))


def test_each_rung_mends_what_the_one_before_suffers_from() -> None:
    divergence = {name: profile_of(name).divergent_branches for name in RUNGS[1:4]}
    assert divergence == {"divergent": 48, "bank_conflicted": 6, "sequential": 6}
    reports = {name: profile_of(name) for name in RUNGS[1:6]}
    conflicts = {
        name: each.shared_load.bank_conflicts + each.shared_store.bank_conflicts
        for name, each in reports.items()
    }
    assert conflicts == dict.fromkeys(conflicts, 0) | {"bank_conflicted": 105}
    requests = (
        reports["bank_conflicted"].shared_load.requests + reports["bank_conflicted"].shared_store.requests
    )
    assert requests == 45
    barriers = {name: each.instructions_by_class["barrier"] // 256 for name, each in reports.items()}
    assert (barriers["first_add_on_load"], barriers["warp_shuffle"]) == (9, 1)


@pytest.mark.parametrize("kind", ["float", "__half"])
def test_wide_rungs_load_16_bytes(kind: str) -> None:
    for file, name in (
        (host.VECTORIZED, f"reduce<Sum<{kind}>, {kind}>"),
        (host.SINGLE_PASS, f"reduce<Sum<{kind}>, {kind}>"),
        (host.BY_ROW, f"reduce<Sum<{kind}>, 32, {kind}>"),
    ):
        ptx = host.cuda_kernel(file, name, torch.empty(0)).ptx
        packs = {"float": 8, "__half": 4}[kind]  # of a full round, and of the last
        assert ptx.count("ld.global.nc.v4.") == 2 * packs, (file.name, kind)


def test_every_element_is_read_once() -> None:
    """Misaligned by one element: its pack's first three and last one are read alone, the others in packs."""
    x = sample((9001,), torch.float32, offset=1)
    out = torch.empty(())
    kernel = host.cuda_kernel(host.VECTORIZED, "reduce<Sum<float>, float>", x)
    report = fp.profile(kernel, 1, 256, (x.numel(), x, None, out))
    assert report.instructions_by_class["global load"] == 3 + (9001 - 3) // 4 + (9001 - 3) % 4


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    good = torch.ones(4, 8)
    dim = -1 if name == "by_row" else None
    for args, says in [
        ((good, "product", dim), "sum, max, min, mean, argmax"),
        ((good.double(), "sum", dim), "float32"),
        ((good.int(), "mean", dim), "x.float"),
        ((good.t(), "sum", dim), "contiguous"),
        ((good, "sum", 0), "dim=-1"),
        ((good[0], "sum", -1), "dim=-1"),
        ((good, "sum", dim, torch.empty(3)), "must have shape"),
        ((good, "argmax", dim, torch.empty(() if dim is None else 4)), "int64"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)


def test_rungs_for_whole_tensors_say_who_takes_rows() -> None:
    x = torch.ones(4, 8)
    for name in set(RUNGS) - set(BY_ROW):
        with pytest.raises(FlashpathError, match="by_row"):
            LADDER[name](x, "sum", -1)
    with pytest.raises(FlashpathError, match="single_pass"):
        LADDER["by_row"](x, "sum", None)


def test_the_ladders_check_can_fail() -> None:
    x = sample((4099,), torch.float32)
    for op in OPERATIONS:
        right = LADDER.reference(x, op)
        LADDER.check(right, (x, op, None))
        wrong = right + 1 if op == "argmax" else right + x[0].abs() / (4099 if op == "mean" else 1)
        for bad in (wrong, right[None], right.to(torch.float16)):
            with pytest.raises(AssertionError):
                LADDER.check(bad, (x, op, None))
    assert allowed_error(x, "sum", None) < x.abs().mean() / 50  # a lost element shows


@pytest.mark.parametrize("arch", ["sm_75", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


def test_a_long_row_is_no_long_chain_of_roundings() -> None:
    """Of equal numbers all roundings go one way: 1,024 rounds in one chain are 1e-5 off."""
    x = torch.full((1, 2**23), 0.1)
    exact = x.double().sum().item()
    assert LADDER["by_row"](x, "sum", -1).item() == pytest.approx(exact, rel=2e-6)


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tensors_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for op in (op for op, kind in PRODUCT if kind == dtype):
        for n in (1, 3, 31, 257, 1021, 4096, 65_537, 1_000_003, 2**24 + 7):
            for offset in (0, 1, 3):
                verify(name, sample((n,), dtype, offset, "cuda"), op)


@pytest.mark.gpu
def test_cub_block_on_a_gpu() -> None:
    for n in (1, 2049, 65_537, 2**24 + 7):
        verify("cub_block", sample((n,), torch.float32, 1, "cuda"), "argmax")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", BY_ROW)
def test_rows_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for op in (op for op, kind in PRODUCT if kind == dtype):
        for shape in ((1, 1), (70_001, 3), (1000, 129), (4099, 1021), (513, 5000), (7, 1_000_003)):
            for offset in (0, 1):
                verify(name, sample(shape, dtype, offset, "cuda"), op, -1)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str) -> None:
    x = sample((1, 1_000_003), torch.float32, device="cuda")
    dim = -1 if name == "by_row" else None
    assert len({LADDER[name](x, "sum", dim).item() for _ in range(100)}) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("name", WHOLE)
def test_more_elements_than_32_bits_count(name: str) -> None:
    n = 2**31 + 4099
    free, _ = torch.cuda.mem_get_info()
    if free < 3 * n:
        pytest.skip(f"needs {3 * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(n, device="cuda", dtype=torch.bfloat16)
    x[n - 5] = 3
    x[7] = 2
    assert LADDER[name](x, "argmax").item() == n - 5
    assert LADDER[name](x, "sum").item() == 5


@pytest.mark.gpu
@pytest.mark.parametrize("name", BY_ROW)
def test_more_elements_of_rows_than_32_bits_count(name: str) -> None:
    rows, n = 2**20 + 1, 2048
    free, _ = torch.cuda.mem_get_info()
    if free < 3 * rows * n:
        pytest.skip(f"needs {3 * rows * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(rows, n, device="cuda", dtype=torch.bfloat16)
    x[0, 7], x[-1, 5] = 2, 3
    places, sums = LADDER[name](x, "argmax", -1), LADDER[name](x, "sum", -1)
    assert (places[0].item(), places[-1].item(), int(places.count_nonzero())) == (7, 5, 2)
    assert (sums[0].item(), sums[-1].item(), int(sums.count_nonzero())) == (2, 3, 2)


@pytest.mark.gpu
def test_single_pass_on_two_streams_at_once() -> None:
    x = sample((2**24,), torch.float32, device="cuda")
    expected = LADDER["single_pass"](x, "sum").item()
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    results: list[Any] = []
    for _ in range(50):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(LADDER["single_pass"](x, "sum"))
    torch.cuda.synchronize()
    assert {result.item() for result in results} == {expected}


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    x = sample((64, 65_537), torch.float32, device="cuda")
    dim = -1 if name == "by_row" else None
    LADDER[name](x, "sum", dim)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](x, "sum", dim)
    for scale in (2, 3):
        x *= scale
        graph.replay()
        LADDER.check(out, (x, "sum", dim))
