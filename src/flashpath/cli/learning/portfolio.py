"""What an export holds: Markdown pages that stand for themselves, and the kernels as files."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from flashpath.course.content.directives import figure_file
from flashpath.course.content.lesson import load_lesson
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import Exercise

_MARK = ".flashpath-export"
_FENCES = {".cu": "cuda", ".py": "python", ".toml": "toml", ".md": "markdown"}


class Folder:
    """Made whole or not at all: written beside its place, and put there when it is complete."""

    def __init__(self, learner: Learner, place: Path) -> None:
        self.place = place.expanduser().resolve()
        self.files: list[str] = []
        kept = [Path.cwd().resolve()] + ([learner.workspace.root] if learner.workspace is not None else [])
        if any(each.is_relative_to(self.place) for each in kept):
            raise FlashpathError(
                learner.say(
                    f"{place} holds the folder that you are in, or your work folder.",
                    f"{place} 包含当前目录或你的学习目录。",
                ),
                learner.say(
                    "An export replaces its folder whole: name one of its own.",
                    "导出会整个替换目标目录：请另给一个目录。",
                ),
            )
        if self.place.exists() and not self.place.is_dir():
            raise FlashpathError(
                learner.say(f"{place} is a file.", f"{place} 是一个文件。"),
                learner.say("Name a folder.", "请给出一个目录。"),
            )
        if self.place.exists() and not (self.place / _MARK).exists() and any(self.place.iterdir()):
            raise FlashpathError(
                learner.say(
                    f"{place} is there already, and no export made it.",
                    f"{place} 已经存在，而且不是由导出生成的。",
                ),
                learner.say("Name another folder, or move it away.", "请换一个目录，或先把它移走。"),
            )
        self._parts = self.place.with_name(f".{self.place.name}.part")

    def __enter__(self) -> Self:
        shutil.rmtree(self._parts, ignore_errors=True)
        self._parts.mkdir(parents=True)
        (self._parts / _MARK).touch()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            old = self.place.with_name(f".{self.place.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            if self.place.exists():
                self.place.rename(old)
            self._parts.rename(self.place)
            shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(self._parts, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        path = self._parts / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
        self.files.append(name)

    def copy(self, name: str, source: Path) -> None:
        path = self._parts / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        self.files.append(name)


# ---- The portfolio -------------------------------------------------------------------------------------


def write_portfolio(learner: Learner, folder: Folder) -> None:
    passed = _write_passed(learner, folder)
    notes = [*_write_notes(learner, folder), *passed["notes"]]
    figures = _write_figures(learner, folder)
    has_log = _write_log(learner, folder)
    _write_progress(learner, folder)
    say = learner.say
    track = learner.track
    study = learner.store.study
    from flashpath.cli.learning.progress_view import spent

    count = learner.progress().of_track()
    lines = [
        f"# {track.title.in_(learner.lang)}",
        "",
        say(
            f"As of {time.strftime('%Y-%m-%d')}: {count.exercises_done} of {count.exercises} exercises, "
            f"{count.tasks_done} of {count.tasks} tasks, {spent(study.seconds(track.name), 'en')}.",
            f"截至 {time.strftime('%Y-%m-%d')}：练习 {count.exercises_done}/{count.exercises}，"
            f"任务 {count.tasks_done}/{count.tasks}，学习 {spent(study.seconds(track.name), 'zh')}。",
        ),
        "",
        f"- [{say('Progress', '进度')}](progress.md)",
    ]
    if has_log:
        lines.append(f"- [{say('Learning log', '学习日志')}](log.md)")
    for title, pages in (
        (say("Kernels", "核函数"), passed["kernels"]),
        (say("Answers", "答题"), passed["answers"]),
        (say("Notes", "笔记"), notes),
        (say("Figures", "图"), figures),
    ):
        if pages:
            lines += ["", f"## {title}", "", *(f"- [{name}]({_link(page)})" for name, page in pages)]
    folder.write("README.md", "\n".join(lines) + "\n")


def _write_passed(learner: Learner, folder: Folder) -> dict[str, list[tuple[str, str]]]:
    """Every answer that passed, as it was when it passed last, with its verdict: code, answers, notes."""
    pages: dict[str, list[tuple[str, str]]] = {"kernels": [], "answers": [], "notes": []}
    for name, passed in learner.store.passes().items():
        text = learner.store.text_of_attempt(passed.attempt) if passed.attempt is not None else None
        if text is None or passed.attempt is None:
            continue
        try:
            exercise = learner.course.exercise(name)
        except FlashpathError:  # a unit that is no longer in the course
            title, ending = name, ".txt"
        else:
            title, ending = f"{name}: {exercise.title.in_(learner.lang)}", _ending(exercise)
        shelf = {".md": "notes", ".toml": "answers"}.get(ending, "kernels")
        if ending != ".md":  # whose page has all of it
            folder.write(f"{shelf}/{name}{ending}", text)
        day = time.strftime("%Y-%m-%d", time.localtime(passed.last_at))
        lines = [
            f"# {title}",
            "",
            learner.say(f"Passed on {day}.", f"{day} 通过。"),
            "",
            *report_lines(learner, learner.store.grade_of(passed.attempt)),
            "",
            _fenced(text, ending),
        ]
        folder.write(f"{shelf}/{name}.md", "\n".join(lines) + "\n")
        pages[shelf].append((title, f"{shelf}/{name}.md"))
    return pages


def _write_notes(learner: Learner, folder: Folder) -> list[tuple[str, str]]:
    from flashpath.cli.learning.notes import list_notes

    pages: list[tuple[str, str]] = []
    if learner.workspace is None:
        return pages
    for path, written in list_notes(learner.workspace.root):
        if written:
            name = f"notes/{path.relative_to(learner.workspace.root).as_posix().replace('/', '-')}"
            folder.copy(name, path)
            heading = re.search(
                r"^# +(.+)$", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE
            )
            pages.append((heading[1] if heading else path.stem, name))
    return pages


def _write_figures(learner: Learner, folder: Folder) -> list[tuple[str, str]]:
    """The pictures of every unit of which something passed, with what its lesson says below them."""
    pages: list[tuple[str, str]] = []
    for name in dict.fromkeys(each.partition("/")[0] for each in learner.store.passes()):
        try:
            unit = learner.course.unit(name)
            lesson = load_lesson(unit, learner.lang)
        except FlashpathError:  # a unit that is no longer in the course
            continue
        lines = [f"# {unit.title.in_(learner.lang)}"]
        for each in lesson.directives:
            file = figure_file(unit, each.argument, learner.lang, ".svg")
            if each.name == "figure" and file.exists():
                folder.copy(f"figures/{name}/{file.name}", file)
                lines += ["", f"![{each.caption}]({name}/{file.name})", "", each.caption]
        if len(lines) > 1:
            folder.write(f"figures/{name}.md", "\n".join(lines) + "\n")
            pages.append((unit.title.in_(learner.lang), f"figures/{name}.md"))
    return pages


def _write_log(learner: Learner, folder: Folder) -> bool:
    entries = learner.store.log()
    if not entries:
        return False
    say = learner.say
    lines = [f"# {say('Learning log', '学习日志')}"]
    for entry in entries:
        lines += ["", f"## {time.strftime('%Y-%m-%d', time.localtime(entry.at))} · {entry.problem}"]
        for name, text in (
            (say("Solution", "解决"), entry.solution),
            (say("Learnt", "收获"), entry.learnt),
            (say("File", "文件"), f"`{entry.kernel}`" if entry.kernel else ""),
        ):
            if text:
                lines += ["", f"**{name}**: {text}"]
    folder.write("log.md", "\n".join(lines) + "\n")
    return True


def _write_progress(learner: Learner, folder: Folder) -> None:
    from flashpath.cli.learning.progress_view import spent

    state, say, lang = learner.progress(), learner.say, learner.lang
    study = learner.store.study
    lines = [f"# {say('Progress', '进度')}: {state.track.title.in_(lang)}", ""]
    lines += [
        say("| Week | Exercises | Tasks |", "| 周 | 练习 | 任务 |"),
        "|---|---|---|",
    ]
    for week in state.track.weeks:
        count = state.of_week(week)
        lines.append(
            f"| {week.number} · {week.title.in_(lang)} | {count.exercises_done}/{count.exercises} "
            f"| {count.tasks_done}/{count.tasks} |"
        )
    for stage in state.track.stages:
        if stage.checkpoints:
            lines += ["", f"## {stage.title.in_(lang)}", ""]
            lines += [
                f"- [{'x' if state.is_ticked(each.id) else ' '}] {each.ask.in_(lang)}"
                for each in stage.checkpoints
            ]
    days = study.seconds_by_day(state.track.name)
    if days:
        lines += ["", f"## {say('Time', '时间')}", "", say("| Day | Spent |", "| 日期 | 用时 |"), "|---|---|"]
        lines += [f"| {day} | {spent(seconds, lang)} |" for day, seconds in days.items()]
    folder.write("progress.md", "\n".join(lines) + "\n")


# ---- A kernel for review -------------------------------------------------------------------------------

_CHECKLIST = {
    "en": (
        "Does the header say what it computes, in which layout, and how much work each thread does?",
        "Is every access guarded at the tail: sizes 0, 1, and no multiple of the block?",
        "Do neighbouring threads touch neighbouring addresses? Do the counted figures say so too?",
        "Is every barrier reached by all threads of its block, and is none missing or superfluous?",
        "Are sums kept in a type that is wide enough, and is the order of additions sound?",
        "Are index types wide enough for the largest array?",
        "Is each constant named and each assumption checked (static_assert, a guard)?",
        "Would a simpler version be as fast? What would you try next, and how would you measure it?",
    ),
    "zh": (
        "开头是否说明了计算什么、数据怎样排布、每个线程做多少工作？",
        "尾部的每次访问是否都有保护：大小为 0、1、不是块大小的倍数？",
        "相邻线程是否访问相邻地址？计数结果是否也说明了这一点？",
        "每个屏障是否被块内所有线程到达？有没有缺少或多余的屏障？",
        "累加的类型是否足够宽，加法的顺序是否可靠？",
        "下标类型对最大的数组是否足够？",
        "常量是否都有名字，假设是否都有检查（static_assert、判断）？",
        "更简单的版本会不会一样快？下一步会尝试什么，怎样测量？",
    ),
}


def write_review(learner: Learner, exercise: Exercise, folder: Folder) -> None:
    """One answer, graded now, with its report, its task and a checklist for who reviews it."""
    from flashpath.cli.learning.grading import grade_and_keep, read_answer

    say, path = learner.say, learner.file_of(exercise)
    text = read_answer(learner, exercise, path)
    grade = grade_and_keep(learner, exercise, path)
    folder.write(path.name, text)
    today = time.strftime("%Y-%m-%d")
    verdict = say("passes", "通过") if grade.passed else say("does not pass yet", "尚未通过")
    lines = [
        f"# {exercise.id}: {exercise.title.in_(learner.lang)}",
        "",
        say(
            f"For review, {today}. The answer is [{path.name}]({_link(path.name)}); it {verdict}.",
            f"待评审，{today}。代码：[{path.name}]({_link(path.name)})；{verdict}。",
        ),
        "",
        f"## {say('Report', '报告')}",
        "",
        *report_lines(learner, grade.to_json()),
        "",
        f"## {say('Checklist for the reviewer', '评审清单')}",
        "",
        *(f"- [ ] {each}" for each in _CHECKLIST["zh" if learner.lang == "zh" else "en"]),
        "",
        f"## {say('What was asked', '题目')}",
        "",
        re.sub(r"^#", "###", exercise.task(learner.lang), flags=re.MULTILINE).strip(),
    ]
    folder.write("README.md", "\n".join(lines) + "\n")


def report_lines(learner: Learner, grade: dict[str, Any] | None) -> list[str]:
    """A verdict as Markdown: the headline, the figures counted, the details as they were printed."""
    if not grade:
        return []
    lines = [f"**{grade.get('headline', '')}**"]
    goals: list[dict[str, Any]] = grade.get("goals") or []
    if goals:
        lines += [
            "",
            learner.say("| counted | value | goal | |", "| 计数 | 数值 | 目标 | |"),
            "|---|---|---|---|",
        ]
        for goal in goals:
            sign = "≤" if goal.get("at_most") else "≥"
            mark = "✓" if goal.get("reached") else "✗"
            lines.append(
                f"| {goal.get('name')} | {goal.get('counted'):g} | {sign} {goal.get('asked'):g} | {mark} |"
            )
    details: list[str] = list(grade.get("details") or [])
    if details:
        lines += ["", "```", *details, "```"]
    return lines


def _ending(exercise: Exercise) -> str:
    if exercise.skeleton is not None:
        return exercise.skeleton.suffix
    return ".md" if exercise.kind in ("note", "report") else ".toml"


def _fenced(text: str, ending: str) -> str:
    # A fence longer than any in the text, which may be Markdown itself.
    longest = max((len(each) for each in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{_FENCES.get(ending, '')}\n{text.rstrip()}\n{fence}"


def _link(path: str) -> str:
    return path.replace(" ", "%20")
