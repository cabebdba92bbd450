"""The same kernels on the virtual GPU and under TRITON_INTERPRET=1: where the two differ.

flashpath run units/21-triton-first/experiments/interpreter.py
"""

import json
import os
import subprocess
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr) + tl.load(y_ptr))


@triton.jit
def round_to_bf16(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr).to(tl.bfloat16).to(tl.float32))


@triton.jit
def larger(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr, tl.maximum(tl.load(x_ptr), tl.load(y_ptr)))


@triton.jit
def product(x_ptr, out_ptr):
    places = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + places)
    tl.store(out_ptr + places, tl.dot(x, tl.full((16, 16), 1.0, tl.float32)))


@triton.jit
def read_one_too_far(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + 4))


@triton.jit
def assert_small(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.device_assert(x < 1.0, "x is large")
    tl.store(out_ptr, x)


@triton.jit
def python_list(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr) + len([k for k in range(3)]))


def number(value, dtype=torch.float32):
    return torch.full((1,), value, dtype=dtype)


def cases():
    """What is tried: a name, the kernel, its inputs, its output."""
    bf16 = torch.bfloat16
    yield "bf16: 1 + 2", add, (number(1, bf16), number(2, bf16)), number(0, bf16)
    yield "1.00586 to bf16", round_to_bf16, (number(1 + 3 / 512),), number(0)
    yield "tl.maximum(nan, 0)", larger, (number(float("nan")), number(0)), number(0)
    yield "tl.dot, float32", product, (torch.full((16, 16), 1 + 1 / 4096),), torch.zeros(16, 16)
    yield "x[4] of x[:4]", read_one_too_far, (torch.arange(8.0)[:4],), number(0)
    yield "device_assert", assert_small, (number(5),), number(0)
    yield "a list in a kernel", python_list, (number(1),), number(0)


def results():
    """Each kernel's first output, or the name of what was raised."""
    found = {}
    for name, kernel, inputs, out in cases():
        try:
            kernel[(1,)](*inputs, out)
            found[name] = f"{out.flatten()[0].item():.7g}"
        except Exception as error:
            found[name] = getattr(error, "kind", type(error).__name__)
    return found


def child(interpreted):
    """The results in a process of its own: kernels are interpreted or compiled from the moment they are defined."""
    settings = {**os.environ, "TRITON_DEBUG": "1"} | ({"TRITON_INTERPRET": "1"} if interpreted else {})
    done = subprocess.run([sys.executable, __file__, "child"], env=settings, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    if sys.argv[1:] == ["child"]:
        if os.environ.get("TRITON_INTERPRET") != "1":
            import flashpath as fp

            fp.vgpu.enable_triton()
        print(json.dumps(results()))
        return
    on_the_gpu, interpreted = child(interpreted=False), child(interpreted=True)
    print(f"{'':20} {'virtual GPU':18} {'TRITON_INTERPRET=1'}")
    for name, result in on_the_gpu.items():
        print(f"{name:20} {result:18} {interpreted[name]}")


if __name__ == "__main__":
    main()
