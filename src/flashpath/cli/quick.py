"""Reads a plain command line by the signature of its command, for a command that is to start at once.

Loading typer, and what typer loads to read one word, takes longer than a small program from the cache runs.
So such a command declares its parameters with `Argument` and `Option` of this module. A command line that is
well-formed and asks for no help is read here. Whatever is not understood, be it wrong or only unusual, is
left to typer, which is given the same declarations and knows what to say.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

Command = Callable[..., int]  # returns the exit code


class Argument:
    """The words of a command line that are no options."""

    def __init__(self, *, help: str) -> None:  # noqa: A002 - typer's name
        self.help = help


class Option:
    """As typer's: `declarations` such as "--quiet", "-q", by default the parameter's name."""

    def __init__(
        self,
        *declarations: str,
        help: str = "",  # noqa: A002 - typer's name
        hidden: bool = False,
        min: float | None = None,  # noqa: A002
        max: float | None = None,  # noqa: A002
    ) -> None:
        self.declarations = declarations
        self.help = help
        self.hidden = hidden
        self.min = min
        self.max = max


class _Unread(Exception):
    """This is for typer."""


class _Parameter:
    def __init__(self, name: str, annotation: Any, mark: Argument | Option) -> None:
        if get_origin(annotation) in (Union, types.UnionType):
            annotation = next(each for each in get_args(annotation) if each is not type(None))
        self.name = name
        self.is_list = get_origin(annotation) is list
        self.kind: Callable[[str], Any] = get_args(annotation)[0] if self.is_list else annotation
        self.mark = mark

    @property
    def switches(self) -> dict[str, bool]:
        """Each spelling of an option, and what it means for a flag."""
        if isinstance(self.mark, Argument):
            return {}
        spelled: dict[str, bool] = {}
        for each in self.mark.declarations or [f"--{self.name.replace('_', '-')}"]:
            on, _, off = each.partition("/")
            spelled |= {on: True} | ({off: False} if off else {})
        return spelled

    def value(self, word: str) -> Any:
        try:
            value = self.kind(word)
        except ValueError:
            raise _Unread from None
        if isinstance(self.mark, Option):
            low, high = self.mark.min, self.mark.max
            if not ((low is None or value >= low) and (high is None or value <= high)):  # NaN is neither
                raise _Unread
        return value


def read(command: Command, words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments for the command's function; None where typer is to read the words."""
    try:
        return _read(list(_parameters(command)), list(words))
    except _Unread:
        return None


def for_typer(command: Command) -> Callable[..., None]:
    """The command with the same declarations in typer's words."""
    import typer

    def called(**arguments: Any) -> None:
        raise typer.Exit(command(**arguments))

    def declared(mark: Argument | Option) -> Any:
        if isinstance(mark, Argument):
            return typer.Argument(help=mark.help)
        return typer.Option(
            *mark.declarations, help=mark.help, hidden=mark.hidden, min=mark.min, max=mark.max
        )

    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        annotation, mark = get_args(each.annotation)
        parameters.append(each.replace(annotation=Annotated[annotation, declared(mark)]))
    called.__doc__ = command.__doc__
    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called


def _parameters(command: Command) -> Iterator[_Parameter]:
    for name, hint in get_type_hints(command, include_extras=True).items():
        if name != "return":
            yield _Parameter(name, *get_args(hint))


def _read(parameters: Sequence[_Parameter], words: list[str]) -> dict[str, Any]:
    options = {spelling: each for each in parameters for spelling in each.switches}
    positional = next((each for each in parameters if not each.switches), None)
    found: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            if positional is None:
                raise _Unread
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
    if positional is not None and positional.name not in found:
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
