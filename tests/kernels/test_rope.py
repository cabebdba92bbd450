"""Every rung of rope: near float64 for any shape, stride, alignment, position and pairing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.rope import host
from flashpath.kernels.rope.ladder import cos_and_sin
from flashpath.kernels.rope.problem import prepare
from flashpath.kernels.rope.reference import truth
from tests.harness.guarded_output import Guarded, unchanged

LADDER = kernels.ladder("rope")
RUNGS = [rung.name for rung in LADDER]
BF16 = torch.bfloat16
ROWS = 24


def drawn(*shape: int, dtype: Any = BF16, offset: int = 0, seed: int = 0, device: str = "cpu") -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = torch.Size(shape).numel()
    generator = torch.Generator().manual_seed(n * 31 + 7919 * seed)
    return (torch.randn(n + offset, generator=generator) * 3 + 0.3).to(device, dtype)[offset:].view(shape)


def problem(
    size: tuple[int, ...] = (2, 5, 3, 2, 16),
    pairs: int = 8,
    dtype: Any = BF16,
    angles: Any = torch.float32,
    *,
    offset: int = 0,
    device: str = "cpu",
) -> list[Any]:
    """q, k, cos, sin; the size is (batch, sequence, heads, kv_heads, dim)."""
    batch, sequence, heads, kv_heads, dim = size
    q, k = (
        drawn(batch, sequence, n, dim, dtype=dtype, offset=offset, seed=n, device=device)
        for n in (heads, kv_heads)
    )
    return [q, k, *cos_and_sin(ROWS, pairs, device, angles)]


def run(rung: str, given: list[Any], *rest: Any, offset: int = 0, **options: Any) -> Any:
    """The rung's results in poisoned buffers; what lies around them and the inputs are as they were."""
    q, k = given[:2]
    guarded = [None if x is None else Guarded(x.contiguous(), offset) for x in (q, k)]
    outputs: Any = tuple(None if each is None else each.output for each in guarded)
    with unchanged(*given, *rest):
        results = LADDER[rung](*given, *rest, out=outputs, **options)
    for result, output, each in zip(results, outputs, guarded, strict=True):
        assert (result is None) == (each is None)
        if each is not None:
            assert result.data_ptr() == output.data_ptr()
            each.check()
    return outputs


def assert_right(results: Any, given: list[Any], *rest: Any) -> None:
    """The ladder's own check; and each element of a half type is rounded once, from a float32 nearby."""
    defaults = (None, 0, False, False)
    full = (*given, *rest, *defaults[len(rest) :])
    LADDER.check(results, full)
    exacts: Any = truth(*full)
    for got, exact in zip(results, exacts, strict=True):
        if got is not None and got.itemsize == 2 and got.numel():
            info = torch.finfo(got.dtype)
            allowed = 1.001 * (info.eps / 2 * exact.abs() + info.smallest_normal) + 1e-6 * exact.abs().max()
            assert bool(((got.double() - exact).abs() <= allowed).all())


# ---- On the virtual GPU ----------------------------------------------------------------------------------

TYPES = [
    (torch.float32, torch.float32),
    (torch.float16, torch.float32),
    (BF16, torch.float32),
    (BF16, BF16),
]


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("rung", RUNGS)
def test_every_rung(rung: str, interleaved: bool, inverse: bool) -> None:
    dtype, angles = TYPES[(RUNGS.index(rung) + 2 * interleaved + inverse) % len(TYPES)]
    given = problem((2, 5, 8, 2, 64), 32, dtype, angles)
    rest = (None, 3, interleaved, inverse)
    assert_right(run(rung, given, *rest), given, *rest)


SIZES = [
    ((1, 1, 1, 1, 2), 1),
    ((2, 3, 5, 1, 10), 3),  # four elements of a head stay
    ((1, 4, 3, 3, 7), 2),  # and three
    ((3, 1, 2, 1, 96), 16),
    ((1, 2, 9, 4, 6), 0),  # nothing turns
    ((2, 3, 2, 1, 520), 260),
    ((1, 2, 40, 8, 128), 64),  # more than a block's threads for a token
]


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_any_size_and_alignment(rung: str, interleaved: bool) -> None:
    for size, pairs in SIZES:
        for offset in (0, 1, 4) if rung == "vectorized" else (0, 1):
            given = problem(size, pairs, offset=offset)
            rest = (None, 0, interleaved)
            assert_right(run(rung, given, *rest, offset=offset), given, *rest)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize(
    "size", [(0, 3, 2, 1, 8), (2, 0, 2, 1, 8), (1, 2, 0, 0, 8), (1, 2, 0, 3, 8)], ids=str
)
def test_nothing(rung: str, size: tuple[int, ...]) -> None:
    given = problem(size, 4)
    assert_right(run(rung, given), given)


