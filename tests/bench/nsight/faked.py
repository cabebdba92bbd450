"""The command line on a machine that seems to have an H200; profilers that play what was recorded on one.

python faked.py profile FILE.cu --device cuda …
"""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
    "Counters on the target device 0.\n"
)


def put_tool(folder: Path, name: str, behaviour: str = "plays") -> None:
    """A profiler in a folder that is to be on PATH."""
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} --tool {name} {behaviour} "$@"\n')
    script.chmod(0o755)


def play(name: str, behaviour: str, words: list[str]) -> int:
    """What the profiler does: it runs the program, and leaves its report."""
    if behaviour == "fails":
        print("==ERROR== Unknown error: the profiler is out of order", flush=True)
        return 1
    if behaviour == "leaves":  # something that has detached itself stays behind
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    if behaviour == "hangs":
        time.sleep(600)
    at = next(at for at, word in enumerate(words) if word.endswith("launcher.py"))
    code = subprocess.call(words[at - 3 :], close_fds=False)
    if name == "ncu":
        text = (RECORDED / "pipeline.csv").read_text() if behaviour != "refused" else PERMISSION
        Path(words[words.index("--log-file") + 1]).write_text(text)
    elif behaviour == "no-importer":
        print("Importer error status: An unknown error occurred.\nGenerated:\n    timeline.qdstrm")
    else:
        print("Generating 'timeline.qdstrm'\n[1/2] [0%] timeline.nsys-rep\r[1/2] [100%] timeline.nsys-rep")
        output = next(word for word in words if word.startswith("--output=")).removeprefix("--output=")
        restore(Path(f"{output}.sqlite"))
    return code


def restore(database: Path) -> Path:
    """The recorded timeline as nsys exports it."""
    with contextlib.closing(sqlite3.connect(database)) as opened:
        opened.executescript((RECORDED / "pipeline.sql").read_text())
    return database


def start() -> None:
    """The command, where the driver seems to tell of an H200."""
    from flashpath.cli import main
    from flashpath.jit import device

    h200 = device.CudaDevice(
        index=0,
        name="NVIDIA H200",
        capability=(9, 0),
        sm_count=132,
        max_shared_per_block=232_448,
        max_grid=(2**31 - 1, 65_535, 65_535),
        max_block=(1024, 1024, 64),
        max_threads_per_block=1024,
        shared_per_sm_bytes=233_472,
        l2_bytes=62_914_560,
        memory_bytes=150_000_000_000,
        memory_clock_khz=3_201_000,
        memory_bus_bits=6144,
    )
    setattr(device, "devices", lambda: (h200,))  # noqa: B010 - a checker of types would refuse it
    main()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tool"]:
        sys.exit(play(sys.argv[2], sys.argv[3], sys.argv[4:]))
    start()
