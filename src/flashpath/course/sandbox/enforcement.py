"""Which of the restrictions on children hold on this system: tried out in a child, not guessed."""

from __future__ import annotations

import functools
from typing import Any, cast

from flashpath.course.sandbox import places
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.errors import SandboxError
from flashpath.course.sandbox.job import Limits
from flashpath.messages import told

# What each part means, for people; docs/sandbox.md says more.
MEANING = {
    "time": "a child that takes too long is ended, with all that it has started",
    "files": "a child that writes too much, or too many files, is ended",
    "dies-with-parent": "a child ends when the process that started it ends",
    "rlimits": "limits on CPU time, memory, the size of a file and the number of open ones",
    "landlock": "reads only Python, its packages and the system's libraries; writes only a folder of its own",
    "seccomp": "starts no processes, opens no sockets, touches no other process, no file's mode or times",
    "no-network": "is in a network of its own, with nothing in it",
}


@functools.cache
def enforced() -> tuple[str, ...]:
    """The parts that are in force here, in the order of `MEANING`."""
    child = Child("probe", Limits(), places.for_learners(), trusted=False)
    try:
        header, _ = child.ask(told("course.sandbox.looking"), 20, {})
    except SandboxError:
        return ()
    finally:
        child.close()
    found = header.get("in_force")
    held = {"time", "files", *(cast("list[Any]", found) if isinstance(found, list) else [])}
    return tuple(each for each in MEANING if each in held)
