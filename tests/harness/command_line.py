"""`flashpath …` in the process of the test: what its libraries load, they have loaded for the test before."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from flashpath.messages import speaking


@dataclass(frozen=True)
class Ended:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def run_here(
    *words: str,
    typed: str = "",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run the command in a folder, with these variables of the environment besides those of the test."""
    from flashpath.cli import main

    with speaking("en"):  # options are explained in the language in which they are read first
        pass

    out, err = io.StringIO(), io.StringIO()
    before = signal.getsignal(signal.SIGPIPE)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (environment or {}).items():
            patch.setenv(name, value)
        if folder is not None:
            patch.chdir(folder)
        patch.setattr(sys, "argv", ["flashpath", *words])
        patch.setattr(sys, "stdin", io.StringIO(typed))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            signal.signal(signal.SIGPIPE, before)
    return Ended(code, out.getvalue(), err.getvalue())
