"""GPU profiles: what `profiles.toml` says, as typed objects, and the ways to look one up."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.gpus.arch import Arch, archs, parse_arch
from flashpath.messages import Message

WARP_SIZE = 32


@dataclass(frozen=True)
class Architecture:
    """The limits of an SM, which all GPUs of one compute capability have in common."""

    major: int
    minor: int
    name: str
    max_threads_per_block: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    registers_per_sm: int
    max_registers_per_thread: int
    register_allocation_unit: int
    warp_allocation_granularity: int
    unified_l1_shared_per_sm_kib: int
    max_shared_per_sm_kib: int
    max_shared_per_block_kib: int
    """The most with the opt-in; without it a kernel gets 48 KiB."""
    shared_splits_kib: tuple[int, ...]
    """What can be taken for shared memory of what it has in common with the L1 cache."""
    reserved_shared_per_block_kib: int
    """Taken by the system from the SM's shared memory, on top of what the kernel asks for."""
    shared_allocation_unit_bytes: int
    default_gpu: str | None = None
    """The profile that stands for code of this architecture when no GPU is named."""
    persisting_l2_sixteenths: int | None = None
    """How much of the L2 cache can be set aside for data that stays; None: not known."""
    access_policy_window_mib: int | None = None
    """How large a region of memory can be named that is to stay there; None: not known."""

    @property
    def capability(self) -> tuple[int, int]:
        return self.major, self.minor

    @property
    def max_threads_per_sm(self) -> int:
        return self.max_warps_per_sm * WARP_SIZE

    @property
    def max_shared_per_sm_bytes(self) -> int:
        return self.max_shared_per_sm_kib * 1024

    @property
    def max_shared_per_block_bytes(self) -> int:
        return self.max_shared_per_block_kib * 1024

    @property
    def reserved_shared_per_block_bytes(self) -> int:
        return self.reserved_shared_per_block_kib * 1024


@dataclass(frozen=True)
class PeakTflops:
    """Dense peak rates, 10¹² a second; tensor rates accumulate in fp32. None: no tensor units for that."""

    fp64: float
    fp32: float
    fp16_tensor: float
    int8_tensor: float
    """Integer operations, not FLOPs."""
    fp64_tensor: float | None = None
    tf32_tensor: float | None = None
    bf16_tensor: float | None = None
    fp8_tensor: float | None = None


@dataclass(frozen=True)
class Gpu:
    """One product: its size, its speed and, through `architecture`, the limits of its SM."""

    name: str
    marketing_name: str
    driver_names: tuple[str, ...]
    architecture: Architecture
    sm_count: int
    boost_clock_mhz: int
    memory_gb: float
    memory_bandwidth_gb_per_s: float
    memory_bus_bits: int
    l2_mib: float
    host_link_gb_per_s: float
    """One direction."""
    peak_tflops: PeakTflops
    memory_clock_mhz: int | None = None
    """The clock that its driver tells; None: not known."""
    driver_memory_bytes: int | None = None
    """What its driver leaves to programs; None: not known."""
    ecc: bool = False
    """Whether its memory is delivered with error correction on."""

    def __hash__(self) -> int:
        return hash(self.name)  # every launch asks tables by it: not all fields each time

    @property
    def capability(self) -> tuple[int, int]:
        return self.architecture.capability

    def __str__(self) -> str:
        return self.name


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8"))


@cache
def _architectures() -> dict[tuple[int, int], Architecture]:
    generations = {arch.capability: arch.generation for arch in archs()}
    architectures: dict[tuple[int, int], Architecture] = {}
    for version, table in _tables()["architecture"].items():
        major, minor = map(int, version.split("."))
        fields = {**_tables()["common"], **table}
        fields["shared_splits_kib"] = tuple(fields["shared_splits_kib"])
        architectures[major, minor] = Architecture(major, minor, generations[major, minor], **fields)
    return architectures


@cache
def _gpus() -> dict[str, Gpu]:
    gpus: dict[str, Gpu] = {}
    for name, table in _tables()["gpu"].items():
        fields = dict(table)
        major, minor = map(int, fields.pop("compute_capability").split("."))
        gpus[name] = Gpu(
            name=name,
            architecture=_architectures()[major, minor],
            driver_names=tuple(fields.pop("driver_names")),
            peak_tflops=PeakTflops(**fields.pop("peak_tflops")),
            **fields,
        )
    return gpus


def gpus() -> list[Gpu]:
    """All profiles, in the order of the data file: oldest architecture first."""
    return list(_gpus().values())


def gpu(name: str) -> Gpu:
    """The profile of that name; case, spaces and dashes do not matter ("rtx4090", "RTX 4090")."""
    by_key = {_key(known): profile for known, profile in _gpus().items()}
    key = _key(name)
    if key in by_key:
        return by_key[key]
    # "NVIDIA H100 PCIe" holds the name of a profile; a slip of the finger only resembles one.
    holders = [known for known in by_key if known in key]
    nearest = holders or difflib.get_close_matches(key, by_key, n=1, cutoff=0.5)
    known = list(_gpus())
    advice = Message("gpus.known-gpus", {"known": known})
    if nearest:
        advice = Message("gpus.known-gpus-near", {"near": by_key[nearest[0]].name, "known": known})
    raise FlashpathError("gpus.unknown-gpu", name=repr(name), advice=advice)


def _key(name: str) -> str:
    return "".join(letter for letter in str(name).casefold() if letter.isalnum())


def architecture(capability: tuple[int, int]) -> Architecture:
    """The SM's limits at that compute capability, whichever GPU it is in."""
    limits = _architectures().get(capability)
    if limits is None:
        known = [f"{major}.{minor}" for major, minor in _architectures()]
        raise FlashpathError(
            "gpus.unknown-capability", capability=".".join(map(str, capability)), known=known
        )
    return limits


def gpu_for_arch(arch: str | Arch) -> Gpu:
    """The profile that stands for code of that architecture when no GPU is named, such as A100 for sm_80."""
    target = arch if isinstance(arch, Arch) else parse_arch(arch)
    default = architecture(target.capability).default_gpu
    if default is None:
        raise FlashpathError("gpus.no-profile", arch=str(target), known=list(_gpus()))
    return _gpus()[default]


def match_device_name(device_name: str) -> Gpu | None:
    """The profile of a real device, by what its driver calls it; None for any other product.

    The whole name has to match: an "NVIDIA H100 PCIe" or an "NVIDIA A100-SXM4-40GB" has other figures than
    the profile of the same family, and a slice of a GPU (MIG) has fewer SMs.
    """
    key = _driver_key(device_name)
    for profile in _gpus().values():
        if key in map(_driver_key, profile.driver_names):
            return profile
    return None


def _driver_key(name: str) -> str:
    # Older drivers leave the maker's name out.
    return " ".join(name.casefold().split()).removeprefix("nvidia ")
