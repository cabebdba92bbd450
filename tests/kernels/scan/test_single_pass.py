"""The scans in one pass: tiles that wait for each other are right and clean in every schedule."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.jit.launcher import Launcher
from flashpath.kernels.scan import problem, single_pass
from flashpath.vgpu.options import Options
from tests.harness.scan_checks import LADDER, NAN, sample, verify


def lookback_launch(x: Any, out: Any) -> tuple[Any, ...]:
    board = single_pass.boards(x, 64)
    return (x.numel(), 5, x, None, False, board.launch, board.words, board.ticket, out)


LOOKBACK = "scan<Whole<Sum<float>>, 1, float>"
FIVE_TILES = 5 * 256 * 32 - 5


def test_look_back_is_right_and_clean_in_every_schedule() -> None:
    """Five tiles in other orders; what is published carries its own proof of being there."""
    x, out = sample((FIVE_TILES,), torch.float32), torch.empty(FIVE_TILES)
    kernel: Any = single_pass.cuda_kernel(single_pass.DECOUPLED_LOOKBACK, LOOKBACK, x)
    assert fp.sanitize(kernel, 5, 256, lookback_launch(x, out), seeds=3) == []
    results: list[Any] = []
    for seed in range(5):
        Launcher(kernel, kernel[5, 256].shape, Options(seed=seed))(*lookback_launch(x, out.fill_(NAN)))
        results.append(out.clone())
    LADDER.check(results[0], (x, "sum", False, None))
    assert all(torch.equal(results[0], result) for result in results), "the bits depend on who was first"


def test_words_that_come_apart_are_found() -> None:
    """The value and the launch's number as two plain stores, read by two plain loads: a race."""
    text = (problem.FOLDER / "lookback.cuh").read_text(encoding="utf-8")
    plain = text.replace("st.relaxed.gpu.global.u64", "st.global.u64").replace(
        "ld.relaxed.gpu.global.u64", "ld.global.u64"
    )
    assert plain.count("relaxed.gpu") == 0
    source = single_pass.DECOUPLED_LOOKBACK.read_text(encoding="utf-8").replace(
        '#include "lookback.cuh"', plain
    )
    x, out = torch.ones(FIVE_TILES), torch.empty(FIVE_TILES)
    kernel = fp.compile(source, includes=[problem.FOLDER], name_expressions=[LOOKBACK])[LOOKBACK]
    findings = fp.sanitize(kernel, 5, 256, lookback_launch(x, out))
    assert "race" in {finding.kind for finding in findings}


def test_words_of_an_earlier_launch_are_not_taken() -> None:
    """The board keeps what the last launch left; the ticket is back at 0."""
    kernel = single_pass.cuda_kernel(single_pass.DECOUPLED_LOOKBACK, LOOKBACK, torch.empty(0))
    board = single_pass.boards(torch.empty(0), 64)
    for launch in (1, 2):
        x = sample((FIVE_TILES,), torch.float32, launch)
        out = torch.full_like(x, NAN)
        kernel[5, 256](x.numel(), 5, x, None, False, launch, board.words, board.ticket, out)
        assert board.ticket.view(torch.int32)[0].item() == 0
        LADDER.check(out, (x, "sum", False, None))


INT_TILE = single_pass.RING_THREADS * 16  # int32, whose sums are int64: the smallest tile


def with_blocks(monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
    """As many blocks as a GPU with so many SMs would have; the virtual one counts as one."""

    def sm_count(_: object) -> int:
        return blocks

    monkeypatch.setattr(single_pass, "sm_count", sm_count)


@pytest.mark.parametrize(
    ("blocks", "ring", "n"),
    [
        (3, (4, 2), 30 * INT_TILE - 3),  # more tiles than all slots
        (2, (3, 2), 9 * INT_TILE),
        (1, (4, 1), 9 * INT_TILE + 1),
        (5, (2, 1), 24 * INT_TILE + 5),
        (4, (4, 3), 3 * INT_TILE - 1),  # fewer tiles than blocks
    ],
)
def test_rings_of_any_shape(
    monkeypatch: pytest.MonkeyPatch, blocks: int, ring: tuple[int, int], n: int
) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "H200")
    with_blocks(monkeypatch, blocks)
    for op, exclusive in (("sum", True), ("max", False)):
        x = sample((n,), torch.int32)
        out = single_pass.lookahead(x, op, exclusive, ring=ring)
        LADDER.check(out, (x, op, exclusive, None))


def test_the_ring_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.empty(0)
    for gpu, ring in (("H200", (4, 2)), ("B200", (4, 2)), ("A100", (3, 1)), ("RTX 4090", None)):
        monkeypatch.setenv("FLASHPATH_DEVICE", gpu)
        assert single_pass.ring_for(x) == ring


