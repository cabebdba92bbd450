"""out[i, :] = table[index[i], :], or zeros where index[i] >= entries. An embedding layer does this.

table: (entries, cols), index: (n) int32, out: (n, cols). A program for row i and BLOCK columns of out.
"""

import triton
import triton.language as tl


@triton.jit
def gather_kernel(table_ptr, index_ptr, out_ptr, entries, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = column < cols
    entry = tl.load(index_ptr + i)  # one number
    row = tl.load(table_ptr + entry * cols + column, mask=inside & (entry < entries), other=0.0)
    tl.store(out_ptr + i * cols + column, row, mask=inside)
