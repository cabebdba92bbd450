"""Whether a class computes what its name promises: its forward runs on small numbers, beside the formula.

A name is no proof: Gemma's RMSNorm multiplies by 1 + weight, Llama's by weight. The probe runs the class's
own forward on a twin of the module, with the module's attributes but small parameters in float32 on the CPU:
no weight is read, no hook called, no generator of random numbers touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import nn

Tensor = torch.Tensor
SEED = 24


def twin(module: nn.Module, parameters: Mapping[str, Any], modules: Mapping[str, Any]) -> Any:
    """The module with these parameters and children in place of its own; other children have no hooks."""
    made = _without_hooks(module)
    children = {name: child and _without_hooks(child) for name, child in module.__dict__["_modules"].items()}
    made.__dict__["_parameters"] = {**dict.fromkeys(module.__dict__["_parameters"]), **parameters}
    made.__dict__["_modules"] = {**children, **modules}
    return made


def _without_hooks(module: nn.Module) -> Any:
    made: Any = object.__new__(type(module))
    hooks = {name: type(each)() for name, each in module.__dict__.items() if name.endswith("_hooks")}
    made.__dict__.update({**module.__dict__, **hooks})
    return made


def numbers(*shape: int, seed: int = 0) -> Tensor:
    """Normal numbers, always the same, which nobody else's generator knows of."""
    generator = torch.Generator().manual_seed(SEED + seed)
    return torch.randn(*shape, generator=generator)


class Product(nn.Module):
    """A linear layer of the probe."""

    def __init__(self, columns: int, rows: int, seed: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(numbers(rows, columns, seed=seed) / columns**0.5, requires_grad=False)
        self.bias = None

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight)


def agrees(forward: Callable[[], Any], formula: Callable[[], Any], rtol: float = 2e-5) -> bool:
    """Whether both give the same numbers; a forward that wants other arguments does not."""
    state = torch.get_rng_state()
    try:
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            got, wanted = forward(), formula()
    except Exception:  # whatever a foreign forward raises of arguments that it was not made for
        return False
    finally:
        if not torch.equal(torch.get_rng_state(), state):  # else other threads may draw meanwhile
            torch.set_rng_state(state)
    gots, wanteds = _together(got), _together(wanted)
    return len(gots) == len(wanteds) and all(
        isinstance(one, Tensor)
        and one.shape == other.shape
        and one.dtype == other.dtype
        and torch.allclose(one, other, rtol=rtol, atol=1e-6)
        for one, other in zip(gots, wanteds, strict=True)
    )


def _together(result: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
