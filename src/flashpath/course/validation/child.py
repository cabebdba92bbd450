"""The process in which functions are validated: it tells what it does on a pipe, a line of JSON each time."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
from typing import Any

from flashpath.course.validation.apart import LOADING, Job
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.messages import Message, told


def main() -> None:
    """Called with the job, the pipe to tell on, and the one to show on where the process is when asked."""
    job, tell, show = Job(**json.loads(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
    secret = os.read(0, 100).decode().strip()  # before anything of the learner's is there to read it
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if hasattr(faulthandler, "register"):  # not on Windows
        faulthandler.register(signal.SIGUSR1, file=show, all_threads=False)

    def say(event: str, **facts: Any) -> None:
        os.write(tell, f"{secret} {json.dumps({'event': event, **facts})}\n".encode())

    try:
        _validate(job, say)
    except FlashpathError as error:
        say("refused", said=error.said.as_data(), needs_device=isinstance(error, MissingDevice))
    except KeyboardInterrupt:
        sys.exit(130)


def _validate(job: Job, say: Any) -> None:
    from flashpath.bench import load_function
    from flashpath.bench.device import load_torch, resolve_device
    from flashpath.course.validation import load_reference, parse_input, validate

    def begins(step: str, check: Message) -> None:
        say("begins", step=step, check=check.as_data())

    # What takes long to load and is not the learner's comes before the first word, after which time counts.
    load_torch()
    with contextlib.suppress(ImportError):
        import triton  # noqa: F401  # pyright: ignore
    inputs = [parse_input(text) for text in job.inputs]
    device = resolve_device(job.device)
    say("device", device=device)
    begins(LOADING, told("course.validation.it-says", text=job.function))
    function = load_function(job.function)
    begins(LOADING, told("course.validation.it-says", text=job.reference))
    steps = validate(
        function,
        load_reference(job.reference),
        inputs,
        sizes=job.sizes,
        device=device,
        seed=job.seed,
        gradients=job.gradients,
        progress=begins,
    )
    for each in steps:
        checks = [[one.title.as_data(), _as_data(one.wrong)] for one in each.outcomes]
        say("done", step=each.step, checks=checks, skipped=_as_data(each.skipped))
    say("end")


def _as_data(message: Message | None) -> dict[str, Any] | None:
    return None if message is None else message.as_data()


if __name__ == "__main__":
    main()
