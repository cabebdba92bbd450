"""What a learner has done, in one SQLite file that several processes may use and no crash loses.

schema.py    the tables, as migrations
database.py  opening, upgrading, putting a damaged file aside; errors in words
rows.py      what a row must hold to be one
store.py     attempts, passes, hints, ticks, the log, settings
study.py     time spent, days, the streak
reviews.py   questions asked again after 1, 3, 7, 16 and 35 days
progress.py  what of a track is done, and what comes next
quiz.py      questions: how they are mixed, and whether an answer is right
"""

from flashpath.course.state.database import StoreError
from flashpath.course.state.store import Attempt, KeptFile, LogEntry, Pass, Store

__all__ = ["Attempt", "KeptFile", "LogEntry", "Pass", "Store", "StoreError"]
