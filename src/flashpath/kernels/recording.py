"""Follows what a rung's host function decides, in the place of running it.

The host function is called with tensors that only seem to be tensors: they have a type, extents and an
address, and every number that it computes from these is followed (`jit/export/followed.py`). What it compares
becomes a guard, and the kernel that it launches is noted with its grid and its arguments.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import operator
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from flashpath.errors import FlashpathError
from flashpath.jit import Kernel, observing
from flashpath.jit.export.description import declared, split
from flashpath.jit.export.expressions import (
    Expression,
    Number,
    Operation,
    Symbol,
    apply,
    evaluate,
    simplified,
    substituted,
    symbols,
)
from flashpath.jit.export.followed import Known, Trace
from flashpath.jit.export.library import MAX_SHARED, SM_COUNT, Argument, Variant
from flashpath.jit.export.passing import Given, alignments, pass_all
from flashpath.kernels import building
from flashpath.kernels.rung import Rung
from flashpath.messages import Message, told

# Of the GPU that the host function is told of, an H200; a guard is kept where it decides something by them.
_A_GPU: Mapping[Symbol, int] = {SM_COUNT: 132, MAX_SHARED: 232448}
# What torch's operators do not compute: they make or look at a tensor.
_HARMLESS = {"empty", "empty_like", "new_empty", "view", "alias", "detach", "slice", "select", "as_strided"}


class Recording:
    """One call of a rung's host function, followed instead of run."""

    def __init__(self, rung: Rung, signature: str, architectures: tuple[str, ...]) -> None:
        self._rung, self._signature, self._architectures = rung, signature, architectures
        self._trace = Trace()
        self._apart: dict[Expression, None] = {}
        self._launches: list[_Launch] = []
        self._tensors: list[_Tensor] = []
        self.arguments: list[Argument] = []
        self.values: dict[Symbol, int] = dict(_A_GPU)
        self.sm_count, self.max_shared = (self._trace.known(*each) for each in _A_GPU.items())
        positional, options = _as_taken(rung.function, dict(self._options()))
        try:
            inspect.signature(rung.function).bind(*positional, **options)
        except TypeError as error:
            raise FlashpathError("kernels.export-arguments", rung=rung.name, problem=str(error)) from None
        with self._followed():
            try:
                rung.function(*positional, **options)
            except (AttributeError, TypeError, NotImplementedError) as error:
                if isinstance(error, FlashpathError):
                    raise
                self._refuse(told("kernels.export-unfollowed", problem=str(error)))
        if len(self._launches) != 1:
            self._refuse(told("kernels.export-launches", count=len(self._launches)))

    def _options(self) -> Iterator[tuple[str, Any]]:
        """The arguments of the host function, by name: tensors, and options that are fixed."""
        for text in split(self._signature):
            name, is_option, value = text.partition("=")
            if is_option and ":" not in name:
                yield name.strip(), _literal(text, value)
                continue
            name, kind, extents = declared(text)
            if extents is None:
                raise FlashpathError("kernels.export-number-of-rung", name=name)
            shape = [_extent(text, extent) for extent in extents]
            argument = Argument(len(self.arguments), name, "tensor", kind, len(shape))
            self.arguments.append(argument)
            self._tensors.append(_Tensor(self._trace, argument, shape, self.values))
            yield name, self._tensors[-1].stand_in()

    # ---- Following

    @contextmanager
    def _followed(self) -> Generator[None]:
        torchs: Any = importlib.import_module("torch.utils._python_dispatch")
        recording = self

        class Refusing(torchs.TorchDispatchMode):
            """Sees what torch computes for the host function, which the library could not."""

            def __torch_dispatch__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                recording.may_call(str(function.overloadpacket))
                return function(*args, **(kwargs or {}))

        building.follower, before = self, building.follower
        observing.observer, observer = self, observing.observer
        try:
            with Refusing():
                yield
        finally:
            building.follower, observing.observer = before, observer

    def may_call(self, operator: str) -> None:
        """Refuses what torch would compute; allocations and views compute nothing."""
        if operator.removeprefix("aten.") not in _HARMLESS:
            self._refuse(told("kernels.export-torch", operator=operator))

    def kernel(self, compiled: Callable[[str], Kernel]) -> Any:
        return _KernelStandIn(self, tuple(compiled(arch) for arch in self._architectures))

    def apart(self, one: Any, other: Any) -> None:
        first, second = self._tensor_of(one), self._tensor_of(other)
        if first is None or second is None:
            return  # memory of the host function's own; a launch that is given it is refused
        a, b = first.argument, second.argument
        if a is b:
            self._refuse(told("kernels.export-overlap", name=a.name))
        memory = [part for each in (a, b) for part in (each.address, apply("*", each.size, each.item_bytes))]
        self._apart[Operation("apart", tuple(memory))] = None

    def launched(self, launcher: Any, args: Any, parameters: bytes, where: int) -> None:
        self._refuse(told("kernels.export-unseen", kernel=launcher.kernel.name))

    def lent(self, tensor: Any, again: Callable[[], Any]) -> None:
        self._refuse(told("kernels.export-memory"))

    def note(self, launch: _Launch) -> None:
        self._launches.append(launch)

    def _tensor_of(self, value: Any) -> _Tensor | None:
        return next((each for each in self._tensors if each.is_stood_for_by(value)), None)

    def _refuse(self, why: Message) -> None:
        raise FlashpathError("kernels.export-refused", rung=self._rung.name, why=why)

    # ---- What was recorded

    def is_covered_by(self, variant: Variant) -> bool:
        """Whether a variant takes this call: it is of the same types, and its guards hold."""
        types = [[(each.dtype, each.rank) for each in some] for some in (variant.arguments, self.arguments)]
        return types[0] == types[1] and all(evaluate(guard, self.values) for guard in variant.guards)

    def variant(self) -> Variant:
        """Returns what was recorded, in as few words as its guards allow."""
        (launch,) = self._launches
        fixed, guards = simplified([*self._apart, *self._trace.guards])

        def number(value: Any) -> Number:
            return substituted(_number(value), fixed)

        given = [self._given(each) for each in launch.args]
        passed = pass_all(
            launch.kernels[0],
            [substituted(each, fixed) if isinstance(each, Symbol | Operation) else each for each in given],
        )
        # What asks for the GPU comes last: everything else is told without one.
        of_gpu = [each for each in guards if not symbols(each).isdisjoint(_A_GPU)]
        first = [each for each in guards if each not in of_gpu]
        return Variant(
            tuple(self.arguments),
            tuple(dict.fromkeys((*alignments(passed), *first, *of_gpu))),
            launch.kernels,
            _three(launch.grid, number),
            _three(launch.block, number),
            number(launch.shared),
            passed,
        )

    def _given(self, value: Any) -> Given:
        if value is None:
            return None
        if isinstance(value, float | np.floating):
            return float(cast("float", value))
        tensor = self._tensor_of(value)
        if tensor is not None:
            return tensor.argument
        if hasattr(value, "data_ptr"):
            self._refuse(told("kernels.export-memory"))
        return _number(value)


