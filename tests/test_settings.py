"""All environment variables stand in one table, and nothing reads one past it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flashpath
from flashpath import settings
from flashpath.errors import FlashpathError

SOURCES = sorted(Path(flashpath.__file__).parent.rglob("*.py"))


def test_every_name_in_the_code_is_in_the_table_and_used() -> None:
    table = [variable.name for variable in settings.VARIABLES]
    assert len(table) == len(set(table))
    found = {
        name
        for path in SOURCES
        for name in re.findall(r"\bFLASHPATH_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    assert found == set(table)


def test_only_the_table_spells_or_reads_them() -> None:
    assert len(SOURCES) > 20
    reads = re.compile(r"(?:environ(?:\.get|\.setdefault|\.pop)?\s*[\[(]|getenv\s*\()\s*f?[\"']FLASHPATH")
    assert reads.search('os.environ.get("FLASHPATH_X")')
    for path in SOURCES:
        assert not reads.search(path.read_text(encoding="utf-8")), path


def test_every_variable_says_what_it_does() -> None:
    for variable in settings.VARIABLES:
        assert variable.name.startswith("FLASHPATH_")
        assert variable.default
        assert variable.meaning


def test_an_empty_value_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "")
    assert settings.DEVICE.value is None
    monkeypatch.setenv("FLASHPATH_DEVICE", "H200")
    assert settings.DEVICE.value == "H200"


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASHPATH_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert settings.cache_dir() == tmp_path / "own"
    monkeypatch.delenv("FLASHPATH_CACHE_DIR")
    assert settings.cache_dir() == tmp_path / "xdg" / "flashpath"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings.cache_dir() == tmp_path / ".cache" / "flashpath"


@pytest.mark.parametrize(("text", "size"), [("", 2**30), ("1", 2**20), ("0.25", 2**18)])
def test_the_limit(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_CACHE_LIMIT_MB", text)
    assert settings.cache_limit_bytes() == size


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1 GB", "many"])
def test_a_limit_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_CACHE_LIMIT_MB", text)
    with pytest.raises(FlashpathError) as caught:
        settings.cache_limit_bytes()
    assert str(caught.value) == (
        f"FLASHPATH_CACHE_LIMIT_MB is {text!r}, which is not a positive number of megabytes.\n"
        "  → Set it to a number such as 1024, or unset it."
    )


@pytest.mark.parametrize(
    ("text", "on"), [("", False), ("0", False), ("off", False), ("no", False), ("1", True)]
)
def test_debug(text: str, on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_DEBUG", text)
    assert settings.debug() is on


def test_content_that_is_nowhere() -> None:
    with pytest.raises(FlashpathError, match="'no such folder' is neither"):
        settings.content_dir("no such folder")


def test_no_home_folder_is_told_with_the_variable_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may run as a user that its passwd does not know, without HOME."""

    def unknown(_: int) -> None:
        raise KeyError

    for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "FLASHPATH_CACHE_DIR", "FLASHPATH_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    for folder, variable in (
        (settings.cache_dir, "FLASHPATH_CACHE_DIR"),
        (settings.home_dir, "FLASHPATH_HOME"),
    ):
        with pytest.raises(FlashpathError, match=variable):
            folder()
        monkeypatch.setenv(variable, "/elsewhere")
        assert folder() == Path("/elsewhere")
