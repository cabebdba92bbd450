"""What the engine knows: its own names of operations, summed up by class and opcode."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flashpath.messages import Message, say
from flashpath.vgpu.device import engine
from flashpath.vgpu.instructions.refused import REFUSED
from flashpath.vgpu.report.classes import CLASSES, instruction_class

# Opcodes that are made of operations of other names, or of none at all.
_NOTES = {
    "addc": "vgpu.instructions.note-carry",
    "subc": "vgpu.instructions.note-as-addc",
    "madc": "vgpu.instructions.note-madc",
    "bar": "vgpu.instructions.note-bar",
    "barrier": "vgpu.instructions.note-barrier",
    "bra": "vgpu.instructions.note-bra",
    "brx": "vgpu.instructions.note-brx",
    "brkpt": "vgpu.instructions.note-brkpt",
    "call": "vgpu.instructions.note-call",
    "cvta": "vgpu.instructions.note-cvta",
    "cp": "vgpu.instructions.note-cp",
    "createpolicy": "vgpu.instructions.note-createpolicy",
    "elect": "vgpu.instructions.note-elect",
    "exit": "vgpu.instructions.note-exit",
    "fence": "vgpu.instructions.note-fence",
    "getctarank": "vgpu.instructions.note-getctarank",
    "griddepcontrol": "vgpu.instructions.note-griddepcontrol",
    "ldu": "vgpu.instructions.note-as-ld",
    "ldmatrix": "vgpu.instructions.note-ldmatrix",
    "stmatrix": "vgpu.instructions.note-as-ldmatrix",
    "mapa": "vgpu.instructions.note-mapa",
    "mbarrier": "vgpu.instructions.note-mbarrier",
    "mov": "vgpu.instructions.note-mov",
    "nanosleep": "vgpu.instructions.note-nanosleep",
    "membar": "vgpu.instructions.note-as-fence",
    "ret": "vgpu.instructions.note-ret",
    "setmaxnreg": "vgpu.instructions.note-setmaxnreg",
    "tensormap": "vgpu.instructions.note-tensormap",
    "wgmma": "vgpu.instructions.note-wgmma",
    "red": "vgpu.instructions.note-red",
    "trap": "vgpu.instructions.note-trap",
    "vmad": "vgpu.instructions.note-vmad",
}
# Where an opcode that has a note belongs, if its bare name does not tell.
_IN_SPACE = {"ldmatrix": "ld.shared", "stmatrix": "st.shared", "ldu": "ld.global"}
_HINTS = ("applypriority", "discard", "pmevent", "prefetch", "prefetchu")
_VIDEO = re.compile(r"v(?:add|sub|absdiff|min|max|shl|shr|set|avrg)([24]?)")
_VIDEO_NOTES = {
    "": "vgpu.instructions.video-scalar",
    "2": "vgpu.instructions.video-halves",
    "4": "vgpu.instructions.video-bytes",
}
_TYPE = re.compile(r"(?:(?:b?f|tf|[su]|b)(\d+)|e\dm\d)(?:x(\d))?|pred")
_FUSED = {"fma", "fmsub", "fnmadd", "fnmsub"}
_SPACES = ("generic", "global", "shared", "local", "param")
_SPACE_NAMES = {
    "generic": "vgpu.instructions.space-generic",
    "global": "vgpu.instructions.space-global",
    "shared": "vgpu.instructions.space-shared",
}


@dataclass(frozen=True)
class Row:
    """Some opcodes of a class whose forms are the same."""

    instruction_class: str
    opcodes: tuple[str, ...]
    forms: str


def rows() -> list[Row]:
    """Returns what is known, in the order of the classes and in the language that is spoken."""
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for opcode, instruction, forms in sorted(_known()):
        opcodes = alike[instruction, forms]
        if opcode not in opcodes:
            opcodes.append(opcode)
    table = [Row(name, tuple(opcodes), forms) for (name, forms), opcodes in alike.items()]
    return sorted(table, key=lambda row: (CLASSES.index(row.instruction_class), row.opcodes, row.forms))


def _known() -> Iterator[tuple[str, str, str]]:
    """Opcode, class and forms; an opcode of several classes, or with much to say, comes several times."""
    names: dict[str, list[str]] = defaultdict(list)
    for name in engine().known_instructions():
        names[name.partition(".")[0]].append(name.rstrip("*"))  # the star: with a rounding or .ftz
    refused = {example.opcode for example in REFUSED if example.altogether}
    opcodes: list[str] = engine().known_opcodes()
    for opcode in opcodes:
        if opcode in refused:
            continue
        note = _note(opcode)
        if note:
            yield opcode, instruction_class(_IN_SPACE.get(opcode, opcode)), note
        elif opcode in ("mma", "wmma"):
            yield from _matrices(opcode, names[opcode])
        elif opcode in ("ld", "st"):
            yield from _accesses(opcode, names[opcode])
        elif opcode == "atom":
            yield from ((opcode, "atomic", forms) for forms in _atomics(names[opcode]))
        elif opcode == "cvt":
            yield from ((opcode, "conversion", forms) for forms in _conversions(names[opcode]))
        else:
            yield from _plain(opcode, names[opcode])


def _note(opcode: str) -> str | None:
    if opcode in _HINTS:
        return say("vgpu.instructions.no-effect")
    video = _VIDEO.fullmatch(opcode)
    code = _VIDEO_NOTES[video[1]] if video else _NOTES.get(opcode)
    return None if code is None else say(code)


def _plain(opcode: str, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Most instructions: words, then types."""
    by_class: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in names:
        words = [word for word in name.split(".")[1:] if word != "ftz"]
        if "carry" in words:  # belongs to addc, subc, madc
            continue
        if _FUSED & set(words):  # what a sum becomes that takes a quotient in
            continue
        if opcode == "set":  # the result comes first; its type is any of that width
            words = words[1:]
        types = [word for word in words if _TYPE.fullmatch(word)]
        others = [word for word in words if word not in types and word != "join"]
        form = by_class[instruction_class(name)]["".join(f".{word}" for word in others)]
        if types:
            form.add(".".join(types))
    for instruction, forms in by_class.items():
        yield opcode, instruction, _words_and_types(forms)


