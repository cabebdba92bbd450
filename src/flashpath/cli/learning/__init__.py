"""The course's commands: `start` to `export`, one file each, and what they share. They only show.

opening.py          opens the learner of `flashpath.course.learner`
verdict_view.py     how a verdict looks
progress_view.py    bars, days in a row, time
markdown.py         lessons in the terminal
keys.py, asking.py  single keys, and questions before something is replaced
"""
