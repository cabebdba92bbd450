"""A plan with a gradient: the recorded call forward, the operator's own gradient backward.

A function that calls one operator on its arguments, or on what has the same elements in the same order, needs
nothing else: what the operator saves is found once, and each call keeps those of its tensors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import torch

from flashpath.ops.plans.recording import OPERATORS, Called
from flashpath.ops.plans.trace import Given, NotPlannable, Part, Trace

Tensor = torch.Tensor
Source = tuple[int, Any] | None  # an index, and the shape to bring the tensor into, if it has another


class _Probe:
    """Stands for autograd's context once, and takes down what the operator keeps in it."""

    def __init__(self) -> None:
        self.saved: Sequence[Part | None] = ()
        self.constant: Sequence[Part] = ()
        self.materializes = True

    def save_for_backward(self, *parts: Part | None) -> None:
        self.saved = parts

    def mark_non_differentiable(self, *parts: Part) -> None:
        self.constant = parts

    def set_materialize_grads(self, value: bool) -> None:
        self.materializes = value


class _Context:
    """Autograd's context as the operator's gradient knows it."""

    saved_tensors: tuple[Any, ...]
    needs_input_grad: tuple[bool, ...]


class GradientPlan(NamedTuple):
    """What is known of all calls of a key."""

    replay: Callable[..., tuple[Any, ...]]  # tensors → results, then what else is saved
    results: int
    is_tuple: bool
    kept: Sequence[int]  # what is saved: indices into the tensors, what replay returns, and at the end None
    constant: Sequence[int]  # results without a gradient
    materializes: bool
    backward: Backward

    def __call__(self, *tensors: Tensor) -> Any:
        got = _apply(self, *tensors)
        return got if self.is_tuple else got[0]


