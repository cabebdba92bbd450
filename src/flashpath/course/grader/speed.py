"""Speed on a real GPU: a share of a rung's, both timed in turn in one run, and never faster than physics.

Without a GPU nothing is asked. A kernel is timed in this process (on_gpu.py) after the virtual GPU has proved
it right; its result at the timed size is compared as well, so that no shortcut for large sizes pays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashpath import gpus
from flashpath.course.content.exercise import Exercise, Speed
from flashpath.course.expressions import evaluate
from flashpath.course.grader.cases import Case, make_case
from flashpath.course.grader.compare import compare
from flashpath.course.grader.describe import wrong_output
from flashpath.course.grader.dtypes import Array
from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.launching import launch_shape
from flashpath.course.grader.poison import poisoned
from flashpath.course.grader.reference import expected_outputs
from flashpath.course.grader.verdict import Failure, GoalResult
from flashpath.course.sandbox import SandboxError
from flashpath.errors import FlashpathError
from flashpath.jit import device
from flashpath.messages import told

# Below the floor by less than this is the noise of clocks.
_NOISE = 0.95


@dataclass(frozen=True)
class Floor:
    """The least time that a GPU needs for the bytes and FLOPs of a problem."""

    gpu: str
    seconds: float

    def allows(self, seconds: float) -> bool:
        return seconds >= _NOISE * self.seconds


def measure(exercise: Exercise, source: str, seed: int) -> tuple[tuple[GoalResult, ...], Failure | None]:
    """The speed beside the rung's; nothing where none is asked for or there is no GPU."""
    if exercise.speed is None or exercise.launch is None or not device.count():
        return (), None
    case = make_case(exercise, exercise.speed.sizes, "normal", np.random.default_rng(seed))
    try:
        own, other, failure = times(exercise, exercise.speed, source, case)
    except SandboxError as error:  # Triton builds for this GPU anew
        return (), failure_of(error)
    except FlashpathError as error:
        return (), Failure("crashed", told("course.grader.speed-failed", problem=error.said))
    if failure is not None:
        return (), failure
    return judged(exercise.speed, own, other, floor_of(exercise.speed))


def floor_of(speed: Speed, name: str | None = None) -> Floor:
    """What the GPU of that name, or this machine's, needs at least for the exercise's bytes and FLOPs."""
    moved = float(evaluate(speed.bytes, speed.sizes))
    flops = 0.0 if speed.flops is None else float(evaluate(speed.flops, speed.sizes))
    name = name or device.device(0).name
    profile = gpus.match_device_name(name)
    if profile is None:  # no data sheet at hand: what the driver says of the memory
        return Floor(name, moved / (device.device(0).bandwidth_gb_per_s * 1e9))
    return Floor(profile.name, gpus.roofline(profile, moved, flops).least_seconds)


def judged(
    speed: Speed, own: float, other: float, floor: Floor
) -> tuple[tuple[GoalResult, ...], Failure | None]:
    """The ratio of two times in seconds, judged."""
    if not floor.allows(own):
        floored = duration(floor.seconds)
        impossible = told("course.grader.speed-impossible", own=duration(own), floor=floored, gpu=floor.gpu)
        return (), Failure("refused", impossible)
    ratio = other / own
    reached = ratio >= speed.at_least
    name = told("course.grader.speed-name", rung=speed.rung)
    line = told(
        "course.grader.speed-line",
        mark="✓" if reached else "✗",
        name=name,
        ratio=f"{ratio:.2f}",
        asked=told("course.grader.at-least", asked=f"{speed.at_least:g}"),
        own=duration(own),
        other=duration(other),
    )
    result = GoalResult(name, ratio, speed.at_least, False, reached, line)
    return (result,), None if reached else Failure("goal", told("course.grader.speed"), (line,))


def duration(seconds: float) -> str:
    """Microseconds, or milliseconds from one on."""
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


# ---- On the GPU ----------------------------------------------------------------------------------------