POSITIONS: dict[str, Callable[[], Any]] = {
    "of each token": lambda: torch.tensor([[3, 1, 23, 0, 7], [9, 9, 2, 22, 5]]),
    "of one sequence": lambda: torch.tensor([[3, 1, 23, 0, 7]], dtype=torch.int32),
    "counted from": lambda: torch.tensor([[19], [4]], dtype=torch.int32),
    "counted from one": lambda: torch.tensor([[19]]),
    "strided": lambda: torch.tensor([[3, 9], [1, 9], [23, 2], [0, 22], [7, 5]]).t(),
}


@pytest.mark.parametrize("kind", POSITIONS)
@pytest.mark.parametrize("rung", RUNGS)
def test_positions(rung: str, kind: str) -> None:
    given, rest = problem(), (POSITIONS[kind](), 0, False)
    assert_right(run(rung, given, *rest), given, *rest)


@pytest.mark.parametrize("rung", RUNGS)
def test_a_position_without_a_row_turns_nothing(rung: str) -> None:
    given = problem((1, 4, 2, 1, 16))
    far = torch.tensor([[0, -1, ROWS, 2**31 - 1]], dtype=torch.int32)
    q, k = run(rung, given, far)
    assert_right((q, k), given, far)
    for got, x in zip((q, k), given[:2], strict=True):
        assert torch.equal(got[:, 1:], x[:, 1:])


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("rung", RUNGS)
def test_a_row_for_each_token(rung: str, batch: int) -> None:
    """As Hugging Face has them: the angles of both halves in one row, of which the first are taken."""
    q, k, *_ = problem()
    angles = drawn(batch, 5, 16, dtype=torch.float32)
    given = [q, k, angles.cos()[..., :8], angles.sin()[..., :8]]
    assert_right(run(rung, given), given)


@pytest.mark.parametrize("rung", RUNGS)
def test_any_strides_but_the_last(rung: str) -> None:
    _, _, *angles = problem()
    fused = drawn(2, 5, 7, 16)  # (q, k, v) side by side
    heads_first = [drawn(2, n, 5, 16).transpose(1, 2) for n in (3, 2)]
    one_for_all = drawn(1, 5, 3, 16).expand(2, 5, 3, 16)
    for q, k in ((fused[:, :, :3], fused[:, :, 3:5]), heads_first, (one_for_all, None)):
        given = [q, k, *angles]
        assert_right(run(rung, given), given)


@pytest.mark.parametrize("rung", RUNGS[1:])
def test_infinities_and_nan_reach_their_pair_only(rung: str) -> None:
    given = problem((1, 3, 2, 1, 16))
    given[0][0, 1, 1, 2], given[0][0, 1, 1, 5] = float("inf"), float("nan")
    q, k = run(rung, given)
    exact = truth(*given)[0]
    assert torch.equal(q.isfinite(), exact.isfinite())
    assert torch.equal(q.isnan(), exact.isnan())
    assert int((~q.isfinite()).sum()) == 4
    assert bool(k.isfinite().all())


