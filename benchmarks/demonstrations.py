"""What the programs of the course print on this machine's GPU, kept for docs/results/programs.md.

    python benchmarks/demonstrations.py [--json benchmarks/results/<gpu>-demonstrations.json]

Each is started by `flashpath run`, twice: the second time it is in the cache and the GPU is warm, and what it
says is kept. The exit code is 1 where a program's own check failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from flashpath import settings
from flashpath.bench import read_environment
from flashpath.jit import device

SECONDS = 120  # far more than any takes: it hangs


FOLDERS = ("cuda", "triton", "flash_attention")


def programs() -> dict[str, Path]:
    """By their place in programs/, in the order of reading: CUDA C++, Triton, attention."""
    top = settings.content_dir("programs")
    found = [
        each
        for folder in FOLDERS
        for each in [*sorted((top / folder).glob("*")), *sorted((top / folder).glob("*/**/*"))]
        if each.suffix in (".cu", ".py")
    ]
    return {each.relative_to(top).as_posix(): each for each in found}


def words_of(program: Path) -> tuple[str, int]:
    command = [sys.executable, "-m", "flashpath.cli", "run", str(program), "--device", "cuda"]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)

    run()
    done = run()
    # Libraries warn on stderr of what is not ours; a program that fails says why there.
    return (done.stdout + done.stderr * bool(done.returncode)).rstrip(), done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the words here")
    options = parser.parse_args()
    if not device.count():
        print("demonstrations.py runs programs on a GPU, and this machine has none.", file=sys.stderr)
        return 3
    printed: dict[str, str] = {}
    failed: list[str] = []
    for name, program in programs().items():
        printed[name], code = words_of(program)
        print(f"== {name}: exit code {code}\n{printed[name]}", flush=True)
        if code:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    if options.json:
        environment = read_environment("cuda")
        record = {
            "gpu": environment.gpu,
            "driver": environment.driver,
            "commit": environment.commit,
            "dirty": environment.dirty,
            "printed": printed,
        }
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
