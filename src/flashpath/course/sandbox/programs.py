"""`ProgramSession`: a learner's whole program, built in one child, and each time run in another."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from flashpath import gpus, settings
from flashpath.course.sandbox import places
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.cuda_source import check_program
from flashpath.course.sandbox.errors import Crashed
from flashpath.course.sandbox.inside import restrict
from flashpath.course.sandbox.job import Limits, ProgramRun
from flashpath.course.sandbox.machine_paths import MachinePaths
from flashpath.course.sandbox.plain import plain_number
from flashpath.course.sandbox.session import CompilerSession
from flashpath.jit import toolkit
from flashpath.messages import told
from flashpath.vgpu import runtime_library
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.host_findings import HostFinding

# A launch is stopped after so many instructions of warps, and one that is only counted after more.
BUDGET, COUNTED_BUDGET = 1_000_000, 20_000_000
_MOST_RECORD_BYTES = 8 << 20
_OUTPUT = "output"
_EXECUTABLE = "program"


class ProgramSession(CompilerSession):
    """`with ProgramSession(…) as session:` builds; `session.run(…)` runs it; the end ends the builder."""

    def __init__(self, source: str, file_name: str, gpu: str = "A100", limits: Limits | None = None) -> None:
        self.source = source
        self.file_name = re.sub(r"[^\w.-]", "_", PurePath(file_name).name) or "program.cu"
        self.gpu = gpu
        super().__init__(limits)

    def __enter__(self) -> ProgramSession:
        check_program(self.source, self.file_name)
        need_compilers()
        self._child = Child(
            "program_builder",
            self.limits,
            places.for_program_builders(),
            trusted=True,
            allowed=(*restrict.TOUCHING, *restrict.STARTING),
        )
        request = {"do": "build", "source": self.source + "\n", "file_name": self.file_name, "gpu": self.gpu}
        try:
            step = told("course.sandbox.building", file=self.file_name)
            header, _ = self._child.ask(step, self.limits.build_seconds, request)
            self._check(header)
        except BaseException:
            self.close()
            raise
        return self

    def run(
        self,
        arguments: Sequence[str],
        counts: Sequence[str] = (),
        names: Mapping[str, Any] | None = None,
        *,
        gpu: str | None = None,
        sanitize: bool = True,
        seed: int = 0,
    ) -> ProgramRun:
        """Run the program once with these arguments, in a process of its own.

        `counts` are expressions of `report` and `names`; launches are counted where the run is not sanitised.
        Where `gpu` names another GPU than the session's, the program meets that one.
        """
        builder = self._child
        if builder is None:
            raise RuntimeError("the session is closed: use it inside its with block")
        options = {
            "sanitize": sanitize,
            "profile": not sanitize,
            "quiet": True,
            "budget": BUDGET if sanitize else COUNTED_BUDGET,
            "seed": seed,
        }
        started = time.perf_counter()
        child = Child(
            "program_worker",
            self.limits,
            places.for_programs(builder.folder / _EXECUTABLE),
            trusted=False,
            allowed=restrict.BECOMING,
        )
        try:
            with (child.folder / _OUTPUT).open("xb+") as output:
                ended = child.become(
                    told("course.sandbox.running", kernel=self.file_name),
                    self.limits.run_seconds,
                    self._beginning(builder.folder, child.folder, gpu or self.gpu, arguments, options),
                    _MOST_RECORD_BYTES,
                )
                # By this process's own handle: whatever the program has put in the file's place is not read.
                output.seek(0)
                printed = output.read(self.limits.output_bytes).decode(errors="replace")
            complained = child.printed
        finally:
            child.close()
        explained = self._explained(builder, ended.written, counts, names or {})
        return ProgramRun(
            exit_code=ended.code if ended.code >= 0 else None,
            signal=None if ended.code >= 0 else _signal_name(-ended.code),
            has_ended=explained["ended"],
            printed=printed,
            complained=MachinePaths(builder.folder).hidden_in(complained),
            findings=tuple(
                HostFinding.from_data(row["finding"]) if row["host"] else Finding.from_data(row["finding"])
                for row in explained["findings"]
            ),
            counts=explained["counts"],
            seconds=time.perf_counter() - started,
        )

    def _beginning(
        self, built: Path, folder: Path, gpu: str, arguments: Sequence[str], options: Mapping[str, object]
    ) -> dict[str, Any]:
        """What the child is told of the program that it becomes."""
        return {
            "program": str(built / _EXECUTABLE),
            "name": PurePath(self.file_name).stem,
            "arguments": list(arguments),
            "output": str(folder / _OUTPUT),
            "settings": settings.RUNTIME.name,
            "told": runtime_library.settings(gpus.gpu(gpu), options),
            "environment": {
                "LD_LIBRARY_PATH": str(runtime_library.folder()),
                "PATH": os.defpath,
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "LANG": "C.UTF-8",
                "MALLOC_ARENA_MAX": "2",  # of threads each would reserve much of the memory that there is
            },
        }

    def _explained(
        self, builder: Child, record: bytes, counts: Sequence[str], names: Mapping[str, Any]
    ) -> dict[str, Any]:
        header, _ = builder.ask(
            told("course.sandbox.running", kernel=self.file_name),
            self.limits.run_seconds,
            {
                "do": "explain",
                "counts": list(counts),
                "names": {name: plain_number(value) for name, value in names.items()},
            },
            [np.frombuffer(record, np.uint8)],
        )
        if "defect" in header:  # only what the program itself has written there cannot be read
            raise Crashed(
                told("course.sandbox.recorded-nonsense"), advice=told("course.sandbox.leave-the-record")
            )
        self._check(header)
        return header


def need_compilers() -> None:
    """Raise where nvcc, the host compiler or the runtime's library is missing, saying what to install."""
    try:
        toolkit.nvcc()
    except toolkit.MissingCompiler as error:
        raise toolkit.MissingCompiler("jit.no-nvcc-for-programs", problem=error.said) from None
    toolkit.host_compiler_path()
    runtime_library.folder()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
