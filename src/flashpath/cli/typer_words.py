"""What typer says by itself, in the language that is spoken: headings of the help, and errors of usage.

Typer ships its words as English constants and f-strings (older versions ask gettext, for which nobody ships a
Chinese catalogue). So the constants are replaced, and an error's sentence is recognised by the English
template in the catalogue and said again.
"""

from __future__ import annotations

import functools
import importlib
import re
import string
from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from flashpath.messages import Text, catalogue, say, spoken

# ---- Help ------------------------------------------------------------------------------------------------


def install() -> None:
    """Gives typer's constants the words of the language; a version that lacks one of them does without it."""
    constants = {
        "DEPRECATED_STRING": say("cli.typer-deprecated"),
        "DEFAULT_STRING": say("cli.typer-default", value="{}"),
        "ENVVAR_STRING": say("cli.typer-variable", variable="{}"),
        "REQUIRED_LONG_STRING": say("cli.typer-required"),
        "ARGUMENTS_PANEL_TITLE": say("cli.typer-arguments"),
        "OPTIONS_PANEL_TITLE": say("cli.typer-options"),
        "COMMANDS_PANEL_TITLE": say("cli.typer-commands"),
        "ERRORS_PANEL_TITLE": say("cli.typer-error"),
        "ABORTED_TEXT": say("cli.typer-aborted"),
        "RICH_HELP": say("cli.typer-try", command="{command_path}", option="{help_option}"),
    }
    rich_utils: Any = importlib.import_module("typer.rich_utils")
    if shown := getattr(TyperOption, "display_type_rich", None):
        options: Any = TyperOption
        options.display_type_rich = functools.partialmethod(_type_shown, shown)
    for name, text in constants.items():
        if hasattr(rich_utils, name):
            setattr(rich_utils, name, text)
    if make_text := getattr(rich_utils, "_make_rich_text", None):
        rich_utils._make_rich_text = functools.partial(_made_to_fold, make_text)


def _type_shown(option: Any, shown: Any, ctx: Any) -> Any:
    """Returns the type of an option as the help shows it: none for a flag, which takes no value."""
    return None if option.is_flag else shown(option, ctx)


def _made_to_fold(make_text: Any, **given: Any) -> Any:
    """Makes a text of the help that goes on in the next line: Chinese, without spaces, would be cut off."""
    text = make_text(**given)
    if hasattr(text, "overflow"):
        text.overflow = "fold"
    return text


class Speaking:
    """Mixed into a command of typer: its usage line and its `--help` speak the language."""

    def format_usage(self: Any, ctx: Any, formatter: Any) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=say("cli.typer-usage"))

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        if option is not None:
            option.help = say("cli.typer-help")
        return option  # pyright: ignore[reportUnknownVariableType]


class Command(Speaking, TyperCommand):
    """A command whose usage line and `--help` speak the language."""


class Group(Speaking, TyperGroup):
    """A group of commands whose usage line and options of typer's own speak the language."""

    def get_params(self, ctx: Any) -> Any:
        params: Any = super().get_params(ctx)
        for param in params:
            if param.name in ("install_completion", "show_completion"):
                param.help = translated(param.help)
        return params


# ---- Errors ----------------------------------------------------------------------------------------------

# In this order they are tried: the more particular ones first. Versions of typer differ in their wording.
_ERRORS = (
    "cli.typer-no-command-but", "cli.typer-no-command", "cli.typer-missing-command",
    "cli.typer-no-option-but", "cli.typer-no-option-near", "cli.typer-no-option-quoted",
    "cli.typer-no-option", "cli.typer-missing-argument-more", "cli.typer-missing-argument",
    "cli.typer-missing-option", "cli.typer-invalid-for", "cli.typer-invalid", "cli.typer-extra-arguments",
    "cli.typer-extra-argument", "cli.typer-takes-no-value", "cli.typer-wants-argument",
    "cli.typer-wants-arguments", "cli.typer-argument-takes", "cli.typer-choose", "cli.typer-no-number",
    "cli.typer-no-integer", "cli.typer-at-least", "cli.typer-more-than", "cli.typer-at-most",
    "cli.typer-less-than", "cli.typer-not-in-range", "cli.typer-not-valid-value", "cli.typer-not-valid",
    "cli.typer-not-one-of", "cli.typer-not-there", "cli.typer-is-directory", "cli.typer-is-file",
    "cli.typer-not-readable", "cli.typer-not-writable", "cli.typer-install-completion",
    "cli.typer-show-completion",
)  # fmt: skip


def translated(sentence: str) -> str:
    """Returns the sentence of an error in the language that is spoken; one that nobody knows stays."""
    if spoken() == "en":
        return sentence
    for code in _ERRORS:
        if match := _pattern(code).fullmatch(sentence):
            given = match.groupdict()
            return say(code, **given | {name: translated(given[name]) for name in ("why",) if name in given})
    return sentence


@functools.cache
def _pattern(code: str) -> re.Pattern[str]:
    """Returns what matches the English of that message, a group for each of its fields."""
    room, _, key = code.rpartition(".")
    found = catalogue(room)[key]
    assert isinstance(found, Text)
    parts = [
        re.escape(text) + (f"(?P<{name}>.+?)" if name else "")
        for text, name, _, _ in string.Formatter().parse(found.en)
    ]
    return re.compile("".join(parts), re.DOTALL)
