"""Comments of skeletons and of the code in a work folder are Chinese where the learner reads Chinese."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from flashpath import settings
from flashpath.course.content import ContentError
from flashpath.course.content.comments import commented, comments
from flashpath.course.workspace.first_week import PROGRAMS, SCRIPTS

COURSE = settings.content_dir("course")
FILES = [
    *sorted(file for file in COURSE.glob("units/*/exercises/*/skeleton.*") if file.suffix in (".cu", ".py")),
    *(  # the kernels of predictions, which the learner reads
        file
        for exercise in sorted(COURSE.glob("units/*/exercises/*/exercise.toml"))
        if 'kind = "predict"' in exercise.read_text(encoding="utf-8")
        for file in sorted(exercise.parent.iterdir())
        if file.suffix in (".cu", ".py")
    ),
    *(COURSE / "code" / name for name in SCRIPTS),
    *(settings.content_dir("programs") / "cuda" / name for name in PROGRAMS),
]


def _name(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_every_comment_is_chinese(file: Path) -> None:
    """Formulas and shapes stay; a sentence is translated."""
    english = comments(file.read_text(encoding="utf-8"), file.suffix)
    chinese = comments(commented(file, "zh"), file.suffix)
    assert len(english) == len(chinese)
    sentences = [line for line in chinese if re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", line)]
    assert not [
        line for line in sentences if not re.search("[\u4e00-\u9fff]", line) and "flashpath" not in line
    ]


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_the_code_is_the_same_in_both_languages(file: Path) -> None:
    english, chinese = commented(file, "en"), commented(file, "zh")
    assert english == file.read_text(encoding="utf-8")
    assert _code(english, file.suffix) == _code(chinese, file.suffix)


def _code(text: str, suffix: str) -> str:
    if suffix != ".py":
        return re.sub(r"//.*", "//", text)
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body.pop(0)
    return ast.dump(tree)


def test_a_comment_in_a_text_is_none() -> None:
    source = 'const char* a = "http://x";  // here\nconst char b = \'"\';  // there\n/* no */ int c;\n'
    assert comments(source, ".cu") == ["here", "there"]


def test_comments_and_docstrings_of_python_come_in_their_order() -> None:
    source = '"""First.\n\n  Second.\n"""\nx = "# none"  # third\ndef f():\n    """Fourth."""\n    return 1\n'
    assert comments(source, ".py") == ["First.", "Second.", "third", "Fourth."]


def test_a_translation_with_a_line_too_few_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("// one\nint a;  // two\n")
    (tmp_path / "a.zh.txt").write_text("一\n")
    with pytest.raises(ContentError, match=r"1 lines?, and 2 comments"):
        commented(tmp_path / "a.cu", "zh")
    (tmp_path / "a.zh.txt").write_text("一\n二\n")
    assert commented(tmp_path / "a.cu", "zh") == "// 一\nint a;  // 二\n"
    assert commented(tmp_path / "a.cu", "en") == "// one\nint a;  // two\n"
