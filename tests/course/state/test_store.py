"""What the store keeps, and how it counts time, days and reviews."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashpath.course.state import store as store_module
from flashpath.course.state.reviews import PAUSES
from flashpath.course.state.store import Store


class Clock:
    """A time of day that tests set."""

    def __init__(self) -> None:
        self.at = datetime.datetime(2026, 3, 2, 9, 0).timestamp()

    def __call__(self) -> float:
        return self.at

    def on(self, minutes: float = 0, days: float = 0) -> None:
        self.at += minutes * 60 + days * 86400


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store(tmp_path / "progress.sqlite3", now=clock) as opened:
        yield opened


def tried(store: Store, exercise: str, text: str, passed: bool) -> int:
    attempt = store.begin_attempt(exercise, text)
    store.finish_attempt(
        attempt,
        passed=passed,
        reason=None if passed else "wrong",
        headline="…",
        seconds=1.5,
        grade={"passed": passed},
    )
    return attempt


def test_an_attempt_is_kept_before_it_is_graded(store: Store) -> None:
    attempt = store.begin_attempt("first-kernel/saxpy", "__global__ void 核() {}\n")
    (kept,) = store.attempts("first-kernel/saxpy")
    assert kept.passed is None
    assert store.text_of(kept.submission) == "__global__ void 核() {}\n"
    store.finish_attempt(attempt, passed=False, reason="wrong", headline="y[3] is wrong", seconds=0.4)
    (kept,) = store.attempts()
    assert (kept.passed, kept.reason, kept.headline, kept.seconds) == (False, "wrong", "y[3] is wrong", 0.4)
    assert store.passes() == {}
    assert store.attempted() == {"first-kernel/saxpy"}


def test_a_pass_stays_when_a_later_attempt_fails(store: Store, clock: Clock) -> None:
    first = clock()
    good = tried(store, "first-kernel/saxpy", "good", True)
    clock.on(days=1)
    tried(store, "first-kernel/saxpy", "bad", False)
    kept = store.passes()["first-kernel/saxpy"]
    assert (kept.first_at, kept.last_at, kept.attempt) == (first, first, good)
    better = tried(store, "first-kernel/saxpy", "better", True)
    kept = store.passes()["first-kernel/saxpy"]
    assert (kept.first_at, kept.last_at, kept.attempt) == (first, clock(), better)
    assert store.text_of_attempt(better) == "better"
    assert store.grade_of(better) == {"passed": True}


def test_texts_are_bounded_but_what_passed_or_was_reset_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "TEXTS_KEPT", 3)
    good = tried(store, "u/a", "good", True)
    tried(store, "u/b", "text 0", False)  # another exercise has the same text
    store.keep_file("u/a", Path("a.cu"), "text 1")
    ids = [tried(store, "u/a", f"text {number}", False) for number in range(6)]
    assert store.text_of_attempt(good) == "good"
    kept = [store.text_of_attempt(each) for each in ids]
    assert kept == ["text 0", "text 1", None, "text 3", "text 4", "text 5"]


def test_a_huge_file_is_cut_and_an_odd_one_kept(store: Store) -> None:
    attempt = tried(store, "u/a", "字" * 400_000, False)
    text = store.text_of_attempt(attempt)
    assert text is not None
    assert len(text.encode()) <= store_module.LARGEST_TEXT + 3
    odd = tried(store, "u/a", b"\xff\xfe no UTF-8".decode("utf-8", "surrogateescape"), False)
    assert (store.text_of_attempt(odd) or "").endswith(" no UTF-8")


def test_hints_solutions_and_resets(store: Store) -> None:
    store.see_hint("u/a", 1)
    store.see_hint("u/a", 1)
    store.see_hint("u/a", 2)
    assert (store.hints_seen("u/a"), store.hints_seen("u/b")) == (2, 0)
    store.give_up("u/a")
    assert store.given_up() == {"u/a"}
    store.keep_file("u/a", Path("/exercises/a.cu"), "mine")
    (kept,) = store.kept_files("u/a")
    assert (kept.path, store.text_of(kept.submission)) == ("/exercises/a.cu", "mine")


def test_ticks_belong_to_a_track(store: Store) -> None:
    store.tick("dl-research", "read")
    store.tick("dl-research", "read")
    store.tick("", "first-kernel/global-index")
    assert store.ticks("dl-research") == {"read"}
    assert store.ticks("cuda-triton-flash") == frozenset()
    assert store.ticks("") == {"first-kernel/global-index"}
    store.untick("dl-research", "read")
    assert store.ticks("dl-research") == frozenset()


def test_time_counts_between_commands_and_cuts_gaps(store: Store, clock: Clock) -> None:
    for minutes in (0, 10, 5, 45, 15):  # the 45 are a pause
        clock.on(minutes)
        store.study.touch("dl-research")
    assert store.study.seconds("dl-research") == 30 * 60
    store.study.touch("cuda-triton-flash")
    clock.on(10)
    store.study.touch("cuda-triton-flash")
    assert store.study.seconds("cuda-triton-flash") == 10 * 60
    assert store.study.seconds() == 40 * 60
    clock.on(-60)  # the clock was set back
    store.study.touch("cuda-triton-flash")
    assert store.study.seconds() == 40 * 60
    assert list(store.study.seconds_by_day()) == ["2026-03-02"]


def test_the_streak_is_of_days_in_a_row(store: Store, clock: Clock) -> None:
    assert store.study.streak() == 0
    for _ in range(3):
        store.add_log("something")
        clock.on(days=1)
    assert store.study.streak() == 3  # today may still come
    clock.on(days=1)
    assert store.study.streak() == 0
    store.add_log("again")
    assert store.study.streak() == 1


def test_the_streak_goes_by_local_days(store: Store, clock: Clock) -> None:
    clock.at = datetime.datetime(2026, 3, 2, 23, 59).timestamp()
    store.add_log("before midnight")
    clock.on(minutes=2)
    store.add_log("after midnight")
    assert store.study.streak() == 2


def test_reviews_move_through_the_boxes(store: Store, clock: Clock) -> None:
    pauses: list[int] = []
    for _ in range(6):
        kept = store.reviews.answer("first-kernel/who", True, "2")
        due = datetime.date.fromisoformat(kept.due)
        pauses.append((due - datetime.datetime.fromtimestamp(clock()).date()).days)
        assert store.reviews.due() == ()
        clock.on(days=pauses[-1])
        assert [each.item for each in store.reviews.due()] == ["first-kernel/who"]
    assert pauses == [*PAUSES, PAUSES[-1]]
    kept = store.reviews.answer("first-kernel/who", False, "1")
    assert (kept.box, kept.ever_right) == (0, True)
    assert [right for _, right, _ in store.reviews.answers("first-kernel/who")] == [True] * 6 + [False]


def test_an_answer_before_its_time_does_not_move_an_item_on(store: Store) -> None:
    store.reviews.answer("u/i", True, "1")
    assert store.reviews.answer("u/i", True, "1").box == 0
    assert store.reviews.answer("u/i", False, "3").ever_right


def test_settings(store: Store) -> None:
    assert store.setting("track") is None
    store.set("track", "dl-research")
    store.set("track", "cuda-triton-flash")
    assert store.setting("track") == "cuda-triton-flash"
