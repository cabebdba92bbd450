from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flashpath.bench.learner_file import load_function
from flashpath.errors import FlashpathError


@pytest.fixture
def softmax(tmp_path: Path) -> Path:
    path = tmp_path / "softmax.py"
    path.write_text(
        "from helpers import half\nfrom math import exp\nSIZE = 4\n"
        "def my_softmax(x):\n    return half(x)\ndef other(x):\n    return exp(x)\n"
    )
    (tmp_path / "helpers.py").write_text("def half(x):\n    return x / 2\n")
    return path


def problem_of(where: str) -> str:
    with pytest.raises(FlashpathError) as caught:
        load_function(where)
    return str(caught.value)


def test_a_function_is_loaded_with_the_modules_beside_it(softmax: Path) -> None:
    assert load_function(f"{softmax}:my_softmax")(8) == 4


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    functions: list[Callable[..., Any]] = []
    for folder, value in (("a", 1), ("b", 2)):
        path = tmp_path / folder / "kernel.py"
        path.parent.mkdir()
        path.write_text(f"def f():\n    return g()\ndef g():\n    return {value}\n")
        functions.append(load_function(f"{path}:f"))
    assert [function() for function in functions] == [1, 2]


@pytest.mark.parametrize("where", ["softmax.py", "softmax.py:", ":f", "softmax"])
def test_without_file_or_function(where: str) -> None:
    assert "FILE.py:function" in problem_of(where)


def test_a_missing_file_with_a_near_name(softmax: Path) -> None:
    message = problem_of(f"{softmax.parent / 'sofmax.py'}:f")
    assert "There is no file" in message
    assert "Did you mean softmax.py?" in message
    assert "helpers.py, softmax.py" in problem_of(f"{softmax.parent / 'zzz.py'}:f")
    assert "does not exist either" in problem_of(f"{softmax.parent / 'absent' / 'x.py'}:f")


def test_a_missing_function_with_a_near_name(softmax: Path) -> None:
    assert "Did you mean my_softmax?" in problem_of(f"{softmax}:mysoftmax")
    message = problem_of(f"{softmax}:zzz")
    assert "The file defines: my_softmax, other" in message  # not what it imported
    assert "is no function: 'SIZE'" in problem_of(f"{softmax}:SIZE")


def test_an_error_at_import_shows_their_own_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import json\n\ndef load():\n    return json.loads('{')\n\nDATA = load()\n")
    message = problem_of(f"{path}:f")
    assert "broken.py failed while it was imported, line 4, in load:" in message
    assert "return json.loads('{')" in message
    assert "JSONDecodeError" in message


def test_a_syntax_error_shows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ndef f(:\n    pass\n")
    message = problem_of(f"{path}:f")
    assert "line 2" in message
    assert "def f(:" in message


def test_what_a_file_prints_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "talks.py"
    path.write_text("print('hello')\ndef f():\n    return 1\n")
    assert load_function(f"{path}:f")() == 1
    assert capsys.readouterr() == ("", "hello\n")


def test_a_file_that_exits(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import sys\nsys.exit(3)\n")
    assert "SystemExit: 3" in problem_of(f"{path}:f")
