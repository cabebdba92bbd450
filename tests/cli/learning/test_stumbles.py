"""What learners stumbled over in their first week stays mended."""

from __future__ import annotations

from typing import Any


def test_a_wrong_answer_in_review_gets_its_explanation(folder: Any) -> None:
    done = folder.run("review", "first", typed="?\n16\nq\n")
    assert "A warp has 32." in done.out


def test_an_export_does_not_swallow_the_one_before(folder: Any) -> None:
    folder.write("first/double", "right\n")
    folder.run("grade", "first/double")
    first = folder.run("export", "--json").json["files"]
    again = folder.run("export", "--json").json["files"]
    assert again == first
    left = [path.name for path in folder.root.rglob("*") if ".part-" in path.name]
    assert left == []
    pages = (folder.root / "portfolio").rglob("*.md")
    assert not any("part-" in page.read_text(encoding="utf-8") for page in pages)
