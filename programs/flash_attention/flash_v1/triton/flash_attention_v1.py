"""FlashAttention 1 by the Triton kernel of the attention ladder: tiles of keys outside, of queries inside.

flashpath run flash_attention_v1.py [-- QUERIES KEYS DIM]
"""

import sys
from contextlib import nullcontext

import torch
import triton

import flashpath as fp
from flashpath.kernels.attention.flash_v1 import host
from flashpath.kernels.attention.problem import Options, prepare, visible_pairs
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.tolerance import check_against

BATCH, HEADS = 2, 4


def check(problem, out):
    exact, low = (
        formula(problem.q, problem.k, problem.v, problem.options, dtype=dtype)[0]
        for dtype in (torch.float64, problem.q.dtype)
    )
    check_against(out, exact, low, absolute=1e-5)


def main():
    words = sys.argv[1:]
    given = [int(word) for word in words if word.isdecimal() and int(word)]
    if len(given) != len(words) or len(given) not in (0, 3) or (given and (given[2] % 8 or given[2] > 256)):
        print("usage: flash_attention_v1.py [QUERIES KEYS DIM]    DIM: 8, 16, … 256", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    # Several tiles, more keys than queries, more queries than keys.
    shapes = [tuple(given)] if given else [(70, 70, 32), (33, 100, 64), (100, 33, 40)]
    if has_gpu and not given:
        shapes += [(1024, 1024, 64), (4096, 4096, 64), (4096, 4096, 128)]

    failed = 0
    for queries, keys, dim in shapes:
        for causal in (False, True):
            q, k, v = (
                torch.randn(BATCH, n, HEADS, dim, device=device).bfloat16() for n in (queries, keys, keys)
            )
            problem = prepare(q, k, v, Options(causal=causal))
            with nullcontext([]) if has_gpu else fp.watch() as reports:
                out, _ = host.triton(problem)
            try:
                check(problem, out)
                verdict = "right"
            except AssertionError as error:
                failed += 1
                verdict = f"wrong: {error}"
            line = f"{queries:5} × {keys:<5} dim {dim:<3} {'causal' if causal else 'full':6} {verdict}"
            if has_gpu:
                ours = triton.testing.do_bench_cudagraph(lambda problem=problem: host.triton(problem))
                heads_first = [each.transpose(1, 2) for each in (q, k, v)]
                torchs = triton.testing.do_bench_cudagraph(
                    lambda x=heads_first: torch.nn.functional.scaled_dot_product_attention(*x)
                )
                pairs = BATCH * HEADS * visible_pairs(queries, keys, right=0 if causal else -1)
                line += f", {4 * pairs * dim / ours / 1e9:4.0f} TFLOP/s"
                if not causal:  # torch's mask begins at the first key
                    line += f", {torchs / ours:.2f} × the speed of PyTorch"
            else:
                stored = sum(report.global_store.bytes for report in reports)
                line += (
                    f", stores {stored / (out.nbytes + 4 * BATCH * HEADS * queries):.1f} × what it returns"
                )
            print(line)
    if not has_gpu:
        print("on the virtual GPU: times need a real one")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
