"""`fp.export`: a kernel, or a rung of a ladder, as a library with one TVM-FFI function.

What a rung's host function decides is not written again. It is called once for each kind of call that the library
is to take, with tensors that only seem to be tensors: they have a type, extents and an address, and every number that
the function computes from these is followed. What it compares becomes a guard of the library, what it launches
becomes the library's launch. So the library does what the rung does wherever its guards hold, and says so elsewhere.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flashpath.errors import FlashpathError
from flashpath.gpus import parse_arch
from flashpath.jit import Kernel, observing
from flashpath.jit.export.building import build
from flashpath.jit.export.description import declared, describe, split
from flashpath.jit.export.expressions import (
    Expression,
    Known,
    Number,
    Operation,
    Symbol,
    Trace,
    apply,
    evaluate,
)
from flashpath.jit.export.library import MAX_SHARED, SM_COUNT, Argument, Function, Variant
from flashpath.jit.export.passing import Given, alignments, pass_all
from flashpath.jit.export.writing import about
from flashpath.kernels import building
from flashpath.kernels.rung import Rung
from flashpath.messages import Message, told

ARCHITECTURES = ("sm_80", "sm_90")
MOST_VARIANTS = 64
_A_GPU = {SM_COUNT: 132, MAX_SHARED: 232448}  # of one block, as an H200 has them


def export(
    what: Kernel | Sequence[Kernel] | Rung,
    path: str | Path,
    signature: str | Sequence[str],
    launch: str | None = None,
    *,
    name: str | None = None,
    requires: Sequence[str] = (),
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    arch: Sequence[str] = ARCHITECTURES,
) -> Path:
    """Writes a shared library with one function that TVM-FFI can call, and the kernels' code for several GPUs.

    Of a kernel, or of the same kernel compiled for several architectures:

        fp.export(saxpy, "saxpy.so", "a: float, x: float32[n], y: float32[n]",
                  "<<<cdiv(n, 256), 256>>>(n, a, x, y)")

    The signature names the function's arguments: tensors by type and extents, numbers as int or float. The launch
    is written as in CUDA. `requires` are further comparisons that have to hold, such as "n % 4 == 0".

    Of a rung, whose host function decides the launch:

        fp.export(fp.kernels.ladder("softmax")["resident"], "softmax.so",
                  "x: float32[64, n], out: float32[64, n]", sizes={"n": [128, 1000, 4096]})

    A signature then has numbers for extents. The rung is asked what it does for each combination of the sizes, and
    for each signature where there are several; the library takes every call for which the rung would do the same,
    so most extents are free. Options of the rung follow as `eps=1e-6`; they are fixed in the library.

    The function is called `name`, by default as the file is. It returns nothing: outputs are arguments.
    """
    function = name or Path(path).name.partition(".")[0]
    if not re.fullmatch(r"[A-Za-z_]\w*", function, re.ASCII):
        raise FlashpathError("kernels.export-name", name=function)
    if isinstance(what, Rung):
        if launch is not None or requires:
            raise FlashpathError("kernels.export-launch-of-rung", rung=what.name)
        texts = [signature] if isinstance(signature, str) else list(signature)
        variants = _variants_of(what, [each for text in texts for each in _sized(text, sizes or {})], arch)
    else:
        if launch is None or not isinstance(signature, str) or sizes:
            raise FlashpathError("kernels.export-launch-of-kernel")
        kernels = [what] if isinstance(what, Kernel) else list(what)
        _require_same(kernels)
        variants = (describe(kernels, signature, launch, requires),)
    return build(Function(function, variants, about(function, variants)), path)


def _require_same(kernels: Sequence[Kernel]) -> None:
    """Checks that all are the same kernel, each for another architecture."""
    if not kernels or not all(isinstance(each, Kernel) for each in kernels):
        raise FlashpathError("kernels.export-no-kernel", value=repr(kernels))
    architectures = [each.arch for each in kernels]
    same = {(each.lowered, str(each.signature)) for each in kernels}
    if len(same) != 1 or len(set(architectures)) != len(architectures):
        raise FlashpathError("kernels.export-unlike", names=[f"{each.name} ({each.arch})" for each in kernels])


def _sized(text: str, sizes: Mapping[str, Sequence[int | str]]) -> Iterator[str]:
    """The signature with each combination of sizes in the place of their names."""
    for values in itertools.product(*sizes.values()):
        sized = text
        for name, value in zip(sizes, values, strict=True):
            sized = re.sub(rf"\b{re.escape(name)}\b(?!\s*[:=])", str(value), sized)
        yield sized


# ---- Rungs -----------------------------------------------------------------------------------------------


def _variants_of(rung: Rung, signatures: Sequence[str], architectures: Sequence[str]) -> tuple[Variant, ...]:
    if rung.language != "cuda":
        raise FlashpathError("kernels.export-language", rung=rung.name, language=rung.language)
    if rung.arch != "any":
        least = parse_arch(rung.arch)
        for each in map(parse_arch, architectures):
            if (each.major, each.minor) < (least.major, least.minor):
                raise FlashpathError("kernels.export-arch", rung=rung.name, least=rung.arch, arch=each.name)
    variants: list[Variant] = []
    for signature in signatures:
        recorded = _Recording(rung, signature, tuple(architectures))
        if not any(_covers(variant, recorded) for variant in variants):
            variants.append(recorded.variant())
        names = [[(each.name, each.kind) for each in variant.arguments] for variant in variants]
        if names[-1] != names[0]:
            raise FlashpathError("kernels.export-other-arguments", signature=signature)
        if len(variants) > MOST_VARIANTS:
            raise FlashpathError("kernels.export-many", most=MOST_VARIANTS)
    if not variants:
        raise FlashpathError("kernels.export-no-signature")
    return tuple(variants)


def _covers(variant: Variant, recording: _Recording) -> bool:
    """Whether a variant takes the call that was recorded: the same types, and guards that hold."""
    if [(each.dtype, each.rank) for each in variant.arguments] != [
        (each.dtype, each.rank) for each in recording.arguments
    ]:
        return False
    return all(evaluate(guard, recording.values) for guard in variant.guards)


class _Recording:
    """One call of a rung's host function, followed instead of run."""

    def __init__(self, rung: Rung, signature: str, architectures: tuple[str, ...]) -> None:
        self._rung, self._signature, self._architectures = rung, signature, architectures
        self._trace = Trace()
        self._apart: dict[Expression, None] = {}
        self._launches: list[_Launch] = []
        self._tensors: list[_Tensor] = []
        self.arguments: list[Argument] = []
        self.values: dict[Symbol, int] = dict(_A_GPU)
        self.sm_count = self._trace.known(SM_COUNT, _A_GPU[SM_COUNT])
        self.max_shared = self._trace.known(MAX_SHARED, _A_GPU[MAX_SHARED])
        options = dict(self._options())
        try:
            inspect.signature(rung.function).bind(**options)
        except TypeError as error:
            raise FlashpathError("kernels.export-arguments", rung=rung.name, problem=str(error)) from None
        with self._followed():
            try:
                rung.function(**options)
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
    def _followed(self) -> Iterator[None]:
        torchs: Any = importlib.import_module("torch.utils._python_dispatch")
        recording = self

        class Refusing(torchs.TorchDispatchMode):
            """Sees what torch computes for the host function, which the library could not."""

            def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
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

    def variant(self) -> Variant:
        (launch,) = self._launches
        grid, block = (_three(each) for each in (launch.grid, launch.block))
        passed = pass_all(launch.kernels[0], [self._given(each) for each in launch.args])
        guards = dict.fromkeys((*alignments(passed), *self._apart, *self._trace.guards))
        return Variant(
            tuple(self.arguments), tuple(guards), launch.kernels, grid, block, _number(launch.shared), passed
        )

    def _given(self, value: Any) -> Given:
        if value is None or isinstance(value, float):
            return value
        tensor = self._tensor_of(value)
        if tensor is not None:
            return tensor.argument
        if hasattr(value, "data_ptr"):
            self._refuse(told("kernels.export-memory"))
        return _number(value)


