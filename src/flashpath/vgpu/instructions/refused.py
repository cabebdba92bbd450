"""What the engine refuses: it is asked, instruction by instruction and register by register."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashpath.vgpu.device import UnsupportedInstruction, VirtualModule


@dataclass(frozen=True)
class Refused:
    """An instruction that is refused, written out so that the engine can be asked about it."""

    what: str  # the code of its name
    instruction: str
    before: str = ""
    """Declarations in front of the kernel."""
    altogether: bool = False
    """Whether every form of the opcode is refused."""

    @property
    def opcode(self) -> str:
        return re.split(r"[.\s]", self.instruction, maxsplit=1)[0]


_LAUNCH = (
    ".extern .func (.param .b32 result) cudaLaunchDeviceV2(.param .b64 buffer, .param .b64 stream);\n",
    "{ .param .b32 result; .param .b64 buffer; .param .b64 stream; "
    "call (result), cudaLaunchDeviceV2, (buffer, stream); }",
)
REFUSED = (
    Refused(
        "vgpu.instructions.refused-sparse",
        "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%r1, %r2}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2}, %r3, 0x0;",
    ),
    Refused(
        "vgpu.instructions.refused-wgmma",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%r1, %r2}, %rd1, %rd2, %r3, 0, %p1, 1, 1, 0, 0;",
    ),
    Refused("vgpu.instructions.refused-tcgen05", "tcgen05.fence::before_thread_sync;", altogether=True),
    Refused(
        "vgpu.instructions.refused-textures",
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];",
        altogether=True,
    ),
    Refused("vgpu.instructions.refused-surfaces", "suld.b.1d.b32.trap %r1, [%rd1, {%r2}];", altogether=True),
    Refused(
        "vgpu.instructions.refused-multimem",
        "multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1];",
        altogether=True,
    ),
    Refused("vgpu.instructions.refused-three-operands", "min.f32 %f1, %f2, %f3, %f4;"),
    Refused("vgpu.instructions.refused-alloca", "alloca.u64 %rd1, 16;", altogether=True),
    Refused("vgpu.instructions.refused-no-mask", "shfl.idx.b32 %r1, %r2, 0, 31;"),
    Refused("vgpu.instructions.refused-device-launch", _LAUNCH[1], before=_LAUNCH[0]),
)


def refusal(instruction: str, before: str) -> str | None:
    """Returns what the engine says about an instruction; None where it takes it."""
    module = VirtualModule(
        f".version 9.0\n.target sm_100a\n.address_size 64\n{before}.visible .entry probe()\n{{\n"
        ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<8>;\n"
        f"{instruction}\nret;\n}}\n"
    )
    try:
        module.kernel("probe")
    except UnsupportedInstruction as error:
        return str(error.said.params["problem"])
    return None


# ---- Special registers ---------------------------------------------------------------------------------

# All that PTX has; what has three parts is read as `.x`.
_SPECIAL_REGISTERS = (
    "tid.x", "ntid.x", "ctaid.x", "nctaid.x", "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid",
    "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
    "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi",
    "dynamic_smem_size", "total_smem_size", "aggr_smem_size",
    "clusterid.x", "nclusterid.x", "cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank",
    "cluster_nctarank", "is_explicit_cluster", "envreg0", "pm0", "pm0_64",
    "reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap",
    "reserved_smem_offset_0", "reserved_smem_offset_1", "current_graph_exec",
)  # fmt: skip


def special_registers() -> tuple[list[str], list[str]]:
    """Those that can be read, and those that are refused."""
    known: list[str] = []
    refused: list[str] = []
    for name in _SPECIAL_REGISTERS:
        readable = any(
            refusal(f"mov.{kind} {register}, %{name};", "") is None
            for kind, register in (("u32", "%r1"), ("u64", "%rd1"), ("pred", "%p1"))
        )
        (known if readable else refused).append(f"`%{name.partition('.')[0]}`")
    return known, refused
