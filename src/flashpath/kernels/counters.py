"""Counters by which the blocks of a launch find out who is the last to arrive.

A kernel leaves the counters that it uses at 0, so they are cleared once, and not for each launch: to clear a
few bytes takes as long as a small kernel.
"""

from __future__ import annotations

from typing import Any

# By device and stream: launches of one stream follow each other, and those of two may not share a counter.
_of_streams: dict[tuple[int, int], Any] = {}

# By device: counters for graphs, and how many of them are given away. A graph may be replayed on any stream,
# so each launch in one has counters of its own, for ever; two replays of a graph do not run at the same time.
_of_graphs: dict[int, tuple[Any, int]] = {}
_FOR_GRAPHS = 2**18


def counters_at_zero(x: Any, count: int) -> Any:
    """At least `count` counters at 0 where x is, which no launch that may run at the same time uses."""
    import torch

    if not x.is_cuda:
        return _zeros(count, x.device)
    device = x.get_device()
    if torch.cuda.is_current_stream_capturing():
        counters, taken = _of_graphs.get(device, (None, _FOR_GRAPHS))
        if taken + count > _FOR_GRAPHS:
            return _zeros(count, x.device)  # by each replay
        _of_graphs[device] = counters, taken + count
        return counters[taken : taken + count]
    stream = torch.cuda.current_stream(x.device)
    if device not in _of_graphs:  # before the first capture, in which they would be cleared by each replay
        _of_graphs[device] = _zeros(_FOR_GRAPHS, x.device), 0
        stream.synchronize()
    key = (device, stream.cuda_stream)
    kept = _of_streams.get(key)
    if kept is None or kept.numel() < count:
        kept = _of_streams[key] = _zeros(count, x.device)
    return kept


def _zeros(count: int, device: Any) -> Any:
    import torch

    return torch.zeros(count, dtype=torch.int32, device=device).view(torch.uint32)
