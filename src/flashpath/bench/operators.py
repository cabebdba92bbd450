"""Bytes that torch's operators move: what stands for a count where a rung is not a kernel of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from flashpath.bench.arrays import tensors


def operator_bytes(call: Callable[[], Any]) -> int:
    """Returns what all operators that `call` runs read and write, each tensor once; views move nothing.

    An operator of torch is a kernel or more. None can move less than this, and some move more.
    """
    dispatch: Any = importlib.import_module("torch.utils._python_dispatch")
    moved = 0

    class Count(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal moved
            given = tensors((args, kwargs or {}))
            result = operator(*args, **(kwargs or {}))
            if not operator.is_view:
                made = tensors(result)
                moved += sum(each.numel() * each.element_size() for each in (*given, *made))
            return result

    with Count():
        call()
    return moved
