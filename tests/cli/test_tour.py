"""The tour on narrow terminals, and where only ASCII can be shown."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from flashpath.cli.tour import walk
from flashpath.messages import speaking


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_tour_fits_80_columns_and_loses_nothing(lang: str) -> None:
    text = io.StringIO()
    out = Console(
        file=text, width=80, force_terminal=True, color_system=None, soft_wrap=True, highlight=False
    )
    with speaking(lang):
        walk(out)
    lines = text.getvalue().splitlines()
    assert not [line for line in lines if cell_len(line) > 80]
    shown = " ".join(text.getvalue().split())
    for code in ("passes 2^31 for tensors of more elements.", "(long long)blockDim.x + threadIdx.x;"):
        assert code in shown
    assert "█" in shown


def test_the_picture_is_drawn_in_ascii_where_there_is_nothing_else() -> None:
    bytes_shown = io.BytesIO()
    file = io.TextIOWrapper(bytes_shown, encoding="ascii", errors="replace")
    with speaking("en"):
        walk(Console(file=file, width=100, soft_wrap=True, highlight=False))
    file.flush()
    shown = bytes_shown.getvalue().decode("ascii")
    assert "########........................  ######## 32 used" in shown
    assert "#...............................  #.......  4 used" in shown
