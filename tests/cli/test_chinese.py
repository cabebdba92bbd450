"""A walk over all commands in Chinese: English is left in identifiers, code and what compilers say, alone.

What is not said in Chinese yet stands in `LEFT`, with what is left of it; an entry that is no longer true
fails, so that the list can only become shorter.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flashpath.cli.commands import app

TOP = Path(__file__).parents[2]
COMMANDS = [str(command.name) for command in app.registered_commands]

HELP = [
    "--help",
    *(f"{command} --help" for command in COMMANDS),
    "cache --help",
    *(f"cache {command} --help" for command in ("list", "show", "clear")),
]

# Lines that are quick, in a work folder that `start` makes first; what is wrong is told in Chinese, too.
RUNS = [
    "start",
    "start cuda-triton-flash --into .",
    "tour",
    "doctor",
    "ladder",
    "ladder vector_add --no-count",
    "ladder vectoradd",
    "bench vector_add --list",
    "bench vector_add --device cpu --sizes 64 --seconds 0.01 --no-ceilings",
    "bench vector_add --case small",
    "bench vector_add --sizes 2^99",
    "bench vector_add --device tpu",
    "bench vector_add --with missing.py:add",
    "bench vector_add --plot speeds.txt",
    "tune vector_add --size 64 --case small",
    "cache list",
    "cache show zz",
    "next",
    "read",
    "read first-kernel",
    "progress",
    "resources",
    "hint first-kernel/copy",
    "solution first-kernel/copy",
    "grade first-kernel/copy",
    "grade no-such-exercise",
    "log",
    "note",
    "explain-finding",
    "explain-finding race",
    "explain-finding no-such-finding",
    "explain-dispatch attention",
    "run no-such-file.cu",
    "explain no-such-file.cu",
    "profile no-such-file.cu",
    "sanitize no-such-file.cu",
    "validate no-such-file.py:f no-such-file.py:g",
]

# Command lines that cannot be read: what typer, its copy of click and pydantic say of them.
USAGE = [
    "no-such-command",
    "lader",
    "ladder --no-such-option",
    "ladder --coun",
    "ladder vector_add naive more",
    "ladder --json=yes",
    "bench",
    "bench vector_add --with",
    "bench vector_add --seconds abc",
    "bench vector_add --seconds 0",
    "tour --save .",
    "cache no-such-command",
]

LEFT: dict[str, str] = {}

# Runs command lines in one process, as `flashpath` does, and prints what each said.
WALK = """
import contextlib, io, json, sys
from flashpath.cli import main
said = {}
for line in json.load(sys.stdin):
    sys.argv = ["flashpath", *line.split()]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
        main()
    said[line] = out.getvalue()
print("---8<---" + json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("work")
    environment = os.environ | {
        "FLASHPATH_LANG": "zh",
        "FLASHPATH_HOME": str(home),
        "COLUMNS": "300",
        "TERMINAL_WIDTH": "300",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        [sys.executable, "-c", WALK],
        input=json.dumps([*HELP, *RUNS, *USAGE]),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=environment,
        timeout=600,
        check=False,
    )
    assert "---8<---" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout.partition("---8<---")[2])


_CODE = re.compile(
    r"`[^`\n]*`|\[[^\]\n]*\]|https?://\S+|\S*[/\\]\S*|--[\w-]+|^\s*(?:flashpath|\$|#|//) .*$", re.M
)
_SENTENCE = re.compile(r"(?<![\w.'-])(?:[A-Za-z][a-z']*[ ,;:]+){3,}[A-Za-z][a-z']*(?![\w.(-]\w)")


def english(text: str) -> list[str]:
    """Returns the runs of four English words and more that are no code."""
    found = _SENTENCE.findall(_CODE.sub("¦", re.sub(r"```.*?```", "¦", text, flags=re.DOTALL)))
    return [words for words in found if not _is_code(words)]


def _is_code(words: str) -> bool:
    return all(word.isupper() for word in words.split())


@pytest.mark.parametrize(
    ("text", "is_english"),
    [
        ("错误：There is no GPU here.", True),
        ("用法：flashpath ladder [OPTIONS] {NAME}", False),
        ("请运行 `python -m pip install torch`。", False),
        ("正常  沙箱  time files dies-with-parent", False),
    ],
)
def test_what_counts_as_english(text: str, is_english: bool) -> None:
    assert bool(english(text)) is is_english


@pytest.mark.parametrize("line", [*HELP, *RUNS, *USAGE])
def test_what_is_said_in_chinese(line: str, said: dict[str, str]) -> None:
    found = english(said[line])
    if line in LEFT:
        assert found, f"{line!r} speaks Chinese now: take it off the list"
        return
    assert not found, f"{found[:4]} in\n{said[line][:3000]}"
    assert "Traceback" not in said[line]
    if line not in ("bench vector_add --list",):
        assert re.search(r"[\u4e00-\u9fff]", said[line]), said[line]
