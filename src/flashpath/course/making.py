"""Makes what lessons show: the output of their commands (`outputs/`), and their figures (`figures/`).

    python -m flashpath.course.making [UNIT …] [--check]

Commands run in a folder that has `programs/` and `units/`, on the virtual GPU, without colour, at one width,
so that every machine prints the same; wall-clock times are taken out. `--check` writes nothing, and fails
where what is stored is not what was made.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from flashpath import settings
from flashpath.course.content import ContentError, Course, Figure, Unit, load_course
from flashpath.course.content.directives import output_name, words_of
from flashpath.course.content.lesson import load_lesson
from flashpath.course.figures.parts import wrapped
from flashpath.course.figures.svg import columns
from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES

WIDTH = 80
LIMIT_S = 300
_HOME = "home"
_NAMED_BY_NOBODY = shutil.ignore_patterns("*.md", "outputs", "figures")  # of what a unit has
_TIMES = re.compile(r"(?<![\w.])\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|seconds?)(?![\w/])")

Made = dict[Path, str]  # file → its text


def make(course: Course, unit: Unit) -> Made:
    """Every file that the unit's lesson needs, made now."""
    made: Made = {}
    for command in _commands(unit):
        made |= _outputs(course, unit, command)
    for figure in unit.figures:
        made |= draw(unit, figure)
    return made


def stored(unit: Unit) -> Made:
    """What lies there, whatever it is."""
    files = [*(unit.folder / "outputs").glob("*"), *(unit.folder / "figures").glob("*")]
    return {file: file.read_text(encoding="utf-8") for file in sorted(files) if file.is_file()}


def differences(unit: Unit, made: Made) -> list[str]:
    """What is not as it was made, in words."""
    before = stored(unit)
    found: list[str] = []
    for file in sorted({*made, *before}):
        name = f"{unit.id}/{file.parent.name}/{file.name}"
        if file not in before:
            found.append(f"{name} is missing.")
        elif file not in made:
            found.append(f"{name} belongs to no command and no figure.")
        elif made[file] != before[file]:
            lines = difflib.unified_diff(
                before[file].splitlines(), made[file].splitlines(), "stored", "made", "", "", 1
            )
            found.append("\n".join([f"{name} is not what was made:", *list(lines)[2:14]]))
    return found


def store(unit: Unit, made: Made) -> list[Path]:
    """Write what differs, and take away what belongs to nothing."""
    before = stored(unit)
    changed = [file for file, text in made.items() if before.get(file) != text]
    for file in changed:
        file.parent.mkdir(exist_ok=True)
        file.write_text(made[file], encoding="utf-8")
    for file in before.keys() - made.keys():
        file.unlink()
    return changed


# ---- Figures -------------------------------------------------------------------------------------------


def draw(unit: Unit, figure: Figure) -> Made:
    """A figure's files: one drawing for both languages, or one for each."""
    function = _function(unit, figure)
    folder = unit.folder / "figures"
    if not inspect.signature(function).parameters:
        return _files(folder, figure.name, function())
    made: Made = {}
    for lang in LANGUAGES:
        made |= _files(folder, f"{figure.name}.{lang}", function(lang))
    return made


def _files(folder: Path, stem: str, drawn: tuple[str, str]) -> Made:
    return {folder / f"{stem}.svg": drawn[0], folder / f"{stem}.txt": drawn[1]}


def _function(unit: Unit, figure: Figure) -> Callable[..., tuple[str, str]]:
    module, _, name = figure.made_by.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ContentError(
            "course.content.figure-function",
            unit.folder / "unit.toml",
            "figures.made_by",
            made_by=figure.made_by,
            error=str(error),
        ) from None


# ---- Commands ------------------------------------------------------------------------------------------


def _commands(unit: Unit) -> list[str]:
    """Those of both lessons, each once."""
    lessons = [load_lesson(unit, lang) for lang in LANGUAGES]
    return list(
        dict.fromkeys(each.argument for lesson in lessons for each in lesson.directives if each.name == "run")
    )


def _outputs(course: Course, unit: Unit, command: str) -> Made:
    folder, name = unit.folder / "outputs", output_name(command)
    words = words_of(command)
    with _among_files(course) as place:
        first, second = (_output(course, words, lang, place) for lang in ("en", "zh"))
    if first == second:
        return {folder / f"{name}.txt": first}
    return {folder / f"{name}.en.txt": first, folder / f"{name}.zh.txt": second}


