"""Changes that an author would make on purpose: sinks, calls, offsets, sizes and types that are wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Change = Callable[[list[str], list[str], random.Random], None]

_EXTREMES = (
    "0x7fffffffffffffff", "0x8000000000000000", "-0x8000000000000000", "0xffffffffffffffff", "2147483647",
    "-2147483648", "2147483648", "4294967295", "4294967296", "-1", "65536", "1073741824",
)  # fmt: skip
_TYPES = (
    "pred", "b1", "u2", "s4", "u4", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "b32", "u32", "s32",
    "f32", "f16x2", "bf16x2", "u16x2", "s16x2", "b64", "u64", "s64", "f64", "b128", "tf32", "e4m3", "e5m2x2",
)  # fmt: skip
_PROVIDED = ("vprintf", "malloc", "free", "__assertfail", "cudaGetParameterBufferV2", "nobody")
_SIZES = ("b8", "b16", "b32", "b64", "b128")
_OPCODE = re.compile(r"[a-z][a-z0-9]*\.[\w.:]+$")
_REGISTER = re.compile(r"%[a-zA-Z_]+\d+$")


def _opcodes(words: list[str]) -> list[int]:
    return [k for k, word in enumerate(words) if _OPCODE.match(word)]


def _first_register_after(words: list[str], opcode: int) -> int | None:
    for k in range(opcode + 1, min(opcode + 12, len(words))):
        if words[k] == ";":
            return None
        if _REGISTER.match(words[k]):
            return k
    return None


def drop_result(words: list[str], other: list[str], choose: random.Random) -> None:
    """The result of some instruction goes to the sink."""
    for opcode in choose.sample(found := _opcodes(words), min(3, len(found))):
        if (result := _first_register_after(words, opcode)) is not None:
            words[result] = "_"
            return


def drop_operand(words: list[str], other: list[str], choose: random.Random) -> None:
    """Any register becomes the sink."""
    registers = [k for k, word in enumerate(words) if _REGISTER.match(word)]
    if registers:
        words[choose.choice(registers)] = "_"


def move_far(words: list[str], other: list[str], choose: random.Random) -> None:
    """An address, or a symbol, gets an offset far from anything."""
    closing = [k for k, word in enumerate(words) if word == "]"]
    if closing:
        words.insert(choose.choice(closing), "+" + choose.choice(_EXTREMES))


def change_type(words: list[str], other: list[str], choose: random.Random) -> None:
    """One of the types of an instruction, or of a declaration, becomes another."""
    typed = [k for k, word in enumerate(words) if re.search(rf"\.(?:{'|'.join(_TYPES)})\b", word)]
    if not typed:
        return
    at = choose.choice(typed)
    places = list(re.finditer(rf"(?<=\.)(?:{'|'.join(_TYPES)})\b", words[at]))
    place = choose.choice(places)
    words[at] = words[at][: place.start()] + choose.choice(_TYPES) + words[at][place.end() :]


def grow_declaration(words: list[str], other: list[str], choose: random.Random) -> None:
    """An array, an alignment, a file's number or a range of registers becomes very large."""
    numbers = [
        k
        for k in range(1, len(words))
        if words[k].isdigit()
        and (words[k - 1] in ("[", "<") or words[max(0, k - 2)] in (".align", ".file", ".loc"))
    ]
    if numbers:
        words[choose.choice(numbers)] = choose.choice((*_EXTREMES, "0", "3", "1048577", "1099511627776"))


def guard_by_anything(words: list[str], other: list[str], choose: random.Random) -> None:
    """An instruction is guarded by a register of any type."""
    registers = [word for word in words if _REGISTER.match(word)]
    opcodes = _opcodes(words)
    if registers and opcodes:
        words.insert(choose.choice(opcodes), f"@{choose.choice(('', '!'))}{choose.choice(registers)} ")


def _insert_code(words: list[str], code: str, choose: random.Random) -> None:
    """Behind some instruction of some function."""
    text = "".join(words)
    ends = [match.end() for match in re.finditer(r"(?m)^\s+[a-z][\w.]*\s[^{}\n]*;$", text)]
    if ends:
        at = choose.choice(ends)
        words[:] = [text[:at], "\n", code, "\n", text[at:]]


def _insert_at_top(words: list[str], declaration: str) -> None:
    text = "".join(words)
    head, line, rest = text.partition(".address_size 64\n")
    if line:
        words[:] = [head, line, declaration, "\n", rest]


