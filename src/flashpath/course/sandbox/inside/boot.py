"""The first thing that a child runs: `python -I boot.py PLAN`, with the plan as JSON.

It makes sure that the child dies with its parent, loads what the worker needs, gives up what the plan says,
and only then lets the worker read its first message. A plan with a `nursery` is of a process that only loads,
and forks the children.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent


def main() -> None:
    plan: dict[str, Any] = json.loads(sys.argv[1])
    sys.argv[1:] = []
    # Those finders that the parent has, so that both find the same package.
    sys.meta_path[:] = [each for each in sys.meta_path if _name(each) in plan["finders"]]
    sys.path[:] = [str(_HERE.parent), *plan["first"], *sys.path, *plan["last"]]
    importlib.import_module("inside.restrict")
    sys.path.pop(0)  # a package finds its own modules; the files beside it are nobody's modules here
    importlib.import_module("inside.frames")
    if "nursery" not in plan:
        begin(plan)
        return
    importlib.import_module("inside.boot")  # for the children: there this file is no longer __main__
    nursery: Any = importlib.import_module("inside.nursery")
    worker: Any = importlib.import_module(f"inside.{plan['worker']}")
    state = worker.prepare(plan)
    nursery.serve(socket.socket(fileno=plan["nursery"]), plan, worker, state)


def begin(plan: dict[str, Any], worker: Any = None, state: Any = None) -> None:
    """Serve as the plan says; what is loaded already may be given. It does not return."""
    restrict: Any = importlib.import_module("inside.restrict")
    frames: Any = importlib.import_module("inside.frames")
    requests, answers = _take_pipes()
    restrict.leave_network()
    restrict.die_with(plan["parent"])  # after it: a change of credentials undoes this
    if worker is None:
        worker = importlib.import_module(f"inside.{plan['worker']}")
        state = worker.prepare(plan)
    restrict.enforce(plan)
    frames.write_frame(answers, {"ready": True})
    worker.serve(requests, answers, plan["folder"], state)
    os._exit(0)  # no exit handlers: nothing of the learner's runs after the last answer


def _take_pipes() -> tuple[Any, Any]:
    """Standard input and output become private; what the child prints goes to standard error."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _name(finder: Any) -> str:
    return getattr(finder, "__name__", type(finder).__name__)


if __name__ == "__main__":
    main()
