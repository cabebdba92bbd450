"""Every form of the grammar, by hand: what a snippet is read as shows in its canonical form."""

from __future__ import annotations

import pytest

from tests.harness import ptx_text as ptx

HEADER = ".version 8.5\n.target sm_80\n.address_size 64\n"
DECLARED = (
    ".reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<3>; .reg .f32 %f<9>; .reg .v4 .f32 %v; "
    ".shared .align 4 .b8 tile[64]; .local .b32 slot;"
)


def module(text: str) -> str:
    """The canonical form without its header."""
    return ptx.dump(HEADER + text).removeprefix(HEADER)


def statements(body: str) -> list[str]:
    """The canonical form of a body, declarations left out."""
    text = module(
        f".func callee(.param .b32 a) {{ ret; }}\n.entry k(.param .u64 out) {{ {DECLARED} {body} }}"
    )
    lines = text.partition(".entry")[2].partition("{\n")[2].splitlines()[:-1]
    return [line.strip() for line in lines if not line.strip().startswith((".reg", ".shared", ".local"))]


def statement(body: str) -> str:
    found = statements(body)
    assert len(found) == 1
    return found[0]


# ---- Operands ------------------------------------------------------------------------------------------

OPERANDS = {
    "register": ("mov.b32 %r1, %r2;", "mov.b32 %r1, %r2;"),
    "special": ("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.x;"),
    "special without component": ("mov.u64 %rd1, %clock64;", "mov.u64 %rd1, %clock64;"),
    "numbered special": ("mov.b32 %r1, %envreg3;", "mov.b32 %r1, %envreg3;"),
    "whole vector special": ("mov.v4.u32 %r1, %ctaid;", "mov.v4.u32 %r1, %ctaid;"),
    "component": ("mov.f32 %f1, %v.x;", "mov.f32 %f1, %v.x;"),
    "colour": ("mov.f32 %f1, %v.a;", "mov.f32 %f1, %v.w;"),
    "byte": ("vadd.u32.u32.u32 %r1, %r2.b3, %r3.h1;", "vadd.u32.u32.u32 %r1, %r2.b3, %r3.h1;"),
    "decimal": ("mov.b32 %r1, 42;", "mov.b32 %r1, 42;"),
    "negative": ("mov.b32 %r1, -42;", "mov.b32 %r1, -42;"),
    "unsigned": ("mov.b32 %r1, 42U;", "mov.b32 %r1, 42;"),
    "hexadecimal": ("mov.b32 %r1, 0xfFU;", "mov.b32 %r1, 255;"),
    "octal": ("mov.b32 %r1, 017;", "mov.b32 %r1, 15;"),
    "binary": ("mov.b32 %r1, 0b101;", "mov.b32 %r1, 5;"),
    "zero": ("mov.b32 %r1, 0U;", "mov.b32 %r1, 0;"),
    "least": ("mov.b64 %rd1, -9223372036854775808;", "mov.b64 %rd1, -9223372036854775808;"),
    "greatest": ("mov.b64 %rd1, 0xFFFFFFFFFFFFFFFF;", "mov.b64 %rd1, -1;"),
    "float bits": ("mov.f32 %f1, 0f3f800000;", "mov.f32 %f1, 0f3F800000;"),
    "negated float bits": ("mov.f32 %f1, -0f3F800000;", "mov.f32 %f1, 0fBF800000;"),
    "double bits": ("mov.f64 %rd1, 0D7ff0000000000001;", "mov.f64 %rd1, 0d7FF0000000000001;"),
    "decimal float": ("mov.f64 %rd1, 1.5;", "mov.f64 %rd1, 0d3FF8000000000000;"),
    "exponent": ("mov.f64 %rd1, 15e-1;", "mov.f64 %rd1, 0d3FF8000000000000;"),
    "leading point": ("mov.f64 %rd1, .5;", "mov.f64 %rd1, 0d3FE0000000000000;"),
    "negative zero": ("mov.f64 %rd1, -0.0;", "mov.f64 %rd1, 0d8000000000000000;"),
    "parameter": ("ld.param.u64 %rd1, [out];", "ld.param.u64 %rd1, [out];"),
    "symbol": ("mov.u64 %rd1, tile;", "mov.u64 %rd1, tile;"),
    "symbol and offset": ("mov.u64 %rd1, tile + 8;", "mov.u64 %rd1, tile+8;"),
    "symbol and negative offset": ("mov.u64 %rd1, tile-8;", "mov.u64 %rd1, tile+-8;"),
    "function": ("mov.u64 %rd1, callee;", "mov.u64 %rd1, callee;"),
    "address": ("ld.global.b32 %r1, [%rd1];", "ld.global.b32 %r1, [%rd1];"),
    "address and zero": ("ld.global.b32 %r1, [%rd1+0];", "ld.global.b32 %r1, [%rd1];"),
    "address and offset": ("ld.global.b32 %r1, [ %rd1 + 16 ];", "ld.global.b32 %r1, [%rd1+16];"),
    "address less offset": ("ld.global.b32 %r1, [%rd1+-16];", "ld.global.b32 %r1, [%rd1+-16];"),
    "address and expression": ("ld.global.b32 %r1, [%rd1 + 4*2 - 1];", "ld.global.b32 %r1, [%rd1+7];"),
    "address of a symbol": ("ld.shared.b32 %r1, [tile+4];", "ld.shared.b32 %r1, [tile+4];"),
    "absolute address": ("ld.shared.b32 %r1, [0x40];", "ld.shared.b32 %r1, [64];"),
    "vector": ("ld.global.v2.f32 {%f1, %f2}, [%rd1];", "ld.global.v2.f32 {%f1, %f2}, [%rd1];"),
    "vector with constants": ("mov.b64 %rd1, {%r1, -1};", "mov.b64 %rd1, {%r1, -1};"),
    "vector with a sink": ("mov.b64 {_, %r1}, %rd1;", "mov.b64 {_, %r1}, %rd1;"),
    "sink": ("mbarrier.arrive.shared.b64 _, [tile];", "mbarrier.arrive.shared.b64 _, [tile];"),
    "negated predicate": ("selp.b32 %r1, 1, 2, !%p1;", "selp.b32 %r1, 1, 2, !%p1;"),
    "pair of predicates": ("setp.lt.s32 %p1|%p2, %r1, 3;", "setp.lt.s32 %p1|%p2, %r1, 3;"),
    "pair and a mask": (
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
    ),
    "pair with a sink": ("elect.sync _|%p1, 0xFFFFFFFF;", "elect.sync _|%p1, 4294967295;"),
    "tensor address": (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r2, %r3}], [%r4];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r2, %r3}], [%r4];",
    ),
    "modifiers with colons": (
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
    ),
    "modifiers apart": ("ld .global .b32 %r1, [%rd1];", "ld.global.b32 %r1, [%rd1];"),
    "no operands": ("ret;", "ret;"),
    "guard": ("@%p1 ret;", "@%p1 ret;"),
    "negated guard": ("@!%p1 add.s32 %r1, %r2, %r3;", "@!%p1 add.s32 %r1, %r2, %r3;"),
    "unknown opcode": ("frobnicate.twice.x4 %r1, {%r2};", "frobnicate.twice.x4 %r1, {%r2};"),
    "constant of the language": ("mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, 32;"),
    "comments": ("mov.b32 /* ; } */ %r1, // {\n %r2;", "mov.b32 %r1, %r2;"),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_operand(name: str) -> None:
    text, expected = OPERANDS[name]
    assert statement(text) == expected


