"""The tables of the progress file, as the steps that made them: never edit a step that was released, add one.

Times are seconds since 1970; days are the learner's own, as `2026-01-31`, noted when they happened, so that a
journey to another time zone does not break a streak.
"""

from __future__ import annotations

APPLICATION_ID = 0x666C7061  # "flpa": marks the file as ours

MIGRATIONS: tuple[str, ...] = (
    # 1: all that the course keeps
    """
    CREATE TABLE submissions (          -- what was tried, each text once
        hash TEXT PRIMARY KEY,
        text BLOB NOT NULL,             -- compressed by zlib
        bytes INTEGER NOT NULL
    );
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        exercise TEXT NOT NULL,
        at REAL NOT NULL,
        passed INTEGER,                 -- null: begun, and interrupted before the verdict
        reason TEXT,
        headline TEXT,
        seconds REAL,
        submission TEXT NOT NULL,
        grade TEXT                      -- the whole verdict, as JSON
    );
    CREATE INDEX attempts_of ON attempts (exercise, at);
    CREATE TABLE passes (
        exercise TEXT PRIMARY KEY,
        first_at REAL NOT NULL,
        last_at REAL NOT NULL,
        attempt INTEGER                 -- the newest that passed; null: passed without a file, as a quiz is
    );
    CREATE TABLE hints (
        exercise TEXT NOT NULL,
        number INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (exercise, number)
    );
    CREATE TABLE given_up (exercise TEXT PRIMARY KEY, at REAL NOT NULL);
    CREATE TABLE kept_files (           -- what a reset replaced
        id INTEGER PRIMARY KEY,
        exercise TEXT NOT NULL,
        at REAL NOT NULL,
        path TEXT NOT NULL,
        submission TEXT NOT NULL
    );
    CREATE TABLE ticks (
        track TEXT NOT NULL,            -- empty: of a unit, so of every track
        item TEXT NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (track, item)
    );
    CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        track TEXT NOT NULL,
        day TEXT NOT NULL,
        began REAL NOT NULL,
        ended REAL NOT NULL
    );
    CREATE TABLE days (day TEXT PRIMARY KEY);    -- on which something was done
    CREATE TABLE log (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        problem TEXT NOT NULL,
        solution TEXT NOT NULL,
        learnt TEXT NOT NULL,
        kernel TEXT NOT NULL
    );
    CREATE TABLE reviews (
        item TEXT PRIMARY KEY,          -- unit/item
        box INTEGER NOT NULL,
        due TEXT NOT NULL,              -- a day
        ever_right INTEGER NOT NULL
    );
    CREATE TABLE answers (
        id INTEGER PRIMARY KEY,
        item TEXT NOT NULL,
        at REAL NOT NULL,
        right INTEGER NOT NULL,
        answer TEXT NOT NULL
    );
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    """,
)
