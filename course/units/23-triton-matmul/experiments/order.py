"""Which program has which tile: the numbers of programs, tile by tile, as the ladder's kernels have them."""

import torch
import triton
import triton.language as tl

import flashpath as fp
from flashpath.kernels.matmul.triton_tiles import tile_at


@triton.jit
def number_tiles(out_ptr, tiles_m, tiles_n, GROUP: tl.constexpr):
    number = tl.program_id(0)
    tile_m, tile_n = tile_at(number, tiles_m, tiles_n, 1, 1, GROUP)
    tl.store(out_ptr + tile_m * tiles_n + tile_n, number)


def numbers(tiles_m, tiles_n, group):
    """Returns the number of the program of each tile, a list for each row of tiles."""
    out = torch.empty(tiles_m, tiles_n, dtype=torch.int32)
    with fp.vgpu.triton():
        number_tiles[(tiles_m * tiles_n,)](out, tiles_m, tiles_n, GROUP=group)
    return out.tolist()


if __name__ == "__main__":
    for group in (1, 3):
        print(f"GROUP = {group}")
        for row in numbers(6, 8, group):
            print("".join(f"{number:4}" for number in row))
