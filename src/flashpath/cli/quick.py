"""Reads a plain command line by the signature of its command, for a command that is to start at once.

To read one word typer loads pydantic, which takes longer than a small program from the cache runs. So a
command line that is well-formed and asks for no help is read here. Whatever is not understood, be it wrong or
only unusual, is left to typer, which knows what to say about it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from typer.models import OptionInfo


class _Unread(Exception):
    """This is for typer."""


@dataclass(frozen=True)
class _Parameter:
    name: str
    kind: type  # of one value
    is_list: bool
    info: Any  # typer's OptionInfo or ArgumentInfo

    @property
    def switches(self) -> dict[str, bool]:
        """Each spelling of an option, and what it means for a flag."""
        if not isinstance(self.info, OptionInfo):
            return {}
        # In an annotation typer takes the first declaration for a default.
        declared = [
            each for each in (self.info.default, *(self.info.param_decls or ())) if isinstance(each, str)
        ]
        spelled: dict[str, bool] = {}
        for each in declared or [f"--{self.name.replace('_', '-')}"]:
            on, _, off = each.partition("/")
            spelled |= {on: True} | ({off: False} if off else {})
        return spelled

    def value(self, word: str) -> Any:
        try:
            value = self.kind(word)
        except ValueError:
            raise _Unread from None
        low, high = getattr(self.info, "min", None), getattr(self.info, "max", None)
        if (low is not None and value < low) or (high is not None and value > high):
            raise _Unread
        return value


def read(command: Callable[..., None], words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments for the command's function; None where typer is to read the words."""
    try:
        return _read(list(_parameters(command)), list(words))
    except _Unread:
        return None


def _read(parameters: Sequence[_Parameter], words: list[str]) -> dict[str, Any]:
    options = {spelling: each for each in parameters for spelling in each.switches}
    (positional,) = (each for each in parameters if not each.switches)
    found: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            found.setdefault(positional.name, []).append(positional.value(word))
            continue
        spelling, value = _split(word, options)
        option = options[spelling]
        if option.kind is bool:
            if value is not None:
                raise _Unread
            found[option.name] = option.switches[spelling]
            continue
        if value is None:
            if not words:
                raise _Unread
            value = words.pop(0)
        if option.is_list:
            found.setdefault(option.name, []).append(option.value(value))
        else:
            found[option.name] = option.value(value)
    if positional.name not in found:
        raise _Unread
    return found


def _split(word: str, options: dict[str, _Parameter]) -> tuple[str, str | None]:
    """`--name`, `--name=value`, `-Nvalue`."""
    if word in options:
        return word, None
    name, equals, value = word.partition("=")
    if equals and name in options:
        return name, value
    if word[:2] in options and options[word[:2]].kind is not bool and not word.startswith("--"):
        return word[:2], word[2:]
    raise _Unread


def _parameters(command: Callable[..., None]) -> Iterator[_Parameter]:
    for name, hint in get_type_hints(command, include_extras=True).items():
        if name == "return":
            continue
        if get_origin(hint) is not Annotated:
            raise _Unread
        annotation, info, *_ = get_args(hint)
        if get_origin(annotation) in (Union, types.UnionType):
            annotation = next(each for each in get_args(annotation) if each is not type(None))
        is_list = get_origin(annotation) is list
        kind = get_args(annotation)[0] if is_list else annotation
        if kind not in (str, int, float, bool, Path):
            raise _Unread
        yield _Parameter(name, kind, is_list, info)
