"""Which kernels a module holds, under which C++ names, with which parameter types.

PTX shows a kernel's mangled name and shows every pointer as a bare 64-bit value. Both compilers can be made
to tell more: markers appended to the source leave, for each kernel asked for, one variable that is
initialised with the kernel (which instantiates templates and gives the mangled name) and one whose own
mangled name spells the resolved type of the kernel. The markers are taken out of the PTX again.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit.includes import without_comments
from flashpath.jit.mangling import CType, Unreadable, demangle, signature_argument
from flashpath.messages import Message, any_of

MARKER_FILE = "flashpath kernel names"

_KERNEL_MARKER = re.compile(
    r"^\.(?:visible )?(?:global|const) .*\bfp_kernel_(\d+) = ([\w$]+);\n", re.MULTILINE
)
_SIGNATURE_MARKER = re.compile(
    r"^(?:\.(?:visible|weak) )?\.global .*\b(_Z\d+fp_signature\w+)(?: = \d+)?;\n", re.MULTILINE
)
_COMMENT_OF_MARKER = re.compile(
    r"^\t// \.(?:globl|weak)\t(?:fp_kernel_|_Z\d+fp_signature)\w+\n", re.MULTILINE
)
# Taking a kernel's address makes the compiler declare it before it defines it.
_DECLARATION = re.compile(r"^\.(?:visible|weak) \.entry [\w$]+\n?\s*\([^{;]*\)\s*;\n", re.MULTILINE)


class KernelNotFound(FlashpathError, KeyError):
    """The module has no kernel of that name."""

    __str__ = FlashpathError.__str__


@dataclass(frozen=True)
class KernelName:
    """A kernel's C++ name, its name in PTX, and its parameter types (None: not known)."""

    name: str
    lowered: str
    parameters: tuple[CType, ...] | None

    def to_json(self) -> dict[str, Any]:
        """Returns it as the cache keeps it."""
        parameters = None if self.parameters is None else [each.to_json() for each in self.parameters]
        return {"name": self.name, "lowered": self.lowered, "parameters": parameters}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> KernelName:
        parameters = data["parameters"]
        types = None if parameters is None else tuple(CType.from_json(each) for each in parameters)
        return cls(data["name"], data["lowered"], types)


def markers(names: Sequence[str]) -> str:
    """Source text, to be appended, that makes the compiler tell about the kernels `names`."""
    if not names:
        return ""
    lines = ["", f'#line 1 "{MARKER_FILE}"']
    # One line per name, so that the line of an error tells which name is wrong.
    for index, name in enumerate(names):
        template = "template <int, class> __device__ char fp_signature; " if index == 0 else ""
        lines.append(
            f'{template}extern "C" __device__ const auto fp_kernel_{index} = &{name}; '
            f"template __device__ char fp_signature<{index}, decltype(&{name})>;"
        )
    return "\n".join([*lines, ""])


def instances(names: Sequence[str]) -> str:
    """Source text, to be appended, that instantiates the kernels `names` and leaves no other trace."""
    if not names:
        return ""
    lines = ["", f'#line 1 "{MARKER_FILE}"', *(f"static_assert(&{name} != nullptr);" for name in names)]
    return "\n".join([*lines, ""])


def read_markers(ptx: str, names: Sequence[str]) -> tuple[str, list[KernelName]]:
    """PTX without the markers, and what they told."""
    lowered = {int(index): symbol for index, symbol in _KERNEL_MARKER.findall(ptx)}
    signatures: dict[int, tuple[CType, ...]] = {}
    for symbol in _SIGNATURE_MARKER.findall(ptx):
        try:
            index, parameters = signature_argument(symbol)
        except Unreadable:
            continue
        signatures[index] = parameters
    for pattern in (_KERNEL_MARKER, _SIGNATURE_MARKER, _COMMENT_OF_MARKER, _DECLARATION):
        ptx = pattern.sub("", ptx)
    found = [KernelName(name, lowered[i], signatures.get(i)) for i, name in enumerate(names) if i in lowered]
    return ptx, found


def names_of_entries(lowered_names: Sequence[str], marked: Sequence[KernelName]) -> list[KernelName]:
    """A C++ name and types for every entry: from its marker, or from its mangled name."""
    by_lowered = {name.lowered: name for name in marked}
    result = list(marked)
    for lowered in lowered_names:
        if lowered in by_lowered:
            continue
        try:
            function = demangle(lowered) if lowered.startswith("_Z") else None
        except Unreadable:
            function = None
        if function is None:
            result.append(KernelName(lowered, lowered, None))
        else:
            result.append(KernelName(function.name, lowered, function.parameters))
    return result