def test_a_ledger_of_several_groups_and_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a trip fetches one part of 32 tiles, and a group is two of them."""
    text = (problem.FOLDER / "ledger.cuh").read_text(encoding="utf-8")
    small = text.replace("kPartsPerTrip = 6", "kPartsPerTrip = 1").replace(
        "kPartsPerGroup = 4", "kPartsPerGroup = 2"
    )
    source = single_pass.LOOKAHEAD.read_text(encoding="utf-8").replace('#include "ledger.cuh"', small)

    def cuda_kernel(_: object, name: str, __: object) -> fp.Kernel:
        return fp.compile(source, includes=[problem.FOLDER], name_expressions=[name])[name]

    monkeypatch.setattr(single_pass, "cuda_kernel", cuda_kernel)
    for blocks, tiles in ((1, 132), (40, 200)):
        with_blocks(monkeypatch, blocks)
        verify("lookahead", sample((tiles * INT_TILE - 7,), torch.int32), "sum")


def test_a_ring_is_right_and_clean_in_every_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three blocks and twenty tiles in other orders, as ledgers of other lengths see them: the same bits."""
    name, tiles, slots = "scan<Whole<Sum<float>>, 3, 2, float>", 20, 3
    x = sample((tiles * 2 * INT_TILE - 5,), torch.float32)
    out = torch.empty_like(x)
    kernel: Any = single_pass.cuda_kernel(single_pass.LOOKAHEAD, name, x)
    shape = (single_pass.RING_THREADS + 32, slots * single_pass.SLOT_BYTES)

    def arguments() -> tuple[Any, ...]:
        board = single_pass.boards(x, tiles)
        return (x.numel(), tiles, x, False, board.launch, board.words, board.ticket, out.fill_(NAN))

    with fp.watch(sanitize=True) as reports:
        with_blocks(monkeypatch, 3)
        verify("lookahead", sample((70_001,), torch.float32), "sum", True)
    assert [report.findings for report in reports] == [()]
    results: list[Any] = []
    for blocks, seed in ((1, 0), (3, 0), (3, 1), (3, 2), (7, 3)):
        launched = arguments()
        Launcher(kernel, kernel[blocks, *shape].shape, Options(seed=seed))(*launched)
        assert launched[6].view(torch.int32)[0].item() == 0  # the ticket
        results.append(out.clone())
    LADDER.check(results[0], (x, "sum", False, None))
    assert all(torch.equal(results[0], result) for result in results), "the bits depend on who was first"


# ---- What the headers say ------------------------------------------------------------------------------


def test_each_rung_mends_what_the_one_before_suffers_from() -> None:
    reports: dict[str, Any] = {}
    for name, n in (("hillis_steele", 256), ("blelloch", 512), ("blelloch_padded", 512), ("warp", 256)):
        with fp.watch() as launches:
            LADDER[name](torch.ones(n))
        (reports[name],) = launches
    conflicts = {
        name: each.shared_load.bank_conflicts + each.shared_store.bank_conflicts
        for name, each in reports.items()
    }
    assert conflicts == {"hillis_steele": 0, "blelloch": 525, "blelloch_padded": 0, "warp": 0}
    barriers = {name: each.instructions_by_class["barrier"] // 256 for name, each in reports.items()}
    assert barriers == {"hillis_steele": 9, "blelloch": 20, "blelloch_padded": 20, "warp": 1}


def test_look_back_moves_each_element_once() -> None:
    n = 2**16
    x = torch.ones(n)
    traffic: dict[str, int] = {}
    for name in ("warp", "decoupled_lookback", "lookahead"):
        with fp.watch() as launches:
            LADDER[name](x)
        traffic[name] = sum(report.dram_bytes for report in launches)
    assert 12 * n <= traffic["warp"] < 12.5 * n
    assert 8 * n <= traffic["decoupled_lookback"] < 8.1 * n
    assert 8 * n <= traffic["lookahead"] < 8.1 * n


@pytest.mark.parametrize(("kind", "width"), [("float", 4), ("__half", 8)])
def test_look_back_moves_16_bytes_at_once(kind: str, width: int) -> None:
    name = f"scan<Whole<Sum<{kind}>>, {width}, {kind}>"
    ptx = single_pass.cuda_kernel(single_pass.DECOUPLED_LOOKBACK, name, torch.empty(0)).ptx
    assert (ptx.count("ld.global.nc.v4."), ptx.count("st.global.cs.v4.")) == (8, 8)
    assert ptx.count("ld.shared.v4.") >= 16


@pytest.mark.parametrize("kind", ["float", "__half", "int"])
def test_the_ring_copies_16_bytes_at_once_and_stores_plainly(kind: str) -> None:
    """Twice, before the loop and in it."""
    name = f"scan<Whole<Sum<{kind}>>, 4, 2, {kind}>"
    ptx = single_pass.cuda_kernel(single_pass.LOOKAHEAD, name, torch.empty(0)).ptx
    assert ptx.count("cp.async.cg.shared.global.L2::256B") >= 2 * 4
    assert (ptx.count("st.global.wb.v4."), ptx.count("st.global.cs.")) == (8, 0)
