"""A walk over all commands in Chinese: English is left in identifiers, code and what compilers say, alone."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flashpath.cli import typer_words
from flashpath.cli.commands import app
from flashpath.messages import speaking

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
    "resources --week no-such-week",
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
    "layout (8,8):(8,1) --divide (4,2) --swizzle 1,1,3",
    "layout --mma SM80_16x8x16_F32F16F16F32_TN",
    "layout ((4,8),(2,2)):((32,1),(16,8)) --tile 16,8",
    "layout (4,8",
    "layout (4,6):(8,1) --compose 4:3",
    "layout --mma no-such-atom",
    "layout",
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


# Code: in backticks and brackets, addresses and paths, options, commands, comments, and lines of a program.
_CODE = re.compile(
    r"//.*$|`[^`\n]*`|\[[^\]\n]*\]|https?://\S+|\S*[/\\]\S*|--[\w-]+|^\s*(?:flashpath|\$|#) .*$|^.*[;{}]\s*$",
    re.MULTILINE,
)
_WORD = r"[A-Za-z][A-Za-z']*(?![\w(-])"
_SENTENCE = re.compile(rf"(?<![\w.'-]){_WORD}(?:[ ,;:]+{_WORD}){{3,}}")


def english(text: str) -> list[str]:
    """Returns the runs of four English words and more that are no code."""
    found = _SENTENCE.findall(_CODE.sub("¦", re.sub(r"```.*?```", "¦", text, flags=re.DOTALL)))
    return [words for words in found if not _is_code(words)]


def _is_code(words: str) -> bool:
    """Whether those are metavariables, or a list of names."""
    return words.isupper() or re.fullmatch(r"\w+(, \w+)*", words) is not None


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


def test_typers_constants_have_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word that typer keeps in a constant is replaced, those of versions to come as well."""
    rich_utils = importlib.import_module("typer.rich_utils")
    words = {
        name: value
        for name, value in vars(rich_utils).items()
        if re.search(r"_(STRING|TITLE|TEXT|HELP)$", name) and re.search(r"[a-z]{3}", str(value))
    }
    assert len(words) >= 8
    for name, value in words.items():
        monkeypatch.setattr(rich_utils, name, value)  # and put back
    with speaking("zh"):
        typer_words.install()
    english_left = [name for name in words if not re.search(r"[\u4e00-\u9fff]", getattr(rich_utils, name))]
    assert not english_left


@pytest.mark.parametrize("line", [*HELP, *RUNS, *USAGE])
def test_what_is_said_in_chinese(line: str, said: dict[str, str]) -> None:
    found = english(
        re.sub(r"(?m)^ *[0-9a-f]{12} .*$", "", said[line])
    )  # rows of the cache name others' kernels
    assert not found, f"{found[:4]} in\n{said[line][:3000]}"
    assert "Traceback" not in said[line]
    if line not in ("bench vector_add --list",):
        assert re.search(r"[\u4e00-\u9fff]", said[line]), said[line]


def test_a_flag_shows_no_type(said: dict[str, str]) -> None:
    line = next(line for line in said["ladder --help"].split("\n") if "--json" in line)
    assert "<" not in line
    assert "<" in next(line for line in said["bench --help"].split("\n") if "│ --sizes" in line)


@pytest.mark.parametrize("command", [[], ["bench"], ["explain-dispatch"]])
def test_help_is_whole_at_80_columns(command: list[str], tmp_path: Path) -> None:
    """Rich ends a line that has no spaces in an ellipsis; Chinese goes on in the next line."""
    done = subprocess.run(
        [sys.executable, "-m", "flashpath.cli", *command, "--help"],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=os.environ
        | {"FLASHPATH_LANG": "zh", "COLUMNS": "80", "TERMINAL_WIDTH": "80", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0
    assert "…" not in done.stdout
