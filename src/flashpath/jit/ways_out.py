"""Whether the threads of a kernel all end at its last line, read from its source.

In PTX `if (i >= n) return;` before a barrier and `if (i < n) { … }` around it are the same code: compilers
let all ways out end in one `ret`. The first is allowed, the second is no place for a barrier. Where the
source has no way out before the kernel's last line, a thread that has ended has passed by all barriers.
"""

from __future__ import annotations

import re

from flashpath.vgpu.ptx import source_files

# Comments, text and character constants, none of which holds code. The digits' separator of C++ is no quote.
_NO_CODE = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)")
_WAY_OUT = re.compile(r"\b(?:return|goto)\b")
# Called, or a statement of its own: perhaps a macro of a header, which is not read.
_PERHAPS_A_MACRO = re.compile(r"\b([A-Z][A-Z0-9_]+)\s*\(|[;{})]\s*([A-Z][A-Z0-9_]+)\s*;")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+(?P<inlined>\s*,)?", re.MULTILINE)
_RETURN = re.compile(r"^\s*(?:@!?%?\w+\s+)?ret(?:\.uni)?\s*;", re.MULTILINE)
_EXIT = re.compile(r"\bexit\s*;")


def runs_to_end(source: str, source_name: str, module: str, entry: str) -> bool:
    """True where no thread of the kernel can end before its last line; False also where that is not known.

    `module` is the PTX of the whole source, `entry` that of the kernel in it, with source lines.
    """
    lines = _lines(source_name, module, entry)
    if lines is None or _EXIT.search(module):
        return False
    code = _NO_CODE.sub(_blank, source)
    directives = [each.group() for each in _DIRECTIVE.finditer(code)]
    body = _body(_DIRECTIVE.sub(_blank, code), *lines)
    if body is None or _WAY_OUT.search(body):
        return False
    macros = {name[1]: each for each in directives if (name := _MACRO.match(each))}
    if any(_WAY_OUT.search(each) for each in macros.values()):
        return False
    return all((called or alone) in macros for called, alone in _PERHAPS_A_MACRO.findall(body))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _lines(source_name: str, module: str, entry: str) -> tuple[int, int] | None:
    """The kernel's first and last line, where its PTX has one `ret` and both stand in that file."""
    returns = list(_RETURN.finditer(entry))
    locs = list(_LOC.finditer(entry, 0, returns[0].start())) if len(returns) == 1 else []
    if not locs or locs[-1]["inlined"]:
        return None
    files = source_files(module)
    if any(files.get(loc[1]) != source_name for loc in (locs[0], locs[-1])):
        return None
    return int(locs[0][2]), int(locs[-1][2])


def _body(code: str, first: int, last: int) -> str | None:
    """Returns what stands in the braces that open after the first line's start and close on the last."""
    start = sum(len(line) for line in code.splitlines(keepends=True)[: first - 1])
    opening = code.find("{", start)
    depth = 0
    for brace in re.finditer(r"[{}]", code[opening:]) if opening >= 0 else ():
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            closing = opening + brace.start()
            return code[opening:closing] if code.count("\n", 0, closing) + 1 == last else None
    return None
