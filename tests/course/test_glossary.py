"""The glossary: its pages are made from its words, and no text uses a variant that it forbids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashpath.course.glossary import FILES, page, terms

ROOT = Path(__file__).parents[2]
# What a learner or a reader meets: lessons, exercises, tracks, pages, explanations, the words in the code.
READ = (
    "*.md",
    "course/**/*.md",
    "course/**/*.toml",
    "docs/*.md",
    "src/flashpath/**/*.md",
    "src/flashpath/**/*.py",
)
GLOSSARY = {"glossary.md", "glossary.zh.md", "glossary.toml"}


def texts() -> dict[Path, str]:
    files = [file for pattern in READ for file in ROOT.glob(pattern)]
    return {file: file.read_text(encoding="utf-8") for file in files if file.name not in GLOSSARY}


def uses(text: str, variant: str, allowed: list[str]) -> list[int]:
    """The lines of a text in which a variant stands, other than in an allowed phrase."""
    pattern = re.escape(variant) if not variant.isascii() else rf"\b{re.escape(variant)}\b"
    for phrase in allowed:
        text = text.replace(phrase, "")
    return [text.count("\n", 0, match.start()) + 1 for match in re.finditer(pattern, text, re.IGNORECASE)]


@pytest.mark.parametrize("lang", FILES)
def test_the_page_is_made_from_the_words(lang: str) -> None:
    written = (ROOT / "docs" / FILES[lang]).read_text(encoding="utf-8")
    assert written == page(lang), "`make figures` writes it again"


def test_a_word_has_one_name_in_each_language() -> None:
    for lang in FILES:
        names = [term[lang] for term in terms()]
        assert len(set(names)) == len(names)
        assert all(term["means"][lang].endswith(("。", ".")) for term in terms())


def test_no_text_uses_a_forbidden_variant() -> None:
    forbidden = [
        (variant, term.get("but", []))
        for term in terms()
        for variants in term.get("never", {}).values()
        for variant in variants
    ]
    assert len(forbidden) > 20
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: {variant}"
        for file, text in texts().items()
        for variant, allowed in forbidden
        for line in uses(text, variant, allowed)
    ]
    assert not wrong, "\n".join(wrong)


CODE = re.compile(r"`[^`]*`|\{\{.*?\}\}|\]\([^)]*\)|https?://\S+|\*[A-Z][^*]*\*|^ {4}.*$", re.MULTILINE)


def chinese_prose(text: str) -> list[str]:
    """The lines of a page in Chinese that are written in Chinese, without code, links and English titles."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [line for line in CODE.sub("", text).splitlines() if re.search("[\u4e00-\u9fff]", line)]


def beside_chinese(line: str, word: str) -> bool:
    """Whether an English word stands among Chinese ones, as no name in a formula does."""
    chinese, operators = "[\u4e00-\u9fff]", "=<>*%+·"
    after = rf"{chinese} ?{word}(?! ?[{operators}.,/\-\w])"
    before = rf"(?<![{operators}] )(?<![\w./-]){word} ?{chinese}"
    return bool(re.search(f"{after}|{before}", line))


def test_chinese_pages_use_the_chinese_word() -> None:
    english = [term["en"] for term in terms() if not term.get("in_chinese", True)]
    assert english
    wrong = [
        f"{file.relative_to(ROOT)}: {line.strip()[:60]}"
        for pattern in ("course/units/**/*.zh.md", "docs/*.zh.md")
        for file in ROOT.glob(pattern)
        for line in chinese_prose(file.read_text(encoding="utf-8"))
        if any(beside_chinese(line, word) for word in english)
    ]
    assert not wrong, "\n".join(wrong)


def test_english_words_are_found_in_chinese_but_not_in_code() -> None:
    assert beside_chinese("每个 key 一遍", "key")
    assert beside_chinese("key 的块数", "key")
    assert not beside_chinese("其中 i < keys 且 key = 3", "key")
    assert chinese_prose("第 `key` 行\n\n    key 的行\n") == ["第  行"]


def test_a_variant_is_found_but_not_in_an_allowed_phrase() -> None:
    assert uses("一个\n内核", "内核", ["Linux 内核"]) == [2]
    assert uses("Linux 内核", "内核", ["Linux 内核"]) == []
    assert uses("a sync pointer", "sync point", []) == []