EXPRESSIONS = {
    "(4+8)*2": 24,
    "4+8*2": 20,
    "-(3)": -3,
    "+-+3": -3,
    "~0": -1,
    "!5": 0,
    "!0": 1,
    "!0 && 0": 0,
    "7/2": 3,
    "-7/2": -3,
    "-7%3": -1,
    "7 % 3": 1,
    "(7)%3": 1,
    "1<<4|1": 17,
    "6&3^1": 3,
    "-8>>1": -4,
    "0x8000000000000000>>63": 1,
    "-1>>70": -1,
    "1<<64": 0,
    "1<2": 1,
    "-1<1U": 0,
    "2>=3": 0,
    "3==3": 1,
    "3!=3": 0,
    "1&&0": 0,
    "1||0": 1,
    "1?2:3": 2,
    "0?2:0?4:5": 5,
    "(.s64)-2.5": -2,
    "(.u64)2.5": 2,
    "(.s64)1e30": 9223372036854775807,
    "1.5<2": 1,
    "WARP_SZ/2": 16,
    "(-9223372036854775807-1)/-1": -9223372036854775808,
    "-9223372036854775808/-1": 0,  # what passes 63 bits is unsigned
    "9223372036854775807+1": -9223372036854775808,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_constant_expression(text: str) -> None:
    assert statement(f"mov.b64 %rd1, {text};") == f"mov.b64 %rd1, {EXPRESSIONS[text]};"


def test_float_expression() -> None:
    assert statement("mov.f64 %rd1, (1.0 + 2) / 2;") == "mov.f64 %rd1, 0d3FF8000000000000;"


# ---- Calls, labels, scopes -----------------------------------------------------------------------------


def test_calls() -> None:
    body = """
        .param .b32 a; .param .b32 r;
        call.uni callee, (a);
        call (r), %rd1, (a, a), shape;
        shape: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[12]) .noreturn;
        targets: .calltargets callee;
        call %rd1, (), targets;
        call callee;
    """
    assert statements(body) == [
        ".param .b32 a;",
        ".param .b32 r;",
        "targets: .calltargets callee;",
        "shape: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[12]) .noreturn;",
        "call.uni callee, (a);",
        "call (r), %rd1, (a, a), shape;",
        "call %rd1, (), targets;",
        "call callee;",
    ]


def test_labels_and_tables() -> None:
    body = """
        bra.uni $L__BB0_2;
        table: .branchtargets L1, $L__BB0_2, L1;
        brx.idx %r1, table;
        L1: $L__BB0_2: ret;
        END:
    """
    assert statements(body) == [
        "table: .branchtargets L1, $L__BB0_2, L1;",
        "bra.uni $L__BB0_2;",
        "brx.idx %r1, table;",
        "L1:",
        "$L__BB0_2:",
        "ret;",
        "END:",
    ]


def test_scopes_hide_registers() -> None:
    body = """
        mov.b32 %r1, 1;
        { .reg .b32 %r1, t; mov.b32 %r1, t; { .reg .f32 t; mov.f32 t, %f1; } add.s32 %r1, t, %r2; }
        { .reg .b64 t; mov.b64 t, %rd1; }
        mov.b32 %r1, 2;
    """
    assert statements(body) == [
        "mov.b32 %r1, 1;",
        "mov.b32 %r1$1, t;",
        "mov.f32 t$1, %f1;",
        "add.s32 %r1$1, t, %r2;",
        "mov.b64 t$2, %rd1;",
        "mov.b32 %r1, 2;",
    ]


def test_scopes_hide_a_range() -> None:
    body = "mov.b32 %r1, 1; { .reg .f32 %r<2>; mov.f32 %r1, %r0; mov.b32 %r3, 4; } mov.b32 %r1, 2;"
    assert statements(body) == [
        "mov.b32 %r1, 1;",
        "mov.f32 %r1$1, %r0;",
        "mov.b32 %r3, 4;",
        "mov.b32 %r1, 2;",
    ]


def test_a_stem_may_end_in_a_digit() -> None:
    text = module(".entry k() { .reg .b32 a<3>; .reg .f32 a1<3>; mov.b32 a2, a12; }")
    assert ".reg .b32 a2;\n\t.reg .f32 a12;" in text


def test_scopes_hide_labels_and_variables() -> None:
    body = """
        { .param .b32 a; st.param.b32 [a], 1; bra DONE; DONE: }
        { .param .b32 a; st.param.b32 [a], 2; { bra DONE; } bra OUT; DONE: }
        OUT: bra DONE; DONE:
    """
    assert statements(body) == [
        ".param .b32 a;",
        ".param .b32 a$1;",
        "st.param.b32 [a], 1;",
        "bra DONE;",
        "DONE:",
        "st.param.b32 [a$1], 2;",
        "bra DONE$1;",
        "bra OUT;",
        "DONE$1:",
        "OUT:",
        "bra DONE$2;",
        "DONE$2:",
    ]


def test_a_branch_means_a_label_whatever_else_has_its_name() -> None:
    text = module(".global .u32 L;\n.entry k() { bra L; L: ret; }")
    assert "bra L$1;\nL$1:\n\tret;" in text


def test_registers_are_counted_when_used() -> None:
    text = HEADER + ".entry k() { .reg .b32 %r<4000000000>; .reg .b64 unused; mov.b32 %r3999999999, %r7; }"
    assert ptx.summarize(text)["k"].registers == 2


def test_locations_and_pragmas() -> None:
    body = """
        .pragma "nounroll";
        .loc 1 10 3
        mov.b32 %r1, 1;
        .loc 2 7 1, function_name $L__info_string0 + 12, inlined_at 1 10 3
        mov.b32 %r1, 2;
        .loc 3 9 9, function_name $L__info_string1, inlined_at 2 7 1
        mov.b32 %r1, 3;
        mov.b32 %r1, 4;
    """
    assert statements(body) == [
        '.pragma "nounroll";',
        ".loc 1 10 3",
        "mov.b32 %r1, 1;",
        ".loc 1 10 3",
        ".loc 2 7 1, function_name $L__info_string0+12, inlined_at 1 10 3",
        "mov.b32 %r1, 2;",
        ".loc 1 10 3",
        ".loc 2 7 1, function_name $L__info_string0+12, inlined_at 1 10 3",
        ".loc 3 9 9, function_name $L__info_string1, inlined_at 2 7 1",
        "mov.b32 %r1, 3;",
        "mov.b32 %r1, 4;",
    ]


# ---- Variables -----------------------------------------------------------------------------------------

SAME = [
    ".visible .global .align 4 .u32 x;",
    ".extern .shared .align 16 .b8 pool[];",
    ".weak .const .f64 c = 0d3FF8000000000000;",
    ".common .global .b8 bytes[3][4];",
    ".global .attribute(.managed) .align 4 .u32 x = 5;",
    ".global .attribute(.managed, .unified(19, 95)) .b32 x;",
    ".global .v4 .f32 v;",
    ".global .b8 a[4] = {1, 2, -3};",
    ".global .b32 a[2][3] = {{1}, {2, 3}};",
    ".global .b32 a[2][2][2] = {{{1}, {2}}, {3, 4, 5, 6}};",
    ".global .f32 f[2] = {0f3F800000, 0d4000000000000000};",
]
REWRITTEN = {
    ".global .b32 a[2][2] = {{1,2},{3,4}};": ".global .b32 a[2][2] = {1, 2, 3, 4};",
    ".global .s32 a[][2] = {{-1, 0}, {0, -1}, {1}};": ".global .s32 a[3][2] = {-1, 0, 0, -1, 1};",
    ".global .v2 .u32 v[2] = {{1, 2}, {3}};": ".global .v2 .u32 v[2] = {1, 2, 3};",
    ".global .b32 a[2][1] = {{1}, {2}};": ".global .b32 a[2][1] = {1, 2};",
    ".global .u32 x = 3, y;": ".global .u32 x = 3;\n.global .u32 y;",
    ".global .u32 x = (1 << 4) + 1;": ".global .u32 x = 17;",
    ".global .u32 x[2*3];": ".global .u32 x[6];",
    ".extern .global .u32 x;\n.global .u32 x = 1;": ".global .u32 x = 1;",
    ".global .u64 p = x+4;\n.global .u32 x;": ".global .u64 p = x+4;\n.global .u32 x;",
    ".global .u32 x;\n.global .u64 p[3] = {generic(x)+12, generic(x), x-4};": (
        ".global .u32 x;\n.global .u64 p[3] = {generic(x)+12, generic(x), x+-4};"
    ),
    ".global .u32 x;\n.global .u8 p[2] = {0xFF(x), 0xFF00(generic(x)+4)};": (
        ".global .u32 x;\n.global .u8 p[2] = {0x00000000000000FF(x), 0x000000000000FF00(generic(x)+4)};"
    ),
}


@pytest.mark.parametrize(("text", "expected"), [*((text, text) for text in SAME), *REWRITTEN.items()])
def test_variable(text: str, expected: str) -> None:
    assert module(text) == expected + "\n"


# ---- Functions and the module --------------------------------------------------------------------------


def test_function_heads() -> None:
    text = """.extern .func (
	.param .b32 status
) vprintf(
	.param .b64 a,
	.param .b64 b
)
;
.weak .entry declared()
;
.visible .entry k(
	.param .u64 .ptr .global .align 16 p,
	.param .align 8 .b8 s[24],
	.param .f32 f
)
.maxntid 128, 1, 1
.reqntid 64, 2, 1
.reqnctapercluster 2, 1, 1
.minnctapersm 2
.maxnreg 64
.maxclusterrank 8
.explicitcluster
.pragma "abc";
{
	ret;
}
"""
    assert module(text) == text
    short = text.replace(".maxntid 128, 1, 1", ".maxntid 128").replace("64, 2, 1", "64, 2")
    assert module(short) == text


def test_definition_takes_the_place_of_its_declaration() -> None:
    text = """
        .func (.param .b32 r) f (.param .b32 a);
        .func g () .noreturn { call (_), f, (1); }
        .func (.param .b32 r) f (.param .b32 x) { st.param.b32 [r], 1; ret; }
        .alias g, g;
    """
    summary = ptx.summarize(HEADER + text)
    assert [(each.name, each.is_declaration) for each in summary.functions] == [("f", False), ("g", False)]
    assert summary["f"].parameters == (ptx.Parameter("x", "b32", ()),)
    assert module(text).endswith(".alias g, g;\n")


def test_register_parameters() -> None:
    text = ".func (.reg .u32 r) twice (.reg .u32 a) { .reg .b32 t; add.u32 t, a, a; mov.u32 r, t; ret; }"
    summary = ptx.summarize(HEADER + text)
    assert summary["twice"].registers == 3
    assert "\t.reg .b32 t;\n\tadd.u32 t, a, a;\n\tmov.u32 r, t;" in module(text)


def test_summary() -> None:
    text = """//
.version 9.0
.target sm_90a, debug
.address_size 64
.file 1 "a \\"quoted\\" name.cu", 1700000000, 123
.global .u32 x;
.visible .entry k(.param .u64 p, .param .align 4 .b8 s[8]) {
  .reg .b32 %r<9>;
L: ld.global.b32 %r1, [x]; ld.global.b32 %r2, [x];
  @%p bra L;
  .reg .pred %p;
}
.section .debug_str { $L__info_string0: .b8 1,2,3 }
""".replace("  @%p bra L;\n  .reg .pred %p;\n", "  .reg .pred %p;\n  @%p bra L;\n")
    assert ptx.summarize(text) == ptx.Summary(
        version=(9, 0),
        target=("sm_90a", "debug"),
        address_size=64,
        variables=("x",),
        functions=(
            ptx.Function(
                name="k",
                is_entry=True,
                is_declaration=False,
                parameters=(ptx.Parameter("p", "u64", ()), ptx.Parameter("s", "b8", (8,))),
                returns=(),
                registers=3,
                instructions=3,
                labels=1,
                opcodes={"bra": 1, "ld.global.b32": 2},
            ),
        ),
    )
    assert '.file 1 "a \\"quoted\\" name.cu"\n' in ptx.dump(text)


def test_the_end_that_nvrtc_counts_is_no_part_of_the_text() -> None:
    assert ptx.dump(HEADER + "\0") == HEADER


def test_names_of_files_need_not_be_text() -> None:
    text = HEADER.encode() + b'.file 1 "caf\xe9 \xe6\x96\x87.cu"\n'
    assert ptx.dump(text).encode(errors="surrogateescape") == text
