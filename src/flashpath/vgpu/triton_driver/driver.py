"""The driver that Triton sees: a CUDA device with properties, machine code and a launcher; no hardware."""

from __future__ import annotations

from typing import Any

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.vgpu.cubin import read_resources
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.options import Options
from flashpath.vgpu.profiles import max_threads
from flashpath.vgpu.report import Report
from flashpath.vgpu.sanitizing import Schedules
from flashpath.vgpu.triton_driver import parts, tuning
from flashpath.vgpu.triton_driver.launcher import LoadedKernel, VirtualLauncher

# Triton keeps compiled kernels by the number of the device alone. Each GPU that is played, with the
# architecture compiled for, has a number of its own, far from those of real GPUs.
_FIRST_DEVICE = 1 << 20
_devices: dict[tuple[str, str], int] = {}

_WORD_BYTES = 4  # Triton counts spills in words


class VirtualDriver(parts.DriverBase):
    """One GPU that is played. `reports` takes a report of each launch, where `options` have it counted."""

    def __init__(self, gpu: gpus.Gpu, arch: gpus.Arch, reports: list[Report], options: Options) -> None:
        self.gpu = gpu
        self.arch = arch
        self.reports = reports
        self.options = options
        self.schedules: Schedules | None = None  # of sanitised launches, which add to the findings
        self.findings: list[Finding] = []
        self.meters: list[tuning.Meter] = []
        self.launched: dict[str, VirtualLauncher] = {}  # by Triton's hash, in the order of the first launches
        self.utils = DeviceUtils(gpu)
        self.launcher_cls = VirtualLauncher
        self._device = _devices.setdefault((gpu.name, arch.name), _FIRST_DEVICE + len(_devices))
        self._target = parts.GPUTarget("cuda", arch.major * 10 + arch.minor, gpus.WARP_SIZE)

    @classmethod
    def is_active(cls) -> bool:
        """Never chosen by Triton itself: only `fp.vgpu.triton` switches it on."""
        return False

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> int:
        return self._device

    def set_current_device(self, device: int) -> None:
        if device != self._device:
            raise FlashpathError("vgpu.no-such-device", device=device)

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return self.arch.capability

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise FlashpathError("vgpu.no-cpp-types")

    def get_benchmarker(self) -> Any:
        return tuning.benchmark

    def get_device_interface(self) -> Any:
        """Returns what `triton.testing.do_bench` times with, where it was imported by its name."""
        raise FlashpathError("vgpu.no-clock")


class DeviceUtils:
    """The functions that Triton reaches through `driver.active.utils`."""

    def __init__(self, gpu: gpus.Gpu) -> None:
        self._gpu = gpu

    def get_device_properties(self, device: int | None = None) -> dict[str, int]:
        """Returns what the played GPU has, whatever the number: torch gives CPU devices none."""
        limits = self._gpu.architecture
        return {
            "max_shared_mem": limits.max_shared_per_block_bytes,
            "max_num_regs": limits.registers_per_sm,
            "multiprocessor_count": self._gpu.sm_count,
            "warpSize": gpus.WARP_SIZE,
            "sm_clock_rate": self._gpu.boost_clock_mhz * 1000,
        }

    def load_binary(
        self, name: str, cubin: bytes, shared: int, device: int
    ) -> tuple[object, LoadedKernel, int, int, int]:
        """The module, the kernel, its registers and spilled words, and the most threads a block may have."""
        used = read_resources(cubin, name)
        kernel = LoadedKernel(self._gpu, used)
        most = max_threads(self._gpu, used.registers)
        return self, kernel, used.registers, used.local_memory // _WORD_BYTES, most
