"""Every environment variable that flashpath reads, in one table, and the places derived from them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name, what holds where it is unset, and what it does."""

    name: str
    default: str
    meaning: str

    @property
    def value(self) -> str | None:
        """The value set by the user; an empty string counts as unset."""
        return os.environ.get(self.name) or None


CACHE_DIR = Variable(
    "FLASHPATH_CACHE_DIR", "~/.cache/flashpath", "where compiled kernels and programs are kept"
)
CACHE_LIMIT_MB = Variable(
    "FLASHPATH_CACHE_LIMIT_MB", "1024", "the cache drops the least recently used kernels above this size"
)
DEVICE = Variable(
    "FLASHPATH_DEVICE", "cuda if there is a GPU, else virtual", "cuda, virtual, or a GPU's name"
)
DEBUG = Variable("FLASHPATH_DEBUG", "0", "1 prints every launch: grid, block, shared memory, arguments")

LANG = Variable(
    "FLASHPATH_LANG",
    "zh or en, as the locale has it",
    "zh or en: the language of explanations and of what sanitize shows",
)

HOME = Variable(
    "FLASHPATH_HOME",
    "~/.local/share/flashpath",
    "where the course keeps progress; nothing else, and never in a work folder",
)

COMMIT = Variable(
    "FLASHPATH_COMMIT",
    "as git has it",
    "the commit of a tree that was copied to this machine without its history, for benchmark records",
)

RUNTIME = Variable(
    "FLASHPATH_RUNTIME", "set by flashpath run", "what a program on the virtual GPU is told: not set by hand"
)

PROFILED = Variable(
    "FLASHPATH_PROFILED",
    "set by flashpath profile",
    "marks what a profiler started, so that all of it is ended: not set by hand",
)

UPSTREAM = Variable(
    "FLASHPATH_UPSTREAM",
    "upstream/ in the work folder",
    "the clone that guided readings are about, or the folder of such clones",
)

VARIABLES = (CACHE_DIR, CACHE_LIMIT_MB, DEVICE, DEBUG, LANG, HOME, UPSTREAM, COMMIT, RUNTIME, PROFILED)

_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")


def cache_dir() -> Path:
    """The folder of the kernel cache; `XDG_CACHE_HOME` is honoured as other tools do."""
    return _folder(CACHE_DIR, "XDG_CACHE_HOME", "~/.cache")


def home_dir() -> Path:
    """The folder of the course's progress; `XDG_DATA_HOME` is honoured as other tools do."""
    return _folder(HOME, "XDG_DATA_HOME", "~/.local/share")


def expanded(path: str | Path) -> Path:
    """Returns the path with `~` and `~user` replaced by that home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise FlashpathError("messages.no-home-of", path=path) from None


def _folder(variable: Variable, shared: str, otherwise: str) -> Path:
    """Returns the folder that the variable names, else flashpath's own in the one that all tools share."""
    folder = Path(variable.value or f"{os.environ.get(shared) or otherwise}/flashpath")
    try:
        return folder.expanduser()
    except RuntimeError:  # no HOME, and a user that the system does not know
        raise FlashpathError("messages.no-home", folder=folder, variable=variable.name) from None


def cache_limit_bytes() -> int:
    """The size above which the kernel cache evicts."""
    text = CACHE_LIMIT_MB.value or CACHE_LIMIT_MB.default
    try:
        megabytes = float(text)
        if not 0 < megabytes < float("inf"):
            raise ValueError
    except ValueError:
        raise FlashpathError(
            "messages.cache-limit", variable=CACHE_LIMIT_MB.name, value=text, default=CACHE_LIMIT_MB.default
        ) from None
    return int(megabytes * 2**20)


def debug() -> bool:
    """Whether every launch is to be printed."""
    return (DEBUG.value or "0") not in ("0", "false", "no", "off")


def language(wanted: str | None = None) -> str:
    """The language of explanations: the one named, else the variable's, else the locale's, else English."""
    text = wanted or LANG.value
    if text is None:
        # As gettext looks for it; the first that is set decides.
        locale = next((value for name in _LOCALES if (value := os.environ.get(name))), "")
        return "zh" if locale.lower().startswith("zh") else "en"
    if text.lower() not in LANGUAGES:
        if wanted:
            raise FlashpathError("messages.language-named", value=text, languages=LANGUAGES)
        raise FlashpathError("messages.language", variable=LANG.name, value=text, languages=LANGUAGES)
    return text.lower()


def language_or_english() -> str:
    """Returns the language, for texts that must not fail; English where the variable names none."""
    try:
        return language()
    except FlashpathError:
        return "en"


def content_dir(name: str) -> Path:
    """Returns `course`, `programs`, `benchmarks/results` or `docs`, inside a wheel or beside `src/`."""
    package = Path(__file__).parent
    for candidate in (package / "content" / name, package.parent.parent / name):
        if candidate.is_dir():
            return candidate
    raise FlashpathError("messages.no-content", name=name)
