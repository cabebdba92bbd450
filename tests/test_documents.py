"""Documents that were run: the pages' commands and code, the table of variables, what is generated."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from flashpath import settings
from flashpath.cli import app
from flashpath.documents import with_section, write_section
from flashpath.errors import FlashpathError
from flashpath.jit import device
from flashpath.vgpu import runtime_calls
from flashpath.vgpu.instructions import document as instructions

ROOT = Path(__file__).parent.parent
READMES = ["README.md", "README.zh.md"]
# Pages whose commands and code are run; each has the same in Chinese.
PAGES = ["README.md", "docs/python.md", "docs/commands.md"]
TRANSLATED = sorted(
    str(page.relative_to(ROOT)).replace(".zh.md", ".md")
    for page in [*ROOT.glob("*.zh.md"), *ROOT.glob("docs/*.zh.md")]
)


# What stands before the page's launches of Triton kernels.
TRITON_KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, i < n), i < n)

kernel, grid = double, (5,)
x, y, n = torch.ones(5000), torch.zeros(5000), 5000
"""


def in_chinese(page: str) -> str:
    return page.replace(".md", ".zh.md")


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = [
        line.partition("  #")[0].strip()
        for page in PAGES
        for block in blocks(page, "sh")
        for line in block.splitlines()
    ]
    return [line for line in lines if line.startswith("flashpath")]


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_pages_runs(command: str) -> None:
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


