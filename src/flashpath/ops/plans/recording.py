"""Records what a call does, while it does it on its usual way.

torch's operators are seen by a dispatch mode, launches by the hooks of `fp.jit` and of Triton. What is not
understood, such as a look at numbers on the GPU, ends the recording and not the call.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from flashpath.jit import observing
from flashpath.jit.arguments import Strided
from flashpath.ops.plans import triton_launches
from flashpath.ops.plans.trace import (
    Changed,
    Given,
    Launch,
    Lent,
    Made,
    Memory,
    NotPlannable,
    Operation,
    Parameter,
    Part,
    Step,
    Trace,
)

Tensor = torch.Tensor


class Operator(NamedTuple):
    """An operator of this library: what runs it, the positions of what it writes to, and its gradient."""

    forward: Callable[..., Any]
    written: Sequence[int]
    backward: Callable[..., Any] | None
    save: Callable[..., None] | None


OPERATORS: dict[Any, Operator] = {}

_ALLOCATIONS = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
# Operators that depend on their arguments alone (randint on torch's generator too), and wait for nothing.
_REPEATABLE = frozenset(
    """
    zeros zeros_like new_zeros full full_like new_full zero_ fill_ copy_ clone contiguous reshape to _to_copy
    arange add sub mul div neg exp exp2 sum mean amax diff where eq masked_fill cat constant_pad_nd index_add_
    randint scatter_ flip roll floor_divide remainder rsub index
    """.split()  # noqa: SIM905
)
_recording = threading.Lock()


class Called(NamedTuple):
    """A call of one of this library's operators, with parts for tensors."""

    function: Any
    args: tuple[Any, ...]
    outputs: Any


def _is_view(function: Any, output: Tensor, of: Tensor) -> bool:
    """Whether an operator gave a view of an argument that it did not write to; some copy where they must."""
    aliases = (each.alias_info for each in function._schema.returns)
    may_be = any(alias is not None and not alias.is_write for alias in aliases)
    return may_be and output.untyped_storage().data_ptr() == of.untyped_storage().data_ptr()


def _layout(tensor: Tensor) -> tuple[torch.Size, tuple[int, ...], torch.dtype]:
    return tensor.shape, tuple(tensor.stride()), tensor.dtype


