"""There is one way from Python into the engine."""

from __future__ import annotations

import re
from pathlib import Path

import flashpath

SOURCE = Path(flashpath.__file__).parent


def _files_with(pattern: str) -> set[str]:
    return {
        file.relative_to(SOURCE).as_posix()
        for file in SOURCE.rglob("*.py")
        if re.search(pattern, file.read_text(encoding="utf-8"))
    }


def test_only_the_launch_calls_the_engines() -> None:
    assert _files_with(r"\bprogram\.launch\(") == {"vgpu/launch.py"}


def test_only_the_launch_makes_the_engines_options_and_places_arrays() -> None:
    assert _files_with(r"engine\(\)\.Options\(") == {"vgpu/launch.py"}
    assert _files_with(r"\bPlacedArray\(") == {"vgpu/launch.py"}


def test_registers_are_read_in_one_place() -> None:
    assert _files_with(r"_REGISTER_COUNT\b|Used \(\\d\+\) registers") == {"vgpu/cubin.py"}
