"""Guided readings and the clone that they are about: found, searched; graded with it and without."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from pathlib import Path

import pytest

from flashpath import settings
from flashpath.course.content import Exercise, load_course
from flashpath.course.content.errors import ContentError
from flashpath.course.content.exercise import Upstream
from flashpath.course.grader import answers_template, grade
from flashpath.course.upstream import Clone, find_clone, has_name, has_text, text_of
from flashpath.messages import speaking

TINY = Path(__file__).parent / "fixtures/tiny"
READINGS = [
    exercise
    for unit in load_course().units
    for file in sorted((unit.folder / "exercises").glob("*/exercise.toml"))  # of planned units, too
    if (exercise := unit.exercise(file.parent.name)).upstream is not None
    and exercise.upstream.commit is not None
]

HEADER = """\
#pragma once
// int loop() { return never; }
#define TWICE(COND, ...)   \\
  [&] {                    \\
    constexpr bool is = COND; \\
    return __VA_ARGS__();  \\
  }()
struct Info {
    template <typename P>
    __device__ Info(const P &p, int b)
        : first(p.first == nullptr ? -1 : p.first[b]), last("} // text"[0]) {
        use(first);
    }
    inline int offset(int stride) const { return first == -1 ? 0 : first * stride; }
    const int first;  /* { */
};
int loop(int n);
int loop(int n) { int sum = 0; for (int i = 0; i < n; ++i) { sum += i; } return sum; }
int after = loop(3);
"""
MODULE = '''\
def outer(
    a, b
):
    """Says: return never."""
    # return never
    return a + b

class Thing:
    def method(self):
        return inner(1)

    def other(self):
        return 2
'''


@pytest.fixture(autouse=True)
def no_named_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(settings.UPSTREAM.name, raising=False)


def git(folder: Path, *words: str) -> str:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    nobody = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "commit.gpgsign=false")
    command = ["git", *nobody, "-c", "tag.gpgsign=false", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with a header, a module and two commits; the first has the tag v1.0."""
    root = tmp_path / "origin"
    (root / "src").mkdir(parents=True)
    (root / "src/info.h").write_text(HEADER, encoding="utf-8")
    (root / "module.py").write_text(MODULE, encoding="utf-8")
    git(root, "init", "--quiet", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "One")
    git(root, "tag", "-a", "v1.0", "-m", "One")
    (root / "src/info.h").write_text(HEADER.replace("first * stride", "stride * first"), encoding="utf-8")
    git(root, "commit", "--quiet", "-a", "-m", "Two")
    return root


@pytest.fixture
def reading(origin: Path) -> Exercise:
    """An exercise about that repository at v1.0."""
    exercise = load_course(TINY).exercise("doubling/source")
    commit = git(origin, "rev-parse", "v1.0^{commit}")
    upstream = Upstream("https://example.org/someone/project", "src/info.h", "v1.0", commit)
    item = dataclasses.replace(exercise.items[0], function="Info::offset", holds=("first * stride",))
    return dataclasses.replace(exercise, upstream=upstream, items=(item,))


def answer(folder: Path, text: str = 'max = "columns"') -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "answers.toml"
    file.write_text(text, encoding="utf-8")
    return file


# ---- Where a clone is looked for -----------------------------------------------------------------------


