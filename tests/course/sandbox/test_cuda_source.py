"""What a learner's CUDA C++ may include: read as the preprocessor reads it."""

from __future__ import annotations

import contextlib
import time

import pytest

from flashpath.course.sandbox import (
    Refused,
)
from flashpath.course.sandbox.cuda_source import check_cuda
from flashpath.course.sandbox.directives import directives

KERNEL = "__global__ void nothing() {}\n"


def test_includes_are_found_where_they_stand() -> None:
    text = 'int a;\n#inc\\\nlude "x.h"\n// no #include needed\n#include <b.h>\n# include MACRO\n'
    found = {(each.name, each.line) for each in directives(text) if each.kind == "include"}
    assert found == {("x.h", 2), ("b.h", 5), (None, 6)}


@pytest.mark.parametrize(
    "text",
    [
        '#\finclude "/etc/hostname"',
        '#\vinclude "/etc/hostname"',
        '\f#include "/etc/hostname"',
        '%:include "/etc/hostname"',
        '??=include "/etc/hostname"',
        '#inc\\\nlude "/etc/hostname"',
        '#inc\\ \nlude "/etc/hostname"',
        '#inc??/\nlude "/etc/hostname"',
        '#/*\n*/include/*\n*/"/etc/hostname"',
        "/* a\n*/ #include MACRO",
        '#include_next "/etc/hostname"',
        '#import "/etc/hostname"',
        '#embed "/etc/hostname"',
        "#include </etc/hostname>",
        '#include "a/../../etc/hostname"',
        '#define M "/etc/hostname"\n#include M',
        "#define S(x) #x\n#include S(/etc/hostname)",
        "#define LESS <\n#include LESS/etc/hostname>",
        '#if __has_include("/etc/hostname")\n#endif',
        "#if __has_include(MACRO)\n#endif",
        '#if __has_embed("/etc/hostname")\n#endif',
        '#define H __has_include\n#if H("/etc/hostname")\n#endif',
        '#define P(a, b) a##b\n#if P(__has_, include)("/etc/hostname")\n#endif',
        '#define Q \'\n#include "/etc/hostname"',
        '#if 0\n"\n#endif\n#include "/etc/hostname"',
        '#if 0\nR"(\n#endif\n#include "/etc/hostname"',
        'int a;\r#include "/etc/hostname"',
        '_Pragma("include_alias(\\"cuda_fp16.h\\", \\"/etc/hostname\\")")',
        '#pragma GCC dependency "/etc/hostname"',
    ],
)
def test_no_spelling_gets_another_file_past_the_check(text: str) -> None:
    with pytest.raises(Refused):
        check_cuda(f"{text}\n{KERNEL}", "mine.cu")


@pytest.mark.parametrize("text", ['#line 7 "other.cu"', "# line 7", '# 7 "other.cu"', "%:line 7"])
def test_lines_cannot_be_renamed(text: str) -> None:
    with pytest.raises(Refused, match=r"mine\.cu:2: #.*your own file"):
        check_cuda(f"\n{text}\n{KERNEL}", "mine.cu")


@pytest.mark.parametrize(
    "text",
    [
        "// there is no need to #include anything; __CUDA_ARCH__ is there",
        "/* with #include you\n get */ #include <cuda_fp16.h>",
        '#if __CUDA_ARCH__ >= 800  // "new"\n#endif',
        "#define NAMED(x) #x\n#define LINE(x) #x",
        '#if __has_include(<cuda/std/cmath>) && __has_include("cuda_bf16.h")\n#endif',
        '#define UNROLL(n) _Pragma("unroll")',
    ],
)
def test_what_reads_like_an_include_and_is_none(text: str) -> None:
    check_cuda(f"{text}\n{KERNEL}", "mine.cu")


@pytest.mark.parametrize(
    "text", ["#/*", "# ", "#if ", "#include <", "*/ ", "??=", "\\\n", "_Pragma ", "#pragma\r"]
)
def test_a_long_text_is_read_in_little_time(text: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(Refused):
        check_cuda(text * ((1 << 18) // len(text)), "mine.cu")
    assert time.monotonic() - began < 5
