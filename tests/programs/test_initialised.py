"""The sanitizer knows which bytes of device memory nobody has written, whoever writes the others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from program_cases import HERE

from flashpath.jit import programs
from flashpath.jit.programs.running import environment
from flashpath.vgpu import recorded
from flashpath.vgpu.findings import Finding

# How the 1000 bytes are written → how many are not, and the first of those.
UNWRITTEN = {
    "not at all": (1000, 0),
    "allocated in order": (990, 10),
    "copied": (2, 0),
    "copied later": (500, 500),
    "filled": (990, 0),
    "filled twice": (0, None),
    "rows filled": (1000 - 5 * 4, 5),
    "rows copied": (1000 - 5 * 4, 0),
    "box filled": (1000 - 3 * 4 * 5, 3),
    "box copied": (1000 - 2 * 3 * 4, 2),
    "by a kernel": (666, 1),
    "by two kernels": (333, 2),
    "from a part": (120, 130),
    "from a whole": (0, None),
    "from itself": (1000 - 30 - 30, 30),
    "from a variable": (600, 400),
    "freed": (1000, 0),
    "captured": (200, 700),
    "variable": (0, None),
    "managed": (0, None),
    "pinned": (0, None),
    "registered": (0, None),
}


@pytest.fixture(scope="module")
def program() -> programs.Program:
    return programs.build(
        programs.make_recipe([HERE / "virtual/initialised.cu"], programs.choose_target("virtual"))
    )


def findings(program: programs.Program, how: str, folder: Path) -> list[Finding]:
    record = folder / "record"
    done = subprocess.run(
        [program.path, how],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(program.recipe, {"sanitize": True, "record": record}),
        check=False,
    )
    assert (done.stdout, done.returncode) == ("", 0)
    return recorded.read(record).findings


def _line(code: str) -> int:
    lines = (HERE / "virtual/initialised.cu").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if code in line)


@pytest.mark.parametrize("how", UNWRITTEN)
def test_each_byte_that_nobody_has_written(program: programs.Program, how: str, tmp_path: Path) -> None:
    count, first = UNWRITTEN[how]
    found = findings(program, how, tmp_path)
    if count == 0:
        assert found == []
        return
    (finding,) = found
    assert (finding.kind, finding.line, finding.count) == ("uninitialized", _line("bytes[i] == 77"), count)
    assert finding.block is not None
    assert finding.thread is not None
    assert 256 * finding.block[0] + finding.thread[0] == first


def test_a_counter_that_nobody_has_set_is_told_once(program: programs.Program, tmp_path: Path) -> None:
    (finding,) = findings(program, "counters", tmp_path)
    assert (finding.kind, finding.line, finding.count) == ("uninitialized", _line("&counters["), 64 - 40)


def test_what_was_looked_at_is_not_written_by_that(program: programs.Program, tmp_path: Path) -> None:
    """By a volatile access, which each of two launches makes."""
    found = findings(program, "looked at", tmp_path)
    line = _line("bytes[threadIdx.x] == 77")
    assert [(each.kind, each.line, each.count) for each in found] == 2 * [("uninitialized", line, 40)]


def test_padding_is_copied_with_what_it_pads(program: programs.Program, tmp_path: Path) -> None:
    """40 structures are written, but for their padding, and 64 are copied: four words each of the others."""
    (finding,) = findings(program, "padded", tmp_path)
    assert (finding.kind, finding.line, finding.count) == ("uninitialized", _line("= words["), 24 * 4)
