"""Writes the C++ of a library: tables of what it takes, and a few lines of code for each variant."""

from __future__ import annotations

import json
import string
from collections.abc import Iterable
from pathlib import Path

from flashpath.gpus import parse_arch
from flashpath.jit.export.expressions import Number, cpp, shown
from flashpath.jit.export.library import DLPACK, Argument, Function, Passed, Variant
from flashpath.jit.module import Kernel
from flashpath.messages import Entry, Message, catalogue, told

HEADERS = ("abi.h", "words.h", "arithmetic.h", "driver.h", "tables.h", "call.h", "border.h")

# What the library says, by the names that its C++ has for it; the places to fill stay.
_WORDS = {
    "kCount": "jit.export.says-count",
    "kNoTensor": "jit.export.says-no-tensor",
    "kNoInteger": "jit.export.says-no-integer",
    "kNoNumber": "jit.export.says-no-number",
    "kStrided": "jit.export.says-strided",
    "kDevice": "jit.export.says-device",
    "kDevices": "jit.export.says-devices",
    "kOr": "jit.export.says-or",
    "kTypes": "jit.export.says-types",
    "kCombination": "jit.export.says-combination",
    "kGuards": "jit.export.says-guards",
    "kOverlap": "jit.export.says-overlap",
    "kInteger": "jit.export.says-integer",
    "kZero": "jit.export.says-zero",
    "kShift": "jit.export.says-shift",
    "kLaunch": "jit.export.says-launch",
    "kOther": "jit.export.says-other",
    "kNoDriver": "jit.export.says-no-driver",
    "kNoGpu": "jit.export.says-no-gpu",
    "kNoCode": "jit.export.says-no-code",
    "kCuda": "jit.export.says-cuda",
}
_INTEGERS = {
    "?": "bool",
    "b": "std::int8_t",
    "B": "std::uint8_t",
    "h": "std::int16_t",
    "H": "std::uint16_t",
    "i": "std::int32_t",
    "I": "std::uint32_t",
    "q": "std::int64_t",
    "Q": "std::uint64_t",
}


def write(function: Function, folder: Path) -> Path:
    """Writes the library's source, and beside it the code of its kernels, into the folder."""
    images = _Images(folder)
    parts = [
        _words(),
        '#include "border.h"\n',
        "using namespace exported;\nnamespace {\n",
        _table("Argument", "kArguments", (_argument(each) for each in function.arguments)),
    ]
    for number, variant in enumerate(function.variants):
        parts.append(_variant(number, variant, images))
    rows = (
        f"{{kTypes{k}, kGuards{k}, first_unmet{k}, launch{k}, &{images.name(each.kernels)}}}"
        for k, each in enumerate(function.variants)
    )
    parts += [
        _table("Variant", "kVariants", rows),
        f"const Function kFunction = {{{_text(function.name)}, {_text(function.signature)}, kArguments, "
        f"{len(function.arguments)}, kVariants, {len(function.variants)}}};\n}}  // namespace\n",
        _exported(function),
    ]
    for header in HEADERS:
        (folder / header).write_bytes((Path(__file__).parent / header).read_bytes())
    file = folder / "library.cpp"
    file.write_text("\n".join(parts), encoding="utf-8")
    return file


def _words() -> str:
    lines: list[str] = []
    for name, code in _WORDS.items():
        room, _, key = code.rpartition(".")
        entry = catalogue(room)[key]
        template = (entry.says if isinstance(entry, Entry) else entry).en
        places = {place: f"{{{place}}}" for _, place, _, _ in string.Formatter().parse(template) if place}
        message = Message(code, places)
        advice = message.fix()
        sentence = f"{message}\n  → {advice}" if advice else str(message)
        lines.append(f"const char* const {name} = {_text(sentence)};")
    body = "\n".join(lines)
    return f"namespace exported::words {{\n{body}\n}}  // namespace exported::words\n"


def _text(text: str) -> str:
    """The text as a C++ literal. JSON's escapes are C's, but for those of other characters, which stay."""
    return json.dumps(text, ensure_ascii=False)


def _table(kind: str, name: str, rows: Iterable[str]) -> str:
    body = "".join(f"  {row},\n" for row in rows)
    return f"const {kind} {name}[] = {{\n{body}}};\n"


def _argument(argument: Argument) -> str:
    kind = {"tensor": "kTensor", "integer": "kInteger", "float": "kFloat"}[argument.kind]
    return f"{{{_text(argument.name)}, Kind::{kind}}}"


# ---- Variants --------------------------------------------------------------------------------------------


def _variant(number: int, variant: Variant, images: _Images) -> str:
    def type_of(argument: Argument) -> str:
        if argument.kind != "tensor":
            return '{"", {0, 0, 0}, 0, false}'
        code, bits = DLPACK[argument.dtype]
        written = "true" if variant.is_written(argument) else "false"
        return f"{{{_text(argument.dtype)}, {{{code}, {bits}, 1}}, {argument.rank}, {written}}}"

    guards = [*variant.guards, None]  # a table in C++ has an element
    unmet = "".join(f"  if (!({cpp(guard)})) return {k};\n" for k, guard in enumerate(variant.guards))
    numbers = ", ".join(f"{{{', '.join(map(cpp, each))}}}" for each in (variant.grid, variant.block))
    adds = "".join(f"  {_added(each)}\n" for each in variant.passed)
    return "\n".join(
        (
            images.written(variant.kernels),
            _table("Type", f"kTypes{number}", map(type_of, variant.arguments)),
            _table(
                "char* const",
                f"kGuards{number}",
                (_text("" if each is None else shown(each)) for each in guards),
            ),
            f"int first_unmet{number}([[maybe_unused]] const Call& call) {{\n{unmet}  return -1;\n}}\n",
            f"Launch launch{number}([[maybe_unused]] const Call& call, Parameters& parameters) {{\n{adds}"
            f"  return {{{numbers}, {cpp(variant.shared)}}};\n}}\n",
        )
    )


