# Load each row three times, by atomics.
# goal
# triton-softmax/row-softmax
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    here = (x_ptr + row * x_stride + column).to(tl.pointer_type(tl.int32))
    nothing = tl.zeros([BLOCK], tl.int32)
    m = tl.max(tl.where(inside, tl.atomic_or(here, nothing, mask=inside).to(tl.float32, bitcast=True), float("-inf")), 0)
    e = tl.where(inside, tl.exp(tl.atomic_or(here, nothing, mask=inside).to(tl.float32, bitcast=True) - m), 0.0)
    tl.store(out_ptr + row * cols + column, e / tl.sum(e, 0), mask=inside)
