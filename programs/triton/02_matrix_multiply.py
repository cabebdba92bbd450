"""c = a b in bfloat16, by a Triton kernel of flashpath's matmul ladder that times its configurations first.

flashpath run 02_matrix_multiply.py [-- M N K]
"""

import sys

import torch
import triton

from flashpath import kernels
from flashpath.kernels.matmul import triton_autotuned, triton_rungs


def main():
    words = sys.argv[1:]
    if len(words) not in (0, 3) or not all(word.isdecimal() and int(word) for word in words):
        print("usage: 02_matrix_multiply.py [M N K]", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    ladder = kernels.ladder("matmul")
    matmul = ladder["triton_autotuned"]
    given = tuple(map(int, words))
    # Small tiles with edges on every side, and one product that is large enough to be tuned.
    shapes = [given] if given else [(128, 128, 128), (70, 130, 100)]
    if has_gpu and not given:
        shapes += [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192)]

    failed = 0
    for m, n, k in shapes:
        a = torch.randn(m, k, device=device, dtype=torch.bfloat16)
        b = torch.randn(k, n, device=device, dtype=torch.bfloat16)
        try:
            ladder.check(matmul(a, b), (a, b, "ieee"))
            verdict = "right"
        except AssertionError as error:
            failed += 1
            verdict = f"wrong: {error}"
        line = f"{m:5} × {n:<5} × {k:<5} {verdict}"
        if has_gpu:
            ours = triton.testing.do_bench(lambda a=a, b=b: matmul(a, b))
            torchs = triton.testing.do_bench(lambda a=a, b=b: torch.matmul(a, b))
            line += f", {2 * m * n * k / ours / 1e9:4.0f} TFLOP/s, {torchs / ours:.2f} × the speed of PyTorch"
            if triton_rungs.config_for(a.new_empty(m, n)) is not triton_rungs.SMALL:
                tuner = triton_autotuned.autotuned(a.element_size())
                line += f"\n      chosen of {len(triton_autotuned.CANDIDATES)}: {tuner.best_config}"
        print(line)
    if not has_gpu:
        print("on the virtual GPU, which has nothing to tune by: times need a real one")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