@dataclass(frozen=True)
class _Launch:
    kernels: tuple[Kernel, ...]
    grid: Any
    block: Any
    shared: Any
    args: Sequence[Any]


class _KernelStandIn:
    """Has a kernel's ways to be launched, and notes what it is launched with."""

    def __init__(self, recording: Recording, kernels: tuple[Kernel, ...]) -> None:
        self._recording, self._kernels = recording, kernels

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        grid, block, *rest = configuration
        return lambda *args: self.launch(grid, block, args, *rest)

    def launch(
        self,
        grid: Any,
        block: Any,
        args: Sequence[Any] = (),
        shared: Any = 0,
        stream: Any = None,
        **more: Any,
    ) -> None:
        if stream is not None or any(value for option, value in more.items() if option != "exact"):
            raise FlashpathError("kernels.export-launch-options", kernel=self._kernels[0].name)
        self._recording.note(_Launch(self._kernels, grid, block, shared, args))


class _Tensor:
    """A contiguous tensor whose extents and address are followed."""

    def __init__(
        self, trace: Trace, argument: Argument, shape: Sequence[int], values: dict[Symbol, int]
    ) -> None:
        self.argument = argument
        self._shape = list(shape)
        size = 1
        for extent in shape:
            size *= extent
        # Far from each other, and aligned as all allocators align.
        address = (argument.index + 1) << 44
        values |= {argument.extent(k): extent for k, extent in enumerate(shape)}
        values |= {argument.size: size, argument.address: address}
        self.extents = tuple(trace.known(argument.extent(k), extent) for k, extent in enumerate(shape))
        self.size = trace.known(argument.size, size)
        self.address = trace.known(argument.address, address)
        self._stand_in: Any = None

    def stand_in(self) -> Any:
        """A torch tensor that answers by followed numbers; it has no memory."""
        torch: Any = importlib.import_module("torch")
        dtype = getattr(torch, self.argument.dtype)
        plain = torch.empty(1, dtype=dtype).as_strided(self._shape, [0] * len(self._shape))
        self._stand_in = _stand_in_class()._make_subclass(_stand_in_class(), plain)
        self._stand_in.followed = self
        return self._stand_in

    def is_stood_for_by(self, value: Any) -> bool:
        return value is self._stand_in


