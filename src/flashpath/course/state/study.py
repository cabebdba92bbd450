"""Time spent and days on which something was done, known from when commands were used."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from flashpath.course.state.database import Database
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
            # A clock that was set back must not make time negative.
            if last is not None and last[1:3] == (track, day) and 0 <= now - last[3] <= IDLE_SECONDS:
                db.execute("UPDATE study SET ended = ? WHERE id = ?", (now, last[0]))
            else:
                db.execute(
                    "INSERT INTO study (track, day, began, ended) VALUES (?, ?, ?, ?)", (track, day, now, now)
                )

    def seconds(self, track: str | None = None) -> float:
        """All time spent, or that of one track."""
        rows = self._db.read(
            "SELECT coalesce(sum(ended - began), 0) FROM study WHERE ? IS NULL OR track = ?", track, track
        )
        return rows[0][0]

    def seconds_by_day(self, track: str | None = None) -> dict[str, float]:
        rows = self._db.read(
            "SELECT day, sum(ended - began) FROM study WHERE ? IS NULL OR track = ? "
            "GROUP BY day ORDER BY day",
            track,
            track,
        )
        return dict(rows)

    def mark_day(self) -> None:
        """Something was done today: an attempt, an answer, a tick, a log entry."""
        with self._db.writing() as db:
            db.execute("INSERT OR IGNORE INTO days VALUES (?)", (local_day(self._now()),))

    def days(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self._db.read("SELECT day FROM days ORDER BY day"))

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
