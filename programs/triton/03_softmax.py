"""The softmax of each row, by the Triton kernels of flashpath's softmax ladder.

flashpath run 03_softmax.py [-- ROWS COLUMNS]
"""

import sys

import torch
import triton

from flashpath import kernels

ENOUGH = 2**20  # elements from which the GPU's time is seen, not the host's


def main():
    words = sys.argv[1:]
    if len(words) not in (0, 2) or not all(word.isdecimal() and int(word) for word in words):
        print("usage: 03_softmax.py [ROWS COLUMNS]", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    ladder = kernels.ladder("softmax")
    softmax = ladder["triton"]
    given = tuple(map(int, words))
    # Tiles of several rows, a row that is no power of two, and rows too long for registers.
    shapes = [given] if given else [(64, 100), (3, 1000), (2, 40_000)]
    if has_gpu and not given:
        shapes += [(32768, 1024), (32768, 4096), (4096, 131_072)]

    failed = 0
    for rows, columns in shapes:
        x = torch.randn(rows, columns, device=device, dtype=torch.bfloat16)
        try:
            ladder.check(softmax(x), (x,))
            verdict = "right"
        except AssertionError as error:
            failed += 1
            verdict = f"wrong: {error}"
        line = f"{rows:6} × {columns:<7} {verdict}"
        if has_gpu and x.numel() >= ENOUGH:
            ours = triton.testing.do_bench(lambda x=x: softmax(x))
            torchs = triton.testing.do_bench(lambda x=x: torch.softmax(x, -1))
            line += f", {2 * x.nbytes / ours / 1e6:5.0f} GB/s, {torchs / ours:.2f} × the speed of PyTorch"
        print(line)
    if not has_gpu:
        print("on the virtual GPU: times need a real one")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
