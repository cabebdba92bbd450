"""Measure the golden kernels with Nsight Compute on a GPU, and write its counts to a file.

    python tests/vgpu/golden/make_golden.py [--output FILE] [--compare] [--all] [--log FILE]

`--compare` also runs every case on the virtual GPU and prints where it counts or computes otherwise;
test_golden.py compares the counts without a GPU, from the file. `--all` prints all that was measured.

The program runs itself under `ncu`, which replays every kernel as often as its counters need. Clocks are left
as they are: no count depends on them.
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from golden_cases import CASES, SOURCE, Case, source_digest
from golden_metrics import ALSO, EQUAL, GOLDEN, METRICS, differences, read_csv, read_golden, write_golden

import flashpath as fp
from flashpath.bench import read_environment
from flashpath.errors import FlashpathError

NCU = (
    *("ncu", "--target-processes", "all", "--kernel-name", "regex:^golden_"),
    *("--clock-control", "none", "--cache-control", "none"),
    *("--csv", "--page", "raw", "--print-units", "base"),
)


def gpu_arch(torch: Any) -> str:
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}"


def launch_all() -> None:
    """Every case once, in order; this is what the profiler watches."""
    torch: Any = importlib.import_module("torch")
    for case in CASES.values():
        launch(case, gpu_arch(torch), "cuda")


def launch(case: Case, arch: str, device: str) -> list[bytes]:
    """Run a case on tensors of that device; the bytes of all its arrays after it."""
    torch: Any = importlib.import_module("torch")
    arguments = [
        torch.from_numpy(argument).to(device) if hasattr(argument, "dtype") else argument
        for argument in case.make_arguments()
    ]
    fp.compile(SOURCE, arch)[case.kernel].launch(case.grid, case.block, arguments, case.shared)
    arrays = [argument.cpu().numpy() for argument in arguments if hasattr(argument, "dtype")]
    return [array.tobytes() for array in arrays]


def known_metrics() -> set[str]:
    """The metrics, without their suffixes, that this profiler has for this GPU."""
    done = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, check=True, timeout=300)
    return {line.split()[0] for line in done.stdout.splitlines() if re.match(r"\w+__\w+\s", line)}


def profile(metrics: Sequence[str], log: Path) -> list[tuple[str, dict[str, int]]]:
    """What the profiler counts at each launch. Metrics it does not know are left out."""
    wanted = list(metrics)
    while True:
        program = (sys.executable, __file__, "--launch")
        done = subprocess.run(
            [*NCU, "--metrics", ",".join(wanted), "--log-file", str(log), *program],
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )
        said = (log.read_text(encoding="utf-8") if log.is_file() else "") + done.stdout + done.stderr
        refused = [name for name in wanted if re.search(rf"(?i)find metric.*{re.escape(name)}", said)]
        if done.returncode == 0 and not refused:
            return read_csv(said)
        if not refused:
            # Something else is wrong; most likely it is with the metrics that are not needed.
            refused = [name for name in wanted if name not in EQUAL.values()]
        if not refused:
            raise SystemExit(f"ncu failed with {done.returncode}:\n{said[-8000:]}")
        print(
            f"ncu said ({done.returncode}):\n{said[-1500:]}\nand is asked again, without",
            *refused,
            sep="\n  ",
        )
        wanted = [name for name in wanted if name not in refused]


def measure(log: Path) -> dict[str, dict[str, int]]:
    """The metrics of each case."""
    known = known_metrics()
    # What is needed is asked for in any case; names without a unit's prefix are derived, and never listed.
    wanted = [
        name
        for name in METRICS
        if name.partition(".")[0] in known or name in EQUAL.values() or not re.match(r"(l1tex|smsp)__", name)
    ]
    print("not known to this profiler:", *(name for name in METRICS if name not in wanted), sep="\n  ")
    launches = profile(wanted, log)
    expected = [case.kernel for case in CASES.values()]
    if [name.partition("(")[0] for name, _ in launches] != expected:
        raise SystemExit(f"{len(launches)} launches were profiled, but {len(expected)} were made.")
    return {case: values for case, (_, values) in zip(CASES, launches, strict=True)}


def version_of(command: str) -> str:
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip().splitlines()[-1]


def toolkit() -> str:
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
    _, major, minor = nvrtc.nvrtcVersion()
    return f"NVRTC {major}.{minor}"


def compare(record: dict[str, Any]) -> None:
    """Print every case on which the virtual GPU and the hardware disagree, and how many agree."""
    agree = 0
    for name, measured in record["cases"].items():
        try:
            case = CASES[name]
            kernel = fp.compile(SOURCE, record["arch"])[case.kernel]
            report = fp.profile(kernel, case.grid, case.block, case.make_arguments(), shared=case.shared)
        except FlashpathError as error:
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        lines = differences(report, measured)
        agree += not lines
        for line in lines:
            print(f"{name}: {line}")
    print(f"{agree} of {len(record['cases'])} cases agree in all counters")


def compare_results(record: dict[str, Any]) -> None:
    """Print the cases whose results differ in any bit; where threads race, or add in any order, they may."""
    differing: list[str] = []
    for name, case in CASES.items():
        try:
            virtual = launch(case, record["arch"], "cpu")
        except FlashpathError:
            continue  # the comparison of counts has said why
        if virtual != launch(case, record["arch"], "cuda"):
            differing.append(name)
    print(f"results differ in {len(differing)} cases:", *differing, sep="\n  ")


def print_all(record: dict[str, Any]) -> None:
    """Everything that was measured and is not zero."""
    for name, measured in record["cases"].items():
        shown = {metric: value for metric, value in measured.items() if metric in ALSO and value}
        print(name, *(f"  {metric} {value:,}" for metric, value in shown.items()), sep="\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=GOLDEN)
    parser.add_argument(
        "--compare", action="store_true", help="also run the virtual GPU, and print differences"
    )
    parser.add_argument("--all", action="store_true", help="print every metric that was measured")
    parser.add_argument("--log", type=Path, help="keep the profiler's output here")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.launch:
        launch_all()
        return 0
    torch: Any = importlib.import_module("torch")
    if not torch.cuda.is_available():
        print("make_golden.py measures on a GPU, and this machine has none.", file=sys.stderr)
        return 3
    environment = read_environment("cuda")
    with tempfile.TemporaryDirectory() as folder:
        cases = measure(options.log or Path(folder) / "ncu.csv")
    machine = {
        "gpu": environment.gpu,
        "driver": environment.driver,
        "profiler": version_of("ncu"),
        "toolkit": toolkit(),
        "arch": gpu_arch(torch),
        "source": source_digest(),
    }
    write_golden(options.output, machine, cases)
    record = read_golden(options.output)
    if options.all:
        print_all(record)
    if options.compare:
        compare(record)
        compare_results(record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
