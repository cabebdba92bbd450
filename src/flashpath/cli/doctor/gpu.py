"""The driver and the GPUs: what they are, and the figures that a roofline is drawn from."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from flashpath.cli.doctor import find, fixes
from flashpath.cli.doctor.check import Answer, missing, ok, warn
from flashpath.errors import FlashpathError
from flashpath.gpus import architecture, match_device_name
from flashpath.jit import device as devices
from flashpath.jit.device import CudaDevice

MIN_CAPABILITY = (7, 5)
# Machine code of CUDA 13 loads only under a driver of CUDA 13.
MIN_DRIVER_CUDA = (13, 0)
NO_GPU_NEEDED = (
    "Nothing is broken: kernels compile here and run on the virtual GPU. Speed can be measured on a real "
    "GPU only."
)
HIDDEN = "CUDA_VISIBLE_DEVICES"
UBUNTU = Path("/etc/lsb-release")


def driver() -> Answer:
    cuda = devices.driver_version()
    if cuda is None:
        if find.nvidia_hardware():
            return missing(
                "there is an NVIDIA GPU on the PCI bus, and no driver for it",
                _driver_fix(),
                matters="The GPU cannot be used at all without it.",
            )
        return missing(
            "none, and no NVIDIA GPU on the PCI bus", matters="It matters only where there is a GPU."
        )
    try:
        devices.devices()
    except devices.DriverError as error:
        # The usual cause: the driver's files were updated under a loaded, older kernel module.
        return warn(f"installed, but {error}", "sudo reboot")
    found = f"{_driver_release()}CUDA up to {cuda[0]}.{cuda[1]}"
    if cuda < MIN_DRIVER_CUDA:
        return warn(found, _driver_fix())
    return ok(found)


def gpus() -> Answer:
    try:
        found = devices.devices()
    except devices.DriverError as error:
        return missing(f"the driver does not show any: {error}")
    if not found:
        hidden = os.environ.get(HIDDEN)
        if hidden is not None and devices.driver_version() is not None:
            return missing(f"none is visible: {HIDDEN} is {hidden!r}", f"unset {HIDDEN}")
        return missing("none", matters=NO_GPU_NEEDED)
    text = "\n".join(describe(device) for device in found)
    old = [device.name for device in found if device.capability < MIN_CAPABILITY]
    if old:
        return warn(f"{text}\ntoo old: {', '.join(old)}")
    return ok(text)


def describe(device: CudaDevice) -> str:
    """One GPU in one line: the data sheet's figures where the product is known, else the driver's."""
    profile = match_device_name(device.name)
    parts = [
        device.name,
        "compute capability {}.{}".format(*device.capability),
        f"{device.sm_count} SMs",
        _l1_and_shared(device),
        f"L2 {device.l2_bytes / 2**20:.0f} MiB",
        f"memory {device.memory_bytes / 1e9:.0f} GB",
    ]
    if profile is None:
        parts.append(f"bandwidth about {device.bandwidth_gb_per_s:.0f} GB/s (bus width x memory clock)")
        return ", ".join(parts)
    peak = profile.peak_tflops
    tensor = f"bf16 tensor {peak.bf16_tensor:g}" if peak.bf16_tensor else f"fp16 tensor {peak.fp16_tensor:g}"
    parts.append(f"bandwidth {profile.memory_bandwidth_gb_per_s:g} GB/s")
    parts.append(f"peak TFLOP/s: fp32 {peak.fp32:g}, {tensor} (data sheet: {profile.marketing_name})")
    return ", ".join(parts)


def _l1_and_shared(device: CudaDevice) -> str:
    shared = device.shared_per_sm_bytes / 1024
    try:
        unified = architecture(device.capability).unified_l1_shared_per_sm_kib
    except FlashpathError:
        return f"shared memory {shared:.0f} KiB per SM"
    return f"L1 and shared memory {unified} KiB per SM ({shared:.0f} KiB of it shared at most)"


def _driver_release() -> str:
    path = find.program("nvidia-smi")
    if path is None:
        return ""
    try:
        lines = find.output(path, "--query-gpu=driver_version", "--format=csv,noheader").split()
    except (OSError, subprocess.SubprocessError):  # the CUDA version, read from the driver itself, is enough
        return ""
    return f"{lines[0]}, " if lines else ""


def _driver_fix() -> str:
    names = {
        "apt-get": "nvidia-driver-580-open" if UBUNTU.exists() else "nvidia-driver",
        "dnf": "nvidia-open",
        "zypper": "nvidia-open",
        "pacman": "nvidia-open",
    }
    return fixes.system(names, "see https://www.nvidia.com/drivers")
