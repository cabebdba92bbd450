"""The learner, for every face of the course: a command line, a web page.

learner.py         who learns what, where: the course, the track, the work folder, the progress file
grading.py         an answer that is graded and kept
answers.py         hints, solutions, and the file of an answer put back to its beginning
review.py          the questions that are due, and what an answer to one of them changes
notes.py           the notes of a work folder: where they lie, what they begin with, which are written
new_note.py        a note that is begun
note_templates.py  templates of notes
overview.py        what comes next, and how far a track is done, as JSON can hold it
problem_sets.py    problems that are graded in one go
sightings.py       what the machine saw without being asked to grade it
papers.py          papers that a work folder fetches
guides.py          pages of the documentation that lessons name
reading.py         a lesson to read, or what there is of a unit that is planned
portfolio.py       what `flashpath export` writes
"""

from flashpath.course.learner.learner import Learner, learning

__all__ = ["Learner", "learning"]
