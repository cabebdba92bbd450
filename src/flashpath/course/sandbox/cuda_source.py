"""What a learner's CUDA C++ may include: the toolkit's headers, and nothing else."""

from __future__ import annotations

import re

from flashpath.course.sandbox.errors import BuildFailed, Refused
from flashpath.jit.includes import included

MOST_SOURCE_BYTES = 1 << 20


def check_cuda(source: str, file_name: str) -> None:
    """Raise where the source is empty, too long, or includes what no answer may use."""
    if not source.strip():
        raise BuildFailed(f"{file_name} is empty.", "`flashpath reset` brings the skeleton back.")
    if len(source.encode(errors="replace")) > MOST_SOURCE_BYTES or "\0" in source:
        raise Refused(file_name, "it is longer than 1 MiB, or holds a NUL character.", "Write a kernel.")
    for name, line in included(source):
        where = f"{file_name}:{line}: #include"
        if name is None:
            raise Refused(where, "a macro names the file.", "Write the header's name itself.")
        if re.match(r"[/\\~]|[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
            raise Refused(
                f"{where} {name}", "answers include headers of CUDA only, by their names.", "Remove the line."
            )
        if "flashpath" in name.lower():
            raise Refused(
                f"{where} {name}",
                "this is no header of CUDA: an answer stands on its own.",
                "Remove the line; write what you need into this file.",
            )
