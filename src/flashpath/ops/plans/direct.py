"""An operator's overload that calls its plan.

Inductor writes `torch.ops.flashpath.softmax.default(x)` for what it does not fuse. On torch's own way from
there lie the dispatcher, two functions of torch's in Python (for gradients, and for the device), and a look
at whether outputs are inputs, all of which a plan has settled. Whoever traces calls this object too, and
plans leave such calls to torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from flashpath.ops import plans

_torch: Any = torch


class Direct(_torch._ops.OpOverload):
    """torch's overload, but for how it is called."""

    planned: Callable[..., Any]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.planned(*args, **kwargs)


def made_direct(overload: Any) -> Any:
    """Makes a plan answer calls of this very object, which torch has handed out already."""
    usual = overload._op  # what an overload of torch's own calls
    overload.planned = plans.planned(usual)
    overload.__class__ = Direct
    return overload
