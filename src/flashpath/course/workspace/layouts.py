"""Which files a work folder has: by weeks, by days, or with the first week as its plan draws it."""

from __future__ import annotations

from collections.abc import Iterator

from flashpath import settings
from flashpath.course.content import Course, Day, Exercise, ProblemSet, Stage, Track, Unit, Week
from flashpath.course.content.comments import commented
from flashpath.course.content.directives import figure_file
from flashpath.course.content.proof import NOTE
from flashpath.course.upstream import FOLDERS
from flashpath.course.workspace import pages
from flashpath.course.workspace.beginnings import beginning, file_name
from flashpath.course.workspace.marker import Marker
from flashpath.course.workspace.sets import answers_of, set_page
from flashpath.messages import say

File = tuple[str, str | bytes]  # a path from the folder, with slashes, and what it holds

IGNORED = "__pycache__/\n*.pyc\n*.o\n*.so\na.out\nbuild/\nreview-*/\n.flashpath/\n" + "".join(
    f"{each}/\n" for each in (FOLDERS.en, FOLDERS.zh)
)
GUIDES = ("MAC_SETUP_GUIDE.md", "MAC_SETUP_GUIDE.zh.md")  # named by lessons and tasks, and by each other
OLDER_EXERCISES = "exercises"


def layout_of(course: Course, track: Track, mark: Marker) -> Layout:
    """The one that the track names; in a folder that is there already, exercises stay where they are."""
    from flashpath.course.workspace.first_week import FirstWeekLayout

    kinds = {"weeks": Layout, "days": DaysLayout, "first-week": FirstWeekLayout}
    return kinds[track.layout](course, track, mark.lang, mark.started, _exercises(mark))


def _exercises(mark: Marker) -> str:
    """The folder of exercises: what the language calls it, or what folders were made with in earlier days."""
    is_older = any(path.startswith(f"{OLDER_EXERCISES}/") for path in mark.exercises.values())
    return OLDER_EXERCISES if is_older else say("course.workspace.exercises")


class Layout:
    """A folder a week, with lessons and exercises beside them."""

    begun_notes: frozenset[str] = frozenset()
    """Notes that a new folder has already."""

    def __init__(self, course: Course, track: Track, lang: str, started: str, exercises: str) -> None:
        self.course = course
        self.track = track
        self.lang = lang
        self.site = pages.Site(
            course,
            track,
            lang,
            started,
            exercises,
            self.lesson_place,
            self.week_page_place,
            self.day_page_place if isinstance(self, DaysLayout) else None,
            self.note_places(),
            self.begun_notes,
        )

    # ---- Where things lie ------------------------------------------------------------------------------

    def week_folder(self, week: Week) -> str:
        """week-01, week-07-08."""
        number = "-".join(part.zfill(2) for part in week.number.split("-"))
        return f"第{number}周" if self.lang == "zh" else f"week-{number}"

    def week_page_place(self, week: Week) -> str:
        return f"{self.week_folder(week)}/README.md"

    def lesson_place(self, unit: Unit) -> str:
        return say("course.workspace.lessons") + f"/{unit.id}.md"

    def note_place(self, name: str, week: Week, day: Day | None) -> str:
        del day
        folder = say("course.workspace.notes")
        return f"{self.week_folder(week)}/{folder}/{name}.md"

    def note_places(self) -> dict[str, str]:
        """The notes that tasks name, and each week's own."""
        found: dict[str, str] = {}
        for week, day, task in self.track.tasks():
            if task.done_by is not None and task.done_by.kind == NOTE:
                name = task.done_by.name
                found[name] = self.note_place(name, week, day)
        for week in self.track.weeks:
            name = f"week-{week.number}"
            found.setdefault(name, self.note_place(name, week, None))
        return found

    def exercise_places(self) -> dict[str, str]:
        """The learner's file of every exercise that is written, and of the questions of each problem set."""
        places = {
            each.id: f"{self.site.exercise_folder(each)}/{file_name(each)}" for each in self.exercises()
        }
        return places | {answers_of(each).id: self.answers_place(each) for each in self.track.problem_sets}

    def set_place(self, problem_set: ProblemSet) -> str:
        """The page of a problem set."""
        return f"{self.site.exercises}/{problem_set.number}-{problem_set.id}.md"

    def answers_place(self, problem_set: ProblemSet) -> str:
        """Where its questions are answered: beside its page."""
        folder = self.set_place(problem_set).rpartition("/")[0]
        return f"{folder}/{say('course.workspace.set-answers', number=problem_set.number)}"

    def units(self) -> list[Unit]:
        return [self.course.unit(each) for each in self.track.units]

    def exercises(self) -> Iterator[Exercise]:
        """Those of units that are ready; of one that is planned, the quiz where there is one already."""
        for unit in self.units():
            yield from pages.exercises_of(unit)

    # ---- The files -------------------------------------------------------------------------------------

    def files(self) -> Iterator[File]:
        """All of them, those first that a learner opens first."""
        yield "README.md", pages.track_page(self.site)
        yield ".gitignore", IGNORED
        for guide in GUIDES:
            yield f"docs/{guide}", (settings.content_dir("docs") / guide).read_bytes()
        yield from self.plan_files()
        yield from self.lesson_files()
        yield from self.set_files()
        yield from self.exercise_files()

    def set_files(self) -> Iterator[File]:
        for problem_set in self.track.problem_sets:
            page, answers = self.set_place(problem_set), self.answers_place(problem_set)
            yield page, set_page(self.site, problem_set, page, answers)
            yield answers, beginning(answers_of(problem_set), self.lang)

    def plan_files(self) -> Iterator[File]:
        for stage in self.track.stages:
            for week in stage.weeks:
                yield from self.week_files(stage, week)

    def week_files(self, stage: Stage, week: Week) -> Iterator[File]:
        page = self.week_page_place(week)
        yield page, pages.week_page(self.site, stage, week, page)

    def lesson_files(self) -> Iterator[File]:
        for unit in self.units():
            if unit.is_ready:
                page = self.lesson_place(unit)
                yield page, pages.lesson_page(self.site, unit, page)
                for figure in unit.figures:
                    file = figure_file(unit, figure.name, self.lang, ".svg")
                    yield self.site.figure_place(unit, file.name), file.read_bytes()

    def exercise_files(self) -> Iterator[File]:
        for exercise in self.exercises():
            folder = self.site.exercise_folder(exercise)
            place = f"{folder}/{file_name(exercise)}"
            yield place, beginning(exercise, self.lang)
            if exercise.kind != "quiz":
                yield f"{folder}/README.md", pages.exercise_page(self.site, exercise, place)
            sources = {each.source for each in exercise.questions if each.source is not None}
            for source in sorted(sources):
                yield f"{folder}/{source.name}", commented(source, self.lang)


class DaysLayout(Layout):
    """A page a day."""

    def week_page_place(self, week: Week) -> str:
        """A week is where its first day is."""
        return self.day_page_place(week.days[0])

    def day_page_place(self, day: Day) -> str:
        return f"cuda_course_day{day.number.zfill(2)}.md"

    def note_place(self, name: str, week: Week, day: Day | None) -> str:
        del week, day
        return say("course.workspace.notes") + f"/{name}.md"

    def plan_files(self) -> Iterator[File]:
        days = [(week, day) for week in self.track.weeks for day in week.days]
        for number, (week, day) in enumerate(days):
            beside = [*days[max(0, number - 1) : number], *days[number + 1 : number + 2]]
            around = [(self.day_page_place(other), other) for _, other in beside]
            page = self.day_page_place(day)
            yield page, pages.day_page(self.site, week, day, page, around)