def times(
    exercise: Exercise, speed: Speed, source: str, case: Case, on: str = "cuda"
) -> tuple[float, float, Failure | None]:
    """Seconds of the learner's kernel and of the rung; or why the first is wrong.

    `on="cpu"` does all of it on the virtual GPU, where times mean nothing: for tests.
    """
    from flashpath.bench.timer import time_interleaved

    # Two launches of other inputs onto the same outputs take turns: none finds its own result there already.
    second = make_case(exercise, case.sizes, case.values, case.rng)
    own = _OwnKernel(exercise, source, (case, second), on)
    wrong = own.failure()
    if wrong is not None:
        return 0.0, 0.0, wrong
    timings = time_interleaved({"own": own, "rung": rung_call(exercise, speed, on)}, device=on)
    for each in timings.values():
        if each.median is None:
            raise FlashpathError("course.grader.not-timed", problem=each.error or "?")
    # Once more: what was timed must have been the work itself.
    return (timings["own"].median or 0.0) / 2, timings["rung"].median or 0.0, own.failure()


class _OwnKernel:
    """The learner's kernel with the arrays of its cases on the device; a call launches it once with each."""

    def __init__(self, exercise: Exercise, source: str, cases: Sequence[Case], on: str) -> None:
        from flashpath.bench.device import load_torch
        from flashpath.course.grader.on_gpu import launcher

        assert exercise.launch is not None
        launch = exercise.launch
        self._torch = load_torch()
        self.cases = cases
        self.expected = [expected_outputs(exercise, case) for case in cases]
        # What arrays hold before a launch that is compared: inputs, and poison for outputs.
        self.before = [
            {each.name: poisoned(each.as_stored, case.rng) for each in expected} | dict(case.inputs)
            for case, expected in zip(cases, self.expected, strict=True)
        ]
        outputs = {each.name: self._tensor(self.before[0][each.name]).to(on) for each in self.expected[0]}
        self.tensors = [
            {name: outputs.get(name, self._tensor(array).to(on)) for name, array in before.items()}
            for before in self.before
        ]
        self._launches = [
            launcher(
                exercise,
                launch,
                source,
                launch_shape(launch, case.sizes),
                {**case.sizes, **case.scalars, **tensors},
            )
            for case, tensors in zip(cases, self.tensors, strict=True)
        ]

    def __call__(self) -> None:
        for launch in self._launches:
            launch()

    def failure(self) -> Failure | None:
        """One launch of each case from fresh inputs onto poison, compared with the reference."""
        for place, (case, launch) in enumerate(zip(self.cases, self._launches, strict=True)):
            for name, array in self.before[place].items():
                self.tensors[place][name].copy_(self._tensor(array))
            launch()
            for each in self.expected[place]:
                got = self.tensors[place][each.name].cpu().numpy()
                difference = compare(each, got if got.dtype == each.dtype else got.view(each.dtype))
                if difference is not None:
                    return wrong_output(difference, case)
        return None

    def _tensor(self, array: Array) -> Any:
        """bfloat16 as integers of its width: torch takes no NumPy array of it."""
        known = array.view(np.int16) if array.dtype.name == "bfloat16" else array
        return self._torch.from_numpy(known.copy())


def rung_call(exercise: Exercise, speed: Speed, on: str) -> Callable[[], Any]:
    """The rung on the same problem: its sizes, and the type of the exercise's own numbers."""
    from flashpath.bench.device import load_torch
    from flashpath.kernels import ladder

    name, _, rung_name = speed.rung.partition("/")
    found = ladder(name)
    if found.sized is None:
        raise FlashpathError("course.grader.no-own-size", ladder=name)
    sizes = [speed.sizes[speed.problem.get(each, each)] for each in found.dimensions]
    dtype = next(each.dtype for each in exercise.arrays.values() if each.is_input)
    torch = load_torch()
    inputs = [
        each.to(getattr(torch, dtype))
        if isinstance(each, torch.Tensor) and each.is_floating_point()
        else each
        for each in found.sized(tuple(sizes)).inputs(on)
    ]
    rung = found[rung_name]
    return lambda: rung(*inputs)