class Recorder(TorchDispatchMode):
    """Follows one call on the thread that makes it."""

    def __init__(self, given: Sequence[Tensor], wants_gradient: bool) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.wants_gradient = wants_gradient
        self.steps: list[Step] = []
        self.calls: list[Called] = []
        self.obstacle: str | None = None
        self.thread = threading.get_ident()
        self._device = given[0].device
        self._parts: dict[int, Part] = {}
        self._alive: list[Any] = []  # so that no id comes twice
        self._ranges: list[tuple[int, int]] = []
        for position, tensor in enumerate(given):
            self._remember(tensor, Given(position, *_layout(tensor)))

    # ---- Tensors ---------------------------------------------------------------------------------------

    def _remember(self, tensor: Tensor, memory: Memory, base: int | None = None) -> None:
        address = tensor.data_ptr()
        offset = 0 if base is None else address - base
        self._parts[id(tensor)] = Part(memory, offset, *_layout(tensor))
        self._alive.append(tensor)
        self._ranges.append((address, address + max(1, tensor.untyped_storage().nbytes())))

    def part(self, tensor: Tensor) -> Part:
        try:
            return self._parts[id(tensor)]
        except KeyError:
            raise NotPlannable("a tensor that is neither an argument nor made by the call") from None

    def parts(self, value: Any) -> Any:
        """The same with parts for tensors."""

        def of(x: Any) -> Any:
            return self.part(x) if isinstance(x, Tensor) else x

        return tree_map(of, value)

    def constant(self, content: bytes) -> bytes:
        """The bytes of a parameter that is the same in each call; an address hidden in it would not be."""
        for at in range(0, len(content) - 7, 4):
            value = int.from_bytes(content[at : at + 8], "little")
            if any(first <= value < last for first, last in self._ranges if first):
                raise NotPlannable("an address that is passed as a number")
        return content

    # ---- torch's operators -----------------------------------------------------------------------------

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in OPERATORS:
            operator = OPERATORS[func]
            with self:
                result = operator.forward(*args, **kwargs)
            for position in operator.written:
                self._try(lambda x=args[position]: self.steps.append(Changed(self.part(x))))
            defaults = (each.default_value for each in func._schema.arguments[len(args) :])
            every = *args, *defaults  # torch leaves out what equals a default
            self._try(lambda: self.calls.append(Called(func, self.parts(every), self.parts(result))))
            return result
        result = func(*args, **kwargs)
        self._try(lambda: self._operated(func, args, kwargs, result))
        return result

    def _operated(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        name = func._schema.name.removeprefix("aten::")
        outputs = [each for each in tree_flatten(result)[0] if isinstance(each, Tensor)]
        inputs = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
        if any(each.device != self._device for each in (*inputs, *outputs)):
            raise NotPlannable(f"{name} on another device")
        if name in _ALLOCATIONS:
            self._make(outputs[0])
        elif inputs and outputs and _is_view(func, outputs[0], inputs[0]):
            base = self.part(inputs[0])
            for output in outputs:
                if id(output) not in self._parts:
                    self._remember(output, base.memory, inputs[0].data_ptr() - base.offset)
        elif name in _REPEATABLE:
            made = [self._make(each) for each in outputs if id(each) not in self._parts]
            self.steps.append(Operation(func, self.parts(tuple(args)), self.parts(kwargs), made))
        else:
            raise NotPlannable(name)

    def _make(self, tensor: Tensor) -> Made:
        size = tensor.untyped_storage().nbytes()
        made = Made(*_layout(tensor), size)
        self._remember(tensor, made)
        return made

    # ---- Launches --------------------------------------------------------------------------------------

    def launched(self, launcher: Any, args: Any, parameters: bytes, where: int) -> None:
        """Takes down a launch of `fp.jit`."""
        if threading.get_ident() == self.thread:
            self._try(lambda: self.steps.append(self._launch(launcher, args, parameters, where)))

    def _launch(self, launcher: Any, args: Any, packed: bytes, where: int) -> Launch:
        kernel = launcher.kernel
        parameters: list[Parameter] = []
        for parameter, arg in zip(kernel.signature.parameters, args, strict=True):
            value = arg.tensor if isinstance(arg, Strided) else arg
            if isinstance(value, Tensor):
                parameters.append(self.part(value))
            elif parameter.kind == "pointer" and value is not None:
                raise NotPlannable(f"a {type(value).__name__} as a pointer")
            else:
                content = packed[parameter.offset : parameter.offset + parameter.size]
                parameters.append(self.constant(content))
        handle = kernel.loaded(where).handle if where >= 0 else 0
        return Launch(kernel.name, handle, launcher.shape, parameters, kernel)

    def launched_triton(self, function: Any, kernel: Any, grid: Any, args: Any, kwargs: Any) -> None:
        """Takes down a launch of Triton's."""
        if threading.get_ident() == self.thread:
            self._try(
                lambda: self.steps.append(
                    triton_launches.launch(function, kernel, grid, args, kwargs, self.part, self.constant)
                )
            )

    def lent(self, tensor: Any, again: Callable[[], Any]) -> None:
        """Takes down memory that is asked for anew by each call."""
        if threading.get_ident() == self.thread:
            self._remember(tensor, Lent(again, *_layout(tensor)))

    # ---- The end ---------------------------------------------------------------------------------------

    def _try(self, take_down: Callable[[], None]) -> None:
        """The call goes on whatever the recorder thinks of it."""
        if self.obstacle is None:
            try:
                take_down()
            except NotPlannable as error:
                self.obstacle = str(error)
            except Exception as error:
                self.obstacle = repr(error)

    def trace(self, result: Any) -> Trace:
        """Returns what was recorded, or says why it cannot be repeated."""
        if self.obstacle is not None:
            raise NotPlannable(self.obstacle)
        return Trace(self.steps, self._returned(result))

    def _returned(self, result: Any) -> Any:
        if type(result) is tuple:
            return tuple(map(self._returned, cast(tuple[Any, ...], result)))
        if result is None:
            return None
        part = self.part(result)
        if not isinstance(part.memory, Made):
            raise NotPlannable("a result that is no memory of its own")
        return part


@contextmanager
def recording(given: Sequence[Tensor], wants_gradient: bool = False) -> Generator[Recorder | None]:
    """Follows what is called inside; gives None where another call is being recorded.

    `wants_gradient`: of a call that calls with a gradient will be replayed from, though this one has none.
    """
    if not _recording.acquire(blocking=False):
        yield None
        return
    try:
        recorder = Recorder(given, wants_gradient)
        observing.observer = recorder
        with _triton_told(recorder), recorder:
            yield recorder
    finally:
        observing.observer = None
        _recording.release()


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Whether somebody will ask for the gradient of one of these; what it needs is not kept for nobody."""
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        return True
    return not torch.compiler.is_compiling() and _is_recorded_for_gradient()


def _is_recorded_for_gradient() -> bool:
    """Whether this thread's call is recorded for others: it has no gradient itself."""
    observer: Any = observing.observer
    return observer is not None and observer.wants_gradient and observer.thread == threading.get_ident()


@contextmanager
def _triton_told(recorder: Recorder) -> Generator[None]:
    """Triton has no hook that sees arguments: meanwhile its `run` is another."""
    try:
        jit: Any = importlib.import_module("triton.runtime.jit").JITFunction
    except ImportError:
        yield
        return
    run = jit.run

    def told(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = run(function, *args, grid=grid, warmup=warmup, **kwargs)
        if not warmup:
            recorder.launched_triton(function, kernel, grid, args, kwargs)
        return kernel

    jit.run = told
    try:
        yield
    finally:
        jit.run = run
