"""What a measurement was made on: without it a number means nothing a month later."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from flashpath import settings
from flashpath.bench.device import load_torch
from flashpath.messages import say


@dataclass(frozen=True)
class Environment:
    """The machine and the software of one run; None where this machine does not say."""

    device: str
    gpu: str | None = None
    driver: str | None = None
    sm_mhz: float | None = None
    memory_mhz: float | None = None
    power_limit_watts: float | None = None
    cpu: str | None = None
    versions: Mapping[str, str | None] | None = None
    commit: str | None = None
    dirty: bool | None = None

    def describe(self) -> str:
        """The machine in one line, for the foot of a table."""
        versions = self.versions or {}
        named = [f"{name} {versions[name]}" for name in ("torch", "triton", "cuda") if versions.get(name)]
        commit = None
        if self.commit:
            commit = say("bench.commit-changed" if self.dirty else "bench.commit", commit=self.commit[:10])
        clocks = say("bench.clocks", mhz=self.sm_mhz) if self.sm_mhz else None
        driver = say("bench.driver", version=self.driver) if self.driver else None
        parts = [self.gpu or self.cpu or self.device, clocks, driver, *named, commit]
        return ", ".join(part for part in parts if part)

    def with_clocks_now(self) -> Environment:
        """The same, with the clocks of this moment: read right after the work they belong to."""
        if self.device != "cuda":
            return self
        sm_mhz, memory_mhz = query_gpu("clocks.sm", "clocks.mem")
        return replace(self, sm_mhz=number(sm_mhz), memory_mhz=number(memory_mhz))


def read_environment(device: str) -> Environment:
    """Everything about this machine that belongs beside a measurement made on `device`."""
    commit, dirty = git_state(Path(__file__).parents[1])
    software = Environment(device, versions=versions(), commit=commit, dirty=dirty)
    if device != "cuda":
        return replace(software, cpu=cpu_model())
    driver, power_limit = query_gpu("driver_version", "power.limit")
    return replace(
        software,
        gpu=str(load_torch().cuda.get_device_name()),
        driver=driver,
        power_limit_watts=number(power_limit),
    ).with_clocks_now()


def query_gpu(*fields: str) -> list[str | None]:
    """Values of `nvidia-smi --query-gpu` for the GPU that torch uses; None for each that is not to be had."""
    properties = load_torch().cuda.get_device_properties(load_torch().cuda.current_device())
    # nvidia-smi does not follow CUDA_VISIBLE_DEVICES: only the UUID names the same GPU in both.
    answer = run(
        [
            "nvidia-smi",
            f"--id=GPU-{str(properties.uuid).removeprefix('GPU-')}",
            f"--query-gpu={','.join(fields)}",
            "--format=csv,noheader,nounits",
        ]
    )
    return parse_query(answer, len(fields))


def parse_query(answer: str | None, count: int) -> list[str | None]:
    """One line of nvidia-smi's CSV as `count` values; `[N/A]` and its kind are None."""
    lines = (answer or "").strip().splitlines()
    values = [value.strip() for value in lines[0].split(",")] if lines else []
    if len(values) != count:
        return [None] * count
    return [None if value.startswith("[") or not value else value for value in values]


def number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def versions() -> dict[str, str | None]:
    """The versions that decide how fast a kernel is."""
    torch = load_torch()
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "triton": package_version("triton"),
        "cuda": torch.version.cuda,
        "flashpath": package_version("flashpath"),
    }


def package_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def git_state(package: Path) -> tuple[str | None, bool | None]:
    """Commit, and whether files differ from it, where `package` lies in its checkout or is a copy of one."""
    if settings.COMMIT.value:
        return settings.COMMIT.value, False  # what git would say of a copy without history is another commit
    package = package.resolve()
    top = run(["git", "-C", str(package), "rev-parse", "--show-toplevel"])
    # An installed package may lie inside a checkout of something else.
    if top is None or Path(top.strip()) / "src" / package.name != package:
        return None, None
    commit = run(["git", "-C", str(package), "rev-parse", "HEAD"])
    changes = run(["git", "-C", str(package), "status", "--porcelain"])
    if commit is None or changes is None:
        return None, None
    return commit.strip(), bool(changes.strip())


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The CPU's name as its maker writes it, where the system tells."""
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def run(command: Sequence[str]) -> str | None:
    """The command's output; None where it is missing, fails or hangs."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
