"""Every warp primitive: the reference's result for any size; compaction to the bit, in order and without."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.warp import host
from tests.harness.guarded_output import Guarded, run_guarded, unchanged
from tests.harness.launches import launch_in_schedule

LADDER = kernels.ladder("warp")
# (rung, operation) of groups of 32; sums of whole numbers by one instruction are a case of their own.
GROUPS = [
    *(("shared_memory", op) for op in host.OF_GROUPS),
    ("broadcast", "broadcast"),
    ("reduce_shuffle", "sum"),
    ("vote", "any"),
    ("vote", "all"),
    ("vote", "ballot"),
    ("match", "match"),
]
ON_TRITON = [("triton", op) for op in host.OF_GROUPS]
COMPACTING = ["compact_atomics", "compact_active", "compact_ballot", "compact_block", "compact"]
DTYPES = [torch.float32, torch.int32, torch.float16, torch.bfloat16]
INF, NAN = float("inf"), float("nan")
SIZES = [(0, 0), (1, 0), (31, 1), (64, 0), (1021, 3), (9001, 1)]


def sample(n: int, dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Few different values, so that many match, of both signs; groups that are all positive and all not."""
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    full = torch.randint(-4, 9, (n + offset,), generator=generator, device=device).to(dtype)
    full[offset : offset + 40] = 3
    full[offset + 96 : offset + 128] = -2
    if dtype != torch.int32 and n > 600:
        full[offset + 501 : offset + 508] = torch.tensor([0.0, -0.0, NAN, INF, -INF, NAN, 0.5], dtype=dtype)
    return full[offset:]


def verify_groups(name: str, op: str, x: Any) -> None:
    out = run_guarded(LADDER[name], x, op, like=LADDER.reference(x, op), offset=1)
    LADDER.check(out, (x, op))


def verify_compaction(name: str, x: Any, op: str, threshold: float = 0.0) -> None:
    guarded = Guarded(x, 1)
    with unchanged(x):
        values, count = LADDER[name](x, op, threshold, guarded.output)
    guarded.check()
    assert guarded.is_untouched(guarded.output[int(count) :]), "it wrote beyond what it kept"
    LADDER.check((values, count), (x, op, threshold))


# ---- On the virtual GPU --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "op"), GROUPS)
def test_groups(name: str, op: str) -> None:
    for n, offset in SIZES:
        verify_groups(name, op, sample(n, torch.float32, offset))
    verify_groups(name, op, sample(1021, torch.int32, 1))


def test_sums_of_whole_numbers_by_one_instruction() -> None:
    for n, offset in SIZES:
        verify_groups("reduce_instruction", "sum", sample(n, torch.int32, offset))
    largest = torch.full((40,), 2**31 - 1, dtype=torch.int32)
    assert LADDER["reduce_instruction"](largest).tolist() == [-32, -8]  # modulo 2^32, as in all rungs
    assert LADDER["reduce_shuffle"](largest).tolist() == [-32, -8]


@pytest.mark.parametrize(("name", "op"), ON_TRITON)
def test_groups_in_triton(name: str, op: str) -> None:
    for n, offset in ((31, 1), (9001, 1)):
        verify_groups(name, op, sample(n, torch.float32, offset))


def test_what_votes_and_matches_mean() -> None:
    x = torch.tensor([5.0, -1.0, 5.0, 0.0, -0.0, NAN, NAN, INF])
    assert LADDER["vote"](x, "ballot").tolist() == [0b10000101]
    assert LADDER["vote"](x, "any").tolist() == [True]
    assert LADDER["vote"](x, "all").tolist() == [False]
    same = [0b101, 0b10, 0b101, 0b1000, 0b10000, 0b1100000, 0b1100000, 0b10000000]
    assert LADDER["match"](x).tolist() == same
    assert LADDER["broadcast"](x).tolist() == [5.0] * 8


@pytest.mark.parametrize("name", COMPACTING)
def test_compaction(name: str) -> None:
    op = "compact" if name == "compact" else "compact_unordered"
    for n, offset in (*SIZES, (20_011, 3)):
        verify_compaction(name, sample(n, torch.float32, offset), op)
    for dtype in DTYPES[1:]:
        verify_compaction(name, sample(9001, dtype, 1), op, threshold=2.75)


@pytest.mark.parametrize("name", COMPACTING)
def test_all_or_nothing_is_kept(name: str) -> None:
    op = "compact" if name == "compact" else "compact_unordered"
    x = sample(9001, torch.float32)
    for threshold in (-INF, INF, NAN):  # a NaN is above nothing, and nothing is above one
        verify_compaction(name, x, op, threshold)


def test_half_types_are_compared_as_float32() -> None:
    """0.3 is a float16 only nearly: the nearest one is above it."""
    x = torch.tensor([0.3, 0.25], dtype=torch.float16)
    _, count = LADDER["compact"](x, "compact", 0.3)
    assert int(count) == 1


def test_nothing_is_wrong_in_any_schedule(findings: list[Any]) -> None:
    for name, op in GROUPS:
        verify_groups(name, op, sample(1021, torch.float32, 1))
    verify_groups("reduce_instruction", "sum", sample(1021, torch.int32, 1))
    for name in COMPACTING:
        x = sample(20_011, torch.float32, 1)
        LADDER.check(LADDER[name](x), (x, "compact" if name == "compact" else "compact_unordered"))
    assert findings == []


