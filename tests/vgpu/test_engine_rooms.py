"""The rooms of the C++ sources: who may include whom, and that nobody includes in circles.

Each room is a folder. A room may include the rooms that stand behind its name below, and no others; a room's
own subfolders are rooms of their own. The table goes from the ground up: a room includes only rooms above it.
"""

from __future__ import annotations

import re
from pathlib import Path

import flashpath.vgpu

VGPU = Path(flashpath.vgpu.__file__).parent

# What a launch is made of, from the ground up.
MACHINE = {"messages", "program", "machine"}
OBSERVED = MACHINE | {"observe"}
WATCHED = OBSERVED | {"sanitize"}

ROOMS: dict[str, set[str]] = {
    "engine/host": set(),  # what the processor offers
    "engine/messages": set(),  # what is said, as data
    "engine/ptx": {"messages"},  # the parser
    "engine/program": set(),  # code ready to run
    "engine/lower": {"messages", "ptx", "program"},  # from the parsed PTX to the program
    "engine/machine": {"messages", "program"},  # the state of a launch: blocks, warps, memory
    "engine/observe": MACHINE,  # what is counted and found
    "engine/sanitize": OBSERVED,  # who races with whom
    "engine/exec": {"program"},  # the table of operations, and whose names they use
    "engine/exec/arithmetic": MACHINE | {"exec"},
    "engine/exec/arithmetic/special_functions": MACHINE | {"exec/arithmetic"},
    "engine/exec/warp": WATCHED | {"exec", "exec/arithmetic"},
    "engine/exec/memory": WATCHED | {"exec", "exec/arithmetic"},
    "engine/exec/tensor_core": WATCHED | {"exec", "exec/arithmetic", "exec/memory"},
    "engine/exec/diagnosis": OBSERVED | {"exec", "exec/warp", "exec/memory"},
    "engine/exec/schedule": WATCHED | {"exec", "exec/memory", "exec/tensor_core", "exec/diagnosis"},
    "engine/exec/device_library": WATCHED | {"exec", "exec/memory", "exec/schedule"},
    "engine/python": OBSERVED | {"host", "ptx", "lower", "exec/schedule"},
    "runtime/ground": OBSERVED,  # settings, signals, where calls stand in the program
    "runtime/binary": OBSERVED | {"ptx", "lower"},  # kernels in the program's file
    "runtime/device": OBSERVED | {"ground"},
    "runtime/work": OBSERVED | {"ground", "binary"},
    "runtime/checks": OBSERVED | {"ground", "device", "work"},  # what host code does wrong
    "runtime/state": WATCHED | {"ground", "binary", "device", "work", "checks"},
    "runtime/operations": OBSERVED | {"exec/schedule", "ground", "device", "work", "state"},
    "runtime/api": {"messages", "program", "ground", "device", "work", "state", "operations"},
    "runtime/driver": set(),  # a library of its own, on the functions that programs call
}


def sources() -> list[Path]:
    return [path for path in VGPU.glob("*/**/*") if path.suffix in (".h", ".cpp")]


def room_of(path: Path) -> str:
    return path.parent.relative_to(VGPU).as_posix()


def included(path: Path) -> list[Path]:
    """The files of the engine and the runtime that a file includes; each is found in exactly one of them."""
    files: list[Path] = []
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        found = [VGPU / part / name for part in ("engine", "runtime") if (VGPU / part / name).is_file()]
        assert len(found) == 1, f"{path}: {name} is {len(found)} files"
        files += found
    return files


def test_every_source_stands_in_a_known_room() -> None:
    assert {room_of(path) for path in sources()} == set(ROOMS)


def test_rooms_include_only_what_they_may() -> None:
    wrong: list[str] = []
    for path in sources():
        room = room_of(path)
        for file in included(path):
            other = room_of(file)
            if other != room and other.split("/", 1)[1] not in ROOMS[room]:
                wrong.append(f"{path.relative_to(VGPU)} includes {file.relative_to(VGPU)}")
    assert not wrong, "\n".join(wrong)


def test_no_room_includes_in_circles() -> None:
    height = {name.split("/", 1)[1]: place for place, name in enumerate(ROOMS)}
    assert len(height) == len(ROOMS), "two rooms have one name in #include lines"
    for name, below in ROOMS.items():
        own = height[name.split("/", 1)[1]]
        assert all(height[room] < own for room in below), name


def test_the_engine_knows_nothing_of_the_runtime() -> None:
    for path in sources():
        if room_of(path).startswith("engine"):
            assert not [file for file in included(path) if room_of(file).startswith("runtime")], path


def test_every_source_is_compiled() -> None:
    for part in ("engine", "runtime"):
        listed = set(re.findall(r"[\w/]+\.cpp", (VGPU / part / "CMakeLists.txt").read_text()))
        there = {path.relative_to(VGPU / part).as_posix() for path in (VGPU / part).rglob("*.cpp")}
        assert there <= listed, there - listed
