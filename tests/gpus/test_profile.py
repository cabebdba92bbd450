"""The data file is complete and hangs together; a GPU is found by every name it goes by, and by no other."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from flashpath.errors import FlashpathError
from flashpath.gpus import (
    Architecture,
    Gpu,
    UnknownArch,
    architecture,
    archs,
    gpu,
    gpu_for_arch,
    gpus,
    match_device_name,
)

NAMES = ["T4", "A100", "RTX 3090", "RTX 4090", "L4", "H100", "H200", "B200"]
CAPABILITIES = sorted({arch.capability for arch in archs()})

# fp32 FMA units per SM, from the whitepapers: a second source, to check the peaks in the data file against.
FP32_LANES = {(7, 5): 64, (8, 0): 64, (8, 6): 128, (8, 9): 128, (9, 0): 128, (10, 0): 128}


def test_the_profiles() -> None:
    assert [profile.name for profile in gpus()] == NAMES


@pytest.mark.parametrize("profile", gpus(), ids=str)
def test_profile_is_complete(profile: Gpu) -> None:
    for field in dataclasses.fields(profile):
        value = getattr(profile, field.name)
        if value == field.default:  # what is not known of every GPU, or not so on every one
            continue
        if isinstance(value, int | float):
            assert value > 0, field.name
        else:
            assert value, field.name
    for field in dataclasses.fields(profile.peak_tflops):
        rate = getattr(profile.peak_tflops, field.name)
        assert rate is None or rate > 0, field.name
    assert isinstance(profile.sm_count, int)
    assert isinstance(profile.boost_clock_mhz, int)


@pytest.mark.parametrize("profile", gpus(), ids=str)
def test_fp32_peak_follows_from_cores_and_clock(profile: Gpu) -> None:
    lanes = FP32_LANES[profile.capability]
    flops_per_second = profile.sm_count * lanes * 2 * profile.boost_clock_mhz * 1e6
    assert profile.peak_tflops.fp32 == pytest.approx(flops_per_second / 1e12, rel=0.01)


@pytest.mark.parametrize("profile", gpus(), ids=str)
def test_tensor_peaks_are_those_the_generation_has(profile: Gpu) -> None:
    peaks = profile.peak_tflops
    ampere_or_later = profile.capability >= (8, 0)
    assert (peaks.tf32_tensor is not None) == ampere_or_later
    assert (peaks.bf16_tensor is not None) == ampere_or_later
    assert (peaks.fp8_tensor is not None) == (profile.capability >= (8, 9))
    assert (peaks.fp64_tensor is not None) == (profile.capability in [(8, 0), (9, 0), (10, 0)])
    # Half the bits, twice the rate; the dense figures of datasheets are rounded.
    if peaks.tf32_tensor is not None:
        assert peaks.bf16_tensor == peaks.fp16_tensor == pytest.approx(2 * peaks.tf32_tensor, rel=0.01)
    if peaks.fp8_tensor is not None:
        assert peaks.fp8_tensor == pytest.approx(2 * peaks.fp16_tensor, rel=0.01)
    # Integer sums have no fp32 accumulator to wait for, so GeForce does these at full rate.
    geforce = "GeForce" in profile.marketing_name
    assert peaks.int8_tensor == pytest.approx((4 if geforce else 2) * peaks.fp16_tensor, rel=0.01)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_target_has_consistent_limits(capability: tuple[int, int]) -> None:
    limits = architecture(capability)
    assert limits.capability == capability
    for field in dataclasses.fields(Architecture):
        value = getattr(limits, field.name)
        if isinstance(value, int) and field.name not in ("minor", "reserved_shared_per_block_kib"):
            assert value > 0, field.name
    block = limits.max_shared_per_block_kib + limits.reserved_shared_per_block_kib
    assert block == limits.max_shared_per_sm_kib < limits.unified_l1_shared_per_sm_kib
    assert limits.shared_splits_kib[-1] == limits.max_shared_per_sm_kib
    assert sorted(set(limits.shared_splits_kib)) == list(limits.shared_splits_kib)
    assert limits.max_threads_per_block <= limits.max_threads_per_sm


@pytest.mark.parametrize(
    ("capability", "threads", "blocks", "shared_sm_kib", "shared_block_kib", "reserved_kib"),
    [
        ((7, 5), 1024, 16, 64, 64, 0),
        ((8, 0), 2048, 32, 164, 163, 1),
        ((8, 6), 1536, 16, 100, 99, 1),
        ((8, 9), 1536, 24, 100, 99, 1),
        ((9, 0), 2048, 32, 228, 227, 1),
        ((10, 0), 2048, 32, 228, 227, 1),
        ((12, 0), 1536, 24, 100, 99, 1),
    ],
)
def test_limits_of_the_programming_guide(
    capability: tuple[int, int],
    threads: int,
    blocks: int,
    shared_sm_kib: int,
    shared_block_kib: int,
    reserved_kib: int,
) -> None:
    limits = architecture(capability)
    assert limits.max_threads_per_sm == threads
    assert limits.max_blocks_per_sm == blocks
    assert limits.max_shared_per_sm_bytes == shared_sm_kib * 1024
    assert limits.max_shared_per_block_bytes == shared_block_kib * 1024
    assert limits.reserved_shared_per_block_bytes == reserved_kib * 1024
    assert limits.registers_per_sm == 65536


def test_unknown_capability_lists_the_known() -> None:
    with pytest.raises(FlashpathError, match=r"capability 6\.1") as caught:
        architecture((6, 1))
    assert "7.5, 8.0" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rtx4090", "RTX 4090"),
        ("RTX 4090", "RTX 4090"),
        ("rtx-3090", "RTX 3090"),
        ("h200", "H200"),
        (" t4 ", "T4"),
    ],
)
def test_gpu_by_name(text: str, name: str) -> None:
    assert gpu(text).name == name


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("rtx 4080", "RTX 4090"),
        ("H10O", "H100"),
        ("NVIDIA H100 PCIe", "H100"),
        ("geforce rtx 3090", "RTX 3090"),
    ],
)
def test_unknown_gpu_names_the_nearest_and_all(text: str, nearest: str) -> None:
    with pytest.raises(FlashpathError) as caught:
        gpu(text)
    assert repr(text) in caught.value.problem
    assert caught.value.fix == f"Did you mean {nearest}? Known: {', '.join(NAMES)}."


def test_unknown_gpu_that_resembles_none() -> None:
    with pytest.raises(FlashpathError) as caught:
        gpu("quantum")
    assert caught.value.fix == f"Known: {', '.join(NAMES)}."


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        ("sm_75", "T4"),
        ("sm_80", "A100"),
        ("sm_86", "RTX 3090"),
        ("sm_89", "RTX 4090"),
        ("sm_90", "H200"),
        ("sm_90a", "H200"),
        ("sm_100", "B200"),
        ("sm_100a", "B200"),
    ],
)
def test_gpu_for_arch(arch: str, name: str) -> None:
    assert gpu_for_arch(arch).name == name


def test_default_gpus_have_the_architecture_they_stand_for() -> None:
    defaults = {c: architecture(c).default_gpu for c in CAPABILITIES}
    named = {c: name for c, name in defaults.items() if name is not None}
    assert {c: gpu(name).capability for c, name in named.items()} == {c: c for c in named}


def test_gpu_for_arch_without_a_profile() -> None:
    with pytest.raises(FlashpathError, match="no GPU profile for sm_120") as caught:
        gpu_for_arch("sm_120")
    assert "RTX 4090" in str(caught.value)
    with pytest.raises(UnknownArch, match="sm_90"):
        gpu_for_arch("90")


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("Tesla T4", "T4"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("A100-SXM4-80GB", "A100"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA B200", "B200"),
    ],
)
def test_device_names_of_drivers(device: str, name: str) -> None:
    found = match_device_name(device)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "device",
    [
        "",
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA A100 80GB PCIe",
        "NVIDIA A100-SXM4-80GB MIG 1g.10gb",
        "NVIDIA GeForce RTX 3090 Ti",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA L40S",
        "NVIDIA H100 PCIe",
        "NVIDIA H200 NVL",
        "NVIDIA GH200 480GB",
        "AMD Instinct MI300X",
    ],
)
def test_relatives_are_not_taken_for_the_profile(device: str) -> None:
    assert match_device_name(device) is None


def test_profiles_can_be_sent_to_other_processes_and_used_as_keys() -> None:
    for profile in gpus():
        assert pickle.loads(pickle.dumps(profile)) == profile
    assert len(set(gpus())) == len(NAMES)
