"""Turns compilers' logs into errors a learner can act on: their file, their line, a caret, a hint."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import ptx as ptx_text
from flashpath.jit.source import Source
from flashpath.messages import Message, any_of, say

_MOST_ERRORS_SHOWN = 5

_EDG = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): (?P<severity>(?:catastrophic |fatal )?error|warning)(?: #[\w-]+)?: "
    r"(?P<message>.*)$"
)
# `At end of source: error: expected a "}"`, and below it where the opening one is.
_AT_END = re.compile(r"^At end of source: error(?: #[\w-]+)?: (?P<message>.*)$")
_NOTE = re.compile(r"^(?P<file>.+?)\((?P<line>\d+)\): note(?: #[\w-]+)?: (?P<message>.*)$")
_GCC = re.compile(
    r"^(?P<file>[^:]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?[Ee]rror: (?P<message>.*)$"
)  # the assembler, with a large E, knows no columns
_PTXAS = re.compile(r"^ptxas .*?, line (?P<line>\d+); (?:error|fatal)\s*: (?P<message>.*)$")
_UNOPENED = re.compile(
    r"(?:cannot open source file \"(?P<edg>[^\"]+)\"|(?P<gcc>\S+): No such file or directory)"
)


@dataclass(frozen=True)
class Diagnostic:
    """One message of a compiler, placed in the source."""

    file: str
    line: int
    column: int | None  # counted from 1
    severity: str  # "error" or "warning"
    message: str
    details: str = ""  # such as the template instantiation it happened in
    quoted: str | None = None  # the line as the compiler quotes it, which nvcc does after preprocessing


class CompileError(FlashpathError):
    """The source does not compile. `diagnostics` holds every message, `log` the compiler's own text."""

    def __init__(
        self, code: str, /, *, diagnostics: Sequence[Diagnostic] = (), log: str, **params: Any
    ) -> None:
        super().__init__(code, **params)
        self.diagnostics = tuple(diagnostics)
        self.log = log


class MissingInclude(CompileError):
    """A header that the source includes is in none of the folders searched."""


def parse_log(log: str) -> list[Diagnostic]:
    """The messages of NVRTC, nvcc's front end and the host compiler."""
    listed: list[Diagnostic] = []
    lines = log.splitlines()
    for at, text in enumerate(lines):
        if edg := _EDG.match(text):
            block = _block(lines[at + 1 :])
            severity = "warning" if edg["severity"] == "warning" else "error"
            line, message = int(edg["line"]), edg["message"]
            listed.append(
                Diagnostic(edg["file"], line, severity=severity, message=message, **_snippet(block))
            )
        elif end := _AT_END.match(text):
            block = _block(lines[at + 1 :])
            note = _NOTE.match(block[0]) if block else None
            file, line = (note["file"], int(note["line"])) if note else (say("jit.end-of-source"), 0)
            message = f"{end['message']} {note['message']}" if note else end["message"]
            snippet = _snippet(block[1:] if note else block)
            listed.append(Diagnostic(file, line, severity="error", message=message, **snippet))
        elif gcc := _GCC.match(text):
            column = int(gcc["column"]) if gcc["column"] else None
            listed.append(Diagnostic(gcc["file"], int(gcc["line"]), column, "error", gcc["message"]))
    return listed


def _block(following: Sequence[str]) -> list[str]:
    """The lines that belong to a message: up to an empty line or the next message."""
    ended = (at for at, text in enumerate(following) if not text.strip() or _EDG.match(text))
    return list(following[: next(ended, len(following))])


def _snippet(block: list[str]) -> dict[str, Any]:
    """Splits the lines after a message into the indented source line, the caret's column, and the rest."""
    for at, text in enumerate(block):
        if at > 0 and text.strip() == "^":
            rest = "\n".join(text.strip() for text in block[at + 1 :])
            quoted = block[at - 1][2:]
            before = quoted.encode()[: text.index("^") - 2]  # compilers count bytes
            column = len(before.decode(errors="ignore")) + 1
            return {"column": column, "details": rest, "quoted": quoted}
    return {"column": None, "details": "\n".join(text.strip() for text in block)}


def compile_error(
    log: str, source: Source, include_folders: Iterable[Path], *, with_host: bool = False
) -> CompileError:
    """The error for a failed compilation: of device code, or of a whole program, `with_host` code."""
    errors = [diagnostic for diagnostic in parse_log(log) if diagnostic.severity == "error"]
    if not errors:
        return CompileError("jit.compiler-failed", log=log, output=log.strip())
    for error in errors:
        if missing := _UNOPENED.search(error.message):
            name = missing["edg"] or missing["gcc"]
            told: dict[str, Any] = {"diagnostics": errors, "log": log, "shown": show(error, source)}
            told["advice"] = _include_hint(name, source, include_folders, with_host)
            if error.file == source.name:
                return MissingInclude("jit.missing-include", **told)
            told |= {"source": source.name, "file": error.file, "message": error.message}
            return MissingInclude("jit.missing-include-of-header", **told)
    return _refused(errors, source, log, _hint(errors))


def _refused(errors: Sequence[Diagnostic], source: Source, log: str, advice: Message | None) -> CompileError:
    """The error that shows the first messages of a compiler."""
    more = len(errors) - _MOST_ERRORS_SHOWN
    return CompileError(
        "jit.does-not-compile",
        diagnostics=errors,
        log=log,
        shown="\n".join(show(error, source) for error in errors[:_MOST_ERRORS_SHOWN]),
        more=Message("jit.more-errors", {"count": more}) if more > 0 else "",
        advice=advice or "",
    )