def _passed(choose: random.Random) -> tuple[list[str], list[str]]:
    """The types of what a call passes and gets."""
    arguments = [choose.choice(_SIZES) for _ in range(choose.choice((0, 1, 1, 2, 2, 3, 5, 6)))]
    return arguments, [choose.choice(_SIZES)] if choose.random() < 0.5 else []


def _call(callee: str, arguments: list[str], results: list[str], tail: str = "") -> str:
    declared = [f".param .{size} fuzz_in{k};" for k, size in enumerate(arguments)]
    declared += [f".param .{size} fuzz_out{k};" for k, size in enumerate(results)]
    given = ", ".join(f"fuzz_in{k}" for k in range(len(arguments)))
    got = "(" + ", ".join(f"fuzz_out{k}" for k in range(len(results))) + "), " if results else ""
    return f"{{ {' '.join(declared)} call {got}{callee}{', (' + given + ')' if arguments else ''}{tail}; }}"


def _signature(name: str, arguments: list[str], results: list[str]) -> str:
    passed = ", ".join(f".param .{size} fuzz_p{k}" for k, size in enumerate(arguments))
    returned = (
        "(" + ", ".join(f".param .{size} fuzz_r{k}" for k, size in enumerate(results)) + ") "
        if results
        else ""
    )
    return f"{returned}{name} ({passed})"


def misdeclare(words: list[str], other: list[str], choose: random.Random) -> None:
    """A function that the engine provides is declared, and called, with parameters of its author's choice."""
    name = choose.choice(_PROVIDED)
    arguments, results = _passed(choose)
    if f" {name}" not in "".join(words):
        _insert_at_top(words, f".extern .func {_signature(name, arguments, results)};")
    _insert_code(words, _call(name, arguments, results), choose)


def call_by_address(words: list[str], other: list[str], choose: random.Random) -> None:
    """A function, a kernel, a variable or any number is called."""
    names = re.findall(r"\.(?:func|entry)\s+(?:\([^)]*\)\s*)?(\w+)", "".join(words)) or ["0"]
    callee = choose.choice((*names, *names, *_EXTREMES))
    arguments, results = _passed(choose)
    prototype = f"fuzz_type: .callprototype {_signature('_', arguments, results)};"
    call = _call("%fuzz_callee", arguments, results, ", fuzz_type")
    code = f"{{ .reg .b64 %fuzz_callee; mov.b64 %fuzz_callee, {callee}; {prototype} {call} }}"
    _insert_code(words, code, choose)


def call_by_name(words: list[str], other: list[str], choose: random.Random) -> None:
    """A function or a kernel of the module is called, with parameters that may be others than its own."""
    names = re.findall(r"\.(?:func|entry)\s+(?:\([^)]*\)\s*)?(\w+)", "".join(words))
    if names:
        arguments, results = _passed(choose)
        _insert_code(words, _call(choose.choice(names), arguments, results), choose)


def print_wide(words: list[str], other: list[str], choose: random.Random) -> None:
    """A text of the module asks for fields of any width."""
    text = f"%{choose.choice(('', '0', '-', '#+'))}{choose.choice(('', '9', '4097', '999999999', '*'))}"
    text += choose.choice(("", ".", ".999999999", ".*")) + choose.choice(
        ("d", "s", "lld", "f", "c", "p", "n", "%", "")
    )
    data = ", ".join(map(str, (*text.encode(), 0)))
    name = f"fuzz_text{choose.randrange(1 << 20)}"
    _insert_at_top(words, f".global .b8 {name}[{len(text) + 1}] = {{{data}}};")
    if "vprintf" not in "".join(words):
        _insert_at_top(
            words, ".extern .func (.param .b32 fuzz_r) vprintf (.param .b64 fuzz_f, .param .b64 fuzz_a);"
        )
    code = (
        f"{{ .reg .b64 %fuzz_at; .param .b64 fuzz_f; .param .b64 fuzz_a; .param .b32 fuzz_c; "
        f"mov.b64 %fuzz_at, {name}; st.param.b64 [fuzz_f], %fuzz_at; st.param.b64 [fuzz_a], %fuzz_at; "
        f"call (fuzz_c), vprintf, (fuzz_f, fuzz_a); }}"
    )
    _insert_code(words, code, choose)


HOSTILE: tuple[Change, ...] = (
    drop_result, drop_result, drop_operand, move_far, change_type, change_type, grow_declaration,
    guard_by_anything, misdeclare, misdeclare, call_by_address, call_by_name, print_wide,
)  # fmt: skip
