"""Every rung of transpose: torch's result bit for bit, for any shape, type and alignment."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.transpose import host
from tests.harness.guarded_output import run_guarded
from tests.harness.launches import nothing_found

LADDER = kernels.ladder("transpose")
RUNGS = [rung.name for rung in LADDER]
TRANSPOSES = [name for name in RUNGS if name != "copy"]
TILED = ["naive", "coalesced", "padded", "swizzled"]
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32]
BITS = {2: torch.int16, 4: torch.int32}


def sample(shape: tuple[int, int], dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random bits, NaN with all payloads among them, `offset` elements into their storage."""
    rows, cols = shape
    generator = torch.Generator(device=device).manual_seed(rows * 31 + cols * 7 + offset)
    bits = BITS[dtype.itemsize]
    info = torch.iinfo(bits)
    n = rows * cols + offset
    return (
        torch.randint(info.min, info.max + 1, (n,), dtype=bits, generator=generator, device=device)
        .view(dtype)[offset:]
        .view(shape)
    )


def verify(name: str, x: Any, offset: int = 0) -> None:
    """Into a guarded buffer that held other bits, `offset` elements into it; x must stay as it is."""
    operation = "copy" if name == "copy" else "transpose"
    like = x if operation == "copy" else x.T
    out = run_guarded(LADDER[name], x, operation, like=like, offset=offset)
    LADDER.check(out, (x, operation))


# ---- On the virtual GPU --------------------------------------------------------------------------------

# (shape, offset of x, offset of out): one tile and several, whole and cut; rows of 16-byte packs and not.
CASES = [
    ((1, 1), 0, 0),
    ((1, 97), 0, 0),
    ((64, 128), 0, 0),
    ((67, 131), 1, 0),
    ((136, 264), 0, 0),
    ((256, 128), 0, 0),
    ((260, 132), 0, 4),
    ((70, 34), 2, 0),
]


@pytest.mark.parametrize("name", RUNGS)
def test_bit_for_bit(name: str) -> None:
    # Triton compiles anew for every divisibility of its arguments.
    for shape, offset, out_offset in [CASES[3], CASES[4]] if name == "triton" else CASES:
        for dtype in (torch.float32, torch.bfloat16):
            verify(name, sample(shape, dtype, offset), out_offset)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["copy", "vectorized", "triton"])
def test_every_type(name: str, dtype: torch.dtype) -> None:
    verify(name, sample((72, 40), dtype))


def test_vectorized_takes_the_widest_packs_that_both_sides_allow() -> None:
    for shape, offset, out_offset, width in [
        ((136, 264), 0, 0, 8),
        ((136, 260), 0, 0, 4),
        ((130, 264), 0, 0, 2),
        ((136, 264), 4, 0, 4),
        ((136, 264), 0, 2, 2),
        ((135, 264), 0, 0, 1),
    ]:
        x = sample(shape, torch.bfloat16, offset)
        out = torch.empty(x.numel() + out_offset, dtype=x.dtype)[out_offset:].view(shape[::-1])
        assert host.square_width(x, out) == width
        verify("vectorized", x, out_offset)


@pytest.mark.parametrize("name", RUNGS)
def test_nothing(name: str) -> None:
    for shape in ((0, 5), (5, 0), (0, 0)):
        verify(name, torch.empty(shape))


@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_sanitizer_finds_nothing(name: str) -> None:
    with nothing_found(launches=2):
        for shape, dtype in (((72, 136), torch.bfloat16), ((35, 67), torch.float32)):
            verify(name, sample(shape, dtype))


# ---- What the headers say ------------------------------------------------------------------------------


def counted(name: str, x: Any) -> Any:
    with fp.watch() as reports:
        LADDER[name](x)
    (report,) = reports
    return report


