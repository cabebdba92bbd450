"""Progress through the tracks as they are: every one can be begun, gone through and finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashpath.course.content import load_course
from flashpath.course.content.proof import NOTE, SEEN
from flashpath.course.state import Store
from flashpath.course.state.progress import Progress
from flashpath.errors import FlashpathError

COURSE = load_course()


@pytest.mark.parametrize("name", COURSE.track_names)
def test_a_track_is_gone_through_in_order_and_ends(name: str, tmp_path: Path) -> None:
    track = COURSE.track(name)
    with Store(tmp_path / "progress.sqlite3") as store:
        progress = Progress(COURSE, track, store)
        order = progress.exercises()
        assert len(set(order)) == len(order)
        assert progress.of_track().done == 0
        seen: list[str] = []
        while (coming := Progress(COURSE, track, store).next()) is not None and coming.exercise is not None:
            seen.append(coming.exercise)
            assert coming.unit is not None
            assert coming.exercise in coming.unit.exercise_ids
            is_first = not set(seen[:-1]).intersection(coming.unit.exercise_ids)
            assert coming.is_new_unit == (is_first and coming.unit.is_ready)
            store.pass_without_file(coming.exercise)
        assert tuple(seen) == order
        progress = Progress(COURSE, track, store)
        assert progress.of_track().exercises_done == progress.of_track().exercises
        proofs = {task.done_by for _, _, task in track.tasks() if task.done_by is not None}
        notes = {proof.name for proof in proofs if proof.kind == NOTE}
        for proof in proofs:
            if proof.kind == SEEN:
                store.see(proof.name)
        for problem in (each for chosen in track.problem_sets for each in chosen.questions):
            store.reviews.answer(problem.id, True, "")
        for _, _, task in track.tasks():
            if task.done_by is None:
                assert not progress.is_done(task)
                store.tick(*progress.tick_key(task.id))
        progress = Progress(COURSE, track, store, notes)
        assert progress.next() is None
        for _, _, task in track.tasks():  # left are only those that wait for a unit to be written
            if not progress.is_done(task):
                assert task.done_by is not None
                assert task.done_by.unit is not None
                assert not COURSE.unit(task.done_by.unit).is_ready


@pytest.mark.parametrize("name", COURSE.track_names)
def test_every_checkpoint_can_be_ticked(name: str, tmp_path: Path) -> None:
    track = COURSE.track(name)
    with Store(tmp_path / "progress.sqlite3") as store:
        progress = Progress(COURSE, track, store)
        names = [each.id for stage in track.stages for each in stage.checkpoints]
        names += [each.id for each in track.assessment]
        for unit in map(COURSE.unit, track.units):
            names += [f"{unit.id}/{each.id}" for each in unit.checkpoints]
        for each in names:
            store.tick(*progress.tick_key(each))
        progress = Progress(COURSE, track, store)
        for each in names:
            key = each if "/" not in each else progress.tick_key(each)[1]
            assert progress.is_ticked(key)
        with pytest.raises(FlashpathError, match="no task or checkpoint"):
            progress.tick_key("no-such-thing")