def _words_and_types(forms: Mapping[str, set[str]]) -> str:
    """ ".hi .lo: s16 s32; .wide: s16", words of equal types together."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for words, types in forms.items():
        alike[tuple(sorted(types, key=_type_order))].append(words)
    parts: list[str] = []
    for types, words in sorted(alike.items(), key=lambda item: sorted(item[1])):
        named = [f"`{word}`" for word in words if word]
        if "" in words and named:
            named.insert(0, say("vgpu.instructions.plain"))
        parts.append(" ".join(named) + (": " if named and types else "") + " ".join(types))
    return "; ".join(part for part in parts if part)


def _type_order(types: str) -> tuple[int, str, int, str]:
    first = types.partition(".")[0]
    match = _TYPE.fullmatch(first)
    bits = int(match[1]) if match and match[1] else 0
    return len(types.split(".")), first.rstrip("0123456789x"), bits, types


def _matrices(opcode: str, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Tensor cores: which types are multiplied into which, in which shapes."""
    shapes: dict[str, set[str]] = defaultdict(set)
    results: dict[str, set[str]] = defaultdict(set)
    for name in names:
        _, *words = name.split(".")
        if words[0] in ("load", "store"):
            continue
        types = [word for word in words if _TYPE.fullmatch(word)]
        shapes[types[1]].add(words[0])
        results[types[1]].add(types[0])
        if words[-1] in ("and", "xor"):
            results[types[1]].add(say("vgpu.instructions.matrix-by", operation=words[-1]))
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for element in shapes:
        into = " ".join(sorted(results[element], key=lambda word: ("`" in word, word)))
        alike[" ".join(sorted(shapes[element], key=_shape_order)), into].append(element)
    for (shape, into), elements in alike.items():
        multiplied = " ".join(sorted(elements))
        if len(elements) > 1 and opcode == "mma":
            multiplied = say("vgpu.instructions.any-pair", elements=multiplied)
        forms = say("vgpu.instructions.matrix", elements=multiplied, results=into, shapes=shape)
        yield opcode, "tensor core", forms
    if opcode == "wmma":
        forms = say("vgpu.instructions.fragments")
        yield "wmma.load", "generic load", forms
        yield "wmma.store", "generic store", forms


