"""The four tracks hold what their plans name: weeks, days, tasks, checkpoints, reading, outputs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from flashpath import settings
from flashpath.course.content import ContentError, Course, Problem, Text, Texts, Track, Week, load_course
from flashpath.course.state.progress import exercises_of

ROOT = Path(__file__).parents[2]
TRACKS = ("cuda-triton-flash", "flash-attention-source", "flashinfer-14-days", "dl-research")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course()


def week(track: Track, number: str) -> Week:
    (found,) = [each for each in track.weeks if each.number == number]
    return found


def span(number: str) -> range:
    first, _, last = number.partition("-")
    return range(int(first), int(last or first) + 1)


def read(track: Track, number: str) -> list[str]:
    return [str(each) for each in week(track, number).resources]


# ---- Each plan -----------------------------------------------------------------------------------------


def test_cuda_triton_flash_has_eleven_weeks_in_three_phases(course: Course) -> None:
    track = course.track("cuda-triton-flash")
    assert [number for each in track.weeks for number in span(each.number)] == list(range(1, 12))
    *phases, conclusion = track.stages
    assert [[each.number for each in stage.weeks] for stage in phases] == [
        ["1", "2", "3"],
        ["4", "5"],
        ["6", "7-8", "9-10"],
    ]
    assert [each.number for each in conclusion.weeks] == ["11"]
    assert len(track.assessment) == 4
    assert len(track.habits.en) == 5
    said = " ".join(task.do.en for _, _, task in track.tasks())
    for name in (
        "01_hello_cuda.cu", "02_vector_add.cu", "03_matrix_multiply.cu", "04_parallel_reduction.cu",
        "05_stream_overlap.cu", "01_vector_add.py", "02_matrix_multiply.py", "03_softmax.py",
        "04_layer_norm.py", "naive_attention.py", "flash_attention_v1.py", "flash_attention/flash_v1/cuda/",
        "flash_attention/flash_v2/triton/", "benchmarks/compare_all.py",
    ):  # fmt: skip
        assert f"`{name}`" in said, name


def test_cuda_triton_flash_reads_chapter_by_chapter(course: Course) -> None:
    track = course.track("cuda-triton-flash")
    assert read(track, "1") == ["cuda-guide:1-3", "cuda-by-example:2-4"]
    assert read(track, "2") == ["cuda-guide:4-6", "cuda-by-example:5-8", "cuda-best-practices"]
    assert read(track, "3") == ["cuda-guide:7-9", "nsight-systems-docs"]
    assert {"triton-docs", "triton-tutorials"} <= set(read(track, "4"))
    assert set(read(track, "6")) == {"flash-attention-paper", "attention-paper"}
    assert set(read(track, "9-10")) == {"flash-attention-2-paper", "xformers"}


def test_the_first_week_of_the_source_is_seven_days_of_four_tasks(course: Course) -> None:
    track = course.track("flash-attention-source")
    first = week(track, "1")
    assert [each.number for each in first.days] == list("1234567")
    assert [len(each.tasks) for each in first.days] == [4] * 7
    assert (first.hours, first.difficulty) == ("20–25", 3)
    assert len(first.goals.en) == 4
    assert len(first.formulas) == 2
    assert "alpha * l_old" in first.formulas[0].text
    assert "blockIdx.x * blockDim.x + threadIdx.x" in first.formulas[1].text


def test_the_source_has_six_stages_with_their_checkpoints(course: Course) -> None:
    track = course.track("flash-attention-source")
    assert len(track.stages) == 6
    by_topic = Counter(each.topic.en for each in track.stages[0].checkpoints if each.topic)
    assert by_topic == {"Algorithm": 4, "CUDA basics": 4, "CUTLASS/CuTe": 4, "Environment": 4}
    of_stages = [sum(each.topic is None for each in stage.checkpoints) for stage in track.stages]
    assert of_stages == [3, 3, 3, 3, 3, 0]
    assert (track.difficulty, track.practice, track.weeks_expected) == (5, 5, "10–12")


def test_the_source_has_days_for_each_task_and_outputs_for_each_week(course: Course) -> None:
    track = course.track("flash-attention-source")
    assert [number for each in track.weeks for number in span(each.number)] == list(range(1, 13))
    for number, days, outputs in (
        ("2", [1, 1, 2, 2], 3),
        ("3-4", [3, 2, 3, 2, 2], 3),
        ("5-6", [3, 3, 2, 2, 2], 2),
        ("7-8", [2, 3, 2, 2, 1], 2),
        ("9-10", [2, 2, 2, 2, 2], 2),
    ):
        found = week(track, number)
        assert [len(span(each.number)) for each in found.days] == days, number
        assert len(found.outputs.en) == outputs, number
    files = {file for each in track.weeks for file in each.files}
    for name in (
        "flash_fwd_kernel", "flash_bwd_kernel", "flash_fwd_launch_template", "flash_bwd_launch_template",
        "softmax", "mask", "dropout", "rotary", "kernel_traits", "block_info", "utils", "static_switch",
        "flash", "flash_bwd_preprocess_kernel",
    ):  # fmt: skip
        assert f"csrc/flash_attn/src/{name}.h" in files
    assert {
        "hopper/flash_fwd_kernel_sm90.h",
        "hopper/flash_bwd_kernel_sm90.h",
        "hopper/instantiations/",
    } <= files


def test_flashinfer_has_fourteen_days_of_three_hours(course: Course) -> None:
    track = course.track("flashinfer-14-days")
    days = [day for each in track.weeks for day in each.days]
    assert [each.number for each in days] == [str(number) for number in range(1, 15)]
    assert [len(each.days) for each in track.weeks] == [7, 7]
    for day in days:
        assert day.minutes == {"theory": 30, "reading": 60, "practice": 60, "reflection": 30}
        assert day.units
        assert day.goals.en
        assert any(str(task.done_by) == f"note:day-{day.number.zfill(2)}" for task in day.tasks)
    files = [file.rpartition("/")[2] for day in days for file in day.files]
    assert files == [
        "activation.cuh", "math.cuh", "quantization.cuh", "norm.cuh", "norm.cuh", "cp_async.cuh",
        "sampling.cuh", "mma.cuh", "bmm_fp8.cuh", "decode.cuh", "prefill.cuh",
        "core.py", "norm.py", "activation.py",
    ]  # fmt: skip
    assert track.hours == "42"


def test_dl_research_has_weeks_from_zero_to_eight(course: Course) -> None:
    track = course.track("dl-research")
    assert [number for each in track.weeks for number in span(each.number)] == list(range(9))
    assert [len(stage.weeks) for stage in track.stages] == [1, 3, 2, 2]
    assert all(each.hours == "6–8" for each in track.weeks)
    assert [each.id for each in track.assessment] == ["edge-cases", "stability", "reference", "gradients"]
    assert len(track.habits.en) == 9
    assert {"cuda-guide:1-3", "cuda-by-example:1-4", "cuda-best-practices"} <= set(read(track, "1"))
    assert "triton-tutorials:1-3" in read(track, "4")
    assert {"cpp-primer", "numerical-linear-algebra", "csapp"} <= set(read(track, "0"))


@pytest.mark.parametrize(
    ("track", "number", "wrong", "right"),
    [
        ("dl-research", "3", "__broadcast_sync", "__shfl_sync"),
        ("dl-research", "3", "cuda-memcheck", "compute-sanitizer"),
        ("dl-research", "4", "PRINT_LAUNCH_CONFIG", "FLASHPATH_DEBUG=1"),
        ("flash-attention-source", "7-8", "flash_bwd_postprocess_kernel.h", "flash_bwd_preprocess_kernel.h"),
        ("flash-attention-source", None, "nvprof", "Nsight Compute"),
        ("cuda-triton-flash", "3", "Visual Profiler", "Nsight Systems"),
    ],
)
def test_what_is_out_of_date_is_said_where_it_belongs(
    course: Course, track: str, number: str | None, wrong: str, right: str
) -> None:
    found = course.track(track)
    at = week(found, number) if number else None
    (said,) = [each.text for each in found.corrections_of(at) if wrong in each.text.en]
    for text in (said.en, said.zh):
        assert wrong in text
        assert right in text


# ---- All of them ---------------------------------------------------------------------------------------


def texts(value: Any) -> Iterator[Text | Texts]:
    """Every text in a track, wherever it stands; the questions of its problem sets are their units'."""
    if isinstance(value, Problem):
        return
    if isinstance(value, Text | Texts):
        yield value
    elif isinstance(value, tuple):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from texts(each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from texts(getattr(value, name))


def test_the_tracks_are_these(course: Course) -> None:
    assert sorted(course.track_names) == sorted(TRACKS)


@pytest.mark.parametrize("name", TRACKS)
def test_every_text_is_there_in_both_languages(course: Course, name: str) -> None:
    count = 0
    for each in texts(course.track(name)):
        pairs = zip(each.en, each.zh, strict=True) if isinstance(each, Texts) else [(each.en, each.zh)]
        for en, zh in pairs:
            count += 1
            assert not CHINESE.search(en.replace("`01-基础概念`", "").replace("`练习/01`", "")), en
            # What is the same in both is a name.
            assert CHINESE.search(zh) or re.fullmatch(r"[\w ./()+<>、-]+", zh), zh
    assert count > 100


@pytest.mark.parametrize("name", TRACKS)
def test_no_week_needs_a_later_one(course: Course, name: str) -> None:
    """A track may leave units out, but no week needs what a later one teaches."""
    track = course.track(name)
    place: dict[str, int] = {}
    for number, each in enumerate(track.weeks):
        for unit in each.all_units:
            place.setdefault(unit, number)
    late = {
        (unit, before)
        for unit, number in place.items()
        for before in course.unit(unit).prerequisites
        if place.get(before, -1) > number
    }
    assert not late


@pytest.mark.parametrize("name", TRACKS)
def test_every_exercise_of_a_track_has_a_place(course: Course, name: str) -> None:
    track = course.track(name)
    ids = {each for unit in map(course.unit, track.units) for each in unit.exercise_ids}
    assert set(exercises_of(course, track)) == ids


def test_the_first_week_asks_for_no_kernel_before_what_it_needs(course: Course) -> None:
    """The plan begins with the algorithm: kernels of attention follow once CUDA and Triton were met."""
    track = course.track("flash-attention-source")
    done: set[str] = set()
    for name in exercises_of(course, track):
        exercise, unit = course.exercise(name), course.unit(name.partition("/")[0])
        if exercise.kind in ("kernel", "debug", "program") and exercise.language != "pytorch":
            before = [course.unit(each) for each in unit.prerequisites if each in track.units]
            missing = [
                each.id
                for each in before
                if each.name != "environment" and not done.issuperset(each.exercise_ids)  # of day 6
            ]
            assert not missing, name
        done.add(name)


def test_the_days_of_the_first_week_have_all_problems_of_its_sets(course: Course) -> None:
    track = course.track("flash-attention-source")
    parts = [part for part in course.parts(track.weeks[0]) if part.day is not None]
    of_days = {name for part in parts for name in part.exercises}
    minutes = sum(course.exercise(name).minutes for name in of_days)
    assert 12 * 60 <= minutes <= 20 * 60  # of the 20 to 25 hours with what is to be read
    for chosen in track.problem_sets:
        assert of_days.issuperset(chosen.exercises)
        assert of_days.issuperset(f"{each.unit}/quiz" for each in chosen.questions)


@pytest.mark.parametrize("name", TRACKS)
def test_tasks_are_done_by_what_exists(course: Course, name: str) -> None:
    for _, _, task in course.track(name).tasks():
        if task.done_by is not None and task.done_by.unit is not None:
            assert course.unit(task.done_by.unit)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('weeks = ["3"]', 'weeks = ["33"]', "there is no week '33'"),
        ('id = "own-kernels"', 'id = "hello"', "'hello' is there twice"),
        ('resources = ["cuda-guide:7-9"', 'resources = ["cuda-gide:7-9"', "cuda-guide"),
        ('"20-multi-gpu"', '"20-many-gpus"', "there is no unit '20-many-gpus'"),
        ('done_by = "05-reduction"', 'done_by = "05-reductions"', "05-reduction"),
        ("difficulty = 3", "difficulty = 6", "from 1 to 5"),
        ("habits.en", "habit.en", "habit"),
    ],
)
def test_what_is_wrong_with_a_track_is_said_with_its_key(
    course_copy: Callable[[], Path], old: str, new: str, says: str
) -> None:
    file = course_copy() / "tracks/cuda-triton-flash.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ContentError) as caught:
        load_course().track("cuda-triton-flash")
    assert says in str(caught.value)
    assert "cuda-triton-flash.toml" in str(caught.value)


