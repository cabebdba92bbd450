"""One child process: started, talked to, and ended with all that it has started, whatever happens."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from flashpath import settings
from flashpath.course.sandbox import folders, nursery
from flashpath.course.sandbox.errors import Crashed, TimedOut
from flashpath.course.sandbox.inside import frames
from flashpath.course.sandbox.job import Array, Limits
from flashpath.course.sandbox.places import Places, package_folders
from flashpath.course.sandbox.tree import tree_of
from flashpath.messages import Message, say, told

_LAST_LINES = 8
_LOOKS_PER_MEASURE = 4  # a fifth of a second, in which a disk takes some dozens of MiB
_START_SECONDS = 60.0  # the libraries of a cold machine come from a slow disk
_STANDARD_FINDERS = ["BuiltinImporter", "FrozenImporter", "PathFinder"]
_ROOT = Path(__file__).parents[3]  # the folder that holds the package

# Of the parent's environment; a child gets nothing else of it.
_KEPT = ("SYSTEMROOT", "ONEDNN_MAX_CPU_ISA", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_KEPT_BY_TRUSTED = ("CUDA_HOME", "CUDA_PATH", settings.CACHE_LIMIT_MB.name)
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

Answer = tuple[dict[str, Any], list[Array]]
_Error = TypeVar("_Error", Crashed, TimedOut)


@dataclass(frozen=True)
class Ended:
    """A child that became a program, and has ended by itself: its exit code, or minus the signal's number."""

    code: int
    written: bytes  # into the pipe of answers