def _shape_order(shape: str) -> list[int]:
    return [int(size) for size in re.findall(r"\d+", shape)]


def _accesses(opcode: str, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Plain accesses to memory: how wide, and how many at once."""
    widths: dict[str, set[int]] = defaultdict(set)
    vectors: dict[str, set[str]] = defaultdict(set)
    for name in names:
        _, space, element, *vector = name.split(".")
        widths[space].add(int(element.partition("/")[0][1:]))
        vectors[space].update(vector)
    for space in sorted(widths, key=_SPACES.index):
        bits = [str(width) for width in sorted(widths[space])]
        several = " ".join(f"`.{vector}`" for vector in sorted(vectors[space]))
        forms = say("vgpu.instructions.widths", bits=bits)
        if several:
            forms = say("vgpu.instructions.widths-vectors", bits=bits, vectors=several)
        yield f"{opcode}.{space}".removesuffix(".generic"), instruction_class(f"{opcode}.{space}"), forms
        if (opcode, space) == ("ld", "global"):
            yield "ld.const", "constant load", say("vgpu.instructions.constant")


def _atomics(names: list[str]) -> Iterator[str]:
    """Yields what atomics do, to which types, and to how many of them at once."""
    types: dict[tuple[str, str], set[str]] = defaultdict(set)
    spaces: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name in names:
        _, space, operation, element, *vector = name.split(".")
        form = operation, "".join(vector)
        types[form].add(element)
        spaces[form].add(space)
    operations: dict[tuple[str, ...], set[str]] = defaultdict(set)
    vectors: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for (operation, vector), elements in types.items():
        where = sorted(spaces[operation, vector], key=_SPACES.index)
        alike = ",".join(where), "of vectors" if vector else "", *sorted(elements, key=_type_order)
        operations[alike].add(f"`.{operation}`")
        vectors[alike].add(f"`.{vector}`" if vector else "")
    for alike, named in operations.items():
        where, _, *elements = alike
        types_of_it = " ".join(elements)
        if all(vectors[alike]):
            several = " ".join(sorted(vectors[alike]))
            types_of_it = say("vgpu.instructions.vectors", vectors=several, elements=types_of_it)
        yield say(
            "vgpu.instructions.atomic",
            operations=" ".join(sorted(named)),
            spaces=[Message(_SPACE_NAMES[space]) for space in where.split(",")],
            elements=types_of_it,
        )


def _conversions(names: list[str]) -> Iterator[str]:
    """Yields which types are made of which."""
    sources: dict[str, set[str]] = defaultdict(set)
    for name in names:
        _, to, *origin = name.partition("/")[0].split(".")
        if to in ("pack", "integral"):
            continue
        pair = [*([to] if to != "integer" else ["integers"]), *origin]
        if len(pair) == 2:
            element = "integers" if re.fullmatch(r"integer|[su]\d+", pair[1]) else pair[1]
            result = "integers" if re.fullmatch(r"[su]\d+", pair[0]) else pair[0]
            sources[result].add(element)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for result, elements in sources.items():
        alike[tuple(sorted(elements, key=_type_order))].append(result)
    for elements, results in alike.items():
        made, of = (
            [say("vgpu.instructions.integers") if name == "integers" else name for name in names]
            for names in (sorted(results, key=_type_order), elements)
        )
        yield say("vgpu.instructions.conversion", results=" ".join(made), elements=" ".join(of))
    yield say("vgpu.instructions.integral")
    yield say("vgpu.instructions.pack")