def output_of(course: Course, words: Sequence[str], lang: str) -> str:
    """What a command prints, on stdout and stderr, without what differs from run to run."""
    with _among_files(course) as folder:
        return _output(course, words, lang, folder)


@contextlib.contextmanager
def _among_files(course: Course) -> Generator[Path]:
    """A folder with what commands name: copies, as commands show where a file really lies."""
    with tempfile.TemporaryDirectory(prefix="flashpath-making-") as name:
        folder = Path(name)
        shutil.copytree(settings.content_dir("programs"), folder / "programs")
        shutil.copytree(course.root / "units", folder / "units", ignore=_NAMED_BY_NOBODY)
        yield folder


def _output(course: Course, words: Sequence[str], lang: str, folder: Path) -> str:
    shutil.rmtree(folder / _HOME, ignore_errors=True)  # each command is somebody's first
    try:
        done = subprocess.run(
            [sys.executable, "-m", "flashpath.cli", *words[1:]],
            cwd=folder,
            env=_environment(folder, lang),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FlashpathError("course.making-too-long", command=" ".join(words), seconds=LIMIT_S) from None
    if done.returncode == 2 or "Traceback" in done.stdout:
        output = done.stdout.strip()[-500:]
        raise FlashpathError("course.making-failed", command=" ".join(words), output=output)
    return steady(done.stdout, folder, course)


def _environment(folder: Path, lang: str) -> dict[str, str]:
    """As little of the caller's as will do."""
    kept = {
        name: value
        for name in ("PATH", "PYTHONPATH", "TMPDIR")
        if (value := os.environ.get(name)) is not None
    }
    own = {variable.name: "" for variable in settings.VARIABLES}
    own |= {
        settings.CACHE_DIR.name: str(settings.cache_dir().absolute()),
        settings.HOME.name: str(folder / _HOME),
        settings.DEVICE.name: "virtual",
        settings.LANG.name: lang,
    }
    plain = {
        "HOME": str(folder),
        "COLUMNS": str(WIDTH),
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
        "OMP_NUM_THREADS": "1",
    }
    return kept | {name: value for name, value in own.items() if value} | plain


def steady(text: str, folder: Path, course: Course) -> str:
    """Returns what was printed without this machine's paths and clock, and with no line that is too wide."""
    for path in (
        folder,
        folder.resolve(),
        course.root.resolve(),
        settings.content_dir("programs").resolve().parent,
    ):
        text = text.replace(f"{path}/", "")
    lines = (
        _TIMES.sub(_hidden, line) if "wall" in line or "took" in line else line for line in text.splitlines()
    )
    return "".join(f"{part}\n" for line in lines for part in _fitted(line.rstrip()))


def _fitted(line: str) -> list[str]:
    """Returns the line in parts of at most `WIDTH` columns; all but the first are indented further."""
    if columns(line) <= WIDTH:
        return [line]
    words = line.lstrip()
    indent = " " * (len(line) - len(words))
    first, *rest = wrapped(words, WIDTH - len(indent) - 2)
    return [indent + first, *(f"{indent}  {part}" for part in rest)]


def _hidden(match: re.Match[str]) -> str:
    return "… " + re.sub(r"[\d. ]", "", match[0])


# ---- The command line ----------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m flashpath.course.making", description=__doc__)
    parser.add_argument("unit", nargs="*", help="a unit; without one, all that are ready")
    parser.add_argument("--check", action="store_true", help="compare with what is stored, and write nothing")
    given = parser.parse_args(words)
    course = load_course()
    try:
        return _work(course, list(_chosen(course, given.unit)), given.check)
    except FlashpathError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _chosen(course: Course, names: Sequence[str]) -> Iterator[Unit]:
    if names:
        yield from (course.unit(each) for each in names)
        return
    yield from (unit for unit in course.units if unit.is_ready)


def _work(course: Course, units: Sequence[Unit], check: bool) -> int:
    wrong = 0
    for unit in units:
        made = make(course, unit)
        if check:
            found = differences(unit, made)
            wrong += len(found)
            print("\n".join(found) if found else f"{unit.id}: {len(made)} files are as they should be")
        else:
            print(f"{unit.id}: {len(made)} files, {len(store(unit, made))} changed")
    if wrong:
        print(f"{wrong} files are not what was made. → make figures", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
