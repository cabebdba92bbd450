"""The roofline: the least time in which a GPU can move so many bytes and do so many operations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from flashpath.errors import FlashpathError
from flashpath.gpus.profile import Gpu

# The peak that bounds each type, by the names that PyTorch, NumPy, Triton and CUDA people use for it.
_PEAK_OF_DTYPE = {
    alias: peak
    for peak, aliases in {
        "fp64": "fp64 float64 double f64",
        "fp64_tensor": "fp64_tensor",
        "fp32": "fp32 float32 float f32",
        "tf32_tensor": "tf32 tf32_tensor tensorfloat32",
        "fp16_tensor": "fp16 float16 half f16 fp16_tensor",
        "bf16_tensor": "bf16 bfloat16 bf16_tensor",
        "fp8_tensor": "fp8 float8_e4m3fn float8_e4m3 float8_e5m2 e4m3 e5m2 fp8e4nv fp8e5 fp8_tensor",
        "int8_tensor": "int8 uint8 i8 s8 u8 int8_tensor",
    }.items()
    for alias in aliases.split()
}

# Where a GPU lacks tensor units for a type, the fastest units that hold its values exactly do the work.
# Every GPU that has a profile has tensor units for fp16 and int8.
_INSTEAD = {
    "fp64_tensor": "fp64",
    "tf32_tensor": "fp32",
    "bf16_tensor": "fp32",
    "fp8_tensor": "fp16_tensor",
}


@dataclass(frozen=True)
class Roofline:
    """The two bounds of a kernel on one GPU: lower bounds from datasheet peaks, not predictions."""

    gpu: str
    peak: str
    """The rate of the GPU that bounds the arithmetic, such as "fp16_tensor"."""
    bytes: float
    flops: float
    bytes_per_second: float
    flops_per_second: float

    @property
    def intensity(self) -> float:
        """FLOPs per byte of memory traffic."""
        if self.bytes:
            return self.flops / self.bytes
        return math.inf if self.flops else 0.0

    @property
    def ridge(self) -> float:
        """The intensity from which on the arithmetic, and no longer the memory, is the bound."""
        return self.flops_per_second / self.bytes_per_second

    @property
    def memory_seconds(self) -> float:
        return self.bytes / self.bytes_per_second

    @property
    def compute_seconds(self) -> float:
        return self.flops / self.flops_per_second

    @property
    def bound(self) -> Literal["memory", "compute"]:
        return "compute" if self.compute_seconds > self.memory_seconds else "memory"

    @property
    def least_seconds(self) -> float:
        return max(self.memory_seconds, self.compute_seconds)

    def fraction(self, seconds: float) -> float:
        """Returns how much of the bound a measured time reaches: 1 is the roof itself.

        Above 1 the bytes or FLOPs were counted wrongly, or the data came from a cache and not from memory.
        """
        if not seconds > 0:
            raise FlashpathError("gpus.measured-time", seconds=seconds)
        return self.least_seconds / seconds


def roofline(gpu: Gpu, bytes: float, flops: float, dtype: str = "fp32") -> Roofline:  # noqa: A002 — the word users look for
    """The roofline of a kernel that moves `bytes` to and from memory and does `flops` operations in `dtype`.

    `dtype` is the type that is multiplied: "float16", "bf16", "tf32", "fp8", "int8", "torch.float32" …
    Types of 16 and 8 bits and tf32 are bounded by the tensor cores, fp32 and fp64 by the ordinary cores
    ("fp64_tensor" asks for the others). A GPU without tensor units for the type is bounded by the fastest
    units that hold its values exactly, as a kernel would convert them: fp16 tensor cores for fp8, fp32 for
    bf16 and tf32. `Roofline.peak` says which.
    """
    for what, amount in (("bytes", bytes), ("FLOPs", flops)):
        if not 0 <= amount < math.inf:
            raise FlashpathError("gpus.amount", amount=amount, what=what)
    peak = _PEAK_OF_DTYPE.get(str(dtype).lower().removeprefix("torch."))
    if peak is None:
        raise FlashpathError("gpus.no-peak", dtype=str(dtype))
    peak, tflops = _peak_of(gpu, peak)
    return Roofline(
        gpu=gpu.name,
        peak=peak,
        bytes=bytes,
        flops=flops,
        bytes_per_second=gpu.memory_bandwidth_gb_per_s * 1e9,
        flops_per_second=tflops * 1e12,
    )


def _peak_of(gpu: Gpu, peak: str) -> tuple[str, float]:
    if getattr(gpu.peak_tflops, peak) is None:
        peak = _INSTEAD[peak]
    return peak, getattr(gpu.peak_tflops, peak)
