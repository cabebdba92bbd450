"""Attention as FlashAttention 3 is built: a warp that loads, two warpgroups that take turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import flashpath as fp

SOURCE = (Path(__file__).parent / "attention.cu").read_text()
SHARED = 6 * 64 * 64 * 2
SCALE = 64**-0.5


def inputs(length: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((length, 64)).astype(np.float16) for _ in range(3))
    o = np.zeros((length, 64), np.float32)
    maps = (fp.TensorMap(each, (64, 64), swizzle=128) for each in (q, k, v))
    return q, k, v, o, (*maps, o, length, SCALE * 1.4426950408889634)


def test_it_is_right() -> None:
    q, k, v, o, args = inputs(384)
    fp.compile(SOURCE, "sm_90a")["attention"].launch(3, 384, args, shared=SHARED)
    scores = q.astype(np.float64) @ k.astype(np.float64).T * SCALE
    shares = np.exp(scores - scores.max(1, keepdims=True))
    expected = shares / shares.sum(1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(o, expected, atol=2e-3)


def test_nothing_is_found_in_it() -> None:
    *_, args = inputs(256)
    kernel = fp.compile(SOURCE, "sm_90a")["attention"]
    assert fp.sanitize(kernel, 2, 384, args, shared=SHARED, seeds=3) == []
