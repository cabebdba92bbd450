"""Host time of one eager call of each public operator, beside torch's own operator in the same run.

    python benchmarks/call_cost.py [--json FILE] [--only WORD] [--no-first-calls]

Tensors are small, and calls are not waited for: what is timed is what the host does. A sample is the mean of
100 calls in a row; ours and torch's take turns. Three modes: no gradient wanted, a gradient wanted (the
forward call alone), and forward with backward. The marks are the last column: ours over torch's, at most.

First calls are timed until the GPU has done them, each once, in two processes that have nothing else: one
with empty caches of compiled kernels, and one with those that the first has filled.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import flashpath as fp
from flashpath import ops
from flashpath.bench import read_environment
from flashpath.compat.flash_attn import flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache

CALLS, ROUNDS, WARM_UP = 100, 15, 3
PLAIN, GRADIENT, BACKWARD = "no gradient", "gradient wanted", "forward and backward"
# Ours over torch's, at most, by the kind of a call and its mode.
MARKS = {
    ("simple", PLAIN): 1.5,
    ("simple", GRADIENT): 2.0,
    ("attention", PLAIN): 1.0,
    ("attention", BACKWARD): 1.0,
    ("decode", PLAIN): 1.0,
}
BARE_LAUNCH_MARK = 7.0
EVER, WARM = "first ever", "kernels compiled before"
SOURCE = """
extern "C" __global__ void scale(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
"""


class Call(NamedTuple):
    """One operator: our function and torch's, of the same tensors; which of these have a gradient."""

    name: str
    kind: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    tensors: tuple[Any, ...]
    differentiable: int = 0  # so many tensors from the first on


def calls(torch: Any) -> Iterator[Call]:
    """Every public operator, and the functions of the flash-attn interface."""
    functional, half = torch.nn.functional, torch.bfloat16

    def randn(*shape: int, dtype: Any = half) -> Any:
        return torch.randn(shape, device="cuda", dtype=dtype)

    x, y, weight, bias = randn(64, 1024), randn(64, 1024), randn(1024), randn(1024)
    square, wide = randn(256, 256), randn(64, 2048)
    norm = (1024,)
    yield Call("softmax", "simple", ops.softmax, lambda x: torch.softmax(x, -1), (x,), 1)
    yield Call(
        "layer_norm",
        "simple",
        ops.layer_norm,
        lambda x, w, b: functional.layer_norm(x, norm, w, b),
        (x, weight, bias),
        3,
    )
    yield Call(
        "rms_norm", "simple", ops.rms_norm, lambda x, w: functional.rms_norm(x, norm, w), (x, weight), 2
    )
    yield Call(
        "add_rms_norm",
        "simple",
        lambda x, y, w: ops.add_rms_norm(x, y, w)[0],
        lambda x, y, w: functional.rms_norm(x + y, norm, w),
        (x, y, weight),
        3,
    )
    cube = randn(4, 16, 1024)
    yield Call(
        "rms_norm (3 dimensions)",
        "simple",
        ops.rms_norm,
        lambda x, w: functional.rms_norm(x, norm, w),
        (cube, weight),
        2,
    )
    yield Call("relu", "simple", ops.relu, functional.relu, (x,), 1)
    yield Call("gelu", "simple", ops.gelu, functional.gelu, (x,), 1)
    yield Call(
        "gelu_tanh", "simple", ops.gelu_tanh, lambda x: functional.gelu(x, approximate="tanh"), (x,), 1
    )
    yield Call("silu", "simple", ops.silu, functional.silu, (x,), 1)

    def gated(activation: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            gate, up = x.chunk(2, -1)
            return activation(gate) * up

        return call

    yield Call("silu_and_mul", "simple", ops.silu_and_mul, gated(functional.silu), (wide,), 1)
    yield Call("gelu_and_mul", "simple", ops.gelu_and_mul, gated(functional.gelu), (wide,), 1)
    tanh = gated(lambda x: functional.gelu(x, approximate="tanh"))
    yield Call("gelu_tanh_and_mul", "simple", ops.gelu_tanh_and_mul, tanh, (wide,), 1)
    yield Call("swiglu", "simple", ops.swiglu, lambda gate, up: functional.silu(gate) * up, (x, y), 2)
    yield Call("geglu", "simple", ops.geglu, lambda gate, up: functional.gelu(gate) * up, (x, y), 2)
    yield Call("scale", "simple", lambda x: ops.scale(x, 0.5), lambda x: x * 0.5, (x,), 1)
    yield Call("add", "simple", ops.add, torch.add, (x, y), 2)
    yield Call(
        "clamp", "simple", lambda x: ops.clamp(x, -1.0, 1.0), lambda x: torch.clamp(x, -1.0, 1.0), (x,), 1
    )
    yield Call(
        "scale_add_activation",
        "simple",
        lambda x, y: ops.scale_add_activation(x, 0.5, y, "relu"),
        lambda x, y: functional.relu(x * 0.5 + y),
        (x, y),
        2,
    )
    yield from rope_calls(torch, randn)
    classes = torch.randint(1024, (64,), device="cuda")
    yield Call(
        "cross_entropy",
        "simple",
        lambda x: ops.cross_entropy(x, classes),
        lambda x: functional.cross_entropy(x, classes),
        (x,),
        1,
    )
    yield Call("matmul", "simple", ops.matmul, torch.matmul, (square, square), 2)
    batch = randn(8, 64, 64)
    yield Call("matmul (batch)", "simple", ops.matmul, torch.matmul, (batch, batch.flip(0)), 2)
    yield Call("linear", "simple", ops.linear, functional.linear, (x, randn(256, 1024), randn(256)), 3)
    yield Call("reduce sum", "simple", ops.reduce, torch.sum, (x,), 1)
    yield Call(
        "reduce max of rows",
        "simple",
        lambda x: ops.reduce(x, "max", -1),
        lambda x: torch.amax(x, -1),
        (x,),
        1,
    )
    single = randn(4096, dtype=torch.float32)
    yield Call("scan", "other", ops.scan, lambda x: torch.cumsum(x, 0), (single,), 1)
    yield Call("sort", "other", ops.sort, torch.sort, (single,))
    yield Call(
        "histogram",
        "other",
        lambda x: ops.histogram(x, 64, -4.0, 4.0),
        lambda x: torch.histc(x, 64, -4.0, 4.0),
        (single,),
    )
    dense = torch.eye(256, device="cuda")
    sparse = dense.to_sparse_csr()
    row_ptr, column, value = (
        sparse.crow_indices().int(),
        sparse.col_indices().int(),
        sparse.values(),
    )
    vector = randn(256, dtype=torch.float32)
    yield Call(
        "spmv",
        "other",
        lambda v: ops.spmv(row_ptr, column, value, v),
        lambda v: sparse @ v,
        (vector,),
    )
    yield from attention_calls(torch, randn)


def rope_calls(torch: Any, randn: Callable[..., Any]) -> Iterator[Call]:
    """torch has no operator for it: beside ours stands the formula that models have."""
    angles = torch.randn(64, 32, device="cuda")
    cos, sin = angles.cos(), angles.sin()
    twice = [torch.cat((each, each), -1)[:, None].bfloat16() for each in (cos, sin)]

    def turned(x: Any) -> Any:
        first, second = x.chunk(2, -1)
        swapped: Any = torch.cat((-second, first), -1)
        return x * twice[0] + swapped * twice[1]

    def ours(q: Any, k: Any) -> Any:
        return ops.rope(q, k, cos, sin)[0]  # pyright: ignore[reportUnknownVariableType]

    def theirs(q: Any, k: Any) -> Any:
        both: tuple[Any, Any] = turned(q), turned(k)
        return both[0]

    q, k = randn(1, 64, 4, 64), randn(1, 64, 2, 64)
    yield Call("rope", "other", ours, theirs, (q, k), 2)


def attention_calls(torch: Any, randn: Callable[..., Any]) -> Iterator[Call]:
    """Attention over whole sequences, over packed ones, and steps of decoding."""
    sdpa = torch.nn.functional.scaled_dot_product_attention

    def of_torch(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (each.transpose(1, 2) for each in (q, k, v))
        return sdpa(q, k, v, is_causal=q.shape[2] > 1, enable_gqa=q.shape[1] != k.shape[1]).transpose(1, 2)

    q, k, v = (randn(1, 128, 4, 64) for _ in range(3))
    yield Call(
        "attention", "attention", lambda q, k, v: fp.attention(q, k, v, causal=True), of_torch, (q, k, v), 3
    )
    yield Call(
        "scaled_dot_product_attention",
        "attention",
        lambda q, k, v: fp.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda q, k, v: sdpa(q, k, v, is_causal=True),
        tuple(each.transpose(1, 2).contiguous() for each in (q, k, v)),
        3,
    )
    yield Call(
        "flash_attn_func",
        "attention",
        lambda q, k, v: flash_attn_func(q, k, v, causal=True),
        of_torch,
        (q, k, v),
        3,
    )
    bounds = torch.tensor([0, 128], dtype=torch.int32, device="cuda")
    packed = tuple(each[0] for each in (q, k, v))
    for name, function in (
        ("attention_varlen", ops.attention_varlen),
        ("flash_attn_varlen_func", flash_attn_varlen_func),
    ):
        yield Call(
            name,
            "attention",
            lambda q, k, v, call=function: call(q, k, v, bounds, bounds, 128, 128, causal=True),
            lambda q, k, v: of_torch(q[None], k[None], v[None])[0],
            packed,
            3,
        )
    query, keys, values = randn(1, 1, 32, 128), randn(1, 512, 8, 128), randn(1, 512, 8, 128)
    new = randn(1, 1, 8, 128)
    lengths = torch.full((1,), 500, dtype=torch.int32, device="cuda")
    pages = torch.arange(32, dtype=torch.int32, device="cuda").reshape(1, 32)
    in_pages = tuple(each.reshape(32, 16, 8, 128) for each in (keys, values))
    full = torch.full((1,), 512, dtype=torch.int32, device="cuda")

    def of_cache(q: Any, *_: Any) -> Any:
        return of_torch(q, keys, values)

    steps: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "attention_decode": (
            lambda q, k, v: fp.attention_decode(q, k, v, cache_seqlens=full),
            (query, keys, values),
        ),
        "attention_decode (new key)": (
            lambda q, k, v: fp.attention_decode(q, k, v, k=new, v=new, cache_seqlens=lengths),
            (query, keys, values),
        ),
        "attention_decode (pages)": (
            lambda q, k, v: fp.attention_decode(q, k, v, cache_seqlens=full, page_table=pages),
            (query, *in_pages),
        ),
        "flash_attn_with_kvcache": (
            lambda q, k, v: flash_attn_with_kvcache(q, k, v, cache_seqlens=full),
            (query, keys, values),
        ),
        "flash_attn_with_kvcache (full)": (flash_attn_with_kvcache, (query, keys, values)),
    }
    for name, (ours, tensors) in steps.items():
        yield Call(name, "decode", ours, of_cache, tensors)
    out, lse = fp.attention(q, k, v, return_lse=True)
    yield Call(
        "merge_states",
        "other",
        lambda a, b: ops.merge_states(a, lse, b, lse),
        lambda a, b: torch.lerp(a, b, 0.5),
        (out, out),
    )


def with_gradients(call: Call, torch: Any) -> dict[str, dict[str, Callable[[], Any]]]:
    """The functions to time, by mode: ours and torch's."""

    def plain(function: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: function(*call.tensors)

    modes = {PLAIN: {"ours": plain(call.ours), "torch": plain(call.theirs)}}
    if not call.differentiable:
        return modes
    leaves = [each.clone().requires_grad_() for each in call.tensors[: call.differentiable]]
    tensors = (*leaves, *call.tensors[call.differentiable :])
    grad = torch.randn_like(call.theirs(*call.tensors))

    def wanted(function: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: function(*tensors)

    def both(function: Callable[..., Any]) -> Callable[[], Any]:
        def step() -> None:
            function(*tensors).backward(grad)
            for leaf in leaves:
                leaf.grad = None

        return step

    for mode, make in ((GRADIENT, wanted), (BACKWARD, both)):
        modes[mode] = {"ours": make(call.ours), "torch": make(call.theirs)}
    return modes


def measured(functions: dict[str, Callable[[], Any]], torch: Any) -> dict[str, float]:
    """Median microseconds of a call, functions taking turns."""
    samples: dict[str, list[float]] = {name: [] for name in functions}
    for round_number in range(ROUNDS + WARM_UP):
        for name, function in functions.items():
            torch.cuda.synchronize()
            start = time.perf_counter_ns()
            for _ in range(CALLS):
                function()
            elapsed = time.perf_counter_ns() - start
            if round_number >= WARM_UP:
                samples[name].append(elapsed / CALLS / 1000)
    return {name: statistics.median(times) for name, times in samples.items()}


def bare_launch(torch: Any) -> Callable[[], Any]:
    """One launch of a kernel with four arguments."""
    kernel = fp.compile(SOURCE)["scale"]
    x, y = torch.ones(256, device="cuda"), torch.ones(256, device="cuda")
    return lambda: kernel[1, 256](256, 2.0, x, y)


def first_calls(torch: Any, only: str) -> dict[str, dict[str, float]]:
    """Milliseconds of the first call of each operator in this process, ours and torch's."""
    times: dict[str, dict[str, float]] = {}
    torch.ones(1, device="cuda").sum().item()  # the GPU itself is ready
    for call in calls(torch):
        if only in call.name:
            times[call.name] = {}
            for name, function in (("ours", call.ours), ("torch", call.theirs)):
                torch.cuda.synchronize()
                start = time.perf_counter_ns()
                function(*call.tensors)
                torch.cuda.synchronize()
                times[call.name][name] = (time.perf_counter_ns() - start) / 1e6
    return times


def first_calls_ever_and_again(only: str) -> dict[str, dict[str, dict[str, float]]]:
    """The same in a process without compiled kernels, and in the next."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        caches = {
            name: f"{folder}/{name}"
            for name in ("FLASHPATH_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH")
        }
        for which in (EVER, WARM):
            command = [sys.executable, __file__, "--first-calls-alone", "--only", only]
            done = subprocess.run(command, env={**os.environ, **caches}, stdout=subprocess.PIPE, check=True)
            found[which] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--only", default="", help="operators whose name has this word in it")
    parser.add_argument("--no-first-calls", action="store_true", help="leave out what takes a minute")
    parser.add_argument("--first-calls-alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch: Any = importlib.import_module("torch")
    if not torch.cuda.is_available():
        print("call_cost.py measures calls on a GPU, and this machine has none.", file=sys.stderr)
        return 3
    if options.first_calls_alone:
        print(json.dumps(first_calls(torch, options.only)))
        return 0
    first = {} if options.no_first_calls else first_calls_ever_and_again(options.only)
    for name in first.get(EVER, {}):
        ever, warm = first[EVER][name], first[WARM][name]
        print(
            f"{name:<32}first call {ever['ours']:8.1f} ms ever, {warm['ours']:8.1f} ms compiled, "
            f"torch {ever['torch']:.1f} and {warm['torch']:.1f} ms",
            flush=True,
        )
    records: list[dict[str, Any]] = []
    missed = 0
    gc.collect()
    gc.freeze()
    for call in calls(torch):
        if options.only not in call.name:
            continue
        for mode, functions in with_gradients(call, torch).items():
            times = measured(functions, torch)
            ratio, mark = times["ours"] / times["torch"], MARKS.get((call.kind, mode))
            is_missed = mark is not None and ratio > mark
            missed += is_missed
            records.append({"operator": call.name, "mode": mode, **times, "ratio": ratio, "mark": mark})
            note = "" if mark is None else f"mark {mark:.1f}{' missed' if is_missed else ''}"
            print(
                f"{call.name:<32}{mode:<22}{times['ours']:8.1f} µs  torch {times['torch']:8.1f} µs "
                f"{ratio:6.2f} ×  {note}",
                flush=True,
            )
    launch = measured({"ours": bare_launch(torch)}, torch)["ours"]
    missed += launch > BARE_LAUNCH_MARK
    print(f"kernel[grid, block](…) {launch:.1f} µs, mark {BARE_LAUNCH_MARK:.0f}")
    print(f"{missed} of {sum(each['mark'] is not None for each in records) + 1} marks missed")
    if options.json:
        environment = read_environment("cuda")
        record = {
            "gpu": environment.gpu,
            "driver": environment.driver,
            "torch": (environment.versions or {}).get("torch"),
            "commit": environment.commit,
            "dirty": environment.dirty,
            "launch": launch,
            "launch_mark": BARE_LAUNCH_MARK,
            "calls": records,
            "first_calls": first,
        }
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