def _added(passed: Passed) -> str:
    parameter = passed.parameter
    if passed.tensor is not None:
        return f"parameters.add({passed.tensor.address.cpp});"
    if passed.number is not None and parameter.kind == "integer":
        return _added_integer(passed.number, passed)
    if parameter.kind == "float":
        kind = "float" if parameter.size == 4 else "double"
        if passed.argument is not None:
            return f"parameters.add(static_cast<{kind}>(call.number({passed.argument.index})));"
        if passed.number is not None:
            return f"parameters.add(static_cast<{kind}>({cpp(passed.number)}));"
        assert passed.constant is not None
        return f"parameters.add(static_cast<{kind}>({_float(passed.constant)}));"
    return "parameters.add(std::uint64_t(0));"


def _added_integer(number: Number, passed: Passed) -> str:
    parameter = passed.parameter
    kind = _INTEGERS[parameter.code]
    about = f"{_text(shown(number))}, {_text(parameter.text)}"
    limits = f"{cpp(parameter.low)}, {cpp(parameter.high)}"
    return f"parameters.add_integer<{kind}>({cpp(number)}, {about}, {limits});"


def _float(value: float) -> str:
    if value != value:
        return '__builtin_nan("")'
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}__builtin_inf()"
    return value.hex()


# ---- Code ------------------------------------------------------------------------------------------------


class _Images:
    """The kernels of a library: each is written once, however many variants launch it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[tuple[Kernel, ...], str] = {}

    def name(self, kernels: tuple[Kernel, ...]) -> str:
        return self._names[kernels]

    def written(self, kernels: tuple[Kernel, ...]) -> str:
        if kernels in self._names:
            return ""
        number = len(self._names)
        self._names[kernels] = f"kernel{number}"
        rows: list[str] = []
        labels: list[str] = []
        for kernel in kernels:
            label = f"exported_{number}_{kernel.arch}"
            target = parse_arch(kernel.arch)
            alone = "true" if kernel.arch[-1].isalpha() else "false"
            rows.append(f"{{{target.major}, {target.minor}, {alone}, {label}_cubin, {label}_ptx}}")
            for kind, data in (("cubin", kernel.module.cubin), ("ptx", kernel.module.ptx.encode())):
                file = self._folder / f"{label}.{kind}"
                file.write_bytes(data)
                labels.append(_embedded(f"{label}_{kind}", file))
        table = _table("Image", f"kImages{number}", rows)
        return (
            f"{''.join(labels)}{table}"
            f"Kernel kernel{number}({_text(kernels[0].lowered)}, kImages{number}, {len(kernels)});\n"
        )


def _embedded(label: str, file: Path) -> str:
    """The bytes of a file as a C array of that name, and a zero byte after them."""
    lines = (
        ".section .rodata",
        ".balign 64",
        f"{label}:",
        f".incbin {_text(file.name)}",
        ".byte 0",
        ".previous",
        "",
    )
    return f'}}\nextern "C" const char {label}[];\nasm({_text(chr(10).join(lines))});\nnamespace {{\n'


def _exported(function: Function) -> str:
    head = '__attribute__((visibility("default"))) int __tvm_ffi_'
    arguments = "(void*, const TVMFFIAny* arguments, std::int32_t count, TVMFFIAny* result)"
    unused = "(void*, const TVMFFIAny*, std::int32_t, TVMFFIAny* result)"
    name = function.name
    return (
        f'extern "C" {{\n{head}{name}{arguments} {{\n'
        f"  return called(kFunction, arguments, count, result);\n}}\n"
        f"{head}_doc_{name}{unused} {{\n  return told({_text(function.about)}, result);\n}}\n}}\n"
    )


def about(function: str, variants: tuple[Variant, ...]) -> str:
    """What the library says of itself: for each variant its types, its guards, and its kernel."""
    lines: list[str] = []
    for variant in variants:
        types = ", ".join(
            f"{each.name}: {each.dtype}[{', '.join('·' * each.rank)}]"
            if each.kind == "tensor"
            else f"{each.name}: {each.kind}"
            for each in variant.arguments
        )
        lines.append(f"{function}({types})")
        if variant.guards:
            guards = "; ".join(map(shown, variant.guards))
            lines.append(f"  {told('jit.export.about-guards', guards=guards)}")
        launch = told(
            "jit.export.about-launch",
            kernel=variant.kernels[0].name,
            grid=", ".join(map(shown, variant.grid)),
            block=", ".join(map(shown, variant.block)),
        )
        lines.append(f"  {launch}")
    return "\n".join(lines)
