"""Formulas of bytes, beside what the virtual GPU counts."""

# pyright: basic

from __future__ import annotations

import pytest

from flashpath.bench.attention_traffic import Traffic, count_traffic, problem_of, table
from flashpath.kernels import ladder
from flashpath.kernels.attention import traffic
from flashpath.kernels.attention.cases import case


@pytest.fixture(scope="module")
def rows() -> list[Traffic]:
    """256 and 512 queries and keys of one head, dim 64, all seen."""
    some = [name for name in traffic.LOOPS if "triton" not in name or name == "flash_v2_triton"]
    cases = [case("forward", 1, n, 1, 64, causal=False) for n in (256, 512)]
    return count_traffic(ladder("attention"), cases, rungs=["naive", *some])


def test_the_loops_of_a_rung_move_what_is_counted(rows: list[Traffic]) -> None:
    """Some a little more: of half sectors, of fragments that two warps load. None less."""
    for row in rows:
        assert row.failure is None
        if row.rung == "naive":
            assert row.is_of_operators
            continue
        assert row.by_formula is not None
        assert row.bytes is not None
        assert 0.99 <= row.bytes / row.by_formula <= 1.4, row
    exact = {row.rung for row in rows if row.bytes and row.by_formula and row.bytes / row.by_formula < 1.01}
    assert exact >= {"fused", "flash_v2_triton"}


def test_what_is_fused_grows_as_the_bound_does_and_moves_far_less(rows: list[Traffic]) -> None:
    last = {row.rung: row for row in rows if row.sequence == 512}
    bytes_of = {name: row.bytes or 0 for name, row in last.items()}
    assert bytes_of["flash_v2_cuda"] < bytes_of["fused"] < bytes_of["flash_v1_cuda"] < bytes_of["naive"]
    for row in rows:
        if row.rung == "flash_v2_cuda":
            assert row.bytes is not None
            assert 5 < row.bytes / row.bound < 15  # the constant behind Θ, where M is 48 KiB
    assert last["naive"].bound == traffic.io_bound(problem_of(case("forward", 1, 512, 1, 64, causal=False)))


def test_the_bound_is_the_papers() -> None:
    """N² d² / M elements: N = 1024, d = 64 and 16,384 elements on the chip."""
    problem = problem_of(case("forward", 1, 1024, 1, 64, causal=False))
    assert traffic.io_bound(problem, 2 * 16384) == 2 * 1024**2 * 64**2 / 16384
    causal = problem_of(case("forward", 1, 1024, 1, 64, causal=True))
    assert traffic.io_bound(causal) / traffic.io_bound(problem) == pytest.approx(1025 / 2048)


def test_the_table_has_a_row_for_each_rung(rows: list[Traffic]) -> None:
    headings, *cells = table(rows)
    assert headings[:4] == ("rung", "bytes, N = 256", "× once", "× N² d²/M")
    assert [row[0] for row in cells][:2] == ["naive", "unfused"]
    assert all(len(row) == 7 for row in cells)
