"""The learner's own folder: made from a track, completed by the next start, found again by every command.

workspace.py   Workspace: create, find, file of an exercise, notes
marker.py      flashpath.toml, by which a folder is known
writing.py     files come whole or not at all, and never over what a learner wrote
repository.py  the folder's git repository
layouts.py     which files a folder has: by weeks, by days, or as the first week is drawn
first_week.py  the first week of flash-attention-source
pages.py       pages of Markdown: the track, a week, a day, a lesson, an exercise
titles.py      titles of weeks and days
messages.py    headings and sentences in both languages
"""

from flashpath.course.workspace.marker import WorkspaceError
from flashpath.course.workspace.workspace import Made, Workspace

__all__ = ["Made", "Workspace", "WorkspaceError"]
