"""What compute-sanitizer says of the planted bugs and of the correct kernels, written to verdicts.json.

    python tests/vgpu/sanitizer/make_verdicts.py                    all of it, where there is an NVIDIA GPU
    python tests/vgpu/sanitizer/make_verdicts.py --prepare FOLDER   in three steps: write the programs,
    python3 FOLDER/make_verdicts.py --run FOLDER                    compile and run them, with nvcc and
    python tests/vgpu/sanitizer/make_verdicts.py --collect FOLDER   compute-sanitizer alone; read the logs

Each file of kernels becomes a program (host_program.h) that launches a kernel as a text file tells it to.
Planted bugs run one by one under every tool. Those that never end run last, one after the other, and are
killed after a while; correct kernels run file by file, and their results are checked too.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

HERE = Path(__file__).parent
VERDICTS = HERE / "verdicts.json"
TOOLS = {
    "memcheck": ["--leak-check", "full", "--check-device-heap", "yes"],
    "racecheck": ["--racecheck-report", "all"],
    "initcheck": [],
    "synccheck": [],
}
ENDLESS_TOOLS = ["memcheck", "synccheck"]  # of kernels that never end: the tools that could know
LONGEST = 60  # seconds, of a program that ends
PATIENCE = 5  # seconds, with one that does not
LAST_START = 200  # seconds after which nothing more is begun: machines are lent for a while

# ---- Writing programs ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A file of kernels, and the launches that are described for it."""

    name: str
    source: Path
    launches: tuple[str, ...]
    endless: tuple[str, ...]
    planted: bool


def _extent(value: int | Sequence[int]) -> str:
    extents = [value] if isinstance(value, int) else list(value)
    return " ".join(map(str, [*extents, 1, 1][:3]))


def _describe(case: Any, folder: Path) -> None:
    import numpy as np

    folder.mkdir(parents=True)
    rows = [f"kernel {case.kernel} {_extent(case.grid)} {_extent(case.block)} {case.shared}"]
    for k, argument in enumerate(case.arguments()):
        if argument is None:
            rows.append("null")
        elif isinstance(argument, np.ndarray):
            array = cast("np.ndarray[Any, Any]", argument)
            (folder / f"{k}.bin").write_bytes(array.tobytes())
            rows.append(f"array {array.nbytes} {k}.bin")
        else:
            number = (
                np.int32 if isinstance(argument, int) else np.float32 if isinstance(argument, float) else None
            )
            word = np.asarray(cast("Any", argument), number)
            rows.append(f"word {word.nbytes} {word.tobytes().hex()}")
    (folder / "launch").write_text("\n".join(rows) + "\n", encoding="utf-8")


def _write_program(folder: Path, program: Program) -> None:
    shutil.copy(program.source, folder / program.source.name)
    table = ", ".join(
        f'{{"{launch}", reinterpret_cast<const void*>(&{launch})}}'
        for launch in program.launches + program.endless
    )
    (folder / f"{program.name}.main.cu").write_text(
        f'#include "{program.source.name}"\n#include "host_program.h"\n'
        "const std::map<std::string, const void*>& kernels() {\n"
        f"  static const std::map<std::string, const void*> all{{{table}}};\n  return all;\n}}\n",
        encoding="utf-8",
    )


def prepare(folder: Path) -> None:
    """Write programs, launches and a list of them, and this script."""
    from correct_cases import CORRECT
    from planted_cases import PLANTED, source_of

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("host_program.h", Path(__file__).name):
        shutil.copy(HERE / name, folder / name)
    programs: list[Program] = []
    for file in dict.fromkeys(case.file for case in PLANTED):
        cases = [case for case in PLANTED if case.file == file and case.on_a_gpu]
        endless = tuple(case.kernel for case in cases if case.hangs)
        ending = tuple(case.kernel for case in cases if not case.hangs)
        programs.append(Program(f"planted-{file}", source_of(file), ending, endless, planted=True))
        for case in cases:
            _describe(case, folder / f"planted-{file}" / case.kernel)
    for source in dict.fromkeys(case.source for case in CORRECT):
        cases = [case for case in CORRECT if case.source == source]
        name = (
            f"correct-{source.stem}" if source.parent == HERE / "correct" else f"correct-ours-{source.stem}"
        )
        programs.append(Program(name, source, tuple(case.kernel for case in cases), (), planted=False))
        for case in cases:
            _describe(case, folder / name / case.kernel)
    for program in programs:
        # One folder per program: kernels of different folders may have the same file name.
        _write_program(_source_folder(folder, program.name), program)
    listed = [{**vars(program), "source": program.source.name} for program in programs]
    (folder / "programs.json").write_text(json.dumps(listed, indent=1), encoding="utf-8")


