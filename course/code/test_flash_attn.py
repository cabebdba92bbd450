"""Is FlashAttention here, is it right, and how fast is it?

    python test_flash_attn.py              right or wrong
    python test_flash_attn.py --speed      and how fast

With a GPU and flash-attn installed, that is tested; else flashpath's function of the same signature, on the
virtual GPU, which checks and counts but says nothing about time.
"""

import math
import sys

import torch


def find():
    """The function, where it is from, and the device it runs on."""
    if torch.cuda.is_available():
        try:
            from flash_attn import __version__, flash_attn_func
        except ImportError as error:
            print(f"flash_attn cannot be imported 无法导入 flash_attn: {error}")
        else:
            return flash_attn_func, f"flash_attn {__version__}", "cuda"
    from flashpath import __version__
    from flashpath.compat.flash_attn import flash_attn_func

    device = "cuda" if torch.cuda.is_available() else "cpu"
    where = torch.cuda.get_device_name() if device == "cuda" else "virtual GPU 虚拟 GPU"
    return flash_attn_func, f"flashpath {__version__}, {where}", device


def formula(q, k, v, causal):
    """softmax(q kᵀ / √d) v in float64; tensors are (batch, length, heads, dim)."""
    q, k, v = (x.double().transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        n = q.shape[-2]
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1), -math.inf)
    return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2)


def test(flash_attn_func, device):
    """Several lengths, with and without a causal mask, against the formula."""
    torch.manual_seed(0)
    right = True
    for n in (1, 33, 64, 100):
        for causal in (False, True):
            q, k, v = (torch.randn(1, n, 2, 64, device=device).to(torch.float16) for _ in range(3))
            expected = formula(q, k, v, causal)
            # What the same maths loses when its result is rounded once, and a little for the order of sums.
            allowed = 2 * (expected.half().double() - expected).abs().max().item() + 2e-3
            error = (flash_attn_func(q, k, v, causal=causal).double() - expected).abs().max().item()
            right &= error <= allowed
            verdict = "right 正确" if error <= allowed else "WRONG 错误"
            print(f"N = {n:>3}, causal = {causal!s:<5}  error 误差 {error:.1e}  {verdict}")
    return right


def milliseconds(work, device):
    """The median of ten, with the GPU waited for."""
    import time

    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    times = []
    for _ in range(11):
        wait()
        start = time.perf_counter()
        work()
        wait()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times[1:])[5]


def measure(flash_attn_func, device):
    """Naive attention against FlashAttention, longer and longer."""
    if device == "cpu":
        print("No GPU: times would be those of a simulator. The bytes of the score matrix, in float16:")
        print("没有 GPU：时间只反映模拟器。下面是分数矩阵的字节数（float16）：")
        for n in (1024, 4096, 16384):
            print(
                f"  N = {n:>5}: naive 朴素 {2 * n * n:>11,}, flash 0 (O(N): {4 * n:,} for the row sums 行和)"
            )
        return
    for n in (512, 1024, 2048, 4096):
        q, k, v = (torch.randn(1, n, 8, 64, device=device, dtype=torch.float16) for _ in range(3))

        def naive(q=q, k=k, v=v):
            a, b, c = (x.transpose(1, 2) for x in (q, k, v))
            return torch.softmax(a @ b.transpose(-2, -1) / 8.0, dim=-1) @ c

        slow = milliseconds(naive, device)
        fast = milliseconds(lambda q=q, k=k, v=v: flash_attn_func(q, k, v), device)
        print(f"N = {n:>4}: naive 朴素 {slow:.2f} ms, flash {fast:.2f} ms, {slow / fast:.1f} ×")


def main():
    flash_attn_func, where, device = find()
    print(where)
    right = test(flash_attn_func, device)
    if "--speed" in sys.argv[1:]:
        measure(flash_attn_func, device)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
