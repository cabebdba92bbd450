"""The course: units and tracks read from `course/`, exercises graded in a sandbox, progress kept.

content/    what the files under course/ say: units, lessons, exercises, tracks, resources
sandbox/    processes that build and run what a learner wrote, and can do little else
grader/     cases, references, tolerances, goals; a Grade for every kind of exercise
state/      one SQLite file: attempts, ticks, time, questions to ask again
workspace/  the learner's own folder: made from a track, found again
learner/    who learns here: grading, hints, review, notes, the portfolio
figures/    the pictures of lessons, drawn by code; units/ has a module for each unit
validation/ the four steps of `flashpath validate`
expressions.py  what exercises compute: sizes, references, counts; nothing in them can reach a file
"""
