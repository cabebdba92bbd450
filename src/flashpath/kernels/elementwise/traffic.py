"""What fusing saves, counted on the virtual GPU: `python -m flashpath.kernels.elementwise.traffic`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.jit.virtual import profile
from flashpath.kernels.elementwise import host
from flashpath.kernels.elementwise.operations import checked


@dataclass(frozen=True)
class Traffic:
    """The counts of all launches of one call together."""

    launches: int
    bytes: int  # to and from memory, each launch finding nothing in the caches
    requests: int  # memory instructions of warps


def traffic(file: Path, x: Any, operation: str, *operands: Any) -> Traffic:
    """What the CUDA rung of that file moves for a call on CPU tensors."""
    reports = [
        profile(each.kernel, grid=each.blocks, block=each.threads, args=each.args)
        for each in host.launches(file, checked(x, operation, operands, None))
    ]
    return Traffic(
        launches=len(reports),
        bytes=sum(report.dram_bytes for report in reports),
        requests=sum(report.global_load.requests + report.global_store.requests for report in reports),
    )


def main() -> None:
    import torch

    n = 2**16
    x, y = (torch.randn(n, dtype=torch.bfloat16) for _ in "xy")
    print(f"gelu(0.7 x + y), {n:,} elements of bfloat16: {2 * n:,} bytes a tensor")
    for file in (host.SCALAR, host.GRID_STRIDE, host.VECTORIZED, host.FUSED_CHAIN):
        found = traffic(file, x, "scale_add_gelu", 0.7, y)
        launches = "1 launch  " if found.launches == 1 else f"{found.launches} launches"
        print(
            f"{file.stem:12} {launches} {found.bytes:>9,} bytes = {found.bytes / (2 * n):.0f} tensors,"
            f" {found.requests:>6,} requests"
        )


if __name__ == "__main__":
    main()
