"""What a library call does without: the command line's and the plots' packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

# No module of these names can be found; whoever imports one fails.
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"matplotlib", "typer", "rich", "click", "pygments", "tvm_ffi"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


def _run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script], capture_output=True, text=True, check=False, timeout=120
    )


def test_operators_work_without_the_command_lines_and_plots_packages() -> None:
    done = _run("""
import torch
import flashpath as fp
import flashpath.bench, flashpath.compat, flashpath.jit, flashpath.kernels, flashpath.ops
x = torch.randn(3, 40)
torch.testing.assert_close(flashpath.ops.softmax(x), x.softmax(-1))
assert fp.export
print("right")
""")
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize("name", ["matplotlib", "typer", "rich"])
def test_they_are_missing_indeed(name: str) -> None:
    assert f"No module named '{name}'" in _run(f"import {name}").stderr
