"""What `flashpath doctor` says: its help, its checks, and how to mend what is missing."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "json": Text("Print one JSON object and nothing else.", "只输出一个 JSON 对象。"),
    "help": Text(
        """Check this machine for what flashpath needs, and say how to mend what is missing.

        Exits with 0 when everything required is there, else with 1. A machine without a GPU is no failure.

        Examples:

            flashpath doctor

            flashpath doctor --json > machine.json
        """,
        """检查本机是否具备 flashpath 所需的一切，并说明缺少的该怎样补上。

        必需的都在，退出码是 0，否则是 1。没有 GPU 不算失败。

        例：

            flashpath doctor

            flashpath doctor --json > machine.json
        """,
    ),
    "check-failed": Text("the check itself failed: {why}", "这项检查本身出错：{why}"),
    "python-matters": Text("flashpath is written for 3.11 and newer.", "flashpath 需要 3.11 或更新的版本。"),
    "torch-matters": Text(
        "Tensors, references and the ops all stand on it.", "张量、参考实现和各个算子都依赖它。"
    ),
    "triton-matters": Text(
        "Kernels written in Triton do not compile without it; CUDA C++ kernels do.",
        "没有它，Triton 核函数无法编译；CUDA C++ 核函数不受影响。",
    ),
    "peer-matters": Text(
        "A peer that benchmarks compare with; flashpath's own kernels do not need it.",
        "基准测试的对照库；flashpath 自己的核函数不需要它。",
    ),
    "nvrtc-matters": Text("No CUDA C++ kernel compiles without it.", "没有它，CUDA C++ 核函数无法编译。"),
    "nvjitlink-matters": Text("No PTX becomes machine code without it.", "没有它，PTX 无法变成机器码。"),
    "headers-matters": Text(
        "No kernel that includes cuda_fp16.h, mma.h or cuda/std compiles without them.",
        "没有它们，包含 cuda_fp16.h、mma.h 或 cuda/std 的核函数无法编译。",
    ),
    "nvcc-matters": Text(
        "Programs with host code and compiler='nvcc' need it; single kernels compile with NVRTC.",
        "带主机代码的程序和 compiler='nvcc' 需要它；单个核函数用 NVRTC 编译。",
    ),
    "compiler-matters": Text(
        "nvcc calls it for host code, and the engine is built with it; single kernels need none.",
        "nvcc 用它编译主机代码，引擎也由它编译；单个核函数不需要。",
    ),
    "driver-matters": Text(
        "Kernels compiled for CUDA 13 do not load under an older one.",
        "为 CUDA 13 编译的核函数无法在更旧的驱动下加载。",
    ),
    "gpu-matters": Text(
        "Kernels run at full speed from compute capability 7.5 on.",
        "计算能力 7.5 及以上的 GPU 能全速运行核函数。",
    ),
    "nsys-matters": Text("The timeline of a program: what waits for what.", "程序的时间线：谁在等谁。"),
    "ncu-matters": Text("Hardware counters of one kernel.", "单个核函数的硬件计数器。"),
    "sanitizer-matters": Text(
        "Finds races and bad accesses on a real GPU.", "在真实 GPU 上查找竞争和非法访问。"
    ),
    "gdb-matters": Text("Steps through a kernel on a real GPU.", "在真实 GPU 上单步调试核函数。"),
    "disassembler-matters": Text(
        "The machine code (SASS) of a kernel is not shown without cuobjdump.",
        "没有 cuobjdump 就无法显示核函数的机器码（SASS）。",
    ),
    "git-matters": Text(
        "Benchmark reports name the commit that they measured.", "基准测试报告会写明所测的提交。"
    ),
    "engine-matters": Text(
        "No virtual GPU without it; compiling and a real GPU do not need it.",
        "没有它就没有虚拟 GPU；编译和真实 GPU 不需要它。",
    ),
    "vector-matters": Text(
        "The wider they are, the faster the virtual GPU; it runs with any.",
        "越宽，虚拟 GPU 越快；没有也能运行。",
    ),
    "amx-matters": Text(
        "Where it traps, torch's bf16 products on the CPU die with SIGILL.",
        "若它会触发陷阱，torch 在 CPU 上做 bf16 矩阵乘会因 SIGILL 而终止。",
    ),
    "disk-matters": Text(
        "Compiled kernels are cached; without room each run compiles again.",
        "编译好的核函数会缓存；没有空间就要每次重新编译。",
    ),
    "sandbox-matters": Text(
        "What holds an answer that is graded; docs/sandbox.md says what each part means.",
        "评分时约束答案的机制；各部分的含义见 docs/sandbox.md。",
    ),
    "environment-matters": Text("flashpath's variables that are set.", "已设置的 flashpath 变量。"),
    "see": Text("see {page}", "见 {page}"),
    "version-unknown": Text("version unknown", "版本未知"),
    "no-gpu-needed": Text(
        "Nothing is broken: kernels compile here and run on the virtual GPU. Speed can be measured on a real GPU only.",
        "一切正常：核函数在这里编译，在虚拟 GPU 上运行。只有速度要在真实 GPU 上测。",
    ),
    "gpu-without-driver": Text(
        "there is an NVIDIA GPU on the PCI bus, and no driver for it", "PCI 总线上有 NVIDIA GPU，但没有驱动"
    ),
    "gpu-useless": Text("The GPU cannot be used at all without it.", "没有它就完全无法使用这块 GPU。"),
    "no-driver": Text("none, and no NVIDIA GPU on the PCI bus", "没有，PCI 总线上也没有 NVIDIA GPU"),
    "where-gpu": Text("It matters only where there is a GPU.", "只有装了 GPU 的机器才需要。"),
    "driver-broken": Text("installed, but {why}", "已安装，但是 {why}"),
    "driver": Text("{release}CUDA up to {cuda}", "{release}最高支持 CUDA {cuda}"),
    "driver-shows-none": Text("the driver does not show any: {why}", "驱动没有列出任何 GPU：{why}"),
    "gpu-hidden": Text("none is visible: {variable} is {value!r}", "没有可见的 GPU：{variable} 是 {value!r}"),
    "none": Text("none", "没有"),
    "gpu-old": Text("too old: {names}", "太旧：{names}"),
    "capability": Text("compute capability {capability}", "计算能力 {capability}"),
    "sms": Text("{count} SMs", "{count} 个 SM"),
    "memory": Text("memory {gb:.0f} GB", "显存 {gb:.0f} GB"),
    "bandwidth-about": Text(
        "bandwidth about {rate:.0f} GB/s (bus width x memory clock)",
        "带宽约 {rate:.0f} GB/s（位宽 × 显存时钟）",
    ),
    "bandwidth": Text("bandwidth {rate:g} GB/s", "带宽 {rate:g} GB/s"),
    "peak": Text(
        "peak TFLOP/s: fp32 {fp32:g}, {tensor} (data sheet: {name})",
        "峰值 TFLOP/s：fp32 {fp32:g}，{tensor}（数据手册：{name}）",
    ),
    "shared": Text("shared memory {kib:.0f} KiB per SM", "每个 SM 共享内存 {kib:.0f} KiB"),
    "l1-shared": Text(
        "L1 and shared memory {unified} KiB per SM ({kib:.0f} KiB of it shared at most)",
        "每个 SM 的 L1 与共享内存共 {unified} KiB（其中共享内存至多 {kib:.0f} KiB）",
    ),
    "built": Text("built", "已编译"),
    "vector-unknown": Text("unknown: it is the engine that asks the processor", "未知：要由引擎询问处理器"),
    "vector-none": Text("none known", "没有已知的"),
    "amx-absent": Text("absent", "没有"),
    "amx-works": Text("works", "可用"),
    "amx-untried": Text(
        "advertised, and not tried, for want of the engine", "处理器声明支持，但没有引擎，未能验证"
    ),
    "amx-traps": Text("advertised, and traps", "处理器声明支持，但执行时触发陷阱"),
    "amx-avoided": Text("{state}: torch is kept off it", "{state}：已让 torch 不使用它"),
    "disk": Text("{gb:.1f} GB free for {folder}", "{folder} 可用空间 {gb:.1f} GB"),
    "disk-locked": Text("{folder} cannot be written", "{folder} 不可写"),
    "sandbox-none": Text("children that run answers cannot be started", "无法启动运行答案的子进程"),
    "sandbox-lacks": Text("{held}; not here: {lacking}", "{held}；本机没有：{lacking}"),
    "sandbox-part": Text("{part} ({meaning})", "{part}（{meaning}）"),
    "environment-stops": Text("Commands that read it stop with this error.", "读取它的命令会因此报错停止。"),
    "environment-none": Text("none set: the defaults hold", "都没有设置，使用默认值"),
    "python": Text("{version} at {path}", "{version}，位于 {path}"),
    "not-installed": Text("not installed", "未安装"),
    "too-old": Text("{version}, too old", "{version}，太旧"),
    "torch-cuda": Text("{version}, built for CUDA {cuda}", "{version}，为 CUDA {cuda} 构建"),
    "torch-cpu": Text("{version}, built without CUDA", "{version}，不带 CUDA"),
    "torch-needs-cuda": Text(
        "This machine's GPU: a torch without CUDA cannot hold tensors on it.",
        "本机有 GPU，但不带 CUDA 的 torch 无法在上面存放张量。",
    ),
    "torch-cpu-fine": Text(
        "{version}, built without CUDA (there is no GPU here that would need it)",
        "{version}，不带 CUDA（这里没有 GPU，用不到）",
    ),
    "triton-platform": Text("not made for {platform}", "不支持 {platform}"),
    "flash-attn-wants": Text(
        "not installed; it wants a GPU of compute capability >= {capability}, CUDA >= {cuda}, PyTorch >= 2.0; there: {fix}",
        "未安装；它要求 GPU 计算能力 ≥ {capability}、CUDA ≥ {cuda}、PyTorch ≥ 2.0；满足时：{fix}",
    ),
    "needs-gpu": Text("not installed; it needs a GPU; there: {fix}", "未安装；它需要 GPU；有 GPU 时：{fix}"),
    "counters-locked": Text(
        "{found}; the driver shows hardware counters to root only", "{found}；驱动只允许 root 读取硬件计数器"
    ),
    "no-cuobjdump": Text(
        "no cuobjdump on PATH, in a CUDA toolkit or in triton",
        "PATH、CUDA 工具包和 triton 中都没有 cuobjdump",
    ),
    "not-on-path": Text("not on PATH", "不在 PATH 中"),
    "tool-nowhere": Text("neither on PATH nor in a CUDA toolkit", "PATH 和 CUDA 工具包中都没有"),
    "where-gpu-fix": Text(
        "It matters only where there is a GPU; there: {fix}", "只有装了 GPU 的机器才需要；届时：{fix}"
    ),
    "not-ready": Text("Not ready: {names}.", "还缺少：{names}。"),
    "ready-without-gpu": Text(
        "Ready to compile. There is no GPU here; what needs one says so.",
        "可以编译了。这里没有 GPU；需要 GPU 的命令会说明。",
    ),
    "ready": Text("Ready.", "一切就绪。"),
    "to-mend": Text("To mend", "补上缺少的"),
    "required": Text("required", "必需"),
    "optional": Text("optional", "可选"),
    "status-ok": Text("ok", "正常"),
    "status-warn": Text("warn", "注意"),
    "status-missing": Text("missing", "没有"),
    "group-compilers": Text("Compilers", "编译器"),
    "group-tools": Text("Tools", "工具"),
    "name-headers": Text("CUDA headers", "CUDA 头文件"),
    "name-compiler": Text("C++ compiler", "C++ 编译器"),
    "name-driver": Text("NVIDIA driver", "NVIDIA 驱动"),
    "name-disassembler": Text("Disassembler", "反汇编器"),
    "name-engine": Text("Engine", "引擎"),
    "name-vector": Text("Vector extensions", "向量指令集"),
    "name-disk": Text("Disk", "磁盘"),
    "name-sandbox": Text("Sandbox", "沙箱"),
    "name-environment": Text("Environment", "环境变量"),
}
