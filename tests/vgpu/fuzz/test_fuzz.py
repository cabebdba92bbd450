"""A thousand mutated modules, and that the program which runs them would notice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import forms
import fuzz_ptx
import mutations
import pytest
from mutations import mutant
from one_launch import run
from seeds import make_seeds
from words import Draft

from flashpath.vgpu.device import VirtualModule

FOLDER = Path(__file__).parent


def test_a_thousand_mutated_modules(tmp_path: Path) -> None:
    """None crashes, hangs, or ends in an error that is not worded for people."""
    done = subprocess.run(
        [sys.executable, str(FOLDER / "fuzz_ptx.py"), "--modules=1000", f"--save={tmp_path}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("1,000 modules: ")
    assert not list(tmp_path.iterdir())


def test_mutants_are_the_same_every_time_and_many_of_them_run() -> None:
    seeds = make_seeds()
    assert len({seed.kernel for seed in seeds}) > 15
    assert mutant(seeds, 7) == mutant(make_seeds(), 7)
    outcomes = [run(mutant(seeds, number)) for number in range(200)]
    assert outcomes.count("ran") + outcomes.count("KernelFault") > 90
    assert len(set(outcomes)) >= 4


def test_every_form_is_taken_by_the_engine() -> None:
    """A form that is refused before it is changed tests nothing."""
    for number, line in enumerate(forms.LINES):
        for k in range(20):
            form = forms.form_of(line, random.Random(number + 1000 * k), k)
            text = f"{forms.HEAD}{forms.REGISTERS}{forms.BODY}{form}\tret;\n}}\n"
            VirtualModule(text).kernel("made")


def test_each_change_leaves_some_modules_that_run_or_are_refused() -> None:
    """No change raises an error of its own, and each changes something."""
    seeds = make_seeds()
    for change in dict.fromkeys(mutations.CHANGES):
        changed = 0
        for number in range(30):
            choose = random.Random(number)
            draft = Draft.of_seed(choose.choice(seeds).ptx).copy()
            before = draft.text
            change(draft, Draft.of_seed(choose.choice(seeds).ptx), choose)
            changed += draft.text != before
        assert changed > 10, change.__name__


def test_what_was_found_in_a_seed_is_not_changed_by_its_mutants() -> None:
    seed = make_seeds()[0]
    whole = Draft.of_seed(seed.ptx)
    draft = whole.copy()
    draft.put(0, 5, "one two")
    assert whole.text == seed.ptx
    assert draft.text.startswith("one two")
    assert whole.places("opcode") != draft.places("opcode")
    assert draft.words[draft.places("opcode")[0]] == whole.words[whole.places("opcode")[0]]


def test_a_run_goes_on_where_its_record_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_ptx, "PORTION", 20)
    file = tmp_path / "record.json"
    arguments = ["--from=300", f"--record={file}", f"--save={tmp_path / 'troubles'}"]
    assert fuzz_ptx.main([*arguments, "--modules=40"]) == 0
    first = json.loads(file.read_text())
    assert (first["first"], first["modules"]) == (300, 40)
    assert fuzz_ptx.main([*arguments, "--modules=60"]) == 0
    whole = json.loads(file.read_text())
    assert whole["modules"] == 60
    assert fuzz_ptx.main(["--from=300", "--modules=60", f"--record={tmp_path / 'again.json'}"]) == 0
    assert json.loads((tmp_path / "again.json").read_text())["outcomes"] == whole["outcomes"]
    with pytest.raises(SystemExit, match="of other modules or another engine"):
        fuzz_ptx.main([f"--record={file}", "--modules=1"])


def bad_work(seeds_file: str, first: int, step: int, end: int, report: Connection) -> None:
    """As the real one, with modules that kill, hang and throw."""
    for number in range(first, end, step):
        report.send((number, "", ""))
        if number == 3:
            os.abort()
        if number == 5:
            time.sleep(600)
        report.send((number, "escaped", "ValueError") if number == 7 else (number, "ran", ""))


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_dies_hangs_or_escapes_is_told_and_the_others_go_on(jobs: int) -> None:
    fuzzer = fuzz_ptx.Fuzzer("", 0, 10, jobs, patience=2, work=bad_work)
    fuzzer.watch()
    assert fuzzer.tally.outcomes == {"died": 1, "hung": 1, "escaped": 1, "ran": 7}
    assert set(fuzzer.tally.troubles) == {3, 5, 7}
    assert "code -6" in fuzzer.tally.troubles[3]