@pytest.mark.parametrize(("dtype", "ideal", "conflicts"), [(torch.float32, 4, 31), (torch.bfloat16, 2, 15)])
def test_sectors_and_conflicts_of_the_tiled_rungs(dtype: torch.dtype, ideal: int, conflicts: int) -> None:
    reports = {name: counted(name, sample((64, 96), dtype)) for name in TILED}
    sectors = {name: each.global_store.sectors / each.global_store.requests for name, each in reports.items()}
    assert sectors == {"naive": 32, "coalesced": ideal, "padded": ideal, "swizzled": ideal}
    passes = {
        name: each.shared_load.bank_conflicts / each.shared_load.requests
        for name, each in reports.items()
        if name != "naive"
    }
    assert passes == {"coalesced": conflicts, "padded": 0, "swizzled": 0}
    assert all(each.shared_store.bank_conflicts == 0 for each in reports.values())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_vectorized_moves_16_bytes_everywhere_with_no_conflict(dtype: torch.dtype) -> None:
    x = sample((256, 128), dtype)
    report = counted("vectorized", x)
    packs = x.numel() * x.element_size() // (32 * 16)  # of a warp
    for access in (report.global_load, report.global_store):
        assert (access.requests, access.sectors) == (packs, 16 * packs)
    assert report.shared_load.bank_conflicts == report.shared_store.bank_conflicts == 0
    assert report.dram_bytes == 2 * x.numel() * x.element_size()


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    operation = "copy" if name == "copy" else "transpose"
    good = torch.ones(4, 8)
    for args, says in [
        ((good, "rotate"), "transpose, copy"),
        ((good.double(), operation), "float32"),
        ((good[0], operation), "2 dimensions"),
        ((good.t(), operation), "contiguous"),
        ((good, operation, torch.empty(3, 3)), "must have shape"),
        ((good, operation, good.view(-1).view(8, 4) if operation == "transpose" else good), "overlaps"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)


def test_rungs_say_who_takes_the_other_operation() -> None:
    x = torch.ones(4, 8)
    for name in TRANSPOSES[1:]:
        with pytest.raises(FlashpathError, match="take copy"):
            LADDER[name](x, "copy")
    with pytest.raises(FlashpathError, match="take vectorized"):
        LADDER["copy"](x, "transpose")


def test_the_ladders_check_can_fail() -> None:
    x = torch.zeros(5, 7)
    LADDER.check(x.t().contiguous(), (x, "transpose"))
    wrong = x.t().contiguous()
    wrong[3, 2] = -0.0
    for bad in (wrong, x, x.t().contiguous().int()):
        with pytest.raises(AssertionError):
            LADDER.check(bad, (x, "transpose"))
    with pytest.raises(AssertionError):
        LADDER.check(x.t().contiguous(), (x, "copy"))


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
def test_bit_for_bit_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for shape in ((1, 1), (1, 100_003), (100_003, 1), (257, 1031), (1024, 2048), (2056, 1160), (1030, 4098)):
        for offset, out_offset in ((0, 0), (1, 0), (0, 2)):
            verify(name, sample(shape, dtype, offset, "cuda"), out_offset)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_more_elements_than_32_bits_count(name: str) -> None:
    rows, cols = 46_352, 46_344  # multiples of 8, and 2^31 + 654,000 elements
    assert rows * cols > 2**31
    free, _ = torch.cuda.mem_get_info()
    if free < 5 * rows * cols:
        pytest.skip(f"needs {5 * rows * cols / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = sample((rows, cols), torch.float16, device="cuda")
    result = LADDER[name](x).view(torch.int16)
    expected = x.view(torch.int16) if name == "copy" else x.view(torch.int16).t()
    for part in (slice(64), slice(23_000, 23_064), slice(-64, None)):
        assert torch.equal(result[part], expected[part])


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    operation = "copy" if name == "copy" else "transpose"
    x = sample((1000, 1016), torch.int32, device="cuda")
    LADDER[name](x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](x)
    for value in (2, 3):
        x += value
        graph.replay()
        LADDER.check(out, (x, operation))
