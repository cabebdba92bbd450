"""What compilers and the engine say of a kernel, for somebody who is handed an exercise.

The same errors are told to those who call `fp.compile` themselves. A learner has no such call: what it is
given, where headers lie and how a kernel is launched is the exercise's. What is left can be done in the file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flashpath.course.sandbox.errors import BuildFailed
from flashpath.course.sandbox.job import KernelJob
from flashpath.jit.diagnostics import Diagnostic

_ONE_FILE = (
    "An answer is one file: write what you need into it. Headers of CUDA are found by their names, such as "
    "<cuda_fp16.h>, <mma.h> and <cooperative_groups.h>."
)
_BUILT_IN = "__nv_nvrtc_builtin_header.h"
# What is left out of a message, or said otherwise.
_SAID_OTHERWISE = (
    (rf"\S*{_BUILT_IN}\(\d+\): note(?: #[\w-]+)?: ", "note: "),
    (rf" \(\S*{_BUILT_IN}:\d+\)", ""),
    (rf"\S*/{_BUILT_IN}", _BUILT_IN),
    (r"\.? Consider using -default-device flag[^\n]*", "."),
    (r", compile for [\w ]+ to have mma instead", ""),
)
_FIXES = (
    (
        r"Mark the function __device__ or __global__\.",
        "Mark the function __device__. An answer has no host code, and no main.",
    ),
    (
        r"Run it on a GPU, or write it with instructions that the virtual GPU knows\.",
        "The kernel is played on the virtual GPU, which does not have it: write it in another way.",
    ),
    (r"Pass threads=", "The exercise chooses the launch: use less memory and fewer registers in a thread."),
)


def told(header: Mapping[str, Any], job: KernelJob, file_name: str, folder: Path) -> BuildFailed:
    """The error of a child that could not build or launch, in words that a learner can follow."""
    hidden = _Hidden(folder)
    diagnostics = [hidden.of(Diagnostic(**each)) for each in header["diagnostics"]]
    problem, fix = hidden.text(header["failed"]), header["fix"]
    if header.get("kind") == "KernelNotFound":
        form = "template" if "<" in job.kernel else "function, no template,"
        fix = f"The exercise calls {job.kernel}: keep the skeleton's, a __global__ {form} in no namespace."
    elif header.get("kind") == "MissingInclude":
        problem, fix = _missing(problem, diagnostics, file_name)
    elif fix is not None:
        fix = next((other for pattern, other in _FIXES if re.search(pattern, fix)), hidden.text(fix))
    return BuildFailed(problem, fix, diagnostics)


def _missing(problem: str, diagnostics: Sequence[Diagnostic], file_name: str) -> tuple[str, str]:
    """A header that is not there: the learner's own, or one that a header of CUDA's wants from the host."""
    found = next((each for each in diagnostics if "cannot open source file" in each.message), None)
    if found is None or found.file == file_name:
        return problem, _ONE_FILE
    return (
        f"{file_name}: it includes a header that is for host code ({found.file} {found.message}).",
        f"Remove the #include: host code is no part of the exercise. {_ONE_FILE}",
    )


class _Hidden:
    """Takes the places of this machine out of a text."""

    def __init__(self, folder: Path) -> None:
        from flashpath.jit import toolkit

        own = Path(__file__).parent
        places = [
            *toolkit.headers().folders,
            own / "headers",
            own,
            folder,
            folder.resolve(),
            Path(sys.prefix),
        ]
        names = sorted({str(each) for each in places}, key=len, reverse=True)
        self._prefixes = re.compile("|".join(re.escape(each.rstrip("/\\")) + r"[/\\]" for each in names))

    def text(self, text: str) -> str:
        for pattern, other in _SAID_OTHERWISE:
            text = re.sub(pattern, other, text)
        return self._prefixes.sub("", text)

    def of(self, found: Diagnostic) -> Diagnostic:
        return replace(
            found,
            file=self.text(found.file),
            message=self.text(found.message),
            details=self.text(found.details),
        )
