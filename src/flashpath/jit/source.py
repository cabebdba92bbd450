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
from flashpath.messages import Message, any_of


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
        raise SourceNotFound("jit.no-source", value=repr(path_or_source))
    if "\0" in str(path_or_source):
        raise FlashpathError("jit.source-with-nul")
    if isinstance(path_or_source, str) and re.search(r"[\n{};]", path_or_source):
        if variables:
            raise TemplateError("jit.variables-of-string")
        return Source(path_or_source, "source.cu", None)

    try:
        path = Path(path_or_source).expanduser()
        if not path.is_file():
            raise _not_found(path)
    except (OSError, RuntimeError) as error:  # too long for a path; ~nobody
        value = repr(str(path_or_source)[:80])
        raise SourceNotFound("jit.no-path", value=value, error=str(error)) from None
    path = path.resolve()
    if path.suffix == ".jinja":
        return Source(_render(path, variables or {}), str(path.with_suffix("")), path.parent, path)
    if variables:
        raise TemplateError("jit.variables-of-plain-file", name=path.name)
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark before the first line
        if "\0" in text:
            raise FlashpathError("jit.file-with-nul", path=str(path))
        return Source(text, str(path), path.parent)
    except UnicodeDecodeError as error:
        raise FlashpathError("jit.not-utf8", path=str(path), error=str(error)) from None


def _not_found(path: Path) -> SourceNotFound:
    if path.is_dir():
        return SourceNotFound("jit.source-is-folder", path=str(path))
    folder = path.parent
    if not folder.is_dir():
        return SourceNotFound("jit.source-and-folder-missing", path=str(path), folder=str(folder))
    sources = [entry.name for entry in folder.iterdir() if entry.suffix in (".cu", ".cuh", ".jinja")]
    near = difflib.get_close_matches(path.name, sources, n=3)
    if near:
        return SourceNotFound("jit.source-missing-near", path=str(path), near=any_of(near))
    return SourceNotFound("jit.source-missing", path=str(path))


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
        given = list(variables) or Message("jit.nothing")
        raise TemplateError(
            "jit.template-variable", name=path.name, error=error.message, given=given
        ) from None
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(
            "jit.template-syntax", name=path.name, line=error.lineno, error=error.message
        ) from None
    except jinja2.TemplateNotFound as error:
        raise TemplateError("jit.template-include", name=path.name, other=error.name) from None
    except Exception as error:  # whatever the template's own expressions raise
        asked = jinja2.meta.find_undeclared_variables(environment.parse(path.read_text(encoding="utf-8")))
        missing = sorted(asked - set(variables))
        advice = Message("jit.template-not-given", {"missing": missing}) if missing else ""
        what = f"{type(error).__name__}: {error}"
        raise TemplateError("jit.template-failed", name=path.name, error=what, advice=advice) from error
