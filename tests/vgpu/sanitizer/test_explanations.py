"""The texts that teach what findings mean: their examples have the finding, and, mended, have none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flashpath as fp
from flashpath.cli.arguments import parse_arguments, parse_extents
from flashpath.errors import FlashpathError
from flashpath.settings import LANGUAGES
from flashpath.vgpu.explanations import Example, explain_finding
from flashpath.vgpu.findings import KINDS, Finding


def look_at(example: Example, folder: Path) -> list[Finding]:
    """What `flashpath sanitize` with the example's options finds."""
    path = folder / example.file
    path.write_text(example.code, encoding="utf-8")
    options: dict[str, list[str]] = {}
    words = list(example.options)
    while words:
        option, value, *words = words
        options.setdefault(option, []).append(value)
    assert set(options) <= {"--grid", "--block", "--arg", "--budget"}
    (kernel,) = fp.compile(path, "sm_80")
    return fp.sanitize(
        kernel,
        parse_extents(options["--grid"][0], "--grid"),
        parse_extents(options["--block"][0], "--block"),
        [each.value for each in parse_arguments(options.get("--arg", []))],
        budget=int(options.get("--budget", ["1000000"])[0]),
        seeds=5,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_are_what_they_say(kind: str, tmp_path: Path) -> None:
    english = explain_finding(kind, "en")
    found = look_at(english.buggy, tmp_path)
    assert {finding.kind for finding in found} == {kind}, list(map(str, found))
    mended = look_at(english.mended, tmp_path)
    assert mended == [], list(map(str, mended))


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
