"""How many blocks of a kernel fit on one SM, and which resource stops the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from flashpath.errors import FlashpathError
from flashpath.gpus.profile import WARP_SIZE, Architecture, Gpu
from flashpath.messages import Message

Resource = Literal["warps", "blocks", "registers", "shared memory"]
Limit = Resource | Literal["threads per block"]


@dataclass(frozen=True)
class Occupancy:
    """The blocks and warps that are resident on an SM together."""

    blocks_per_sm: int
    warps_per_sm: int
    fraction: float
    """Resident warps over the most the SM can hold."""
    limit: Limit
    """What stops the next block. Where several do, the SM's own ceilings (warps, blocks) are named before the
    kernel's appetite: using fewer registers would not help then."""
    limits: Mapping[Resource, int | None] = field(hash=False)
    """The blocks each resource alone would allow; None: the kernel uses none of it."""
    reason: Message | None = None
    """Why not even one block runs; None where at least one does."""


def occupancy(
    gpu_or_architecture: Gpu | Architecture,
    threads_per_block: int,
    registers_per_thread: int,
    shared_bytes_per_block: int,
) -> Occupancy:
    """The occupancy of a kernel, by the rules of NVIDIA's calculator.

    `shared_bytes_per_block` is static and dynamic shared memory together; what the system reserves is added
    here. The SM is taken to give all it can to shared memory, and the kernel to have opted in to large
    allocations. Named barriers, which can limit kernels that use many of them on Hopper and later, are not
    counted.
    """
    if threads_per_block < 1:
        raise FlashpathError("gpus.block-of", threads=threads_per_block)
    if registers_per_thread < 0 or shared_bytes_per_block < 0:
        raise FlashpathError(
            "gpus.negative-resources", registers=registers_per_thread, shared=shared_bytes_per_block
        )
    if isinstance(gpu_or_architecture, Gpu):
        architecture = gpu_or_architecture.architecture
    else:
        architecture = gpu_or_architecture

    warps_per_block = -(-threads_per_block // WARP_SIZE)
    fits = threads_per_block <= architecture.max_threads_per_block
    limits: dict[Resource, int | None] = {
        "warps": architecture.max_warps_per_sm // warps_per_block if fits else 0,
        "blocks": architecture.max_blocks_per_sm,
        "registers": _register_limit(architecture, warps_per_block, registers_per_thread),
        "shared memory": _shared_limit(architecture, shared_bytes_per_block),
    }
    counted: dict[Resource, int] = {name: blocks for name, blocks in limits.items() if blocks is not None}
    scarcest = min(counted, key=lambda name: counted[name])
    blocks = counted[scarcest]
    limit: Limit = scarcest if fits else "threads per block"
    reason = None
    if blocks == 0:
        reason = _why_none(
            architecture, limit, threads_per_block, registers_per_thread, shared_bytes_per_block
        )
    return Occupancy(
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps_per_block,
        fraction=blocks * warps_per_block / architecture.max_warps_per_sm,
        limit=limit,
        limits=limits,
        reason=reason,
    )


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _register_limit(architecture: Architecture, warps_per_block: int, registers: int) -> int | None:
    if registers == 0:
        return None
    if registers > architecture.max_registers_per_thread:
        return 0
    per_warp = _round_up(registers * WARP_SIZE, architecture.register_allocation_unit)
    # A warp lives in one of the SM's partitions and has registers of that partition only, so a remainder too
    # small for a warp is lost in each. The warps of one block may spread over the partitions in any way.
    partitions = architecture.warp_allocation_granularity
    warps_per_partition = architecture.registers_per_sm // partitions // per_warp
    return warps_per_partition * partitions // warps_per_block


def _shared_limit(architecture: Architecture, shared_bytes: int) -> int | None:
    if shared_bytes > architecture.max_shared_per_block_bytes:
        return 0
    allocated = _round_up(
        shared_bytes + architecture.reserved_shared_per_block_bytes, architecture.shared_allocation_unit_bytes
    )
    return architecture.max_shared_per_sm_bytes // allocated if allocated else None


def _why_none(
    architecture: Architecture, limit: Limit, threads: int, registers: int, shared_bytes: int
) -> Message:
    if limit == "threads per block":
        most = architecture.max_threads_per_block
        return Message("gpus.too-many-threads", {"most": most, "threads": threads})
    if limit == "shared memory":
        most = architecture.max_shared_per_block_bytes
        capability = f"{architecture.major}.{architecture.minor}"
        told = {"most": most, "capability": capability, "shared": shared_bytes}
        return Message("gpus.too-much-shared", told)
    if registers > architecture.max_registers_per_thread:
        most = architecture.max_registers_per_thread
        return Message("gpus.too-many-registers", {"most": most, "registers": registers})
    most = architecture.registers_per_sm
    return Message("gpus.registers-do-not-fit", {"threads": threads, "registers": registers, "most": most})
