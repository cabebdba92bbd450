"""With --json whatever goes wrong is told on stdout as JSON too; words and exit codes stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.command_line import Ended, run_here


def run(*words: str, cwd: Path) -> Ended:
    return run_here(*words, folder=cwd)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["read", "no-such-unit"], 1, "There is no unit 'no-such-unit'."),
        (["start", "no-such-track"], 1, "There is no track 'no-such-track'."),
        (["explain", "missing.cu"], 1, "missing.cu"),
        (["profile", "missing.cu"], 1, "missing.cu"),
        (["sanitize", "missing.cu"], 2, "missing.cu"),
        (["ladder", "no-such-ladder"], 1, "no-such-ladder"),
        (["read", "--no-such-option"], 2, "No such option: --no-such-option"),
        (["no-such-command"], 2, "No such command 'no-such-command'"),
        (["validate"], 2, "Missing"),
        (["progress", "--week"], 2, "--week"),
    ],
)
def test_a_failure_is_json_too(
    words: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHPATH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FLASHPATH_LANG", "en")
    done = run(*words[:1], "--json", *words[1:], cwd=tmp_path)
    assert done.returncode == code, done.stderr
    told = json.loads(done.stdout)
    assert set(told) == {"error", "fix"}
    assert says in told["error"]
    assert done.stderr
    without = run(*words, cwd=tmp_path)
    assert without.returncode == code
    assert without.stdout == ""


def test_what_follows_two_dashes_is_the_programs_own(tmp_path: Path) -> None:
    done = run("run", "missing.cu", "--", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
