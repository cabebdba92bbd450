"""How a function becomes a torch operator: one call for its kernels, its shape rule and its gradient."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from flashpath.messages import say
from flashpath.ops import plans
from flashpath.ops.plans import direct, recording

# Above so many elements, or multiply-adds, an operator on CPU tensors says that it runs on the virtual GPU.
SLOW_ON_CPU = 2**22
SLOW_PRODUCTS_ON_CPU = 2**26
# Files of torch and of the operators, and code that torch.compile has written.
_NOT_THE_CALLER = (*(f"{Path(file).parent}/" for file in (torch.__file__, __file__)), "<eval_with_key>")


class SlowOnCpu(UserWarning):
    """A large tensor on the CPU: the virtual GPU computes it, by far slower than torch would."""


def define(
    name: str,
    schema: str,
    forward: Callable[..., Any],
    fake: Callable[..., Any],
    backward: Callable[..., Any] | None = None,
    save: Callable[[Any, Sequence[Any], Any], None] | None = None,
    mutates: Sequence[str] = (),
) -> Callable[..., Any]:
    """Register `flashpath::name`.

    `forward` runs the kernels, `fake` makes an empty output of the right shape, and refuses what `forward`
    refuses. `mutates` names the arguments that it writes to. With `backward(ctx, *grads)` the operator has a
    gradient, and `save(ctx, inputs, output)` keeps what it needs.
    """
    library: Any = torch.library
    run = plans.planned_without_gradient(forward)
    operator = library.custom_op(f"flashpath::{name}", run, mutates_args=mutates, schema=schema)
    operator.register_fake(fake)
    if backward is not None:
        operator.register_autograd(backward, setup_context=_keeping(save))
    overload = operator._opoverload
    written = [i for i, each in enumerate(overload._schema.arguments) if each.name in mutates]
    recording.OPERATORS[overload] = recording.Operator(forward, written, backward, save)
    return direct.made_direct(overload)


def _keeping(save: Callable[[Any, Sequence[Any], Any], None] | None) -> Callable[..., None]:
    def setup(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        if save is not None:
            save(ctx, inputs, output)

    return setup


def tell_if_slow(name: str, x: torch.Tensor, products: int = 0) -> None:
    """Warn at each place that gives an operator a large tensor of the CPU."""
    if x.is_cuda or (x.numel() <= SLOW_ON_CPU and products <= SLOW_PRODUCTS_ON_CPU):
        return
    if products > SLOW_PRODUCTS_ON_CPU:
        text = say("ops.slow-products", name=name, count=products)
    else:
        text = say("ops.slow-elements", name=name, count=x.numel())
    warnings.warn(text, SlowOnCpu, stacklevel=_levels_to_the_caller())


def _levels_to_the_caller() -> int:
    """Returns how far above `tell_if_slow` the first frame is that is neither torch's nor an operator's."""
    levels, above = 0, inspect.currentframe()
    while above is not None and above.f_code.co_filename.startswith(_NOT_THE_CALLER):
        levels, above = levels + 1, above.f_back
    return levels if above is not None else 1
