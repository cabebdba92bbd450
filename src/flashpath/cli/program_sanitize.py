"""`flashpath sanitize FILE.cu` of a whole program: it runs, and all of its launches are watched."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath import settings
from flashpath.cli.output import console, print_json
from flashpath.cli.sanitize_view import show
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.jit.programs import Recipe
    from flashpath.vgpu.findings import Finding
    from flashpath.vgpu.host_findings import HostFinding
    from flashpath.vgpu.recorded import Recording


def sanitize_program(
    recipe: Recipe,
    arguments: Sequence[str],
    seeds: int,
    budget: int | None,
    timeout: float | None,
    as_json: bool,
) -> list[Finding | HostFinding]:
    """Run the program under so many schedules, and show what is wrong with it, host code and kernels."""
    from flashpath.vgpu.findings import merged
    from flashpath.vgpu.host_findings import merged_of_host
    from flashpath.vgpu.sanitizing import SANITIZE_BUDGET

    if not recipe.target.is_virtual:
        raise FlashpathError(
            "A program is checked on the virtual GPU, and a real one was asked for.",
            "Name the GPU to play, as --device H200; compute-sanitizer checks on a real one.",
        )
    found: list[Finding] = []
    of_host: list[HostFinding] = []
    codes: list[int] = []
    for seed in range(seeds):
        options = {"sanitize": True, "seed": seed, "budget": budget or SANITIZE_BUDGET, "quiet": seed > 0}
        code, own = _run(recipe, arguments, options, timeout, shown=seed == 0 and not as_json)
        codes.append(code)
        found += [dataclasses.replace(each, seed=seed) for each in own.findings]
        of_host += [dataclasses.replace(each, seed=seed) for each in own.host_findings]
    findings = [*merged(found), *merged_of_host(of_host)]
    name = recipe.files[0].name
    if as_json:
        print_json({"program": name, "exit_codes": codes, "seeds": seeds, "findings": findings})
    else:
        console().print()
        show(console(), name, {}, findings, seeds, settings.language())
    return findings


def _run(
    recipe: Recipe,
    arguments: Sequence[str],
    options: Mapping[str, object],
    timeout: float | None,
    shown: bool,
) -> tuple[int, Recording]:
    """One run; its own output is shown once, not for every schedule."""
    from flashpath.jit import programs
    from flashpath.jit.programs.host_code import HostCode
    from flashpath.vgpu import recorded

    with (
        tempfile.TemporaryDirectory(prefix="flashpath-sanitize-") as folder,
        Path(os.devnull).open("wb") as nowhere,
    ):
        record = Path(folder) / "record.jsonl"
        output = None if shown else nowhere.fileno()
        how = programs.Run(timeout, {**options, "record": record}, output=output)
        code = programs.run(recipe, arguments, how)
        if not record.exists():
            return code, recorded.Recording()
        return code, recorded.read(record, HostCode(programs.build(recipe)))
