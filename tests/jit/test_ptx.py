"""Reading PTX text: entries, parameters, launch bounds, bodies and the source behind a line."""

from __future__ import annotations

import pytest

from flashpath.jit.ptx import PtxParameter, entries, source_line

TEXT = """//
.version 8.7
.target sm_90a
.address_size 64

	// .globl	first
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.visible .entry declared_only(
	.param .u64 declared_only_param_0
)
;
.global .align 1 .b8 $str[3] = {123, 125, 0};

.visible .entry first(
	.param .u64 first_param_0,
	.param .u8 first_param_1,
	.param .align 4 .b8 first_param_2[12],
	.param .f64 first_param_3,
	.param .align 64 .b8 first_param_4[128]
)
.maxntid 128, 2, 1
.minnctapersm 2
{
	.reg .b32 	%r<2>;
	.loc	1 7 3
	{ // callseq 0, 0 }}}
	.reg .b32 temp_param_reg;
	.pragma "a { brace \\" and another }";
	} // callseq 0
	ret;
$L__BB0_1:
	bra $L__BB0_1;
}
	// .globl	triton_style
.visible .entry triton_style(
	.param .u64 .ptr .global .align 1 triton_style_param_0,
	.param .u64 .ptr .align 16 triton_style_param_1,
	.param .u64 .ptr triton_style_param_2,
	.param .u32 triton_style_param_3,
	.param .u64 .ptr .global .align 1 triton_style_param_4
)
.reqntid 128
{
	.loc	2 40 12, function_name $L__info_string0, inlined_at 1 9 1
	ret;
}
.weak .entry $odd.name()
{
	ret;
}
.entry bare
{
	ret;
}
	.file	1 "/some folder/first.cu"
	.file	2 "helper.cuh"
"""


def test_every_definition_is_found_and_no_declaration() -> None:
    assert [each.name for each in entries(TEXT)] == ["first", "triton_style", "$odd.name", "bare"]


def test_parameters_have_type_size_and_alignment() -> None:
    first, triton, odd, bare = entries(TEXT)
    assert first.parameters == (
        PtxParameter("u64", 8, 8),
        PtxParameter("u8", 1, 1),
        PtxParameter("b8", 12, 4),
        PtxParameter("f64", 8, 8),
        PtxParameter("b8", 128, 64),
    )
    pointer = PtxParameter("u64", 8, 8)
    assert triton.parameters == (pointer, pointer, pointer, PtxParameter("u32", 4, 4), pointer)
    assert odd.parameters == bare.parameters == ()


def test_launch_bounds() -> None:
    assert [each.max_threads for each in entries(TEXT)] == [256, 128, None, None]


def test_bodies_end_at_their_own_brace() -> None:
    first, triton, *_ = entries(TEXT)
    assert first.text.startswith(".visible .entry first(")
    assert first.text.endswith("bra $L__BB0_1;\n}")
    assert triton.text.endswith("ret;\n}")
    assert "first" not in triton.text


def test_a_text_cut_short_gives_what_there_is() -> None:
    cut = TEXT[: TEXT.index("$L__BB0_1:")]
    (only,) = entries(cut)
    assert only.text == cut[cut.index(".visible .entry first") :]


@pytest.mark.parametrize(
    ("marker", "place"),
    [
        ("callseq 0, 0", ("/some folder/first.cu", 7)),
        ("bra $L__BB0_1", ("/some folder/first.cu", 7)),
        (".loc	2 40 12", ("helper.cuh", 40)),
        (".reg .b32 	%r<2>", None),  # before the kernel's first .loc; another kernel's is none of its own
        (".entry bare", None),
        (".version", None),
    ],
)
def test_the_source_line_behind_a_line(marker: str, place: tuple[str, int] | None) -> None:
    (line,) = [number for number, text in enumerate(TEXT.splitlines(), 1) if marker in text]
    assert source_line(TEXT, line) == place


def test_a_file_that_is_not_listed_has_no_name() -> None:
    assert source_line(".entry k\n{\n\t.loc\t3 5 1\n\tret;\n}", 4) == ("", 5)
