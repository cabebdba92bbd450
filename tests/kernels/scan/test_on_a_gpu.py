"""Scan on a GPU: every rung, the same bits every time, more than 2^31 elements, two streams, graphs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.kernels.scan import problem
from tests.harness.scan_checks import DTYPES, LADDER, RUNGS, THOROUGH, sample, some_heads, verify


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