def _source_folder(folder: Path, name: str) -> Path:
    made = folder / "sources" / name
    made.mkdir(parents=True, exist_ok=True)
    return made


# ---- Running them --------------------------------------------------------------------------------------


def _listed(folder: Path) -> list[Program]:
    rows = json.loads((folder / "programs.json").read_text(encoding="utf-8"))
    return [
        Program(
            name=row["name"],
            source=Path(row["source"]),
            launches=tuple(row["launches"]),
            endless=tuple(row["endless"]),
            planted=row["planted"],
        )
        for row in rows
    ]


def _build(folder: Path, arch: str, program: Program) -> str | None:
    """Compile one program; what the compiler said if it failed."""
    command = [
        "nvcc",
        "-std=c++17",
        "-O2",
        "-lineinfo",
        f"-arch={arch}",
        "-diag-suppress",
        "20054",
        "-I",
        str(folder),
    ]
    command += ["-o", str(folder / program.name / "program")]
    done = subprocess.run(
        [*command, str(folder / "sources" / program.name / f"{program.name}.main.cu")],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else None


def _run(command: Sequence[str], log: Path, seconds: float) -> None:
    """Run a command into a log file; a process that does not end is killed, with what it started."""
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            out.write(f"exit code {process.wait(seconds)}\n")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            out.write(f"hangs: killed after {seconds:g} s\n")


def run(folder: Path, arch: str, patience: float, last_start: float) -> None:
    """Compile and run everything; the logs stay in FOLDER/logs."""
    began = time.monotonic()
    programs = _listed(folder)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = list(pool.map(functools.partial(_build, folder, arch), programs))
    for program, failure in zip(programs, failures, strict=True):
        if failure:
            print(f"{program.name} does not compile:\n{failure}")
    print(f"compiled after {time.monotonic() - began:.0f} s", flush=True)
    version = subprocess.run(
        ["compute-sanitizer", "--version"], capture_output=True, text=True, check=True
    ).stdout
    names = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu = subprocess.run(names, capture_output=True, text=True, check=True).stdout.strip()
    found = re.search(r"[Vv]ersion (\S+)", version)
    machine = {"compute-sanitizer": found[1] if found else version.strip(), "gpu": gpu}
    (logs / "machine.json").write_text(json.dumps(machine), encoding="utf-8")

    def command(program: Program, tool: str | None, launches: Sequence[str]) -> list[str]:
        descriptions = [str(folder / program.name / launch / "launch") for launch in launches]
        plain = [str(folder / program.name / "program"), *descriptions]
        if tool is None:
            return plain
        return ["compute-sanitizer", "--tool", tool, *TOOLS[tool], "--print-limit", "1000", *plain]

    ending: list[tuple[list[str], Path]] = []
    endless: list[tuple[list[str], Path]] = []
    for program in programs:
        if not program.planted:
            ending.append((command(program, None, program.launches), logs / f"{program.name}.plain"))
        for tool in TOOLS:
            if program.planted:
                ending += [
                    (command(program, tool, [launch]), logs / f"{program.name}.{launch}.{tool}")
                    for launch in program.launches
                ]
            else:
                ending.append((command(program, tool, program.launches), logs / f"{program.name}.{tool}"))
        endless += [
            (command(program, tool, [launch]), logs / f"{program.name}.{launch}.{tool}")
            for launch in program.endless
            for tool in ENDLESS_TOOLS
        ]

    def start(seconds: float, job: tuple[list[str], Path]) -> None:
        if time.monotonic() - began < last_start:
            _run(*job, seconds)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(functools.partial(start, LONGEST), ending))
    print(f"{len(ending)} runs ended after {time.monotonic() - began:.0f} s", flush=True)
    with concurrent.futures.ThreadPoolExecutor(len(ENDLESS_TOOLS)) as pool:  # one kernel after the other
        list(pool.map(functools.partial(start, patience), endless))
    print(f"{len(endless)} endless runs ended after {time.monotonic() - began:.0f} s", flush=True)


# ---- Reading the logs ----------------------------------------------------------------------------------

# Said of the program that was run, not of its kernel.
_ASIDE = re.compile(
    r"COMPUTE-SANITIZER|.* SUMMARY|Program hit|Target application|Process terminated|No attachable process|"
    r"Leaked \d+ bytes at 0x\w+$|Error: process didn't terminate|$"
)
_WHERE = re.compile(
    r" at __\w+__ 0x.*| at 0x\w+(?= on)|(?<=Leaked) \d+ bytes|\d+ (?=error)| at \S+\+0x.*| at void .*"
)


