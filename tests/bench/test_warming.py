"""Compiling before a run: which calls, and that what fails there is left to the run to tell."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from flashpath.bench import warming
from flashpath.jit import device
from flashpath.kernels import ladder
from flashpath.kernels.attention.cases import case


def test_two_lengths_of_every_kind_that_a_rung_takes() -> None:
    makers = [
        functools.partial(case, way, 1, n, 1, dim, True)
        for way in ("forward", "backward")
        for dim in (64, 128)
        for n in (16384, 512, 4096)
    ]
    calls = warming._calls(ladder("attention"), makers, {"torch (flex_attention)"})  # pyright: ignore[reportPrivateUsage]
    counts = Counter(name for name, _ in calls)
    assert counts["flash_v2_triton"] == counts["flash_v2_cuda_backward"] == 4
    assert counts["torch (flex_attention)"] == 8
    assert "naive" not in counts  # nothing to compile
    taken = [make().parameters["sequence"] for name, make in calls if name == "flash_v2_triton"]
    assert taken == [512, 4096, 512, 4096]


@pytest.mark.skipif(device.count() > 0, reason="what fails is what needs a GPU")
def test_what_fails_is_left_to_the_run() -> None:
    done: list[tuple[int, int]] = []
    makers = [functools.partial(case, "forward", 1, 64, 1, 64, True)]
    warming.warm("attention", makers, 1, on_done=lambda now, total: done.append((now, total)))
    assert done[-1] == (7, 7)
