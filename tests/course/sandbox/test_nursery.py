"""Children are forked by a process that has loaded their libraries: which sees nothing, and ends with us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flashpath.course.sandbox import Crashed, Limits, nursery, places
from flashpath.course.sandbox.child import Child
from flashpath.messages import told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere children are started anew")

LOOKING = told("course.sandbox.looking")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Nurseries of this test alone; they end with it."""
    own: Any = type(nursery.nurseries)()
    monkeypatch.setattr(nursery, "nurseries", own)
    yield own
    for each in own.values():
        each.retire()


def probe(**more: Any) -> Child:
    return Child("probe", Limits(), places.for_learners(), trusted=False, plan=more)


def restrictions(child: Child) -> list[str]:
    header, _ = child.ask(LOOKING, 20, {})
    child.close()
    return header["in_force"]


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not running(pid)


def test_two_children_come_from_one_nursery_with_the_same_restrictions(alone: Any) -> None:
    first, second = probe(), probe()
    assert len(alone) == 1
    assert first.pid != second.pid
    assert restrictions(first) == restrictions(second) != []


def test_a_child_started_anew_is_under_the_same_restrictions(
    alone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = restrictions(probe())
    monkeypatch.setattr(nursery, "_can_fork", bool)
    started = restrictions(probe())
    assert forked == started
    assert len(alone) == 1


def test_a_child_has_no_way_to_its_nursery(alone: Any) -> None:
    plan: dict[str, Any] = {"arrays": "numpy", "imports": []}
    load = {"do": "load", "source": "def one():\n    return 1\n", "file_name": "one.py", "function": "one"}
    children = [
        Child("function_worker", Limits(), places.for_learners(), trusted=False, plan=plan) for _ in range(2)
    ]
    assert len(alone) == 1
    for child in children:
        child.ask(LOOKING, 20, load)
        opened = [str(link.readlink()) for link in Path(f"/proc/{child.pid}/fd").iterdir()]
        assert not [each for each in opened if "socket" in each or "pidfd" in each]
        assert len(opened) <= 5, opened  # nothing, output twice, requests and answers
    for child in children:
        child.close()


def test_a_nursery_that_was_killed_is_replaced_and_its_children_die(alone: Any) -> None:
    child = probe()
    (first,) = alone.values()
    os.kill(first.pid, signal.SIGKILL)
    assert gone_within(child.pid, 5)
    with pytest.raises(Crashed):
        child.ask(LOOKING, 20, {})
    assert restrictions(probe())


def test_what_cannot_be_loaded_is_said_by_the_child(alone: Any) -> None:
    child = Child("no_such_worker", Limits(), places.for_learners(), trusted=False)
    with pytest.raises(Crashed) as raised:
        child.ask(LOOKING, 20, {})
    assert "no_such_worker" in str(raised.value)


def test_only_some_are_kept_and_the_oldest_ends_with_its_last_child(alone: Any) -> None:
    child = probe(kind=0)
    (oldest,) = alone.values()
    for kind in range(1, nursery.MOST + 1):
        probe(kind=kind).close()
    assert len(alone) == nursery.MOST
    assert oldest not in alone.values()
    assert oldest.is_alive()  # its child is still at work
    assert restrictions(child)
    assert gone_within(oldest.pid, 5)


def test_all_ends_with_the_process_that_began_it() -> None:
    program = (
        "import sys, time\n"
        "from flashpath.course.sandbox import Limits, nursery, places\n"
        "from flashpath.course.sandbox.child import Child\n"
        "child = Child('probe', Limits(), places.for_learners(), trusted=False)\n"
        "(one,) = nursery.nurseries.values()\n"
        "print(one.pid, child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(each) for each in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.kill()
        assert all(gone_within(each, 5) for each in pids)
