"""What the virtual GPU says, in both languages."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_ON_THE_CPU = Text("Pass a tensor on the CPU: it runs there.", "请传 CPU 上的张量：虚拟 GPU 在 CPU 上运行。")
_SMALLER_TILES = Text("Use smaller tiles or fewer stages.", "请用更小的分块，或减少流水级数。")

MESSAGES: dict[str, Text | Entry] = {
    # ---- The engine ------------------------------------------------------------------------------------
    "engine-for-newer-processor": Entry(
        Text(
            "The virtual GPU's engine was compiled for a newer processor than this one (x86-64-v3).",
            "虚拟 GPU 的引擎是为比这更新的处理器（x86-64-v3）编译的。",
        ),
        Text(
            "Build it on this machine: run `pip install -e .` in the checkout.",
            "请在这台机器上重新构建：在源代码目录里运行 `pip install -e .`。",
        ),
    ),
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
    "driver-loaded": Entry(
        Text(
            "This process runs exported libraries on a virtual {loaded} already, and cannot change to {wanted}.",
            "这个进程已经让导出的库在虚拟的 {loaded} 上运行，不能再换成 {wanted}。",
        ),
        Text("Start another process.", "请另起一个进程。"),
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
    "kernel-too-large": Entry(
        Text("{kernel}: {problem}.", "{kernel}：{problem}。"),
        Text(
            "Make its arrays smaller, or put large ones into global memory.",
            "请缩小它的数组，或把大数组放到全局内存。",
        ),
    ),
    "unsupported-kernel": Entry(
        Text("{kernel}: {problem}.", "{kernel}：{problem}。"),
        Text(
            "Run it on a GPU, or write it with what the virtual GPU knows.",
            "请在 GPU 上运行，或改用虚拟 GPU 支持的写法。",
        ),
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
        Text("{kernel} is launched in clusters, which {gpu} does not have.", "{kernel} 以 cluster 启动，{gpu} 不支持 cluster。"),
        Text("Play a Hopper GPU: device='H200'.", "请模拟 Hopper GPU：device='H200'。"),
    ),
    "cluster-too-large": Entry(
        Text("A cluster of {cluster} has more than {most} blocks.", "cluster {cluster} 超过 {most} 个线程块。"),
        Text("Choose a smaller one.", "请选小一些的 cluster。"),
    ),
    "other-cluster": Entry(
        Text(
            "{kernel} is compiled for clusters of {own} and launched in clusters of {given}.",
            "{kernel} 按 cluster {own} 编译，却以 cluster {given} 启动。",
        ),
        Text("Launch it in its own, or take __cluster_dims__ away.", "请按它自己的 cluster 启动，或去掉 __cluster_dims__。"),
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
    "map-type": Text("A tensor map knows no such type of elements.", "张量映射没有这种元素类型。"),
    "map-rank": Text(
        "A tensor map has 1 to 5 dimensions, one for im2col 3 to 5, and a box and steps of as many: shape {shape}, box {box}, "
        "steps {steps}.",
        "张量映射有 1 到 5 维（im2col 为 3 到 5 维），box 和 steps 的维数相同：shape {shape}，box {box}，steps {steps}。",
    ),
    "map-address": Text(
        "The array of a tensor map begins at {address}, which is no multiple of 16 bytes.",
        "张量映射的数组从 {address} 开始，不是 16 字节的倍数。",
    ),
    "map-extent": Text(
        "Dimension {dimension} of {shape} has no extent that a tensor map can have (1 to 2**32).",
        "{shape} 的第 {dimension} 维的大小超出张量映射的范围（1 到 2**32）。",
    ),
    "map-stride": Text(
        "The strides of a tensor map are multiples of 16 bytes below 2**40; these are {strides}.",
        "张量映射的步长（字节）必须是 16 的倍数且小于 2**40；这里是 {strides}。",
    ),
    "map-box": Text(
        "A box has 1 to 256 elements of each dimension; this one has {box}.",
        "box 的每一维有 1 到 256 个元素；这里是 {box}。",
    ),
    "map-element-stride": Text("Steps are 1 to 8; these are {steps}.", "steps 在 1 到 8 之间；这里是 {steps}。"),
    "map-interleave": Text(
        "Tensor maps with interleaved channels are not known to this version.", "这个版本不支持通道交错的张量映射。"
    ),
    "map-swizzle": Text("A swizzle is 0, 32, 64 or 128 bytes wide.", "swizzle 的宽度是 0、32、64 或 128 字节。"),
    "map-inner-bytes": Text(
        "The innermost dimension of box {box} is no multiple of 16 bytes.",
        "box {box} 最内层一维的字节数不是 16 的倍数。",
    ),
    "map-inner-span": Text(
        "The innermost dimension of box {box} is wider than its swizzle of {swizzle} bytes.",
        "box {box} 最内层一维比 {swizzle} 字节的 swizzle 宽。",
    ),
    "map-fill": Text("What is outside of a tensor is zeros or NaN.", "张量之外填零或 NaN。"),
    "map-corner": Text(
        "A corner of the box of pixels has more bits than a tensor map keeps.", "像素框的角超出张量映射能保存的位数。"
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
    # ---- Traced accesses -------------------------------------------------------------------------------
    "argument": Text("argument {index} ({type})", "参数 {index}（{type}）"),
    "argument-untyped": Text("argument {index}", "参数 {index}"),
    "no-traced-access": Entry(
        Text(
            "Line {line} has {count:,} traced {kinds}accesses; request {request} was asked for.",
            "第 {line} 行有 {count:,} 次记录下来的{kinds}访问；要的是第 {request} 次请求。",
        ),
        Text(
            "Lines with traced accesses: {lines}. fp.profile(…, trace=Trace(requests=…)) keeps more of each.",
            "有访问记录的行：{lines}。fp.profile(…, trace=Trace(requests=…)) 会多记录一些。",
        ),
    ),
    "trace-counts": Entry(
        Text("got {trace}", "收到 {trace}"),
        Text("Give a warp and a number of requests of 0 or more.", "warp 和请求数都应不小于 0。"),
    ),
    "trace-block": Entry(
        Text("got {trace}", "收到 {trace}"),
        Text("Give a block as its number, or as (x, y, z).", "线程块请写编号，或写 (x, y, z)。"),
    ),
    "trace-block-outside": Entry(
        Text("got block {block} to trace", "要记录的线程块是 {block}"),
        Text("The grid {grid} has blocks 0 to {last}.", "网格 {grid} 的线程块编号是 0 到 {last}。"),
    ),
    "trace-warp-outside": Entry(
        Text("got warp {warp} to trace", "要记录的 warp 是 {warp}"),
        Text(
            "A block of {block} threads has warps 0 to {last}.",
            "{block} 个线程的线程块有 0 到 {last} 号 warp。",
        ),
    ),
    # ---- Findings: accesses to memory ----
    "a-read": Text("a read", "读取"),
    "a-write": Text("a write", "写入"),
    "an-atomic": Text("an atomic", "原子操作"),
    "global-memory": Text("global", "全局内存"),
    "shared-memory": Text("shared", "共享内存"),
    "local-memory": Text("local", "局部内存"),
    "constant-memory": Text("constant", "常量内存"),
    "access": Text(
        "{action} of {bytes} bytes at {address} of {space} memory",
        "在{space}地址 {address} 处{action} {bytes} 字节",
    ),
    "access-null": Text("{access}: it is a null pointer", "{access}：这是空指针"),
    "access-known": Text("{access}: {what}", "{access}：{what}"),
    "access-read-only": Text("{access}, which is read-only", "{access}，而那里只读"),
    "access-into": Text(
        "{access}: {offset} bytes into an array of {size}",
        "{access}：距数组开头 {offset} 字节，而数组只有 {size} 字节",
    ),
    "access-before": Text(
        "{access}: {offset} bytes before an array of {size}",
        "{access}：在一个 {size} 字节的数组开头之前 {offset} 字节",
    ),
    "access-nowhere": Text("{access}: no array is near", "{access}：附近没有数组"),
    "accumulator-in-flight": Text(
        "it uses a register that a wgmma in flight still adds to: wait for its group first",
        "它使用的寄存器仍被尚未完成的 wgmma 累加：请先等待那一组",
    ),
    "no-warpgroup": Text(
        "wgmma needs four warps, beginning with one whose number is a multiple of four; here are {warps}",
        "wgmma 需要四个 warp，首个 warp 的编号是 4 的倍数；这里只有 {warps} 个",
    ),
    "bulk-size": Text(
        "a bulk copy of {bytes} bytes, which is no multiple of {unit}", "批量拷贝 {bytes} 字节，不是 {unit} 的倍数"
    ),
    "bulk-address": Text(
        "the address {address} of a bulk copy is no multiple of {unit}", "批量拷贝的地址 {address} 不是 {unit} 的倍数"
    ),
    "no-tensor-map": Text(
        "there is no tensor map at the address that the copy names",
        "拷贝所指的地址处没有张量映射（tensor map）",
    ),
    "tensor-map-rank": Text(
        "the tensor map has {has} dimensions, the copy {wanted}", "张量映射有 {has} 维，而拷贝是 {wanted} 维"
    ),
    "tensor-map-mode": Text(
        "one of the tensor map and the copy is tiled, the other im2col",
        "张量映射和拷贝一个是 tile 模式，另一个是 im2col 模式",
    ),
    "tensor-map-type": Text(
        "elements of that type cannot be reduced so", "这种类型的元素不能这样归约"
    ),
    "tensor-map-value": Text("{value} is no value for that field of a tensor map", "{value} 不是张量映射该字段的合法值"),
    "ended-while-copy-reads": Text(
        "all threads have ended while this copy still reads shared memory",
        "所有线程都已结束，而这个拷贝仍在读共享内存",
    ),
    "ended-while-copy-writes": Text(
        "all threads have ended, and nobody has waited at the barrier of this copy, which still writes shared memory",
        "所有线程都已结束，却没有线程在这个拷贝的屏障处等待，它仍在写共享内存",
    ),
    "block-has-ended": Text(
        "{access} of block {rank} of the cluster, which has ended",
        "{access}，而它属于 cluster 中已结束的第 {rank} 个线程块",
    ),
    "cluster-arrives-again": Text(
        "barrier.cluster.arrive by a thread that has arrived and not waited",
        "线程执行 barrier.cluster.arrive 时，上一次到达之后还没有等待",
    ),
    "access-beyond": Text("{access}: there are {size} bytes", "{access}：总共只有 {size} 字节"),
    "memory-of-other-device": Text(
        "it is memory of device {device}: call cudaDeviceEnablePeerAccess({device}, 0) first",
        "这是设备 {device} 的内存：请先调用 cudaDeviceEnablePeerAccess({device}, 0)",
    ),
    "memory-of-host": Text(
        "it is memory of the host, which kernels do not see: copy it with cudaMemcpy, or use cudaMallocManaged",
        "这是主机内存，核函数看不到：用 cudaMemcpy 拷贝，或者使用 cudaMallocManaged",
    ),
    "freed-before": Text("it was freed before", "它已经被释放"),
    "misaligned-access": Text(
        "an access of {bytes} bytes at {address}, which is no multiple of {bytes}",
        "在地址 {address} 处访问 {bytes} 字节，而该地址不是 {bytes} 的倍数",
    ),
    "heap-behind": Text(
        "{action} of {bytes} bytes at {address} of the heap: {offset} bytes into {size} that malloc gave",
        "在堆地址 {address} 处{action} {bytes} 字节：距 malloc 所给内存的开头 {offset} 字节，而那里只有 {size} 字节",
    ),
    "heap-of-nobody": Text(
        "{action} of {bytes} bytes at {address} of the heap: malloc did not give it, or it was freed",
        "在堆地址 {address} 处{action} {bytes} 字节：它不是 malloc 给出的，或者已经被释放",
    ),
    "freed-unknown": Text(
        "free of {address}, which malloc did not give, or which was freed before",
        "free 释放 {address}：它不是 malloc 给出的，或者已经被释放",
    ),
    "leak-of-launch": Text(
        "malloc gave {bytes} bytes at {address}, which the launch did not free; a later kernel of the module may",
        "malloc 在 {address} 处给出的 {bytes} 字节，这次启动没有释放；同一模块中后面的核函数仍可以释放它",
    ),
    "leak-of-program": Text(
        "malloc gave {bytes} bytes at {address}, which no kernel of the program has freed",
        "malloc 在 {address} 处给出的 {bytes} 字节，程序里没有一个核函数释放它",
    ),
    # ---- Findings: races and missing waits ----
    "piece": Text("{bytes:~byte} of {space} memory at {address}", "{space}地址 {address} 处的 {bytes} 字节"),
    "race-other-block": Text(
        "{action} of {piece} races with {other} in another block: no fence and strong access, nor anything else, "
        "orders blocks of a launch",
        "对{piece}的{action}与另一个线程块的{other}竞争：一次启动的各线程块之间，没有内存栅栏加强序访问，也没有别的东西"
        "规定先后",
    ),
    "race-other-warp": Text(
        "{action} of {piece} races with {other} in another warp: no barrier comes between them",
        "对{piece}的{action}与另一个 warp 的{other}竞争：两者之间没有屏障",
    ),
    "race-same-write": Text(
        "{action} of {piece} races with {other} by another lane of the warp: which value stays is undefined",
        "对{piece}的{action}与同一 warp 另一个 lane 的{other}竞争：最后留下哪个值没有定义",
    ),
    "race-other-lane": Text(
        "{action} of {piece} races with {other} by another lane of the warp: no __syncwarp() comes between them",
        "对{piece}的{action}与同一 warp 另一个 lane 的{other}竞争：两者之间没有 __syncwarp()",
    ),
    "guess-beside-atomics": Text(
        "{action} of {piece} beside {other} by another thread: the plain read is a guess, which the compare-and-swap "
        "checks; a note, no race that does harm",
        "对{piece}的{action}与另一个线程的{other}没有先后：这里的普通读只是猜测，随后的比较并交换会检验它；仅作提示，不会造成错误的竞争",
    ),
    "no-fence-after-atomic": Text(
        "{action} of {piece} after {other} by another block, which a fence and an atomic operation followed there: this "
        "block has seen that operation, and no fence comes after it; a note, GPUs of today keep the order",
        "对{piece}的{action}，在另一个线程块的{other}之后：那个线程块随后执行了栅栏和原子操作，本线程块看到了那次原子操作，"
        "但之后没有栅栏；仅作提示，现有 GPU 会保持这个先后",
    ),
    "no-barrier-after-exchange": Text(
        "{action} of {piece} after {other} by another thread: a lane of this warp has waited for that, and the others "
        "know of it by a shuffle or a vote alone, which passes values and orders no memory; a note, GPUs of today keep "
        "the order",
        "对{piece}的{action}，在另一个线程的{other}之后：本 warp 的一个 lane 等到了它，其他 lane 只是通过洗牌或投票得知，"
        "而洗牌和投票只传递数值，不规定内存访问的先后；仅作提示，现有 GPU 会保持这个先后",
    ),
    "copy-still-writes": Text(
        "{action} of {piece}, where an asynchronous copy writes: the thread that began it has not waited for it yet",
        "对{piece}的{action}，而一次异步拷贝正在写那里：发起拷贝的线程还没有等它完成",
    ),
    "copy-still-reads": Text(
        "{action} of {piece}, which an asynchronous copy reads: the thread that began it has not waited for it yet",
        "对{piece}的{action}，而一次异步拷贝正在读那里：发起拷贝的线程还没有等它完成",
    ),
    "never-written": Text("a read of {piece}, which nobody has written", "读取{piece}，而那里从未写过"),
    # ---- Findings: barriers ----
    "barriers-differ-in-warp": Text(
        "lanes of one warp name different barriers, or different counts of threads",
        "同一 warp 的 lane 指定了不同的屏障，或者不同的线程数",
    ),
    "barrier-count-not-of-warps": Text(
        "barrier {number} is to count {count} threads, which is no multiple of 32",
        "屏障 {number} 要等 {count} 个线程，而这不是 32 的倍数",
    ),
    "barrier-counts-differ": Text(
        "barrier {number} is to count {here} threads here, while threads wait there that count {there}",
        "屏障 {number} 在这里要等 {here} 个线程，而已经在那里等待的线程要等 {there} 个",
    ),
    "barrier-overrun": Text(
        "{arriving} threads come to barrier {number}, which counts {count}",
        "{arriving} 个线程到达屏障 {number}，而它只等 {count} 个",
    ),
    "barrier-others-at-another": Text(
        "a part of a warp comes to this barrier, while {threads:~thread} of the same warp stand at another one, "
        "at {line}",
        "warp 的一部分到达这个屏障，而同一 warp 的 {threads} 个线程停在另一个屏障处，位于{line}",
    ),
    "barrier-others-ended": Text(
        "a part of a warp comes to this barrier, while {threads:~thread} of the same warp ended without coming: "
        "they took a way around it",
        "warp 的一部分到达这个屏障，而同一 warp 的 {threads} 个线程没有到达就结束了：它们绕过了这个屏障",
    ),
    "barrier-met-without": Text(
        "a part of a warp waits at this barrier; {threads:~thread} of it had not come when it was met",
        "warp 的一部分在这个屏障处等待；屏障放行时，这个 warp 还有 {threads} 个线程没有到达",
    ),
    "barrier-ended-without": Text(
        "a part of a warp waits at this barrier; {threads:~thread} of it ended without coming",
        "warp 的一部分在这个屏障处等待；这个 warp 有 {threads} 个线程没有到达就结束了",
    ),
    "passed-by": Text("{what} (by {line})", "{what}（经过{line}）"),
    "barrier-block-ended": Text(
        "{ended} of {threads} threads of the block ended without coming to barrier {number} here: they took a way "
        "around it",
        "线程块的 {threads} 个线程中有 {ended} 个没有到达这里的屏障 {number} 就结束了：它们绕过了这个屏障",
    ),
    "no-such-barrier": Text(
        "the barrier {number} does not exist: there are 16, from 0 to 15",
        "没有屏障 {number}：屏障共 16 个，编号 0 到 15",
    ),
    # ---- Findings: member masks and whole warps ----
    "mask-empty": Text(
        "{what} with the member mask 0, which names no lane", "{what} 的成员掩码是 0，没有指定任何 lane"
    ),
    "mask-without-own-lane": Text(
        "lane {lane} executes {what} with the member mask {mask}, which does not name it",
        "lane {lane} 执行 {what}，成员掩码是 {mask}，其中却没有它自己",
    ),
    "masks-differ": Text(
        "{what} with the member mask {mask}, which names lane {lane}, whose own mask is {other}",
        "{what} 的成员掩码 {mask} 指定了 lane {lane}，而那个 lane 自己的掩码是 {other}",
    ),
    "mask-names-passing-lane": Text(
        "{what} with the member mask {mask}, which names lane {lane}, and that lane passes by without executing it",
        "{what} 的成员掩码 {mask} 指定了 lane {lane}，而那个 lane 经过这里却没有执行它",
    ),
    "mask-names-ended": Text(
        "{what} with the member mask {mask}, which names {threads:~thread} that ended without coming here: they took "
        "a way around it",
        "{what} 的成员掩码 {mask} 指定了 {threads} 个没有到达这里就已结束的线程：它们绕过了这里",
    ),
    "shuffle-from-absent-lane": Text(
        "{what} reads from lane {lane}, which does not take part: the value is undefined",
        "{what} 从 lane {lane} 读取，而那个 lane 没有参与：得到的值没有定义",
    ),
    "shuffle-from-unnamed-lane": Text(
        "{what} reads from lane {lane}, which the member mask {mask} does not name: the value is undefined",
        "{what} 从 lane {lane} 读取，而成员掩码 {mask} 没有指定那个 lane：得到的值没有定义",
    ),
    "matrix-lanes-missing": Text(
        "a matrix operation needs the 32 lanes of its warp together, and {count} are here",
        "矩阵运算需要 warp 的 32 个 lane 一起执行，而这里只有 {count} 个",
    ),
    "matrix-places-differ": Text(
        "the lanes of a warp give different addresses or strides for one matrix",
        "同一 warp 的各个 lane 为一个矩阵给出了不同的地址或步长",
    ),
    "atomic-on-local": Text(
        "an atomic operation on the thread's own local memory: it works on global and shared memory alone",
        "对线程自己的局部内存做了原子操作：原子操作只能用于全局内存和共享内存",
    ),
    "matrix-row-not-shared": Text(
        "the row of a matrix is not in shared memory", "矩阵的这一行不在共享内存里"
    ),
    # ---- Findings: calls, assertions, traps ----
    "called-with-other-parameters": Text(
        "a call by address comes to {function}, whose parameters are others",
        "按地址的调用跳到了 {function}，而它的参数与此不同",
    ),
    "called-no-function": Text(
        "a call by address comes to {address}, where no function is",
        "按地址的调用跳到了 {address}，那里没有函数",
    ),
    "stack-full": Text(
        "the stack of the thread is full: {function} calls itself {depth} deep, its frames have {bytes} of {size} bytes",
        "线程的栈满了：{function} 递归了 {depth} 层，每层占 {bytes} 字节，栈共 {size} 字节",
    ),
    "branch-index": Text(
        "a branch by index {index} of {count}", "按下标跳转，下标是 {index}，而目标只有 {count} 个"
    ),
    "assertion-failed": Text(
        "the assertion `{condition}` failed in {function}, {file}:{line}",
        "断言 `{condition}` 在 {function} 中不成立，位于 {file}:{line}",
    ),
    "trapped": Text("the kernel ended itself by a trap", "核函数执行 trap，自行结束"),
    # ---- Findings: threads that never go on ----
    "ended-after": Text(
        "the launch was ended after {spent} warp instructions: {where}",
        "启动在执行 {spent} 条 warp 指令之后被结束：{where}",
    ),
    "over-budget": Text(
        "the launch has run {spent} warp instructions, its budget is {budget}: {where}",
        "启动已经执行 {spent} 条 warp 指令，超过上限 {budget}：{where}",
    ),
    "barrier-never-reached": Text(
        "{waiting} of {living} threads wait at a barrier that the others never reach: {where}",
        "{living} 个线程中有 {waiting} 个在一个屏障处等待，而其余线程永远不会到达：{where}",
    ),
    "members-never-come": Text(
        "lanes wait in a warp-wide operation for others that its member mask names and that never come: {where}",
        "一些 lane 在 warp 级操作中等待成员掩码指定的其他 lane，而它们永远不会来：{where}",
    ),
    "nobody-goes-on": Text(
        "nobody can go on: {who}, {why}: {where}", "没有线程能继续执行：{who}，{why}：{where}"
    ),
    "nobody-goes-on-without-room": Text(
        "nobody can go on: {who}, {why}; {more} more blocks of the grid have no room beside the {resident} that are "
        "resident: {where}",
        "没有线程能继续执行：{who}，{why}；网格还有 {more} 个线程块，因为已驻留 {resident} 个而无处运行：{where}",
    ),
    "last-thread-waits": Text("the thread that is left waits or spins", "剩下的那个线程在等待或空转"),
    "threads-wait": Text(
        "all {count} threads that are left wait or spin", "剩下的 {count} 个线程都在等待或空转"
    ),
    "memory-stays": Text("and memory no longer changes", "内存也不再变化"),
    "memory-stays-and-none-gives-up": Text(
        "memory no longer changes, and none gives up, however long it waits",
        "内存不再变化，而且无论等多久都没有线程放弃",
    ),
    "threads-at": Text(
        "{threads:~thread} {does} at {line} (such as thread {thread} of block {block})",
        "{threads} 个线程在{line}{does}（例如线程块 {block} 的线程 {thread}）",
    ),
    "and-then": Text("{first}; {next}", "{first}；{next}"),
    "threads-and-more": Text("{first}; and more in {count} places", "{first}；另外还有 {count} 处"),
    "waits-at-barrier": Text(
        "{threads:?waits/wait} at barrier {number}, where {arrived} of {expected} have arrived",
        "的屏障 {number} 处等待，应到 {expected} 个，已到 {arrived} 个",
    ),
    "waits-for-warpgroup": Text(
        "{threads:?waits/wait} in wgmma.wait_group for warps of the warpgroup that have not begun the product",
        "在 wgmma.wait_group 处等待同一 warpgroup 中尚未开始该乘法的 warp",
    ),
    "waits-for-cluster": Text(
        "{threads:?waits/wait} at the barrier of the cluster, where {arrived} of {expected} have arrived",
        "在 cluster 的屏障处等待，应到 {expected} 个，已到 {arrived} 个",
    ),
    "waits-for-warp": Text(
        "{threads:?waits/wait} at a barrier for others of their warp", "的屏障处等待同一 warp 的其他线程"
    ),
    "waits-for-members": Text(
        "{threads:?waits/wait} in {what} with the member mask {mask} for {lanes} (now at {line})",
        "执行 {what}，按成员掩码 {mask} 等待{lanes}（现在位于{line}）",
    ),
    "waits-for-members-and-ended": Text(
        "{threads:?waits/wait} in {what} with the member mask {mask} for {lanes} (now at {line}); {ended} ended before",
        "执行 {what}，按成员掩码 {mask} 等待{lanes}（现在位于{line}）；{ended}此前已经结束",
    ),
    "spins-on": Text("{threads:?spins/spin} on {what}", "的 {what} 上空转"),
    "goes-round": Text("{threads:?goes/go} round an endless loop", "陷入死循环"),
    "runs": Text("{threads:?runs/run}", "运行"),
    "in-loop": Text("{threads:?is/are} in a loop", "循环"),
    "in-loop-with": Text("{threads:?is/are} in a loop with {what}", "循环，循环中执行 {what}"),
    "lane": Text("lane {lane}", " lane {lane}"),
    "lanes": Text("lanes {lanes}", " lane {lanes}"),
    "ptx-line": Text("PTX line {line}", " PTX 第 {line} 行"),
    "source-line": Text("line {line}", "第 {line} 行"),
    "source-line-of": Text("line {line} of {file}", " {file} 第 {line} 行"),
    # ---- Findings: host code ----
    "host-reads": Text("the host reads", "主机读取"),
    "host-writes": Text("the host writes to", "主机写入"),
    "touches-freed": Text("{does} memory that was freed before", "{does}已经释放的内存"),
    "touches-device-memory": Text(
        "{does} memory of the device, which only kernels and copies reach",
        "{does}设备内存，而它只能由核函数和拷贝访问",
    ),
    "touches-nothing": Text(
        "{does} an address of the device, where nothing is allocated",
        "{does}设备地址，而那里没有分配任何内存",
    ),
    "ends-without-waiting": Text(
        "the program ends, and nothing has waited for {what}", "程序结束了，却没有任何地方等待{what}"
    ),
    "leak-of-device": Text(
        "{bytes} bytes of device memory are never freed", "{bytes} 字节设备内存一直没有释放"
    ),
    "leak-of-managed": Text(
        "{bytes} bytes of managed memory are never freed", "{bytes} 字节托管内存一直没有释放"
    ),
    "leak-of-pinned": Text(
        "{bytes} bytes of pinned memory are never freed", "{bytes} 字节锁页内存一直没有释放"
    ),
    "leak-of-registered": Text(
        "{bytes} bytes of host memory are registered, and never unregistered",
        "{bytes} 字节主机内存注册之后一直没有注销",
    ),
    "host-reads-too-early": Text(
        "the host reads {where}, which {what} may not have written yet; nothing has waited for it",
        "主机读取{where}，而{what}可能还没有写完；没有任何地方等待它",
    ),
    "host-writes-too-early": Text(
        "the host writes to {where}, which {what} may not be done with; nothing has waited for it",
        "主机写入{where}，而{what}可能还在用它；没有任何地方等待它",
    ),
    "operations-unordered": Text(
        "{second} ({second_stream}) and {first} ({first_stream}) use the same memory, one of them writes it, and "
        "nothing says which comes first: {where}",
        "{second}（{second_stream}）与{first}（{first_stream}）使用同一块内存，其中之一写它，而两者的先后没有规定：{where}",
    ),
    "freed-since": Text("memory that was freed since", "后来已释放的内存"),
    "byte-of-array": Text("byte {first} of an array of {size} bytes", " {size} 字节数组的第 {first} 字节"),
    "bytes-of-array": Text(
        "bytes {first} to {last} of an array of {size}", " {size} 字节数组的第 {first} 到 {last} 字节"
    ),
    "freed": Text("freed", "释放"),
    "allocated": Text("allocated", "分配"),
    "default-stream": Text("the default stream", "默认流"),
    "row-of-default-stream": Text("default stream", "默认流"),
    "timeline-times": Text(
        "bounds of a model of that GPU, not measurements", "该 GPU 模型给出的界限，不是测量结果"
    ),
    "timeline-not-written": Text("the timeline cannot be written to {path}", "无法把时间线写入 {path}"),
    "record-not-written": Text("the record cannot be written to {path}", "无法把记录写入 {path}"),
    "setting-missing": Text("the settings of this program have no {key}", "这个程序的设置中没有 {key}"),
    "setting-strange": Text(
        "the settings of this program have a strange {key}", "这个程序的设置中 {key} 无法识别"
    ),
    "device-code-unknown": Text(
        "the program's device code has no form that is known", "程序的设备代码格式无法识别"
    ),
    "device-code-compressed": Text(
        "the program's device code is compressed: compile it with --no-compress",
        "程序的设备代码是压缩过的：编译时请加 --no-compress",
    ),
    "device-code-none": Text(
        "what was registered as device code is none", "注册为设备代码的内容并不是设备代码"
    ),
    "device-code-without-ptx": Text(
        "the program has no PTX, which the virtual GPU runs: compile it with `flashpath run`",
        "程序里没有虚拟 GPU 所运行的 PTX：请用 `flashpath run` 编译",
    ),
    "stream": Text("stream {number}", "流 {number}"),
    "operation-kernel": Text("kernel {name}", "核函数 {name}"),
    "operation-fill": Text("fill", "填充"),
    "operation-prefetch": Text("prefetch", "预取"),
    "operation-free": Text("free", "释放"),
    "operation-host-function": Text("host function", "主机函数"),
    "copy-within-device": Text("copy, device to device", "设备到设备的拷贝"),
    "copy-between-devices": Text("copy, between devices", "设备之间的拷贝"),
    "copy-to-device": Text("copy, host to device", "主机到设备的拷贝"),
    "copy-to-host": Text("copy, device to host", "设备到主机的拷贝"),
    "copy-within-host": Text("copy, host to host", "主机到主机的拷贝"),
    "kind-disagrees": Text("{kind}, and {wrong}", "给出的是 {kind}，而{wrong}"),
    "and-also": Text("{first}, {next}", "{first}，{next}"),
    "destination-is": Text("the destination is {memory}", "目标是{memory}"),
    "source-is": Text("the source is {memory}", "源是{memory}"),
    "host-memory": Text("host memory", "主机内存"),
    "device-memory": Text("device memory", "设备内存"),
    "call-fails": Text("{call} returns {error}", "{call} 返回 {error}"),
    "call-fails-because": Text("{call} returns {error}: {reason}", "{call} 返回 {error}：{reason}"),
    "nobody-looks": Text("{failure}; nobody looks at it", "{failure}；没有代码检查它"),
    # ---- Findings: how one is told ----
    "finding": Text("{kind}: {what} ({details})", "{kind}：{what}（{details}）"),
    "thread-of-block": Text("block {block}, thread {thread}", "线程块 {block}，线程 {thread}"),
    "at-source": Text("{source}, {thread}", "{source}，{thread}"),
    "in-library": Text("{source} (in {library})", "{source}（在 {library} 中）"),
    "acted-at": Text("{action} at {where}", "{action}，位于 {where}"),
    "action-read": Text("read", "读取"),
    "action-write": Text("write", "写入"),
    "action-atomic": Text("atomic", "原子操作"),
    "other-party": Text("the other party: {party}", "另一方：{party}"),
    "launched-at": Text("launched at {where}", "启动于 {where}"),
    "called-from": Text("{where}, called from {caller}", "{where}，调用者 {caller}"),
    "met-times": Text("met {count:,} times", "共出现 {count:,} 次"),
    "first-seed": Text("first under seed {seed}", "首次出现在 seed {seed} 下"),
    "of-host-party": Text("{what}: {where}", "{what}：{where}"),
    "line-not-known": Text("at a line that is not known", "所在的行未知"),
    "kernel-fault": Entry(
        Text("{kernel}: {finding}.", "{kernel}：{finding}。"), Text("{advice}", "{advice}")
    ),
    "no-such-finding": Entry(
        Text("There is no finding {kind!r}.", "没有名为 {kind!r} 的发现。"),
        Text("It is one of {kinds}.", "可用的名称：{kinds}。"),
    ),
    "no-such-finding-but": Entry(
        Text("There is no finding {kind!r}.", "没有名为 {kind!r} 的发现。"),
        Text("Did you mean {near}? It is one of {kinds}.", "是不是 {near}？可用的名称：{kinds}。"),
    ),
    "try-examples": Text(
        "## Try it\n\nThis writes the two examples, and then looks at each:",
        "## 动手试试\n\n把两个例子写成文件，再分别检查：",
    ),
    # ---- Findings: what mends them ----
    "advice": Text(
        "{what} `flashpath explain-finding {kind}` says more.",
        "{what}详见 `flashpath explain-finding {kind}`。",
    ),
    "advice-race": Text(
        "Order the two accesses: __syncthreads() within a block, __syncwarp() within a warp, fences and an atomic or "
        "volatile flag between blocks; or make both atomic.",
        "规定两次访问的先后：线程块内用 __syncthreads()，warp 内用 __syncwarp()，线程块之间用内存栅栏加原子或 volatile "
        "标志；或者把两者都改成原子操作。",
    ),
    "advice-guess-beside-atomics": Text(
        "To have the memory model's word for it, read the first value by an atomic load too: "
        "`cuda::atomic_ref`, `atomicAdd(p, 0)` or a `volatile` pointer.",
        "想让内存模型也保证正确，第一次读取也用原子读：`cuda::atomic_ref`、`atomicAdd(p, 0)` 或 `volatile` 指针。",
    ),
    "advice-no-fence-after-atomic": Text(
        "To have the memory model's word for it, call __threadfence() after the atomic operation as well, before "
        "memory that other blocks used is read or written.",
        "想让内存模型也保证正确，在原子操作之后、读写其他线程块用过的内存之前，再调用一次 __threadfence()。",
    ),
    "advice-no-barrier-after-exchange": Text(
        "To have the memory model's word for it, call __syncwarp() after the lane has waited, or let each lane wait.",
        "想让内存模型也保证正确，在那个 lane 等到之后调用 __syncwarp()，或者让每个 lane 都等待。",
    ),
    "advice-out-of-bounds": Text(
        "Compare the index with the array's length before the access; pointers come from the launch's arguments.",
        "访问之前先把下标与数组长度比较；指针来自启动时的参数。",
    ),
    "advice-uninitialized": Text(
        "Write it before it is read: shared, local and allocated memory is not cleared.",
        "先写再读：共享内存、局部内存和新分配的内存都没有清零。",
    ),
    "advice-misaligned": Text(
        "An access must stand at a multiple of its width: look at the pointer's offset.",
        "访问的地址必须是访问宽度的倍数：检查指针的偏移。",
    ),
    "advice-divergent-barrier": Text(
        "Move the barrier out of the branch: all threads of the block must reach it together.",
        "把屏障移出分支：线程块的所有线程必须一起到达它。",
    ),
    "advice-missing-wait": Text(
        "Commit the copies and wait for their group (cp.async.wait_group) before the memory is used.",
        "使用这块内存之前，先提交拷贝并等待它们所在的组（cp.async.wait_group）。",
    ),
    "advice-deadlock": Text(
        "Every thread of the block, or of the member mask, must reach the same barrier; whoever spins needs somebody "
        "who will set what it waits for.",
        "线程块（或成员掩码）的每个线程都必须到达同一个屏障；空转的线程需要有人写下它所等的值。",
    ),
    "advice-timeout": Text(
        "Look for a loop that never ends, or run a smaller problem.",
        "找一找不会结束的循环，或者换小一些的问题规模。",
    ),
    "advice-bad-mask": Text(
        "A member mask must name the lanes that execute the operation, and no others that still run; read only from "
        "lanes that it names.",
        "成员掩码必须恰好指定执行该操作的 lane，不能包含其他仍在运行的 lane；只能从它指定的 lane 读取。",
    ),
    "advice-const-write": Text(
        "Pass a writable array; constants and parameters cannot be written.",
        "请传入可写的数组；常量和参数不能写。",
    ),
    "advice-leak": Text(
        "Call free for each malloc, on every way out.",
        "每个 malloc 都要有对应的 free，每条退出路径上都要有。",
    ),
    "advice-assert": Text(
        "The condition in the source did not hold for this thread.", "源代码中的条件对这个线程不成立。"
    ),
    "advice-trap": Text(
        "The kernel called __trap(), or reached code that its compiler held for impossible.",
        "核函数调用了 __trap()，或者执行到了编译器认为不可能到达的代码。",
    ),
    "advice-missing-sync": Text(
        "Wait before the memory is used: cudaStreamSynchronize or cudaDeviceSynchronize for the host, an event and "
        "cudaStreamWaitEvent for another stream.",
        "使用内存之前先等待：主机用 cudaStreamSynchronize 或 cudaDeviceSynchronize，另一个流用事件加 "
        "cudaStreamWaitEvent。",
    ),
    "advice-use-after-free": Text(
        "Free memory once, after its last use; set the pointer to nullptr then.",
        "内存只在最后一次使用之后释放一次；释放之后把指针设为 nullptr。",
    ),
    "advice-wrong-direction": Text(
        "The kind names where the copy comes from and where it goes: cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost; "
        "cudaMemcpyDefault looks at the addresses.",
        "方向参数说明从哪里拷到哪里：cudaMemcpyHostToDevice、cudaMemcpyDeviceToHost；cudaMemcpyDefault 则根据地址判断。",
    ),
    "advice-unchecked-error": Text(
        "Look at what every call returns, and after a launch at cudaGetLastError().",
        "检查每个调用的返回值，启动之后检查 cudaGetLastError()。",
    ),
    "advice-bad-pointer": Text(
        "A pointer of cudaMalloc is for kernels and for the calls of CUDA; the host reads what was copied to memory "
        "of its own.",
        "cudaMalloc 给出的指针只供核函数和 CUDA 调用使用；主机要先把数据拷贝到自己的内存再读。",
    ),
    "advice-leak-of-host": Text(
        "Call cudaFree (cudaFreeHost, cudaHostUnregister) on every way out, or let a destructor do it.",
        "每条退出路径上都要调用 cudaFree（cudaFreeHost、cudaHostUnregister），或者交给析构函数。",
    ),
    "advice-out-of-bounds-of-host": Text(
        "A copy takes bytes, not elements: n * sizeof(T), and no more than either end has.",
        "拷贝的大小按字节算，不按元素算：n * sizeof(T)，而且不能超过任何一端的大小。",
    ),
    "advice-stack-full": Text(
        "Recursion must end before that: look at the condition that ends it.",
        "递归必须更早结束：检查终止条件。",
    ),
    "advice-called-by-address": Text(
        "Look at where the function's address comes from.", "检查函数地址从哪里来。"
    ),
    "advice-matrix-lanes": Text(
        "The 32 lanes of a warp must reach a matrix operation together, with one address and stride.",
        "warp 的 32 个 lane 必须一起执行矩阵运算，并给出相同的地址和步长。",
    ),
    "advice-nobody-goes-on": Text(
        "Look for what they spin on, a flag, lock or counter that no thread changes any more, or for a loop whose "
        "condition nothing in it changes.",
        "找出它们在等什么：不再有线程修改的标志、锁或计数器，或者循环体不会改变其条件的循环。",
    ),
    # ---- Whole programs: what the runtime says ----
    "times-are-modelled": Text(
        "virtual {gpu}; times are bounds of a model of that GPU, not measurements",
        "虚拟 {gpu}；时间是该 GPU 模型给出的下界，不是实测值",
    ),
    "kernel-died": Text(
        "kernel {kernel}: {kind}: {what} ({place})", "核函数 {kernel}：{kind}：{what}（{place}）"
    ),
    "operation-died": Text("{what}: {reason}", "{what}：{reason}"),
    "device-code-fails": Text("{problem}{place}", "{problem}{place}"),
    "call-unavailable": Text(
        "{call} is not there on the virtual GPU; {instead}", "虚拟 GPU 没有 {call}；{instead}"
    ),
    "instead-of-arrays": Text(
        "textures, surfaces and CUDA arrays are not run; keep pixels in pitched memory (cudaMallocPitch)",
        "不支持纹理、表面和 CUDA 数组；请把像素放在带行距的内存里（cudaMallocPitch）",
    ),
    "instead-of-nodes": Text(
        "graphs are made by capturing a stream (cudaStreamBeginCapture), and made anew where they change",
        "图由捕获流得到（cudaStreamBeginCapture），需要改动时重新捕获",
    ),
    "instead-of-pools": Text(
        "take memory from a device's pool (cudaDeviceGetDefaultMemPool)",
        "请从设备的内存池取内存（cudaDeviceGetDefaultMemPool）",
    ),
    "instead-of-processes": Text(
        "a virtual GPU is of one process; use threads instead, or copy through memory of the host",
        "虚拟 GPU 只属于一个进程；请改用线程，或者经主机内存拷贝",
    ),
    "instead-of-graphics": Text(
        "no other device is beside the virtual GPU; copy through memory of the host",
        "虚拟 GPU 旁边没有别的设备；请经主机内存拷贝",
    ),
    "instead-of-libraries": Text(
        "compile kernels into the program with nvcc; flashpath.compile loads PTX in Python",
        "请用 nvcc 把核函数编译进程序；在 Python 里用 flashpath.compile 加载 PTX",
    ),
    "instead-of-batches": Text(
        "call cudaMemcpyAsync or cudaMemPrefetchAsync for each",
        "请逐个调用 cudaMemcpyAsync 或 cudaMemPrefetchAsync",
    ),
    "instead-of-driver": Text(
        "there is no driver below the virtual GPU; use the runtime API",
        "虚拟 GPU 下面没有驱动；请使用运行时 API",
    ),
    "instead-of-logs": Text("errors are told on stderr", "错误会写到 stderr"),
    "instead-of-queries": Text(
        "cudaPointerGetAttributes and cudaDeviceGetAttribute tell what there is to know",
        "请用 cudaPointerGetAttributes 和 cudaDeviceGetAttribute 查询",
    ),
    # ---- Whole programs: why a launch is refused ----
    "launch-refused": Text("{kernel}<<<{grid}, {block}>>>: {why}", "{kernel}<<<{grid}, {block}>>>：{why}"),
    "compiled-for-newer": Text(
        "it was compiled for compute capability {needed}, and {gpu} has {has}",
        "它是为计算能力 {needed} 编译的，而 {gpu} 的是 {has}",
    ),
    "extent-is-zero": Text("an extent is 0", "有一维的大小是 0"),
    "grid-too-large": Text(
        "a grid has at most 2147483647 × 65535 × 65535 blocks",
        "网格最多有 2147483647 × 65535 × 65535 个线程块",
    ),
    "block-too-large": Text(
        "a block has at most {most} threads, and 64 along z", "线程块最多有 {most} 个线程，z 方向最多 64 个"
    ),
    "shared-too-large": Text(
        "{bytes} bytes of shared memory; a block has {usual}, and up to {most} after cudaFuncSetAttribute(…, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, …)",
        "需要 {bytes} 字节共享内存；线程块有 {usual} 字节，调用 cudaFuncSetAttribute(…, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, …) 之后最多 {most} 字节",
    ),
    "above-launch-bounds": Text(
        "its __launch_bounds__ promise at most {most} threads",
        "它的 __launch_bounds__ 声明最多 {most} 个线程",
    ),
    "registers-too-many": Text(
        "{registers} registers for each of {threads} threads are more than a multiprocessor has",
        "{threads} 个线程每个用 {registers} 个寄存器，超过了一个 SM 的寄存器总数",
    ),
    "cooperative-too-large": Text(
        "of a cooperative launch all blocks run at once; {count} fit on this GPU",
        "协作启动的所有线程块要同时运行；这个 GPU 上最多放 {count} 个",
    ),
    "program-without-kernel": Text("the program has no such kernel", "程序里没有这个核函数"),
    "program-no-clusters": Text("{gpu} has no clusters", "{gpu} 不支持 cluster"),
    "program-cluster-of-kernel": Text(
        "the kernel is compiled for clusters of {own} and launched in clusters of {given}",
        "核函数按 cluster {own} 编译，却以 cluster {given} 启动",
    ),
    "program-cluster-too-large": Text(
        "a cluster of {cluster} has more than {most} blocks", "cluster {cluster} 超过 {most} 个线程块"
    ),
    "program-no-multiple-of-cluster": Text(
        "the grid is no multiple of its clusters, {cluster}", "网格不是 cluster {cluster} 的整数倍"
    ),
    "dynamic-shared-too-large": Text(
        "{bytes} bytes; {kernel} can have {most} on {gpu}",
        "{bytes} 字节；{kernel} 在 {gpu} 上最多有 {most} 字节",
    ),
    "not-a-percentage": Text("a percentage, or -1, is wanted", "应当是百分比，或者 -1"),
    "parameters-of-kernel": Text("the kernel has {count} parameters", "核函数有 {count} 个参数"),
    "no-threads": Text("at least one thread is wanted", "至少要有一个线程"),
    "blocks-that-fit": Text(
        "of such blocks, between one and {count} fit", "这样的线程块可以放下 1 到 {count} 个"
    ),
    # ---- Whole programs: why a copy or an allocation is refused ----
    "the-destination": Text("the destination", "目标"),
    "the-source": Text("the source", "源"),
    "end-is-null": Text("{end} is a null pointer", "{end}是空指针"),
    "end-too-short": Text(
        "{end} has {bytes} bytes up to its end, and {asked} were asked for",
        "{end}到末尾只有 {bytes} 字节，而要求的是 {asked} 字节",
    ),
    "end-was-freed": Text("{end} was freed before", "{end}已经被释放"),
    "end-beyond-memory": Text(
        "{end} would have {asked} bytes, beyond all memory", "{end}需要 {asked} 字节，超出了任何内存"
    ),
    "end-is-unknown": Text("{end} is no memory of this program", "{end}不是这个程序的内存"),
    "destination-is-host": Text("the destination is host memory", "目标是主机内存"),
    "no-such-direction": Text("there is no such direction", "没有这样的方向"),
    "pitches-too-small": Text(
        "rows of {width} bytes, pitches of {to} and {from}", "每行 {width} 字节，而行距是 {to} 和 {from}"
    ),
    "pitch-too-small": Text(
        "rows of {width} bytes, a pitch of {pitch}", "每行 {width} 字节，而行距是 {pitch}"
    ),
    "argument-is-null": Text("its argument {parameter} is a null pointer", "参数 {parameter} 是空指针"),
    "no-cuda-arrays": Text(
        "CUDA arrays are not there; use pitched memory (cudaMalloc3D)",
        "不支持 CUDA 数组；请使用带行距的内存（cudaMalloc3D）",
    ),
    "no-such-symbol": Text("the program has no such __device__ variable", "程序里没有这个 __device__ 变量"),
    "no-such-variable": Text("the device code has no variable {name}", "设备代码里没有变量 {name}"),
    "symbol-too-short": Text(
        "{name} has {bytes} bytes, {asked} were asked for", "{name} 有 {bytes} 字节，而要求的是 {asked} 字节"
    ),
    "symbol-is-not-host": Text(
        "a variable of the device is never the host's end of a copy", "设备变量不可能是拷贝的主机一端"
    ),
    "device-memory-full": Text(
        "{bytes} bytes were asked for; {gpu} has {most}, of which {used} are in use",
        "要求 {bytes} 字节；{gpu} 有 {most} 字节，其中 {used} 字节已占用",
    ),
    "managed-memory-full": Text(
        "{bytes} bytes were asked for; the host and the GPU have {most}",
        "要求 {bytes} 字节；主机和 GPU 一共有 {most} 字节",
    ),
    "host-memory-full": Text(
        "{bytes} bytes were asked for; the host has {most}", "要求 {bytes} 字节；主机有 {most} 字节"
    ),
    "no-room-for-managed": Text(
        "there is no room for the program's __managed__ variables", "放不下程序的 __managed__ 变量"
    ),
    "nothing-allocated": Text("nothing was allocated there", "那里没有分配过内存"),
    "pinned-needs-free-host": Text(
        "it is pinned host memory: cudaFreeHost frees it", "这是锁页主机内存：要用 cudaFreeHost 释放"
    ),
    "no-bytes-asked": Text("0 bytes were asked for", "要求的大小是 0 字节"),
    "not-pinned": Text(
        "it is neither pinned nor registered host memory", "它既不是锁页内存，也不是已注册的主机内存"
    ),
    "not-managed": Text("it is no managed memory", "它不是托管内存"),
    "not-the-registered-pointer": Text("it is not the pointer that was registered", "它不是注册时的那个指针"),
    "managed-freed-by-stream": Text(
        "managed memory is not freed in the order of a stream: use cudaFree",
        "托管内存不能按流的顺序释放：请用 cudaFree",
    ),
    "attached-to-default-stream": Text(
        "memory is not attached to the default stream alone", "内存不能只附着到默认流"
    ),
    "no-memory-given": Text("no memory was given", "没有给出内存"),
    "not-all-memory": Text(
        "not all of the {bytes} bytes there are memory of the program",
        "那里的 {bytes} 字节并不都是程序的内存",
    ),
    "nothing-registered": Text("nothing was registered there", "那里没有注册过内存"),
    "registered-already": Text("part of it is registered already", "其中一部分已经注册"),
    "allocated-by-cuda": Text(
        "part of it was allocated by CUDA, which knows it already", "其中一部分由 CUDA 分配，无需注册"
    ),
    "no-such-location": Text("there is no such place", "没有这样的位置"),
    "pools-of-device": Text("pools are of a device's pinned memory", "内存池只能属于设备的锁定内存"),
    "default-pool-stays": Text("the default pool stays", "默认内存池不能销毁"),
    "pool-of-other-device": Text("the pool is of another device", "这个内存池属于另一个设备"),
    "pool-shares-unknown": Text(
        "how much of a device's memory each pool holds is not kept", "没有记录每个内存池占用了多少设备内存"
    ),
    "no-such-pool": Text("this pool does not exist (any more)", "这个内存池不存在（或已经销毁）"),
    "fetch-too-large": Text("at most 128 bytes are fetched at once", "一次最多取 128 字节"),
    # ---- Whole programs: devices, streams, events, graphs ----
    "count-of-devices": Text("there are {count} devices", "共有 {count} 个设备"),
    "no-device-there": Text("no device is there", "那里没有设备"),
    "own-peer": Text("a device is not its own peer", "设备不能与自己互访"),
    "peer-enabled-before": Text("access was enabled before", "互访已经启用"),
    "peer-not-enabled": Text("access was not enabled", "互访没有启用"),
    "not-a-bus-id": Text("a text such as 0000:01:00.0 is wanted", "应当是 0000:01:00.0 这样的文本"),
    "bus-id-too-short": Text("the text takes 13 bytes", "这段文本需要 13 字节"),
    "no-such-attribute": Text("there is no attribute {number}", "没有编号为 {number} 的属性"),
    "no-such-limit": Text("there is no limit {number}", "没有编号为 {number} 的限制"),
    "for-graphics": Text(
        "it is for programs that share the GPU with graphics", "它只用于与图形共用 GPU 的程序"
    ),
    "flags-unknown": Text("flags that are not known", "有未知的标志"),
    "flags-not-zero": Text("the flags are 0", "标志必须是 0"),
    "flags-event-record": Text(
        "the flags are cudaEventRecordDefault or cudaEventRecordExternal",
        "标志应为 cudaEventRecordDefault 或 cudaEventRecordExternal",
    ),
    "flags-event-wait": Text(
        "the flags are cudaEventWaitDefault or cudaEventWaitExternal",
        "标志应为 cudaEventWaitDefault 或 cudaEventWaitExternal",
    ),
    "flags-managed": Text(
        "the flags are cudaMemAttachGlobal or cudaMemAttachHost",
        "标志应为 cudaMemAttachGlobal 或 cudaMemAttachHost",
    ),
    "flags-attach": Text(
        "the flags are cudaMemAttachGlobal, …Host or …Single",
        "标志应为 cudaMemAttachGlobal、…Host 或 …Single",
    ),
    "flags-stream": Text(
        "the flags are cudaStreamDefault or cudaStreamNonBlocking",
        "标志应为 cudaStreamDefault 或 cudaStreamNonBlocking",
    ),
    "no-stream-attribute": Text("streams have no such attribute", "流没有这样的属性"),
    "window-too-large": Text(
        "a window of {bytes} bytes; {gpu} has up to {most}", "窗口有 {bytes} 字节；{gpu} 上最多 {most} 字节"
    ),
    "hit-ratio": Text("hitRatio is between 0 and 1", "hitRatio 应在 0 与 1 之间"),
    "function-is-null": Text("the function is a null pointer", "函数是空指针"),
    "no-such-stream": Text("this stream does not exist (any more)", "这个流不存在（或已经销毁）"),
    "no-such-event": Text("this event does not exist (any more)", "这个事件不存在（或已经销毁）"),
    "no-such-graph": Text("this graph does not exist (any more)", "这个图不存在（或已经销毁）"),
    "no-such-instantiated-graph": Text(
        "this instantiated graph does not exist (any more)", "这个可执行图不存在（或已经销毁）"
    ),
    "no-such-node": Text("this node is in no graph", "这个节点不属于任何图"),
    "default-stream-stays": Text("a default stream cannot be destroyed", "默认流不能销毁"),
    "events-without-times": Text(
        "both events must have been recorded, and keep times", "两个事件都必须已经记录，并且带有计时"
    ),
    "event-captured": Text(
        "the event was recorded last in a stream that was captured", "这个事件最近一次是在被捕获的流里记录的"
    ),
    "event-outside-capture": Text(
        "the event was recorded outside of the capture", "这个事件是在捕获之外记录的"
    ),
    "event-of-other-capture": Text("the event belongs to another capture", "这个事件属于另一次捕获"),
    "default-stream-captured": Text(
        "the default stream cannot be captured: make one of your own", "默认流不能捕获：请自己创建一个流"
    ),
    "default-stream-during-capture": Text(
        "work for the default stream, while a stream that minds it is captured",
        "向默认流提交了工作，而此时正在捕获一个与它同步的流",
    ),
    "stream-captured-already": Text("the stream is captured already", "这个流已经在捕获"),
    "stream-not-captured": Text("the stream is not captured", "这个流没有在捕获"),
    "captured-stream-asked": Text(
        "a stream that is captured has nothing under way", "正在捕获的流没有进行中的工作"
    ),
    "waiting-copy-captured": Text(
        "a copy that the host waits for cannot be captured", "主机要等待的拷贝不能捕获"
    ),
    "may-wait-during-capture": Text(
        "it may wait for the GPU, and a stream is captured: call it before, or capture with "
        "cudaStreamCaptureModeRelaxed",
        "它可能要等待 GPU，而有一个流正在捕获：请提前调用，或者用 cudaStreamCaptureModeRelaxed 捕获",
    ),
    "wait-for-captured-device": Text(
        "the host cannot wait for a device of which a stream is captured",
        "设备有流正在捕获，主机不能等待这个设备",
    ),
    "wait-for-captured-stream": Text(
        "the host cannot wait for a stream that is captured", "主机不能等待正在捕获的流"
    ),
    "capture-broken": Text(
        "a call that cannot be captured was made during the capture", "捕获期间发生了不能捕获的调用"
    ),
    "capture-ends-elsewhere": Text(
        "a capture ends in the stream where it began", "捕获必须在开始它的那个流里结束"
    ),
    "capture-unjoined": Text(
        "work of another stream is left: let this one wait for an event recorded behind it",
        "另一个流还有工作没有汇合：请让这个流等待在那些工作之后记录的事件",
    ),
    "graph-being-captured": Text("a graph cannot be looked at while it is captured", "捕获期间不能查看图"),
    "graph-nodes-differ": Text(
        "the graphs have other nodes: instantiate the new one", "两个图的节点不同：请重新实例化"
    ),
    "graphs-in-graphs": Text("graphs inside graphs are not there", "不支持图中嵌套图"),
    # ---- Reports ----
    "report-title": Text("{kernel} on the virtual GPU ({gpu})", "{kernel}，虚拟 GPU（{gpu}）"),
    "report-instructions": Text("instructions (PTX)", "指令（PTX）"),
    "report-instructions-are": Text(
        "{count:,} by {warps:,} warp instructions, {lanes:.1f} of 32 lanes active",
        "{count:,} 条，来自 {warps:,} 条 warp 指令，32 个 lane 中平均 {lanes:.1f} 个活动",
    ),
    "report-by-class": Text("by class (PTX)", "分类（PTX）"),
    "report-branches": Text("divergent branches", "分化的分支"),
    "report-traffic": Text("memory traffic", "访存量"),
    "report-bytes-at-least": Text("{bytes:,} bytes at least", "至少 {bytes:,} 字节"),
    "report-footprint": Text("memory footprint", "内存占用"),
    "report-footprint-is": Text(
        "global {touched:,} of {allocated:,} bytes; a block: shared {static:,} static + {dynamic:,} dynamic; a "
        "thread: {registers} registers, {local:,} bytes local",
        "全局内存访问了 {allocated:,} 字节中的 {touched:,} 字节；每个线程块：共享内存静态 {static:,} + 动态 {dynamic:,}；"
        "每个线程：{registers} 个寄存器，局部内存 {local:,} 字节",
    ),
    "report-occupancy": Text("occupancy", "占用率"),
    "report-limited": Text("{share}, limited by {limit}", "{share}，受{limit}限制"),
    "report-roofline": Text("roofline", "屋顶线"),
    "report-bound": Text(
        "{time} at least, bound by {bound} (datasheet peaks, not a measured time)",
        "至少 {time}，受{bound}限制（按规格书峰值，不是实测时间）",
    ),
    "report-finding": Text("finding", "发现"),
    "report-global-loads": Text("global loads", "全局加载"),
    "report-global-stores": Text("global stores", "全局存储"),
    "report-global-atomics": Text("global atomics", "全局原子操作"),
    "report-shared-loads": Text("shared loads", "共享加载"),
    "report-shared-stores": Text("shared stores", "共享存储"),
    "report-shared-atomics": Text("shared atomics", "共享原子操作"),
    "report-local-loads": Text("local loads (PTX)", "局部加载（PTX）"),
    "report-local-stores": Text("local stores (PTX)", "局部存储（PTX）"),
    "report-sectors": Text(
        "{requests:,} requests, {sectors:,} sectors ({ratio:.2f} a request), {bytes:,} bytes asked for",
        "{requests:,} 个请求，{sectors:,} 个扇区（每个请求 {ratio:.2f} 个），所需 {bytes:,} 字节",
    ),
    "report-wavefronts": Text(
        "{requests:,} requests, {wavefronts:,} wavefronts, {conflicts:,} bank conflicts",
        "{requests:,} 个请求，{wavefronts:,} 个 wavefront，{conflicts:,} 次 bank 冲突",
    ),
    "report-local": Text(
        "{requests:,} requests, {sectors:,} sectors, {bytes:,} bytes",
        "{requests:,} 个请求，{sectors:,} 个扇区，{bytes:,} 字节",
    ),
    "report-atomics": Text("atomics in turn", "原子操作的轮次"),
    "report-turns": Text(
        "{requests:,} requests, {turns:,} turns ({ratio:.2f} a request)",
        "{requests:,} 个请求，{turns:,} 轮（每个请求 {ratio:.2f} 轮）",
    ),
    "report-of-threads": Text("of threads", "线程"),
    "report-of-tensor-cores": Text("of tensor cores", "tensor core"),
    "report-operations": Text("{kinds} operations", "{kinds} 次运算"),
    # ---- Reports: names of things ----
    "class-integer": Text("integer", "整数"),
    "class-logic": Text("logic", "逻辑"),
    "class-half": Text("half", "半精度"),
    "class-special-function": Text("special function", "特殊函数"),
    "class-tensor-core": Text("tensor core", "tensor core"),
    "class-conversion": Text("conversion", "类型转换"),
    "class-compare": Text("compare", "比较"),
    "class-move": Text("move", "移动"),
    "class-global-load": Text("global load", "全局加载"),
    "class-shared-load": Text("shared load", "共享加载"),
    "class-local-load": Text("local load", "局部加载"),
    "class-parameter-load": Text("parameter load", "参数加载"),
    "class-constant-load": Text("constant load", "常量加载"),
    "class-generic-load": Text("generic load", "通用加载"),
    "class-global-store": Text("global store", "全局存储"),
    "class-shared-store": Text("shared store", "共享存储"),
    "class-local-store": Text("local store", "局部存储"),
    "class-parameter-store": Text("parameter store", "参数存储"),
    "class-generic-store": Text("generic store", "通用存储"),
    "class-global-atomic": Text("global atomic", "全局原子"),
    "class-shared-atomic": Text("shared atomic", "共享原子"),
    "class-asynchronous-copy": Text("asynchronous copy", "异步拷贝"),
    "class-atomic": Text("atomic", "原子操作"),
    "class-texture": Text("texture", "纹理"),
    "class-cache-hint": Text("cache hint", "缓存提示"),
    "class-warp-wide": Text("warp-wide", "warp 级操作"),
    "class-barrier": Text("barrier", "屏障"),
    "class-control": Text("control", "控制流"),
    "bound-memory": Text("memory", "内存"),
    "bound-compute": Text("compute", "计算"),
    "limit-threads-per-block": Text("threads per block", "每个线程块的线程数"),
    "limit-shared-memory": Text("shared memory", "共享内存"),
    "limit-registers": Text("registers", "寄存器"),
    "limit-warps": Text("warps", " warp 数"),
    "limit-blocks": Text("blocks", "线程块数"),
    # ---- The list of runtime calls ----
    "calls-about": Text("about", "关于"),
    "calls-calls": Text("calls", "函数"),
    "calls-graphs": Text("graphs", "图"),
    "calls-errors": Text("errors", "错误"),
    "calls-symbols": Text("symbols", "符号"),
    "calls-streams": Text("streams", "流"),
    "calls-events": Text("events", "事件"),
    "calls-pools": Text("pools of memory", "内存池"),
    "calls-copies": Text("copies and fills", "拷贝与填充"),
    "calls-memory": Text("memory", "内存"),
    "calls-launches": Text("launches and kernels", "启动与核函数"),
    "calls-peers": Text("several GPUs", "多块 GPU"),
    "calls-driver": Text("functions of the driver (those of tensor maps)", "驱动函数（张量映射的函数）"),
    "calls-devices": Text("devices", "设备"),
    "calls-missing": Text(
        "Not there: a program that names one of these can be linked; called, it says so, and what to do instead, and returns `cudaErrorNotSupported`: {names}.",
        "没有的函数：用到它们的程序可以链接；调用时会说明没有、可以改用什么，并返回 `cudaErrorNotSupported`：{names}。",
    ),
}
