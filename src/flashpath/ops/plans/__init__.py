"""Plans: what a call decides is decided once for its kind, and a call of a known kind only launches.

The kind of a call, its key, is everything that its decisions depend on: shapes, strides, types, alignment
and device of its tensors, and its other arguments with their types. The first call of a key takes the usual
way, the second is recorded on that way (recording.py), and what was recorded is made into a function
(replay.py) that allocates, fills in addresses and launches. What is refused raises before there is a plan, so
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
from flashpath.ops.plans import gradient, keys, recording, replay
from flashpath.ops.plans.trace import NotPlannable

P = ParamSpec("P")
R = TypeVar("R")
Tensor = torch.Tensor
Key = tuple[Any, ...]

MOST_KEYS = 1024  # of a function: the oldest goes
_SEEN: Final = object()

_torch: Any = torch
_c = _torch._C
_modes, _function_modes = _c._len_torch_dispatch_stack, _c._len_torch_function_stack
_transforms = _c._functorch.peek_interpreter_stack
_tracing, _profiling = _c._get_tracing_state, _c._autograd._profiler_enabled
_has_autocast, _has_gradients = _c._is_any_autocast_enabled, torch.is_grad_enabled
_is_traced_by_dynamo = torch.compiler.is_dynamo_compiling  # other compilers trace with modes
_forward_mode: Any = forward_ad


class Kinds:
    """The plans of one function by their keys, for all threads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._plans: dict[Key, Any] = {}
        self._lock = threading.Lock()
        self.get: Callable[[Key], Any] = self._plans.get

    def __len__(self) -> int:
        return len(self._plans)

    def count(self) -> int:
        """Returns the number of plans; keys that were seen once, or have no plan, are not counted."""
        return sum(plan.__class__ in _PLANS for plan in self._plans.values())

    def obstacles(self) -> list[str]:
        """Says why calls have no plan, of those that were tried."""
        return [str(plan) for plan in self._plans.values() if isinstance(plan, NotPlannable)]

    def unplanned(self, key: Key, wants_gradient: bool, args: Any, kwargs: Any) -> Any:
        """Calls the function the usual way, and makes a plan of it where it is time for one."""
        known = self.get(key)
        given = (*args, *kwargs.values())
        tensors = [x for x in given if isinstance(x, Tensor)]
        if known.__class__ is NotPlannable or not tensors or not all(map(keys.is_plain, given)):
            return self.function(*args, **kwargs)
        if known is None or _c._cuda_isCurrentStreamCapturing():
            result = self.function(*args, **kwargs)
            self._keep(key, _SEEN)
            return result
        with torch.set_grad_enabled(_has_gradients() and not wants_gradient):
            result, recorder = recorded(self.function, args, kwargs, wants_gradient)
        plan: Any = None if recorder is None else _plan(recorder, result, tensors, wants_gradient)
        if plan is not None:
            self._keep(key, plan)
        if not wants_gradient:
            return result
        del result, recorder  # what the recorded call made is not needed: this call is made again
        is_planned = plan.__class__ in _PLANS
        return cast(Any, plan)(*tensors) if is_planned else self.function(*args, **kwargs)

    def _keep(self, key: Key, plan: Any) -> None:
        with self._lock:
            if key not in self._plans and len(self._plans) >= MOST_KEYS:
                self._plans.pop(next(iter(self._plans)))
            self._plans[key] = plan


def recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wants_gradient: bool = False,
) -> tuple[Any, recording.Recorder | None]:
    """Calls a function while a recorder follows, if none follows another call. Gives the result, and it."""
    # A tensor that is given twice is two arguments: recorders tell tensors by the object.
    args = tuple(x.detach() if isinstance(x, Tensor) else x for x in args)
    kwargs = {name: x.detach() if isinstance(x, Tensor) else x for name, x in kwargs.items()}
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    with recording.recording(given, wants_gradient) as recorder:
        return function(*args, **kwargs), recorder


def _plan(recorder: recording.Recorder, result: Any, tensors: list[Tensor], wants_gradient: bool) -> Any:
    def compiled(trace: Any) -> Callable[..., Any]:
        return replay.compiled(trace, len(tensors), tensors[0].get_device(), _driver())

    try:
        trace = recorder.trace(result)
        return (
            gradient.planned(trace, recorder.calls, tensors, compiled, planned_without_gradient)
            if wants_gradient
            else compiled(trace)
        )
    except NotPlannable as obstacle:
        return NotPlannable(*obstacle.args)  # without the frames that it was raised in
    except Exception as error:  # a plan is never worth a call
        return NotPlannable(repr(error))


@functools.cache
def _driver() -> replay.Driver:
    return replay.Driver()


@functools.cache
def are_possible() -> bool:
    """Whether calls are planned at all: where there is one GPU, and no launch is to be printed."""
    return torch.cuda.is_available() and torch.cuda.device_count() == 1 and not settings.debug()


def is_followed() -> bool:
    """Whether something follows or changes what a call does: a compiler, a mode, autocast, a profiler."""
    return (
        _is_traced_by_dynamo()
        or _modes()
        or _function_modes()
        or _transforms() is not None
        or _forward_mode._current_level >= 0
        or _has_autocast()
        or _profiling()
        or _tracing() is not None
    )


def planned(function: Callable[P, R]) -> Callable[P, R]:
    """Makes calls of a function cost what their launches cost."""
    return _planned(function, has_gradient=True)


def planned_without_gradient(function: Callable[P, R]) -> Callable[P, R]:
    """Makes calls of a function that has no gradient cost what their launches cost."""
    return _planned(function, has_gradient=False)


def _planned(function: Callable[P, R], has_gradient: bool) -> Callable[P, R]:
    kinds = Kinds(function)
    get, key_of = kinds.get, keys.KeyMakers().get

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_followed() or not are_possible():
            return function(*args, **kwargs)
        types = tuple(map(type, args))
        make = key_of((*types, *kwargs, *map(type, kwargs.values())) if kwargs else types)
        if make is None:
            return function(*args, **kwargs)
        try:
            key, wants_gradient, tensors = make(*args, **kwargs)
            if wants_gradient:
                wants_gradient = has_gradient and _has_gradients()
                key = (key, wants_gradient)
            known = get(key)
        except (RuntimeError, TypeError):  # tensors without strides, tuples of what has no hash
            return function(*args, **kwargs)
        if known.__class__ in _PLANS:
            return known(*tensors)
        return kinds.unplanned(key, wants_gradient, args, kwargs)

    if isinstance(function, _FUNCTION):
        functools.update_wrapper(call, function)
    call.kinds = kinds  # pyright: ignore[reportFunctionMemberAccess]
    return cast(Callable[P, R], call)


_FUNCTION = type(planned)
_PLANS = (_FUNCTION, gradient.GradientPlan)
