"""`flashpath sanitize FILE.cu` of a whole program: it runs, and all of its launches and calls are watched."""

from __future__ import annotations

import dataclasses
import os
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.cli.compiling import build_program
from flashpath.cli.failures import tell
from flashpath.cli.output import console, print_json
from flashpath.cli.sanitize_view import plain, show
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.jit.programs import Recipe
    from flashpath.vgpu.findings import Finding
    from flashpath.vgpu.host_findings import HostFinding
    from flashpath.vgpu.recorded import Recording


@dataclass(frozen=True)
class Schedules:
    """How often a program is run, each time with another order of warps and blocks, and how far."""

    seeds: int
    budget: int
    devices: int
    timeout: float | None


@dataclass
class _Checked:
    """What all runs came to."""

    codes: list[int] = field(default_factory=list[int])
    of_kernels: list[Finding] = field(default_factory=list["Finding"])
    of_host: list[HostFinding] = field(default_factory=list["HostFinding"])

    def add(self, seed: int, code: int, recording: Recording) -> None:
        self.codes.append(code)
        self.of_kernels += [dataclasses.replace(each, seed=seed) for each in recording.findings]
        self.of_host += [dataclasses.replace(each, seed=seed) for each in recording.host_findings]


def sanitize_program(
    recipe: Recipe, arguments: Sequence[str], how: Schedules, as_json: bool
) -> tuple[list[Finding | HostFinding], int]:
    """Show what is wrong with a program, host code and kernels.

    Also its exit code, where it did not come to its own end; else 0.
    """
    from flashpath.vgpu.findings import by_cause, merged
    from flashpath.vgpu.host_findings import merged_of_host

    if not recipe.target.is_virtual:
        raise FlashpathError("cli.sanitize-on-gpu")
    checked = _run_all(recipe, arguments, how, shown=not as_json)
    findings = by_cause([*merged(checked.of_kernels), *merged_of_host(checked.of_host)])
    died = next((code for code in checked.codes if _is_of_death(code)), 0)
    name = recipe.files[0].name
    if as_json:
        plainly = [plain(finding) for finding in findings]
        print_json({"program": name, "exit_codes": checked.codes, "seeds": how.seeds, "findings": plainly})
    elif findings or not died:
        console().print()
        show(console(), name, {}, findings, how.seeds)
    if died:
        tell("flashpath: " + say("cli.sanitize-died", program=name))
    return findings, died


def _run_all(recipe: Recipe, arguments: Sequence[str], how: Schedules, shown: bool) -> _Checked:
    """Every run is given the same input; what the program prints is shown once."""
    from flashpath.jit import programs
    from flashpath.jit.programs.host_code import HostCode
    from flashpath.jit.programs.shared_input import SharedInput
    from flashpath.vgpu import recorded

    program = build_program(recipe)
    checked = _Checked()
    with tempfile.TemporaryDirectory(prefix="flashpath-sanitize-") as folder:
        given = SharedInput(Path(folder) / "input")
        for seed in range(how.seeds):
            record = Path(folder) / f"record{seed}.jsonl"
            options = {"sanitize": True, "record": record, "budget": how.budget, "devices": how.devices}
            options |= {"seed": seed, "quiet": seed > 0}
            with given.opened() as file, Path(os.devnull).open("wb") as nowhere:
                output = None if shown and seed == 0 else nowhere.fileno()
                run = programs.Run(how.timeout, options, input=file, output=output)
                code = programs.run(recipe, arguments, run)
            recording = recorded.Recording()
            if record.exists():
                recording = recorded.read(record, HostCode(program))
            checked.add(seed, code, recording)
            if _is_of_death(code):
                break
    return checked


def _is_of_death(code: int) -> bool:
    """Whether an exit code says, as a shell has it, that a signal or --timeout ended the program."""
    from flashpath.jit.programs import TIMED_OUT

    return code == TIMED_OUT or 128 < code < 128 + signal.SIGSYS + 1
