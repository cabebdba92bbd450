"""c = a + b in Triton: one program of the kernel adds one block of elements.

flashpath run 01_vector_add.py [-- ELEMENTS]
"""

import sys

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = offsets < n  # the last block may have elements to spare
    a = tl.load(a_ptr + offsets, mask=inside)
    b = tl.load(b_ptr + offsets, mask=inside)
    tl.store(c_ptr + offsets, a + b, mask=inside)


def add(a, b):
    c = torch.empty_like(a)
    n = a.numel()
    add_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)
    return c


def main():
    words = sys.argv[1:]
    if len(words) not in (0, 1) or not all(word.isdecimal() and int(word) for word in words):
        print("usage: 01_vector_add.py [ELEMENTS]", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    n = int(words[0]) if words else (1 << 26 if has_gpu else 100_003)
    device = "cuda" if has_gpu else "cpu"
    a, b = torch.rand(n, device=device), torch.rand(n, device=device)

    wrong = int((add(a, b) != a + b).sum())  # both round once: the same bits
    print(f"{n} elements, {wrong} wrong")
    if has_gpu:
        ours = triton.testing.do_bench(lambda: add(a, b))
        torchs = triton.testing.do_bench(lambda: a + b)
        print(f"{3 * a.nbytes / ours / 1e6:.0f} GB/s, {torchs / ours:.2f} × the speed of PyTorch")
    else:
        print("on the virtual GPU: times need a real one")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
