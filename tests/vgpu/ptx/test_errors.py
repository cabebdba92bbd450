"""What malformed PTX is answered with: the place, what was got, what was expected. And never a crash."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashpath.errors import FlashpathError
from tests.harness import ptx_text as ptx

HEADER = ".version 8.5\n.target sm_80\n.address_size 64\n"  # what follows starts on line 4


def refusal(text: str | bytes) -> str:
    with pytest.raises(ptx.PtxError) as caught:
        ptx.summarize(text)
    error = caught.value
    assert isinstance(error, FlashpathError)
    assert str(error).startswith(f"PTX line {error.line}, column {error.column}: ")
    chinese = error.said.text("zh").removeprefix(f"PTX 第 {error.line} 行第 {error.column} 列：")
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert not re.search(r"[A-Za-z]{2,} [a-z]{2,}", re.sub("'[^']*'", "", chinese)), chinese
    return str(error).removeprefix("PTX ")


def in_module(text: str) -> str:
    return refusal(HEADER + text)


def in_body(text: str) -> str:
    """The body starts on line 6."""
    declared = ".reg .b32 %r<10>; .reg .pred %p<3>; .reg .b64 %address;"
    return in_module(f".global .u32 counter;\n.entry k(.param .u64 out) {{ {declared}\n{text}\n}}")


MODULES = {
    "": "line 4, column 1: got the end of the text, expected a directive.",
    "x": "line 4, column 1: got 'x', expected a directive.",
    ".frobnicate 5": "line 4, column 1: got the directive '.frobnicate', expected one of a module.",
    ".visible ;": "line 4, column 10: got ';', expected a variable or a function after its linkage.",
    ".global .q32 x;": "line 4, column 9: got '.q32', expected a type such as .b32.",
    ".global .align 3 .b32 x;": "line 4, column 16: got the alignment 3, expected a power of two.",
    ".global .b32 x": "line 4, column 15: got the end of the text, expected ';'.",
    ".global .b32 x; .global .b32 x;": "line 4, column 30: got a second declaration of 'x', expected one.",
    ".global .b8 x[-1];": (
        "line 4, column 15: got a negative or fractional number, expected an array's size."
    ),
    ".global .b8 x[99999999999999];": (
        "line 4, column 14: got an array of more than 2^40 bytes, expected less."
    ),
    ".global .b8 x[2] = {1, 2, 3};": "line 4, column 27: got '3', expected '}' after 2 values.",
    ".global .b8 x[2] = {{1}};": "line 4, column 21: got '{', expected a value.",
    ".extern .global .b8 x = 1;": (
        "line 4, column 23: got '=', expected ';': only a module's own variables have values."
    ),
    ".global .u32 counter; .global .u64 p = countr;": (
        "line 4, column 40: got the unknown name 'countr', expected perhaps 'counter'."
    ),
    ".entry k(.param .u64) {}": "line 4, column 21: got ')', expected a parameter's name.",
    ".entry k() .maxreg 3 {}": (
        "line 4, column 12: got the directive '.maxreg', expected one of a function's head."
    ),
    ".entry k() }": "line 4, column 12: got '}', expected '{' or ';'.",
    ".entry k() {} .entry k() {}": "line 4, column 22: got a second body of 'k', expected one.",
    ".func k(); .entry k() {}": (
        "line 4, column 19: got 'k' with other parameters than on line 4, expected the same."
    ),
    ".entry k(.param .u64 a, .param .u64 a) {}": (
        "line 4, column 1: got a second parameter 'a', expected one."
    ),
    ".section .debug_str { .b8 1": (
        "line 4, column 28: got the end of the text, expected '}' at the end of the section."
    ),
    '.file 1 "a\n"': "line 4, column 9: got a string with no end, expected '\"' on its line.",
    "/* open": "line 4, column 1: got a comment with no end, expected '*/'.",
    ".alias a, b;": "line 4, column 8: got 'a', expected a function declared above.",
    "\x01": "line 4, column 1: got '\\x01', which no PTX token starts with.",
}


@pytest.mark.parametrize("text", [text for text in MODULES if text])
def test_module(text: str) -> None:
    assert in_module(text) == MODULES[text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1, column 1: got the end of the text, expected '.version' at the start."),
        (".entry k() {}", "line 1, column 1: got '.entry', expected '.version' at the start."),
        (".version 8", "line 1, column 10: got '8', expected a version such as 8.5."),
        (".version 8.5 .entry", "line 1, column 14: got '.entry', expected '.target' after the version."),
        (b".version 8.5\n.target \xff", "line 2, column 9: got '\\xff', which no PTX token starts with."),
        ("\udc80", "line 1, column 1: got '\\x80', which no PTX token starts with."),
    ],
)
def test_header(text: str | bytes, expected: str) -> None:
    assert refusal(text) == expected


BODIES = {
    "mov.b32 %r1, %r12;": "line 6, column 14: got the unknown name '%r12', expected a register of '%r<10>'.",
    "mov.b32 %rr1, 0;": "line 6, column 9: got the unknown name '%rr1', expected perhaps '%r1'.",
    "ld.b32 %r1, [%adress];": (
        "line 6, column 14: got the unknown name '%adress', expected perhaps '%address'."
    ),
    "mov.u32 %r1, %laneld;": "line 6, column 14: got the unknown name '%laneld', expected perhaps '%laneid'.",
    "mov.u32 %r1, %nothing_like_it;": (
        "line 6, column 14: got the unknown name '%nothing_like_it', expected one that is declared."
    ),
    "$L__BB0_1:\nbra $L__BB0_2;": (
        "line 7, column 5: got the unknown name '$L__BB0_2', expected perhaps '$L__BB0_1'."
    ),
    "{ L: } bra L;": "line 6, column 12: got the unknown name 'L', expected one that is declared.",
    "mov.u64 %address, countre;": (
        "line 6, column 19: got the unknown name 'countre', expected perhaps 'counter'."
    ),
    "t: .branchtargets t;": "line 6, column 19: got 't', expected a label.",
    "t: .calltargets counter;": "line 6, column 17: got 'counter', expected a function declared above.",
    "L: L: ret;": "line 6, column 4: got a second label 'L', expected one.",
    ".reg .b32 %r<2>;": "line 6, column 11: got a second declaration of '%r', expected one.",
    ".reg .b32 %r4;": "line 6, column 11: got a second declaration of '%r4', expected one.",
    ".shared .b32 x; .reg .b32 x;": "line 6, column 27: got a second declaration of 'x', expected one.",
    ".local .b32 %r4;": "line 6, column 13: got a second declaration of '%r4', expected one.",
    ".local .b32 x = 1;": (
        "line 6, column 15: got '=', expected ';': only a module's own variables have values."
    ),
    ".frob;": "line 6, column 1: got the directive '.frob', expected one of a function's body.",
    "mov.b32 %r1 %r2;": "line 6, column 13: got '%r2', expected ',' or ';'.",
    "mov.b32 %r1, ;": "line 6, column 14: got ';', expected an operand.",
    "mov.b32 %r1, [%r2;": "line 6, column 18: got ';', expected ']'.",
    "mov.b32 %r1, [%r2+%r3];": "line 6, column 19: got '%r3', expected a constant.",
    "mov.b32 {}, %r1;": "line 6, column 10: got '}', expected an operand.",
    "mov.b32 %r1, %tid.q;": "line 6, column 18: got '.q', expected a component such as .x.",
    "mov.b32 %r1, %tid.b0;": "line 6, column 18: got '.b0', expected one of .x, .y, .z, .w.",
    "mov.b32 %r1, 1/0;": (
        "line 6, column 15: got a division by zero in a constant, expected another divisor."
    ),
    "mov.b32 %r1, 1.0|1;": "line 6, column 17: got '|' on floats, expected integers.",
    "mov.b32 %r1, ~1.0;": "line 6, column 14: got '~' on a float, expected an integer.",
    "mov.b32 %r1, 08;": (
        "line 6, column 14: got the number '08', expected one that is well formed and fits 64 bits."
    ),
    "mov.b32 %r1, 0f3F8;": (
        "line 6, column 14: got the number '0f3F8', expected one that is well formed and fits 64 bits."
    ),
    "mov.b32 %r1, 18446744073709551616;": (
        "line 6, column 14: got the number '18446744073709551616', "
        "expected one that is well formed and fits 64 bits."
    ),
    "@7 ret;": "line 6, column 2: got '7', expected a predicate register.",
    "@counter ret;": "line 6, column 2: got 'counter', expected a predicate register.",
    "@%p1 ;": "line 6, column 6: got ';', expected an instruction.",
    ".loc 1 2": "line 7, column 1: got '}', expected a column.",
    ".loc 1 2 3, at 4": "line 6, column 13: got 'at', expected 'function_name' or 'inlined_at'.",
    "ret": "line 7, column 1: got '}', expected an operand.",
    "{ ret;": "line 7, column 2: got the end of the text, expected a statement or '}'.",
}


@pytest.mark.parametrize("text", BODIES)
def test_body(text: str) -> None:
    assert in_body(text) == BODIES[text]


@pytest.mark.parametrize(
    "text",
    [
        "mov.b32 %r1, " + "(" * 100_000,
        "mov.b32 %r1, " + "-" * 100_000 + "1;",
        "mov.b32 %r1, " + "1?" * 100_000,
        "mov.b32 %r1, " + "1?1:" * 100_000 + "1;",
        "mov.b32 " + "{" * 100_000,
        "call " + "(" * 100_000,
        "{" * 100_000,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert "deeper than 100 levels, expected less" in in_body(text)


def test_long_messages_are_shortened() -> None:
    name = "%" + "x" * 1000
    assert in_body(f"mov.b32 {name}, 0;") == (
        f"line 6, column 9: got the unknown name '{name[:60]}...', expected one that is declared."
    )


# ---- Mutations of real PTX -----------------------------------------------------------------------------

_TOKEN = re.compile(r"[\w$%.:]+|\s+|.", re.DOTALL)
_WORDS = [
    *'{}()[]<>,;:=+-*/%&|^~!?@_."\\\0\n',
    *("/*", "//", "0x", "0f", "0d3", "1e999", "99999999999999999999", "(.s64)", "/0", "<4294967295>"),
    *(".reg .b32 %r<5>;", ".param .b32 a;", ".branchtargets", ".callprototype", ".loc 1 2 3"),
    *("generic(", ".section .x {", ".visible .entry", "L: L:", "é", "\udcff"),
]


_MUTATIONS = ("delete", "duplicate", "swap", "insert", "truncate", "bytes", "repeat")


def mutate(tokens: list[str], data: st.DataObject) -> str:
    tokens = list(tokens)
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(tokens)))
        j = data.draw(st.integers(0, len(tokens)))
        match data.draw(
            st.sampled_from(["delete", "duplicate", "swap", "insert", "truncate", "bytes", "repeat"])
        ):
            case "delete":
                del tokens[i : i + data.draw(st.integers(1, 5))]
            case "duplicate":
                tokens[j:j] = tokens[i : i + 8]
            case "swap" if i < len(tokens) and j < len(tokens):
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case "insert":
                tokens.insert(i, data.draw(st.sampled_from(_WORDS)))
            case "truncate":
                del tokens[i:]
            case "bytes":
                raw = data.draw(st.binary(max_size=8))
                tokens.insert(i, raw.decode(errors="surrogateescape"))
            case _:
                tokens.insert(i, data.draw(st.sampled_from(_WORDS)) * data.draw(st.integers(2, 300)))
    return "".join(tokens)


@pytest.fixture(scope="module")
def bases(cuda_ptx: Callable[..., str], triton_ptx: Callable[[str, str], str]) -> list[list[str]]:
    stems = ["calls", "variables", "inline_assembly", "switches", "messages", "tensor_cores", "shuffles"]
    texts = [cuda_ptx(f"{stem}.cu", "sm_80") for stem in stems]
    texts.append(cuda_ptx("bulk_copies.cu", "sm_90a"))
    texts.append(triton_ptx("softmax", "sm_80"))
    return [_TOKEN.findall(text) for text in texts]


def dump_or_refusal(text: str | bytes) -> str | ptx.PtxError:
    try:
        return ptx.dump(text)
    except ptx.PtxError as error:
        return error


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_mutated_ptx_parses_or_is_refused(bases: list[list[str]], data: st.DataObject) -> None:
    answer = dump_or_refusal(mutate(data.draw(st.sampled_from(bases)), data))
    if isinstance(answer, str):
        assert ptx.dump(answer) == answer
    else:
        assert answer.line >= 1
        assert answer.column >= 1
        assert str(answer).isascii()


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(noise=st.binary(max_size=300))
def test_noise_parses_or_is_refused(noise: bytes) -> None:
    for start in ("", HEADER, f"{HEADER}.entry k() {{"):
        answer = dump_or_refusal(start.encode() + noise)
        assert isinstance(answer, str) or str(answer).isascii()
