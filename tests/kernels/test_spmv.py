"""Every rung of spmv: any matrix, from none to one dense row; torch's result for every value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.spmv import host, matrices
from flashpath.kernels.spmv.ladder import allowed_error, torch_csr
from flashpath.kernels.spmv.reference import truth
from tests.harness.guarded_output import run_guarded
from tests.harness.launches import launch_in_schedule

LADDER = kernels.ladder("spmv")
RUNGS = [rung.name for rung in LADDER]
CUDA = [rung.name for rung in LADDER if rung.language == "cuda"]
TYPES = [
    (torch.float32, torch.int32),
    (torch.float16, torch.int64),
    (torch.bfloat16, torch.int32),
    (torch.float64, torch.int64),
]
TILE = host.THREADS * host.ITEMS  # steps of a block of merge_based
INF, NAN = float("inf"), float("nan")

# The lengths of rows: none, empty ones, one entry, one dense row, tiles that begin and end anywhere (of 1,792
# steps each), tiles with nothing but empty rows, and long rows beside short ones.
LENGTHS: dict[str, list[int]] = {
    "no rows": [],
    "empty rows": [0] * 5,
    "one entry": [1],
    "one dense row": [9001],
    "a tile to the step": [TILE - 1],
    "rows of a tile each": [TILE - 1] * 3,
    "short rows": [3] * 1201,
    "empty, then long, then empty": [0] * 3000 + [6001] + [0] * 6000 + [1, 2, 3],
    "ragged": [(7 * r * r) % 83 for r in range(257)],
    "long and short": [9001, 1, 0, 2, 5000, *[1] * 100],
}


def problem(
    lengths: Sequence[int], dtype: torch.dtype, index: torch.dtype, device: str = "cpu", whole: bool = False
) -> tuple[Any, ...]:
    """A matrix of 997 columns; with `whole` numbers so small that every order of adding is exact."""
    generator = torch.Generator().manual_seed(len(lengths))
    row_ptr = torch.zeros(len(lengths) + 1, dtype=index)
    row_ptr[1:] = torch.tensor(lengths).cumsum(0)
    n, cols = int(row_ptr[-1]), 997
    col = torch.randint(cols, (n,), generator=generator).to(index)
    val, x = (torch.randn(size, generator=generator) + 0.25 for size in (n, cols))
    if whole:
        val, x = (val * 2).round().clamp(-3, 3), x.round().clamp(-2, 2)
    return tuple(each.to(device) for each in (row_ptr, col, val.to(dtype), x.to(dtype)))


def run_poisoned(name: str, given: tuple[Any, ...]) -> Any:
    row_ptr, _, val, _ = given
    return run_guarded(LADDER[name], *given, like=val.new_empty(row_ptr.numel() - 1), offset=1)


# ---- On the virtual GPU --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_any_matrix(name: str, lengths: str) -> None:
    # Compiling takes the time: the types take turns.
    dtype, index = TYPES[(RUNGS.index(name) + list(LENGTHS).index(lengths)) % (2 if name == "triton" else 4)]
    given = problem(LENGTHS[lengths], dtype, index)
    LADDER.check(run_poisoned(name, given), given)


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("lengths", ["one dense row", "empty, then long, then empty", "ragged"])
def test_whole_numbers_are_exact(name: str, lengths: str) -> None:
    """No entry is lost, and none is counted twice: float32 has room for these sums in every order."""
    given = problem(LENGTHS[lengths], torch.float32, torch.int32, whole=True)
    assert torch.equal(run_poisoned(name, given).double(), truth(*given))


@pytest.mark.parametrize("name", RUNGS)
def test_nan_and_infinity_are_torchs(name: str) -> None:
    """They reach their own rows only, also where threads and tiles share rows; 0 times infinity is NaN."""
    row_ptr, col, val, x = problem([3, 0, 2500, 1, 40, 0, 7, 2000, 5], torch.float32, torch.int32)
    col[0], col[1], col[2] = 5, 6, 7
    x[5], x[6] = INF, -INF
    val[0], val[1], val[2] = 1.0, 0.0, 2.0
    val[1000] = INF
    val[-4] = NAN
    val[-2010] = -INF
    given = (row_ptr, col, val, x)
    result = run_poisoned(name, given)
    expected = torch_csr(*given)
    assert expected.isnan().any()
    assert expected.isfinite().any()
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4, equal_nan=True)
    LADDER.check(result, given)


@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_half_sum_is_rounded_once(name: str) -> None:
    """4,096 ones in bfloat16: a sum that stayed in bfloat16 would stop at 256."""
    row_ptr = torch.tensor([0, 4096, 4097], dtype=torch.int32)
    ones = torch.ones(4097, dtype=torch.bfloat16)
    given = (row_ptr, torch.zeros(4097, dtype=torch.int32), ones, torch.ones(1, dtype=torch.bfloat16))
    assert run_poisoned(name, given).tolist() == [4096.0, 1.0]


@pytest.mark.parametrize(("name", "option"), [("merge_based", {"items": 3}), ("warp_per_row", {"lanes": 2})])
def test_other_choices_are_right_too(name: str, option: dict[str, int]) -> None:
    for lengths in ("ragged", "long and short"):
        given = problem(LENGTHS[lengths], torch.float32, torch.int32)
        LADDER.check(LADDER[name](*given, **option), given)


@pytest.mark.parametrize("name", ["warp_per_row", "merge_based"])
def test_packs_of_entries_may_begin_and_end_anywhere(name: str) -> None:
    """Whole numbers: matrices of less than a pack, ends of every kind, arrays not aligned to 16 bytes."""
    for lengths in ([1], [2], [0, 3], [5], [9], [11, 8], [host.SHORT_ROW + 3, 1, *[29] * 61, 0, 17, 18]):
        given = problem(lengths, torch.float32, torch.int32, whole=True)
        assert host.width_for(*given[1:3]) == 4
        assert torch.equal(run_poisoned(name, given).double(), truth(*given))
    _, col, val, _ = given
    for which in (1, 2):
        shifted = list(given)
        shifted[which] = torch.cat([given[which][:1], given[which]])[1:]
        assert host.width_for(*shifted[1:3]) == 1
        assert torch.equal(run_poisoned(name, tuple(shifted)).double(), truth(*given))
    assert host.width_for(col.long(), val) == host.width_for(col, val.half()) == 1


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    given = problem([0, 2500, 1, 0, 900, 3, 3, 3, 4000, *[5] * 60, 0], torch.float32, torch.int32)
    LADDER.check(run_poisoned(name, given), given)
    assert findings == []


@pytest.mark.parametrize("name", CUDA)
def test_the_bits_are_the_same_in_every_schedule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem(LENGTHS["long and short"], torch.float32, torch.int32)
    expected = LADDER[name](*given)
    for seed in range(1, 4):
        launch_in_schedule(monkeypatch, seed)
        assert torch.equal(LADDER[name](*given), expected)


def test_lanes_share_sectors_where_threads_read_a_row_each() -> None:
    """128 rows of 32 entries: a request for entries touches 32 rows, or 4 rows of 8 neighbours."""
    row_ptr, col = torch.arange(129, dtype=torch.int32) * 32, torch.zeros(4096, dtype=torch.int32)
    given = (128, row_ptr, col, torch.ones(4096), torch.ones(128), torch.empty(128))
    thread = host.cuda_kernel(host.THREAD_PER_ROW, "spmv<float, int>", col)
    warp = host.cuda_kernel(host.WARP_PER_ROW, "spmv<8, 1, float, int>", col)
    sectors = [
        fp.profile(kernel, grid, host.THREADS, given).global_load.sectors
        for kernel, grid in ((thread, 1), (warp, 4))
    ]
    assert sectors[0] > 6 * sectors[1]


# ---- Without running anything --------------------------------------------------------------------------


def test_lanes_follow_the_mean_length() -> None:
    lanes = [host.lanes_for(1000, 1000 * mean) for mean in (0, 3, 5, 8, 32, 100, 1000)]
    assert lanes == sorted(lanes)
    assert (lanes[0], lanes[-1]) == (1, 32)
    assert [host.lanes_for(1000, 1000 * mean, 4) for mean in (0, 5, 8, 32, 100, 1000)] == [1, 1, 2, 8, 16, 32]


def test_matrices_are_what_their_names_say() -> None:
    row_ptr, col = matrices.stencil(5, "cpu")
    dense = torch.zeros(25, 25)
    dense[torch.repeat_interleave(torch.arange(25), row_ptr.long().diff()), col.long()] = 1
    assert torch.equal(dense, dense.T)
    assert int(row_ptr[-1]) == col.numel() == 5 * 25 - 4 * 5 == int(dense.sum())
    assert torch.equal(dense[12].nonzero().flatten(), torch.tensor([7, 11, 12, 13, 17]))
    row_ptr, col = matrices.uniform(30, 7, "cpu")
    assert torch.equal(row_ptr.diff(), torch.full((30,), 7, dtype=torch.int32))
    assert 0 <= int(col.min()) <= int(col.max()) < 30


def test_cases_count_what_they_draw() -> None:
    for case in LADDER.cases():
        rows, nnz = case.parameters["rows"], case.parameters["nnz"]
        assert case.bytes == 8 * nnz + 12 * rows + 4
        assert case.flops == 2 * nnz
    given = LADDER.cases()[0].inputs("cpu")
    assert sum(each.numel() * 4 for each in given) + 4 * (given[0].numel() - 1) == LADDER.cases()[0].bytes


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    row_ptr, col, val, x = problem([2, 3], torch.float32, torch.int32)
    for given, says in [
        ((row_ptr.short(), col, val, x), "int32, int64"),
        ((row_ptr, col.long(), val, x), "int32"),
        ((row_ptr, col[1:], val, x), r"shape \(5,\)"),
        ((row_ptr, col, val.half(), x), "float32 for x"),
        ((row_ptr, col, val.int(), x), "float64"),
        ((row_ptr, col, val, x[:, None]), "1 dimensions"),
        ((row_ptr, col, val, x[::2]), r"contiguous\(\)"),
        ((row_ptr[:0], col, val, x), "empty row_ptr"),
        ((row_ptr, col, val, x, torch.empty(3)), r"shape \(2,\)"),
        ((row_ptr, col, val, x, x[:2]), "overlaps"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*given)


def test_the_ladders_check_can_fail() -> None:
    given = problem(LENGTHS["ragged"], torch.float32, torch.int32)
    right = LADDER.reference(*given)
    LADDER.check(right, given)
    for wrong in (right + right.abs().max() * 1e-5, right[1:], right.half(), torch.full_like(right, NAN)):
        with pytest.raises(AssertionError):
            LADDER.check(wrong, given)
    size = truth(given[0], given[1], given[2].abs(), given[3].abs())
    lengths = given[0].diff().clamp(min=1)
    assert bool((allowed_error(*given) <= size / lengths / 500).all())  # a lost entry shows


@pytest.mark.parametrize("arch", ["sm_75", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("types", TYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS)
def test_any_matrix_on_a_gpu(name: str, types: tuple[torch.dtype, torch.dtype]) -> None:
    for lengths in (*LENGTHS.values(), [200_003, 0, 5], [33] * 40_001):
        given = problem(lengths, *types, device="cuda")
        LADDER.check(run_poisoned(name, given), given)
    whole = problem([100_007, *[3] * 70_001, 0, 9], torch.float32, types[1], "cuda", whole=True)
    assert torch.equal(run_poisoned(name, whole).double(), truth(*whole))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str) -> None:
    given = problem([20_003, *[33] * 40_001], torch.float32, torch.int32, "cuda")
    first = LADDER[name](*given)
    for _ in range(99):
        assert torch.equal(LADDER[name](*given), first)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    given = problem([20_003, *[33] * 40_001], torch.float32, torch.int32, "cuda")
    LADDER[name](*given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](*given)
    for scale in (2, 3):
        given[3].mul_(scale)
        graph.replay()
        LADDER.check(out, given)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_more_entries_than_32_bits_count(name: str) -> None:
    rows, length = 2**16 + 1, 2**15
    n = rows * length  # over 2^31
    free, _ = torch.cuda.mem_get_info()
    if free < 11 * n:
        pytest.skip(f"needs {11 * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    row_ptr = torch.arange(rows + 1, device="cuda") * length
    col = torch.zeros(n, dtype=torch.int64, device="cuda")
    val = torch.zeros(n, dtype=torch.bfloat16, device="cuda")
    val[n - 5], val[7], col[n - 5] = 3, 2, 1
    y = LADDER[name](row_ptr, col, val, torch.tensor([1.0, 2.0], dtype=torch.bfloat16, device="cuda"))
    assert (y[0].item(), y[-1].item()) == (2.0, 6.0)
    assert int(y.count_nonzero()) == 2