# What torch's operators do not compute: they make or look at a tensor.
_HARMLESS = {"empty", "empty_like", "new_empty", "view", "alias", "detach", "slice", "select", "as_strided"}


@dataclass(frozen=True)
class _Launch:
    kernels: tuple[Kernel, ...]
    grid: Any
    block: Any
    shared: Any
    args: Sequence[Any]


class _KernelStandIn:
    """Has a kernel's ways to be launched, and notes what it is launched with."""

    def __init__(self, recording: _Recording, kernels: tuple[Kernel, ...]) -> None:
        self._recording, self._kernels = recording, kernels

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        grid, block, *rest = configuration
        return lambda *args: self.launch(grid, block, args, *rest)

    def launch(
        self, grid: Any, block: Any, args: Sequence[Any] = (), shared: Any = 0, stream: Any = None, **more: Any
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


def _number(value: Any) -> Number:
    return cast("Number", value.number) if isinstance(value, Known) else int(value)


def _three(value: Any) -> tuple[Number, Number, Number]:
    """A grid or block as three numbers."""
    given = [*value] if isinstance(value, (tuple, list)) else [value]
    x, y, z = [*map(_number, given), 1, 1][:3]
    return x, y, z


def _literal(text: str, value: str) -> Any:
    import ast

    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        raise FlashpathError("kernels.export-option", text=text) from None


def _extent(text: str, extent: str) -> int:
    if not extent.isdecimal():
        raise FlashpathError("kernels.export-extent", text=text, extent=extent)
    return int(extent)
