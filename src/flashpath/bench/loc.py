"""Lines of code: those that are neither blank nor comment nor docstring."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

C_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"})

# Strings are matched only to be stepped over: "//" inside one starts no comment. A character literal is
# short, so that the digit separators of 1'000'000 do not open one.
C_TOKEN = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
    | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*"
    | '(?:\\[^'\n]+|\\'|[^'\\\n])'
    """,
    re.DOTALL | re.VERBOSE,
)

C_INCLUDE = re.compile(r"#\s*(?:pragma once|include\s*(?:<[^>]+>|\"(?P<quoted>[^\"]+)\"))")

LAYOUT_TOKENS = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


def count_file(path: Path) -> int | None:
    """Lines of code in a Python, C or CUDA file; None for other kinds and for a file that is not there.

    A file with no code of its own counts with what it borrows.
    """
    counts = [count_own(each) for each in (path, *borrowed(path))]
    return None if counts[0] is None else sum(filter(None, counts))


def borrowed(path: Path) -> list[Path]:
    """The files whose code a file is, where it only includes or imports: those of ladders, or beside it."""
    if not path.is_file():
        return []
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return _imported(source)
    if path.suffix in C_SUFFIXES:
        return [each for each in _included(source, path.parent) if each.is_file()]
    return []


def _included(source: str, folder: Path) -> list[Path]:
    found = [C_INCLUDE.fullmatch(line) for line in _code_of_c(source)]
    if not all(found):
        return []
    return [(folder / each["quoted"]).resolve() for each in found if each and each["quoted"]]


def _imported(source: str) -> list[Path]:
    modules: list[str] = []
    for statement in ast.parse(source).body:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.ImportFrom(module=str(module)):
                modules += [module] if module.startswith("flashpath.kernels.") else []
            case _:
                return []
    specs = [importlib.util.find_spec(module) for module in modules]
    return [Path(spec.origin) for spec in specs if spec and spec.origin]


def count_own(path: Path) -> int | None:
    """Lines of code of the file alone."""
    if not path.is_file():
        return None
    if path.suffix == ".py":
        return count_python(path.read_text(encoding="utf-8"))
    if path.suffix in C_SUFFIXES:
        return count_c(path.read_text(encoding="utf-8"))
    return None


def count_function(function: Callable[..., Any]) -> int | None:
    """Lines of code of a Python function alone; None where its source cannot be found."""
    try:
        return count_python(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return None


def count_python(source: str) -> int:
    """Lines that hold a token of a statement other than a lone string."""
    lines = source.splitlines()
    code: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT_TOKENS:
            statement.append(token)
        if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            if any(part.type != tokenize.STRING for part in statement):
                code.update(row for part in statement for row in range(part.start[0], part.end[0] + 1))
            statement = []
    return sum(1 for row in code if lines[row - 1].strip())


def count_c(source: str) -> int:
    """Lines that hold anything once comments are taken out."""
    return len(_code_of_c(source))


def _code_of_c(source: str) -> list[str]:

    def without_comment(match: re.Match[str]) -> str:
        text = match.group()
        # Newlines stay, so that code behind the comment keeps its own line.
        return " " + "\n" * text.count("\n") if match.group("comment") else text

    lines = C_TOKEN.sub(without_comment, source).splitlines()
    return [line.strip() for line in lines if line.strip()]
