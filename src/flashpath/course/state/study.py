"""Time spent and days on which something was done, known from when commands were used."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable

from flashpath.course.state.database import Database
from flashpath.course.state.rows import is_day, is_moment, is_number
from flashpath.messages import say

# Between two commands a learner reads, writes and thinks; a longer gap was no study, and is not counted.
IDLE_SECONDS = 20 * 60


def local_day(at: float) -> str:
    return datetime.datetime.fromtimestamp(at).date().isoformat()


def spent(seconds: float) -> str:
    """Returns a time as people say it: 1 h 20 min."""
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours:
        return say("course.state.hours-and-minutes", hours=hours, minutes=minutes)
    return say("course.state.minutes", minutes=minutes)


class Study:
    """Sessions of commands with gaps of at most `IDLE_SECONDS`, each within one day and one track."""

    def __init__(self, database: Database, now: Callable[[], float]) -> None:
        self._db = database
        self._now = now

    def touch(self, track: str) -> None:
        """A command is used now: the session goes on, or a new one begins."""
        now = self._now()
        day = local_day(now)
        with self._db.writing() as db:
            last = db.execute("SELECT id, track, day, ended FROM study ORDER BY id DESC LIMIT 1").fetchone()
            is_same = last is not None and last[1:3] == (track, day) and is_moment(last[3])
            # A clock that was set back must not make time negative.
            if last is not None and is_same and 0 <= now - last[3] <= IDLE_SECONDS:
                db.execute("UPDATE study SET ended = ? WHERE id = ?", (now, last[0]))
            else:
                db.execute(
                    "INSERT INTO study (track, day, began, ended) VALUES (?, ?, ?, ?)", (track, day, now, now)
                )

    def seconds(self, track: str | None = None) -> float:
        """All time spent, or that of one track."""
        return math.fsum(self.seconds_by_day(track).values())

    def seconds_by_day(self, track: str | None = None) -> dict[str, float]:
        rows = self._db.read(
            "SELECT day, ended - began FROM study WHERE ? IS NULL OR track = ? ORDER BY day",
            track,
            track,
            kinds=(is_day, is_number),
        )
        spent: dict[str, float] = {}
        for day, seconds in rows:
            spent[day] = spent.get(day, 0.0) + seconds
        return spent

    def mark_day(self) -> None:
        """Something was done today: an attempt, an answer, a tick, a log entry."""
        with self._db.writing() as db:
            db.execute("INSERT OR IGNORE INTO days VALUES (?)", (local_day(self._now()),))

    def days(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self._db.read("SELECT day FROM days ORDER BY day", kinds=(is_day,)))

    def streak(self) -> int:
        """Days in a row on which something was done, up to today; today itself may still be to come."""
        done = set(self.days())
        day = datetime.datetime.fromtimestamp(self._now()).date()
        if day.isoformat() not in done:
            day -= datetime.timedelta(days=1)
        length = 0
        while day.isoformat() in done:
            length += 1
            day -= datetime.timedelta(days=1)
        return length
