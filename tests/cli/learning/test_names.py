"""Names and folders that learners give: nothing is written where they did not mean it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def everything(around: Path) -> set[Path]:
    return {each for each in around.rglob("*") if ".git" not in each.parts and "home" not in each.parts}


@pytest.mark.parametrize(
    "name",
    ["../../evil", "/tmp/evil", "a/b", "..", ".", ".hidden", "", "  ", "a\nb", "a\\b", "c:d", "week-../../x"],
)
def test_a_note_has_a_plain_name(folder: Any, tmp_path: Path, name: str) -> None:
    before = everything(tmp_path)
    done = folder.run("note", "--name", name)
    assert done.code == 1
    assert "plain name" in done.err or "has no week" in done.err
    assert everything(tmp_path) == before


def test_the_words_are_in_the_language_asked_for(folder: Any) -> None:
    assert "不能作为笔记的名字" in folder.run("note", "--name", "../x", "--lang", "zh").err


@pytest.mark.parametrize("source", ["../../../etc/passwd", "/", "..", "a\\..\\b", ""])
def test_the_note_on_a_file_lies_among_the_notes(folder: Any, tmp_path: Path, source: str) -> None:
    done = folder.run("note", "--file", source, "--json")
    if done.code == 0:
        assert Path(done.json["path"]).parent == folder.root / "notes"
    assert not [each for each in everything(tmp_path) if each.suffix == ".md" and "work" not in each.parts]


@pytest.mark.parametrize("week", ["../x", "", "/", "1/../2"])
def test_a_week_is_one_of_the_track(folder: Any, week: str) -> None:
    assert "has no week" in folder.run("note", "--week", week).err


def test_names_in_any_language_are_plain(folder: Any) -> None:
    path = Path(folder.run("note", "--name", "线程束 与 shuffles", "--json").json["path"])
    assert path == folder.root / "notes" / "线程束 与 shuffles.md"


def test_an_export_never_replaces_what_holds_other_things(folder: Any, tmp_path: Path) -> None:
    for place in (".", "..", str(folder.root), str(tmp_path), "/", ""):
        assert "holds the folder that you are in" in folder.run("export", place).err, place
    (tmp_path / "file").write_text("mine")
    assert "is a file" in folder.run("export", str(tmp_path / "file")).err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    assert "no export made it" in folder.run("export", str(tmp_path / "mine")).err
    assert folder.run("export", str(tmp_path / "new")).code == 0
    # Even one that an export made, where the work folder lies in it by now.
    (tmp_path / ".flashpath-export").touch()
    assert folder.run("export", str(tmp_path)).code == 1
    assert (folder.root / "flashpath.toml").exists()


@pytest.mark.parametrize("kernel", ["../../nothing.cu", "/no/such/file"])
def test_a_log_entry_names_a_file_that_is_there(folder: Any, kernel: str) -> None:
    assert "There is no file" in folder.run("log", "it broke", "--kernel", kernel).err


@pytest.mark.parametrize("track", ["../small", "small/../../x", "/", "."])
def test_a_track_is_one_that_there_is(folder: Any, tmp_path: Path, track: str) -> None:
    before = everything(tmp_path)
    assert folder.run("start", track).code == 1
    assert everything(tmp_path) == before


def test_an_exercise_is_named_by_its_folder_too(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("first/double", "right")
    place = folder.file("first/double").parent
    for name in ("exercises/first/double", "exercises/first/double/", f"./{place.relative_to(folder.root)}"):
        assert folder.run("grade", name, "--json").json["exercise"] == "first/double", name
    assert "first hint" in folder.run("hint", str(place)).out
    assert folder.run("export", "--review", str(place), "--json").code == 0
    monkeypatch.chdir(place)
    assert folder.run("grade", ".", "--json").json["exercise"] == "first/double"
    monkeypatch.chdir(place.parent.parent)  # where names and folders are the same words
    assert folder.run("grade", "first/double", "--json").json["exercise"] == "first/double"


def test_other_folders_get_words(folder: Any, tmp_path: Path) -> None:
    for place in (str(tmp_path / "home"), "/dev"):
        done = folder.run("grade", place)
        assert done.code == 1
        assert f"{place} is a folder without an exercise of" in done.err
    done = folder.run("grade", "exercises/first")
    assert "exercises/first holds 3 exercises" in done.err
    assert "Name one: first/double, first/half" in done.err
    assert "中有 3 个练习" in folder.run("grade", "exercises/first", "--lang", "zh").err
    assert "There is no unit 'nothing'" in folder.run("grade", "nothing/here").err
