"""`flashpath read` and `flashpath resources`, on the tiny course of the tests."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from flashpath import settings
from flashpath.cli.commands import app
from flashpath.cli.learning import markdown
from flashpath.cli.shipped import shipped, shipped_function
from flashpath.course import making
from flashpath.course.content import load_course
from flashpath.course.content.directives import output_name
from flashpath.course.figures.drawing import Picture
from flashpath.course.workspace import Workspace
from flashpath.errors import FlashpathError

TINY = Path(__file__).parent.parent / "course" / "fixtures" / "tiny"


@pytest.fixture(autouse=True)
def _tiny_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("flashpath.course.figures.units.tiny")
    vars(module)["cells"] = lambda: Picture().grid([range(4)], [[0, 0, 1, 1]]).both()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    root = tmp_path / "course"
    shutil.copytree(TINY, root)
    unit = load_course(root).unit("doubling")
    made = making.draw(unit, unit.figures[0])
    made[unit.folder / "outputs" / f"{output_name('flashpath explain-finding race')}.txt"] = "# race\nsaid\n"
    making.store(unit, made)
    real = settings.content_dir

    def content_dir(name: str) -> Path:
        return root if name == "course" else real(name)

    monkeypatch.setattr(settings, "content_dir", content_dir)
    monkeypatch.setenv("FLASHPATH_LANG", "en")
    monkeypatch.setenv("FLASHPATH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def flashpath(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_the_list_of_units() -> None:
    text = flashpath("read")
    assert "01-doubling" in text
    assert "planned" in text
    assert "flashpath read UNIT" in text
    chinese = flashpath("read", "--lang", "zh")
    assert "计划中" in chinese
    assert "加倍" in chinese
    found = json.loads(flashpath("read", "--json"))
    assert [each["status"] for each in found] == ["ready", "planned"]
    assert found[0]["exercises"][-1] == "quiz"


def test_a_lesson_is_markdown_in_a_pipe() -> None:
    text = flashpath("read", "doubling")
    assert text.startswith("# Doubling\n\n*01-doubling · 30 min*\n")
    assert "- double an array" in text
    assert "│0 1│2 3│" in text
    assert "## Further reading" in text
    assert "(file:///" in text  # a terminal opens the task
    assert flashpath("read", "1-doubling".replace("1", "01"), "--lang", "zh").startswith("# 加倍")


def test_a_lesson_for_programs() -> None:
    found = json.loads(flashpath("read", "doubling", "--json"))
    assert found["unit"] == "01-doubling"
    assert found["markdown"].startswith("# Doubling")
    assert found["checkpoints"] == [{"id": "why-two", "ask": "Why two?"}]


def test_a_planned_unit_shows_its_goals() -> None:
    text = flashpath("read", "later")
    assert "not written yet" in text
    assert "- wait" in text


def test_in_a_work_folder_links_lead_to_ones_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Workspace.create("short", tmp_path / "work", "zh")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("FLASHPATH_LANG")
    text = flashpath("read", "doubling")
    assert text.startswith("# 加倍")  # the folder's language
    assert (tmp_path / "work").resolve().as_uri() in text
    assert "加倍" in flashpath("resources", "--week", "1")


@pytest.mark.parametrize("name", ["docs/attention", "docs/attention.md", "docs/attention.zh.md"])
def test_a_page_that_a_lesson_names(name: str) -> None:
    assert flashpath("read", name).startswith("# Attention")
    assert flashpath("read", name, "--lang", "zh").startswith("# 注意力")
    assert json.loads(flashpath("read", name, "--json"))["markdown"].startswith("# Attention")


def test_pages_of_results_are_in_english_only() -> None:
    words = ["read", "docs/results/attention"]
    assert flashpath(*words) == flashpath(*words, "--lang", "zh")


@pytest.mark.parametrize("name", ["docs/atention", "docs/../README", "docs/"])
def test_a_page_of_nobody(name: str) -> None:
    with pytest.raises(FlashpathError, match="There is no page"):
        flashpath("read", name)


def test_a_unit_of_nobody() -> None:
    with pytest.raises(FlashpathError, match="Did you mean doubling"):
        flashpath("read", "dubling")
    with pytest.raises(FlashpathError, match="one of en, zh"):
        flashpath("read", "doubling", "--lang", "fr")


def test_all_resources() -> None:
    text = flashpath("resources")
    assert "## Documents" in text
    assert "[CUDA C++ Programming Guide](https://" in text
    assert "NVIDIA. The reference." in text
    assert "一个论坛" in flashpath("resources", "--lang", "zh")
    assert [each["key"] for each in json.loads(flashpath("resources", "--json"))] == ["guide", "forum"]


def test_resources_of_a_week() -> None:
    for week in ("1", "2", "1-2"):
        text = flashpath("resources", "--track", "short", "--week", week)
        assert "## Week 1–2: Doubling" in text
        assert "**1-3**" in text
    found = json.loads(flashpath("resources", "--track", "short", "--json"))
    assert found[0]["resources"][0]["part"] == "1-3"
    with pytest.raises(FlashpathError, match="There is no week in short '9'"):
        flashpath("resources", "--track", "short", "--week", "9")
    with pytest.raises(FlashpathError, match="of which track"):
        flashpath("resources", "--week", "1")
    with pytest.raises(FlashpathError, match="There is: short"):
        flashpath("resources", "--track", "long")


def test_a_terminal_gets_it_rendered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Console(force_terminal=True, width=80, height=400, color_system="standard")
    monkeypatch.setattr(markdown, "screen", lambda: screen)
    markdown.print_markdown(f"# One\n\n## Two\n\n- {'word ' * 40}\n\n```cuda\nint i = 0;\n```\n")
    text = capsys.readouterr().out
    assert "\x1b[" in text
    assert "## Two" not in text
    assert "▌" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert plain.count("word") == 40
    assert max(map(len, plain.splitlines())) <= 80


def test_chinese_is_wrapped_between_characters_and_not_before_a_full_stop() -> None:
    def lines(text: str, width: int) -> list[str]:
        at = [0, *markdown.breaks(text, width), len(text)]
        return [text[start:end].rstrip() for start, end in itertools.pairwise(at)]

    assert lines("一个 warp 有三十二个线程。", 10) == ["一个 warp", "有三十二个", "线程。"]
    assert lines("三十二个。", 8) == ["三十二", "个。"]
    assert lines("plain words and more", 11) == ["plain words", "and more"]
    assert lines("abcdefgh", 3) == ["abc", "def", "gh"]
    assert lines("one\ntwo", 80) == ["one", "two"]
    assert lines("", 10) == [""]


def test_lines_of_a_chinese_paragraph_are_joined_without_a_space() -> None:
    text = "# 题目\n第一行\n第二行 x\n第三行\n\n```\n甲\n乙\n```\n- 一\n  二\n- 三\n"
    assert markdown.joined(text) == ("# 题目\n第一行第二行 x\n第三行\n\n```\n甲\n乙\n```\n- 一二\n- 三\n")


def test_commands_of_lessons_find_their_files_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = Path("programs/cuda/01_hello_cuda.cu")
    assert shipped(program).is_file()
    solution = Path("units/01-doubling/exercises/twice/solution.cu")
    assert shipped(solution) == tmp_path / "course" / solution
    assert shipped(Path("programs/none.cu")) == Path("programs/none.cu")
    assert shipped_function(f"{solution}:twice") == f"{tmp_path / 'course' / solution}:twice"
    for own in ("./mine.py:twice", "ladder:softmax", "torch.relu", "units/none.py:twice"):
        assert shipped_function(own) == own
    assert "y[i] = 2 * x[i];" in flashpath("explain", str(solution), "--stage", "source")
    program.parent.mkdir(parents=True)
    program.write_text("// my own")
    assert shipped(program) == program


@pytest.mark.parametrize("width", [34, 50, 80, 112])
def test_nothing_of_a_table_is_cut_off(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chinese has no spaces, and a table that takes a sentence for one word would end it with three dots."""
    cells = [
        ["段", "做什么", "我们的"],
        ["1", "常量；保存种子；没有查询就离开，一块也没有时写出 0 与 +∞", "first_tile、last_tile"],
        ["2", "Waits for K, begins to copy V", "multiply、transform、hide"],
    ]
    rows = ["| " + " | ".join(row) + " |" for row in cells]
    out = Console(width=width, record=True, force_terminal=True, color_system=None, file=io.StringIO())
    monkeypatch.setattr(markdown, "screen", lambda: out)
    markdown.print_markdown("\n".join([rows[0], "|---|---|---|", *rows[1:]]), pager=False)
    shown = out.export_text()
    assert all(cell_len(line) <= width for line in shown.splitlines())
    assert "…" not in shown
    for cell in itertools.chain.from_iterable(cells):
        assert not Counter(cell.replace(" ", "")) - Counter(shown), cell
