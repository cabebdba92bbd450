"""Questions asked again after growing pauses: what is remembered is asked ever more rarely."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from flashpath.course.state.database import Database
from flashpath.course.state.rows import is_box, is_day, is_moment, is_name, is_text, is_whole

_REVIEW = (is_name, is_box, is_day, is_whole)
PAUSES = (1, 3, 7, 16, 35)  # days until an item is due again, by its box


@dataclass(frozen=True)
class ReviewItem:
    """A question of a unit's quiz that was asked at least once: `unit/item`, its box, the day it is due."""

    item: str
    box: int
    due: str
    ever_right: bool


class Reviews:
    """The boxes: a right answer moves an item one box on, a wrong one back to the first."""

    def __init__(self, database: Database, now: Callable[[], float]) -> None:
        self._db = database
        self._now = now

    def answer(self, item: str, right: bool, answer: str) -> ReviewItem:
        """Keep an answer, and say when the item is due again."""
        now = self._now()
        today = datetime.datetime.fromtimestamp(now).date()
        with self._db.writing() as db:
            before = db.execute("SELECT box, due, ever_right FROM reviews WHERE item = ?", (item,)).fetchone()
            if before is not None and not self._db.is_sound(before, _REVIEW[1:]):
                before = None
            box = 0
            if right and before is not None:
                # Asked again before it is due, an answer is no proof that it was remembered for the pause.
                box = min(before[0] + 1, len(PAUSES) - 1) if before[1] <= today.isoformat() else before[0]
            due = (today + datetime.timedelta(days=PAUSES[box])).isoformat()
            ever_right = right or bool(before and before[2])
            db.execute("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?)", (item, box, due, ever_right))
            db.execute(
                "INSERT INTO answers (item, at, right, answer) VALUES (?, ?, ?, ?)",
                (item, now, right, answer),
            )
            db.execute("INSERT OR IGNORE INTO days VALUES (?)", (today.isoformat(),))
        return ReviewItem(item, box, due, ever_right)

    def all(self) -> dict[str, ReviewItem]:
        """Every item asked so far, the longest due first."""
        rows = self._db.read(
            "SELECT item, box, due, ever_right FROM reviews ORDER BY due, item", kinds=_REVIEW
        )
        return {row[0]: ReviewItem(row[0], row[1], row[2], bool(row[3])) for row in rows}

    def due(self) -> tuple[ReviewItem, ...]:
        today = datetime.datetime.fromtimestamp(self._now()).date().isoformat()
        return tuple(each for each in self.all().values() if each.due <= today)

    def answers(self, item: str) -> tuple[tuple[float, bool, str], ...]:
        """When, whether right, and what was answered; the oldest first."""
        rows = self._db.read(
            "SELECT at, right, answer FROM answers WHERE item = ? ORDER BY id",
            item,
            kinds=(is_moment, is_whole, is_text),
        )
        return tuple((at, bool(right), answer) for at, right, answer in rows)
