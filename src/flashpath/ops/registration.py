"""How a function becomes a torch operator: one call for its kernels, its shape rule and its gradient."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

# Above so many elements, or multiply-adds, an operator on CPU tensors says that it runs on the virtual GPU.
SLOW_ON_CPU = 2**22
SLOW_PRODUCTS_ON_CPU = 2**26


class SlowOnCpu(UserWarning):
    """A large tensor on the CPU: the virtual GPU computes it, some hundred times slower than torch would."""


def define(
    name: str,
    schema: str,
    forward: Callable[..., Any],
    fake: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    save: Callable[[Any, Sequence[Any], Any], None] | None = None,
) -> Callable[..., Any]:
    """Register `flashpath::name`.

    `forward` runs the kernels, `fake` makes an empty output of the right shape. With `backward(ctx, *grads)`
    the operator has a gradient, and `save(ctx, inputs, output)` keeps what it needs.
    """
    library: Any = torch.library
    operator = library.custom_op(f"flashpath::{name}", forward, mutates_args=(), schema=schema)
    operator.register_fake(fake)
    if backward is not None:
        operator.register_autograd(backward, setup_context=_keeping(save))
    return operator


def _keeping(save: Callable[[Any, Sequence[Any], Any], None] | None) -> Callable[..., None]:
    def setup(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        if save is not None:
            save(ctx, inputs, output)

    return setup


def tell_if_slow(name: str, x: torch.Tensor, products: int = 0) -> None:
    """Warn once for each operator that gets a large tensor of the CPU."""
    if x.is_cuda or (x.numel() <= SLOW_ON_CPU and products <= SLOW_PRODUCTS_ON_CPU):
        return
    warnings.warn(
        f"ops.{name} got {x.numel():,} elements on the CPU: the virtual GPU computes them, slowly. "
        f"Move them to a GPU (x.cuda()), or take torch's own function there.",
        SlowOnCpu,
        stacklevel=4,
    )
