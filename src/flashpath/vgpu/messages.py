"""What the virtual GPU says."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_ON_THE_CPU = Text("Pass a tensor on the CPU: it runs there.", "请传 CPU 上的张量：虚拟 GPU 在 CPU 上运行。")
_SMALLER_TILES = Text("Use smaller tiles or fewer stages.", "请用更小的分块，或减少流水级数。")

MESSAGES: dict[str, Text | Entry] = {
    # ---- The engine ------------------------------------------------------------------------------------
    "engine-not-built": Entry(
        Text(
            "The virtual GPU's engine is not built for this Python ({cause}).",
            "虚拟 GPU 的引擎没有为这个 Python 构建（{cause}）。",
        ),
        Text(
            "In a checkout run `pip install -e .`; it needs a C++ compiler (`{compiler}`).",
            "请在源代码目录里运行 `pip install -e .`；它需要 C++ 编译器（`{compiler}`）。",
        ),
    ),
    "runtime-not-built": Entry(
        Text(
            "The virtual GPU's runtime library is not built: there is no {path}.",
            "虚拟 GPU 的运行时库没有构建：没有 {path}。",
        ),
        Text(
            "In a checkout run `pip install -e .`; it needs a C++ compiler.",
            "请在源代码目录里运行 `pip install -e .`；它需要 C++ 编译器。",
        ),
    ),
    "line-break-in-path": Entry(
        Text("{path!r} holds a line break.", "{path!r} 里有换行。"),
        Text("Use a path without one.", "请用不含换行的路径。"),
    ),
    # ---- PTX -------------------------------------------------------------------------------------------
    "ptx": Text(
        "PTX line {line}, column {column}: {problem}.", "PTX 第 {line} 行第 {column} 列：{problem}。"
    ),
    "variables-too-large": Entry(
        Text("{problem}.", "{problem}。"),
        Text("Make them smaller, or pass arrays.", "请缩小它们，或改为传数组。"),
        learner_fix=Text(
            "Make them smaller, or use the arrays that the exercise gives.",
            "请缩小它们，或用练习给出的数组。",
        ),
    ),
    "no-memory-for-variables": Entry(
        Text("There is no memory for the variables of this module.", "没有内存存放这个模块的变量。"),
        Text("Make its __device__ arrays smaller.", "请缩小它的 __device__ 数组。"),
    ),
    "no-such-entry": Entry(
        Text("{kernel}: {problem}.", "{kernel}：{problem}。"),
        Text("Names are exact, as the PTX has them.", "名字必须与 PTX 里的完全一致。"),
    ),
    "unsupported-instruction": Entry(
        Text(
            "{kernel}, PTX line {ptx_line}{place}: {problem}.",
            "{kernel}，PTX 第 {ptx_line} 行{place}：{problem}。",
        ),
        Text(
            "Run it on a GPU, or write it with instructions that the virtual GPU knows.",
            "请在 GPU 上运行，或改用虚拟 GPU 支持的指令。",
        ),
        learner_fix=Text(
            "The kernel is played on the virtual GPU, which does not have it: write it in another way.",
            "核函数在虚拟 GPU 上运行，它没有这条指令：请换一种写法。",
        ),
    ),
    "no-elf": Text(
        "The machine code of {kernel} is no 64-bit ELF file.", "{kernel} 的机器码不是 64 位 ELF 文件。"
    ),
    "no-registers-in-cubin": Text(
        "The cubin says nothing of the registers of {kernel!r}.", "cubin 里没有 {kernel!r} 的寄存器数。"
    ),
    # ---- Launches --------------------------------------------------------------------------------------
    "no-clusters": Entry(
        Text("The virtual GPU does not run clusters.", "虚拟 GPU 不支持 cluster。"),
        Text("Run it on a GPU.", "请在 GPU 上运行。"),
    ),
    "no-memory-for-blocks": Entry(
        Text(
            "{kernel}: there is no memory for the registers, the local memory and the output of {count} "
            "blocks.",
            "{kernel}：没有内存存放 {count} 个线程块的寄存器、局部内存和输出。",
        ),
        Text(
            "Launch smaller blocks, print less, or pass threads=1.",
            "请用更小的线程块、少打印，或传 threads=1。",
        ),
        learner_fix=Text(
            "The exercise chooses the launch: use less memory and fewer registers in a thread.",
            "启动参数由练习决定：请让每个线程少用内存和寄存器。",
        ),
    ),
    "too-much-local-memory": Entry(
        Text(
            "{kernel} has {bytes} bytes of local memory a thread; CUDA allows {most}.",
            "{kernel} 的每个线程有 {bytes} 字节局部内存；CUDA 最多允许 {most} 字节。",
        ),
        Text("Put large arrays into shared or global memory.", "请把大数组放到共享内存或全局内存。"),
    ),
    "too-much-shared-memory": Entry(
        Text(
            "{kernel} has {bytes} bytes of shared memory; no GPU has more than {most}.",
            "{kernel} 有 {bytes} 字节共享内存；没有 GPU 超过 {most} 字节。",
        ),
        _SMALLER_TILES,
    ),
    "cooperative-does-not-fit": Entry(
        Text(
            "{kernel}: a cooperative launch of {blocks} blocks; {gpu} holds {resident} of them at once "
            "({per_sm} on each of its {sms} multiprocessors).",
            "{kernel}：协作启动了 {blocks} 个线程块；{gpu} 同时最多容纳 {resident} 个（{sms} 个 SM，"
            "每个 {per_sm} 个）。",
        ),
        Text(
            "Launch at most {resident} blocks, and let each do more in a loop.",
            "请最多启动 {resident} 个线程块，让每个块用循环多做一些。",
        ),
    ),
    "tensor-on": Entry(
        Text("The virtual GPU was given a tensor on {device}.", "虚拟 GPU 收到了 {device} 上的张量。"),
        _ON_THE_CPU,
    ),
    # ---- Options ---------------------------------------------------------------------------------------
    "exact": Entry(
        Text("exact is {value}.", "exact 是 {value}。"),
        Text(
            "Give True for the bits of the hardware, False for fast tensor cores and library functions.",
            "True 表示与硬件逐位一致，False 表示更快的 Tensor Core 和库函数。",
        ),
    ),
    "budget": Entry(
        Text("budget is {value}.", "budget 是 {value}。"),
        Text(
            "Give the number of warp instructions after which a launch is stopped, such as {example}.",
            "请给出启动在多少条 warp 指令之后停止，例如 {example}。",
        ),
    ),
    "threads": Entry(
        Text("threads is {value}.", "threads 是 {value}。"),
        Text(
            "Give a number of host threads from 1 to {most}; this process has {cores} cores. Left out, it is "
            "chosen for you.",
            "请给出主机线程数，1 到 {most}；这个进程有 {cores} 个核。不写则自动选择。",
        ),
    ),
    "seed": Entry(
        Text("seed is {value}.", "seed 是 {value}。"),
        Text(
            "Give a whole number from 0 on: each stands for one schedule.",
            "请给出不小于 0 的整数：每个数代表一种调度。",
        ),
    ),
    "trace": Entry(
        Text("trace is {value}.", "trace 是 {value}。"),
        Text(
            "Give a flashpath.vgpu.report.Trace(block=…, warp=…).",
            "请给 flashpath.vgpu.report.Trace(block=…, warp=…)。",
        ),
    ),
    "seeds": Entry(
        Text("seeds is {value}.", "seeds 是 {value}。"),
        Text(
            "Give the number of schedules to try, 1 to {most:,}: seeds=20.",
            "请给出要试的调度数，1 到 {most:,}：seeds=20。",
        ),
    ),
    "progress": Entry(
        Text("progress is {value}, which cannot be called.", "progress 是 {value}，不能调用。"),
        Text(
            "Give a function of a schedule's number and how many there are, or nothing.",
            "请给一个函数，参数是调度的序号和总数；或者不写。",
        ),
    ),
    # ---- Triton ----------------------------------------------------------------------------------------
    "no-triton": Entry(
        Text("Triton is not installed here.", "这里没有安装 Triton。"),
        Text(
            "On Linux: pip install 'triton>=3.5,<3.8'; it exists for Linux only.",
            "在 Linux 上：pip install 'triton>=3.5,<3.8'；它只有 Linux 版。",
        ),
    ),
    "no-descriptors": Entry(
        Text(
            "{kernel} uses TMA descriptors, which the virtual GPU does not have.",
            "{kernel} 使用 TMA 描述符，虚拟 GPU 不支持。",
        ),
        Text(
            'Compile for an architecture before sm_90, such as fp.vgpu.triton(arch="sm_80"): there Triton '
            "turns descriptors into pointers.",
            '请为 sm_90 之前的架构编译，例如 fp.vgpu.triton(arch="sm_80")：那里 Triton 会把描述符变成指针。',
        ),
    ),
    "parameter-bytes": Entry(
        Text(
            "{kernel} takes {bytes} bytes of parameters, its arguments {got}.",
            "{kernel} 的形参有 {bytes} 字节，实参有 {got} 字节。",
        ),
        Text(
            "This version of Triton is not known to flashpath; use one from 3.5 to 3.7.",
            "flashpath 不认识这个版本的 Triton；请用 3.5 到 3.7。",
        ),
    ),
    "float-for-integer": Entry(
        Text("A parameter of type {type} was given {value}.", "类型为 {type} 的形参收到了 {value}。"),
        Text("Pass an integer: int(x).", "请传整数：int(x)。"),
    ),
    "value-does-not-fit": Entry(
        Text(
            "A parameter of type {type} was given {value}: {error}.",
            "类型为 {type} 的形参收到了 {value}：{error}。",
        ),
        Text("Pass a value that fits the type.", "请传该类型放得下的值。"),
    ),
    "pointer-of-unknown-size": Entry(
        Text(
            "The virtual GPU was given a {type} for a pointer: its size is not known.",
            "虚拟 GPU 收到一个 {type} 作为指针：大小未知。",
        ),
        Text("Pass a torch tensor on the CPU.", "请传 CPU 上的 torch 张量。"),
    ),
    "triton-tensor-on": Entry(
        Text("The virtual GPU was given a tensor on {device}.", "虚拟 GPU 收到了 {device} 上的张量。"),
        Text(
            "Inside fp.vgpu.triton pass tensors on the CPU (x.cpu()); outside, they go to the GPU as usual.",
            "在 fp.vgpu.triton 里请传 CPU 上的张量（x.cpu()）；在外面，张量照常在 GPU 上。",
        ),
    ),
    "no-such-device": Entry(
        Text("The virtual GPU has no device {device}.", "虚拟 GPU 没有设备 {device}。"),
        Text("Name the GPU in fp.vgpu.triton(device=…).", "请在 fp.vgpu.triton(device=…) 里指定 GPU。"),
    ),
    "no-cpp-types": Text(
        "The virtual GPU compiles no launchers, and so has no C++ types.",
        "虚拟 GPU 不编译启动代码，因此没有 C++ 类型。",
    ),
    "no-clock": Entry(
        Text(
            "The virtual GPU has no clock, so this function cannot time anything on it.",
            "虚拟 GPU 没有时钟，这个函数无法在上面计时。",
        ),
        Text(
            "Call it as triton.testing.do_bench(…): inside fp.vgpu.triton that gives the counted cost.",
            "请写 triton.testing.do_bench(…)：在 fp.vgpu.triton 里它给出按计数估算的代价。",
        ),
    ),
    "arch-too-new": Entry(
        Text(
            "Code for {arch} does not run on {gpu} ({own}).",
            "为 {arch} 编译的代码不能在 {gpu}（{own}）上运行。",
        ),
        Text(
            "Name an architecture that is no newer than the GPU, or leave it out.",
            "请给出不比 GPU 新的架构，或不写。",
        ),
    ),
    "triton-not-virtual": Entry(
        Text("Triton is not on the virtual GPU.", "Triton 没有在用虚拟 GPU。"),
        Text("Call fp.vgpu.enable_triton() first.", "请先调用 fp.vgpu.enable_triton()。"),
    ),
    "empty-grid": Entry(
        Text("Nothing ran: the grid is empty.", "什么也没有运行：网格是空的。"),
        Text("Give a grid of at least one block.", "网格至少要有一个线程块。"),
    ),
    "numpy-for-triton": Entry(
        Text(
            "Argument {place} of the Triton kernel is a NumPy array.",
            "Triton 核函数的参数 {place} 是 NumPy 数组。",
        ),
        Text(
            "Triton takes torch tensors: torch.from_numpy(x) shares the array's memory.",
            "Triton 接受 torch 张量：torch.from_numpy(x) 与数组共用内存。",
        ),
    ),
    "no-ptx-kept": Entry(
        Text("Triton has kept no PTX of {kernel} in its cache.", "Triton 的缓存里没有 {kernel} 的 PTX。"),
        Text(
            "Unset TRITON_STORE_BINARY_ONLY and empty Triton's cache: the virtual GPU runs PTX.",
            "请取消设置 TRITON_STORE_BINARY_ONLY，并清空 Triton 的缓存：虚拟 GPU 运行的是 PTX。",
        ),
    ),
}
