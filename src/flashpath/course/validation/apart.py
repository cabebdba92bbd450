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

from flashpath import settings
from flashpath.course.validation.steps import Outcome, StepResult
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.messages import Message, told

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
    check: Message


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
    running = Started(LOADING, told("course.validation.it-says", text=job.function))
    for message in _messages(tells, seconds):
        match message:
            case {"event": "device", "device": str(device)}:
                yield device
            case {"event": "begins", "step": str(step), "check": check}:
                running = Started(step, Message.from_data(check))
                yield running
            case {"event": "done", "step": str(step), "checks": checks, "skipped": skipped}:
                outcomes = tuple(Outcome(Message.from_data(title), _read(wrong)) for title, wrong in checks)
                yield StepResult(step, outcomes, _read(skipped))
            case {"event": "refused", "said": data, "needs_device": needs_device}:
                said = Message.from_data(data)
                raise (MissingDevice if needs_device else FlashpathError)(said.code, **said.params)
            case {"event": "end"}:
                return
            case None:
                problem = _took_too_long(job, child, shows, seconds)
                yield StepResult(running.step, (Outcome(running.check, problem),), was_hung=True)
                return
            case _:
                pass
    code = child.wait()
    if code == 130:
        raise KeyboardInterrupt
    ended = told("course.validation.exited", code=code)
    if code < 0:
        name = signal.Signals(-code).name
        ended = told("course.validation.ended-by-signal", number=-code, name=name)
    yield StepResult(running.step, (Outcome(running.check, ended),))


def _read(data: object) -> Message | None:
    return None if data is None else Message.from_data(data)


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


def _took_too_long(job: Job, child: subprocess.Popen[bytes], shows: int, seconds: float) -> Message:
    """Returns what is said of it, with the line of the learner's file where the process can still name it."""
    nowhere = told("course.validation.took-too-long", seconds=seconds)
    files = {
        str(settings.expanded(each.rpartition(":")[0]).resolve()) for each in (job.function, job.reference)
    }
    if not hasattr(signal, "SIGUSR1"):
        return nowhere
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
            return told(
                "course.validation.took-too-long-at",
                seconds=seconds,
                file=Path(frame["file"]).name,
                line=frame["line"],
                function=frame["name"],
            )
    return nowhere
