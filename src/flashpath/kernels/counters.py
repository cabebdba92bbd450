"""Counters by which the blocks of a launch find out who is the last to arrive."""

from __future__ import annotations

from typing import Any

# By device and stream. A kernel leaves the counters that it uses at 0, so they are cleared once; launches of
# one stream follow each other, and those of two streams may not share a counter.
_kept: dict[tuple[int, int], Any] = {}


def counters_at_zero(x: Any, count: int) -> Any:
    """At least `count` counters at 0 where x is, which no launch that may run at the same time uses."""
    import torch

    # A graph may be replayed on any stream: it gets counters of its own, cleared by each replay.
    if not x.is_cuda or torch.cuda.is_current_stream_capturing():
        return torch.zeros(count, dtype=torch.int32, device=x.device).view(torch.uint32)
    key = (x.get_device(), torch.cuda.current_stream(x.device).cuda_stream)
    kept = _kept.get(key)
    if kept is None or kept.numel() < count:
        kept = torch.zeros(count, dtype=torch.int32, device=x.device).view(torch.uint32)
        _kept[key] = kept
    return kept
