"""A small course, a work folder, and a grader that only reads words: commands are tested, not kernels.

The grader of these tests passes a file that holds "right" and sleeps on one that holds "slow".
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flashpath import settings
from flashpath.course.content.lesson import HEADINGS
from flashpath.course.state import Store
from flashpath.course.workspace import Workspace
from tests.harness.command_line import run_here

_SPEC = importlib.util.spec_from_file_location("learning_driver", Path(__file__).parent / "driver.py")
assert _SPEC is not None
assert _SPEC.loader is not None
driver: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(driver)

_UNIT = """
title.en = "{title}"
title.zh = "{title_zh}"
status = "ready"
goals.en = ["do it"]
goals.zh = ["做到"]
minutes = 10
exercises = [{exercises}]

[[checkpoints]]
id = "why"
ask.en = "Why?"
ask.zh = "为什么？"
answer.en = "Because it is so."
answer.zh = "因为如此。"
"""
_PLANNED = """
title.en = "Later"
title.zh = "以后"
status = "planned"
goals.en = ["later"]
goals.zh = ["以后"]
"""
_DERIVE = """
kind = "derive"
minutes = 5
title.en = "Double it"
title.zh = "翻倍"
function = "twice"
arguments = ["x"]
returns = ["y"]
imports = ["numpy"]

[arrays]
x = { dtype = "float64", shape = ["n"] }

[reference]
y = "2 * x"

[[cases]]
sizes = { n = [0, 1] }
values = ["normal", "shifted"]
[[cases]]
sizes = { n = "between(2, 50)" }

[[hints]]
en = "first hint"
zh = "第一条提示"
[[hints]]
en = "second hint"
zh = "第二条提示"
[[hints]]
en = "third hint"
zh = "第三条提示"

[[mutants]]
name = "zeros"
edits = [["2 * x", "0 * x"]]
rejected_for = "wrong"
hint.en = "nothing"
hint.zh = "无"
[[mutants]]
name = "same"
edits = [["2 * x", "1 * x"]]
rejected_for = "wrong"
hint.en = "same"
hint.zh = "同"
[[mutants]]
name = "thrice"
edits = [["2 * x", "3 * x"]]
rejected_for = "wrong"
hint.en = "three"
hint.zh = "三"
[[mutants]]
name = "square"
edits = [["2 * x", "x * x"]]
rejected_for = "wrong"
hint.en = "square"
hint.zh = "平方"
"""
_NOTE = """
kind = "note"
minutes = 5
title.en = "A note"
title.zh = "笔记"
"""
_QUIZ = """
[[items]]
id = "who"
kind = "choice"
ask.en = "Who computes?"
ask.zh = "谁在计算？"
options.en = ["the right option", "the wrong option", "another wrong option"]
options.zh = ["正确选项", "错误选项", "另一个错误选项"]
answer = 1
explain.en = "Because it does."
explain.zh = "因为如此。"

[[items]]
id = "how-many"
kind = "number"
ask.en = "How many lanes?"
ask.zh = "多少个通道？"
answer = 32
explain.en = "A warp has 32."
explain.zh = "一个 warp 有 32 个。"

[[items]]
id = "steps"
kind = "order"
ask.en = "In which order?"
ask.zh = "按什么顺序？"
options.en = ["alpha", "beta", "gamma"]
options.zh = ["甲", "乙", "丙"]
explain.en = "As in the alphabet."
explain.zh = "按天干。"

[[items]]
id = "word"
kind = "text"
ask.en = "What is it called?"
ask.zh = "它叫什么？"
answer = ["warps?"]
explain.en = "It is a warp."
explain.zh = "叫 warp。"
"""
_TRACK = """
title.en = "A small track"
title.zh = "小路线"
plan = "000"
weeks_expected = "2"
difficulty = 1
hours = "2"
layout = "weeks"

[[stages]]
title.en = "The stage"
title.zh = "阶段"
  [[stages.checkpoints]]
  id = "explain-it"
  ask.en = "Can you explain it?"
  ask.zh = "能讲清楚吗？"
  [[stages.weeks]]
  number = 1
  title.en = "The first week"
  title.zh = "第一周"
  goals.en = ["begin"]
  goals.zh = ["开始"]
  outputs.en = ["a kernel"]
  outputs.zh = ["一个核函数"]
    [[stages.weeks.days]]
    number = 1
    title.en = "Monday"
    title.zh = "星期一"
    units = ["01-first"]
      [[stages.weeks.days.tasks]]
      id = "read-paper"
      do.en = "Read the paper."
      do.zh = "读论文。"
      [[stages.weeks.days.tasks]]
      id = "do-double"
      do.en = "Double it."
      do.zh = "翻倍。"
      done_by = "first/double"
      [[stages.weeks.days.tasks]]
      id = "write-note"
      do.en = "Write about the paper."
      do.zh = "写论文笔记。"
      done_by = "note:paper"
  [[stages.weeks]]
  number = 2
  title.en = "The second week"
  title.zh = "第二周"
  goals.en = ["go on"]
  goals.zh = ["继续"]
  units = ["02-second", "03-later"]
