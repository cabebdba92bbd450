"""Counters by which the blocks of a launch find out who is the last to arrive.

A kernel leaves the counters that it uses at 0, so they are cleared once, and not for each launch: to clear a
few bytes takes as long as a small kernel.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from flashpath.jit import observing

# By device and stream: launches of one stream follow each other, and those of two may not share a counter.
_of_streams: dict[tuple[int, int], Any] = {}

# By device: counters for graphs, and how many of them are given away. A graph may be replayed on any stream,
# so each launch in one has counters of its own, for ever; two replays of a graph do not run at the same time.
_of_graphs: dict[int, tuple[Any, int]] = {}
_FOR_GRAPHS = 2**18


@functools.cache
def driver() -> Any:
    """torch's own way to CUDA, a tenth of the cost of a torch.cuda.Stream.

    torch is imported by the first launch, not by this module: lists and lessons name rungs and run none.
    """
    return importlib.import_module("torch._C")


def counters_at_zero(x: Any, count: int) -> Any:
    """At least `count` counters at 0 where x is, which no launch that may run at the same time uses."""
    if not x.is_cuda:
        return _zeros(count, x.device)
    counters = _of_gpu(x.get_device(), count)
    if observing.observer is not None:
        observing.observer.lent(counters, functools.partial(_of_gpu, x.get_device(), count))
    return counters


def _of_gpu(device: int, count: int) -> Any:
    cuda = driver()
    if cuda._cuda_isCurrentStreamCapturing():
        counters, taken = _of_graphs.get(device, (None, _FOR_GRAPHS))
        if counters is None or taken + count > _FOR_GRAPHS:
            return _zeros(count, device)  # by each replay
        _of_graphs[device] = counters, taken + count
        return counters[taken : taken + count]
    if device not in _of_graphs:  # before the first capture, in which they would be cleared by each replay
        _of_graphs[device] = _zeros(_FOR_GRAPHS, device), 0
        import torch

        torch.cuda.current_stream(device).synchronize()
    key = (device, cuda._cuda_getCurrentRawStream(device))
    kept = _of_streams.get(key)
    if kept is None or kept.numel() < count:
        kept = _of_streams[key] = _zeros(count, device)
    return kept


def _zeros(count: int, device: Any) -> Any:
    import torch

    return torch.zeros(count, dtype=torch.int32, device=device).view(torch.uint32)
