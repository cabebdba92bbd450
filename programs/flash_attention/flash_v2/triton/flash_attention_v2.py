"""FlashAttention 2, forward and backward, by the Triton kernels of the attention ladder: queries outside.

flashpath run flash_attention_v2.py [-- QUERIES KEYS DIM]
"""

import sys

import torch
import triton

from flashpath.kernels.attention.flash_v2.triton import host
from flashpath.kernels.attention.problem import Options, prepare, visible_pairs
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.tolerance import check_against

BATCH, HEADS = 2, 4
TOKENS, HIDDEN = 16384, 2048  # of a timed problem: enough that the GPU is busy, not its host


def check(problem, dout, results):
    """Out and the gradients of q, k and v, each against float64, by torch's own error in bfloat16."""
    told = []
    for dtype in (torch.float64, problem.q.dtype):
        inputs = [each.to(dtype).requires_grad_() for each in (problem.q, problem.k, problem.v)]
        out, _ = formula(*inputs, problem.options, dtype=dtype)
        told.append([out.detach(), *torch.autograd.grad(out, inputs, dout.to(out.dtype))])
    for ours, exact, low in zip(results, *told, strict=True):
        check_against(ours, exact, low, absolute=1e-4 * float(exact.abs().max()))


def timed(length, dim, causal):
    """FLOPs of the forward pass, and milliseconds of forward and of backward, ours and torch's."""
    shape = max(1, TOKENS // length), length, HIDDEN // dim, dim
    q, k, v, dout = (torch.randn(shape, device="cuda").bfloat16() for _ in range(4))
    flops = 4 * shape[0] * shape[2] * visible_pairs(length, length, right=0 if causal else -1) * dim
    problem = prepare(q, k, v, Options(causal=causal))
    q, k, v = (each.transpose(1, 2).detach().requires_grad_() for each in (problem.q, problem.k, problem.v))
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    out, lse = host.forward(problem)
    bench = triton.testing.do_bench
    return flops, (
        (
            bench(lambda: host.forward(problem)),
            bench(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)),
        ),
        (
            bench(lambda: host.backward(problem, out, lse, dout)),
            bench(
                lambda: torch.autograd.grad(theirs, (q, k, v), dout.transpose(1, 2), retain_graph=True),
            ),
        ),
    )


def main():
    words = sys.argv[1:]
    given = [int(word) for word in words if word.isdecimal() and int(word)]
    if len(given) != len(words) or len(given) not in (0, 3) or (given and (given[2] % 8 or given[2] > 256)):
        print("usage: flash_attention_v2.py [QUERIES KEYS DIM]    DIM: 8, 16, … 256", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    # Several tiles, more keys than queries, more queries than keys.
    shapes = [tuple(given)] if given else [(70, 70, 40), (33, 100, 40), (100, 33, 40)]
    if has_gpu and not given:
        shapes += [(1024, 1024, 64), (4096, 4096, 64), (4096, 4096, 128)]

    failed = 0
    for queries, keys, dim in shapes:
        for causal in (False, True):
            q, k, v = (
                torch.randn(BATCH, n, HEADS, dim, device=device).bfloat16() for n in (queries, keys, keys)
            )
            problem, dout = prepare(q, k, v, Options(causal=causal)), torch.randn_like(q)
            out, lse = host.forward(problem)
            try:
                check(problem, dout, (out, *host.backward(problem, out, lse, dout)[:3]))
                verdict = "right"
            except AssertionError as error:
                failed += 1
                verdict = f"wrong: {error}"
            print(f"{queries:5} × {keys:<5} dim {dim:<3} {'causal' if causal else 'full':6} {verdict}")
            if has_gpu and queries == keys >= 1024:  # of other lengths torch's causal mask is another one
                flops, pairs = timed(queries, dim, causal)
                for name, times, (ours, torchs) in zip(("forward", "backward"), (1, 2.5), pairs, strict=True):
                    line = f"{name:>14} {times * flops / ours / 1e9:5.0f} TFLOP/s"
                    print(f"{line}, {torchs / ours:.2f} × the speed of PyTorch")
    if not has_gpu:
        print("on the virtual GPU: times need a real one")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