def test_readme_way_into_the_course_runs(tmp_path: Path) -> None:
    """Line by line in a folder of its own, with progress of its own; the last watches until it is stopped."""
    (block,) = blocks("README.md", "sh learning")
    *lines, watch = [line.partition("  #")[0].strip() for line in block.splitlines()]
    assert watch == "flashpath watch"
    folder = tmp_path
    variables = {**os.environ, "FLASHPATH_HOME": str(tmp_path / "home")}
    for line in lines:
        program, *words = shlex.split(line)
        if program == "cd":
            folder = folder / words[0]
            continue
        done = subprocess.run(
            [sys.executable, "-m", "flashpath.cli", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=variables,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
    watching = subprocess.Popen(
        [sys.executable, "-m", "flashpath.cli", "watch"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**variables, "PYTHONUNBUFFERED": "1"},
    )
    assert watching.stdout is not None
    try:
        assert watching.stdout.readline()
    finally:
        watching.kill()
        watching.wait()


def test_the_python_of_the_pages_runs(tmp_path: Path) -> None:
    """The pages in Chinese hold the same code."""
    code = blocks("docs/python.md", "python")
    gpu = blocks("docs/python.md", "python gpu") if device.count() else []
    assert len(code) == 7
    program = tmp_path / "pages.py"  # Triton reads the source of a kernel from its file
    program.write_text(
        "\n".join([*blocks("README.md", "python"), *code[:4], *gpu, *code[4:]]), encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("torch.Size([1, 40, 2, 32])\n")
    assert "saxpy<float>(int, float, const float*, float*)" in done.stdout
    assert "#blocked = #ttg.blocked<" in done.stdout
    assert "saxpy<float> on the virtual GPU (H200)" in done.stdout
    assert "vector_add_kernel on the virtual GPU (A100)" in done.stdout
    assert "1M doubles" in done.stdout


def test_the_code_of_the_virtual_gpus_page_runs(tmp_path: Path) -> None:
    launches, traces, findings, triton = blocks("docs/vgpu.md", "python")
    module = tmp_path / "page.py"  # Triton reads the source of a kernel from its file
    module.write_text("\n".join([launches, traces, findings, TRITON_KERNEL, triton]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(module)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert "saxpy on the virtual GPU (A100)" in done.stdout
    assert "\n(0, 1, 2, 3, 4, 5, 6, 7)\n32\n" in done.stdout
    assert "double on the virtual GPU (RTX 4090)" in done.stdout


def test_the_code_of_the_page_on_libraries_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks("docs/export.md", "python"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert "launches saxpy with grid (cdiv(x.shape[0], 256), 1, 1), block (256, 1, 1)" in done.stdout
    assert "6 softmax(x: float32[·, ·] | bfloat16[·, ·], " in done.stdout
    assert sorted(file.name for file in (tmp_path / "build").iterdir()) == ["saxpy.so", "softmax.so"]


def test_the_code_of_the_page_on_modules_runs() -> None:
    pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    shown = dict(
        zip(("en", "zh"), (*blocks("docs/nn.md", "text"), *blocks("docs/nn.zh.md", "text")), strict=True)
    )
    for language, report in shown.items():
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(blocks("docs/nn.md", "python"))],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "FLASHPATH_LANG": language},
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{report}torch.Size([1, 1, 64]) 10\n"


def test_the_pages_say_how_the_command_is_found() -> None:
    for readme in READMES:
        assert "`source .venv/bin/activate`" in (ROOT / readme).read_text(encoding="utf-8")
    block = next(block for block in blocks("docs/commands.md", "sh") if "flashpath tour" in block)
    assert block.startswith("source .venv/bin/activate\n")


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_page_holds_the_same_code_in_both_languages(page: str) -> None:
    def bare(text: str) -> str:
        return re.sub(r"\s*#.*", "", text)

    for language in ("sh", "sh learning", "python", "python gpu"):
        assert [bare(block) for block in blocks(in_chinese(page), language)] == [
            bare(block) for block in blocks(page, language)
        ]


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_page_has_the_same_sections_in_both_languages(page: str) -> None:
    english, chinese = (
        re.findall(r"^#{1,3}(?= )", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in (page, in_chinese(page))
    )
    assert english == chinese


def test_what_an_index_shows_has_no_link_that_leads_nowhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shown = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text: str = (ROOT / shown["fragments"][0]["path"]).read_text(encoding="utf-8")
    for each in shown["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    assert [target for target in re.findall(r"\]\(([^)]+)\)", text) if not target.startswith("http")] == []
    assert "all operators (`docs/ops.md`)" in text
    assert "Apache-2.0 (`LICENSE`)" in text
    assert "`docs/results.md` is generated" in text


def test_the_readmes_are_short() -> None:
    assert all(len((ROOT / readme).read_text(encoding="utf-8").splitlines()) <= 126 for readme in READMES)


def test_every_page_is_in_the_index() -> None:
    for index in ("README.md", "README.zh.md"):
        linked = set(re.findall(r"\]\(([\w.]+\.md)\)", (ROOT / "docs" / index).read_text(encoding="utf-8")))
        for page in ROOT.glob("docs/*.md"):
            stem = page.name.partition(".")[0]
            assert linked & {f"{stem}.md", f"{stem}.zh.md"}, f"docs/{index} does not link to {page.name}"


def test_both_readmes_name_the_same_folders() -> None:
    folders, chinese_folders = (
        re.findall(r"^\| `([\w/]+/)` \|", (ROOT / readme).read_text(encoding="utf-8"), re.MULTILINE)
        for readme in READMES
    )
    assert folders == chinese_folders
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert len(folders) > 5


def test_the_page_of_commands_lists_every_environment_variable() -> None:
    for variable in settings.VARIABLES:
        row = f"| `{variable.name}` | {variable.default} | {variable.meaning}"
        assert row in (ROOT / "docs/commands.md").read_text(encoding="utf-8")
        assert f"| `{variable.name}` |" in (ROOT / "docs/commands.zh.md").read_text(encoding="utf-8")


def test_contributing_names_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = (each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    rooms = [re.sub(r" \|.*|[()]", "", layer) for layer in layers]
    assert f"`{' → '.join(rooms)}`" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        prose = re.sub(
            r"^```.*?^```|`[^`\n]*`", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        for target in re.findall(r"\]\(([^)#]+)\)", prose):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name} links to {target}"


PROSE = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")]
TOP = "src|tests|docs|benchmarks|course|programs"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_and_commands_of_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    history = page.name == "CHANGELOG.md"  # which names what was there once
    for path in re.findall(rf"`((?:{TOP})/[\w./-]*)`", text):
        assert history or (ROOT / path).exists() or (ROOT / "src/flashpath" / path).exists(), path
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in re.findall(r"`make ([a-z]+)", text):
        assert target in targets, f"make {target}"
    for module in re.findall(r"python -m (flashpath[\w.]+)", text):
        assert history or importlib.util.find_spec(module), module
    group: Any = typer.main.get_command(app)
    for name, words in re.findall(r"`flashpath ([a-z][a-z-]*)([^`\n]*)`", text):
        assert name in group.commands, f"flashpath {name}"
        options = {option for parameter in group.commands[name].params for option in parameter.opts}
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", words.partition(" -- ")[0]):
            assert history or option in options | {"--help"}, f"flashpath {name} {option}"


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


def test_a_section_has_its_place_in_a_document() -> None:
    text = "# A\n<!-- mine: begin -->\nold\n<!-- mine: end -->\nb\n"
    assert with_section(text, "mine", "new\n") == "# A\n<!-- mine: begin -->\nnew\n<!-- mine: end -->\nb\n"
    with pytest.raises(FlashpathError, match=r"'yours'(?s:.*)<!-- yours: begin -->"):
        with_section(text, "yours", "new\n")


@pytest.mark.parametrize("page", ["vgpu.md", "vgpu.zh.md"])
def test_the_instructions_are_those_that_the_engine_knows(page: str) -> None:
    out_of_date = write_section(ROOT / "docs" / page, instructions.SECTION, instructions.section, check=True)
    assert not out_of_date, "`make figures` writes it again"


def picture_text(svg: str) -> list[str]:
    """The lines of a picture that rich drew: its pieces of text, put together by their height."""
    lines: dict[float, list[tuple[float, str]]] = {}
    body = svg[svg.rindex("-matrix") :]
    for x, y, text in re.findall(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', body):
        lines.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    return ["".join(piece for _, piece in sorted(lines[y])) for y in sorted(lines)]


def without_numbers(lines: list[str]) -> list[str]:
    """What does not change from run to run; spaces differ, since rich draws no blank pieces."""
    blanked = (
        re.sub(r"\s+|[\d,.]+", lambda found: "" if found[0].isspace() else "#", line) for line in lines
    )
    return [line for line in blanked if line]


@pytest.mark.skipif(device.count() > 0, reason="the picture is of a machine without a GPU")
def test_the_picture_of_the_tour_shows_this_tour(tmp_path: Path) -> None:
    transcript = tmp_path / "tour.txt"
    done = subprocess.run(
        [sys.executable, "-m", "flashpath.cli", "tour", "--save", str(transcript)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    picture = picture_text((ROOT / "docs" / "tour.svg").read_text(encoding="utf-8"))
    fresh = transcript.read_text(encoding="utf-8").splitlines()
    assert len(fresh) > 20
    assert without_numbers(picture) == without_numbers(fresh), "`make figures` draws it again"


@pytest.mark.parametrize("page", ["programs.md", "programs.zh.md"])
def test_the_list_of_runtime_calls_is_that_of_the_library(page: str) -> None:
    out_of_date = write_section(
        ROOT / "docs" / page, runtime_calls.SECTION, runtime_calls.section, check=True
    )
    assert not out_of_date, "`make figures` writes it again"
    assert "other" not in runtime_calls.by_topic()


def test_what_is_found_in_host_code_is_shown_as_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, _, section = (ROOT / "docs" / "programs.md").read_text().partition("## What is wrong with host code\n")
    shown = re.search(r"^```sh\n(.*?)\n(.*?)\n```\n+```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert shown is not None
    save, look, expected = shown.groups()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLASHPATH_LANG", "en")
    assert CliRunner().invoke(app, shlex.split(save)[1:]).exit_code == 0
    done = CliRunner().invoke(app, shlex.split(look)[1:])
    of_program, _ = capfd.readouterr()
    assert of_program + done.stdout == expected
