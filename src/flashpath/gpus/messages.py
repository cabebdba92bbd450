"""What is said of GPUs, architectures, occupancy, the roofline and the shape of a launch."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_ADVICE = Text("{advice}", "{advice}")
_SMALLER_TILES = Text("Use smaller tiles or fewer stages.", "请用更小的分块，或减少流水级数。")
_LEARNER_SMALLER = Text(
    "The exercise chooses the launch: use less shared memory and fewer registers in a thread.",
    "启动参数由练习决定：请少用共享内存和每个线程的寄存器。",
)

MESSAGES: dict[str, Text | Entry] = {
    # ---- Names -----------------------------------------------------------------------------------------
    "unknown-arch": Entry(
        Text("unknown architecture {name}", "未知的架构 {name}"),
        Text("{advice} Known: {known}.", "{advice}已知：{known}。"),
    ),
    "write-arch": Text("Write {names}.", "请写 {names}。"),
    "write-arch-so": Text('Write an architecture as "sm_80".', "架构请写成 “sm_80” 这样。"),
    "unknown-gpu": Entry(Text("unknown GPU {name}", "未知的 GPU {name}"), _ADVICE),
    "known-gpus": Text("Known: {known}.", "已知：{known}。"),
    "known-gpus-near": Text("Did you mean {near}? Known: {known}.", "你是不是想写 {near}？已知：{known}。"),
    "unknown-capability": Entry(
        Text(
            "no limits are known for compute capability {capability}", "计算能力 {capability} 的各项上限未知"
        ),
        Text("Known: {known}.", "已知：{known}。"),
    ),
    "no-profile": Entry(
        Text("there is no GPU profile for {arch}", "没有 {arch} 的 GPU 资料"),
        Text(
            "Compile for an architecture that has one, or name a GPU: {known}.",
            "请为有资料的架构编译，或给出一个 GPU：{known}。",
        ),
    ),
    # ---- Occupancy -------------------------------------------------------------------------------------
    "block-of": Entry(
        Text("got a block of {threads} threads", "线程块的线程数是 {threads}"),
        Text("Give 1 thread or more.", "至少要有 1 个线程。"),
    ),
    "negative-resources": Entry(
        Text(
            "got {registers} registers and {shared} bytes of shared memory",
            "寄存器数是 {registers}，共享内存是 {shared} 字节",
        ),
        Text("Give 0 or more of each.", "两者都不能小于 0。"),
    ),
    "too-many-threads": Text(
        "a block has at most {most} threads, this one has {threads}",
        "一个线程块最多有 {most} 个线程，这个有 {threads} 个",
    ),
    "too-much-shared": Text(
        "a block has at most {most} bytes of shared memory on compute capability {capability}, this one needs "
        "{shared}",
        "在计算能力 {capability} 上一个线程块最多有 {most} 字节共享内存，这个需要 {shared} 字节",
    ),
    "too-many-registers": Text(
        "a thread has at most {most} registers, this one needs {registers}",
        "一个线程最多有 {most} 个寄存器，这个需要 {registers} 个",
    ),
    "registers-do-not-fit": Text(
        "{threads} threads with {registers} registers each do not fit into the SM's {most} registers: use "
        "fewer threads per block or bound the registers (__launch_bounds__)",
        "{threads} 个线程、每个 {registers} 个寄存器，超出了 SM 的 {most} 个寄存器：请减少每块的线程，"
        "或限制寄存器数（__launch_bounds__）",
    ),
    # ---- Roofline --------------------------------------------------------------------------------------
    "measured-time": Entry(
        Text("got a measured time of {seconds} s", "测得的时间是 {seconds} 秒"),
        Text("Give a time above 0, in seconds.", "时间必须大于 0，单位是秒。"),
    ),
    "amount": Entry(
        Text("got {amount} {what}", "{what} 是 {amount}"),
        Text("Give the number of {what}: 0 or more, and finite.", "请给出 {what} 的数量：不小于 0，且有限。"),
    ),
    "no-peak": Entry(
        Text("no peak rate is known for the type {dtype!r}", "类型 {dtype!r} 的峰值速率未知"),
        Text(
            "Give the type that is multiplied: fp64, fp32, tf32, fp16, bf16, fp8 or int8. "
            "For a kernel without such arithmetic, leave the type out and give 0 FLOPs.",
            "请给出相乘的类型：fp64、fp32、tf32、fp16、bf16、fp8 或 int8。"
            "如果核函数没有这类运算，请不写类型，FLOPs 给 0。",
        ),
    ),
    # ---- The shape of a launch -------------------------------------------------------------------------
    "not-dimensions": Entry(
        Text("{what} is {value}.", "{what} 是 {value}。"),
        Text("Give one to three integers: {what}=(x, y, z).", "请给一到三个整数：{what}=(x, y, z)。"),
    ),
    "empty-dimension": Entry(
        Text("{what} is {value}: every dimension must be at least 1.", "{what} 是 {value}：每一维至少是 1。"),
        Text(
            "Round up: (n + block - 1) // block; for n = 0 there is nothing to launch.",
            "请向上取整：(n + block - 1) // block；n = 0 时不必启动。",
        ),
    ),
    "shared-bytes": Entry(
        Text("shared is {value}.", "shared 是 {value}。"),
        Text("Give the dynamic shared memory in bytes, 0 or more.", "请给出动态共享内存的字节数，不小于 0。"),
    ),
    "grid-too-large": Entry(
        Text("grid.{axis} is {size}; {gpu} allows {most}.", "grid.{axis} 是 {size}；{gpu} 最多允许 {most}。"),
        Text("Use a grid-stride loop, or another axis.", "请用网格跨步循环，或换一个轴。"),
    ),
    "block-too-large": Entry(
        Text(
            "block.{axis} is {size}; {gpu} allows {most}.", "block.{axis} 是 {size}；{gpu} 最多允许 {most}。"
        ),
        Text("Use smaller blocks.", "请用更小的线程块。"),
    ),
    "too-many-threads-of-block": Entry(
        Text(
            "block {block} has {threads} threads; a block has at most {most}.",
            "block {block} 有 {threads} 个线程；一个线程块最多有 {most} 个。",
        ),
        Text("Use smaller blocks and more of them.", "请用更小、更多的线程块。"),
    ),
    "too-many-threads-of-kernel": Entry(
        Text(
            "block {block} has {threads} threads; {kernel} was compiled for at most {most} (its registers or "
            "its __launch_bounds__).",
            "block {block} 有 {threads} 个线程；{kernel} 编译后最多支持 {most} 个（受寄存器或 "
            "__launch_bounds__ 限制）。",
        ),
        Text(
            "Use smaller blocks, or raise __launch_bounds__; flashpath explain shows its registers.",
            "请用更小的线程块，或调大 __launch_bounds__；flashpath explain 会显示它的寄存器数。",
        ),
        learner_fix=_LEARNER_SMALLER,
    ),
    "too-much-shared-of-kernel": Entry(
        Text(
            "{kernel} asks for {dynamic} bytes of dynamic and {static} of static shared memory; a block of "
            "{gpu} has at most {most}.",
            "{kernel} 要 {dynamic} 字节动态共享内存和 {static} 字节静态共享内存；{gpu} 的一个线程块最多有 "
            "{most} 字节。",
        ),
        _SMALLER_TILES,
    ),
    "no-multiple-of-cluster": Entry(
        Text(
            "grid {grid} is no multiple of cluster {cluster}.",
            "网格 {grid} 不是 cluster {cluster} 的整数倍。",
        ),
        Text("Round the grid up.", "请把网格向上取整。"),
    ),
}
