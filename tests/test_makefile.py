"""`make run` on machines that lack something, or whose checkout was moved: said, and mended."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or not MAKEFILE.is_file(), reason="needs make and a checkout"
)

# Stands for Python: `-m venv` makes an environment whose python writes down what it was asked for.
PYTHON = f"""#!/bin/sh
case "$*" in
  "-m venv .venv")
    mkdir -p .venv/bin
    cp "$0" .venv/bin/python
    [ -n "$WITHOUT_PIP" ] && exit 1
    echo "#!$(pwd)/.venv/bin/python" > .venv/bin/pip
    printf '#!%s\\necho toured' "$(command -v sh)" > .venv/bin/flashpath
    chmod +x .venv/bin/*;;
  "-m pip"*) echo "installed" ;;
  *) exec {sys.executable} "$@" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "src/flashpath/vgpu/engine").mkdir(parents=True)
    (folder / "src/flashpath/vgpu/runtime").mkdir()
    for name in ("pyproject.toml", "CMakeLists.txt"):
        (folder / name).touch()
    shutil.copy(MAKEFILE, folder / "Makefile")
    _program(tmp_path / "tools/python3", PYTHON)
    _program(tmp_path / "tools/c++", "#!/bin/sh\n")
    return folder


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _make(checkout: Path, **more: str) -> subprocess.CompletedProcess[str]:
    tools = checkout.parent / "tools"
    for name in ("sh", "make", "mkdir", "cp", "rm", "touch", "grep", "uname", "find", "chmod", "getconf"):
        found = shutil.which(name)
        if found and not (tools / name).exists():
            (tools / name).symlink_to(found)
    environment = {"PATH": str(tools), "HOME": os.environ.get("HOME", "/"), **more}
    return subprocess.run(
        ["make", "run"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_environment_that_was_made_half_way_is_made_anew(checkout: Path) -> None:
    first = _make(checkout, WITHOUT_PIP="1")
    assert first.returncode != 0
    assert "python3-venv" in first.stdout
    assert not (checkout / ".venv").exists()
    (checkout / ".venv/bin").mkdir(parents=True)  # as an older Makefile left it: a python without pip
    shutil.copy(checkout.parent / "tools/python3", checkout / ".venv/bin/python")
    second = _make(checkout)
    assert (second.returncode, "made anew" in second.stdout) == (0, True), second.stderr
    assert "toured" in second.stdout


def test_the_environment_of_a_moved_checkout_is_made_anew(checkout: Path) -> None:
    assert _make(checkout).returncode == 0
    moved = checkout.rename(checkout.with_name("moved"))
    done = _make(moved)
    assert done.returncode == 0, done.stderr
    assert "made anew" in done.stdout
    assert str(moved) in (moved / ".venv/bin/pip").read_text(encoding="utf-8")
    again = _make(moved)
    assert "anew" not in again.stdout
    assert "installed" not in again.stdout


def test_a_missing_compiler_is_told_before_anything_is_installed(checkout: Path) -> None:
    (checkout.parent / "tools/c++").unlink()
    done = _make(checkout)
    assert done.returncode != 0
    assert "no C++ compiler" in done.stdout
    assert "installed" not in done.stdout
    assert not (checkout / ".venv").exists()
    _program(checkout.parent / "tools/mine", "#!/bin/sh\n")
    assert _make(checkout, CXX="mine -O2").returncode == 0
