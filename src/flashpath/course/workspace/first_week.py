"""The first week of flash-attention-source, folder by folder as its plan draws it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flashpath import settings
from flashpath.course.content import Day, ProblemSet, Stage, Week
from flashpath.course.content.comments import commented
from flashpath.course.workspace import pages
from flashpath.course.workspace.layouts import File, Layout
from flashpath.course.workspace.titles import day_name, titled
from flashpath.messages import Text, say

FIRST = "1"

MATERIALS, PAPERS, NOTES, CODE, EXERCISES = (
    Text("materials", "学习材料"),
    Text("papers", "资料"),
    Text("notes", "笔记"),
    Text("code", "代码"),
    Text("exercises", "练习"),
)


@dataclass(frozen=True)
class Topic:
    """Days of the week, with the lessons they read, the note they write and the problems they solve."""

    days: str
    title: Text
    material: Text
    units: tuple[str, ...]
    note: str
    note_file: Text
    problems: Text | None = None  # the page of its problem set
    problem_set: str = ""


TOPICS = (
    Topic(
        "1-2",
        Text("The FlashAttention algorithm", "Flash-Attention 算法详解"),
        Text("01-flash-attention-algorithm", "01-Flash-Attention算法详解"),
        ("28-attention-maths", "29-naive-attention", "30-online-softmax", "31-flash-v1"),
        "algorithm",
        Text("01-algorithm", "01-算法理解笔记"),
        Text("02-flash-attention-algorithm", "02-Flash-Attention算法练习题"),
        "algorithm",
    ),
    Topic(
        "3",
        Text("CUDA: a review", "CUDA 基础回顾"),
        Text("02-cuda-review", "02-CUDA基础回顾"),
        ("01-first-kernel", "02-memory-and-transfer", "03-coalescing", "04-shared-memory"),
        "cuda-basics",
        Text("02-cuda-basics", "02-CUDA基础笔记"),
        Text("01-cuda-basics", "01-CUDA基础练习题"),
        "cuda-basics",
    ),
    Topic(
        "4-5",
        Text("CUTLASS and CuTe", "CUTLASS 和 CuTe 入门"),
        Text("03-cutlass-and-cute", "03-CUTLASS和CuTe入门"),
        ("37-cutlass-and-cute",),
        "cutlass",
        Text("03-cutlass", "03-CUTLASS笔记"),
        Text("03-cutlass-and-cute", "03-CUTLASS和CuTe练习题"),
        "cutlass-and-cute",
    ),
    Topic(
        "6-7",
        Text("The environment", "开发环境搭建"),
        Text("04-environment", "04-开发环境搭建"),
        ("00-environment",),
        "environment",
        Text("04-environment", "04-环境配置记录"),
    ),
)  # fmt: skip

# Notes that have a template of their own; that of the environment is filled by doctor.
TEMPLATES = ("algorithm", "cuda-basics", "cutlass")

PROGRAMS = (
    "01_hello_cuda.cu",
    "02_vector_add.cu",
    "03_matrix_multiply.cu",
    "04_parallel_reduction.cu",
    "check.cuh",
)
SCRIPTS = ("test_flash_attn.py", "simple_attention.py")
PAPER_FILES = {
    "flash-attention-paper": Text("FlashAttention.pdf", "FlashAttention论文.pdf"),
    "flash-attention-2-paper": Text("FlashAttention2.pdf", "FlashAttention2论文.pdf"),
}


class FirstWeekLayout(Layout):
    """Weeks, the first of them drawn in full."""

    begun_notes = frozenset((*TEMPLATES, "environment"))

    def week_folder(self, week: Week) -> str:
        return f"第{week.number}周" if self.lang == "zh" else f"week-{week.number}"

    def note_place(self, name: str, week: Week, day: Day | None) -> str:
        for topic in TOPICS:
            if topic.note == name:
                return f"{self.week_folder(week)}/{self._in(NOTES)}/{self._in(topic.note_file)}.md"
        return super().note_place(name, week, day)

    def week_files(self, stage: Stage, week: Week) -> Iterator[File]:
        if week.number != FIRST:
            yield from super().week_files(stage, week)
            return
        root = self.week_folder(week)
        page = f"{root}/README.md"
        yield page, pages.week_page(self.site, stage, week, page, self._overview(root, page))
        for topic in TOPICS:
            place = self._material(root, topic)
            units = [self.course.unit(each) for each in topic.units]
            yield place, pages.material_page(self.site, self._in(topic.title), units, place)
        yield from self._papers(root, week)
        for topic in TOPICS:
            if topic.note in TEMPLATES:
                yield self.site.note_places[topic.note], self._template(topic.note)
        yield from self._code(root)

    def _in(self, named: Text) -> str:
        return named.in_(self.lang)

    def set_place(self, problem_set: ProblemSet) -> str:
        for topic in TOPICS:
            if topic.problem_set == problem_set.id and topic.problems is not None:
                return self._problems(topic.problems)
        return super().set_place(problem_set)

    def _problems(self, named: Text) -> str:
        week = next(week for week in self.track.weeks if week.number == FIRST)
        return f"{self.week_folder(week)}/{self._in(EXERCISES)}/{self._in(named)}.md"

    def _material(self, root: str, topic: Topic) -> str:
        return f"{root}/{self._in(MATERIALS)}/{self._in(topic.material)}.md"

    # ---- README.md -------------------------------------------------------------------------------------

    def _overview(self, root: str, page: str) -> list[str]:
        blank = "________"
        dates = (say("course.workspace.started", date=blank), say("course.workspace.finished", date=blank))
        parts = [" · ".join(dates), "## " + say("course.workspace.what-is-learnt")]
        for topic in TOPICS:
            title = titled(day_name(topic.days), self._in(topic.title))
            lines = [
                self.site.link(page, self._material(root, topic), say("course.workspace.material")),
                self.site.link(page, self.site.note_places[topic.note], say("course.workspace.notes-link")),
            ]
            if topic.problems is not None:
                count = len(self.track.problem_set(topic.problem_set).problems)
                said = say("course.workspace.questions", count=count)
                lines.append(self.site.link(page, self._problems(topic.problems), said))
            else:
                place = f"{root}/{self._in(CODE)}/{SCRIPTS[0]}"
                lines.append(self.site.link(page, place, say("course.workspace.test-code")))
            parts.append(pages.section(title, pages.bullets(lines), 3))
        parts.append(pages.section(say("course.workspace.structure"), self._tree(root)))
        return parts

    def _tree(self, root: str) -> list[str]:
        materials = [f"{self._in(each.material)}.md" for each in TOPICS]
        notes = [f"{self._in(each.note_file)}.md" for each in TOPICS]
        problems = [f"{self._in(each.problems)}.md" for each in TOPICS if each.problems]
        problems += [self.answers_place(each).rpartition("/")[2] for each in self.track.problem_sets]
        folders = (
            (MATERIALS, materials),
            (PAPERS, [self._in(self._papers_file), self._in(self._links_file)]),
            (NOTES, notes),
            (CODE, [*SCRIPTS, "cuda_basics/"]),
            (EXERCISES, sorted(problems)),
        )
        lines = ["```", f"{root}/", "├── README.md"]
        for number, (named, names) in enumerate(folders):
            last = number == len(folders) - 1
            lines.append(f"{'└' if last else '├'}── {self._in(named)}/")
            stem = "    " if last else "│   "
            lines += [f"{stem}{'└' if each == names[-1] else '├'}── {each}" for each in names]
        return [*lines, "```"]

    # ---- Papers and links ------------------------------------------------------------------------------

    _papers_file = Text("papers.md", "论文获取方式.md")
    _links_file = Text("links.md", "相关资源链接.md")

    def _papers(self, root: str, week: Week) -> Iterator[File]:
        folder = f"{root}/{self._in(PAPERS)}"
        lines: list[str] = []
        for key, named in PAPER_FILES.items():
            found = self.course.resource(key)
            save = say("course.workspace.save-paper", name=self._in(named))
            lines.append(f"- [{found.title.in_(self.lang)}]({found.url}): {save}")
        head, why = say("course.workspace.papers"), say("course.workspace.papers-not-shipped")
        yield f"{folder}/{self._in(self._papers_file)}", pages.joined([f"# {head}", why, "\n".join(lines)])
        uses = {each.key: each for each in (*week.resources, *self.track.resources)}
        yield (
            f"{folder}/{self._in(self._links_file)}",
            pages.joined(
                [
                    "# " + say("course.workspace.links"),
                    "\n".join(pages.resource_lines(self.course, uses.values(), self.lang)),
                ]
            ),
        )

    # ---- Notes and code ---------------------------------------------------------------------------------

    def _template(self, name: str) -> bytes:
        return (settings.content_dir("course") / "templates" / f"{name}.{self.lang}.md").read_bytes()

    def _code(self, root: str) -> Iterator[File]:
        folder = f"{root}/{self._in(CODE)}"
        scripts = settings.content_dir("course") / "code"
        programs = settings.content_dir("programs") / "cuda"
        for name in SCRIPTS:
            yield f"{folder}/{name}", commented(scripts / name, self.lang).encode()
        for name in PROGRAMS:
            yield f"{folder}/cuda_basics/{name}", commented(programs / name, self.lang).encode()
