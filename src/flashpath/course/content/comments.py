"""The comments of a CUDA C++ or Python file in Chinese.

The file is written once, in English. Beside it `skeleton.zh.txt` holds the Chinese of its comments, line by
line in their order: every `//` or `#` comment is one line, and so is every line of a docstring. The code is
the same in both languages because there is only one.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from flashpath.course.content.errors import ContentError
from flashpath.course.content.table import read

_CPP = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//[ ]?(?P<comment>.*)")

Place = tuple[int, int, int]  # a line from 0 on, and where in it the comment's text begins and ends


def commented(file: Path, lang: str) -> str:
    """Returns the file's text with its comments in that language, if they were translated."""
    text = read(file)
    translation = file.with_suffix(f".{lang}.txt")
    if lang == "en" or not translation.is_file():
        return text
    return _replaced(text, file.suffix, read(translation).splitlines(), translation)


def comments(text: str, suffix: str) -> list[str]:
    """Returns the comments of a file, in their order."""
    lines = text.splitlines()
    return [lines[line][begin:end] for line, begin, end in _places(text, suffix)]


def _replaced(text: str, suffix: str, chinese: list[str], translation: Path) -> str:
    lines = text.splitlines()
    places = list(_places(text, suffix))
    if len(places) != len(chinese):
        raise ContentError(
            "course.content.other-comment-count", translation, None, count=len(chinese), comments=len(places)
        )
    for (line, begin, end), comment in reversed(list(zip(places, chinese, strict=True))):
        lines[line] = lines[line][:begin] + comment + lines[line][end:]
    return "\n".join(lines) + "\n"


def _places(text: str, suffix: str) -> Iterator[Place]:
    return _of_python(text) if suffix == ".py" else _of_cpp(text)


def _of_cpp(text: str) -> Iterator[Place]:
    for number, line in enumerate(text.splitlines()):
        for found in _CPP.finditer(line):
            if found["comment"]:
                yield number, found.start("comment"), found.end("comment")


def _of_python(text: str) -> Iterator[Place]:
    found = list(_docstrings(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            begin = token.start[1] + len(token.string) - len(token.string.lstrip("# "))
            found.append((token.start[0] - 1, begin, token.end[1]))
    yield from sorted(found)


def _docstrings(text: str) -> Iterator[Place]:
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.FunctionDef) or ast.get_docstring(node) is None:
            continue
        string = node.body[0]
        for number in range(string.lineno - 1, string.end_lineno or 0):
            line = lines[number].replace('"""', "   ")
            if line.strip():
                yield number, len(line) - len(line.lstrip()), len(line.rstrip())
