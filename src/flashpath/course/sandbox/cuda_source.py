"""What a learner's CUDA C++ may include: the toolkit's headers, and nothing else."""

from __future__ import annotations

import re

from flashpath.course.sandbox.directives import Directive, directives
from flashpath.course.sandbox.errors import BuildFailed, Refused
from flashpath.course.sandbox.python_source import failed_at

MOST_SOURCE_BYTES = 1 << 20
# Of host code: what is not among the stand-ins in headers/, and is no header of CUDA's for the device.
_HOST_HEADERS = frozenset({
    "array", "atomic", "bitset", "chrono", "complex", "ctime", "cuda.h", "deque", "filesystem", "fstream",
    "functional", "future", "iomanip", "ios", "iosfwd", "iostream", "istream", "list", "map", "memory",
    "mutex", "numeric", "optional", "ostream", "queue", "random", "regex", "set", "span", "sstream", "stack",
    "stdexcept", "string", "string_view", "sys/time.h", "thread", "time.h", "tuple", "unistd.h",
    "unordered_map", "unordered_set", "utility", "variant", "vector", "bits/stdc++.h",
})  # fmt: skip
_PRAGMAS_WITH_FILES = re.compile(r"\b(?:include_alias|dependency)\b")


def check_cuda(source: str, file_name: str) -> None:
    """Raise where the source is empty, too long, or includes what no answer may use."""
    if not source.strip():
        raise BuildFailed(f"{file_name} is empty.", "`flashpath reset` brings the skeleton back.")
    if len(source.encode(errors="replace")) > MOST_SOURCE_BYTES or "\0" in source:
        raise Refused(file_name, "it is longer than 1 MiB, or holds a NUL character.", "Write a kernel.")
    for found in directives(source):
        where = f"{file_name}:{found.line}: {found.word}"
        if found.kind in ("include", "has_include"):
            _check_file(found, where)
            _check_host(found, source, file_name)
        elif found.kind == "line":
            raise Refused(
                where, "messages name the lines of your own file, which it would rename.", "Remove the line."
            )
        elif found.kind == "pragma" and _PRAGMAS_WITH_FILES.search(found.name or ""):
            raise Refused(where, "it names another file.", "Remove the line: an answer is one file.")
        elif found.kind == "condition" and '"' in _without_has_include(found.name or ""):
            raise Refused(
                where, "there is a text in its condition.", "Compare whole numbers and macros only."
            )


def _without_has_include(condition: str) -> str:
    """Those are looked at by themselves; comments may hold anything."""
    return re.sub(r"//.*|/\*.*?(?:\*/|$)|__has_include\s*\(\s*\"[^\"]*\"\s*\)", "", condition)


def _check_file(found: Directive, where: str) -> None:
    name = found.name
    if name is None:
        raise Refused(where, "a macro names the file.", "Write the header's name itself.")
    if re.match(r"\s*(?:[/\\~]|[A-Za-z]:)", name) or ".." in re.split(r"[/\\]", name):
        raise Refused(
            f"{where} {name}", "answers include headers of CUDA only, by their names.", "Remove the line."
        )
    if "flashpath" in name.lower():
        raise Refused(
            f"{where} {name}",
            "this is no header of CUDA: an answer stands on its own.",
            "Remove the line; write what you need into this file.",
        )


def _check_host(found: Directive, source: str, file_name: str) -> None:
    name = found.name or ""
    if found.kind != "include" or not (name in _HOST_HEADERS or name.startswith("thrust/")):
        return
    problem = f"<{name}> is for host code, which is no part of the exercise"
    error = failed_at(source, file_name, problem, found.line)
    error.fix = "Remove the line; printf and assert are there without any #include."
    raise error
