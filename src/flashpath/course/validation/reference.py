"""What a function is validated against: a function of a file, of torch or NumPy, or the first of a ladder."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any, cast

from flashpath import kernels
from flashpath.bench import load_function
from flashpath.errors import FlashpathError

_ROOTS = ("torch", "numpy")
_HOW = "Name FILE.py:function, torch's or NumPy's (torch.nn.functional.gelu), or a ladder (ladder:softmax)."


def load_reference(where: str) -> Callable[..., Any]:
    """The function behind `FILE.py:function`, `torch.softmax` or `ladder:softmax`."""
    if where.startswith("ladder:"):
        ladder = kernels.ladder(where.removeprefix("ladder:"))
        return next(iter(ladder))
    if ".py:" in where:
        return load_function(where)
    root, *path = where.split(".")
    if root not in _ROOTS or not path:
        raise FlashpathError(f"The reference {where!r} is not known.", _HOW)
    found: Any = importlib.import_module(root)
    for depth, name in enumerate(path):
        try:
            found = getattr(found, name)
        except AttributeError:
            so_far = ".".join((root, *path[:depth]))
            near = difflib.get_close_matches(name, dir(found))
            raise FlashpathError(
                f"{so_far} has no {name!r}.",
                f"Did you mean {' or '.join(f'{so_far}.{each}' for each in near)}?" if near else _HOW,
            ) from None
    if not callable(found):
        raise FlashpathError(f"{where} is no function.", _HOW)
    if root == "numpy":
        return _on_arrays(found)
    return cast("Callable[..., Any]", found)


def _on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, given and returning tensors."""
    import torch

    def call(*arguments: Any, **options: Any) -> Any:
        plain = [each.numpy() if isinstance(each, torch.Tensor) else each for each in arguments]
        return torch.as_tensor(function(*plain, **options))

    return call