@pytest.mark.parametrize("place", ["upstream/project", "上游源码/project", "project", "../project"])
def test_a_clone_lies_in_the_work_folder_or_beside_it(
    origin: Path, reading: Exercise, tmp_path: Path, place: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    assert reading.upstream is not None
    assert find_clone(reading.upstream, work) is None
    git(tmp_path, "clone", "--quiet", "--branch", "v1.0", str(origin), str(work / place))
    found = find_clone(reading.upstream, work)
    assert found == Clone((work / place).resolve(), reading.upstream.commit, "v1.0")


@pytest.mark.parametrize("named", ["clones", "clones/project"])
def test_the_variable_names_the_clone_or_the_folder_of_clones(
    origin: Path, reading: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    git(tmp_path, "clone", "--quiet", "--branch", "v1.0", str(origin), "clones/project")
    monkeypatch.setenv(settings.UPSTREAM.name, str(tmp_path / named))
    assert reading.upstream is not None
    found = find_clone(reading.upstream, None)
    assert found is not None
    assert found.root == (tmp_path / "clones/project").resolve()


@pytest.mark.parametrize("how", ["branch", "packed", "detached", "worktree", "shallow"])
def test_the_commit_is_read_as_git_says_it(origin: Path, reading: Exercise, tmp_path: Path, how: str) -> None:
    clone = tmp_path / "work/project"
    clone.parent.mkdir()
    address = f"file://{origin}" if how == "shallow" else str(origin)
    depth = ["--depth", "1", "--branch", "v1.0"] if how == "shallow" else []
    git(tmp_path, "clone", "--quiet", *depth, address, str(clone))
    if how == "packed":
        git(clone, "pack-refs", "--all")
    elif how == "detached":
        git(clone, "checkout", "--quiet", "v1.0")
    elif how == "worktree":
        git(clone, "worktree", "add", "--quiet", str(tmp_path / "tree/project"), "v1.0")
        clone = tmp_path / "tree/project"
    assert reading.upstream is not None
    found = find_clone(reading.upstream, clone.parent)
    assert found is not None
    assert found.commit == git(clone, "rev-parse", "HEAD")
    if how in ("detached", "worktree"):
        assert found.tag == "v1.0"


@pytest.mark.parametrize(
    "head", ["", "ref: refs/../../secret", "ref: refs/heads/none", "0" * 39, "ref: /etc/passwd", "\x00" * 50]
)
def test_a_head_that_names_no_commit_is_no_version(reading: Exercise, tmp_path: Path, head: str) -> None:
    (tmp_path / "project/.git").mkdir(parents=True)
    (tmp_path / "project/.git/HEAD").write_text(head)
    (tmp_path / "project/.git/secret").write_text("a" * 40)
    assert reading.upstream is not None
    found = find_clone(reading.upstream, tmp_path)
    assert found is not None
    assert found.version is None


# ---- What is in a file ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "text", "there"),
    [
        ("offset", "first == -1 ? 0 : first*stride", True),
        ("offset", "use(first)", False),
        ("Info", "use(first)", True),
        ("Info", "p.first == nullptr", True),
        ("Info", "sum += i", False),
        ("Info::Info", "template <typename P>", True),
        ("Info::offset", "template", False),
        ("Info::first", "first * stride", True),  # a field: in its struct
        ("loop", "sum += i", True),
        ("loop", "return never", False),  # in a comment
        ("loop", "after", False),
        ("TWICE", "constexpr bool is = COND", True),
        ("TWICE", "{ return __VA_ARGS__", False),
        ("after", "loop(3)", True),  # defined as no body: the whole file
    ],
)
def test_a_text_is_looked_for_in_a_definition_of_c(function: str, text: str, there: bool) -> None:
    assert has_name(HEADER, function)
    assert has_text(HEADER, function, text, python=False) is there


@pytest.mark.parametrize(
    ("function", "text", "there"),
    [
        ("outer", "return a + b", True),
        ("outer", "return never", False),
        ("outer", "class", False),
        ("method", "return inner(1)", True),
        ("method", "return 2", False),
        ("Thing", "return 2", True),
    ],
)
def test_a_text_is_looked_for_in_a_definition_of_python(function: str, text: str, there: bool) -> None:
    said = text if text != "return never" else "# return never"
    assert has_text(MODULE, function, said, python=True) is there


def test_a_name_is_a_whole_word() -> None:
    assert has_name(HEADER, "Info::offset")
    assert not has_name(HEADER, "off")
    assert not has_name(HEADER, "Info::offse")


def test_only_plain_files_of_the_clone_are_read(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    root.mkdir()
    (tmp_path / "secret.h").write_text("secret")
    (root / "link.h").symlink_to(tmp_path / "secret.h")
    (root / "large.h").write_text("a" * (1 << 20) + "b")
    (root / "good.h").write_text("good")
    clone = Clone(root, None, None)
    assert text_of(clone, "good.h") == "good"
    for name in ("link.h", "../secret.h", "large.h", "none.h", "."):
        assert text_of(clone, name) is None
    (root / "good.h").write_text("edited")
    assert text_of(clone, "good.h") == "edited"


@pytest.mark.parametrize(
    "text", ["/*" * 400_000, "loop(" * 200_000, "loop{" * 200_000, '"' * 800_000, "'" * 800_000]
)
@pytest.mark.parametrize("python", [False, True])
def test_no_file_takes_long(text: str, python: bool) -> None:
    assert not has_text(text, "loop", "nowhere", python=python)


# ---- The verdict ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ["No clone of project was found", "git clone --branch v1.0 --depth 1 https://example.org"]),
        ("zh", ["没有找到 project 的克隆", "git clone --branch v1.0 --depth 1 https://example.org"]),
    ],
)
def test_without_a_clone_it_is_said_and_graded(
    reading: Exercise, tmp_path: Path, lang: str, words: list[str]
) -> None:
    work = tmp_path / "work"
    with speaking(lang):
        for text, passed in (('max = "columns"', True), ('max = "rows"', False), ("", False)):
            verdict = grade(reading, answer(work, text), work_folder=work)
            assert verdict.passed is passed
            for each in words:
                assert each in "\n".join(verdict.details)


