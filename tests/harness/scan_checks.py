"""What the tests of scan share: samples, heads of segments, and a run out of a guarded buffer."""

from __future__ import annotations

import math
from typing import Any

import torch

from flashpath import kernels
from tests.harness.guarded_output import run_guarded

LADDER = kernels.ladder("scan")
# Each kernel that includes CUB compiles for a second or two: cub_block has a test of its own.
RUNGS = [rung.name for rung in LADDER if rung.name != "cub_block"]
# Operations and types are independent of the rung, so these take them for all of the others.
THOROUGH = ["reference", "warp", "decoupled_lookback", "lookahead", "triton"]
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32]
INF, NAN = float("inf"), float("nan")


def sample(shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = math.prod(shape)
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    if dtype == torch.int32:
        full = torch.randint(-(2**31), 2**31, (n + offset,), generator=generator, device=device)
    else:
        full = torch.randn(n + offset, generator=generator, device=device) + 0.25
    return full.to(dtype)[offset:].view(shape)


def some_heads(shape: tuple[int, ...], every: int, offset: int = 0, device: str = "cpu") -> Any:
    """Random heads, about one in `every`, as bytes of any value, `offset` bytes into their storage."""
    n = math.prod(shape)
    generator = torch.Generator(device=device).manual_seed(n + every)
    full = torch.randint(0, 256 * every, (n + offset,), generator=generator, device=device)
    return torch.where(full < 256, full, 0).to(torch.uint8)[offset:].view(shape)


def run_poisoned(name: str, x: Any, op: str, exclusive: bool = False, flags: Any | None = None) -> Any:
    """The rung's result, out of a guarded buffer that held another value; x must stay as it is."""
    dtype = torch.int64 if x.dtype == torch.int32 and op == "sum" else x.dtype
    return run_guarded(LADDER[name], x, op, exclusive, flags, like=x.to(dtype))


def verify(name: str, x: Any, op: str, exclusive: bool = False, flags: Any | None = None) -> None:
    LADDER.check(run_poisoned(name, x, op, exclusive, flags), (x, op, exclusive, flags))
