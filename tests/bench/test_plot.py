"""Pictures of records."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashpath import settings
from flashpath.bench import Record, load
from flashpath.bench.plot import ceilings, draw, require_drawable
from flashpath.errors import FlashpathError


@pytest.fixture
def records() -> list[Record]:
    file = settings.content_dir("benchmarks/results") / "h200.json"
    return [record for record in load(file) if record.ladder == "vector_add"]


def test_every_implementation_and_case_is_named_in_the_picture(records: list[Record], tmp_path: Path) -> None:
    draw(records, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for record in records:
        assert record.implementation in text
        assert record.case in text
    draw(records, tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text(encoding="utf-8") == text


def test_ceilings_are_those_of_the_records(records: list[Record]) -> None:
    ((name, gb_per_s, tflop_per_s),) = ceilings(records)
    assert name.startswith("copy, 4,")
    assert gb_per_s is not None
    assert 4000 < gb_per_s < 4800
    assert tflop_per_s is None


def test_pictures_of_other_formats_and_of_nothing_are_refused(records: list[Record], tmp_path: Path) -> None:
    draw(records, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FlashpathError, match=r"\.svg"):
        require_drawable(tmp_path / "a.jpeg")
    with pytest.raises(FlashpathError, match="no folder"):
        require_drawable(tmp_path / "missing" / "a.svg")
    with pytest.raises(FlashpathError, match="nothing to draw"):
        draw([], tmp_path / "a.svg")