def test_the_right_clone_is_confirmed(origin: Path, reading: Exercise, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--branch", "v1.0", str(origin), "work/upstream/project")
    with speaking("en"):
        verdict = grade(reading, answer(tmp_path / "work"), work_folder=tmp_path / "work")
    assert verdict.passed
    assert "is v1.0, and has all that the answers rest on" in verdict.details[-1]


def test_another_version_is_said_and_where_it_differs(
    origin: Path, reading: Exercise, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", str(origin), "work/upstream/project")
    with speaking("en"):
        verdict = grade(reading, answer(tmp_path / "work"), work_folder=tmp_path / "work")
    assert verdict.passed
    said = "\n".join(verdict.details)
    assert f"is at {git(origin, 'rev-parse', '--short=7', 'HEAD')}, and the questions are about v1.0" in said
    assert "checkout v1.0" in said
    assert "max: Info::offset in src/info.h of your clone has no `first * stride`" in said
    assert "all that the answers rest on" not in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("first * stride", "first", "has no `first * stride`"),
        ("offset", "place", "src/info.h of your clone has no Info::offset"),
        (None, None, "your clone has no src/info.h"),
    ],
)
def test_an_edited_file_is_told(
    origin: Path, reading: Exercise, tmp_path: Path, old: str | None, new: str | None, words: str
) -> None:
    git(tmp_path, "clone", "--quiet", "--branch", "v1.0", str(origin), "work/project")
    file = tmp_path / "work/project/src/info.h"
    if old is None or new is None:
        file.unlink()
    else:
        file.write_text(HEADER.replace(old, new), encoding="utf-8")
    with speaking("en"):
        verdict = grade(reading, answer(tmp_path / "work"), work_folder=tmp_path / "work")
    assert verdict.passed
    assert words in "\n".join(verdict.details)


def test_a_folder_without_git_has_no_version(origin: Path, reading: Exercise, tmp_path: Path) -> None:
    shutil.copytree(origin, tmp_path / "work/project", ignore=shutil.ignore_patterns(".git"))
    with speaking("en"):
        verdict = grade(reading, answer(tmp_path / "work"), work_folder=tmp_path / "work")
    assert "does not say which version it is" in "\n".join(verdict.details)


@pytest.mark.parametrize(("lang", "folder"), [("en", "upstream/project"), ("zh", "上游源码/project")])
def test_the_answers_begin_with_the_file_the_clone_and_ours(
    reading: Exercise, lang: str, folder: str
) -> None:
    head = answers_template(reading, lang).split("\n\n")[0]
    assert "src/info.h" in head
    assert f"git clone --branch v1.0 --depth 1 https://example.org/someone/project {folder}" in head
    assert "kernels/vector_add/one_per_thread.cu" in head


# ---- What an exercise may say --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('version = "v2.8.3"', 'version = "v2.8.3"\ncommit = "060c918"', "is no commit"),
        ('path = "csrc', f'commit = "{"a" * 40}"\npath = "../csrc', "no path inside of a clone"),
        ('kind = "text"', 'kind = "text"\nfile = "/etc/passwd"', "no path inside of a clone"),
        ('kind = "text"', f'kind = "text"\nholds = ["{"a" * 81}"]', "more than 80 characters"),
        ('kind = "text"', f'kind = "text"\nholds = {list("abcdefghi")}', "more than 8 texts"),
    ],
)
def test_what_is_no_clones_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    root = tmp_path / "course"
    shutil.copytree(TINY, root)
    file = root / "units/01-doubling/exercises/source/exercise.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with speaking("en"), pytest.raises(ContentError, match=words):
        load_course(root).exercise("doubling/source")


def _named(exercise: Exercise) -> str:
    return exercise.id


@pytest.mark.parametrize("exercise", READINGS, ids=_named)
def test_a_reading_has_ten_questions_and_half_rest_on_the_source(exercise: Exercise) -> None:
    assert len(exercise.items) >= 10
    assert sum(bool(item.holds) for item in exercise.items) * 2 >= len(exercise.items)


@pytest.mark.parametrize("exercise", READINGS, ids=_named)
def test_a_reading_holds_in_the_clone_of_its_version(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a clone is named, every function and every text that an answer rests on is there."""
    monkeypatch.undo()
    assert exercise.upstream is not None
    clone = find_clone(exercise.upstream, None) if settings.UPSTREAM.value else None
    if clone is None or clone.commit != exercise.upstream.commit:
        pytest.skip(
            f"{settings.UPSTREAM.name} names no clone of {exercise.upstream.name} {exercise.upstream.version}"
        )
    for item in exercise.items:
        path = item.file or exercise.upstream.path
        text = text_of(clone, path)
        assert text is not None, path
        assert item.function is not None
        assert has_name(text, item.function), f"{item.id}: no {item.function} in {path}"
        for held in item.holds:
            assert has_text(text, item.function, held, python=path.endswith(".py")), f"{item.id}: no {held}"
