"""Every rung of scan: torch's running sums and maxima, any size, type, alignment and value; segments."""

from __future__ import annotations

import pytest
import torch

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.kernels.scan import host, problem, single_pass
from flashpath.kernels.scan.checking import allowed_error
from tests.harness.launches import nothing_found
from tests.harness.scan_checks import (
    DTYPES,
    INF,
    LADDER,
    NAN,
    RUNGS,
    THOROUGH,
    run_poisoned,
    sample,
    some_heads,
    verify,
)

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
            LADDER.check(LADDER.best(x).rung(x), (x, "sum", False, None))
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
    with nothing_found(launches=1):
        verify("decoupled_lookback", sample((35 * tile,), torch.int32), "sum")


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
    with nothing_found(launches=3):
        verify("cub_block", x, "sum", False, flags)


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong(name: str) -> None:
    x = sample((5001,), torch.float32, 1)
    with nothing_found():
        verify(name, x, "sum")
        verify(name, x, "sum", True, some_heads((5001,), 300, 1))
        verify(name, sample((2, 2504), torch.float32), "sum")


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
