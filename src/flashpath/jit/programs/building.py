"""Sources to an executable: every file compiled by nvcc, device code linked across files, then all of it."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from flashpath.jit import toolkit
from flashpath.jit.cache import KernelCache
from flashpath.jit.programs import errors
from flashpath.jit.programs.dependencies import Snapshot, hidden_by, read_makefile
from flashpath.jit.programs.host_code import CHECKED_FLAGS
from flashpath.jit.programs.recipe import Recipe
from flashpath.jit.programs.store import EXECUTABLE, LOG, Program, keep
from flashpath.jit.programs.watcher import Watcher
from flashpath.messages import Message
from flashpath.vgpu import driver_library, runtime_library

_AT_ONCE = 2  # a compiler of templates takes a gigabyte


_Step = tuple["subprocess.Popen[bytes]", Path]  # a compiler at work, and where its messages go


@dataclass(frozen=True)
class _Object:
    source: Path
    path: Path

    @property
    def dependencies(self) -> Path:
        return self.path.with_suffix(".d")


@dataclass(frozen=True)
class Cooked:
    """What the compilers have written into their folder."""

    executable: Path
    log: str
    objects: tuple[_Object, ...]


def cook(recipe: Recipe, scratch: Path, watcher: Watcher, *, in_groups: bool = True) -> Cooked:
    """Compile and link in a folder, with no look at the cache.

    `in_groups`: each compiler is the first of a process group, and ended with all that it has started.
    Without, all are of the group of this process, and whoever ends that ends them.
    """
    kitchen = _Kitchen(recipe, scratch, watcher, in_groups)
    objects = kitchen.compile()
    executable = kitchen.link(objects)
    return Cooked(executable, "\n".join(kitchen.logs), tuple(objects))


def build_anew(recipe: Recipe, cache: KernelCache, watcher: Watcher) -> Program:
    """Compile and link, and put the result into the cache."""
    started, start_ns = time.perf_counter(), time.time_ns()
    with _ended_in_order(), tempfile.TemporaryDirectory(prefix="flashpath-program-") as scratch:
        cooked = cook(recipe, Path(scratch), watcher)
        read = [
            (recipe.folder / name).resolve()
            for unit in cooked.objects
            for name in read_makefile(unit.dependencies.read_text(errors="surrogateescape"))
        ]
        read += _linked_files(recipe)
        snapshot = Snapshot.take(read, hidden_by(read, _search_folders(recipe)))
        files = {EXECUTABLE: cooked.executable.read_bytes(), LOG: cooked.log.encode()}
    nvcc = f"nvcc {toolkit.nvcc().version}, {toolkit.host_compiler()[1]}"
    build = {
        "source": ", ".join(str(recipe.folder / file) for file in recipe.files),
        "arch": recipe.target.arch,
        "compiler": f"{nvcc}, {'virtual' if recipe.target.is_virtual else 'cuda'}",
        "flags": [*recipe.code_flags, *recipe.flags, *recipe.link_flags],
        "assembler_flags": [],
        "kernels": [],
        "built": time.time(),
        "seconds": round(time.perf_counter() - started, 4),
    }
    return keep(recipe, cache, snapshot, build, files, remember=not snapshot.changed_since(start_ns))


@contextlib.contextmanager
def _ended_in_order() -> Generator[None]:
    """Signals that would end this process at once raise instead, so that compilers and files go with it."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    kinds = [kind for kind in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(kind) == signal.SIG_DFL]
    changed: list[signal.Signals] = []
    with contextlib.suppress(ValueError):  # signals can be handled in the main thread only
        for kind in kinds:
            signal.signal(kind, end)
            changed.append(kind)
    try:
        yield
    finally:
        for kind in changed:
            signal.signal(kind, signal.SIG_DFL)


