"""The glossary's page in both languages, made from `course/glossary.toml`.

    python -m flashpath.course.glossary docs

writes glossary.md and glossary.zh.md into that folder.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from flashpath import settings

FILES = {"en": "glossary.md", "zh": "glossary.zh.md"}
_HEADS = {
    "en": "# Glossary\n\nOne word for one thing, made from `course/glossary.toml` by `make figures`. "
    "[中文](glossary.zh.md)\n\n| word | in Chinese | what it is | not |\n",
    "zh": "# 术语表\n\n一物一名。本页由 `make figures` 从 `course/glossary.toml` 生成。"
    "[English](glossary.md)\n\n| 术语 | 英文 | 含义 | 不用 |\n",
}


def terms() -> list[dict[str, Any]]:
    """Returns the words with their meanings and the variants that are not used."""
    file = settings.content_dir("course") / "glossary.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))["term"]


def page(lang: str) -> str:
    """Returns the whole page in one language."""
    other = "en" if lang == "zh" else "zh"
    comma = "、" if lang == "zh" else ", "
    rows = [
        (term[lang], term[other], term["means"][lang], comma.join(term.get("never", {}).get(lang, [])))
        for term in sorted(terms(), key=lambda term: str(term["en"]))
    ]
    return _HEADS[lang] + "|---|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    for lang, name in FILES.items():
        (Path(sys.argv[1]) / name).write_text(page(lang), encoding="utf-8")