class Child:
    """A process that runs one of the workers in `inside`. It ends with `close`, and with this process."""

    def __init__(
        self,
        worker: str,
        limits: Limits,
        places: Places,
        *,
        trusted: bool,
        plan: dict[str, Any] | None = None,
        allowed: Sequence[str] = (),
    ) -> None:
        """`trusted`: it runs no code of a learner's.

        `allowed`: calls of the system that it needs, of those that children are refused.
        """
        self.limits = limits
        self._is_trusted = trusted
        self.folder = folders.make_folder()
        folders.sweep()
        self._output = bytearray()
        self._dropped = False
        self._is_ready = False
        self._is_closed = False
        whole_plan = {
            **(plan or {}),
            "worker": worker,
            "finders": _finders() if trusted else _STANDARD_FINDERS,
            "first": [str(_ROOT)] if trusted else [],
            "last": [str(each) for each in package_folders()],
            "folder": str(self.folder),
            "read": [str(each) for each in places.readable],
            "list": [str(each) for each in places.listable],
            "write": [str(self.folder), *map(str, places.writable)],
            "tree": tree_of(places),
            "allowed": list(allowed),
            "limits": {
                "cpu_seconds": limits.cpu_seconds,
                "memory_bytes": limits.memory_bytes,
                "file_bytes": limits.file_bytes,
            },
        }
        try:
            self._process = nursery.start(whole_plan, _environment(self.folder, trusted))
        except BaseException:
            folders.remove_folder(self.folder)
            raise
        self._keeping = threading.Lock()
        self._drain = threading.Thread(target=self._keep_output, daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    # ---- Talking ---------------------------------------------------------------------------------------

    def ask(
        self,
        step: Message,
        seconds: float,
        header: dict[str, Any],
        arrays: Sequence[Array] = (),
        most_answer_bytes: int = 1 << 20,
    ) -> Answer:
        """Send a message and wait for the answer; a child that does not answer in time is ended.

        The first answer also waits for the child's start, which is not the learner's fault.
        """
        self._start()
        return self._exchange(step, seconds, header, arrays, most_answer_bytes)

    def become(self, step: Message, seconds: float, header: dict[str, Any], most_bytes: int) -> Ended:
        """Send the last message: the child becomes a program, whose end is waited for.

        What it writes into the pipe of answers from then on is bytes, and no message.
        """
        self._start()
        written = bytearray()

        def talk() -> None:
            with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
                frames.write_frame(cast("BinaryIO", self._process.stdin), header)
                while chunk := os.read(cast("BinaryIO", self._process.stdout).fileno(), 1 << 16):
                    written.extend(chunk[: max(0, most_bytes + 1 - len(written))])
                self._process.wait(seconds)

        talker = threading.Thread(target=talk, daemon=True)
        talker.start()
        self._wait(talker, step, seconds)
        code = self._process.poll()
        if wrote := self._wrote_too_much():
            raise self._stopped(talker, *wrote)
        if len(written) > most_bytes:
            how, advice = told("course.sandbox.recorded-too-much"), told("course.sandbox.do-less")
            raise self._stopped(talker, how, advice)
        if code is None:
            raise self._stopped(talker, told("course.sandbox.closed-its-pipe"))
        if code == -int(getattr(signal, "SIGXCPU", 24)):
            self.close()
            raise self._marked(TimedOut(step, self.limits.cpu_seconds))
        return Ended(code, bytes(written))

    def _start(self) -> None:
        if not self._is_ready:
            self._exchange(told("course.sandbox.starting"), _START_SECONDS, None, (), 0)
            self._is_ready = True

    def _exchange(
        self,
        step: Message,
        seconds: float,
        header: dict[str, Any] | None,
        arrays: Sequence[Array],
        most_answer_bytes: int,
    ) -> Answer:
        got: list[Answer | BaseException] = []

        def talk() -> None:
            try:
                if header is not None:
                    frames.write_frame(cast("BinaryIO", self._process.stdin), header, arrays)
                got.append(frames.read_frame(cast("BinaryIO", self._process.stdout), most_answer_bytes))
            except (OSError, ValueError, MemoryError, frames.BadFrame, frames.Closed) as error:
                got.append(error)

        talker = threading.Thread(target=talk, daemon=True)
        talker.start()
        self._wait(talker, step, seconds)
        if wrote := self._wrote_too_much():
            raise self._stopped(talker, *wrote)
        answer = got[0]
        if isinstance(answer, frames.BadFrame):
            self.close()
            how = told("course.sandbox.sent-no-frame", why=str(answer))
            advice = told("course.sandbox.ours-to-mend") if self._is_trusted else None
            raise self._marked(Crashed(how, self._last_lines(), advice))
        if isinstance(answer, BaseException):
            raise self._ended(step)
        return answer

    def _wait(self, talker: threading.Thread, step: Message, seconds: float) -> None:
        end = time.monotonic() + seconds
        looks = 0
        while talker.is_alive():
            left = end - time.monotonic()
            if left <= 0:
                self.close()
                talker.join(5)
                raise self._marked(TimedOut(step, seconds))
            talker.join(min(left, 0.05))
            looks += 1
            if self._resident_bytes() > 2 * self.limits.memory_bytes:
                raise self._stopped(talker, told("course.sandbox.took-too-much-memory"))
            if looks % _LOOKS_PER_MEASURE == 0 and (wrote := self._wrote_too_much()):
                raise self._stopped(talker, *wrote)

    def _stopped(self, talker: threading.Thread, how: Message, advice: Message | None = None) -> Crashed:
        self.close()
        talker.join(5)
        return self._marked(Crashed(how, self._last_lines(), advice))

    def _wrote_too_much(self) -> tuple[Message, Message] | None:
        """What to say where the child's folder holds more than it may. The kernel bounds each file alone."""
        limits = self.limits
        used = folders.measure(self.folder, limits.folder_bytes, limits.folder_files, self._process.pid)
        if used.bytes > limits.folder_bytes:
            how = told("course.sandbox.wrote-too-much", mib=limits.folder_bytes >> 20)
        elif used.files > limits.folder_files:
            how = told("course.sandbox.made-too-many-files", count=limits.folder_files)
        elif used.too_deep:
            how = told("course.sandbox.made-too-deep-folders")
        else:
            return None
        return how, told("course.sandbox.needs-no-files")

    def _resident_bytes(self) -> int:
        """Memory that the limits of the kernel do not count, such as pages that are shared."""
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError, AttributeError):
            return 0

    # ---- Ending ----------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the child and all that it has started, and remove its folder."""
        if self._is_closed:  # its number may be another process's by now
            return
        self._is_closed = True
        if os.name == "posix" and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._drain.join(1)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()
        folders.remove_folder(self.folder)

    def _ended(self, step: Message) -> Crashed | TimedOut:
        """Why there was no answer: the child has ended, or closed its pipe and soon will have."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        code = self._process.poll()
        self.close()
        if os.name == "posix" and code == -int(getattr(signal, "SIGXCPU", 24)):
            return self._marked(TimedOut(step, self.limits.cpu_seconds))
        # Which no learner's code has ended: unless the system did it, to have its memory back.
        if self._is_trusted and code is not None and code != -int(getattr(signal, "SIGKILL", 9)):
            how = told("course.sandbox.crashed-itself", signal=_name_of(code)) if code < 0 else _how(code)
            return self._marked(Crashed(how, self._last_lines(), told("course.sandbox.ours-to-mend")))
        return self._marked(Crashed(_how(code), self._last_lines()))

    # ---- What it prints --------------------------------------------------------------------------------

    @property
    def printed(self) -> str:
        """What the learner's code printed so far; never looked at by the grader."""
        self._catch_up()
        text = bytes(self._output).decode(errors="replace")
        return f"{text}\n{say('course.sandbox.printed-more')}" if self._dropped else text

    def take_printed(self) -> str:
        """The same, and forget it: the next step's output begins anew."""
        text = self.printed
        self._output.clear()
        self._dropped = False
        return text

    def _catch_up(self) -> None:
        """Wait for what was printed before the answer came, and lies in the pipe still."""
        try:
            import fcntl
            import termios

            for _ in range(50):
                with self._keeping:  # nothing is on its way from the pipe to what is kept
                    left = fcntl.ioctl(
                        cast("BinaryIO", self._process.stderr).fileno(), termios.FIONREAD, b"\0" * 4
                    )
                if left == b"\0" * 4:
                    return
                time.sleep(0.001)
        except (ImportError, OSError, ValueError):
            return  # another system, or a pipe that is closed

    def _keep_output(self) -> None:
        stream = cast("BinaryIO", self._process.stderr)
        while True:
            try:
                if os.name == "posix":  # elsewhere nobody waits for the lock
                    select.select([stream], [], [])
                with self._keeping:
                    chunk = os.read(stream.fileno(), 1 << 16)
                    room = self.limits.output_bytes - len(self._output)
                    self._output += chunk[: max(0, room)]
                    self._dropped |= len(chunk) > room
            except (OSError, ValueError):
                return
            if not chunk:
                return

    def _last_lines(self) -> list[str]:
        self._drain.join(0.5)
        return [line for line in self.printed.splitlines() if line.strip()][-_LAST_LINES:]

    def _marked(self, error: _Error) -> _Error:
        error.printed = self.printed
        return error


def _how(code: int | None) -> Message:
    if code is None:
        return told("course.sandbox.closed-its-pipe")
    if code >= 0:
        return told("course.sandbox.exited", code=code)
    return told("course.sandbox.ended-by-signal", signal=_name_of(code))


def _name_of(code: int) -> str:
    """Returns the name of the signal that ended a process with this negative code."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return str(-code)


def _finders() -> list[str]:
    found: list[Any] = list(sys.meta_path)
    return [*_STANDARD_FINDERS, *(getattr(each, "__name__", type(each).__name__) for each in found)]


def _environment(folder: Path, trusted: bool) -> dict[str, str]:
    kept = (*_KEPT, *_KEPT_BY_TRUSTED) if trusted else _KEPT
    made = {name: os.environ[name] for name in kept if name in os.environ}
    made |= dict.fromkeys(_ONE_THREAD, "1")
    made |= {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "TEMP": str(folder),
        "TMP": str(folder),
        "LANG": "C.UTF-8",
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "torch"),
    }
    if trusted:
        made[settings.CACHE_DIR.name] = str(settings.cache_dir())
    return made
