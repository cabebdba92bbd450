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
from flashpath.messages import say

MIN_CAPABILITY = (7, 5)
# Machine code of CUDA 13 loads only under a driver of CUDA 13.
MIN_DRIVER_CUDA = (13, 0)
HIDDEN = "CUDA_VISIBLE_DEVICES"
UBUNTU = Path("/etc/lsb-release")


def driver() -> Answer:
    cuda = devices.driver_version()
    if cuda is None:
        if find.nvidia_hardware():
            return missing(
                say("cli.doctor.gpu-without-driver"),
                _driver_fix(),
                matters=say("cli.doctor.gpu-useless"),
            )
        return missing(say("cli.doctor.no-driver"), matters=say("cli.doctor.where-gpu"))
    try:
        devices.devices()
    except devices.DriverError as error:
        # The usual cause: the driver's files were updated under a loaded, older kernel module.
        return warn(say("cli.doctor.driver-broken", why=error), "sudo reboot")
    found = say("cli.doctor.driver", release=_driver_release(), cuda=f"{cuda[0]}.{cuda[1]}")
    if cuda < MIN_DRIVER_CUDA:
        return warn(found, _driver_fix())
    return ok(found)


def gpus() -> Answer:
    try:
        found = devices.devices()
    except devices.DriverError as error:
        return missing(say("cli.doctor.driver-shows-none", why=error))
    if not found:
        hidden = os.environ.get(HIDDEN)
        if hidden is not None and devices.driver_version() is not None:
            return missing(say("cli.doctor.gpu-hidden", variable=HIDDEN, value=hidden), f"unset {HIDDEN}")
        return missing(say("cli.doctor.none"), matters=say("cli.doctor.no-gpu-needed"))
    text = "\n".join(describe(device) for device in found)
    old = [device.name for device in found if device.capability < MIN_CAPABILITY]
    if old:
        return warn(text + "\n" + say("cli.doctor.gpu-old", names=old))
    return ok(text)


def describe(device: CudaDevice) -> str:
    """One GPU in one line: the data sheet's figures where the product is known, else the driver's."""
    profile = match_device_name(device.name)
    parts = [
        device.name,
        say("cli.doctor.capability", capability="{}.{}".format(*device.capability)),
        say("cli.doctor.sms", count=device.sm_count),
        _l1_and_shared(device),
        f"L2 {device.l2_bytes / 2**20:.0f} MiB",
        say("cli.doctor.memory", gb=device.memory_bytes / 1e9),
    ]
    if profile is None:
        parts.append(say("cli.doctor.bandwidth-about", rate=device.bandwidth_gb_per_s))
        return ", ".join(parts)
    peak = profile.peak_tflops
    tensor = f"bf16 tensor {peak.bf16_tensor:g}" if peak.bf16_tensor else f"fp16 tensor {peak.fp16_tensor:g}"
    parts.append(say("cli.doctor.bandwidth", rate=profile.memory_bandwidth_gb_per_s))
    parts.append(say("cli.doctor.peak", fp32=peak.fp32, tensor=tensor, name=profile.marketing_name))
    return ", ".join(parts)


def _l1_and_shared(device: CudaDevice) -> str:
    shared = device.shared_per_sm_bytes / 1024
    try:
        unified = architecture(device.capability).unified_l1_shared_per_sm_kib
    except FlashpathError:
        return say("cli.doctor.shared", kib=shared)
    return say("cli.doctor.l1-shared", unified=unified, kib=shared)


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
    return fixes.system(names, say("cli.doctor.see", page="https://www.nvidia.com/drivers"))
