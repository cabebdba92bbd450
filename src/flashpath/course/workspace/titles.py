"""Titles of weeks and days, and what a track is expected to take."""

from __future__ import annotations

from flashpath.course.content import Day, Track, Week
from flashpath.messages import say, spoken


def week_name(number: str) -> str:
    return say("course.workspace.week", number=_range(number))


def day_name(number: str) -> str:
    return say("course.workspace.day", number=_range(number))


def week_title(week: Week) -> str:
    return titled(week_name(week.number), week.title.in_(spoken()))


def day_title(day: Day) -> str:
    return titled(day_name(day.number), day.title.in_(spoken()))


def titled(name: str, title: str) -> str:
    return say("course.workspace.titled", name=name, title=title)


def expected(track: Track) -> list[str]:
    """Returns the days or weeks of a track, and its hours, as far as they are known."""
    times: list[str] = []
    if track.days_expected:
        times.append(say("course.workspace.days", count=track.days_expected))
    elif track.weeks_expected:
        times.append(say("course.workspace.weeks", count=track.weeks_expected))
    if track.hours:
        times.append(say("course.workspace.hours", count=track.hours))
    return times


def stars(count: int) -> str:
    return "★" * count + "☆" * (5 - count)


def _range(number: str) -> str:
    return number if spoken() == "zh" else number.replace("-", "–")
