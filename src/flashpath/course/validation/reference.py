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


def load_reference(where: str) -> Callable[..., Any]:
    """The function behind `FILE.py:function`, `torch.softmax` or `ladder:softmax`."""
    if where.startswith("ladder:"):
        ladder = kernels.ladder(where.removeprefix("ladder:"))
        return next(iter(ladder))
    if ".py:" in where:
        return load_function(where)
    root, *path = where.split(".")
    if root not in _ROOTS or not path:
        raise FlashpathError("course.validation.unknown-reference", where=where)
    found: Any = importlib.import_module(root)
    for depth, name in enumerate(path):
        try:
            found = getattr(found, name)
        except AttributeError:
            so_far = ".".join((root, *path[:depth]))
            near = [f"{so_far}.{other}" for other in difflib.get_close_matches(name, dir(found))]
            if near:
                raise FlashpathError(
                    "course.validation.no-such-function-near", module=so_far, name=name, near=near
                ) from None
            raise FlashpathError("course.validation.no-such-function", module=so_far, name=name) from None
    if not callable(found):
        raise FlashpathError("course.validation.no-function", where=where)
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
