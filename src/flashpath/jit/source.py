"""What is to be compiled: a file, a template or a string, as text with a name and a folder."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta

from flashpath.errors import FlashpathError


class SourceNotFound(FlashpathError):
    """The path that was to be compiled does not exist."""


class TemplateError(FlashpathError):
    """A Jinja2 template could not be rendered."""


@dataclass(frozen=True)
class Source:
    """CUDA C++ text. `name` is what the compiler's messages and line tables call it."""

    text: str
    name: str
    folder: Path | None  # quoted includes are looked up here first
    rendered_from: Path | None = None  # the template, where there was one


def read_source(path_or_source: str | Path, variables: Mapping[str, Any] | None) -> Source:
    """Read a `.cu` file, render a `.cu.jinja` template, or take the string itself as source.

    A `Path` is always a path. A string is source if it holds a line break, a brace or a semicolon.
    """
    if not isinstance(path_or_source, (str, Path)) or not str(path_or_source).strip():
        raise SourceNotFound(
            f"fp.compile was given {path_or_source!r}.",
            "Give the path of a .cu file, or CUDA source.",
        )
    if "\0" in str(path_or_source):
        raise FlashpathError("The source holds a NUL character.", "Remove it: compilers end there.")
    if isinstance(path_or_source, str) and re.search(r"[\n{};]", path_or_source):
        if variables:
            raise TemplateError(
                "variables= was given, but the source is a plain string.",
                "Variables fill a *.cu.jinja file; for a string use defines= or str.format.",
            )
        return Source(path_or_source, "source.cu", None)

    try:
        path = Path(path_or_source).expanduser()
        if not path.is_file():
            raise _not_found(path)
    except (OSError, RuntimeError) as error:  # too long for a path; ~nobody
        raise SourceNotFound(
            f"{str(path_or_source)[:80]!r} is no path: {error}.", "Check the path."
        ) from None
    path = path.resolve()
    if path.suffix == ".jinja":
        return Source(_render(path, variables or {}), str(path.with_suffix("")), path.parent, path)
    if variables:
        raise TemplateError(
            f"variables= was given, but {path.name} is no template.",
            "Rename it to *.cu.jinja, or use defines= for preprocessor values.",
        )
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark before the first line
        if "\0" in text:
            raise FlashpathError(f"{path} holds a NUL character.", "Remove it: compilers end there.")
        return Source(text, str(path), path.parent)
    except UnicodeDecodeError as error:
        raise FlashpathError(f"{path} is not UTF-8 text: {error}.", "Save the file as UTF-8.") from None


def _not_found(path: Path) -> SourceNotFound:
    if path.is_dir():
        return SourceNotFound(f"{path} is a folder, not a CUDA source file.", "Name a .cu file in it.")
    folder = path.parent
    if not folder.is_dir():
        return SourceNotFound(f"{path} does not exist; neither does its folder {folder}.", "Check the path.")
    sources = [entry.name for entry in folder.iterdir() if entry.suffix in (".cu", ".cuh", ".jinja")]
    near = difflib.get_close_matches(path.name, sources, n=3)
    if near:
        return SourceNotFound(f"{path} does not exist.", f"Did you mean {' or '.join(near)}?")
    return SourceNotFound(
        f"{path} does not exist.",
        "Check the path; CUDA source given as a string holds a line break, a brace or a semicolon.",
    )


def _render(path: Path, variables: Mapping[str, Any]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the output is C++, not HTML
    )
    try:
        return environment.get_template(path.name).render(dict(variables))
    except jinja2.UndefinedError as error:
        raise TemplateError(
            f"{path.name}: {error.message}.",
            "Pass it: fp.compile(path, variables={…}). Given: " + (", ".join(variables) or "nothing") + ".",
        ) from None
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"{path.name}, line {error.lineno}: {error.message}.") from None
    except jinja2.TemplateNotFound as error:
        raise TemplateError(
            f"{path.name} includes the template {error.name!r}, which is not there."
        ) from None
    except Exception as error:  # whatever the template's own expressions raise
        asked = jinja2.meta.find_undeclared_variables(environment.parse(path.read_text(encoding="utf-8")))
        missing = ", ".join(sorted(asked - set(variables)))
        fix = f"It was not given: {missing}. Pass it: fp.compile(path, variables={{…}})." if missing else None
        raise TemplateError(f"{path.name}: {type(error).__name__}: {error}.", fix) from error
