"""Every rung of scan: torch's running sums and maxima, any size, type, alignment and value; segments."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.jit.launcher import Launcher
from flashpath.kernels.scan import host, problem, single_pass
from flashpath.kernels.scan.checking import allowed_error
from flashpath.vgpu.options import Options

LADDER = kernels.ladder("scan")
# Each kernel that includes CUB compiles for a second or two: cub_block has a test of its own.
RUNGS = [rung.name for rung in LADDER if rung.name != "cub_block"]
# Operations and types are independent of the rung, so these take them for all of the others.
THOROUGH = ["reference", "warp", "decoupled_lookback", "lookahead", "triton"]
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32]
INF, NAN = float("inf"), float("nan")


def sample(shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = math.prod(shape)
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    if dtype == torch.int32:
        full = torch.randint(-(2**31), 2**31, (n + offset,), generator=generator, device=device)
    else:
        full = torch.randn(n + offset, generator=generator, device=device) + 0.25
    return full.to(dtype)[offset:].view(shape)


def some_heads(shape: tuple[int, ...], every: int, offset: int = 0, device: str = "cpu") -> Any:
    """Random heads, about one in `every`, as bytes of any value, `offset` bytes into their storage."""
    n = math.prod(shape)
    generator = torch.Generator(device=device).manual_seed(n + every)
    full = torch.randint(0, 256 * every, (n + offset,), generator=generator, device=device)
    return torch.where(full < 256, full, 0).to(torch.uint8)[offset:].view(shape)


def run_poisoned(name: str, x: Any, op: str, exclusive: bool = False, flags: Any | None = None) -> Any:
    """The rung's result, out of a guarded buffer that held another value; x must stay as it is."""
    dtype = torch.int64 if x.dtype == torch.int32 and op == "sum" else x.dtype
    poison = NAN if dtype.is_floating_point else 0x7EADBEEF
    guard = 16 // dtype.itemsize  # so many elements that the output is aligned as a new one is
    guarded = torch.full((x.numel() + 2 * guard,), poison, dtype=dtype, device=x.device)
    copies = [each.clone() for each in (x, flags) if each is not None]
    out = guarded[guard : guard + x.numel()].view(x.shape)
    assert LADDER[name](x, op, exclusive, flags, out).data_ptr() == out.data_ptr()
    beside = torch.cat((guarded[:guard], guarded[guard + x.numel() :]))
    assert bool((beside.isnan() if dtype.is_floating_point else beside == poison).all()), "it wrote beside"
    for each, copy in zip((x, flags), copies, strict=False):
        torch.testing.assert_close(each, copy, rtol=0, atol=0, equal_nan=True)
    return out


def verify(name: str, x: Any, op: str, exclusive: bool = False, flags: Any | None = None) -> None:
    LADDER.check(run_poisoned(name, x, op, exclusive, flags), (x, op, exclusive, flags))


# ---- On the virtual GPU --------------------------------------------------------------------------------


# (n, offset): one block or several, whole packs or not, at a 16-byte boundary or not.
SIZES = [(1, 0), (31, 1), (257, 0), (8192, 0), (20_011, 1), (20_013, 0)]
SEGMENTED_SIZES = [(1021, 0, 7), (20_011, 0, 5000), (20_011, 1, 300)]  # (n, offset, elements per head)
# Triton compiles anew for each block size and alignment.
TRITON_SIZES = {torch.float32: [(257, 1), (20_011, 1)]}
# (op, type, exclusive)
FLOATS = [("sum", torch.float32, False), ("max", torch.float32, True)]
OTHERS = [("max", torch.bfloat16, True), ("sum", torch.int32, True)]


@pytest.mark.parametrize("name", RUNGS[1:])
def test_vectors(name: str) -> None:
    for op, dtype, exclusive in [*FLOATS, *OTHERS] if name in THOROUGH else FLOATS:
        for n, offset in TRITON_SIZES.get(dtype, [(20_011, 1)]) if name == "triton" else SIZES:
            verify(name, sample((n,), dtype, offset), op, exclusive)


