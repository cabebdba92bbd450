"""A matrix product as fast kernels for Hopper are built: right, without findings, and with mistakes that are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flashpath as fp

SOURCE = (Path(__file__).parent / "gemm.cu").read_text()
STAGES = 3 * (128 + 128) * 64 * 2


def compiled(bug: int = 0, cluster: int = 2) -> Any:
    return fp.compile(SOURCE, "sm_90a", defines={"BUG": bug, "CLUSTER": cluster})["gemm"]


def inputs(m: int, n: int, k: int, cluster: int = 2) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    maps = fp.TensorMap(a, (128, 64), swizzle=128), fp.TensorMap(b, (128 // cluster, 64), swizzle=128)
    return a, b, c, (*maps, c, n, k)


def line_of(text: str) -> int:
    """The line that says so."""
    [found] = [k for k, line in enumerate(SOURCE.splitlines(), 1) if line.rstrip().endswith(text)]
    return found


@pytest.mark.parametrize("cluster", [1, 2, 4])
def test_it_is_right(cluster: int) -> None:
    a, b, c, args = inputs(512, 256, 320, cluster)
    compiled(cluster=cluster).launch((4, 2), 384, args, shared=STAGES)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32).T, atol=2e-2, rtol=1e-3)


def test_nothing_is_found_in_it() -> None:
    _, _, _, args = inputs(256, 128, 512)
    assert fp.sanitize(compiled(), (2, 1), 384, args, shared=STAGES, seeds=3) == []


@pytest.mark.parametrize(
    ("bug", "kinds", "marks"),
    [
        (1, {"missing-wait", "race", "deadlock"}, ("// load", "// load for all")),
        (3, {"deadlock", "race"}, ("// load", "// load for all")),
        (4, {"missing-wait", "race"}, ("// load", "// load for all")),
        (5, {"missing-wait", "race"}, ("// load", "// load for all")),
        (6, {"out-of-bounds"}, ()),
    ],
)
def test_mistakes_are_found(bug: int, kinds: set[str], marks: tuple[str, ...]) -> None:
    _, _, _, args = inputs(256, 128, 512)
    found = fp.sanitize(compiled(bug), (2, 1), 384, args, shared=STAGES)
    assert found
    assert {finding.kind for finding in found} <= kinds
    if marks:
        lines = {line for finding in found for line in (finding.line, finding.other and finding.other.line)}
        assert lines & set(map(line_of, marks))


def test_too_few_bytes_are_expected() -> None:
    """The count of bytes never comes out: the waiting threads wait for ever."""
    _, _, _, args = inputs(256, 128, 512)
    found = fp.sanitize(compiled(2), (2, 1), 384, args, shared=STAGES)
    assert found[-1].kind == "deadlock"
