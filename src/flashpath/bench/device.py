"""Where a benchmark runs: the GPU of this process, or the CPU."""

from __future__ import annotations

import importlib
from typing import Any

from flashpath.errors import FlashpathError, MissingDevice


def load_torch() -> Any:
    """torch, imported when first needed: it takes longer to import than everything else together."""
    return importlib.import_module("torch")


def resolve_device(device: str | None) -> str:
    """`"cuda"` or `"cpu"`; without a wish, the GPU where there is one."""
    if device not in (None, "cuda", "cpu"):
        raise FlashpathError("bench.no-such-device", device=device)
    if device == "cpu":
        return "cpu"
    has_gpu = bool(load_torch().cuda.is_available())
    if device == "cuda" and not has_gpu:
        raise MissingDevice("bench.no-gpu")
    return "cuda" if has_gpu else "cpu"
