"""The page on layouts shows what its commands print, and what its code prints, in both languages."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.cli.failures import tell_failure
from flashpath.errors import FlashpathError
from flashpath.messages import speaking

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"en": "layouts.md", "zh": "layouts.zh.md"}


def page(lang: str) -> str:
    return (DOCS / PAGES[lang]).read_text(encoding="utf-8")


def printed(line: str) -> str:
    """Returns what a command prints, on either stream."""
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    said = io.StringIO()
    if isinstance(done.exception, FlashpathError):
        with contextlib.redirect_stderr(said):
            tell_failure(done.exception)
    return done.stdout + said.getvalue()


@pytest.mark.parametrize("lang", PAGES)
def test_commands_print_what_the_page_shows(lang: str) -> None:
    pattern = r"^```sh(?: fails)?\n([^\n]*)\n```\n\n```text\n(.*?)```$"
    pairs = re.findall(pattern, page(lang), re.MULTILINE | re.DOTALL)
    assert len(pairs) == 9
    with speaking(lang):
        for line, text in pairs:
            assert printed(line).rstrip() == text.rstrip(), line


@pytest.mark.parametrize("lang", PAGES)
def test_the_code_prints_what_the_page_shows(lang: str) -> None:
    ((code, text),) = re.findall(
        r"^```python\n(.*?)```\n\n```text\n(.*?)```$", page(lang), re.MULTILINE | re.DOTALL
    )
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, {})
    assert said.getvalue() == text


def test_the_commands_that_write_files_run(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```sh\n([^`]*--save[^`]*)```", page("en"), re.MULTILINE)
    for line in block.splitlines():
        command = line.partition("  #")[0].replace("build/", f"{tmp_path}/")
        assert printed(command).strip()
    assert (tmp_path / "swizzle.svg").is_file()
