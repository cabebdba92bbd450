"""`KernelSession`: a learner's kernel, built in one child or two, and launched as often as wanted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, cast

import numpy as np

from flashpath.course.sandbox import places
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.cuda_source import check_cuda
from flashpath.course.sandbox.inside import restrict
from flashpath.course.sandbox.job import Array, KernelJob, KernelRun, Limits
from flashpath.course.sandbox.plain import plain_number
from flashpath.course.sandbox.session import CompilerSession
from flashpath.course.sandbox.triton_source import build_triton, check_triton
from flashpath.messages import told
from flashpath.vgpu.findings import Finding

# A sanitised launch runs some millions of these a second.
BUDGET = 100_000_000
_ROOM_FOR_FINDINGS = 1 << 20


class KernelSession(CompilerSession):
    """`with KernelSession(job) as session:` builds; `session.run(…)` launches; the end ends the child."""

    def __init__(self, job: KernelJob, limits: Limits | None = None) -> None:
        self.job = job
        super().__init__(limits)
        self.file_name = re.sub(r"[\x00-\x1f\"\\]", "_", PurePath(job.file_name).name) or "kernel"
        self._printed = ""  # while it was built

    def __enter__(self) -> KernelSession:
        if self.job.language == "cuda":
            check_cuda(self.job.source, self.file_name)
        else:
            check_triton(self.job, self.file_name)
        try:
            self._child = Child(
                "kernel_worker", self.limits, places.for_kernels(), trusted=True, allowed=restrict.TOUCHING
            )
            if self.job.language == "cuda":
                self._build_cuda(self._child)
            else:
                self._build_triton(self._child)
        except BaseException:
            self.close()
            raise
        return self

    def _build_cuda(self, child: Child) -> None:
        job = self.job
        header, _ = child.ask(
            told("course.sandbox.building", file=self.file_name),
            self.limits.build_seconds,
            {
                "do": "build",
                "source": job.source + "\n",
                "file_name": self.file_name,
                "kernel": job.kernel,
                "arch": job.arch,
                "constants": dict(job.constants),
                "parameters": job.parameter_messages,
            },
        )
        self._check(header)

    def _build_triton(self, child: Child) -> None:
        """Two children: one runs the learner's file and sees no data, the other one sees no such file."""
        job = self.job
        built = build_triton(job, self.file_name, self.limits)
        self._printed = built.printed
        header, _ = child.ask(
            told("course.sandbox.loading", file=self.file_name),
            self.limits.build_seconds,
            {
                "do": "load",
                "name": built.name,
                "num_warps": built.num_warps,
                "shared": built.shared,
                "arch": job.arch,
                "parameters": job.parameter_messages,
            },
            [built.ptx],
        )
        self._check(header)

    def run(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        arguments: Sequence[Any],
        writable: Collection[int | str],
        gpu: str = "A100",
        counts: Sequence[str] = (),
        names: Mapping[str, Any] | None = None,
        sanitize: bool = True,
        budget: int = BUDGET,
        *,
        unset: Collection[int | str] = (),
        seed: int = 0,
    ) -> KernelRun:
        """Launch once, on copies of the arrays, which stay as they are here.

        `writable` names the arguments that the kernel may write, by their places or by the names of the
        parameters; a store to another one is a finding (`const-write`). `unset` are those of them that hold
        nothing yet: to read them before they are written is a finding. `counts` are expressions of `report`
        and `names`. `seed` chooses the schedule, 0 the plain one.
        """
        child = self._child
        if child is None:
            raise RuntimeError("the session is closed: use it inside its with block")
        arrays = [cast("Array", each) for each in arguments if isinstance(each, np.ndarray)]
        stores = self._places(writable)
        request = {
            "do": "run",
            "grid": [int(each) for each in grid],
            "block": [int(each) for each in block],
            "shared": int(shared),
            "arguments": [
                "array" if isinstance(each, np.ndarray) else plain_number(each) for each in arguments
            ],
            "writable": stores,
            "unset": self._places(unset),
            "gpu": gpu,
            "counts": list(counts),
            "names": {name: plain_number(value) for name, value in (names or {}).items()},
            "sanitize": bool(sanitize),
            "budget": int(budget),
            "seed": int(seed),
        }
        wanted = [cast("Array", arguments[index]) for index in stores]
        room = sum(each.nbytes + each.size for each in wanted)
        header, found = child.ask(
            told("course.sandbox.running", kernel=self.job.kernel),
            self.limits.run_seconds,
            request,
            arrays,
            room + _ROOM_FOR_FINDINGS,
        )
        self._check(header)
        count = len(wanted)
        return KernelRun(
            arrays=tuple(found[:count]),
            written=tuple(found[count:]),
            findings=tuple(Finding.from_data(finding) for finding in header["findings"]),
            counts=header["counts"],
            seconds=header["seconds"],
            printed=self._take_printed(child),
        )

    def _take_printed(self, child: Child) -> str:
        text, self._printed = self._printed + child.take_printed(), ""
        return text

    def _places(self, named: Collection[int | str]) -> list[int]:
        by_name = {each.name: index for index, each in enumerate(self.job.parameters)}
        return sorted({by_name[each] if isinstance(each, str) else int(each) for each in named})
