"""The course's commands: `start` to `export`, one file each, and what they share.

learner.py          who learns what, where: the course, the track, the work folder, the state
grading.py          one answer graded and kept; how a verdict looks
markdown.py         lessons in the terminal
keys.py, asking.py  single keys, and questions before something is replaced
progress_view.py    bars, days in a row, time
notes.py            the notes of a work folder
portfolio.py        what `export` writes
"""
