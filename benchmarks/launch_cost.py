"""Host time of one launch: flashpath beside cuda-core's own launch, the bare driver and torch.

    python benchmarks/launch_cost.py [--json FILE]

Each way launches the same kind of tiny kernel with four arguments (int, float, two tensors). Ways are
interleaved; a sample is the mean of 200 launches in a row, which the GPU works off faster than the host
issues them. The mark: flashpath costs at most cuda-core's own launch plus 2 µs.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flashpath as fp
from flashpath.bench import Environment, read_environment
from flashpath.jit import device as cuda

SOURCE = """
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
LAUNCHES = 200
ROUNDS = 60
N = 256


def ways(torch: Any) -> dict[str, Callable[[], None]]:
    """Every way to launch, each with all that can be prepared prepared."""
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    kernel = fp.compile(SOURCE)["saxpy"]
    kernel[1, N](N, 2.0, x, y)  # loads it
    short = kernel[1, N]

    core: Any = importlib.import_module("cuda.core")
    numpy: Any = importlib.import_module("numpy")
    core.Device(0).set_current()
    core_kernel = core.ObjectCode.from_cubin(kernel.module.cubin).get_kernel("saxpy")
    config = core.LaunchConfig(grid=1, block=N)
    stream = core.Stream.from_handle(torch.cuda.current_stream().cuda_stream)

    driver = cuda.driver()
    function = driver.CUfunction(int(core_kernel.handle))
    values = (
        ctypes.c_int(N),
        ctypes.c_float(2.0),
        ctypes.c_void_p(x.data_ptr()),
        ctypes.c_void_p(y.data_ptr()),
    )
    pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
    address, handle = ctypes.addressof(pointers), torch.cuda.current_stream().cuda_stream

    def through_core() -> None:
        core.launch(
            stream, config, core_kernel, numpy.int32(N), numpy.float32(2.0), x.data_ptr(), y.data_ptr()
        )

    def through_driver(_alive: object = (values, pointers)) -> None:  # the driver reads them at each launch
        driver.cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, handle, address, 0)

    return {
        "flashpath kernel.launch(grid, block, args)": lambda: kernel.launch((1,), (N,), (N, 2.0, x, y)),
        "flashpath kernel[grid, block](…)": lambda: kernel[1, N](N, 2.0, x, y),
        "flashpath launcher = kernel[grid, block]": lambda: short(N, 2.0, x, y),
        "cuda.core.launch": through_core,
        "driver, parameters packed beforehand": through_driver,
        "torch y.add_(x)": lambda: y.add_(x),
    }


def measure(functions: dict[str, Callable[[], None]], torch: Any) -> dict[str, list[float]]:
    """Microseconds per launch, a sample per round and way."""
    samples: dict[str, list[float]] = {name: [] for name in functions}
    for round_number in range(ROUNDS + 5):
        for name, function in functions.items():
            torch.cuda.synchronize()
            start = time.perf_counter_ns()
            for _ in range(LAUNCHES):
                function()
            elapsed = time.perf_counter_ns() - start
            if round_number >= 5:  # the first rounds warm caches and clocks
                samples[name].append(elapsed / LAUNCHES / 1000)
    return samples


def record_of(medians: dict[str, float], environment: Environment) -> dict[str, Any]:
    """What is written: the medians, and the machine and the commit they were measured with."""
    return {
        "gpu": environment.gpu,
        "driver": environment.driver,
        "torch": (environment.versions or {}).get("torch"),
        "microseconds": medians,
        "commit": environment.commit,
        "dirty": environment.dirty,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the medians here")
    options = parser.parse_args()
    torch: Any = importlib.import_module("torch")
    if not torch.cuda.is_available():
        print("launch_cost.py measures launches on a GPU, and this machine has none.", file=sys.stderr)
        return 3
    with torch.cuda.stream(torch.cuda.Stream()):  # cuda-core wraps no default stream
        samples = measure(ways(torch), torch)
    medians = {name: statistics.median(times) for name, times in samples.items()}
    for name, median in medians.items():
        low, high = statistics.quantiles(samples[name], n=5)[0], statistics.quantiles(samples[name], n=5)[3]
        print(f"{name:<45} {median:6.2f} µs   (p20 {low:.2f}, p80 {high:.2f})")
    over = medians["flashpath kernel.launch(grid, block, args)"] - medians["cuda.core.launch"]
    print(f"\nflashpath's launch over cuda-core's own: {over:+.2f} µs (mark: at most +2)")
    if options.json:
        options.json.write_text(
            json.dumps(record_of(medians, read_environment("cuda")), indent=1, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
    return 0 if over <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