class _Kitchen:
    """The commands of one build, in a folder of its own, which takes what compilers leave behind with it."""

    def __init__(self, recipe: Recipe, scratch: Path, watcher: Watcher, in_groups: bool) -> None:
        self.recipe = recipe
        self.scratch = scratch
        self.watcher = watcher
        self.in_groups = in_groups
        self.logs: list[str] = []
        self.nvcc: list[str] = [str(toolkit.nvcc().path)]
        if not any(flag.startswith(("-ccbin", "--compiler-bindir")) for flag in recipe.flags):
            self.nvcc += ["-ccbin", str(toolkit.host_compiler_path())]
        if (libraries := toolkit.nvcc().libraries) is not None:
            self.nvcc.append(f"-L{libraries}")

    def compile(self) -> list[_Object]:
        """Every file to an object, two at a time; the first that fails, in the order given, is the error."""
        recipe = self.recipe
        objects = [_Object(file, self.scratch / f"{at}.o") for at, file in enumerate(recipe.files)]
        with self._started(objects) as running:
            for at, (unit, (process, output)) in enumerate(zip(objects, running, strict=True)):
                step = {
                    "file": str(unit.source),
                    "arch": recipe.target.arch,
                    "at": at + 1,
                    "all": len(objects),
                }
                code = "jit.compiling-one-of" if len(objects) > 1 else "jit.compiling"
                self.watcher.progress(Message(code, step))
                code = process.wait()
                log = errors.cleaned(output.read_text(errors="replace"), recipe, self._sources(objects))
                if code != 0:
                    ptx = partial(self._ptx, unit.source)
                    raise errors.failed_compile(log, recipe, unit.source, ptx)
                self.logs += [log] if log else []
        return objects

    def link(self, objects: Sequence[_Object]) -> Path:
        """The objects, with the runtime of the target, to an executable."""
        recipe = self.recipe
        self.watcher.progress(Message("jit.linking"))
        inputs = [str(unit.path) for unit in objects]
        runtime = ["-cudart", "static"]
        if recipe.target.is_virtual:
            runtime = ["-cudart", "none", f"-L{runtime_library.folder()}", f"-l{runtime_library.NAME}"]
            if recipe.links_devices:
                # Without NVIDIA's runtime nvcc leaves this step out by itself.
                linked = self.scratch / "devices.o"
                step = ["-dlink", "--no-compress", *recipe.code_flags, *recipe.flags]
                step += [*inputs, "-o", str(linked)]
                self._link_step(step, objects)
                inputs.append(str(linked))
        elif recipe.links_devices:
            runtime.append("-rdc=true")
        executable = self.scratch / EXECUTABLE
        step = [*recipe.code_flags, *recipe.flags, *inputs, *self._libraries(), *runtime]
        step += ["-o", str(executable)]
        self._link_step(step, objects)
        return executable

    def _libraries(self) -> list[str]:
        """What the program is linked to; on the virtual GPU another library is CUDA's driver."""
        if not self.recipe.target.is_virtual:
            return list(self.recipe.link_flags)
        return [f"-l{driver_library.NAME}" if flag == "-lcuda" else flag for flag in self.recipe.link_flags]

    def _link_step(self, arguments: Sequence[str], objects: Sequence[_Object]) -> None:
        process, output = self._start([*self.nvcc, *arguments], "link")
        try:
            code = process.wait()
        finally:
            self._end(process)
        log = errors.cleaned(output.read_text(errors="replace"), self.recipe, self._sources(objects))
        if code != 0:
            raise errors.failed_link(log, self.recipe)
        self.logs += [log] if log else []

    def _compile_command(self, unit: _Object) -> list[str]:
        recipe = self.recipe
        flags = [*recipe.code_flags, "--no-compress"]
        if not {"-G", "--device-debug"}.intersection(recipe.flags):
            flags.append("-lineinfo")
        if recipe.links_devices:
            flags.append("-rdc=true")
        if recipe.checked and unit.source.suffix != ".c":
            flags += CHECKED_FLAGS
        flags += [flag for flag in recipe.flags if flag not in flags]
        files = ["-MD", "-MF", str(unit.dependencies), "-c", str(unit.source), "-o", str(unit.path)]
        return [*self.nvcc, *flags, *files]

    @contextlib.contextmanager
    def _started(self, objects: Sequence[_Object]) -> Generator[Iterator[_Step]]:
        """The compilers in the order of the objects, the next ones already at work; ended with the block."""
        waiting = deque(objects)
        running: deque[_Step] = deque()
        every: list[subprocess.Popen[bytes]] = []

        def in_order() -> Iterator[_Step]:
            while waiting or running:
                while waiting and len(running) < _AT_ONCE:
                    unit = waiting.popleft()
                    running.append(self._start(self._compile_command(unit), unit.path.stem))
                    every.append(running[-1][0])
                yield running.popleft()

        try:
            yield in_order()
        finally:
            for process in every:
                self._end(process)

    def _start(self, command: Sequence[str], name: str) -> _Step:
        self.watcher.command(shlex.join(command))
        output = self.scratch / f"{name}.log"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=self.recipe.folder,
                # Messages are read, not only shown: they are to be those that are known.
                env={**os.environ, "TMPDIR": str(self.scratch), "LC_ALL": "C.UTF-8"},
                process_group=0 if self.in_groups else None,  # nvcc is ended with what it has started
            )
        return process, output

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End a compiler that is still at work, and what it started; who may not end it waits for it."""
        if process.poll() is None:
            if self.in_groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _ptx(self, file: Path) -> str:
        """Returns the PTX that ptxas refused."""
        output = self.scratch / "refused.ptx"
        compute = self.recipe.target.arch.replace("sm_", "compute_")
        command = [*self.nvcc, f"-arch={compute}", "-lineinfo", *self.recipe.flags]
        command += ["-ptx", str(file), "-o", str(output)]
        process, _ = self._start(command, "ptx")
        try:
            process.wait()
        finally:
            self._end(process)
        text = output.read_text() if output.is_file() else ""
        return text.replace(f'"{self.recipe.folder / file}"', f'"{file}"')  # as its owner calls it

    @staticmethod
    def _sources(objects: Sequence[_Object]) -> dict[str, Path]:
        return {str(unit.path): unit.source for unit in objects}


def _search_folders(recipe: Recipe) -> list[Path]:
    """Returns where the user's headers are looked for, in that order."""
    folders = [(recipe.folder / file).parent for file in recipe.files]
    folders += [recipe.folder / flag[2:] for flag in recipe.flags if flag.startswith("-I")]
    return list(dict.fromkeys(folder.resolve() for folder in folders))


def _linked_files(recipe: Recipe) -> list[Path]:
    """The user's own libraries: no compiler lists them."""
    folders = [recipe.folder / flag[2:] for flag in recipe.link_flags if flag.startswith("-L")]
    names = [flag[2:] for flag in recipe.link_flags if flag.startswith("-l")]
    paths = [
        folder / f"lib{name}{suffix}" for folder in folders for name in names for suffix in (".so", ".a")
    ]
    return [path.resolve() for path in paths if path.is_file()]
