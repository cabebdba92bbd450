"""Pages of docs/results/ about machines: programs on a GPU, the cost of a launch, the virtual GPU's speed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flashpath.bench.report import cell, code
from flashpath.errors import FlashpathError

_Record = Mapping[str, Any]


def machine_pages(results: Path) -> dict[str, tuple[str, list[str]]]:
    """Returns by name the title and the body of each page; a body is empty where nothing was measured."""

    def sections(kind: str, what: str, section: Callable[[_Record], list[str]]) -> list[str]:
        return _sections(results, kind, what, section)

    return {
        "programs": (
            "What programs print on a GPU",
            sections("demonstrations", "demonstrations", demonstrations),
        ),
        "launches": (
            "What a launch costs the host",
            sections("launch-cost", "launch costs", launch_costs),
        ),
        "calls": (
            "What an eager call costs the host",
            sections("call-cost", "call costs", call_costs),
        ),
        "virtual-gpu": (
            "How fast the virtual GPU is",
            sections("vgpu", "the virtual GPU's speed", virtual_gpu)
            + sections("program-start", "program starts", program_starts),
        ),
    }


def _sections(results: Path, kind: str, what: str, section: Callable[[_Record], list[str]]) -> list[str]:
    """Returns a section for each record of a kind, one per measured machine, and what makes such records."""
    program = f"{kind.replace('-', '_')}.py"
    parts: list[str] = []
    for file in sorted(results.glob(f"*-{kind}.json")):
        try:
            parts += [*section(json.loads(file.read_text(encoding="utf-8"))), ""]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise FlashpathError(
                "bench.no-record-of", file=file, what=what, why=why, program=program, name=file.name
            ) from None
    if parts:
        command = f"python benchmarks/{program} --json benchmarks/results/<machine>-{kind}.json"
        parts += [f"`{command}` makes such a record.", ""]
    return parts


def launch_costs(record: _Record) -> list[str]:
    """What a launch costs the host."""
    rows = [f"| {code(name)} | {cost:.2f} |" for name, cost in record["microseconds"].items()]
    parts = [f"## Host cost of one launch, {record['gpu']}", ""]
    return [*parts, "| way | µs |", "| --- | ---: |", *rows]


def call_costs(record: _Record) -> list[str]:
    """What an eager call of each operator costs beside torch's own, and what its first call does."""
    commit = f"commit {record['commit'][:10]}{' with changes' if record['dirty'] else ''}"
    marked = [call for call in record["calls"] if call["mark"] is not None]
    met = sum(call["ratio"] <= call["mark"] for call in marked) + (record["launch"] <= record["launch_mark"])
    parts = [
        f"## Host time of one eager call, {record['gpu']}",
        "",
        f"Small tensors, calls in a row that nobody waits for; torch {record['torch']}, {commit}.",
        f"{met} of {len(marked) + 1} marks are met. A bare `kernel[grid, block](…)` takes "
        f"{record['launch']:.1f} µs, and {record['launch_mark']:.0f} are allowed.",
        "",
        "| operator | mode | µs | torch, µs | × torch | at most | |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for call in record["calls"]:
        mark = " | " if call["mark"] is None else f"{call['mark']:.1f} | "
        if call["mark"] is not None:
            mark += "met" if call["ratio"] <= call["mark"] else "missed"
        parts.append(
            f"| {code(call['operator'])} | {call['mode']} | {call['ours']:.1f} | {call['torch']:.1f} | "
            f"{call['ratio']:.2f} | {mark} |"
        )
    if record["first_calls"]:
        parts += ["", f"## First calls, {record['gpu']}", ""]
        parts += [
            "Milliseconds until the GPU has done it, each in a process that made no such call before.",
            "",
        ]
        names = list(record["first_calls"])
        parts.append(f"| operator | {' | '.join(f'{name} | torch' for name in names)} |")
        parts.append(f"| --- |{' ---: |' * 2 * len(names)}")
        for operator in record["first_calls"][names[0]]:
            cells = [record["first_calls"][name][operator] for name in names]
            times = " | ".join(f"{each['ours']:.1f} | {each['torch']:.1f}" for each in cells)
            parts.append(f"| {code(operator)} | {times} |")
    return parts


def demonstrations(record: _Record) -> list[str]:
    """What the programs print, word for word."""
    commit = f"commit {record['commit'][:10]}{' with changes' if record['dirty'] else ''}"
    parts = [
        f"## Programs on a real GPU, {record['gpu']}",
        "",
        f"`programs/`, as `flashpath run` starts them; {commit}.",
    ]
    for name, words in record["printed"].items():
        parts += ["", f"{code(name)}:", "", "```text", words, "```"]
    return parts


def program_starts(record: _Record) -> list[str]:
    """What it takes to start a whole program on the virtual GPU."""
    parts = [f"## Whole programs on the virtual GPU, {record['cpu']}", ""]
    parts += ["| what | ms | at most | |", "| --- | ---: | ---: | --- |"]
    for name, taken in record["seconds"].items():
        mark = " | "
        if (most := record["marks"].get(name)) is not None:
            mark = f"{most * 1e3:.0f} | {'met' if taken <= most else 'missed'}"
        parts.append(f"| {cell(name)} | {taken * 1e3:.1f} | {mark} |")
    return [*parts, "", f"A cached start takes {record['ratio']:.0f} × the time of the program alone."]


def virtual_gpu(record: _Record) -> list[str]:
    """The virtual GPU's speed, and the ratios that are promised."""
    parts = [f"## The virtual GPU on one core, {record['cpu']}", ""]
    parts += ["| case | implementation | ms | p20 … p80 | M thread-instructions/s |"]
    parts += ["| --- | --- | ---: | ---: | ---: |", *speed_rows(record["milliseconds"]), ""]
    parts += ["| mark | at least | found | |", "| --- | ---: | ---: | --- |"]
    parts += [mark_row(mark) for mark in record["marks"]]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items() if version)
    commit = f"commit {record['commit'][:10]}{' with changes' if record['dirty'] else ''}"
    return [*parts, "", f"Measured with {versions}, {commit}."]


def speed_rows(cases: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    rows: list[str] = []
    for case, figures in cases.items():
        for name, figure in figures.items():
            if figure["error"]:
                rows.append(f"| {cell(case)} | {cell(name)} | – | {cell(figure['error'])} | |")
                continue
            note = f" ({figure['note']})" if figure["note"] else ""
            rate = f"{figure['instructions'] / figure['median'] / 1e3:,.0f}" if figure["instructions"] else ""
            spread = f"{figure['p20']:,.2f} … {figure['p80']:,.2f}"
            rows.append(
                f"| {cell(case)} | {cell(name + note)} | {figure['median']:,.2f} | {spread} | {rate} |"
            )
    return rows


def mark_row(mark: Mapping[str, Any]) -> str:
    found = "not measured" if mark["ratio"] is None else f"{mark['ratio']:,.2f} ×"
    verdict = "met" if mark["is_met"] else "missed"
    return (
        f"| {cell(mark['what'])} | {mark['at_least']:,.2f}".removesuffix(".00")
        + f" × | {found} | {verdict} |"
    )