@pytest.mark.parametrize("name", RUNGS[1:])
def test_segments(name: str) -> None:
    """Few heads, so that blocks and tiles without one hand on what they get; and many; misaligned or not."""
    for op, dtype, exclusive in (FLOATS[0], ("max", torch.int32, True))[: 1 + (name in THOROUGH)]:
        for n, offset, every in SEGMENTED_SIZES[2:] if name == "triton" else SEGMENTED_SIZES:
            x, flags = sample((n,), dtype, offset), some_heads((n,), every, 3 * offset)
            verify(name, x, op, exclusive, flags)
    flags = torch.zeros(20_012, dtype=torch.bool)[1:]
    flags[[0, 1, 2, 256, 2048, 5000, 20_010]] = True
    verify(name, sample((20_011,), torch.float32, 1), "sum", False, flags)


@pytest.mark.parametrize("name", RUNGS[1:])
def test_rows(name: str) -> None:
    for shape, offset in (((1, 5), 0), ((5, 333), 1), ((3, 2504), 0)):
        verify(name, sample(shape, torch.float32, offset), "sum", False)
    verify(name, sample((3, 2504), torch.float32), "sum", False, some_heads((3, 2504), 500))


@pytest.mark.parametrize(("gpu", "of_a_long_vector"), [("A100", "4, float"), ("H200", "4, 2, float")])
def test_the_fastest_rung_for_a_shape(
    monkeypatch: pytest.MonkeyPatch, gpu: str, of_a_long_vector: str
) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", gpu)
    monkeypatch.setattr(host, "LONG_VECTOR", 20_000)
    for shape, offset, kernel in (
        ((19_999,), 0, "4, float"),
        ((20_011,), 0, of_a_long_vector),
        ((20_011,), 1, "1, float"),
        ((3, 333), 0, "1, 1, float"),
        ((2, 20_012), 0, "8, 4, float"),
    ):
        x = sample(shape, torch.float32, offset)
        with fp.watch() as reports:
            LADDER.check(host.fastest(x), (x, "sum", False, None))
        assert [report.kernel for report in reports] == [f"scan<Whole<Sum<float>>, {kernel}>"]


def test_every_operation_on_every_type() -> None:
    for op in problem.OPERATIONS:
        for dtype in DTYPES:
            verify("warp", sample((509,), dtype, 1), op)


