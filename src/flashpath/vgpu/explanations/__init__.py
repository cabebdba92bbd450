"""What each kind of finding means, for learners: a text per kind and language, with an example that runs.

A text is Markdown. Its two blocks of CUDA are the example, first with the bug and then mended; what stands
behind `cuda` in the line that opens a block are the options with which `flashpath sanitize` launches its
kernel. A whole program, with main, needs none.
"""

from __future__ import annotations

import difflib
import functools
import re
import shlex
from dataclasses import dataclass
from importlib import resources

from flashpath.errors import FlashpathError
from flashpath.messages import Message
from flashpath.vgpu.findings import KINDS

_BLOCK = re.compile(r"^```cuda(?P<options>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A file of CUDA, and the options of its launch; none where it is a whole program."""

    file: str
    code: str
    options: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that looks at it."""
        return shlex.join(("flashpath", "sanitize", self.file, *self.options))


@dataclass(frozen=True)
class Explanation:
    """The meaning of a kind of finding: why it matters, an example, and the example mended."""

    kind: str
    language: str
    title: str  # the kind, and what it is in a sentence
    summary: str  # that sentence
    text: str  # Markdown, its title left out
    buggy: Example
    mended: Example

    @property
    def document(self) -> str:
        """All of it as Markdown, with the commands to try."""
        commands = [
            f"flashpath explain-finding {self.kind} --save .",
            self.buggy.command,
            self.mended.command,
        ]
        shown = "\n".join(commands)
        intro = Message("vgpu.try-examples").text(self.language)
        return f"# {self.title}\n\n{self.text}\n\n{intro}\n\n```sh\n{shown}\n```\n"


@functools.cache
def explain_finding(kind: str, language: str) -> Explanation:
    """The explanation of that kind of finding in English ("en") or Chinese ("zh")."""
    if kind not in KINDS:
        near = difflib.get_close_matches(kind.lower().replace("_", "-").replace(" ", "-"), KINDS, 1, 0.5)
        if near:
            raise FlashpathError("vgpu.no-such-finding-but", kind=kind, near=near[0], kinds=KINDS)
        raise FlashpathError("vgpu.no-such-finding", kind=kind, kinds=KINDS)
    markdown = (resources.files(__name__) / language / f"{kind}.md").read_text(encoding="utf-8")
    title, _, text = markdown.removeprefix("# ").partition("\n")
    summary = re.split(r": |：", title, maxsplit=1)[1]
    blocks = list(_BLOCK.finditer(text))
    names = f"{kind}_bug.cu".replace("-", "_"), f"{kind}_mended.cu".replace("-", "_")
    buggy, mended = (
        Example(name, block["code"], tuple(shlex.split(block["options"])))
        for name, block in zip(names, blocks, strict=True)
    )
    plain = _BLOCK.sub(lambda block: f"```cuda\n{block['code']}```", text)
    return Explanation(kind, language, title, summary, plain.strip(), buggy, mended)