# ---- Resources -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"naive-attention/quiz"', '"naive-attention/quizz"', "29-naive-attention has no exercise 'quizz'"),
        ('"naive-attention/quiz"', '"reduction/quiz"', "05-reduction"),
        ('    "29-naive-attention",\n', "", "its week does not name the unit"),
    ],
)
def test_what_is_wrong_with_the_exercises_of_a_day_is_said(
    course_copy: Callable[[], Path], old: str, new: str, says: str
) -> None:
    file = course_copy() / "tracks/flash-attention-source.toml"
    text = file.read_text(encoding="utf-8")
    head, stages, rest = text.partition("[[stages]]")
    assert old in rest
    file.write_text(head + stages + rest.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ContentError, match="exercises") as caught:
        load_course().track("flash-attention-source")
    assert says in str(caught.value)


def test_every_resource_is_named_by_a_track_and_has_an_official_address(course: Course) -> None:
    used = {use.key for track in course.tracks for use in track.resources}
    used |= {use.key for track in course.tracks for each in track.weeks for use in each.resources}
    assert set(course.resources) == used
    for each in course.resources.values():
        assert each.by
        assert each.note
        assert each.url is None or each.url.startswith("https://")
        assert each.url or each.kind in ("book", "course", "tool"), each.key
    assert len({each.url for each in course.resources.values() if each.url}) == sum(
        each.url is not None for each in course.resources.values()
    )