@pytest.mark.parametrize("rung", RUNGS)
def test_turned_and_turned_back(rung: str) -> None:
    given = problem(dtype=torch.float32)
    q, k = run(rung, given, None, 2, True)
    back = run(rung, [q, k, *given[2:]], None, 2, True, True)
    torch.testing.assert_close(back, (given[0], given[1]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rung", RUNGS[1:])
def test_every_choice(rung: str) -> None:
    given = problem((1, 3, 6, 3, 64), 16)
    for option, values in LADDER[rung].choices.items():
        for value in values:
            options: dict[str, Any] = {option: value}
            assert_right(run(rung, given, None, 1, False, False, **options), given, None, 1)


@pytest.mark.parametrize("rung", RUNGS[1:])
def test_the_sanitizer_finds_nothing(rung: str, findings: list[Any]) -> None:
    for size, pairs, interleaved in (((2, 3, 5, 2, 40), 12, False), ((1, 2, 3, 1, 10), 3, True)):
        LADDER[rung](*problem(size, pairs), POSITIONS["counted from one"]() * 0, 0, interleaved)
    assert findings == []


def test_the_width_of_an_access() -> None:
    def width(pairs: int, dim: int, offset: int = 0, angles: Any = torch.float32) -> int:
        given = problem((1, 2, 2, 1, dim), pairs, offset=offset, angles=angles)
        return host.widest(prepare(*given))

    assert [width(64, 128), width(16, 80), width(32, 64, angles=BF16)] == [8, 8, 8]
    assert [width(4, 12), width(3, 6), width(8, 16, offset=1), width(8, 16, offset=2)] == [4, 1, 1, 2]


def test_angles_are_read_once_for_a_token() -> None:
    """The bytes of one_pair grow with the heads by the angles too; those of by_token only by the heads."""
    read: dict[str, list[int]] = {}
    for rung in ("one_pair", "by_token", "vectorized"):
        for heads in (4, 8):
            given = problem((1, 4, heads, 1, 64), 32)
            with fp.watch() as reports:
                LADDER[rung](*given)
            sectors = sum(report.global_load.sectors for report in reports)
            read.setdefault(rung, []).append(sectors * 32)
    of_heads = 4 * 4 * 64 * 2  # four tokens, four more heads, bfloat16
    grown = {rung: more - fewer for rung, (fewer, more) in read.items()}
    assert grown["by_token"] == of_heads
    # Threads of one more group of heads have angles of their own; lanes of a warp may share their sectors.
    assert of_heads <= grown["vectorized"] <= of_heads + 4 * 2 * 32 * 4
    assert grown["one_pair"] > 2 * of_heads


# ---- Without running anything ----------------------------------------------------------------------------


@pytest.mark.parametrize("rung", RUNGS[1:])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100a"])
def test_rung_compiles_for_old_and_new_architectures(rung: str, arch: str) -> None:
    compile_for = LADDER[rung].compile_for
    assert compile_for is not None
    if rung != "triton" or arch != "sm_75":
        assert compile_for(arch) is not None


WRONG: list[tuple[Callable[[Any, Any, Any, Any], tuple[Any, ...]], str]] = [
    (lambda q, k, c, s: (q[0], k, c, s), r"got shape \(5, 3, 16\) for q|\(5, 3, 16\)"),
    (lambda q, k, c, s: (q.double(), k, c, s), "float64"),
    (lambda q, k, c, s: (q, k.half(), c, s), "float16"),
    (lambda q, k, c, s: (q, k[:, :4], c, s), r"\(2, 4, 2, 16\)"),
    (lambda q, k, c, s: (q, k, c, s[:3]), r"sin of shape \(3, 8\)"),
    (lambda q, k, c, s: (q[..., :12], k[..., :12], c, s), "at most 6 pairs"),
    (lambda q, k, c, s: (q, k, c.half(), s.half()), "float16[\\s\\S]*float32, bfloat16"),
    (lambda q, k, c, s: (q, k, c, s, None, ROWS - 4), f"positions 20 to 24 of a table with {ROWS}"),
    (lambda q, k, c, s: (q, k, c, s, torch.zeros(2, 4).long()), r"\(2, 4\)[\s\S]*1 or 2, 1 or 5"),
    (lambda q, k, c, s: (q, k, c, s, torch.zeros(2, 5)), "float32[\\s\\S]*int32, int64"),
    (lambda q, k, c, s: (q, k, c[None, :5], s[None, :5], None, 1), "a row for each token"),
    (lambda q, k, c, s: (q[..., ::2], k[..., ::2], c[:, :4], s[:, :4]), "last dimension must be contiguous"),
    (lambda q, k, c, s: (None, k, c, s), "got q = None"),
]


@pytest.mark.parametrize("rung", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(rung: str) -> None:
    for change, says in WRONG:
        with pytest.raises(FlashpathError, match=says):
            LADDER[rung](*change(*problem()))
    q, k, *angles = problem()
    with pytest.raises(FlashpathError, match="overlaps an input"):
        LADDER[rung](q, k, *angles, out=(q, torch.empty_like(k)))


# ---- On a GPU --------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(("dtype", "angles"), TYPES, ids=str)
@pytest.mark.parametrize("rung", RUNGS[1:])
def test_on_a_gpu(rung: str, dtype: Any, angles: Any, interleaved: bool) -> None:
    for size, pairs in [*SIZES, ((2, 24, 32, 8, 128), 64)]:
        given = problem(size, pairs, dtype, angles, device="cuda")
        rest = (None, 0, interleaved, True)
        assert_right(run(rung, given, *rest), given, *rest)
