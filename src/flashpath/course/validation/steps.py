"""The four steps: edge cases, numerical stability, comparison with a reference, gradients."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from flashpath.bench.arrays import leaves
from flashpath.bench.device import load_torch
from flashpath.bench.failure import FAILURES, describe
from flashpath.course.validation.inputs import Input, edge_sizes
from flashpath.errors import FlashpathError
from flashpath.messages import Message, told

Function = Callable[..., Any]
Sizes = Mapping[str, int]
Progress = Callable[[str, Message], None]  # the step, and its check that begins now

STEPS = ("edge cases", "numerical stability", "comparison", "gradients")

_NO_FLOATS = told("course.validation.no-floats")

_REPEATS = 3
_SPECIAL = ("zeros", "ones", "large", "tiny", "±inf", "NaN")
_MOST_ELEMENTS = (1 << 22, 1 << 16)  # on a GPU; on the CPU, where the virtual GPU may have to compute them
# Steps of the finite differences of a float32 function: its own rounding is divided by them.
_DIFFERENCE = 1e-2
_SLOPE_TOLERANCE = 5e-2


@dataclass(frozen=True)
class Outcome:
    """One check: which, and what is wrong, if something is."""

    title: Message
    wrong: Message | None = None

    @property
    def check(self) -> str:
        """What was checked, in the language that is spoken."""
        return self.title.text()

    @property
    def problem(self) -> str | None:
        """What is wrong and what to do about it, in the language that is spoken."""
        if self.wrong is None:
            return None
        fix = self.wrong.fix()
        return f"{self.wrong}\n  → {fix}" if fix else str(self.wrong)


@dataclass(frozen=True)
class StepResult:
    """What a step checked; `skipped` says why where there was nothing to check."""

    step: str
    outcomes: tuple[Outcome, ...]
    skipped: Message | None = None
    was_hung: bool = False

    @property
    def failures(self) -> tuple[Outcome, ...]:
        return tuple(each for each in self.outcomes if each.wrong is not None)

    @property
    def verdict(self) -> Literal["passed", "failed", "skipped"]:
        if self.skipped is not None:
            return "skipped"
        return "failed" if self.failures else "passed"


_Step = tuple[Iterator[Outcome], Message | None]  # what a step checks; why it is not done, where it is not


def _its_words(error: BaseException) -> Message:
    """Returns what the function, or Python, says of an error."""
    return (
        error.said
        if isinstance(error, FlashpathError)
        else told("course.validation.it-says", text=describe(error))
    )


def validate(
    function: Function,
    reference: Function,
    inputs: Sequence[Input],
    *,
    sizes: Mapping[str, Sequence[int]] | None = None,
    device: str = "cpu",
    seed: int = 0,
    gradients: bool = True,
    progress: Progress | None = None,
) -> Iterator[StepResult]:
    """The steps one after the other, each yielded when it is done.

    The function is called as `function(*inputs)`, and so is the reference. The reference is taken in float64
    as the truth, and once more in the function's own precision as the measure of what that precision allows:
    the function's error may be twice that, and a little. Integers are compared bit by bit. On the CPU Triton
    kernels run on the virtual GPU. A function without gradients fails where the reference has them, unless
    `gradients` is false. `progress` is called as each check begins.
    """
    if not any(each.dtype for each in inputs):
        raise FlashpathError("course.validation.no-tensor")
    checks = _Checks(function, reference, tuple(inputs), dict(sizes or {}), device, seed)
    no_gradients = iter(()), told("course.validation.not-wanted")
    steps: dict[str, Callable[[], _Step]] = {
        "edge cases": lambda: (checks.edges(), None),
        "numerical stability": checks.stability,
        "comparison": lambda: (checks.comparison(), None),
        "gradients": checks.gradients if gradients else lambda: no_gradients,
    }
    with _triton_anywhere(device):
        for name in STEPS:
            if progress is not None:
                checks.begin = functools.partial(progress, name)
            found, skipped = steps[name]()
            yield StepResult(name, tuple(found), skipped)


@contextlib.contextmanager
def _triton_anywhere(device: str) -> Generator[None]:
    """On the CPU, `@triton.jit` kernels run on the virtual GPU, where Triton is installed at all."""
    if device != "cpu":
        yield
        return
    try:
        import triton  # noqa: F401  # pyright: ignore
    except ImportError:
        yield
        return
    from flashpath import vgpu

    with vgpu.triton():
        yield


class _Checks:
    def __init__(
        self,
        function: Function,
        reference: Function,
        inputs: tuple[Input, ...],
        sizes: Mapping[str, Sequence[int]],
        device: str,
        seed: int,
    ) -> None:
        self.torch: Any = load_torch()
        self.function, self.reference, self.inputs, self.device = function, reference, inputs, device
        self.all_sizes = list(edge_sizes(inputs, sizes))
        self.generator = self.torch.Generator().manual_seed(seed)
        self.begin: Callable[[Message], None] = lambda _: None
        """Told of each check before it is made."""

    # The steps.

    def edges(self) -> Iterator[Outcome]:
        """Every size with ordinary values, then special values at one size with room for them."""
        for sizes in self.all_sizes:
            yield self._compared(sizes, "normal")
        if any(each.is_float for each in self.inputs):
            for values in _SPECIAL:
                yield self._compared(self._roomy, values)

    def stability(self) -> _Step:
        if not any(each.is_float for each in self.inputs):
            return iter(()), _NO_FLOATS
        return self._stability(), None

    def _stability(self) -> Iterator[Outcome]:
        """A mean far from 0, in the declared precision; then lower precisions that the function accepts."""
        for values in ("mean 100", "mean −1000"):
            yield self._compared(self._roomy, values)
        declared = {each.dtype for each in self.inputs if each.is_float}
        for dtype in ("float16", "bfloat16"):
            if dtype in declared:
                continue
            lower = tuple(replace(each, dtype=dtype) if each.is_float else each for each in self.inputs)
            arguments = self._arguments(lower, self._roomy, "normal")
            self.begin(told("course.validation.case", parts=[dtype]))
            try:
                with self._quiet():
                    self.function(*arguments)
            except FAILURES:
                continue  # it does not take this precision, which is its right
            yield self._compared(self._roomy, "normal", lower)

    def comparison(self) -> Iterator[Outcome]:
        """Random numbers, again and again: the same bits each time, and the inputs as they were."""
        for number in range(_REPEATS):
            yield self._compared(
                self._roomy, "normal", title=told("course.validation.random-inputs", number=number + 1)
            )
        arguments = self._arguments(self.inputs, self._roomy, "normal")
        yield self._checked(told("course.validation.same-bits-again"), lambda: self._differs_again(arguments))
        yield self._checked(told("course.validation.inputs-stay"), lambda: self._changes_inputs(arguments))
        turned = [self._with_other_strides(each) for each in arguments]
        if any(one is not other for one, other in zip(arguments, turned, strict=True)):
            yield self._checked(
                told("course.validation.not-contiguous"), lambda: self._difference(turned, self.inputs)
            )

    def gradients(self) -> _Step:
        arguments, wanted = self._for_gradients("float32")
        if not wanted:
            return iter(()), _NO_FLOATS
        call = told("course.validation.requires-grad")
        self.begin(call)
        try:
            with self._quiet():
                has_backward = self._requires_grad(self.function(*arguments))
        except FAILURES as error:
            return iter([Outcome(call, _its_words(error))]), None
        if has_backward:
            return self._gradients(), None
        try:
            with self._quiet():
                is_expected = self._requires_grad(self.reference(*arguments))
        except FAILURES:  # as one of NumPy's does
            is_expected = False
        if not is_expected:
            return iter(()), told("course.validation.neither")
        backward = told("course.validation.backward-pass")
        return iter([Outcome(backward, told("course.validation.no-backward"))]), None

    def _requires_grad(self, result: Any) -> bool:
        return any(getattr(each, "requires_grad", False) for each in leaves(result))

    def _gradients(self) -> Iterator[Outcome]:
        """gradcheck where float64 is taken; always the reference's gradients, and finite differences."""
        arguments, wanted = self._for_gradients("float64")
        self.begin(told("course.validation.float64-call"))
        if self._takes(arguments):

            def of_wanted(*_: Any) -> Any:
                return self.function(*arguments)

            def check() -> Message | None:
                try:
                    self.torch.autograd.gradcheck(of_wanted, wanted)
                except RuntimeError as error:  # whose message goes on with both matrices, whole
                    first = str(error).partition("\n")[0].rstrip(",")
                    return told("course.validation.it-says", text=first)
                return None

            yield self._checked(told("course.validation.gradcheck"), check)
        yield self._checked(told("course.validation.reference-gradients"), self._gradients_differ)
        yield self._checked(told("course.validation.finite-differences"), self._slope_differs)

    # What they are made of.

    @property
    def _roomy(self) -> Sizes:
        """The largest sizes that do not take long."""

        def elements(sizes: Sizes) -> int:
            counts = [1]
            for each in self.inputs:
                count = 1
                for size in each.sizes:
                    count *= sizes[size] if isinstance(size, str) else size
                counts.append(count)
            return max(counts)

        fitting = [
            sizes for sizes in self.all_sizes if elements(sizes) <= _MOST_ELEMENTS[self.device == "cpu"]
        ]
        return max(fitting or self.all_sizes, key=elements)

    def _arguments(self, inputs: Sequence[Input], sizes: Sizes, values: str) -> list[Any]:
        return [each.make(sizes, values, self.generator, self.device) for each in inputs]

    def _compared(
        self, sizes: Sizes, values: str, inputs: tuple[Input, ...] | None = None, title: Message | None = None
    ) -> Outcome:
        inputs = inputs or self.inputs
        arguments = self._arguments(inputs, sizes, values)
        where = [f"{letter} = {size}" for letter, size in sizes.items()]
        kinds = sorted({str(each.dtype) for each in inputs if each.is_float and each not in self.inputs})
        case = told("course.validation.case", parts=[*where, values, *kinds])
        return self._checked(title or case, lambda: self._difference(arguments, inputs))

    def _checked(self, title: Message, check: Callable[[], Message | None]) -> Outcome:
        """What the check found, or the words of what it ran into."""
        self.begin(title)
        try:
            with self._quiet():
                return Outcome(title, check())
        except FAILURES as error:
            return Outcome(title, _its_words(error))

    def _quiet(self) -> contextlib.AbstractContextManager[Any]:
        import warnings

        return warnings.catch_warnings(action="ignore")

    def _takes(self, arguments: Sequence[Any]) -> bool:
        try:
            with self._quiet():
                self.function(*arguments)
        except FAILURES:
            return False
        return True

    def _truth(self, arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The reference's results in float64, and in the precision of the arguments."""
        same = self._reference(arguments)
        wide = [self._widened(each) for each in arguments]
        return self._reference(wide), same

    def _reference(self, arguments: Sequence[Any]) -> list[Any]:
        try:
            plain = [self._contiguous(each) for each in arguments]
            return [self.torch.as_tensor(each).detach() for each in leaves(self.reference(*plain))]
        except FAILURES as error:
            raise FlashpathError("course.validation.reference-failed", problem=describe(error)) from None

    def _widened(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor) and value.is_floating_point():
            return value.double()
        return value

    def _contiguous(self, value: Any) -> Any:
        return value.contiguous() if isinstance(value, self.torch.Tensor) else value

    def _difference(self, arguments: Sequence[Any], inputs: Sequence[Input]) -> Message | None:
        exact, same = self._truth([self._copied(each) for each in arguments])
        got = leaves(self.function(*[self._copied(each) for each in arguments]))
        if len(got) != len(exact):
            return told("course.validation.other-count", got=len(got), expected=len(exact))
        for number, (one, truth, low) in enumerate(zip(got, exact, same, strict=True)):
            found = self._first_difference(one, truth, low)
            if found is not None and len(got) > 1:
                return told("course.validation.of-result", number=number, problem=found)
            if found is not None:
                return found
        return None

    def _first_difference(self, got: Any, exact: Any, low: Any) -> Message | None:
        torch = self.torch
        if got is None:
            return told("course.validation.returned-none")
        got = torch.as_tensor(got).detach().to(exact.device)
        if got.shape != exact.shape:
            shapes = {"got": str(tuple(got.shape)), "expected": str(tuple(exact.shape))}
            return told("course.validation.other-shape", **shapes)
        if not got.numel():
            return None
        if not exact.is_floating_point():
            wrong = got != exact
            allowed = told("course.validation.bit-by-bit")
        else:
            wide = got.double()
            finite = exact.isfinite() & low.double().isfinite()
            error, low_error = (wide - exact).abs(), (low.double() - exact).abs()
            worst = low_error[finite].max() if bool(finite.any()) else exact.new_zeros(())
            typical = exact[finite].square().mean().sqrt() if bool(finite.any()) else 0.0
            # Of a truth with no number in it, the precision is that of the result alone.
            eps = torch.finfo(low.dtype if low.is_floating_point() else torch.float64).eps
            limit = 2 * worst + 8 * eps * (exact.abs() + typical)
            same_kind = (wide == low.double()) | (wide.isnan() & low.isnan())
            wrong = torch.where(finite, ~(error <= limit), ~same_kind)
            dtype = str(low.dtype).removeprefix("torch.")
            allowed = told("course.validation.twice-own-error", dtype=dtype)
        count = int(wrong.sum())
        if not count:
            return None
        first = tuple(int(place) for place in wrong.nonzero()[0])
        return told(
            "course.validation.elements-off",
            count=count,
            n=wrong.numel(),
            at=str(list(first)),
            got=f"{got[first].item():.9g}",
            expected=f"{exact[first].item():.9g}",
            allowed=allowed,
        )

    def _copied(self, value: Any) -> Any:
        """A copy with the same strides: the function may write where it should not."""
        if not isinstance(value, self.torch.Tensor):
            return value
        tensor = value
        made = self.torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
        )
        return made.copy_(tensor)

    def _with_other_strides(self, value: Any) -> Any:
        """The same numbers in memory that has gaps: a transposed or a strided view."""
        if not isinstance(value, self.torch.Tensor) or not value.dim():
            return value
        tensor = value
        if tensor.dim() >= 2:
            return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
        return self.torch.stack([tensor, tensor], dim=-1)[..., 0]

    def _differs_again(self, arguments: Sequence[Any]) -> Message | None:
        runs = [
            [self.torch.as_tensor(each).detach().clone() for each in leaves(self.function(*arguments))]
            for _ in range(_REPEATS)
        ]
        for later in runs[1:]:
            for one, other in zip(runs[0], later, strict=True):
                same = (one == other) | ((one != one) & (other != other))
                if not bool(same.all()):
                    return told("course.validation.calls-differ", count=int((~same).sum()))
        return None

    def _changes_inputs(self, arguments: Sequence[Any]) -> Message | None:
        before = [self._copied(each) for each in arguments]
        self.function(*arguments)
        for declared, old, new in zip(self.inputs, before, arguments, strict=True):
            if declared.dtype is not None and not bool(((old == new) | (old != old)).all()):
                return told("course.validation.writes-input", name=declared.name)
        return None

    def _for_gradients(self, dtype: str) -> tuple[list[Any], list[Any]]:
        """Small arguments, and those of them whose gradients are wanted."""
        small = {letter: min(size, 7) for letter, size in self._roomy.items()}
        inputs = [replace(each, dtype=dtype) if each.is_float else each for each in self.inputs]
        arguments = self._arguments(inputs, small, "normal")
        wanted = [
            argument.requires_grad_()
            for declared, argument in zip(inputs, arguments, strict=True)
            if declared.is_float
        ]
        return arguments, wanted

    def _gradients_differ(self) -> Message | None:
        torch = self.torch
        arguments, wanted = self._for_gradients("float32")
        results = [each for each in leaves(self.function(*arguments)) if each.requires_grad]
        seeds = [torch.randn(each.shape, generator=self.generator).to(each) for each in results]
        got = torch.autograd.grad(results, wanted, seeds, allow_unused=True)

        def of_reference(dtype: Any) -> Any:
            again = [
                each.detach().to(dtype).requires_grad_() if any(each is one for one in wanted) else each
                for each in arguments
            ]
            made = [each for each in leaves(self.reference(*again)) if each.requires_grad]
            leaf = [
                each for each, old in zip(again, arguments, strict=True) if any(old is one for one in wanted)
            ]
            return torch.autograd.grad(made, leaf, [each.to(dtype) for each in seeds], allow_unused=True)

        exact, same = of_reference(torch.float64), of_reference(torch.float32)
        names = [each.name for each in self.inputs if each.is_float]
        for name, one, truth, low in zip(names, got, exact, same, strict=True):
            if truth is None:
                continue
            if one is None:
                return told("course.validation.no-gradient", name=name)
            found = self._first_difference(one, truth, low)
            if found:
                return told("course.validation.gradient-off", name=name, problem=found)
        return None

    def _slope_differs(self) -> Message | None:
        """Along one random direction: (f(x + h) − f(x − h)) / 2h beside the gradient's product with it."""
        torch = self.torch
        arguments, wanted = self._for_gradients("float32")
        results = [each for each in leaves(self.function(*arguments)) if each.requires_grad]
        seeds = [torch.randn(each.shape, generator=self.generator).to(each) for each in results]
        got = torch.autograd.grad(results, wanted, seeds, allow_unused=True)
        ways = [torch.randn(each.shape, generator=self.generator).to(each) for each in wanted]

        def total(step: float) -> float:
            moved = iter([each.detach() + step * way for each, way in zip(wanted, ways, strict=True)])
            here = [next(moved) if any(each is one for one in wanted) else each for each in arguments]
            made = leaves(self.function(*here))[: len(seeds)]
            return sum(
                float((each.double() * seed.double()).sum()) for each, seed in zip(made, seeds, strict=True)
            )

        slope = (total(_DIFFERENCE) - total(-_DIFFERENCE)) / (2 * _DIFFERENCE)
        promised = sum(
            float((each.double() * way.double()).sum())
            for each, way in zip(got, ways, strict=True)
            if each is not None
        )
        size = max(abs(slope), abs(promised), 1.0)
        if abs(slope - promised) > _SLOPE_TOLERANCE * size:
            figures = {"slope": f"{slope:.6g}", "promised": f"{promised:.6g}"}
            return told("course.validation.slope-off", **figures)
        return None