@pytest.mark.parametrize(
    "address",
    [
        "https://arxiv.org/abs/2205.14135",
        "https://arxiv.org/abs/2307.08691",
        "https://arxiv.org/abs/1706.03762",
        "https://tridao.me/blog/2024/flash3/",
        "https://github.com/Dao-AILab/flash-attention",
        "https://github.com/flashinfer-ai/flashinfer",
        "https://docs.flashinfer.ai",
        "https://flashinfer.ai",
        "https://github.com/NVIDIA/cutlass",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/",
        "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/",
        "https://docs.nvidia.com/cuda/parallel-thread-execution/",
        "https://developer.nvidia.com/nsight-systems",
        "https://developer.nvidia.com/nsight-compute",
        "https://developer.nvidia.com/cuda-zone",
        "https://developer.nvidia.com/blog/",
        "https://forums.developer.nvidia.com/",
        "https://discuss.pytorch.org/",
        "https://triton-lang.org/",
    ],
)
def test_what_the_plans_link_is_listed(course: Course, address: str) -> None:
    assert address in {each.url for each in course.resources.values()}


# ---- Units ---------------------------------------------------------------------------------------------


def test_units_are_numbered_without_a_gap(course: Course) -> None:
    assert [each.number for each in course.units] == list(range(48))


