"""Validation in a process of its own: what a function does there, for ever or by crashing, ends only that."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flashpath.course.validation.steps import Outcome, StepResult
from flashpath.errors import FlashpathError, MissingDevice

LOADING = "loading"
"""What comes before the first step; a step of this name tells that it failed."""
_ASKED_SECONDS = 1.0  # to show where it is
_FRAME = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+) in (?P<name>.+)')


@dataclass(frozen=True)
class Job:
    """What to validate; functions and inputs as they are written on a command line."""

    function: str
    reference: str
    inputs: Sequence[str]
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    device: str | None = None
    seed: int = 0
    gradients: bool = True


@dataclass(frozen=True)
class Started:
    """A check begins: of which step, and which."""

    step: str
    check: str


def validate_apart(job: Job, seconds: float) -> Iterator[str | Started | StepResult]:
    """The device, then each check as it begins and each step as it is done.

    A check that takes longer than this, or ends the process, is a failure of its step, and the last thing
    that is done. What the functions print goes to stderr.
    """
    tells, tell = os.pipe()
    shows, show = os.pipe()
    command = [sys.executable, "-P", "-m", "flashpath.course.validation.child"]
    child = subprocess.Popen(
        [*command, json.dumps(asdict(job)), str(tell), str(show)],
        stdin=subprocess.DEVNULL,
        stdout=sys.__stderr__,
        pass_fds=(tell, show),
    )
    os.close(tell)
    os.close(show)
    try:
        yield from _follow(job, child, tells, shows, seconds)
    finally:
        child.kill()
        child.wait()
        os.close(tells)
        os.close(shows)


def _follow(
    job: Job, child: subprocess.Popen[bytes], tells: int, shows: int, seconds: float
) -> Iterator[str | Started | StepResult]:
    running = Started(LOADING, job.function)
    for message in _messages(tells, seconds):
        match message:
            case {"event": "device", "device": str(device)}:
                yield device
            case {"event": "begins", "step": str(step), "check": str(check)}:
                running = Started(step, check)
                yield running
            case {"event": "done", "step": str(step), "checks": checks, "skipped": skipped}:
                outcomes = tuple(Outcome(check, problem) for check, problem in checks)
                yield StepResult(step, outcomes, skipped)
            case {"event": "refused", "problem": str(problem), "fix": fix, "needs_device": needs_device}:
                raise (MissingDevice if needs_device else FlashpathError)(problem, fix)
            case {"event": "end"}:
                return
            case None:
                where = _where(job, child, shows)
                problem = f"it took longer than {seconds:g} s, and was ended{where}"
                yield StepResult(running.step, (Outcome(running.check, problem),), was_hung=True)
                return
            case _:
                pass
    code = child.wait()
    if code == 130:
        raise KeyboardInterrupt
    name = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
    yield StepResult(running.step, (Outcome(running.check, f"it ended the process with {name}"),))


def _messages(tells: int, seconds: float) -> Iterator[dict[str, Any] | None]:
    """What the process tells, until it ends; None where it told nothing for so long.

    What comes before its first word, such as loading torch, is not the learner's, and may take its time.
    """
    rest, limit = b"", None
    while True:
        ready, _, _ = select.select([tells], [], [], limit)
        if not ready:
            yield None
            return
        read = os.read(tells, 65536)
        if not read:
            return
        limit = seconds
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            yield json.loads(line)


def _where(job: Job, child: subprocess.Popen[bytes], shows: int) -> str:
    """In which line of the learner's file it is, where the process can still say so."""
    files = {
        str(Path(each.rpartition(":")[0]).expanduser().resolve()) for each in (job.function, job.reference)
    }
    if not hasattr(signal, "SIGUSR1"):
        return ""
    text = b""
    with contextlib.suppress(OSError):
        child.send_signal(signal.SIGUSR1)
    end = time.monotonic() + _ASKED_SECONDS
    while select.select([shows], [], [], max(0.0, end - time.monotonic()))[0]:
        read = os.read(shows, 65536)
        if not read:
            break
        text += read
    for frame in _FRAME.finditer(text.decode("utf-8", "replace")):  # the innermost comes first
        if frame["file"] in files:
            return f", at {Path(frame['file']).name}:{frame['line']}, in {frame['name']}"
    return ""
