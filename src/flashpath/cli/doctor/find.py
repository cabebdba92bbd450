"""Where things are on this machine: Python packages, programs, headers, hardware."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
from pathlib import Path

from flashpath.jit import toolkit
from flashpath.messages import say

PCI_DEVICES = Path("/sys/bus/pci/devices")
# A tool that hangs (a driver in trouble) must not hang the command.
TIMEOUT_S = 10


def distribution(name: str) -> str | None:
    """The version of an installed Python package."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def package_folder(name: str) -> Path | None:
    """The folder of a top-level package, found without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def program(name: str) -> Path | None:
    """A program, where the rest of flashpath would find it."""
    found = toolkit.program(name)
    if found is None and name in ("ncu", "nsys"):
        from flashpath.bench import nsight  # what it imports may be what is missing

        return nsight.find(name)
    return found


def output(*command: str | Path) -> str:
    """What a program prints; raises where it fails or takes too long."""
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=True
    )
    return done.stdout


def program_version(path: Path) -> str:
    """The version in what `--version` prints: the number after one of the words that tools put before it."""
    text = output(path, "--version")
    found = re.search(rf"(?:version|release|{re.escape(path.name)}) +(\d+(?:\.\d+)+)", text, re.IGNORECASE)
    return found[1] if found else say("cli.doctor.version-unknown")


def nvidia_hardware() -> bool:
    """Whether an NVIDIA GPU sits on the PCI bus, with or without a driver."""
    for device in PCI_DEVICES.glob("*"):
        try:
            vendor = (device / "vendor").read_text().strip()
            kind = (device / "class").read_text().strip()
        except OSError:
            continue
        if vendor == "0x10de" and kind.startswith("0x03"):  # 03: display and 3D controllers
            return True
    return False


def number(version: str) -> tuple[int, int]:
    """Major and minor of a version, such as (2, 13) of "2.13.0+cpu"."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        raise ValueError(f"{version!r} does not begin with major.minor")
    return int(found[1]), int(found[2])
