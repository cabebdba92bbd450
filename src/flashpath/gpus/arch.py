"""The architectures that flashpath compiles for, and the one place that reads their names."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from flashpath.errors import FlashpathError
from flashpath.messages import Message, any_of

# Every target of NVRTC 13.0. The suffix "a" unlocks instructions that exist on that one chip only.
_TARGETS = {
    "Turing": "sm_75",
    "Ampere": "sm_80 sm_86 sm_87 sm_88",
    "Ada Lovelace": "sm_89",
    "Hopper": "sm_90 sm_90a",
    "Blackwell": "sm_100 sm_100a sm_103 sm_103a sm_110 sm_110a sm_120 sm_120a sm_121 sm_121a",
}

_NAME = re.compile(r"sm_(\d+)(\d)(a?)")
# What people write when they mean an architecture: "sm90", "90", "9.0", "compute_90a", "SM-90".
_LOOSE_NAME = re.compile(r"(?:sm|compute|cc)?[\s_-]*(\d{1,2})\.?(\d)([a-z]?)")


class UnknownArch(FlashpathError):
    """The name is not one of an architecture that flashpath compiles for."""


@dataclass(frozen=True)
class Arch:
    """A compilation target: a compute capability and, for chip-specific code, the suffix "a"."""

    name: str
    major: int
    minor: int
    suffix: str
    generation: str

    @property
    def capability(self) -> tuple[int, int]:
        return self.major, self.minor

    @property
    def compute(self) -> str:
        """The name of the virtual architecture, the one PTX is written for."""
        return self.name.replace("sm_", "compute_")

    def __str__(self) -> str:
        return self.name


def _read(name: str, generation: str) -> Arch:
    match = _NAME.fullmatch(name)
    assert match is not None, name
    return Arch(name, int(match[1]), int(match[2]), match[3], generation)


_KNOWN = {name: _read(name, generation) for generation, names in _TARGETS.items() for name in names.split()}


def archs() -> list[Arch]:
    """All architectures that flashpath compiles for, oldest first."""
    return list(_KNOWN.values())


def parse_arch(name: str) -> Arch:
    """The architecture of that exact name, such as "sm_80" or "sm_90a".

    Other spellings raise `UnknownArch` with the one that was probably meant: the name becomes part of cache
    keys and file names, so there is one spelling only.
    """
    arch = _KNOWN.get(name)
    if arch is not None:
        return arch
    nearest = _nearest(str(name).strip().lower())
    advice = Message("gpus.write-arch-so")
    if nearest:
        advice = Message("gpus.write-arch", {"names": any_of(nearest)})
    raise UnknownArch("gpus.unknown-arch", name=repr(name), advice=advice, known=list(_KNOWN))


def _nearest(text: str) -> list[str]:
    for generation, names in _TARGETS.items():
        if text and set(text.split()) <= set(generation.lower().split()):
            return names.split()
    if match := _LOOSE_NAME.fullmatch(text):
        number, suffix = int(match[1] + match[2]), match[3]
        by_distance = sorted(
            _KNOWN.values(),
            key=lambda arch: (abs(arch.major * 10 + arch.minor - number), arch.suffix != suffix),
        )
        return [by_distance[0].name]
    # Only near-identical spellings: "h100" must not be taken for "sm_100".
    return difflib.get_close_matches(text, _KNOWN, n=1, cutoff=0.7)


def runs_on(code_arch: str | Arch, device_capability: tuple[int, int]) -> bool:
    """Whether machine code (a cubin) of that architecture runs on a GPU of that compute capability.

    It does where the major version is the same and the minor one no newer than the device's. Chip-specific
    code ("a") needs the exact capability. PTX is another matter: the driver compiles it for any newer GPU.
    """
    arch = code_arch if isinstance(code_arch, Arch) else parse_arch(code_arch)
    if arch.suffix:
        return arch.capability == device_capability
    return arch.major == device_capability[0] and arch.minor <= device_capability[1]