def assembler_error(log: str, ptx: str, source: Source, arch: str) -> CompileError:
    """The error for PTX that ptxas refuses, placed in the CUDA source through the line table."""
    errors: list[Diagnostic] = []
    for text in log.splitlines():
        if match := _PTXAS.match(text):
            place = ptx_text.source_line(ptx, int(match["line"]))
            file, line = place if place else ("kernel.ptx", int(match["line"]))
            errors.append(Diagnostic(file, line, None, "error", match["message"]))
    if not errors:
        return CompileError("jit.ptxas-failed", log=log, output=log.strip())
    advice = None
    if any("not supported on .target" in error.message for error in errors):
        advice = Message("jit.needs-another-arch", {"arch": arch})
        if re.search(r"wgmma|setmaxnreg", log):
            advice = Message("jit.needs-sm-90a")
    return _refused(errors, source, log, advice)


def show(diagnostic: Diagnostic, source: Source) -> str:
    """`file:line:column: error: …`, the line itself, and a caret under the place."""
    file = diagnostic.file
    line = _line_of(file, diagnostic.line, source)
    column = _column_in(line, diagnostic)
    if source.rendered_from and file == source.name:
        where = say("jit.as-rendered", template=str(source.rendered_from), line=diagnostic.line)
    else:
        where = f"{file}:{diagnostic.line}" + (f":{column}" if column else "")
    shown = [f"{where}: {diagnostic.severity}: {diagnostic.message}"]
    if line is not None:
        number = str(diagnostic.line)
        shown.append(f"  {number} | {line}")
        if column is not None:
            # Tabs stay tabs and wide characters take two places, so that the caret stands under its place.
            before = "".join(_blank(char) for char in line[: column - 1])
            shown.append(f"  {' ' * len(number)} | {before}^")
    if diagnostic.details:
        shown.extend(f"    {detail}" for detail in diagnostic.details.splitlines())
    return "\n".join(shown)


def _blank(char: str) -> str:
    if char == "\t":
        return char
    return "  " if unicodedata.east_asian_width(char) in "WF" else " "


def _column_in(line: str | None, diagnostic: Diagnostic) -> int | None:
    """Returns where the caret belongs in the learner's line, if macros changed the line the compiler saw."""
    if line is None or diagnostic.column is None or diagnostic.quoted in (None, line):
        return diagnostic.column
    rest = diagnostic.quoted[diagnostic.column - 1 :]
    return len(line) - len(rest) + 1 if rest and line.endswith(rest) else None


def _line_of(file: str, line: int, source: Source) -> str | None:
    if file == source.name:
        lines = source.text.splitlines()
    else:
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
    return lines[line - 1] if 1 <= line <= len(lines) else None


_HOST_HEADERS = re.compile(
    r"^(?:std\w+\.h|c?(?:std\w+|math|float|limits)(?:\.h)?|iostream|vector|string|cassert|assert\.h)$"
)


def _include_hint(name: str, source: Source, include_folders: Iterable[Path], with_host: bool) -> Message:
    folders = [str(folder) for folder in dict.fromkeys([source.folder, *include_folders]) if folder]
    if _HOST_HEADERS.match(name) and not with_host:
        return Message("jit.host-header", {"name": name})
    searched = Message("jit.searched", {"folders": folders or Message("jit.no-folder")})
    stem = Path(name).name
    if stem.startswith(_OF_HOST_LIBRARIES):
        return Message("jit.header-of-host-library", {"name": name})
    if stem.startswith("curand"):
        return Message("jit.searched-package", {"searched": searched, "package": "nvidia-curand"})
    present = {
        entry.name
        for folder in folders
        if Path(folder).is_dir()
        for entry in Path(folder).iterdir()
        if entry.suffix in (".h", ".cuh", ".hpp")
    }
    near = difflib.get_close_matches(stem, present, n=2, cutoff=0.8)
    if near:
        return Message("jit.searched-near", {"searched": searched, "near": any_of(near)})
    return Message("jit.searched-pass-folder", {"searched": searched})


# CUDA's libraries whose kernels are machine code, by how the names of their headers begin.
_OF_HOST_LIBRARIES = ("cublas", "cufft", "cusparse", "cusolver", "cudnn", "nccl")


def _include(header: str) -> Message:
    return Message("jit.include", {"header": header})


_HINTS = (
    (
        r'identifier "(?:blockIdx|threadIdx|blockDim|gridDim)" is undefined',
        Message("jit.inside-a-kernel"),
    ),
    (r'identifier "(?:__half|half|__half2|half2)" is undefined', _include("cuda_fp16.h")),
    (r'identifier "__nv_bfloat162?" is undefined', _include("cuda_bf16.h")),
    (r'identifier "__nv_fp8\w*" is undefined', _include("cuda_fp8.h")),
    (r'"(?:nvcuda|wmma)"|must be a namespace name\n.*\bnvcuda\b', _include("mma.h")),
    (
        r'"(?:cooperative_groups|cg)"|must be a namespace name\n.*\bcooperative_groups\b',
        _include("cooperative_groups.h"),
    ),
    (r"^A function without execution space annotations", Message("jit.mark-the-function")),
    (r"^A namespace scope variable without memory space", Message("jit.mark-the-variable")),
    (r"calling a __host__ function\(?.*from a __(?:global|device)__", Message("jit.mark-the-callee")),
)


def _hint(errors: Sequence[Diagnostic]) -> Message | None:
    for pattern, hint in _HINTS:
        if any(re.search(pattern, f"{error.message}\n{error.quoted}") for error in errors):
            return hint
    return None