def test_tiles_of_several_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 tiles are 2^18 elements at least: here a group is 32 tiles, so that carries are handed on."""
    text = (problem.FOLDER / "lookback.cuh").read_text(encoding="utf-8")
    small = text.replace("kGroup = 64", "kGroup = 32")
    assert small != text
    source = single_pass.DECOUPLED_LOOKBACK.read_text(encoding="utf-8").replace(
        '#include "lookback.cuh"', small
    )
    monkeypatch.setattr(single_pass, "GROUP", 32)

    def cuda_kernel(_: object, name: str, __: object) -> fp.Kernel:
        return fp.compile(source, includes=[problem.FOLDER], name_expressions=[name])[name]

    monkeypatch.setattr(single_pass, "cuda_kernel", cuda_kernel)
    tile = 256 * 16  # of int32, whose sums are int64
    for n in (32 * tile, 33 * tile - 5, 70 * tile + 77):
        verify("decoupled_lookback", sample((n,), torch.int32), "sum", True)
    verify("decoupled_lookback", sample((2, 35 * tile + 2), torch.int32), "sum")
    n = 70 * tile
    verify("decoupled_lookback", sample((n,), torch.int32), "sum", False, some_heads((n,), 40 * tile))
    with fp.watch(sanitize=True) as reports:
        verify("decoupled_lookback", sample((35 * tile,), torch.int32), "sum")
    assert [report.findings for report in reports] == [()]


@pytest.mark.parametrize("name", RUNGS)
def test_nan_and_infinity_are_torchs(name: str) -> None:
    many = [1.0] * 300
    for op, values in [
        ("sum", [*many, NAN, *many]),
        ("sum", [*many, INF, *many, -INF, 1.0]),
        ("sum", [3e38, 3e38, 1.0]),
        ("max", [*many, NAN, 3.0, INF]),
        ("max", [-INF] * 600),
        ("max", [*many, INF, *many]),
    ]:
        x = torch.tensor(values)
        expected = torch.cumsum(x, 0) if op == "sum" else torch.cummax(x, 0).values
        result = run_poisoned(name, x, op)
        special = ~expected.isfinite()
        torch.testing.assert_close(result[special], expected[special], rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(result[~special], expected[~special], rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", RUNGS)
def test_a_head_holds_back_nan_and_infinity(name: str) -> None:
    """Sums of a segment know nothing of the one before: no running sum is subtracted."""
    x = torch.ones(600)
    x[[10, 299]] = torch.tensor([INF, NAN])
    flags = torch.zeros(600, dtype=torch.bool)
    flags[300] = True
    result = run_poisoned(name, x, "sum", False, flags)
    assert result[300:].tolist() == list(range(1, 301))
    assert result[299].isnan()
    exclusive = run_poisoned(name, x, "sum", True, flags)
    assert exclusive[[0, 300, 301]].tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", THOROUGH)
def test_an_exclusive_maximum_starts_with_the_least_value(name: str) -> None:
    for dtype, least in ((torch.float16, -INF), (torch.int32, -(2**31))):
        result = run_poisoned(name, torch.tensor([5, 7, 6], dtype=dtype), "max", True)
        assert result.tolist() == [least, 5, 7]


@pytest.mark.parametrize("name", THOROUGH)
def test_int32_sums_are_int64(name: str) -> None:
    result = run_poisoned(name, torch.full((600,), 2**31 - 1, dtype=torch.int32), "sum")
    assert result.dtype == torch.int64
    assert result.tolist() == [i * (2**31 - 1) for i in range(1, 601)]


@pytest.mark.parametrize("name", THOROUGH)
def test_half_sums_are_rounded_once_each(name: str) -> None:
    """Ones in float16: a running sum that stayed in float16 would stop at 2048."""
    result = run_poisoned(name, torch.ones(4100, dtype=torch.float16), "sum")
    assert torch.equal(result, torch.arange(1, 4101).to(torch.float16))


@pytest.mark.parametrize("name", RUNGS)
def test_nothing_has_no_prefixes(name: str) -> None:
    for shape in ((0,), (0, 5), (5, 0)):
        x = torch.empty(shape)
        for flags in (None, torch.empty(shape, dtype=torch.bool)):
            assert LADDER[name](x, "max", True, flags).shape == shape


def test_cub_block_scans_as_the_others_do() -> None:
    """Two kernels, of elements and of totals; in segments, which ask more of ⊕ than a plain sum does."""
    for n, offset in SIZES:
        x, flags = sample((n,), torch.float32, offset), some_heads((n,), 5000, offset)
        for exclusive in (False, True):
            verify("cub_block", x, "sum", exclusive, flags)
    x, flags = sample((5001,), torch.float32), some_heads((5001,), 3000)
    with fp.watch(sanitize=True) as reports:
        verify("cub_block", x, "sum", False, flags)
    assert [report.findings for report in reports] == [()] * 3


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong(name: str) -> None:
    x = sample((5001,), torch.float32, 1)
    with fp.watch(sanitize=True) as reports:
        verify(name, x, "sum")
        verify(name, x, "sum", True, some_heads((5001,), 300, 1))
        verify(name, sample((2, 2504), torch.float32), "sum")
    assert reports
    assert [finding for report in reports for finding in report.findings] == []


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


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [rung.name for rung in LADDER])
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    good = torch.ones(4, 8)
    for args, says in [
        ((good, "product"), "sum, max"),
        ((good.double(),), "float32"),
        ((good.t(),), "contiguous"),
        ((good[None],), "row by row"),
        ((good, "sum", False, torch.ones(4, 8)), "uint8"),
        ((good, "sum", False, torch.ones(8, dtype=torch.bool)), r"\(4, 8\)"),
        ((good, "sum", False, None, torch.empty(3)), "must have shape"),
        ((good.int(), "sum", False, None, torch.empty(4, 8, dtype=torch.int32)), "int64"),
        ((good, "sum", False, None, good), "overlaps"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)


def test_the_ladders_check_can_fail() -> None:
    x, flags = sample((4099,), torch.float32), some_heads((4099,), 500)
    for op in problem.OPERATIONS:
        for exclusive in (False, True):
            right = LADDER.reference(x, op, exclusive, flags)
            LADDER.check(right, (x, op, exclusive, flags))
            shifted = right.clone()
            shifted[2000:] += x[1999].abs()
            for bad in (shifted, right[None], right.to(torch.float16)):
                with pytest.raises(AssertionError):
                    LADDER.check(bad, (x, op, exclusive, flags))
    assert allowed_error(x, False, None).max() < x.abs().mean() / 50  # a lost element shows


@pytest.mark.parametrize("arch", ["sm_75", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    rung = LADDER[name]
    assert rung.compile_for is not None
    assert rung.compile_for(rung.arch if arch == "sm_75" else arch) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS)
def test_vectors_on_a_gpu(name: str) -> None:
    for op in problem.OPERATIONS:
        for dtype in DTYPES if name in THOROUGH else DTYPES[:1]:
            for n, offset in ((1, 0), (31, 3), (8192, 0), (65_537, 1), (1_000_003, 0), (2**22 + 7, 1)):
                verify(name, sample((n,), dtype, offset, "cuda"), op, exclusive=n % 2 == 0)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [rung.name for rung in LADDER])
def test_segments_and_rows_on_a_gpu(name: str) -> None:
    for n, every in ((65_537, 100), (4_000_003, 200_000)):
        x, flags = sample((n,), torch.float32, 0, "cuda"), some_heads((n,), every, 0, "cuda")
        verify(name, x, "sum", n % 2 == 0, flags)
    for shape in ((1000, 129), (129, 5000), (3, 1_000_003), (2, 2**21)):
        verify(name, sample(shape, torch.float32, 0, "cuda"), "sum")


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str) -> None:
    x = sample((10_000_019,), torch.float32, device="cuda")
    first = LADDER[name](x)
    assert all(torch.equal(LADDER[name](x), first) for _ in range(100))


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["warp", "decoupled_lookback", "lookahead", "triton"])
def test_more_elements_than_32_bits_count(name: str) -> None:
    n = 2**31 + 4099
    free, _ = torch.cuda.mem_get_info()
    if free < 6 * n:
        pytest.skip(f"needs {6 * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(n, device="cuda", dtype=torch.bfloat16)
    x[[7, n - 5]] = torch.tensor([2.0, 3.0], device="cuda", dtype=torch.bfloat16)
    out = LADDER[name](x)
    assert out[[6, 7, 2**31 + 1, n - 6, n - 5, n - 1]].tolist() == [0, 2, 2, 2, 5, 5]
    assert out.float().sum(dtype=torch.float64).item() == 2 * (n - 12) + 5 * 5


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["decoupled_lookback", "lookahead"])
def test_tiles_that_wait_on_two_streams_at_once(name: str) -> None:
    x = sample((2**22,), torch.float32, device="cuda")
    expected = LADDER[name](x)
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    results: list[Any] = []
    for _ in range(50):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(LADDER[name](x))
    torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    x = sample((1_000_003,), torch.float32, device="cuda")
    LADDER[name](x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](x)
    for scale in (2, 3):
        x *= scale
        graph.replay()
        LADDER.check(out, (x, "sum", False, None))
