"""Documents that were run: the README's commands and code, its table of variables, generated figures."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from flashpath import settings
from flashpath.jit import device

ROOT = Path(__file__).parent.parent
READMES = ["README.md", "README.zh.md"]


def blocks(readme: str, language: str) -> list[str]:
    text = (ROOT / readme).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = [
        line.partition("  #")[0].strip() for block in blocks("README.md", "sh") for line in block.splitlines()
    ]
    return [line for line in lines if line.startswith("flashpath")]


@pytest.mark.parametrize("command", commands())
def test_readme_command_runs(command: str) -> None:
    _, *words = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", "flashpath.cli", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("readme", READMES)
def test_readme_python_runs(readme: str) -> None:
    code = blocks(readme, "python")
    gpu = blocks(readme, "python gpu") if device.count() else []
    assert len(code) == 2
    program = "\n".join([code[0], *gpu, code[1]])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert "saxpy<float>(int, float, const float*, float*)" in done.stdout
    assert "1M doubles" in done.stdout


@pytest.mark.parametrize("readme", READMES)
def test_both_readmes_hold_the_same_code(readme: str) -> None:
    def bare(text: str) -> str:
        return re.sub(r"\s*#.*", "", text)

    for language in ("sh", "python", "python gpu"):
        assert [bare(block) for block in blocks(readme, language)] == [
            bare(block) for block in blocks("README.md", language)
        ]


def test_readme_lists_every_environment_variable() -> None:
    for variable in settings.VARIABLES:
        row = f"| `{variable.name}` | {variable.default} | {variable.meaning}"
        assert row in (ROOT / "README.md").read_text(encoding="utf-8")
        assert f"| `{variable.name}` |" in (ROOT / "README.zh.md").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        prose = re.sub(
            r"^```.*?^```|`[^`\n]*`", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        for target in re.findall(r"\]\(([^)#]+)\)", prose):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_results_are_generated_from_the_records() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/report.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr


def test_the_picture_of_the_tour_shows_this_tour() -> None:
    """Its fixed sentences are those of the code; times and versions may differ."""
    picture = (ROOT / "docs" / "tour.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    for sentence in ("from its source to its result", "__global__", "flashpath ladder vector_add", "4. Next"):
        assert sentence in picture
