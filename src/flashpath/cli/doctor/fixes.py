"""The command that installs something, as this machine's package manager spells it."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
from pathlib import Path

from flashpath.messages import say

_SYSTEM_INSTALL = {
    "apt-get": "apt-get install -y",
    "dnf": "dnf install -y",
    "zypper": "zypper install -y",
    "pacman": "pacman -S --noconfirm",
    "apk": "apk add",
    "brew": "brew install",
}
NVIDIA_REPOSITORIES = ("/etc/apt/sources.list.d", "/etc/yum.repos.d", "/etc/zypp/repos.d")
CUDA_DOWNLOADS = "https://developer.nvidia.com/cuda-downloads"


def pip(*requirements: str) -> str:
    """Into the Python that runs; environments made by uv have no pip of their own."""
    installer = "uv pip" if importlib.util.find_spec("pip") is None and shutil.which("uv") else "pip"
    return f"{installer} install {shlex.join(requirements)}"


def system(names: dict[str, str], otherwise: str) -> str:
    """`names`: the package under each package manager; "" for those that share one name."""
    for manager, install in _SYSTEM_INSTALL.items():
        package = names.get(manager, names.get(""))
        if package and shutil.which(manager):
            return f"{_sudo(manager)}{install} {package}"
    return otherwise


def nvidia_tool(nvidia_name: str, debian_name: str) -> str:
    """A tool of the CUDA toolkit: from NVIDIA's repository where it is set up, else from the distribution."""
    if any(path for folder in NVIDIA_REPOSITORIES for path in Path(folder).glob("cuda*")):
        return system(
            dict.fromkeys(("apt-get", "dnf", "zypper"), f"{nvidia_name}-13-0"),
            say("cli.doctor.see", page=CUDA_DOWNLOADS),
        )
    return system({"apt-get": debian_name, "pacman": "cuda"}, say("cli.doctor.see", page=CUDA_DOWNLOADS))


def _sudo(manager: str) -> str:
    return "" if manager == "brew" or os.geteuid() == 0 else "sudo "
