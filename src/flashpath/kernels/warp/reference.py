"""Warp primitives, the reference: PyTorch on rows of 32."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.warp import host


def torch_select(x: Any, op: str = "compact", threshold: float = 0.0) -> Any:
    """PyTorch's selection of the elements above the threshold, with nothing around it."""
    import torch  # here: listing the ladder shall not wait for it

    return torch.masked_select(x, x > threshold)


def torch_groups(x: Any, op: str) -> Any:
    """One result for each element, or for each group of 32; the last group may be shorter."""
    import torch

    n = x.numel()
    missing = -n % 32
    rows = torch.nn.functional.pad(x, (0, missing)).view(-1, 32)
    inside = (torch.arange(n + missing, device=x.device) < n).view(-1, 32)
    lanes = torch.arange(32, device=x.device)
    if op == "broadcast":
        return rows[:, :1].expand(-1, 32).reshape(-1)[:n]
    if op == "sum":
        return rows.sum(1, dtype=torch.int64 if x.dtype == torch.int32 else None).to(x.dtype)
    if op == "any":
        return ((rows > 0) & inside).any(1)
    if op == "all":
        return ((rows > 0) | ~inside).all(1)
    if op == "ballot":
        return (((rows > 0) & inside).long() << lanes).sum(1).to(torch.int32)
    bits = rows.view(torch.int32)
    same = (bits[:, :, None] == bits[:, None, :]) & inside[:, None, :]
    return (same.long() << lanes).sum(2).to(torch.int32).view(-1)[:n]


def reference(x: Any, op: str = "compact", threshold: float = 0.0, out: Any | None = None) -> Any:
    """Any operation of the ladder. A compaction gives room for all of x, and how many of it count."""
    host.require_operation("warp", op, host.OPERATIONS)
    if op in host.OF_GROUPS:
        result = host.prepare("warp", host.OF_GROUPS, x, op, out)
        return result.copy_(torch_groups(x, op))
    values, count = host.prepare_compaction("warp", host.COMPACTIONS, x, op, threshold, out)
    kept = x[x.float() > threshold]  # torch on a CPU would round the threshold to a half type first
    values[: kept.numel()] = kept
    return values, count.fill_(kept.numel())
