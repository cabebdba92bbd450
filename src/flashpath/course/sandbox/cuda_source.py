"""What a learner's CUDA C++ may include: headers of CUDA, in whole programs of the standard library too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flashpath.course.sandbox.directives import Directive, directives
from flashpath.course.sandbox.errors import BuildFailed, Refused
from flashpath.course.sandbox.python_source import place_of
from flashpath.jit.diagnostics import Diagnostic
from flashpath.messages import told

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
    """Raise where a kernel's source is empty, too long, or includes what no answer may use."""
    for found in _checked(source, file_name):
        if found.kind == "include":
            _check_host(found, source, file_name)


def check_program(source: str, file_name: str) -> None:
    """Raise where a whole program is empty, too long, or includes what no answer may use."""
    for _ in _checked(source, file_name):
        pass


def _checked(source: str, file_name: str) -> Iterator[Directive]:
    """The directives of a source, each after it was looked at."""
    if not source.strip():
        raise BuildFailed(told("course.sandbox.empty", file=file_name))
    if len(source.encode(errors="replace")) > MOST_SOURCE_BYTES or "\0" in source:
        raise Refused("course.sandbox.too-long", file=file_name)
    for found in directives(source):
        where = f"{file_name}:{found.line}: {found.word}"
        if found.kind in ("include", "has_include"):
            _check_file(found, where)
        elif found.kind == "line":
            raise Refused("course.sandbox.refused-line", where=where)
        elif found.kind == "pragma" and _PRAGMAS_WITH_FILES.search(found.name or ""):
            raise Refused("course.sandbox.refused-pragma", where=where)
        elif found.kind == "condition" and '"' in _without_has_include(found.name or ""):
            raise Refused("course.sandbox.refused-condition", where=where)
        yield found


def _without_has_include(condition: str) -> str:
    """Those are looked at by themselves; comments may hold anything."""
    return re.sub(r"//.*|/\*.*?(?:\*/|$)|__has_include\s*\(\s*\"[^\"]*\"\s*\)", "", condition)


def _check_file(found: Directive, where: str) -> None:
    name = found.name
    if name is None:
        raise Refused("course.sandbox.refused-macro", where=where)
    if re.match(r"\s*(?:[/\\~]|[A-Za-z]:)", name) or ".." in re.split(r"[/\\]", name):
        raise Refused("course.sandbox.refused-path", where=f"{where} {name}")
    if "flashpath" in name.lower():
        raise Refused("course.sandbox.refused-own-header", where=f"{where} {name}")


def _check_host(found: Directive, source: str, file_name: str) -> None:
    name = found.name or ""
    if not (name in _HOST_HEADERS or name.startswith("thrust/")):
        return
    where, listing = place_of(source, file_name, found.line)
    said = told("course.sandbox.host-header", where=where, name=name, listing=listing)
    raise BuildFailed(said, (Diagnostic(file_name, found.line, None, "error", ""),))
