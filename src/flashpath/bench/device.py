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
        raise FlashpathError(
            f"A benchmark runs on 'cuda' or 'cpu', not on {device!r}.",
            "To choose among several GPUs, set CUDA_VISIBLE_DEVICES before Python starts.",
        )
    if device == "cpu":
        return "cpu"
    has_gpu = bool(load_torch().cuda.is_available())
    if device == "cuda" and not has_gpu:
        raise MissingDevice(
            "The benchmark was asked to run on 'cuda', but torch finds no GPU here.",
            "Leave the device out to time on the CPU, or check `nvidia-smi` and that torch is a CUDA build.",
        )
    return "cuda" if has_gpu else "cpu"
