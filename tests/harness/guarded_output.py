"""Poisoned outputs between two guards, so that whatever a rung leaves unwritten or writes beside shows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch

GUARD = 64  # bytes on either side: an output without an offset is aligned as a new tensor is


class Guarded:
    """An `output` of the shape and type of another tensor, `offset` elements behind its guard."""

    def __init__(self, like: Any, offset: int = 0) -> None:
        poison = 0xFF if like.is_floating_point() else 0x7E  # NaN in every type, or a large number
        start, size = GUARD + offset * like.itemsize, like.numel() * like.itemsize
        buffer = torch.full((start + size + GUARD,), poison, dtype=torch.uint8, device=like.device)
        self._poison, self._guards = poison, (buffer[:start], buffer[start + size :])
        self.output: Any = buffer[start : start + size].view(like.dtype).view(like.shape)

    def check(self) -> None:
        """Fails where somebody wrote beside the output."""
        before, behind = self._guards
        assert self.is_untouched(before), "it wrote before its output"
        assert self.is_untouched(behind), "it wrote behind its output"

    def is_untouched(self, part: Any) -> bool:
        """Whether that part of the output still holds the poison."""
        return bool((bits(part) == self._poison).all())


def bits(tensor: Any) -> Any:
    """Returns the bytes of a tensor, so that a NaN equals itself and 0.0 differs from -0.0."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def value_bits(tensor: Any) -> Any:
    """Returns the bytes of a tensor in which every NaN is the same one, since its payload is no promise."""
    if tensor.is_floating_point() and tensor.itemsize > 1:  # torch finds no NaN in 8 bits
        tensor = torch.where(tensor.isnan(), torch.full_like(tensor, float("nan")), tensor)
    return bits(tensor)


@contextlib.contextmanager
def unchanged(*arguments: Any) -> Generator[None]:
    """Fails where one of the tensors among the arguments has other bits at the end than at the beginning."""
    tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
    copies = [bits(tensor).clone() for tensor in tensors]
    yield
    for tensor, copy in zip(tensors, copies, strict=True):
        assert torch.equal(bits(tensor), copy), "it changed an input"


def run_guarded(rung: Callable[..., Any], *arguments: Any, like: Any, offset: int = 0) -> Any:
    """Returns what a rung writes into a guarded output of the shape and type of `like`."""
    guarded = Guarded(like, offset)
    with unchanged(*arguments):
        result = rung(*arguments, out=guarded.output)
    assert result.data_ptr() == guarded.output.data_ptr()
    guarded.check()
    return guarded.output


def poison_new_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that rungs ask for themselves is full of NaN, or of large numbers: nothing is zero by luck."""

    def poisoned(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **options: Any) -> Any:
            x = make(*args, **options)
            return x.fill_(float("nan") if x.is_floating_point() else 77) if x.dtype != torch.bool else x

        return made

    for home, name in ((torch, "empty"), (torch, "empty_like"), (torch.Tensor, "new_empty")):
        monkeypatch.setattr(home, name, poisoned(getattr(home, name)))