# ---- What the source text says -------------------------------------------------------------------------

_ATTRIBUTES = re.compile(r"\b__(?:launch_bounds|cluster_dims|maxnreg|block_size|attribute)__\s*\(")
_GLOBAL = re.compile(r"\b__global__\b")


@dataclass(frozen=True)
class DeclaredKernel:
    """A kernel as the source text spells it, found without a compiler: good for hints and guesses only."""

    name: str
    is_template: bool
    is_extern_c: bool


def declared_kernels(text: str) -> list[DeclaredKernel]:
    """The `__global__` functions in a source text."""
    code = re.sub(r"\bextern(\s+)\"C\"", r"extern\1 C ", without_comments(text))
    code = without_comments(code, keep_literals=False)
    kernels: dict[str, DeclaredKernel] = {}
    for match in _GLOBAL.finditer(code):
        name = _name_after(code, match.end())
        if name is None:
            continue
        start = max(code.rfind(mark, 0, match.start()) for mark in (";", "}", "{"))
        head = code[start + 1 : match.start()]
        inside_block = _inside_extern_c_block(code, match.start())
        kernels[name] = DeclaredKernel(
            name, "template" in head, inside_block or re.search(r"extern\s+C\b", head) is not None
        )
    return list(kernels.values())


def _name_after(code: str, position: int) -> str | None:
    """The function's name: the identifier before the first parenthesis that belongs to no attribute."""
    while attribute := _ATTRIBUTES.search(code, position):
        opening = code.find("(", position)
        if attribute.end() - 1 != opening:
            break
        depth = 0
        for at in range(opening, len(code)):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            if depth == 0:
                position = at + 1
                break
        else:
            return None
    identifier = re.compile(r"[^;{}()]*?\b([A-Za-z_]\w*)\s*\(").match(code, position)
    return identifier.group(1) if identifier else None


def _inside_extern_c_block(code: str, position: int) -> bool:
    for block in re.finditer(r"extern\s+C\s*\{", code[:position]):
        depth = 1
        for brace in re.finditer(r"[{}]", code[block.end() : position]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                break
        else:
            return True
    return False


def extern_c_kernels(text: str) -> list[str]:
    """The kernels whose types only a marker can tell, since their names are not mangled."""
    return [kernel.name for kernel in declared_kernels(text) if kernel.is_extern_c and not kernel.is_template]


def _last_part(name: str) -> str:
    """`ns::k<float>` → k."""
    return name.partition("<")[0].rpartition("::")[2].strip()


def about_kernel(name: str, also: Message | str = "") -> dict[str, Any]:
    """Returns what every `KernelNotFound` tells: the name, its form, and what the compiler says besides."""
    form = Message("jit.form-template") if "<" in name else Message("jit.form-function")
    return {"wanted": name, "form": form, "also": also}


def kernel_not_found(
    wanted: str, have: Sequence[str], source_text: str, also: Message | str = ""
) -> KernelNotFound:
    """The error for a name that no kernel has: with what the source declares, and the nearest names."""
    declared = {kernel.name: kernel for kernel in declared_kernels(source_text)}
    base, about = _last_part(wanted), about_kernel(wanted, also)
    if (kernel := declared.get(base)) and kernel.is_template and "<" not in wanted:
        return KernelNotFound("jit.kernel-is-template", **about)
    if kernel and kernel.is_template and wanted not in have:
        names = list(have) or Message("jit.no-kernel")
        return KernelNotFound("jit.instance-not-compiled", **about, base=base, have=names)
    last_parts = {_last_part(name): name for name in have}
    if base in last_parts and wanted != last_parts[base]:
        near, every = [last_parts[base]], list(have)
    else:
        every = [*have, *(name for name in declared if name not in last_parts)]
        near = difflib.get_close_matches(wanted, every, n=2, cutoff=0.5) or difflib.get_close_matches(
            base, every, n=2
        )
    if not every:
        return KernelNotFound("jit.no-kernel-at-all", **about)
    advice = Message("jit.names-are-exact")
    if near:
        advice = Message("jit.did-you-mean-kernel", {"near": any_of(list(map(repr, near)))})
    return KernelNotFound("jit.no-such-kernel", **about, have=every, advice=advice)
