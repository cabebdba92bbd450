"""Every message has both languages, is said somewhere, and is given the parameters that it names."""

from __future__ import annotations

import ast
import functools
import pickle
import re
import string
from pathlib import Path

import pytest

import flashpath
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels import Ladder
from flashpath.messages import Entry, Message, Text, catalogue, say, speaking

SOURCE = Path(flashpath.__file__).parent
CODE = re.compile(r"[a-z_]+(\.[a-z_]+)*\.[a-z0-9-]+")
LADDERS = [kernels.ladder(name) for name in kernels.ladders()]
ROOMS = sorted(
    ".".join(file.parent.relative_to(SOURCE).parts)
    for file in SOURCE.rglob("messages.py")
    if file.parent != SOURCE
)


def _templates(found: Text | Entry) -> list[Text]:
    if isinstance(found, Text):
        return [found]
    texts = (found.says, found.fix, found.learner, found.learner_fix, found.command, found.command_fix)
    return [text for text in texts if text is not None]


def _names(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def _words_alone(template: str) -> set[str]:
    """The numbers that only choose a word, as in `{count:?is/are}`: Chinese has one form."""
    fields = list(string.Formatter().parse(template))
    return {name for _, name, spec, _ in fields if name and (spec or "").startswith("?")}


def _bare(template: str) -> str:
    return "".join(text for text, *_ in string.Formatter().parse(template))


@functools.cache
def _sources() -> dict[Path, str]:
    """The code that may say something: Python and C++ but for the catalogues, and the benchmark programs."""
    return {
        file: file.read_text(encoding="utf-8")
        for file in (*SOURCE.rglob("*"), *(SOURCE.parent.parent / "benchmarks").glob("*.py"))
        if file.suffix in (".py", ".cpp", ".h") and file.name != "messages.py"
    }


@functools.cache
def _literals() -> frozenset[str]:
    """The texts between quotes that look like codes."""
    return frozenset(
        literal
        for source in _sources().values()
        for literal in re.findall(r"""["']([a-z_.]+\.[a-z0-9-]+)["']""", source)
    )


@pytest.mark.parametrize("room", ROOMS)
def test_both_languages_say_the_same(room: str) -> None:
    wrong: list[str] = []
    for key, found in catalogue(room).items():
        for text in _templates(found):
            if not text.en or not text.zh:
                wrong.append(f"{room}.{key} lacks a language")
            elif not _names(text.zh) <= _names(text.en) <= _names(text.zh) | _words_alone(text.en):
                wrong.append(f"{room}.{key}: {_names(text.en) ^ _names(text.zh)} in one language alone")
            elif re.search(r"[A-Za-z]{3,} [a-z]{2,} [a-z]{2,} [a-z]{2,}", _bare(text.zh)):
                wrong.append(f"{room}.{key}: English in Chinese: {text.zh}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ROOMS)
def test_each_message_is_said_somewhere(room: str) -> None:
    codes = {key: f"{room}.{key}" for key in catalogue(room) if key not in _read_by_ladder(room)}
    assert not [key for key, code in codes.items() if code not in _literals()]


def _read_by_ladder(room: str) -> set[str]:
    """The keys that a ladder reads by rule; empty where the room is no ladder's."""
    rungs = [rung.name for ladder in LADDERS if ladder.texts is catalogue(room) for rung in ladder]
    aspects = ("idea", "readability", "debugging", "uncounted")
    return (
        {"title", "maths", *(f"{rung}-{aspect}" for rung in rungs for aspect in aspects)} if rungs else set()
    )


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)
def test_a_ladder_has_its_texts_in_the_catalogue_of_its_room(ladder: Ladder) -> None:
    (room,) = (room for room in ROOMS if catalogue(room) is ladder.texts)
    lacking = _read_by_ladder(room) - ladder.texts.keys()
    assert not [key for key in lacking if not key.endswith("-uncounted")]


def test_each_code_that_is_said_has_a_message() -> None:
    """A literal whose room has a catalogue is a code of it."""
    unknown = [
        literal
        for literal in _literals()
        if (room := literal.rpartition(".")[0]) in ROOMS and literal.rpartition(".")[2] not in catalogue(room)
    ]
    # A room's own modules have dotted names as well.
    assert not [
        literal
        for literal in unknown
        if not (SOURCE / literal.replace(".", "/")).with_suffix(".py").exists()
        and not (SOURCE / literal.replace(".", "/")).is_dir()
    ]


def test_each_call_gives_the_parameters_that_the_templates_name() -> None:
    wrong: list[str] = []
    for file, source in _sources().items():
        if file.suffix != ".py":
            continue
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
            first = call.args[0] if len(call.args) == 1 else None  # Message("…", {…}) has two
            code = first.value if isinstance(first, ast.Constant) else None
            if not isinstance(code, str) or not CODE.fullmatch(code):
                continue
            room, _, key = code.rpartition(".")
            unpacks = any(keyword.arg is None for keyword in call.keywords)
            if room not in ROOMS or key not in catalogue(room) or unpacks:
                continue
            templates = _templates(catalogue(room)[key])
            named = set[str]().union(*(_names(text.en) for text in templates))
            given = {str(keyword.arg) for keyword in call.keywords}
            if named - given:
                wrong.append(f"{file.name}:{call.lineno}: {code} is not given {sorted(named - given)}")
    assert not wrong, "\n".join(wrong)


def test_each_message_of_the_engine_has_the_parameters_that_its_template_names() -> None:
    """In C++ a message is `{"room.key", {{"name", value}, …}}`.

    `refuse` adds the instruction, `stalemate` where the threads are.
    """
    wrong: list[str] = []
    seen = 0
    for file, source in _sources().items():
        if file.suffix == ".py":
            continue
        for found in re.finditer(r'(refuse\()?"((?:[a-z_]+\.)+)([a-z0-9-]+)"(?:(,\s*)(?=\{)|\))', source):
            room, key = found[2][:-1], found[3]
            if room not in ROOMS or key not in catalogue(room):
                continue
            if not (found[1] or found[4]):
                continue  # a code alone: whoever takes it adds the parameters
            names = _given_in_cpp(source[found.end() :]) if found[4] else set[str]()
            if names is None:
                continue
            given = names | ({"instruction"} if found[1] else set[str]())
            named = set[str]().union(*(_names(text.en) for text in _templates(catalogue(room)[key])))
            seen += 1
            if missing := named - given - {"where"}:
                wrong.append(f"{file.name}: {room}.{key} is not given {sorted(missing)}")
    assert seen > 150, seen
    assert not wrong, "\n".join(wrong)


def _given_in_cpp(source: str) -> set[str] | None:
    """The parameters' names in the braces that this source begins with; None where one is a variable."""
    depth, start, parts = 0, 1, list[str]()
    for at, character in enumerate(source):
        depth += (character in "{(") - (character in "})")
        if depth == 0 or (depth == 1 and character == ","):
            parts.append(source[start:at].strip())
            start = at + 1
        if depth == 0:
            break
    names = [re.match(r'\{"([a-z_]+)",|(got)\(', part) for part in parts]
    return {name[1] or name[2] for name in names if name} if all(names) else None


# ---- How templates are filled ----------------------------------------------------------------------------


def test_an_error_speaks_the_language_that_is_spoken_where_it_is_read() -> None:
    error = FlashpathError("messages.cache-limit", variable="X", value="a", default="1024")
    with speaking("en"):
        english = str(error)
    with speaking("zh"):
        chinese = str(error)
    assert "megabytes" in english
    assert "兆字节" in chinese
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_counts_and_lists_follow_the_language() -> None:
    with speaking("en"):
        assert say("messages.there-are", count=2, names=["a", "b"]) == "There are: a, b."
        assert say("messages.there-are", count=1, names=["a"]) == "There is: a."
    with speaking("zh"):
        assert say("messages.there-are", count=2, names=["a", "b"]) == "可选：a、b。"


def test_a_message_travels_as_data() -> None:
    inner = Message("messages.or")
    message = Message("messages.there-are", {"count": 2, "names": [inner, "b"]})
    assert Message.from_data(message.as_data()) == message


@pytest.mark.parametrize("value", ["x", None, 10**400, float("nan")])
def test_whatever_value_comes_is_said(value: object) -> None:
    """Who sends a message may be hostile: a value of another kind than expected breaks nothing."""
    params = dict.fromkeys(("fraction", "blocks", "threads", "warps", "most", "limit"), value)
    message = Message.from_data({"code": "jit.occupancy", "params": params})
    assert all(message.text(lang) for lang in ("en", "zh"))


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        {"code": 1, "params": {}},
        {"code": "messages.there-are", "params": {}},
        {"code": "messages.no-such-message", "params": {}},
        {"code": "no.such.room-here", "params": {}},
        {"code": "messages.there-are", "params": {"count": {"a": 1}, "names": []}},
    ],
)
def test_what_is_no_message_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="message"):
        Message.from_data(data)
