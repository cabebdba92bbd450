"""Plans: what a call decides is decided once for its kind, and a call of a known kind only launches.

The kind of a call, its key, is everything that its decisions depend on: shapes, strides, types, alignment
and device of its tensors, and its other arguments with their types. The first call of a key takes the usual
way, the second is recorded on that way (recording.py), and what was recorded is made into a function
(replay.py) that allocates, fills in addresses and launches. What is refused raises before there is a key, so
it gets the same words each time. Anything but plain CUDA tensors in plain eager mode takes the usual way.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

import torch
from torch.autograd import forward_ad

from flashpath import settings
from flashpath.ops.plans import recording, replay
from flashpath.ops.plans.trace import NotPlannable

P = ParamSpec("P")
R = TypeVar("R")
Tensor = torch.Tensor
Key = tuple[Any, ...]

MOST_KEYS = 1024  # of a function: the oldest goes
_PLAIN = frozenset((bool, int, float, str, type(None), torch.dtype))
_SEEN: Final = object()

_c: Any = torch._C
_modes, _function_modes = _c._len_torch_dispatch_stack, _c._len_torch_function_stack
_transforms = _c._functorch.peek_interpreter_stack
_tracing, _profiling = _c._get_tracing_state, _c._autograd._profiler_enabled
_wants_gradients = torch.is_grad_enabled
_forward_mode: Any = forward_ad
_is_compiling = torch.compiler.is_compiling


class Kinds:
    """The plans of one function by their keys, for all threads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._plans: dict[Key, Any] = {}
        self._lock = threading.Lock()
        self.get = self._plans.get

    def __len__(self) -> int:
        return len(self._plans)

    def count(self) -> int:
        """Returns the number of plans; keys that were seen once, or have no plan, are not counted."""
        return sum(plan.__class__ is _FUNCTION for plan in self._plans.values())

    def obstacles(self) -> list[str]:
        """Says why calls have no plan, of those that were tried."""
        return [str(plan) for plan in self._plans.values() if isinstance(plan, NotPlannable)]

    def unplanned(self, known: Any, key: Key, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        """Calls the function the usual way, and makes a plan of it where it is time for one."""
        if known.__class__ is NotPlannable:
            return self.function(*args, **kwargs)
        if known is None or _c._cuda_isCurrentStreamCapturing():
            result = self.function(*args, **kwargs)
            self._keep(key, _SEEN)
            return result
        result, recorder = recorded(self.function, args, kwargs)
        if recorder is not None:
            self._keep(key, _plan(recorder, result, tensors))
        return result

    def _keep(self, key: Key, plan: Any) -> None:
        with self._lock:
            if key not in self._plans and len(self._plans) >= MOST_KEYS:
                self._plans.pop(next(iter(self._plans)))
            self._plans[key] = plan


def recorded(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, recording.Recorder | None]:
    """Calls a function while a recorder follows, if none follows another call. Gives the result, and it."""
    # A tensor that is given twice is two arguments: recorders tell tensors by the object.
    args = tuple(x.detach() if isinstance(x, Tensor) else x for x in args)
    kwargs = {name: x.detach() if isinstance(x, Tensor) else x for name, x in kwargs.items()}
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    with recording.recording(given) as recorder:
        return function(*args, **kwargs), recorder


def _plan(recorder: recording.Recorder, result: Any, tensors: list[Tensor]) -> Any:
    try:
        return replay.compiled(recorder.trace(result), len(tensors), tensors[0].get_device(), _driver())
    except NotPlannable as obstacle:
        return NotPlannable(*obstacle.args)  # without the frames that it was raised in


@functools.cache
def _driver() -> replay.Driver:
    return replay.Driver()


@functools.cache
def are_possible() -> bool:
    """Whether calls are planned at all: where there is one GPU, and no launch is to be printed."""
    return torch.cuda.is_available() and torch.cuda.device_count() == 1 and not settings.debug()


def key_of(args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[Tensor]) -> Key | None:
    """Returns the kind of a call and lists its tensors; None for one that has no plan.

    The last of the key says whether a gradient is wanted.
    """
    if (
        _modes()
        or _function_modes()
        or _transforms() is not None
        or _forward_mode._current_level >= 0
        or torch.is_autocast_enabled("cuda")
        or _profiling()
        or _tracing() is not None
    ):
        return None
    key: list[Any] = []
    gradient = False
    for value in (*args, *kwargs, *kwargs.values()) if kwargs else args:
        kind = type(value)
        if kind is Tensor or kind is torch.nn.Parameter:
            if not value.is_cuda or value.is_neg() or value.layout is not torch.strided:
                return None
            gradient = gradient or value.requires_grad
            key += (value.shape, value.stride(), value.dtype, value.data_ptr() & 15)
            tensors.append(value)
        elif kind in _PLAIN:
            key += (kind, repr(value) if kind is float and not value else value)
        elif kind is tuple and all(type(each) is int for each in value):
            key += (kind, value)
        else:
            return None
    if not tensors:
        return None
    key.append(gradient and _wants_gradients())
    return tuple(key)


def planned(function: Callable[P, R]) -> Callable[P, R]:
    """Makes calls of a function cost what their launches cost, where no gradient is wanted of them."""
    return _planned(function, has_gradient=True)


def planned_without_gradient(function: Callable[P, R]) -> Callable[P, R]:
    """Makes calls of a function that has no gradient cost what their launches cost."""
    return _planned(function, has_gradient=False)


def _planned(function: Callable[P, R], has_gradient: bool) -> Callable[P, R]:
    kinds = Kinds(function)
    get = kinds.get

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _is_compiling() or not are_possible():
            return function(*args, **kwargs)
        tensors: list[Tensor] = []
        key = key_of(args, kwargs, tensors)
        if key is None or (has_gradient and key[-1]):
            return function(*args, **kwargs)
        known = get(key)
        if known.__class__ is _FUNCTION:
            return known(*tensors)
        return kinds.unplanned(known, key, tensors, args, kwargs)

    call.kinds = kinds  # pyright: ignore[reportAttributeAccessIssue, reportFunctionMemberAccess]
    return cast(Callable[P, R], call)


_FUNCTION = type(planned)


def operator(
    registered: Any, backward: Callable[..., Any] | None, save: Callable[..., None] | None
) -> Callable[..., Any]:
    """Returns what a registered operator is called by: its plan, or where there is none the operator."""
    kinds = Kinds(registered)
    get = kinds.get

    def run(args: tuple[Any, ...], key: Key, tensors: list[Tensor]) -> Any:
        known = get(key)
        if known.__class__ is _FUNCTION:
            return known(*tensors)
        return kinds.unplanned(known, key, tensors, args, {})

    differentiable = None if backward is None else _differentiable(run, backward, save)

    def call(*args: Any) -> Any:
        if _is_compiling() or not are_possible():
            return registered(*args)
        tensors: list[Tensor] = []
        key = key_of(args, {}, tensors)
        if key is None:
            return registered(*args)
        if not key[-1]:
            return run(args, key, tensors)
        return registered(*args) if differentiable is None else differentiable.apply(*args, (key, tensors))

    return call


def _differentiable(
    run: Callable[..., Any], backward_of: Callable[..., Any], save: Callable[..., None] | None
) -> Any:
    """The operator with its gradient for torch's autograd alone, without the dispatcher between them."""

    class Differentiable(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            *inputs, (key, tensors) = args
            result = run(tuple(inputs), key, tensors)
            if save is not None:
                save(ctx, inputs, result)
            return result

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            got = backward_of(ctx, *grads)
            return (*got, None) if isinstance(got, tuple) else (got, None)

    return Differentiable
