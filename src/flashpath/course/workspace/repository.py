"""The git repository of a work folder: begun with one commit, and left to the learner from then on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from flashpath.messages import Message

State = Literal["begun", "there", "inside", "none", "failed"]

# Nobody's, where git knows no name: a first commit must not fail for that.
_NOBODY = ("-c", "user.name=flashpath", "-c", "user.email=flashpath@localhost")
_QUIET = ("-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main", "-c", "core.quotePath=false")
_SECONDS = 60
# What points git at another repository, as in a hook of one.
_ELSEWHERE = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
)


def begin(root: Path, files: Sequence[str], message: str) -> tuple[State, str | Message]:
    """Make the repository and its first commit of `files`; says what became of it, and why it failed."""
    git = shutil.which("git")
    if git is None:
        return "none", ""
    if _git(git, root, "rev-parse", "--is-inside-work-tree").stdout.strip() == "true":
        top = _git(git, root, "rev-parse", "--show-toplevel").stdout.strip()
        if not top or not Path(top).exists() or not Path(top).samefile(root):
            return "inside", top
        if _git(git, root, "rev-parse", "--verify", "--quiet", "HEAD").returncode == 0:
            return "there", ""
    named = all(_git(git, root, "config", key).stdout.strip() for key in ("user.name", "user.email"))
    for words in (
        ("init", "--quiet"),
        ("config", "core.quotePath", "false"),  # names in Chinese are shown as they are
        ("add", "--force", "--", *files),
        (*(() if named else _NOBODY), "commit", "--quiet", "--no-verify", "-m", message),
    ):
        done = _git(git, root, *words)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            return "failed", said[-1] if said else Message(
                "course.workspace.git-ended", {"code": done.returncode}
            )
    return "begun", ""


def _git(git: str, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In the folder itself, whatever repository the caller's environment points at."""
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    environment["GIT_TERMINAL_PROMPT"] = "0"
    command = [git, *_QUIET, *words]
    try:
        return subprocess.run(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