def test_every_unit_to_come_says_what_it_is_for(course: Course) -> None:
    for unit in course.units:
        assert 3 <= len(unit.goals.en) <= 7, unit.id
        if unit.is_ready:
            continue
        assert len(unit.goals.en) <= 5, unit.id
        assert unit.minutes >= 60, unit.id
        assert unit.serves, unit.id
        assert unit.prerequisites, unit.id
        assert all(CHINESE.search(each) for each in unit.goals.zh), unit.id


def test_prerequisites_come_before(course: Course) -> None:
    """Or stand later and lead back to nothing that needs them: there is no circle."""
    needs = {unit.id: [course.unit(each).id for each in unit.prerequisites] for unit in course.units}

    def walk(unit: str, way: tuple[str, ...]) -> None:
        assert unit not in way, " → ".join((*way, unit))
        for each in needs[unit]:
            walk(each, (*way, unit))

    for unit in needs:
        walk(unit, ())


def test_every_unit_is_in_a_track(course: Course) -> None:
    assert {unit.id for unit in course.units} == {unit for track in course.tracks for unit in track.units}


# ---- The lines of the plans ----------------------------------------------------------------------------


def plan_lines() -> dict[str, list[str]]:
    table = tomllib.loads(Path(__file__).with_name("plan_lines.toml").read_text(encoding="utf-8"))
    return {f"{plan}-{number}": line["by"] for plan, lines in table.items() for number, line in lines.items()}


def test_every_line_of_the_plans_is_served(course: Course) -> None:
    lines = plan_lines()
    assert Counter(each[:3] for each in lines) == {"000": 38, "001": 42, "002": 25, "003": 20, "004": 64}
    known = {unit.id for unit in course.units} | set(course.track_names)
    for line, by in lines.items():
        assert by, line
        assert set(by) <= known, line
    said = {line for unit in course.units for line in unit.serves}
    said |= {line for track in course.tracks for line in track.serves}
    assert set(lines) == said


def test_units_and_tracks_say_which_lines_they_serve(course: Course) -> None:
    lines = plan_lines()
    serves = {unit.id: set(unit.serves) for unit in course.units if not unit.is_ready}
    serves |= {track.name: set(track.serves) for track in course.tracks}
    for name, own in serves.items():
        assert own == {line for line, by in lines.items() if name in by}, name


# ---- The page on the web -------------------------------------------------------------------------------


def test_the_page_that_lists_the_tracks_is_made_from_them(tmp_path: Path) -> None:
    def listing(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "flashpath.course.listing", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    done = listing("docs", "--check")
    assert done.returncode == 0, done.stderr
    assert listing(str(tmp_path), "--check").returncode == 1
    assert list(tmp_path.iterdir()) == []
    assert listing(str(tmp_path)).returncode == 0
    assert listing(str(tmp_path), "--check").returncode == 0
    english, chinese = (tmp_path / name for name in ("courses.md", "courses.zh.md"))
    for name in TRACKS:
        assert f"flashpath start {name}" in english.read_text(encoding="utf-8")
        assert f"flashpath start {name}" in chinese.read_text(encoding="utf-8")
    for page, other in pairwise((english, chinese)):
        heads = [re.findall(r"^#+", each.read_text(encoding="utf-8"), re.MULTILINE) for each in (page, other)]
        assert heads[0] == heads[1]


def test_templates_are_there_in_both_languages() -> None:
    templates = settings.content_dir("course") / "templates"
    by_name = Counter(each.name.partition(".")[0] for each in templates.glob("*.md"))
    assert by_name
    assert set(by_name.values()) == {2}
