from __future__ import annotations

from pathlib import Path

import pytest

from flashpath.bench.loc import borrowed, count_c, count_file, count_function, count_python
from flashpath.kernels import ladder

PYTHON = '''"""Module docstring
over two lines."""

import math  # a comment behind code counts as code

# a comment alone


def area(
    radius: float,
) -> float:
    """Docstring."""
    text = """data, not
documentation

with a blank line"""
    "a lone string is documentation"
    return len(text) * math.pi * radius**2
'''


def test_python() -> None:
    # import; def over three lines; text over three lines that are not blank; return
    assert count_python(PYTHON) == 8


def test_a_file_that_only_includes_counts_with_what_it_includes(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text("int f() {\n  return 1;\n}\n")
    (tmp_path / "same.cu").write_text('// The same.\n#include <cstdio>\n#include "kernel.cu"\n')
    (tmp_path / "more.cu").write_text('#include "kernel.cu"\nint g() { return f(); }\n')
    assert borrowed(tmp_path / "same.cu") == [tmp_path / "kernel.cu"]
    assert count_file(tmp_path / "same.cu") == 2 + 3
    assert borrowed(tmp_path / "more.cu") == []
    assert count_file(tmp_path / "more.cu") == 2


@pytest.mark.parametrize("rung", ["backward", "backward_fused", "triton"])
def test_rungs_of_rms_norm_count_the_kernels_that_they_borrow(rung: str) -> None:
    file = ladder("rms_norm")[rung].file
    (other,) = borrowed(file)
    assert other.parent.name == "norm"
    assert (count_file(file) or 0) > (count_file(other) or 0) > 20


def test_python_without_code() -> None:
    assert count_python('"""Only words."""\n# and a comment\n') == 0
    assert count_python("") == 0


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("int a; // comment\n// comment\n\nint b;\n", 2),
        ("/* one\n two */ int a;\nint /* in the middle */ b;\n", 2),
        ('const char* s = "// no comment";\nconst char* t = "/*";\nint a; /* real\n*/\n', 3),
        ("char q = '\"'; // \"\nchar r = '\\''; // '\nint a;\n", 3),
        ("int n = 1'000'000; // don't\nint m = 1'000; // it's\n", 2),
        ('auto s = R"x(\n// inside a raw string\n)x";\n', 3),
        ("int a;\n/* never closed\nint b;\n", 1),
        ("", 0),
    ],
)
def test_c(source: str, lines: int) -> None:
    assert count_c(source) == lines


def test_the_suffix_chooses_the_language(tmp_path: Path) -> None:
    python, cuda, other = tmp_path / "a.py", tmp_path / "a.cu", tmp_path / "a.txt"
    python.write_text("x = 1\n# no\n")
    cuda.write_text("int x;\n// no\n")
    other.write_text("words\n")
    assert count_file(python) == 1
    assert count_file(cuda) == 1
    assert count_file(other) is None
    assert count_file(tmp_path / "absent.py") is None


def test_a_function_is_counted_alone() -> None:
    def double(x: int) -> int:
        """Twice."""
        # say it again
        return x + x

    assert count_function(double) == 2
    assert count_function(len) is None
