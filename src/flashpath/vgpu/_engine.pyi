"""The compiled engine (engine/python/module.cpp)."""

from collections.abc import Callable
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

def vector_extensions() -> list[tuple[str, bool]]:
    """Vector extensions that processor and operating system offer, as (name, present) pairs."""

def probe_amx() -> Literal["absent", "works", "traps"]:
    """Whether AMX is absent, works, or is advertised and traps."""

class ParseError(Exception):
    """A malformed PTX text; its arguments are the problem as JSON, the line and the column."""

    args: tuple[str, int, int]

class FunctionDict(TypedDict):
    name: str
    is_entry: bool
    is_declaration: bool
    parameters: list[tuple[str, str, tuple[int, ...]]]
    returns: list[tuple[str, str, tuple[int, ...]]]
    registers: int
    instructions: int
    labels: int
    opcodes: dict[str, int]

class ModuleDict(TypedDict):
    version: tuple[int, int]
    target: list[str]
    address_size: int
    variables: list[str]
    functions: list[FunctionDict]

def parse_summary(text: bytes) -> ModuleDict:
    """What a PTX module has in it."""

def dump(text: bytes) -> bytes:
    """A PTX module in its canonical form."""

class LowerError(Exception):
    """A kernel that cannot be run: the code of the message, the problem as JSON that
    `flashpath.messages.Message.from_data` reads, the PTX line, and the place in the source."""

    args: tuple[str, str, int, str]

class Options:
    """How a launch is run and what is watched: flashpath.vgpu.options says what each means."""

    exact: bool
    count: bool
    sanitize: bool
    accessed: bool
    """Whether a sanitised launch tells what it has read and written."""
    seed: int
    budget: int
    threads: int
    multiprocessors: int
    capability: tuple[int, int]
    resident_blocks: int
    """As many fit on the GPU at once; 0: all."""
    cooperative: bool
    cluster: tuple[int, int, int] | None
    """In blocks, where the launch asks for clusters; None: as the kernel has them."""
    runs_to_end: bool
    trace: tuple[int, int, int]

PartyRow = tuple[str, int, list[int], list[int]]
"""Action, instruction, block, thread."""

class LaunchResult:
    """What a launch did: its fault, if it had one, and what it counted per instruction."""

    fault_kind: str
    fault_message: str
    """As JSON that `flashpath.messages.Message.from_data` reads."""
    fault_instruction: int
    fault_block: list[int]
    fault_thread: list[int]
    findings: list[tuple[str, str, PartyRow, PartyRow | None, int]]
    """Of a sanitised launch: kind, message as JSON, where, the other party of a race, how often."""
    read: list[tuple[int, int]]
    """Where it is asked for: bytes of arrays that were read and not written, from an address to another."""
    written: list[tuple[int, int]]
    strong: list[tuple[int, int]]
    """Last written by atomics, volatile accesses and the like."""
    strong_read: list[tuple[int, int]]
    """Read by such, and not written."""
    counter_names: list[str]
    instructions: NDArray[np.uint64]
    """A row per instruction, a column per name of a counter."""
    memory_sectors: int
    global_allocated: int
    global_touched: int
    accesses: list[tuple[int, str, list[int], int, int, int, list[int]]]
    """Traced ones: instruction, space, block, warp, lanes, bytes, addresses."""

class Module:
    """A PTX module: its variables, and its kernels."""

    @staticmethod
    def load(ptx: str) -> Module: ...
    def kernel(self, name: str, library_files: list[int]) -> Program:
        """Make one of its kernels ready to run; code from these files is placed where it is called."""

    files: list[tuple[int, str]]
    """Those that its line table names, by their numbers."""

class ModuleState:
    """The variables and the heap of a module, as they were."""

class Program:
    """One kernel, ready to run."""

    name: str
    parameter_bytes: int
    shared_bytes: int
    local_bytes: int
    max_threads: int
    cluster: list[int]
    """`__cluster_dims__`; zeros where there are none."""
    files: list[str]
    origins: list[tuple[str, int, int, int, int, int]]
    """Of each instruction: the opcode, the PTX line, file and line of the user's source, and of the library
    that it was inlined from (0 where it was not)."""
    operations: list[str]
    """What is done for each instruction, by the engine's own names: `fma.f32` for an `add.f32` that took a
    product in."""
    order_matters: bool

    def save(self) -> ModuleState:
        """The variables and the heap of its module as they are."""

    def restore(self, state: ModuleState) -> None:
        """Make them what they were."""

    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        dynamic_shared: int,
        parameters: bytes,
        segments: list[tuple[int, int, int, bool, bool]],
        options: Options,
        show: Callable[[bytes], None],
    ) -> LaunchResult: ...

def arithmetic(opcode: str) -> tuple[str, int, int]:
    """The type, the operations of a thread and those of a tensor core, of an opcode with its modifiers."""

def known_opcodes() -> list[str]:
    """The PTX opcodes that some form is known of, such as "add"."""

def kernel_name(mangled: str) -> str:
    """Returns `ns::scale<float>` of `_ZN2ns5scaleIfEEviT_PS1_`; what is not mangled stays as it is."""

def tensor_map(
    type: int,
    address: int,
    extents: list[int],
    strides: list[int],
    box: list[int],
    steps: list[int],
    lower: list[int],
    upper: list[int],
    modes: tuple[int, int, int, int],
) -> tuple[str, int, bytes]:
    """What is wrong, as the code of a message (empty: nothing), with which dimension; and the map's 128 bytes."""

def known_instructions() -> list[str]:
    """The operations that the engine has, by its own names."""
