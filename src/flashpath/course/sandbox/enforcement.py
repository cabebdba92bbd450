"""Which of the restrictions on children hold on this system: tried out in a child, not guessed."""

from __future__ import annotations

import functools
from typing import Any, cast

from flashpath.course.sandbox import places
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.errors import SandboxError
from flashpath.course.sandbox.job import Limits
from flashpath.messages import told

# What each part means; docs/sandbox.md says more.
MEANING = {
    "time": "course.sandbox.part-time",
    "files": "course.sandbox.part-files",
    "dies-with-parent": "course.sandbox.part-dies-with-parent",
    "rlimits": "course.sandbox.part-rlimits",
    "landlock": "course.sandbox.part-landlock",
    "seccomp": "course.sandbox.part-seccomp",
    "no-network": "course.sandbox.part-no-network",
    "unseen": "course.sandbox.part-unseen",
}


@functools.cache
def enforced() -> tuple[str, ...]:
    """Returns the parts that are in force here, in the order of `MEANING`."""
    child = Child("probe", Limits(), places.for_learners(), trusted=False)
    try:
        header, _ = child.ask(told("course.sandbox.looking"), 20, {})
    except SandboxError:
        return ()
    finally:
        child.close()
    found = header.get("in_force")
    held = {"time", "files", *(cast("list[Any]", found) if isinstance(found, list) else [])}
    return tuple(part for part in MEANING if part in held)
