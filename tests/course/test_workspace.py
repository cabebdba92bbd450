"""Work folders: laid out as the plans draw them, completed by the next start, never written over."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from flashpath import settings
from flashpath.course.content import UnknownName, load_course
from flashpath.course.content.comments import commented
from flashpath.course.state import Store
from flashpath.course.state.progress import Progress
from flashpath.course.workspace import Workspace, WorkspaceError, writing
from flashpath.course.workspace.marker import Marker
from flashpath.course.workspace.pages import demoted

pytestmark = pytest.mark.usefixtures("home")

LANGUAGES = ("en", "zh")
TRACKS = ("cuda-triton-flash", "flash-attention-source", "flashinfer-14-days", "dl-research")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def files(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def contents(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in files(root)}


# ---- Layouts -------------------------------------------------------------------------------------------


def test_the_first_week_is_as_the_plan_draws_it(tmp_path: Path) -> None:
    made = Workspace.create("flash-attention-source", tmp_path / "w", "zh")
    found = {name.removeprefix("第1周/") for name in files(made.workspace.root) if name.startswith("第1周/")}
    drawn = {
        "README.md",
        "学习材料/01-Flash-Attention算法详解.md",
        "学习材料/02-CUDA基础回顾.md",
        "学习材料/03-CUTLASS和CuTe入门.md",
        "学习材料/04-开发环境搭建.md",
        "资料/相关资源链接.md",
        "笔记/01-算法理解笔记.md",
        "笔记/02-CUDA基础笔记.md",
        "笔记/03-CUTLASS笔记.md",
        "代码/test_flash_attn.py",
        "代码/simple_attention.py",
        "练习/01-CUDA基础练习题.md",
        "练习/02-Flash-Attention算法练习题.md",
        "练习/03-CUTLASS和CuTe练习题.md",
    }
    assert drawn <= found
    assert any(name.startswith("代码/cuda_basics/") for name in found)
    assert found - drawn == {
        "资料/论文获取方式.md",
        *(f"练习/0{number}-答案.toml" for number in (1, 2, 3)),
        *(name for name in found if name.startswith("代码/cuda_basics/")),
    }
    assert made.workspace.notes()["environment"].name == "04-环境配置记录.md"
    papers = (made.workspace.root / "第1周/资料/论文获取方式.md").read_text(encoding="utf-8")
    assert "https://arxiv.org/abs/2205.14135" in papers
    assert "FlashAttention论文.pdf" in papers


def test_the_first_week_in_english(tmp_path: Path) -> None:
    made = Workspace.create("flash-attention-source", tmp_path / "w", "en")
    folders = {path.name for path in (made.workspace.root / "week-1").iterdir()}
    assert folders == {"README.md", "materials", "papers", "notes", "code", "exercises"}
    page = (made.workspace.root / "week-1/README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^### Day \d: ", page, re.MULTILINE)) >= 7
    tasks = page[page.index("## Tasks") : page.index("### Tasks of no day")]
    assert tasks.count("- [ ] ") == 28
    checkpoints = page[page.index("## Checkpoints") : page.index("## Resources")]
    assert checkpoints.count("- [ ] ") == 19


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_week_sets_three_times_fifteen_problems(tmp_path: Path, lang: str) -> None:
    workspace = Workspace.create("flash-attention-source", tmp_path / "w", lang).workspace
    root, exercises = workspace.root, workspace.marker.exercises
    course = load_course()
    track = course.track("flash-attention-source")
    with Store(tmp_path / "progress.sqlite3") as store:
        counted = Progress(course, track, store).exercises()
    sets = {f"sets/{each.id}" for each in track.problem_sets}
    assert set(exercises) == {*counted, *sets}
    folder = root / {"en": "week-1/exercises", "zh": "第1周/练习"}[lang]
    assert sorted(root / exercises[name] for name in sets) == sorted(folder.glob("*.toml"))
    pages = sorted(folder.glob("*.md"))
    for page, problem_set in zip(pages, track.problem_sets, strict=True):
        numbered = re.findall(r"^(\d+)\. .*`([^`]+)`\)$", page.read_text(encoding="utf-8"), re.M)
        assert [int(number) for number, _ in numbered] == list(range(1, 16)), page
        shown = [name.removeprefix("flashpath grade ") for _, name in numbered]
        assert shown == [problem.id for problem in problem_set.problems]
        for problem in problem_set.problems:  # graded in this folder, counted by progress, named by next
            name = problem.id if problem.question is None else f"{problem.unit}/quiz"
            assert (root / exercises[name]).is_file()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("track", TRACKS)
def test_documents_that_pages_name_are_in_the_folder(tmp_path: Path, track: str, lang: str) -> None:
    root = Workspace.create(track, tmp_path / "w", lang).workspace.root
    for page in root.rglob("*.md"):
        for name in re.findall(r"docs/MAC\w+(?:\.zh)?\.md", page.read_text(encoding="utf-8")):
            assert (root / name).is_file(), page
            assert name.endswith(".zh.md") == (lang == "zh"), page


def test_a_file_that_the_learner_changed_is_no_news_unless_there_is_something_newer(tmp_path: Path) -> None:
    made = Workspace.create("cuda-triton-flash", tmp_path / "w", "zh")
    files = [tmp_path / "w" / file for file in made.workspace.marker.exercises.values()]
    for file in files:
        file.write_text("mine", encoding="utf-8")
    again = Workspace.create("cuda-triton-flash", tmp_path / "w", "zh")
    assert again.kept == ()
    assert again.counts["updated"] == 0
    assert {file.read_text(encoding="utf-8") for file in files} == {"mine"}


@needs_git
def test_git_shows_names_in_chinese(tmp_path: Path) -> None:
    root = Workspace.create("cuda-triton-flash", tmp_path / "w", "zh").workspace.root
    (root / "笔记.txt").touch()
    assert "笔记.txt" in git(root, "status", "--short")


def test_the_environment_is_noted_where_the_plan_has_it(tmp_path: Path) -> None:
    made = Workspace.create(
        "flash-attention-source", tmp_path / "w", "zh", environment=lambda lang: f"in {lang}"
    )
    note = made.workspace.root / "第1周/笔记/04-环境配置记录.md"
    assert note.read_text(encoding="utf-8") == "in zh"
    note.write_text("mine", encoding="utf-8")
    again = Workspace.create("flash-attention-source", tmp_path / "w", environment=lambda lang: f"now {lang}")
    assert again.kept == ()
    assert note.read_text(encoding="utf-8") == "mine"


def test_weeks_have_folders_and_days_have_pages(tmp_path: Path) -> None:
    weeks = Workspace.create("cuda-triton-flash", tmp_path / "weeks", "en").workspace.root
    assert sorted(path.name for path in weeks.glob("week-*")) == [
        "week-01", "week-02", "week-03", "week-04", "week-05", "week-06", "week-07-08", "week-09-10",
        "week-11",
    ]  # fmt: skip
    for page in weeks.glob("week-*/README.md"):
        text = page.read_text(encoding="utf-8")
        for heading in ("## Goals", "## Tasks", "## Lessons and exercises"):
            assert heading in text, page
        assert "- [ ] " in text
    assert "`flashpath run programs/cuda/01_hello_cuda.cu`" in (weeks / "week-01/README.md").read_text(
        encoding="utf-8"
    )
    days = Workspace.create("flashinfer-14-days", tmp_path / "days", "zh").workspace.root
    assert sorted(path.name for path in days.glob("cuda_course_day*.md")) == [
        f"cuda_course_day{number:02}.md" for number in range(1, 15)
    ]
    tenth = (days / "cuda_course_day10.md").read_text(encoding="utf-8")
    assert "cuBLASLt" in tenth  # what the plan has wrong is said on its day
    assert "cuBLASLt" not in (days / "cuda_course_day11.md").read_text(encoding="utf-8")
    assert "cuda_course_day09.md" in tenth
    research = Workspace.create("dl-research", tmp_path / "research", "zh").workspace.root
    assert "__shfl_sync" in (research / "第03周/README.md").read_text(encoding="utf-8")


def test_exercises_have_a_chinese_folder_and_stay_where_older_folders_have_them(tmp_path: Path) -> None:
    made = Workspace.create("dl-research", tmp_path / "w", "zh").workspace
    assert all(path.startswith("练习/") for path in made.marker.exercises.values())
    assert (made.root / "练习").is_dir()
    assert not (made.root / "exercises").exists()
    # As it was made before: the marker says so, and everything stays there, what is new included.
    older = tmp_path / "older"
    shutil.copytree(made.root, older)
    (older / "练习").rename(older / "exercises")
    marker = older / "flashpath.toml"
    name, *_ = made.marker.exercises
    lines = marker.read_text(encoding="utf-8").replace('"练习/', '"exercises/').splitlines(keepends=True)
    marker.write_text("".join(line for line in lines if not line.startswith(f'"{name}"')), encoding="utf-8")
    again = Workspace.create("dl-research", older).workspace
    assert again.file(name).is_relative_to(again.root / "exercises")
    assert not (older / "练习").exists()
    for page in older.rglob("*.md"):
        assert "](练习/" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", TRACKS)
def test_every_link_leads_to_a_file(tmp_path: Path, name: str, lang: str) -> None:
    made = Workspace.create(name, tmp_path / "w", lang, environment=lambda lang: f"in {lang}")
    workspace, count = made.workspace, 0
    for page in workspace.root.rglob("*.md"):
        text = re.sub(r"^(```+).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)\)", text):
            if "://" in target:
                continue
            count += 1
            found = Path(os.path.normpath(page.parent / target))
            assert found.exists(), f"{page}: {target}"
    assert count > 10


@pytest.mark.parametrize("lang", LANGUAGES)
def test_lessons_and_exercises_of_ready_units_are_there(tmp_path: Path, lang: str) -> None:
    course = load_course()
    workspace = Workspace.create("cuda-triton-flash", tmp_path / "w", lang).workspace
    units = [course.unit(each) for each in course.track("cuda-triton-flash").units]
    ready = [each for each in units if each.is_ready]
    assert ready
    for unit in ready:
        lesson = workspace.root / {"en": "lessons", "zh": "学习材料"}[lang] / f"{unit.id}.md"
        assert lesson.read_text(encoding="utf-8").startswith(f"# {unit.title.in_(lang)}")
        assert "{{" not in re.sub(r"^(```+).*?^\1", "", lesson.read_text(encoding="utf-8"), flags=re.M | re.S)
        shown = re.findall(r"!\[.+\]\((.+)\)", lesson.read_text(encoding="utf-8"))
        assert len(shown) == len(unit.figures) > 0
        for name in shown:
            assert ElementTree.parse(lesson.parent / name).getroot().tag.endswith("svg")
        for exercise in unit.all_exercises():
            file = workspace.file(exercise.id)
            assert file.is_file()
            if exercise.skeleton is not None:
                assert file.name == f"{exercise.name}{exercise.skeleton.suffix}"
                assert file.read_text(encoding="utf-8") == commented(exercise.skeleton, lang)
            elif exercise.kind in ("predict", "read", "quiz"):
                assert file.name == "answers.toml"
            if exercise.kind != "quiz":
                assert (file.parent / "README.md").read_text(encoding="utf-8").startswith("# ")
            for question in exercise.questions:
                assert question.source is None or (file.parent / question.source.name).is_file()
    shipped = {path.name for path in workspace.root.rglob("*")}
    assert not shipped & {"solution.cu", "solution.py", "reference.py", "exercise.toml", "quiz.toml"}


def test_a_unit_to_come_is_said_to_be_planned(tmp_path: Path) -> None:
    course = load_course()
    root = Workspace.create("flash-attention-source", tmp_path / "w", "en").workspace.root
    planned = [
        each for each in map(course.unit, course.track("flash-attention-source").units) if not each.is_ready
    ]
    pages = "\n".join(page.read_text(encoding="utf-8") for page in root.rglob("*.md"))
    for unit in planned:
        assert f"{unit.id} · {unit.title.en} (*planned" in pages
        assert unit.goals.en[0] in pages


def test_the_code_of_the_first_week_runs(tmp_path: Path) -> None:
    code = Workspace.create("flash-attention-source", tmp_path / "w", "zh").workspace.root / "第1周/代码"
    for words in (["simple_attention.py"], ["test_flash_attn.py", "--speed"]):
        done = subprocess.run(
            [sys.executable, *words], cwd=code, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
    program = "cuda_basics/01_hello_cuda.cu"
    own = settings.content_dir("programs") / "cuda/01_hello_cuda.cu"
    assert (code / program).read_text(encoding="utf-8") == commented(own, "zh")


def test_headings_inside_code_are_no_headings() -> None:
    text = "# Title\n\n```c\n# define X\n```\n\n## Part\n"
    assert demoted(text) == "## Title\n\n```c\n# define X\n```\n\n### Part\n"


# ---- Again ---------------------------------------------------------------------------------------------


def test_starting_again_changes_nothing(tmp_path: Path) -> None:
    first = Workspace.create("flash-attention-source", tmp_path / "w", "zh")
    before = contents(tmp_path / "w")
    again = Workspace.create("flash-attention-source", tmp_path / "w")
    assert first.is_new
    assert not again.is_new
    assert again.workspace.lang == "zh"
    assert set(again.counts) == {"same"}
    assert contents(tmp_path / "w") == before


def test_an_upgrade_adds_what_is_new_and_leaves_what_a_learner_changed(
    tmp_path: Path, course_copy: Callable[[], Path]
) -> None:
    units = map(load_course().unit, load_course().track("cuda-triton-flash").units)
    first, *_, last = [each for each in units if each.is_ready]
    exercise = next(each for each in first.all_exercises() if each.skeleton is not None)

    older = course_copy() / "units" / last.id / "unit.toml"  # in which a unit was still planned
    text = older.read_text(encoding="utf-8")
    older.write_text(text.replace('status = "ready"', 'status = "planned"'), encoding="utf-8")
    made = Workspace.create("cuda-triton-flash", tmp_path / "w", "en")
    root = made.workspace.root
    assert last.exercise_ids[0] not in made.workspace.marker.exercises
    mine = made.workspace.file(exercise.id)
    mine.write_text("my kernel", encoding="utf-8")
    ticked = root / "week-01/README.md"
    ticked.write_text(ticked.read_text(encoding="utf-8").replace("- [ ]", "- [x]", 1), encoding="utf-8")
    (root / "my-own.txt").write_text("mine", encoding="utf-8")
    (root / "week-03/README.md").unlink()

    newer = course_copy()
    skeleton = newer / "units" / first.id / "exercises" / exercise.name / (exercise.skeleton or Path()).name
    skeleton.write_text(skeleton.read_text(encoding="utf-8") + "// newer\n", encoding="utf-8")
    track = newer / "tracks/cuda-triton-flash.toml"
    text = track.read_text(encoding="utf-8")
    for title in ("CUDA programming basics", "Triton basics"):
        assert title in text
        text = text.replace(title, f"{title}, rewritten")
    track.write_text(text, encoding="utf-8")

    again = Workspace.create("cuda-triton-flash", root)
    assert mine.read_text(encoding="utf-8") == "my kernel"
    assert "- [x]" in ticked.read_text(encoding="utf-8")
    assert "rewritten" not in ticked.read_text(encoding="utf-8")
    assert (root / "my-own.txt").exists()
    assert (root / "week-03/README.md").exists()
    assert "rewritten" in (root / "week-04/README.md").read_text(encoding="utf-8")
    assert set(again.kept) == {mine.relative_to(root).as_posix(), "week-01/README.md"}
    assert (root / "lessons" / f"{last.id}.md").is_file()
    assert Workspace.open(root).file(last.exercise_ids[0]).is_file()


def test_a_file_that_was_moved_is_known_by_its_new_place(tmp_path: Path) -> None:
    workspace = Workspace.create("cuda-triton-flash", tmp_path / "w", "en").workspace
    name, path = next(iter(workspace.marker.exercises.items()))
    target = workspace.root / "elsewhere" / Path(path).name
    target.parent.mkdir()
    (workspace.root / path).rename(target)
    file = workspace.root / "flashpath.toml"
    text = file.read_text(encoding="utf-8").replace(path, target.relative_to(workspace.root).as_posix())
    file.write_text(text, encoding="utf-8")
    again = Workspace.create("cuda-triton-flash", workspace.root).workspace
    assert again.file(name) == target
    assert not (workspace.root / path).exists()


@pytest.mark.parametrize("after", [0, 1, 7, 20])
def test_what_was_interrupted_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    whole = Workspace.create("flash-attention-source", tmp_path / "whole", "zh").workspace.root
    count = 0
    write = writing.write_whole

    def interrupted(target: Path, data: bytes) -> None:
        nonlocal count
        count += 1
        if count > after:
            raise KeyboardInterrupt
        write(target, data)

    monkeypatch.setattr(writing, "write_whole", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Workspace.create("flash-attention-source", tmp_path / "w", "zh")
    monkeypatch.setattr(writing, "write_whole", write)
    if after:
        (tmp_path / "w/README.md").parent.mkdir(exist_ok=True)
    made = Workspace.create("flash-attention-source", tmp_path / "w", None if after else "zh")
    assert made.kept == ()
    assert contents(made.workspace.root) == contents(whole)


def test_a_write_that_is_cut_leaves_no_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(KeyboardInterrupt):
        writing.write_whole(tmp_path / "file", b"whole")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_makes_every_file_the_learners(tmp_path: Path) -> None:
    root = Workspace.create("cuda-triton-flash", tmp_path / "w", "en").workspace.root
    (root / "README.md").write_text("mine", encoding="utf-8")
    for text in ("{", "[]", '{"README.md": 5}'):
        (root / writing.RECORD).write_text(text, encoding="utf-8")
        assert Workspace.create("cuda-triton-flash", root).kept == ("README.md",)
        assert (root / "README.md").read_text(encoding="utf-8") == "mine"
    assert json.loads((root / writing.RECORD).read_text(encoding="utf-8"))


def test_a_link_that_a_learner_made_stays(tmp_path: Path) -> None:
    root = Workspace.create("cuda-triton-flash", tmp_path / "w", "en").workspace.root
    (tmp_path / "elsewhere.md").write_text("mine", encoding="utf-8")
    (root / "README.md").unlink()
    (root / "README.md").symlink_to(tmp_path / "elsewhere.md")
    Workspace.create("cuda-triton-flash", root)
    assert (tmp_path / "elsewhere.md").read_text(encoding="utf-8") == "mine"


# ---- Refused, in words ---------------------------------------------------------------------------------


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.tex").touch()
    (tmp_path / "file").touch()
    Workspace.create("cuda-triton-flash", tmp_path / "other", "en")
    for into, lang, says in (
        ("full", "en", "is not empty"),
        ("file", "en", "is a file"),
        ("file/below", "en", "is a file"),
        ("other", "en", "is a work folder of cuda-triton-flash"),
        ("full", "zh", "不是空目录"),
    ):
        with pytest.raises(WorkspaceError) as caught:
            Workspace.create("dl-research", tmp_path / into, lang)
        assert says in str(caught.value)
        assert "--into" in str(caught.value)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]
    with pytest.raises(WorkspaceError, match="是用 --lang en 创建的"):
        Workspace.create("cuda-triton-flash", tmp_path / "other", "zh")
    with pytest.raises(UnknownName, match="cuda-triton-flsh"):
        Workspace.create("cuda-triton-flsh", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "no room left"),
        (errno.EROFS, "may not write"),
        (errno.EACCES, "may not write"),
        (errno.EIO, "--into"),
    ],
)
def test_why_a_file_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, says: str
) -> None:
    def refuse(self: Path, data: bytes) -> int:
        del data
        raise OSError(number, os.strerror(number), str(self))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(WorkspaceError) as caught:
        Workspace.create("cuda-triton-flash", tmp_path / "w", "en")
    assert says in str(caught.value)
    monkeypatch.undo()
    assert not any(writing.is_unfinished(path) for path in (tmp_path / "w").rglob("*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_can_only_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked").chmod(0o555)
    with pytest.raises(WorkspaceError, match="may not write"):
        Workspace.create("cuda-triton-flash", tmp_path / "locked/w", "en")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("track = ", "no TOML"),
        ('lang = "en"', "track = None"),
        ('track = "cuda-triton-flash"\nlang = "fr"', "'fr'"),
        ('track = "cuda-triton-flash"\nlang = "en"\n[exercises]\na = "/etc/passwd"', "/etc/passwd"),
        ('track = "cuda-triton-flash"\nlang = "en"\n[notes]\na = "../x"', "../x"),
        ('track = "cuda-triton-flash"\nlang = "en"\nnotes = 3', "notes"),
    ],
)
def test_a_damaged_marker_is_told(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "flashpath.toml").write_text(text, encoding="utf-8")
    with pytest.raises(WorkspaceError) as caught:
        Workspace.find(tmp_path)
    assert says in str(caught.value)


# ---- Found ---------------------------------------------------------------------------------------------


def test_a_work_folder_is_found_from_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace.create("cuda-triton-flash", tmp_path / "w", "zh").workspace
    inside = workspace.root / "第01周"
    assert Workspace.find(inside) == workspace
    monkeypatch.chdir(inside)
    found = Workspace.find()
    assert found is not None
    assert (found.root, found.track, found.lang) == (workspace.root, "cuda-triton-flash", "zh")


def test_elsewhere_the_last_one_used_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flashpath.course.state import Store

    monkeypatch.chdir(tmp_path)
    assert Workspace.find() is None
    workspace = Workspace.create("cuda-triton-flash", tmp_path / "w", "en").workspace
    with Store() as store:
        store.set("work_folder", str(workspace.root))
    assert Workspace.find() == workspace
    shutil.rmtree(workspace.root)
    assert Workspace.find() is None


def test_an_exercise_that_came_later_is_said_to_be_missing(tmp_path: Path) -> None:
    workspace = Workspace.create("cuda-triton-flash", tmp_path / "w", "en").workspace
    with pytest.raises(WorkspaceError, match="flashpath start cuda-triton-flash"):
        workspace.file("no-such/exercise")


def test_the_marker_is_read_as_it_was_written(tmp_path: Path) -> None:
    mark = Marker(
        "dl-research", "zh", "2026-01-31", {"a/b": "exercises/a/b/b.cu"}, {"week-1": '第1周/"笔记".md'}
    )
    (tmp_path / "flashpath.toml").write_text(mark.text(), encoding="utf-8")
    assert Workspace.open(tmp_path).marker == mark


# ---- git -----------------------------------------------------------------------------------------------


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@needs_git
def test_the_repository_begins_with_one_commit_and_is_then_the_learners(tmp_path: Path) -> None:
    made = Workspace.create("flashinfer-14-days", tmp_path / "w", "zh")
    root = made.workspace.root
    assert made.git == "begun"
    assert git(root, "rev-list", "--count", "HEAD") == "1"
    assert git(root, "status", "--porcelain") == ""
    (root / "README.md").unlink()
    again = Workspace.create("flashinfer-14-days", root)
    assert again.git == "there"
    assert git(root, "rev-list", "--count", "HEAD") == "1"


@needs_git
def test_inside_another_repository_none_is_made(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    made = Workspace.create("cuda-triton-flash", tmp_path / "w", "en")
    assert made.git == "inside"
    assert not (tmp_path / "w/.git").exists()


def test_without_git_everything_else_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    made = Workspace.create("cuda-triton-flash", tmp_path / "w", "en")
    assert made.git == "none"
    assert (tmp_path / "w/week-01/README.md").exists()


def test_a_git_that_fails_is_said_and_harms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bin/git"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    made = Workspace.create("cuda-triton-flash", tmp_path / "w", "en")
    assert (made.git, made.git_said) == ("failed", "broken")
    assert (tmp_path / "w/week-01/README.md").exists()
