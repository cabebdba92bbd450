"""Attention as the formula has it, in plain PyTorch: time and memory that grow with the square of the length.

flashpath run naive_attention.py [-- LENGTH …]
"""

import sys
import time
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from flashpath.kernels.attention.first_rungs import naive
from flashpath.kernels.attention.problem import Options, prepare
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.tolerance import check_against

HEADS, DIM = 8, 64
TO_CHECK = 1024  # scores in float64 for no more
SECONDS = 1.0  # that a length is repeated for, on the CPU


class Memory(TorchDispatchMode):
    """Counts what the tensors hold that are alive after each operation; `peak` is the most at a time."""

    def __init__(self):
        super().__init__()
        self.tensors, self.peak = [], 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.tensors += [weakref.ref(x) for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        alive = [x.untyped_storage() for each in self.tensors if (x := each()) is not None]
        self.peak = max(self.peak, sum({x.data_ptr(): x.nbytes() for x in alive}.values()))
        return result


def measured_on_a_gpu(attention):
    """Milliseconds, and the bytes that are allocated on top of those that were."""
    import triton

    milliseconds = triton.testing.do_bench(attention)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    attention()
    return milliseconds, torch.cuda.max_memory_allocated() - before


def measured_on_the_cpu(attention):
    with Memory() as memory:
        attention()
    times = []
    while len(times) < 5 and sum(times) < SECONDS:
        start = time.perf_counter()
        attention()
        times.append(time.perf_counter() - start)
    return 1000 * min(times), memory.peak


def main():
    words = sys.argv[1:]
    if not all(word.isdecimal() and int(word) for word in words):
        print("usage: naive_attention.py [LENGTH …]", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    device, measured = ("cuda", measured_on_a_gpu) if has_gpu else ("cpu", measured_on_the_cpu)
    # On the CPU a call of 256 tokens takes milliseconds: what it costs to call at all is no longer seen.
    default = [512 << i for i in range(7)] if has_gpu else [256 << i for i in range(4)]
    lengths = sorted(map(int, words)) or default

    print(f"{HEADS} heads of dim {DIM}, causal, bfloat16, on the {'GPU' if has_gpu else 'CPU'}")
    print(f"{'length':>7} {'time':>12} {'memory':>13} {'a score':>9} {'q, k, v, out':>13}")
    failed, first, last = 0, None, None
    for n in lengths:
        try:
            q, k, v = (torch.randn(1, n, HEADS, DIM, device=device).bfloat16() for _ in range(3))
            problem = prepare(q, k, v, Options(causal=True))
            took, peak = measured(lambda problem=problem: naive.forward(problem))
        except torch.OutOfMemoryError:
            print(f"{n:7} out of memory")
            break
        line = f"{n:7} {took:9.3f} ms {peak / 2**20:9.2f} MiB {peak / (HEADS * n * n):7.2f} B"
        line += f" {4 * q.nbytes / 2**20:9.2f} MiB"
        if last is not None:
            line += f"   {n / last[0]:.3g} × the length: {took / last[1]:.1f} × the time, "
            line += f"{peak / last[2]:.1f} × the memory"
        last = n, took, peak
        first = first or last
        if n <= TO_CHECK:
            try:
                exact, low = (formula(q, k, v, problem.options, dtype=t)[0] for t in (torch.float64, q.dtype))
                check_against(naive.forward(problem)[0], exact, low, absolute=1e-5)
            except AssertionError as error:
                failed += 1
                line += f"   wrong: {error}"
        print(line, flush=True)
    if first and last and first[0] < last[0]:
        grown, took, peak = (now / before for before, now in zip(first, last, strict=True))
        print(
            f"From {first[0]} to {last[0]}: {grown:.3g} × the length, whose square is {grown**2:.3g}; ",
            end="",
        )
        print(f"{took:.3g} × the time, {peak:.3g} × the memory")
    print("What grows with the square: scores, their copies with scale, with mask, in float32, and weights.")
    print("What goes in and comes out grows with the length.")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
