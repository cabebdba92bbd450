"""`flashpath progress`: what is done, by track, week and day; checkpoints; streak and time; ticking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from flashpath.cli.quick import Option
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.course.content import Week
    from flashpath.course.state.progress import Progress


def progress(
    tick: Annotated[list[str] | None, Option(help=say("cli.learning.progress-tick"))] = None,
    untick: Annotated[list[str] | None, Option(help=say("cli.learning.progress-untick"))] = None,
    week: Annotated[str | None, Option(help=say("cli.learning.progress-week"))] = None,
    everything: Annotated[bool, Option("--all", help=say("cli.learning.progress-all"))] = False,
    track: Annotated[str | None, Option(help=say("cli.learning.progress-track"))] = None,
    lang: Annotated[str | None, Option(help=say("cli.learning.option-lang"))] = None,
    as_json: Annotated[bool, Option("--json", help=say("cli.option-json"))] = False,
) -> int:
    """Shows how far you are: by track, week and day, checkpoints, days in a row, time spent."""
    from flashpath.cli.learning.opening import learning

    with learning(lang, must_keep=bool(tick or untick)) as learner:
        chosen = learner.course.track(track) if track is not None else learner.track
        state = learner.progress(chosen)
        keys = [(state.tick_key(each), True) for each in tick or ()]
        keys += [(state.tick_key(each), False) for each in untick or ()]  # all are known before any is kept
        for key, done in keys:
            (learner.store.tick if done else learner.store.untick)(*key)
        if keys:
            state = learner.progress(chosen)
        if week is not None and week not in (each.number for each in chosen.weeks):
            known = [each.number for each in chosen.weeks]
            raise FlashpathError("course.no-week", track=chosen.name, week=week, known=known)
        if as_json:
            from flashpath.cli.output import print_json
            from flashpath.course.learner.overview import progress_data

            print_json(progress_data(learner, state))
        elif keys and week is None and not everything:
            _show_ticked(state, keys)
        else:
            from flashpath.cli.learning.progress_view import View

            view = View(learner, state, detailed=everything or week is not None)
            view.show(_opened(state, week, everything))
    return 0


def _opened(state: Progress, week: str | None, everything: bool) -> list[Week]:
    """The weeks whose days are shown: those asked for, or the one in which the next thing lies."""
    if everything:
        return list(state.track.weeks)
    if week is not None:
        return [each for each in state.track.weeks if each.number == week]
    coming = state.next()
    return [coming.week] if coming is not None else []


def _show_ticked(state: Progress, keys: list[tuple[tuple[str, str], bool]]) -> None:
    from flashpath.cli.output import console

    out = console()
    for (_, name), done in keys:
        out.print(f"{'☑' if done else '☐'} {name}", markup=False)
    count = state.of_track()
    out.print(say("cli.learning.progress-ticked", done=count.done, total=count.total, track=state.track.name))
