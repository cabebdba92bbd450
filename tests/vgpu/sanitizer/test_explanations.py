"""The texts that teach what findings mean: their examples have the finding, and, mended, have none."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import flashpath as fp
from flashpath.cli import app
from flashpath.errors import FlashpathError
from flashpath.settings import LANGUAGES
from flashpath.vgpu.explanations import Example, explain_finding
from flashpath.vgpu.findings import KINDS


def look_at(example: Example, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of what the example's command finds."""
    (folder / example.file).write_text(example.code, encoding="utf-8")
    monkeypatch.chdir(folder)
    _, *words = shlex.split(example.command)
    done = CliRunner().invoke(app, [*words, "--seeds", "5", "--json"])
    assert done.exit_code in (0, 1), done.output
    return [finding["kind"] for finding in json.loads(done.stdout)["findings"]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_are_what_they_say(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    english = explain_finding(kind, "en")
    assert set(look_at(english.buggy, tmp_path, monkeypatch)) == {kind}
    assert look_at(english.mended, tmp_path, monkeypatch) == []


def without_comments(example: Example) -> str:
    return re.sub(r" *//.*", "", example.code)


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_have_the_same_code_and_parts(kind: str) -> None:
    english, chinese = (explain_finding(kind, language) for language in LANGUAGES)
    for one, other in ((english.buggy, chinese.buggy), (english.mended, chinese.mended)):
        assert without_comments(one) == without_comments(other)
        assert one.options == other.options
    for explanation in (english, chinese):
        assert explanation.title.startswith(kind)
        assert explanation.summary
        assert len(re.findall(r"^## ", explanation.text, re.MULTILINE)) == 4
        assert explanation.buggy.code != explanation.mended.code
    assert re.search("[\u4e00-\u9fff]", chinese.text)
    assert not re.search("[\u4e00-\u9fff]", english.text)


def test_every_text_belongs_to_a_kind() -> None:
    folder = Path(fp.__file__).parent / "vgpu" / "explanations"
    for language in LANGUAGES:
        assert {path.stem for path in (folder / language).iterdir()} == set(KINDS)


def test_an_unknown_kind_suggests_the_nearest() -> None:
    with pytest.raises(FlashpathError, match="no finding 'out_of_bound'") as error:
        explain_finding("out_of_bound", "en")
    assert error.value.fix is not None
    assert error.value.fix.startswith("Did you mean out-of-bounds? It is one of race, ")
    with pytest.raises(FlashpathError) as error:
        explain_finding("xyzzy", "en")
    assert "Did you mean" not in str(error.value)