_classes: list[Any] = []


def _stand_in_class() -> Any:
    if not _classes:
        torch: Any = importlib.import_module("torch")

        class StandIn(torch.Tensor):
            """Answers what host functions ask of a tensor."""

            followed: _Tensor
            __torch_function__ = torch._C._disabled_torch_function_impl

            @property
            def is_cuda(self) -> bool:
                """Refused: what is decided by it is not the same on a GPU, where the library runs."""
                raise FlashpathError("kernels.export-place", name=self.followed.argument.name)

            @property
            def shape(self) -> tuple[Known, ...]:
                return self.followed.extents

            def size(self, dim: int | None = None) -> Any:
                return self.shape if dim is None else self.shape[dim]

            def __len__(self) -> int:
                return int(self.shape[0])

            def numel(self) -> Known:
                return self.followed.size

            def data_ptr(self) -> Known:
                return self.followed.address

            def is_contiguous(self, **_: Any) -> bool:
                return True

            def stride(self, dim: int | None = None) -> Any:
                steps: list[Any] = [1]
                for extent in reversed(self.shape[1:]):
                    steps.insert(0, extent * steps[0])
                return tuple(steps) if dim is None else steps[dim]

        _classes.append(StandIn)
    return _classes[0]


def _as_taken(function: Callable[..., Any], given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by position and by name: what has a name of its own alone is of the function's *operands."""
    parameters = inspect.signature(function).parameters
    rest = [name for name, each in parameters.items() if each.kind is each.VAR_POSITIONAL]
    before = list(parameters)[: list(parameters).index(rest[0])] if rest else []
    if not rest or not given.keys() >= set(before):
        return [], given
    operands = [value for name, value in given.items() if name not in parameters]
    named = {name: value for name, value in given.items() if name in parameters and name not in before}
    return [*(given[name] for name in before), *operands], named


def _number(value: Any) -> Number:
    return value.number if isinstance(value, Known) else operator.index(value)


def _three(value: Any, number: Callable[[Any], Number]) -> tuple[Number, Number, Number]:
    """A grid or block as three numbers."""
    given = list(cast("Sequence[Any]", value)) if isinstance(value, tuple | list) else [value]
    x, y, z = [*map(number, given), 1, 1][:3]
    return x, y, z


def _literal(text: str, value: str) -> Any:
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        raise FlashpathError("kernels.export-option", text=text) from None


def _extent(text: str, extent: str) -> int:
    if not extent.isdecimal():
        raise FlashpathError("kernels.export-extent", text=text, extent=extent)
    return int(extent)