def test_tiles_may_start_and_publish_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1, 5):
        launch_in_schedule(monkeypatch, seed)
        verify_compaction("compact", sample(200_003, torch.float32), "compact")


# ---- What the headers say ------------------------------------------------------------------------------


def test_fewer_and_fewer_atomics() -> None:
    x, out = torch.ones(8192), torch.empty(8192)
    atomics: dict[str, int] = {}
    for name, per_block in (("compact_active", 256), ("compact_ballot", 256), ("compact_block", host.TILE)):
        kernel = host.cuda_kernel(LADDER[name].file, "compact<float>", x)
        count = torch.zeros((), dtype=torch.int64).view(torch.uint64)
        report = fp.profile(kernel, 8192 // per_block, 256, (8192, x, 0.0, out, count))
        atomics[name] = report.instructions_by_class["atomic"]
    by_warp, by_tile = 8192 // 32, 8192 // 4096
    assert atomics == {"compact_active": by_warp, "compact_ballot": by_warp, "compact_block": by_tile}


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [rung.name for rung in LADDER])
def test_what_a_rung_does_not_do_it_refuses(name: str) -> None:
    x = torch.ones(8, dtype=torch.int32 if name == "reduce_instruction" else torch.float32)
    with pytest.raises(FlashpathError, match="It knows"):
        LADDER[name](x, "transpose")
    for case in LADDER.cases():
        declines = LADDER[name].declines
        if declines is None or declines(case) is None:
            LADDER[name](torch.ones(8, dtype=getattr(torch, case.dtype)), case.parameters["op"])
        else:
            with pytest.raises(FlashpathError):
                LADDER[name](torch.ones(8, dtype=getattr(torch, case.dtype)), case.parameters["op"])


def test_wrong_arguments_are_refused_before_anything_runs() -> None:
    good = torch.ones(8)
    for name, args, says in [
        ("match", (good.double(),), "float32, int32"),
        ("match", (good.half(),), "float32, int32"),
        ("vote", (good.view(2, 4),), "1 dimensions"),
        ("vote", (torch.ones(16)[::2],), "contiguous"),
        ("broadcast", (good, "broadcast", torch.ones(7)), "must have shape"),
        ("broadcast", (good, "broadcast", good), "overlaps"),
        ("reduce_instruction", (good,), "int32"),
        ("compact", (good, "compact", 0.0, good), "overlaps"),
        ("compact", (good.int(), "compact", 2.0**24), "below 2\\^24"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)


def test_the_ladders_check_can_fail() -> None:
    x = sample(1021, torch.float32)
    values, count = LADDER.reference(x, "compact")
    LADDER.check((values, count), (x, "compact"))
    swapped = values.clone()
    swapped[[0, 41]] = values[[41, 0]]
    assert values[0] != values[41]
    LADDER.check((swapped, count), (x, "compact_unordered"))
    for bad, op in (((swapped, count), "compact"), ((values, count - 1), "compact_unordered")):
        with pytest.raises(AssertionError):
            LADDER.check(bad, (x, op))
    for op in host.OF_GROUPS:
        right = LADDER.reference(x[:500].contiguous(), op)
        wrong = ~right if right.dtype == torch.bool else right + 1
        with pytest.raises(AssertionError):
            LADDER.check(wrong, (x[:500].contiguous(), op))


@pytest.mark.parametrize("arch", ["sm_80", "sm_100a"])
@pytest.mark.parametrize("name", [rung.name for rung in LADDER if rung.language == "cuda"])
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    least = "sm_75" if arch == "sm_80" and LADDER[name].arch == "sm_75" else arch
    assert compile_for(least) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "op"), [*GROUPS, *ON_TRITON])
def test_groups_on_a_gpu(name: str, op: str) -> None:
    for n in (1, 33, 1021, 1_000_003):
        for dtype in (torch.float32, torch.int32):
            verify_groups(name, op, sample(n, dtype, n % 3, "cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", COMPACTING)
def test_compaction_on_a_gpu(name: str) -> None:
    op = "compact" if name == "compact" else "compact_unordered"
    for dtype in DTYPES:
        for n in (1, 1021, 1_000_003, 2**24 + 7):
            verify_compaction(name, sample(n, dtype, n % 3, "cuda"), op, 2.75)


@pytest.mark.gpu
def test_more_elements_than_32_bits_count() -> None:
    n = 2**31 + 4099
    x = torch.zeros(n, device="cuda", dtype=torch.bfloat16)
    x[7], x[n - 5] = 2, 3
    values, count = LADDER["compact"](x)
    assert int(count) == 2
    assert values[:2].tolist() == [2, 3]


@pytest.mark.gpu
def test_a_graph_replays_it() -> None:
    x = torch.randn(1_000_003, device="cuda")
    LADDER["compact"](x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER["compact"](x)
    for _ in range(2):
        x.normal_()
        graph.replay()
        LADDER.check(out, (x, "compact"))
