"""What the command line says: help, headings, results and errors.

Each command has a section, under its name; a section's keys begin with the command's name.
"""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- typer's own words -----------------------------------------------------------------------------
    "typer-usage": Text("Usage: ", "用法："),
    "typer-help": Text("Show this message and exit.", "显示本帮助并退出。"),
    "typer-deprecated": Text("(deprecated) ", "（已弃用）"),
    "typer-default": Text("[default: {value}]", "[默认：{value}]"),
    "typer-variable": Text("[env var: {variable}]", "[环境变量：{variable}]"),
    "typer-required": Text("[required]", "[必需]"),
    "typer-arguments": Text("Arguments", "参数"),
    "typer-options": Text("Options", "选项"),
    "typer-commands": Text("Commands", "命令"),
    "typer-error": Text("Error", "错误"),
    "typer-aborted": Text("Aborted.", "已中止。"),
    "typer-try": Text("Try [blue]'{command} {option}'[/] for help.", "帮助：[blue]{command} {option}[/]"),
    "typer-no-command-but": Text(
        "No such command '{name}'. Did you mean {names}?", "没有命令 '{name}'。你是不是想说 {names}？"
    ),
    "typer-no-command": Text("No such command '{name}'.", "没有命令 '{name}'。"),
    "typer-missing-command": Text("Missing command.", "缺少命令。"),
    "typer-no-option-but": Text(
        "No such option: {name} (Possible options: {names})", "没有选项 {name}（相近的有：{names}）"
    ),
    "typer-no-option-near": Text(
        "No such option: {name} Did you mean {names}?", "没有选项 {name}。你是不是想说 {names}？"
    ),
    "typer-no-option-quoted": Text("No such option '{name}'.", "没有选项 {name}"),
    "typer-no-option": Text("No such option: {name}", "没有选项 {name}"),
    "typer-missing-argument-more": Text("Missing argument {name}. {why}", "缺少参数 {name}。{why}"),
    "typer-missing-argument": Text("Missing argument {name}.", "缺少参数 {name}。"),
    "typer-missing-option": Text("Missing option {name}.", "缺少选项 {name}。"),
    "typer-invalid-for": Text("Invalid value for {name}: {why}", "{name} 的值无效：{why}"),
    "typer-invalid": Text("Invalid value: {why}", "值无效：{why}"),
    "typer-extra-arguments": Text(
        "Got unexpected extra argument(s) ({words})", "多出了无法识别的参数（{words}）"
    ),
    "typer-extra-argument": Text(
        "Got unexpected extra argument ({words})", "多出了无法识别的参数（{words}）"
    ),
    "typer-takes-no-value": Text("Option '{name}' does not take a value.", "选项 {name} 不带值。"),
    "typer-wants-argument": Text("Option '{name}' requires an argument.", "选项 {name} 需要一个值。"),
    "typer-wants-arguments": Text(
        "Option '{name}' requires {count} arguments.", "选项 {name} 需要 {count} 个值。"
    ),
    "typer-argument-takes": Text(
        "Argument '{name}' takes {count} values.", "参数 {name} 需要 {count} 个值。"
    ),
    "typer-choose": Text("Choose from:\n\t{names}", "可选：\n\t{names}"),
    "typer-no-number": Text(
        "Input should be a valid number, unable to parse string as a number", "这里应当是一个数"
    ),
    "typer-no-integer": Text(
        "Input should be a valid integer, unable to parse string as an integer", "这里应当是一个整数"
    ),
    "typer-at-least": Text("Input should be greater than or equal to {limit}", "应当不小于 {limit}"),
    "typer-more-than": Text("Input should be greater than {limit}", "应当大于 {limit}"),
    "typer-at-most": Text("Input should be less than or equal to {limit}", "应当不大于 {limit}"),
    "typer-less-than": Text("Input should be less than {limit}", "应当小于 {limit}"),
    "typer-not-in-range": Text("{value} is not in the range {range}.", "{value} 不在范围 {range} 内。"),
    "typer-not-valid-value": Text(
        "Value {value} is not a valid {kind}.", "{value} 不是有效的值（类型 {kind}）。"
    ),
    "typer-not-valid": Text("{value} is not a valid {kind}.", "{value} 不是有效的值（类型 {kind}）。"),
    "typer-not-one-of": Text("{value} is not one of {names}.", "{value} 不在可选的值之中：{names}。"),
    "typer-not-there": Text("{kind} '{file}' does not exist.", "'{file}' 不存在（应为 {kind}）。"),
    "typer-is-directory": Text("{kind} '{file}' is a directory.", "'{file}' 是一个目录（应为 {kind}）。"),
    "typer-is-file": Text("{kind} '{file}' is a file.", "'{file}' 是一个文件（应为 {kind}）。"),
    "typer-not-readable": Text("{kind} '{file}' is not readable.", "{kind} '{file}' 不可读。"),
    "typer-not-writable": Text("{kind} '{file}' is not writable.", "{kind} '{file}' 不可写。"),
    # ---- flashpath -------------------------------------------------------------------------------------
    "root-help": Text(
        "Learn and build GPU kernels: a course that grades itself; tools that run, explain, check and time.",
        "学习并编写 GPU 核函数：能自动评分的课程，以及运行、解释、检查、计时的工具。",
    ),
    "root-version": Text("Show the version.", "显示版本。"),
    "panel-course": Text("The course", "课程"),
    "panel-kernels": Text("Kernels", "核函数"),
    "panel-machine": Text("This machine", "本机"),
    "option-json": Text("Print JSON.", "输出 JSON。"),
    "exit-codes": Text("Exit codes: {codes}.", "退出码：{codes}。"),
    "exit-0": Text("done", "完成"),
    "exit-1": Text(
        "it failed: what was asked for does not exist, does not compile, is wrong, or needs what is missing; "
        "of sanitize: something was found",
        "失败：所要的东西不存在、无法编译、结果错误，或缺少所需的组件；对 sanitize：发现了问题",
    ),
    "exit-2": Text(
        "the command line cannot be read: no such command or option, an argument missing, no number in range; "
        "of sanitize also: the kernel could not be run",
        "命令行无法识别：没有这个命令或选项、缺少参数、数值超出范围；对 sanitize 还有：核函数无法运行",
    ),
    "exit-3": Text("it needs a device that this machine does not have", "需要本机没有的设备"),
    "exit-124": Text(
        "the program that it ran took longer than --timeout", "所运行的程序超过了 --timeout 的时间"
    ),
    "exit-130": Text("stopped with Ctrl-C", "用 Ctrl-C 停止"),
    "exit-141": Text(
        "the reader of its output stopped early, as head does", "输出的读取方提前结束，例如 head"
    ),
    "error": Text("error: {what}", "错误：{what}"),
    "warning": Text("warning: {what}", "警告：{what}"),
    "stopped": Text("stopped", "已停止"),
    "output-not-written": Text("the output cannot be written: {why}", "无法写出输出：{why}"),
    # ---- tour ------------------------------------------------------------------------------------------
    "tour-help": Text(
        """Compile a first CUDA kernel, run it, check it against NumPy, and see what the compiler made of it.

        Without a GPU the kernel runs on the virtual one, which counts every access.

        Examples:

            flashpath tour

            flashpath tour --save tour.svg
        """,
        """编译第一个 CUDA 核函数，运行它，与 NumPy 的结果核对，再看编译器生成了什么。

        没有 GPU 时在虚拟 GPU 上运行，每一次访存都会计数。

        例：

            flashpath tour

            flashpath tour --save tour.svg
        """,
    ),
    "tour-save": Text(
        "Save it instead of showing it: .svg (a picture) or .txt.", "不显示，存成文件：.svg（图片）或 .txt。"
    ),
    # ---- doctor ----------------------------------------------------------------------------------------
    "doctor-json": Text("Print one JSON object and nothing else.", "只输出一个 JSON 对象。"),
    "doctor-help": Text(
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
    "doctor-check-failed": Text("the check itself failed: {why}", "这项检查本身出错：{why}"),
    "doctor-python-matters": Text(
        "flashpath is written for 3.11 and newer.", "flashpath 需要 3.11 或更新的版本。"
    ),
    "doctor-torch-matters": Text(
        "Tensors, references and the ops all stand on it.", "张量、参考实现和各个算子都依赖它。"
    ),
    "doctor-triton-matters": Text(
        "Kernels written in Triton do not compile without it; CUDA C++ kernels do.",
        "没有它，Triton 核函数无法编译；CUDA C++ 核函数不受影响。",
    ),
    "doctor-peer-matters": Text(
        "A peer that benchmarks compare with; flashpath's own kernels do not need it.",
        "基准测试的对照库；flashpath 自己的核函数不需要它。",
    ),
    "doctor-nvrtc-matters": Text(
        "No CUDA C++ kernel compiles without it.", "没有它，CUDA C++ 核函数无法编译。"
    ),
    "doctor-nvjitlink-matters": Text(
        "No PTX becomes machine code without it.", "没有它，PTX 无法变成机器码。"
    ),
    "doctor-headers-matters": Text(
        "No kernel that includes cuda_fp16.h, mma.h or cuda/std compiles without them.",
        "没有它们，包含 cuda_fp16.h、mma.h 或 cuda/std 的核函数无法编译。",
    ),
    "doctor-nvcc-matters": Text(
        "Programs with host code and compiler='nvcc' need it; single kernels compile with NVRTC.",
        "带主机代码的程序和 compiler='nvcc' 需要它；单个核函数用 NVRTC 编译。",
    ),
    "doctor-compiler-matters": Text(
        "nvcc calls it for host code, and the engine is built with it; single kernels need none.",
        "nvcc 用它编译主机代码，引擎也由它编译；单个核函数不需要。",
    ),
    "doctor-driver-matters": Text(
        "Kernels compiled for CUDA 13 do not load under an older one.",
        "为 CUDA 13 编译的核函数无法在更旧的驱动下加载。",
    ),
    "doctor-gpu-matters": Text(
        "Kernels run at full speed from compute capability 7.5 on.",
        "计算能力 7.5 及以上的 GPU 能全速运行核函数。",
    ),
    "doctor-nsys-matters": Text(
        "The timeline of a program: what waits for what.", "程序的时间线：谁在等谁。"
    ),
    "doctor-ncu-matters": Text("Hardware counters of one kernel.", "单个核函数的硬件计数器。"),
    "doctor-sanitizer-matters": Text(
        "Finds races and bad accesses on a real GPU.", "在真实 GPU 上查找竞争和非法访问。"
    ),
    "doctor-gdb-matters": Text("Steps through a kernel on a real GPU.", "在真实 GPU 上单步调试核函数。"),
    "doctor-disassembler-matters": Text(
        "The machine code (SASS) of a kernel is not shown without cuobjdump.",
        "没有 cuobjdump 就无法显示核函数的机器码（SASS）。",
    ),
    "doctor-git-matters": Text(
        "Benchmark reports name the commit that they measured.", "基准测试报告会写明所测的提交。"
    ),
    "doctor-engine-matters": Text(
        "No virtual GPU without it; compiling and a real GPU do not need it.",
        "没有它就没有虚拟 GPU；编译和真实 GPU 不需要它。",
    ),
    "doctor-vector-matters": Text(
        "The wider they are, the faster the virtual GPU; it runs with any.",
        "越宽，虚拟 GPU 越快；没有也能运行。",
    ),
    "doctor-amx-matters": Text(
        "Where it traps, torch's bf16 products on the CPU die with SIGILL.",
        "若它会触发陷阱，torch 在 CPU 上做 bf16 矩阵乘会因 SIGILL 而终止。",
    ),
    "doctor-disk-matters": Text(
        "Compiled kernels are cached; without room each run compiles again.",
        "编译好的核函数会缓存；没有空间就要每次重新编译。",
    ),
    "doctor-sandbox-matters": Text(
        "What holds an answer that is graded; docs/sandbox.md says what each part means.",
        "评分时约束答案的机制；各部分的含义见 docs/sandbox.md。",
    ),
    "doctor-environment-matters": Text("flashpath's variables that are set.", "已设置的 flashpath 变量。"),
    "doctor-see": Text("see {page}", "见 {page}"),
    "doctor-version-unknown": Text("version unknown", "版本未知"),
    "doctor-no-gpu-needed": Text(
        "Nothing is broken: kernels compile here and run on the virtual GPU. Speed can be measured on a real GPU only.",
        "一切正常：核函数在这里编译，在虚拟 GPU 上运行。只有速度要在真实 GPU 上测。",
    ),
    "doctor-gpu-without-driver": Text(
        "there is an NVIDIA GPU on the PCI bus, and no driver for it", "PCI 总线上有 NVIDIA GPU，但没有驱动"
    ),
    "doctor-gpu-useless": Text("The GPU cannot be used at all without it.", "没有它就完全无法使用这块 GPU。"),
    "doctor-no-driver": Text("none, and no NVIDIA GPU on the PCI bus", "没有，PCI 总线上也没有 NVIDIA GPU"),
    "doctor-where-gpu": Text("It matters only where there is a GPU.", "只有装了 GPU 的机器才需要。"),
    "doctor-driver-broken": Text("installed, but {why}", "已安装，但是 {why}"),
    "doctor-driver": Text("{release}CUDA up to {cuda}", "{release}最高支持 CUDA {cuda}"),
    "doctor-driver-shows-none": Text("the driver does not show any: {why}", "驱动没有列出任何 GPU：{why}"),
    "doctor-gpu-hidden": Text(
        "none is visible: {variable} is {value!r}", "没有可见的 GPU：{variable} 是 {value!r}"
    ),
    "doctor-none": Text("none", "没有"),
    "doctor-gpu-old": Text("too old: {names}", "太旧：{names}"),
    "doctor-capability": Text("compute capability {capability}", "计算能力 {capability}"),
    "doctor-sms": Text("{count} SMs", "{count} 个 SM"),
    "doctor-memory": Text("memory {gb:.0f} GB", "显存 {gb:.0f} GB"),
    "doctor-bandwidth-about": Text(
        "bandwidth about {rate:.0f} GB/s (bus width x memory clock)",
        "带宽约 {rate:.0f} GB/s（位宽 × 显存时钟）",
    ),
    "doctor-bandwidth": Text("bandwidth {rate:g} GB/s", "带宽 {rate:g} GB/s"),
    "doctor-peak": Text(
        "peak TFLOP/s: fp32 {fp32:g}, {tensor} (data sheet: {name})",
        "峰值 TFLOP/s：fp32 {fp32:g}，{tensor}（数据手册：{name}）",
    ),
    "doctor-shared": Text("shared memory {kib:.0f} KiB per SM", "每个 SM 共享内存 {kib:.0f} KiB"),
    "doctor-l1-shared": Text(
        "L1 and shared memory {unified} KiB per SM ({kib:.0f} KiB of it shared at most)",
        "每个 SM 的 L1 与共享内存共 {unified} KiB（其中共享内存至多 {kib:.0f} KiB）",
    ),
    "doctor-built": Text("built", "已编译"),
    "doctor-vector-unknown": Text(
        "unknown: it is the engine that asks the processor", "未知：要由引擎询问处理器"
    ),
    "doctor-vector-none": Text("none known", "没有已知的"),
    "doctor-amx-absent": Text("absent", "没有"),
    "doctor-amx-works": Text("works", "可用"),
    "doctor-amx-untried": Text(
        "advertised, and not tried, for want of the engine", "处理器声明支持，但没有引擎，未能验证"
    ),
    "doctor-amx-traps": Text("advertised, and traps", "处理器声明支持，但执行时触发陷阱"),
    "doctor-amx-avoided": Text("{state}: torch is kept off it", "{state}：已让 torch 不使用它"),
    "doctor-disk": Text("{gb:.1f} GB free for {folder}", "{folder} 可用空间 {gb:.1f} GB"),
    "doctor-disk-locked": Text("{folder} cannot be written", "{folder} 不可写"),
    "doctor-sandbox-none": Text("children that run answers cannot be started", "无法启动运行答案的子进程"),
    "doctor-sandbox-lacks": Text("{held}; not here: {lacking}", "{held}；本机没有：{lacking}"),
    "doctor-environment-stops": Text(
        "Commands that read it stop with this error.", "读取它的命令会因此报错停止。"
    ),
    "doctor-environment-none": Text("none set: the defaults hold", "都没有设置，使用默认值"),
    "doctor-python": Text("{version} at {path}", "{version}，位于 {path}"),
    "doctor-not-installed": Text("not installed", "未安装"),
    "doctor-too-old": Text("{version}, too old", "{version}，太旧"),
    "doctor-torch-cuda": Text("{version}, built for CUDA {cuda}", "{version}，为 CUDA {cuda} 构建"),
    "doctor-torch-cpu": Text("{version}, built without CUDA", "{version}，不带 CUDA"),
    "doctor-torch-needs-cuda": Text(
        "This machine's GPU: a torch without CUDA cannot hold tensors on it.",
        "本机有 GPU，但不带 CUDA 的 torch 无法在上面存放张量。",
    ),
    "doctor-torch-cpu-fine": Text(
        "{version}, built without CUDA (there is no GPU here that would need it)",
        "{version}，不带 CUDA（这里没有 GPU，用不到）",
    ),
    "doctor-triton-platform": Text("not made for {platform}", "不支持 {platform}"),
    "doctor-flash-attn-wants": Text(
        "not installed; it wants a GPU of compute capability >= {capability}, CUDA >= {cuda}, PyTorch >= 2.0; there: {fix}",
        "未安装；它要求 GPU 计算能力 ≥ {capability}、CUDA ≥ {cuda}、PyTorch ≥ 2.0；满足时：{fix}",
    ),
    "doctor-needs-gpu": Text(
        "not installed; it needs a GPU; there: {fix}", "未安装；它需要 GPU；有 GPU 时：{fix}"
    ),
    "doctor-counters-locked": Text(
        "{found}; the driver shows hardware counters to root only", "{found}；驱动只允许 root 读取硬件计数器"
    ),
    "doctor-no-cuobjdump": Text(
        "no cuobjdump on PATH, in a CUDA toolkit or in triton",
        "PATH、CUDA 工具包和 triton 中都没有 cuobjdump",
    ),
    "doctor-not-on-path": Text("not on PATH", "不在 PATH 中"),
    "doctor-tool-nowhere": Text("neither on PATH nor in a CUDA toolkit", "PATH 和 CUDA 工具包中都没有"),
    "doctor-where-gpu-fix": Text(
        "It matters only where there is a GPU; there: {fix}", "只有装了 GPU 的机器才需要；届时：{fix}"
    ),
    "doctor-not-ready": Text("Not ready: {names}.", "还缺少：{names}。"),
    "doctor-ready-without-gpu": Text(
        "Ready to compile. There is no GPU here; what needs one says so.",
        "可以编译了。这里没有 GPU；需要 GPU 的命令会说明。",
    ),
    "doctor-ready": Text("Ready.", "一切就绪。"),
    "doctor-to-mend": Text("To mend", "补上缺少的"),
    "doctor-required": Text("required", "必需"),
    "doctor-optional": Text("optional", "可选"),
    "doctor-status-ok": Text("ok", "正常"),
    "doctor-status-warn": Text("warn", "注意"),
    "doctor-status-missing": Text("missing", "没有"),
    "doctor-group-compilers": Text("Compilers", "编译器"),
    "doctor-group-tools": Text("Tools", "工具"),
    "doctor-name-headers": Text("CUDA headers", "CUDA 头文件"),
    "doctor-name-compiler": Text("C++ compiler", "C++ 编译器"),
    "doctor-name-driver": Text("NVIDIA driver", "NVIDIA 驱动"),
    "doctor-name-disassembler": Text("Disassembler", "反汇编器"),
    "doctor-name-engine": Text("Engine", "引擎"),
    "doctor-name-vector": Text("Vector extensions", "向量指令集"),
    "doctor-name-disk": Text("Disk", "磁盘"),
    "doctor-name-sandbox": Text("Sandbox", "沙箱"),
    "doctor-name-environment": Text("Environment", "环境变量"),
}
