"""`flashpath explain-finding KIND`: what a finding means, and how to mend it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from flashpath.messages import say

_WIDEST = 100  # columns of text that are easy to read
# A line that ends between Chinese characters: laid out anew, its end would become a space.
_BROKEN = re.compile("(?<=[\u3000-\u9fff\uff00-\uffef])\n *(?=[\u3000-\u9fff\uff00-\uffef])")


def explain_finding(
    kind: Annotated[str | None, typer.Argument(help=say("cli.explain-finding-kind"))] = None,
    lang: Annotated[str | None, typer.Option(help=say("cli.explain-finding-lang"))] = None,
    save: Annotated[Path | None, typer.Option(help=say("cli.explain-finding-save"))] = None,
) -> None:
    """Teaches what a finding means."""
    from flashpath import settings
    from flashpath.cli.output import console
    from flashpath.vgpu.explanations import explain_finding as explain
    from flashpath.vgpu.findings import KINDS

    language = settings.language(lang)
    out = console()
    if kind is None:
        width = max(map(len, KINDS))
        for each in KINDS:
            out.print(f"[bold]{each:<{width}}[/]  {explain(each, language).summary}")
        return
    explanation = explain(kind, language)
    if save is not None:
        for example in (explanation.buggy, explanation.mended):
            (save / example.file).write_text(example.code, encoding="utf-8")
            typer.echo(example.command)
        return
    if not out.is_terminal:
        typer.echo(explanation.document, nl=False)
        return
    from rich.markdown import Markdown

    document = _BROKEN.sub("", explanation.document)
    out.print(Markdown(document), width=min(out.width, _WIDEST), soft_wrap=False)
