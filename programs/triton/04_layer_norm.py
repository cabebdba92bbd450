"""The layer norm of each row and its gradients, by the Triton kernels of flashpath's layer_norm ladder.

flashpath run 04_layer_norm.py [-- ROWS COLUMNS]
"""

import sys

import torch
import triton

from flashpath import kernels

EPS = 1e-5
ENOUGH = 2**20  # elements from which the GPU's time is seen, not the host's


def main():
    words = sys.argv[1:]
    if len(words) not in (0, 2) or not all(word.isdecimal() and int(word) for word in words):
        print("usage: 04_layer_norm.py [ROWS COLUMNS]", file=sys.stderr)
        return 2
    has_gpu = torch.cuda.is_available()
    device = "cuda" if has_gpu else "cpu"
    ladder = kernels.ladder("layer_norm")
    torchs_own = ladder.peers("cpu")["torch"]
    given = tuple(map(int, words))
    # A row that is no power of two, and many rows for each program of the backward pass.
    shapes = [given] if given else [(3, 1000), (64, 100)]
    if has_gpu and not given:
        shapes += [(32768, 1024), (32768, 4096), (32768, 16384)]

    failed = 0
    for rows, columns in shapes:
        x, dy = (torch.randn(rows, columns, device=device, dtype=torch.bfloat16) for _ in range(2))
        weight, bias = (torch.randn(columns, device=device, dtype=torch.bfloat16) for _ in range(2))
        mean, rstd = (torch.empty(rows, device=device) for _ in range(2))
        ladder["triton"](x, weight, bias, EPS, mean=mean, rstd=rstd)  # what the backward pass needs
        for rung, matrices, inputs in [
            ("triton", 2, (x, weight, bias, EPS)),
            ("triton_backward", 3, (dy, x, weight, mean, rstd)),
        ]:
            try:
                ladder.check(ladder[rung](*inputs), inputs)
                verdict = "right"
            except AssertionError as error:
                failed += 1
                verdict = f"wrong: {error}"
            line = f"{rows:6} × {columns:<6} {'forward' if matrices == 2 else 'backward':8} {verdict}"
            if has_gpu and x.numel() >= ENOUGH:
                ours = triton.testing.do_bench(lambda rung=rung, inputs=inputs: ladder[rung](*inputs))
                torchs = triton.testing.do_bench(lambda inputs=inputs: torchs_own(*inputs))
                speed = matrices * x.nbytes / ours / 1e6
                line += f", {speed:5.0f} GB/s, {torchs / ours:.2f} × the speed of PyTorch"
            print(line)
    if not has_gpu:
        print("on the virtual GPU: times need a real one")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