"""
TASK = "Each element of the result is " * 6 + "twice that of x."
SKELETON = "import numpy as np\n\n\ndef twice(x):\n    return x\n"
SOLUTION = "import numpy as np\n\n\ndef twice(x):\n    return 2 * x\n"


def make_course(root: Path) -> Path:
    def write(name: str, text: str) -> None:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def both(name: str, en: str, zh: str) -> None:
        write(f"{name}.en.md", en)
        write(f"{name}.zh.md", zh)

    for unit, title, title_zh, exercises in (
        ("01-first", "First", "第一课", ("double", "half")),
        ("02-second", "Second", "第二课", ("again", "essay")),
    ):
        names = ", ".join(f'"{each}"' for each in exercises)
        write(f"units/{unit}/unit.toml", _UNIT.format(title=title, title_zh=title_zh, exercises=names))
        both(
            f"units/{unit}/lesson",
            f"# {title}\n\n" + "".join(f"## {each}\n\nIt is so.\n\n" for each in HEADINGS["en"]),
            f"# {title_zh}\n\n" + "".join(f"## {each}\n\n如此。\n\n" for each in HEADINGS["zh"]),
        )
        for name in exercises:
            folder = f"units/{unit}/exercises/{name}"
            both(f"{folder}/task", f"# Do it\n\n{TASK}\n", "# 做\n")
            if name == "essay":
                write(f"{folder}/exercise.toml", _NOTE)
                both(f"{folder}/template", "# E\n\n## Part\n\n> write\n", "# 文\n\n## 部分\n\n> 写\n")
                continue
            write(f"{folder}/exercise.toml", _DERIVE)
            write(f"{folder}/skeleton.py", SKELETON)
            write(f"{folder}/solution.py", SOLUTION)
            both(f"{folder}/explanation", "Two times.\n", "乘以二。\n")
    write("units/01-first/quiz.toml", _QUIZ)
    picture = '\n[[figures]]\nname = "twice"\nmade_by = "flashpath.course.figures.units.coalescing:ways"\n'
    with (root / "units/01-first/unit.toml").open("a", encoding="utf-8") as unit_file:
        unit_file.write(picture)
    for lang, below, second in (("en", "Two of them.", "It is so."), ("zh", "两个。", "如此。")):
        lesson = root / f"units/01-first/lesson.{lang}.md"
        why, heading, rest = lesson.read_text(encoding="utf-8").partition(f"## {HEADINGS[lang][1]}\n")
        shown = rest.replace(second, f"{{{{figure twice.svg}}}}\n{below}", 1)
        lesson.write_text(why + heading + shown, encoding="utf-8")
        write(f"units/01-first/figures/twice.{lang}.svg", f"<svg>{below}</svg>")
        write(f"units/01-first/figures/twice.{lang}.txt", f"▪▪ {below}\n")
    write("units/03-later/unit.toml", _PLANNED)
    write("tracks/small.toml", _TRACK)
    write("resources.toml", "")
    templates = Path(__file__).parents[3] / "course" / "templates"
    for each in templates.glob("*.md"):
        write(f"templates/{each.name}", each.read_text(encoding="utf-8"))
    return root


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


class Folder:
    """The work folder of a learner, and the commands used in it."""

    def __init__(self, made: Path, tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
        self.course = made / "course"
        self.home = tmp_path / "home"
        self.root = tmp_path / "work"
        self._patch = patch
        self._set(FLASHPATH_HOME=str(self.home), TEST_COURSE=str(self.course), LC_ALL="C.UTF-8", TERM="xterm")
        for name in ("FLASHPATH_LANG", "EDITOR", "VISUAL", "NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        patch.setattr(settings, "content_dir", driver.content_dir)
        from flashpath.course import grader

        patch.setattr(grader, "grade", driver.grade)
        shutil.copytree(made / "work", self.root)
        patch.chdir(self.root)

    def _set(self, **variables: str) -> None:
        for name, value in variables.items():
            self._patch.setenv(name, value)

    def run(self, *words: str, typed: str = "", **variables: str) -> Done:
        """The command, in this process: most tests need no other."""
        done = run_here(*words, typed=typed, environment=variables)
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str, shell: str | None = None, **options: Any) -> subprocess.Popen[str]:
        """The command in a process of its own, to be interrupted; `shell` is Python code that starts it."""
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, driver.__file__, *words]
        if shell is not None:
            command = [sys.executable, "-c", shell, *command]
        arguments: dict[str, Any] = {**pipes, **options}
        return subprocess.Popen(command, text=True, **arguments)

    def file(self, exercise: str) -> Path:
        found = Workspace.find(self.root)
        assert found is not None
        return found.file(exercise)

    def write(self, exercise: str, text: str) -> Path:
        file = self.file(exercise)
        file.write_text(text, encoding="utf-8")
        return file

    @contextlib.contextmanager
    def store(self) -> Generator[Store]:
        with Store(self.home / "progress.sqlite3") as opened:
            assert opened.notices == []
            yield opened


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course and a new work folder of its track, made once."""
    place = tmp_path_factory.mktemp("learning")
    make_course(place / "course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_COURSE", str(place / "course"))
        patch.setenv("FLASHPATH_HOME", str(place / "home"))
        patch.setattr(settings, "content_dir", driver.content_dir)
        Workspace.create("small", place / "work", "en")
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return Folder(made, tmp_path, monkeypatch)


@pytest.fixture
def solution_text() -> str:
    return SOLUTION