class Backward:
    """The operator's own gradient, as functions of the results' gradients and then the saved tensors.

    There is one for each choice of inputs that want a gradient, and it has plans of its own: what torch's
    functions and the operator's decide on the way to the launches is decided once here, too.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        attributes: dict[str, Any],
        grads: Sequence[Source],  # for each output of the operator: which result's gradient
        saved: Sequence[Source],  # for each tensor that it saves: the shape that it has there
        inputs: Sequence[Source],  # for each argument of the operator: which tensor
        shapes: Sequence[Any],  # of the tensors, where a gradient has another
        results: int,
        planned: Callable[[Callable[..., Any]], Callable[..., Any]],
    ) -> None:
        self._function, self._attributes = function, attributes
        self._grads, self._saved, self._inputs, self._shapes = grads, saved, inputs, shapes
        self._results, self._planned = results, planned
        self._ways: dict[tuple[bool, ...], tuple[Callable[..., Any], Callable[..., Any]]] = {}

    def way(self, needs: tuple[bool, ...], is_differentiated: bool) -> Callable[..., tuple[Any, ...]]:
        """Returns the function; a gradient that is itself differentiated has no plan."""
        try:
            return self._ways[needs][is_differentiated]
        except KeyError:
            usual = functools.partial(self._usual, needs)
            self._ways[needs] = self._planned(usual), usual
            return self._ways[needs][is_differentiated]

    def _usual(self, needs: tuple[bool, ...], *given: Any) -> tuple[Any, ...]:
        grads, saved = given[: self._results], given[self._results :]
        context = _Context()
        context.__dict__.update(self._attributes)
        context.saved_tensors = tuple(
            x if at is None or at[1] is None else x.reshape(at[1])
            for x, at in zip(saved, self._saved, strict=True)
        )
        context.needs_input_grad = tuple(at is not None and needs[at[0] + 1] for at in self._inputs)
        of_outputs = [None if at is None else _shaped(grads[at[0]], at[1]) for at in self._grads]
        got = self._function(context, *of_outputs)
        of_inputs: list[Any] = [None] * len(needs)
        of_arguments = cast(tuple[Any, ...], got if isinstance(got, tuple) else (got,))
        for at, grad in zip(self._inputs, of_arguments, strict=True):
            if at is not None and grad is not None:
                of_inputs[at[0] + 1] = _shaped(grad, self._shapes[at[0]])
        return tuple(of_inputs)


class _Planned(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, plan: GradientPlan, *tensors: Tensor) -> Any:
        made = plan.replay(*tensors)
        ctx.backward_of_plan = plan.backward
        every = (*tensors, *made, None)
        ctx.save_for_backward(*[every[at] for at in plan.kept])
        if plan.constant:
            ctx.mark_non_differentiable(*[made[i] for i in plan.constant])
        if not plan.materializes:
            ctx.set_materialize_grads(False)
        return made[: plan.results]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        way = ctx.backward_of_plan.way(ctx.needs_input_grad, _has_gradients())
        return way(*grads, *ctx.saved_tensors)


# Function.apply itself asks for functorch's transformations first, under which there are no plans.
_base: Any = super(torch.autograd.Function, _Planned)
_apply = _base.apply
_has_gradients = torch.is_grad_enabled


def _shaped(grad: Any, shape: Any) -> Any:
    return grad if grad is None or shape is None else grad.reshape(shape)


def planned(
    trace: Trace,
    calls: Sequence[Called],
    tensors: Sequence[Tensor],
    compiled: Callable[[Trace], Any],
    planned_alone: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> GradientPlan:
    """Returns the plan of a recorded call, or says why its gradient is not that of one operator.

    `planned_alone` gives a function of tensors plans of its own.
    """
    if len(calls) != 1:
        raise NotPlannable("a gradient through other than one operator")
    (called,) = calls
    operator = OPERATORS[called.function]
    if operator.backward is None:
        raise NotPlannable("an operator without a gradient")
    probe = _Probe()
    returned: Any = called.outputs
    outputs: list[Any] = list(returned) if type(returned) is tuple else [returned]  # pyright: ignore[reportUnknownArgumentType]
    if operator.save is not None:
        operator.save(probe, called.args, returned)
    attributes = {
        name: value
        for name, value in vars(probe).items()
        if name not in ("saved", "constant", "materializes")
    }
    is_tuple = isinstance(trace.result, tuple)
    results: list[Any] = list(trace.result) if is_tuple else [trace.result]
    if not all(isinstance(each, Part) for each in results):
        raise NotPlannable("a result that is not a tensor")
    inputs = [_source(arg, tensors) for arg in called.args]
    taken = [at[0] for at in inputs if at is not None]
    for position, tensor in enumerate(tensors):
        if tensor.is_floating_point() and taken.count(position) != 1:
            raise NotPlannable("a tensor that the operator is not given as it is")
    every: list[Any] = [*_given_of(called.args, inputs, tensors), *results]
    saved: list[Source] = []
    for part in probe.saved:
        if part is None:
            saved.append(None)
            continue
        at = _index(part, every)
        if at is None:
            every.append(part)
            at = len(every) - 1, None
        saved.append(at)
    extra = every[len(tensors) + len(results) :]
    shapes = [
        tensor.shape if any(at is not None and at[0] == i and at[1] is not None for at in inputs) else None
        for i, tensor in enumerate(tensors)
    ]
    return GradientPlan(
        compiled(Trace(trace.steps, (*results, *extra))),
        len(results),
        is_tuple,
        [-1 if at is None else at[0] for at in saved],
        # A reshaping of what has no gradient has none either.
        [i for i, part in enumerate(results) if any(part.memory is each.memory for each in probe.constant)],
        probe.materializes,
        Backward(
            operator.backward,
            attributes,
            [_index(output, results) for output in outputs],
            saved,
            inputs,
            shapes,
            len(results),
            planned_alone,
        ),
    )


def _given_of(args: Sequence[Any], inputs: Sequence[Source], tensors: Sequence[Tensor]) -> list[Any]:
    """The part of each of the call's tensors."""
    parts: list[Any] = [None] * len(tensors)
    for arg, at in zip(args, inputs, strict=True):
        if at is not None:
            given = arg.memory
            parts[at[0]] = Part(given, 0, given.shape, given.strides, given.dtype)
    return parts


def _source(arg: Any, tensors: Sequence[Tensor]) -> Source:
    """Which of the call's tensors an operator's argument is."""
    if not isinstance(arg, Part):
        return None
    given = arg.memory
    if not isinstance(given, Given):
        if arg.dtype.is_floating_point:
            raise NotPlannable("a copy as an operator's argument")
        return None
    whole = Part(given, 0, given.shape, given.strides, given.dtype)
    return given.position, _reshaped(arg, whole)


def _index(part: Part, among: Sequence[Any]) -> Source:
    """Which of these has the elements of a part, and the shape that makes it equal to it."""
    for i, each in enumerate(among):
        if each is not None and each.memory is part.memory:
            try:
                return i, _reshaped(part, each)
            except NotPlannable:
                continue
    return None


def _reshaped(part: Part, of: Part) -> Any:
    """The shape that makes `part` of `of`; None where they are the same."""
    if part == of:
        return None
    same = (
        part.offset == of.offset and part.dtype == of.dtype and math.prod(part.shape) == math.prod(of.shape)
    )
    if same and _is_contiguous(part) and _is_contiguous(of):
        return part.shape
    raise NotPlannable("a view that is not a reshaping")


def _is_contiguous(part: Part) -> bool:
    expected = 1
    for extent, stride in zip(reversed(part.shape), reversed(part.strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True
