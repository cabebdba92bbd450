"""What the Triton rungs have in common: the order of tiles, and how float32 becomes tf32."""

import triton
import triton.language as tl


@triton.jit
def tile_at(place, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """Row and column of tile number `place`: down a strip of GROUP tiles, then the next column of the strip.

    Programs that run at the same time then work on a nearly square region, and share its rows of a and
    columns of b in L2.
    """
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    in_strip = GROUP * tiles_n
    first = place // in_strip * GROUP
    height = min(GROUP, tiles_m - first)
    return first + place % in_strip % height, place % in_strip // height


@triton.jit
def rounded(x, PRECISION: tl.constexpr):
    """As the tensor cores are to have it: they would cut the lower bits of a float32 off, not round them."""
    if PRECISION == "tf32":
        x = tl.inline_asm_elementwise(
            "cvt.rna.tf32.f32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return x