def reports(log: str) -> Iterator[list[str]]:
    """The reports in a log, each as its lines; those after the first are indented there."""
    current: list[str] = []
    for line in log.splitlines():
        if not line.startswith("========="):
            continue
        text = line.removeprefix("=========")
        if text.startswith("     "):
            current.append(text.strip())
            continue
        if current and not _ASIDE.match(current[0]):
            yield current
        current = [text.strip()]
    if current and not _ASIDE.match(current[0]):
        yield current


def _summary(report: list[str], source: str) -> tuple[str, tuple[int, ...]]:
    """What a report says, without its addresses, and the lines of the kernels' file that it names."""
    head = _WHERE.sub("", report[0]).strip()
    if found := re.search(r"Access (?:to|at) 0x\w+ is ([\w ]+)", "\n".join(report)):
        head += f", {found[1].strip()}"
    kernel = report[: next((k for k, line in enumerate(report) if "backtrace" in line), len(report))]
    named = re.findall(rf"{re.escape(source)}:(\d+)", "\n".join(kernel))
    return head, tuple(sorted({int(line) for line in named}))


def _verdict(log: Path, source: str) -> Any:
    if not log.is_file():
        return "not run"
    text = log.read_text(encoding="utf-8", errors="replace")
    if found := re.search(r"^hangs: killed after .*", text, re.MULTILINE):
        return found[0]
    counts: dict[tuple[str, tuple[int, ...]], int] = {}
    for report in reports(text):
        summary = _summary(report, source)
        counts[summary] = counts.get(summary, 0) + 1
    return [{"what": what, "lines": list(lines), "count": count} for (what, lines), count in counts.items()]


def collect(folder: Path, output: Path) -> None:
    """Read the logs; check the results of the correct kernels."""
    logs = folder / "logs"
    planted: dict[str, Any] = {}
    correct: dict[str, Any] = {}
    for program in _listed(folder):
        source = program.source.name
        if program.planted:
            for launch in program.launches + program.endless:
                tools = ENDLESS_TOOLS if launch in program.endless else list(TOOLS)
                verdicts = {
                    tool: _verdict(logs / f"{program.name}.{launch}.{tool}", source) for tool in tools
                }
                planted[launch] = {tool: verdict for tool, verdict in verdicts.items() if verdict}
        else:
            verdicts = {tool: _verdict(logs / f"{program.name}.{tool}", source) for tool in TOOLS}
            correct[program.name.removeprefix("correct-")] = {
                tool: verdict for tool, verdict in verdicts.items() if verdict
            }
            _check_results(folder, program)
    machine = json.loads((logs / "machine.json").read_text(encoding="utf-8"))
    verdicts = {"made on": machine, "planted": planted, "correct": correct}
    text = json.dumps(verdicts, indent=1)
    # A report a line: short enough to read, and to compare.
    text = re.sub(r"\{\s*(\"what\"[^{}]*?)\s*\}", lambda found: "{" + " ".join(found[1].split()) + "}", text)
    output.write_text(text + "\n", encoding="utf-8")
    print(f"{len(planted)} planted bugs and {len(correct)} files of correct kernels: {output}")


def _check_results(folder: Path, program: Program) -> None:
    import numpy as np
    from correct_cases import CORRECT

    for case in CORRECT:
        ours = case.source.parent != HERE / "correct"
        if program.name != f"correct-{'ours-' if ours else ''}{case.source.stem}":
            continue
        before = case.arguments()
        after: list[Any] = []
        for k, argument in enumerate(before):
            path = folder / program.name / case.kernel / f"{k}.bin.out"
            if isinstance(argument, np.ndarray):
                array = cast("np.ndarray[Any, Any]", argument)
                after.append(np.fromfile(path, array.dtype).reshape(array.shape))
            else:
                after.append(argument)
        case.check(before, after)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prepare", type=Path, metavar="FOLDER")
    parser.add_argument("--run", type=Path, metavar="FOLDER")
    parser.add_argument("--collect", type=Path, metavar="FOLDER")
    parser.add_argument("--arch", default="native", help="what nvcc compiles for")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds until an endless kernel is killed"
    )
    parser.add_argument(
        "--last-start", type=float, default=LAST_START, help="seconds after which nothing is begun"
    )
    parser.add_argument("--output", type=Path, default=VERDICTS)
    chosen = parser.parse_args()
    if chosen.prepare:
        prepare(chosen.prepare)
    if chosen.run:
        run(chosen.run, chosen.arch, chosen.patience, chosen.last_start)
    if chosen.collect:
        collect(chosen.collect, chosen.output)
    if not (chosen.prepare or chosen.run or chosen.collect):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "verdicts"
            prepare(folder)
            run(folder, chosen.arch, chosen.patience, chosen.last_start)
            collect(folder, chosen.output)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
