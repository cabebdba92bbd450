"""Where children come from: forked by a process that has loaded their libraries already, or started anew.

Loading takes most of a child's time, and a grade needs several. A nursery (`inside/nursery.py`) is started as
a program of its own, not forked from this process, and hears of nothing but plans: no seed, no answer and no
learner's file is in its memory, or in that of the children which it forks. On Linux only; elsewhere every
child is started anew.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol

_BOOT = Path(__file__).parent / "inside" / "boot.py"
_PYTHON = ("-I", "-B", "-u", "-X", "utf8")
MOST = 4  # kinds of nurseries at once: each holds some hundred megabytes
# Of a plan, what decides what is loaded; the rest is of one child.
_OF_ONE_CHILD = ("folder", "read", "list", "write", "limits", "parent")


class Process(Protocol):
    """What `Child` wants of a process; subprocess.Popen has it too."""

    pid: int
    stdin: Any
    stdout: Any
    stderr: Any

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


def start(plan: Mapping[str, Any], environment: Mapping[str, str]) -> Process:
    """A process that serves as the plan says, in the plan's folder."""
    if _can_fork():
        # One that ends, as where a library cannot be loaded, leaves it to the child to say why.
        with contextlib.suppress(OSError):
            return _nursery_for(plan, environment).fork({**plan, "environment": dict(environment)})
    return subprocess.Popen(
        [sys.executable, *_PYTHON, str(_BOOT), json.dumps({**plan, "parent": os.getpid()})],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=plan["folder"],
        env=dict(environment),
        close_fds=True,
        start_new_session=os.name == "posix",
    )


@functools.cache
def _can_fork() -> bool:
    """Whether the system hands out handles of processes: Linux from 5.3 on, if nothing forbids it."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


nurseries: OrderedDict[str, _Nursery] = OrderedDict()
_choosing = threading.Lock()


def _nursery_for(plan: Mapping[str, Any], environment: Mapping[str, str]) -> _Nursery:
    common = {name: value for name, value in plan.items() if name not in _OF_ONE_CHILD}
    folder = str(plan["folder"])
    # What libraries read of the environment when they are loaded is the same for all children.
    shared = {name: value for name, value in environment.items() if folder not in value}
    key = json.dumps([os.getpid(), common, shared], sort_keys=True)
    with _choosing:
        found = nurseries.get(key)
        if found is None or not found.is_alive():
            found = nurseries[key] = _Nursery(common, shared)
        found.reserve()
        nurseries.move_to_end(key)
        while len(nurseries) > MOST:
            _, oldest = nurseries.popitem(last=False)
            oldest.retire()
    return found


class _Nursery:
    def __init__(self, common: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking = threading.Lock()
        self._counting = threading.Lock()
        self._children = 0
        self._is_retired = False
        with theirs:
            plan = json.dumps({**common, "nursery": theirs.fileno()})
            self._process = subprocess.Popen(
                [sys.executable, *_PYTHON, str(_BOOT), plan],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=dict(environment),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def reserve(self) -> None:
        """A child will be asked for: until that has ended, the nursery stays."""
        with self._counting:
            self._children += 1

    def fork(self, plan: dict[str, Any]) -> _Forked:
        """The child that was reserved; it is there when the nursery has answered."""
        ends = [os.pipe() for _ in range(4)]  # (read, write) of requests, answers, output and status
        (requests, send), (receive, answers), (printed, output), (status, exit_status) = ends
        theirs, ours = (requests, answers, output, exit_status), (send, receive, printed, status)
        try:
            message = json.dumps({**plan, "parent": self._process.pid}).encode()
            with self._asking:  # one thread at a time, so that everybody gets the answer to his own plan
                socket.send_fds(self._control, [message], theirs)
                answer, fds, _, _ = socket.recv_fds(self._control, 64, 1)
            if not answer:
                raise ConnectionResetError("the process that loads libraries has ended")
        except BaseException:
            for each in ours:
                os.close(each)
            self.child_has_ended()
            raise
        finally:
            for each in theirs:
                os.close(each)
        return _Forked(struct.unpack("<i", answer)[0], fds[0], ours, self)

    def retire(self) -> None:
        """No more children; it ends with the last of those that it has."""
        with self._counting:
            self._is_retired = True
            is_idle = not self._children
        self._end_if(is_idle)

    def child_has_ended(self) -> None:
        with self._counting:
            self._children -= 1
            is_idle = self._is_retired and not self._children
        self._end_if(is_idle)

    def _end_if(self, is_idle: bool) -> None:
        if is_idle:
            self._control.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)


class _Forked:
    """A grandchild, as subprocess.Popen would show it."""

    def __init__(self, pid: int, pidfd: int, ends: tuple[int, int, int, int], nursery: _Nursery) -> None:
        self.pid = pid
        self._pidfd = pidfd
        self._nursery = nursery
        self.stdin: BinaryIO = os.fdopen(ends[0], "wb")
        self.stdout: BinaryIO = os.fdopen(ends[1], "rb")
        self.stderr: BinaryIO = os.fdopen(ends[2], "rb")
        self._status = ends[3]
        self._code: int | None = None
        self._waiting = threading.Lock()

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        with self._waiting:
            if self._code is None:
                ready, _, _ = select.select([self._status], [], [], timeout)
                if not ready:
                    raise subprocess.TimeoutExpired("a child", timeout or 0.0)
                told = os.read(self._status, 4)
                # Nothing is told where the nursery itself was killed: its children were, too.
                self._code = struct.unpack("<i", told)[0] if told else -int(signal.SIGKILL)
                os.close(self._status)
                os.close(self._pidfd)
                self._nursery.child_has_ended()
            return self._code

    def kill(self) -> None:
        with self._waiting:
            if self._code is None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
