from __future__ import annotations

import subprocess
import sys

import flashpath.bench


def test_importing_the_benchmarks_loads_no_heavy_library() -> None:
    program = (
        "import sys, flashpath.bench\n"
        "print(*[name for name in ('torch', 'triton', 'rich', 'typer') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_public_name_is_there() -> None:
    promised = {
        "Case",
        "Implementation",
        "Record",
        "Timing",
        "append",
        "bench_ladder",
        "compare",
        "load",
        "load_function",
        "measure_ceilings",
        "time_interleaved",
    }
    assert promised <= set(flashpath.bench.__all__)
    assert all(hasattr(flashpath.bench, name) for name in flashpath.bench.__all__)
