# type: ignore - launches of device code, which is Python in syntax only
"""Triton's own functions are placed where the user's kernel calls them."""

import inspect

import torch
import triton
import triton.language as tl

import flashpath as fp
from flashpath.vgpu.triton_places import library_name, with_calls


@triton.jit
def loaded(x, i):
    return tl.load(x + i)


@triton.jit
def normalised(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = loaded(x, i)
    total = tl.sum(v)
    tl.store(y + i, tl.softmax(v) + total)


def line_of(text: str) -> int:
    lines, first = inspect.getsourcelines(normalised.fn)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_lines_are_those_of_the_users_kernel():
    report = fp.profile(normalised, (1,), args=(torch.rand(256), torch.zeros(256)), N=256)
    assert {line.file for line in report.lines} == {__file__}
    done = {line.line: line.instructions_by_class for line in report.lines}
    assert done[line_of("tl.sum")]["warp-wide"] > 0
    assert line_of("loaded(x") not in done  # a function of the user's is a place of its own
    assert any("global load" in classes for classes in done.values())


PTX = """\
\t.loc\t1 6 0                           // k.py:6:0
\tmov.u32 \t%r1, %tid.x;
\t.loc\t1 4 19                          // k.py:4:19 @[ k.py:8:18 ]
\t.loc\t2 263 15                        // standard.py:263:15 @[ standard.py:293:36 @[ {caller}:9:15 ] ]
\t.file\t1 "/home/me/{own}"
\t.file\t2 "/lib/triton/standard.py"
{more}"""


def in_lib(path):
    return path if path.startswith("/lib/") else None


def third_line(**names):
    text = PTX.format(**{"caller": "k.py", "own": "k.py", "more": "", **names})
    made = with_calls(text, in_lib)
    assert [line for k, line in enumerate(text.split("\n")) if k != 3] == [
        line for k, line in enumerate(made.split("\n")) if k != 3
    ]
    return made.split("\n")[3]


def test_comments_become_calls():
    assert third_line() == "\t.loc 1 9 15 .loc\t2 263 15, inlined_at 1 9 15"
    # Two files of one name: the outermost call is in the kernel's own.
    called = "\t.loc 1 9 15 .loc\t2 263 15, inlined_at 1 9 15"
    assert third_line(own="standard.py", caller="standard.py") == called
    assert third_line(more='\t.file\t3 "/home/you/k.py"\n') == called
    # A file that the table does not name says nothing.
    assert third_line(caller="other.py").startswith("\t.loc\t2 263 15  ")


def test_what_a_file_of_tritons_is_called():
    assert library_name(inspect.getsourcefile(tl.sum.fn)) == "triton/language/standard.py"
    assert library_name(__file__) is None
