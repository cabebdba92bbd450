"""The real modules that mutants are made from: CUDA and Triton kernels of every kind that is run."""

from __future__ import annotations

import re
from pathlib import Path

from triton_seeds import triton_seeds
from words import Seed

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.vgpu.device import VirtualModule
from tests.harness.ptx_text import summarize

ARCH = "sm_80"
SOURCES = Path(__file__).parents[1] / "ptx" / "sources"
_LONGEST = 40_000  # characters: in longer modules a change hits what matters too rarely

# Small enough that most of its words matter, and with a bit of everything.
SMALL = """
    __device__ __noinline__ int twice(int x) { return x > 100 ? x : twice(2 * x + 1); }
    extern "C" __global__ void small(int* o, const float* x, int n) {
        __shared__ float s[64];
        int i = threadIdx.x;
        s[i] = i < n ? sqrtf(x[i]) * 2.0f : 0.0f;
        __syncthreads();
        float v = s[(i * 7) % 64];
        for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
        atomicAdd(o, (int)v);
        o[1 + i] = twice(i) + (int)__popc(__ballot_sync(0xffffffffu, i % 3 == 0));
    }
"""


# What compilers write seldom: aliases, lists of functions, sections, pragmas, values of every kind.
DECLARED = """.version 9.0
.target sm_90
.address_size 64
.file 1 "declared.cu"
.file 2 "library.h", 1700000000, 400
.pragma "nounroll";
.weak .global .align 8 .b32 weak_one = 5;
.common .global .b32 common_one[4];
.global .attribute(.managed) .align 8 .b64 managed_one = 7;
.global .align 4 .b32 table[2][3] = {{1, 2}, {3, 4, 5}};
.global .v4 .f32 vectors[2] = {{1.5, -2.0, 0f3F800000, 4.0}, {1.0}};
.global .b64 places[3] = {table+4, generic(table)+8, added};
.global .b8 bytes[9] = {0xFF(generic(table)), 0xFF00(generic(table)), 3, 4, 5, 6, 7, 8};
.const .b64 inside = generic(places)+8;
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 y) added (.param .b32 x, .param .b32 z)
{
	.reg .b32 %r<3>;
	.loc 2 7 3
	ld.param.b32 %r0, [x];
	ld.param.b32 %r1, [z];
	add.s32 %r2, %r0, %r1;
	st.param.b32 [y], %r2;
	ret;
}
.func (.param .b32 y) also (.param .b32 x, .param .b32 z);
.alias also, added;
.func (.param .align 8 .b8 y[16]) twin (.param .align 8 .b8 x[16])
{
	.reg .b64 %d<3>;
	ld.param.v2.b64 {%d0, %d1}, [x];
	st.param.v2.b64 [y], {%d1, %d0};
	ret;
}
.visible .entry declared(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 both[16],
	.param .f32 scale)
.maxntid 128, 1, 1
.minnctapersm 1
.maxnreg 64
.pragma "nounroll";
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	.reg .f32 %f<3>;
	.reg .pred %p<2>;
	.local .align 8 .b8 frame[32];
	ld.param.u64 %d0, [a];
	.loc 1 3 5
	ld.param.b64 %d1, [both+8];
	ld.param.f32 %f0, [scale];
	ld.global.u32 %r0, [table+8];
	ld.global.b64 %d2, [places+8];
	ld.const.b64 %d3, [inside];
	mov.u32 %r5, %tid.x;
	mul.lo.u32 %r5, %r5, 4;
	st.shared.u32 [dynamic+4], %r5;
	.loc 2 9 1, function_name called+0, inlined_at 1 3 5
	ld.u32 %r1, [%d3+-8];
	{ .param .b32 x; .param .b32 z; .param .b32 y; st.param.b32 [x], %r0; st.param.b32 [z], %r1;
	call (y), also, (x, z); ld.param.b32 %r2, [y]; }
	functions: .calltargets added, also;
	ld.global.b64 %d4, [places+16];
	{ .param .b32 x; .param .b32 z; .param .b32 y; st.param.b32 [x], %r2; st.param.b32 [z], 3;
	call (y), %d4, (x, z), functions; ld.param.b32 %r3, [y]; }
	{ .param .align 8 .b8 x[16]; .param .align 8 .b8 y[16]; st.param.v2.b64 [x], {%d0, %d1};
	call (y), twin, (x); ld.param.b64 %d5, [y+8]; }
	st.local.b64 [frame+8], %d5;
	ld.local.u32 %r4, [frame+12];
	setp.ne.u32 %p0, %r3, 0;
	@%p0 st.global.u32 [%d0+(4 * 2)], %r3;
	st.global.u32 [managed_one], %r4;
	ret;
}
.section .debug_str { called: .b8 107, 0 .b32 .debug_str .b64 called+2 }
"""


def _without_debug_sections(ptx: str) -> str:
    """Names of files and tables of lines are long, and no kernel runs by them."""
    return re.sub(r"(?m)^\s*\.(file|loc)\b.*\n", "", ptx).partition(".section")[0]


def make_seeds() -> list[Seed]:
    """Returns the kernels of the parser's sources and Triton's, and the small one several times over."""
    seeds = 4 * [Seed("small", _without_debug_sections(fp.compile(SMALL, ARCH).ptx), "small")]
    for file in sorted(SOURCES.glob("*.cu")):
        try:
            # As text: the file's place would be in it, and mutants are the same on every machine.
            ptx = _without_debug_sections(fp.compile(file.read_text(), ARCH).ptx)
        except FlashpathError:  # it is for a newer architecture
            continue
        if len(ptx) > _LONGEST:
            continue
        module = VirtualModule(ptx)
        for function in summarize(ptx).functions:
            if not function.is_entry:
                continue
            try:
                module.kernel(function.name)
            except FlashpathError:  # an instruction that is refused, whole as it is
                continue
            seeds.append(Seed(f"{file.stem}/{function.name}", ptx, function.name))
    placed = fp.compile(SMALL, ARCH, options=("-lineinfo",)).ptx
    declared = [Seed("declared", DECLARED, "declared"), Seed("placed", placed, "small")]
    return seeds + declared + declared + 2 * triton_seeds()
