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
    "typer-install-completion": Text(
        "Install completion for the current shell.", "为当前 shell 安装命令补全。"
    ),
    "typer-show-completion": Text(
        "Show completion for the current shell, to copy it or customize the installation.",
        "显示当前 shell 的补全脚本，可复制或自行安装。",
    ),
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
    "tour-saved": Text("Saved {file}.", "已保存 {file}。"),
    "tour-title": Text(
        "[bold]flashpath[/]: one CUDA kernel, from its source to its result",
        "[bold]flashpath[/]：一个 CUDA 核函数，从源代码到结果",
    ),
    "tour-1": Text("1. A kernel", "1. 核函数"),
    "tour-2": Text("2. Compile", "2. 编译"),
    "tour-3": Text("3. Run", "3. 运行"),
    "tour-4": Text("4. Look closer", "4. 细看"),
    "tour-5": Text("5. Next", "5. 接下来"),
    "tour-6": Text("6. Learn", "6. 学习"),
    "tour-compiled": Text(
        "NVRTC wrote PTX and a cubin for {arch} in {milliseconds:.0f} ms, no CUDA toolkit needed",
        "NVRTC 用 {milliseconds:.0f} ms 为 {arch} 生成了 PTX 和 cubin，不需要 CUDA 工具包",
    ),
    "tour-heart": Text(
        "That is the heart of its {ptx} PTX instructions.", "以上是它 {ptx} 条 PTX 指令的核心部分。"
    ),
    "tour-heart-sass": Text(
        "That is the heart of its {ptx} PTX instructions, which ptxas turned into {sass} of SASS.",
        "以上是它 {ptx} 条 PTX 指令的核心部分，ptxas 把它们变成了 {sass} 条 SASS 指令。",
    ),
    "tour-resources": Text(
        "A thread uses {registers} registers and {local} bytes of local memory; {spilled} bytes are spilled.",
        "每个线程用 {registers} 个寄存器、{local} 字节局部内存；寄存器溢出 {spilled} 字节。",
    ),
    "tour-on-gpu": Text(
        "on {gpu}: {elements:,} elements, {blocks:,} blocks of 256 threads",
        "在 {gpu} 上：{elements:,} 个元素，{blocks:,} 个线程块，每块 256 个线程",
    ),
    "tour-on-virtual": Text(
        "no GPU here: on the virtual one ({gpu}), {elements:,} elements, {blocks:,} blocks of 256",
        "这里没有 GPU，在虚拟 GPU（{gpu}）上运行：{elements:,} 个元素，{blocks:,} 个线程块，每块 256 个线程",
    ),
    "tour-equal": Text(
        "[green]Every element equals NumPy's, to the bit.[/]", "[green]每个元素都与 NumPy 的结果逐位相同。[/]"
    ),
    "tour-counted": Text(
        "[green]Every element equals NumPy's, to the bit.[/] What it counted on the way:",
        "[green]每个元素都与 NumPy 的结果逐位相同。[/] 运行时的计数：",
    ),
    "tour-rate": Text(
        "{elements:,} elements move {gigabytes:.2f} GB in {microseconds:.0f} µs: {rate:,.0f} GB/s.",
        "{elements:,} 个元素，读写 {gigabytes:.2f} GB，用时 {microseconds:.0f} µs：{rate:,.0f} GB/s。",
    ),
    "tour-loads": Text("loads ", "加载"),
    "tour-stores": Text("stores", "存储"),
    "tour-traffic": Text(
        "global {what} {requests:>7,} requests of a warp, {sectors:.1f} sectors of 32 bytes each, {bytes:>9,} bytes",
        "全局{what} {requests:>7,} 次 warp 请求，每次 {sectors:.1f} 个 32 字节的扇区，共 {bytes:>9,} 字节",
    ),
    "tour-dram": Text(
        "memory traffic {bytes:,} bytes; the least for two inputs and an output is {least:,}",
        "显存流量 {bytes:,} 字节；两个输入、一个输出至少要 {least:,} 字节",
    ),
    "tour-four-sectors": Text(
        "32 threads × 4 bytes are 128 bytes, or 4 sectors; only the last of an array is not full.",
        "32 个线程 × 4 字节 = 128 字节，即 4 个扇区；只有数组末尾的那个没有装满。",
    ),
    "tour-occupancy": Text(
        "How many of its threads a GPU holds at once, from the compiled code:",
        "根据编译结果，各 GPU 能同时容纳它的多少个线程：",
    ),
    "tour-holds": Text(
        "{sms:>3} SMs × {blocks} blocks × 256 threads ({fraction:.0%} of the most)",
        "{sms:>3} 个 SM × {blocks} 个线程块 × 256 个线程（上限的 {fraction:.0%}）",
    ),
    "tour-first-warp": Text(
        "how the first warp reads a, by the addresses that the virtual GPU saw",
        "第一个 warp 怎样读 a：虚拟 GPU 看到的地址",
    ),
    "tour-all-loads": Text(
        "All loads: {sectors:,} sectors, {each:.0f} a request; the fewest are {least:.0f}.",
        "全部加载：{sectors:,} 个扇区，每次请求 {each:.0f} 个；最少是 {least:.0f} 个。",
    ),
    "tour-next-run": Text(
        "a whole CUDA program of your own, host code included", "运行你自己的完整 CUDA 程序，含主机代码"
    ),
    "tour-next-ladder": Text("this kernel and four more ways to write it", "这个核函数和另外四种写法"),
    "tour-next-rung": Text("the source of one of them", "其中一种的源代码"),
    "tour-next-explain": Text("the same look into a kernel of your own", "同样地剖析你自己的核函数"),
    "tour-next-profile": Text(
        "its counts, hot lines and pictures, on the virtual GPU", "它在虚拟 GPU 上的计数、热点行和图"
    ),
    "tour-next-bench": Text("time them all against PyTorch", "与 PyTorch 一起计时比较"),
    "tour-next-doctor": Text("what this machine has, and what it lacks", "本机有什么，缺什么"),
    "tour-course": Text(
        "the course, in English and Chinese: {units} units whose exercises are graded here, with no GPU",
        "中英双语课程：{units} 个单元，练习在本机评分，不需要 GPU",
    ),
    "tour-save-suffix": Entry(
        Text("--save got {file}.", "--save 的值是 {file}。"),
        Text("Give a file that ends in .svg or .txt.", "请给出以 .svg 或 .txt 结尾的文件。"),
    ),
    "tour-differs": Entry(
        Text(
            "{wrong} of {elements} elements differ from NumPy's.",
            "{elements} 个元素中有 {wrong} 个与 NumPy 的结果不同。",
        ),
        Text("flashpath doctor", "flashpath doctor"),
    ),
    # ---- pictures of an access -------------------------------------------------------------------------
    "picture-line": Text("line {line}: ", "第 {line} 行："),
    "picture-memory": Text("{space} memory", "{space} 内存"),
    "picture-load": Text("load of {size} bytes a lane", "加载，每个 lane {size} 字节"),
    "picture-store": Text("store of {size} bytes a lane", "存储，每个 lane {size} 字节"),
    "picture-atomic": Text("atomic of {size} bytes a lane", "原子操作，每个 lane {size} 字节"),
    "picture-from": Text(" from {array}", "，读 {array}"),
    "picture-to": Text(" to {array}", "，写 {array}"),
    "picture-on": Text(" on {array}", "，作用于 {array}"),
    "picture-by": Text(", by warp {warp} of block {block}", "；线程块 {block} 的 warp {warp}"),
    "picture-more-sectors": Text("{count} more sectors", "另有 {count} 个扇区"),
    "picture-more-passes": Text("{count} more passes", "另有 {count} 趟"),
    "picture-turns": Text(
        "{lanes} lanes meet at one address, and go one after the other.",
        "{lanes} 个 lane 访问同一地址，只能依次进行。",
    ),
    "picture-fewest": Text(
        "{count:~sector} for {asked} distinct bytes: the fewest there can be.",
        "{asked} 个不同的字节用了 {count} 个扇区：已经最少。",
    ),
    "picture-wasted": Text(
        "{count:~sector} move {moved:,} bytes for {asked} asked for; {ideal} would do.",
        "{count} 个扇区搬运 {moved:,} 字节，所要的只有 {asked} 字节；{ideal} 个扇区就够了。",
    ),
    "picture-of-sector": Text("32 bytes of it", "扇区的 32 字节"),
    "picture-used": Text("{bytes:>2} used", "用到 {bytes:>2}"),
    "picture-conflicts": Text(
        "{count:~pass/passes} over the banks, {conflicts} of them conflicts; {ideal} would do.",
        "访问 bank {count} 趟，其中 {conflicts} 趟是 bank 冲突；{ideal} 趟就够了。",
    ),
    "picture-no-conflict": Text(
        "{count:~pass/passes} over the banks: no conflict.", "访问 bank {count} 趟：没有 bank 冲突。"
    ),
    "picture-pass": Text("pass {number}", "第 {number} 趟"),
    "picture-lanes": Text("{count:?lane/lanes} {lanes}", "lane {lanes}"),
    # ---- ladder ----------------------------------------------------------------------------------------
    "ladder-help": Text(
        """List the ladders, the rungs of one, or the source of a rung.

        For the rungs of a ladder it shows the ideas, what each asks of memory on a small problem (counted on the
        virtual GPU now), and how fast each was when it was last measured on a real GPU.

        Examples:

            flashpath ladder

            flashpath ladder vector_add

            flashpath ladder vector_add vectorized
        """,
        """列出所有阶梯、一个阶梯的各个梯级，或一个梯级的源代码。

        对一个阶梯，列出每个梯级的思路、它在一个小问题上的访存（当场在虚拟 GPU 上计数），
        以及最近一次在真实 GPU 上测得的速度。

        例：

            flashpath ladder

            flashpath ladder vector_add

            flashpath ladder vector_add vectorized
        """,
    ),
    "ladder-name": Text(
        "A ladder, such as vector_add; without it, all.", "一个阶梯，如 vector_add；不给则列出全部。"
    ),
    "ladder-rung": Text("A rung: its source is printed.", "一个梯级：打印它的源代码。"),
    "ladder-count": Text("Run each rung on the virtual GPU and count.", "在虚拟 GPU 上运行每个梯级并计数。"),
    "ladder-line": Text(
        "{name}  {title}: {maths}  ({rungs} rungs)", "{name}  {title}：{maths}  （{rungs} 个梯级）"
    ),
    "ladder-more": Text(
        "flashpath ladder {name} RUNG shows its source; flashpath bench {name} times them.",
        "源代码：`flashpath ladder {name} RUNG`；计时：`flashpath bench {name}`。",
    ),
    "ladder-counting": Text("counting {rung}", "正在计数 {rung}"),
    "ladder-counted": Text(
        "Counted on the virtual GPU: {case}, which must move {bytes}",
        "虚拟 GPU 上的计数：{case}，至少要读写 {bytes}",
    ),
    "ladder-and-torch": Text("{launches} + torch's", "{launches} + torch 的"),
    "ladder-commit": Text(", commit {commit}", "，提交 {commit}"),
    "ladder-measured": Text(
        "Last measured: {case} on {where}{commit}", "最近一次实测：{case}，{where}{commit}"
    ),
    "ladder-peer": Text("{name} (peer)", "{name}（对照）"),
    # ---- columns of tables -----------------------------------------------------------------------------
    "column-rung": Text("rung", "梯级"),
    "column-language": Text("language", "语言"),
    "column-from": Text("from", "最低架构"),
    "column-lines": Text("lines", "行数"),
    "column-improves": Text("improves on", "改进自"),
    "column-idea": Text("idea", "思路"),
    "column-launches": Text("launches", "启动次数"),
    "column-asked": Text("asked of memory", "访存量"),
    "column-times-least": Text("× least", "× 最少"),
    "column-sectors-per-request": Text("sectors/request", "扇区/请求"),
    "column-shared-requests": Text("shared requests", "共享内存请求"),
    "column-bank-conflicts": Text("bank conflicts", "bank 冲突"),
    "column-warp-instructions": Text("warp instructions", "warp 指令"),
    "column-median": Text("median", "中位数"),
    "column-peer": Text("× best peer", "× 最快对照"),
    "column-ceiling": Text("ceiling", "实测上限"),
    "column-configuration": Text("configuration", "配置"),
    "column-at-least": Text("at least", "至少"),
    "column-least-cost": Text("× least cost", "× 最低代价"),
    "column-sectors": Text("sectors", "扇区"),
    "column-fastest": Text("× fastest", "× 最快"),
    "column-error": Text("error", "误差"),
    "column-key": Text("key", "键"),
    "column-arch": Text("arch", "架构"),
    "column-size": Text("size", "大小"),
    "column-used": Text("last used", "最近使用"),
    "column-kernels": Text("kernels", "核函数"),
    "column-source": Text("source", "源代码"),
    # ---- tune ------------------------------------------------------------------------------------------
    "tune-help": Text(
        """Try every configuration of a ladder's rungs, and list each with its time and its error.

        The error is the largest distance from the float64 result, in units of that result's largest element: so
        the price of a faster configuration in accuracy can be seen. Without --case and --size each rung is tried
        on the first of the ladder's cases that it takes. Without a GPU these are small ones, the configurations
        run on the virtual GPU, and what it counts stands in the place of a time. Ctrl-C lists what was tried.

        Examples:

            flashpath tune reduction

            flashpath tune matmul --rung triton_persistent --case '4096³ bfloat16'
        """,
        """尝试一个阶梯各梯级的所有配置，列出每种配置的时间和误差。

        误差是与 float64 结果的最大差距，以该结果的最大元素为单位：由此可见更快的配置损失多少精度。
        不给 --case 和 --size 时，每个梯级用阶梯中它能处理的第一个问题。没有 GPU 时问题较小，
        配置在虚拟 GPU 上运行，以计数代替时间。按 Ctrl-C 会列出已尝试的配置。

        例：

            flashpath tune reduction

            flashpath tune matmul --rung triton_persistent --case '4096³ bfloat16'
        """,
    ),
    "tune-ladder": Text("Such as matmul.", "如 matmul。"),
    "tune-rung": Text("Only this rung.", "只尝试这个梯级。"),
    "tune-case": Text(
        "A case of the benchmark: --case '2^24 float32'.", "基准测试的一个问题：--case '2^24 float32'。"
    ),
    "tune-seconds": Text("Time spent on each configuration.", "每种配置所用的时间（秒）。"),
    "tune-no-clock": Text(
        "There is no GPU here, and the virtual one has no clock: none of this is a time. “At least” is the bound of the roofline, the same wherever the same bytes and FLOPs are. The order is that of the counted cost: what the scarcest of memory, arithmetic, instructions, sectors and shared memory needs, without latency.",
        "这里没有 GPU，虚拟 GPU 没有时钟：以上都不是时间。“至少”是 roofline 给出的下限，字节数和 FLOP 数相同则下限相同。排序依据是计数得出的代价：显存、算术、指令、扇区、共享内存中最紧张的一项所需的时间，不含延迟。",
    ),
    "tune-size-and-case": Entry(
        Text("Both --size and --case were given.", "同时给了 --size 和 --case。"),
        Text("Name a case, or the size of a new one.", "请只给一个问题，或一个新问题的大小。"),
    ),
    # ---- cache -----------------------------------------------------------------------------------------
    "cache-help": Text(
        "The compiled kernels on disk: list them, look into one, clear them.",
        "磁盘上编译好的核函数：列出、查看、清空。",
    ),
    "cache-list-help": Text(
        "List the entries, the most recently used first.", "列出缓存条目，最近使用的在前。"
    ),
    "cache-show-help": Text(
        "Show what one entry holds and how it was built.", "查看一个条目的内容和构建方式。"
    ),
    "cache-clear-help": Text(
        "Remove every entry; kernels are compiled again when next needed.",
        "删除所有条目；核函数在下次需要时重新编译。",
    ),
    "example": Text("Example: {command}", "例：{command}"),
    "cache-total": Text(
        "{entries} entries, {size:.1f} of at most {limit:.0f} MiB, in {folder}",
        "{entries} 个条目，{size:.1f} MiB（上限 {limit:.0f} MiB），位于 {folder}",
    ),
    "cache-key": Text("The key, or its first letters.", "键，或键的前几个字符。"),
    "cache-file": Text(
        "Print this file: source.cu, kernel.ptx, compiler.log.",
        "打印这个文件：source.cu、kernel.ptx、compiler.log。",
    ),
    "cache-cleared": Text(
        "Removed {entries} entries, {size:.1f} MiB.", "已删除 {entries} 个条目，{size:.1f} MiB。"
    ),
    "cache-no-file": Entry(
        Text("The entry has no file {file!r}.", "该条目没有文件 {file!r}。"),
        Text("It has: {names}.", "它有：{names}。"),
    ),
    "cache-damaged": Entry(
        Text(
            "The entry {entry} is damaged: build.json is missing or not as it was written ({why}).",
            "条目 {entry} 已损坏：build.json 缺失或被改动（{why}）。",
        ),
        Text(
            "It is dropped and built again when next needed; `flashpath cache clear` removes it now.",
            "下次需要时会丢弃并重新构建；`flashpath cache clear` 可立即删除。",
        ),
    ),
    # ---- bench -----------------------------------------------------------------------------------------
    "bench-help": Text(
        """Time every rung of a ladder against PyTorch and, with --with, against your own function.

        Results are checked before anything is timed, and again on new data after; all are interleaved in one run.
        Records are kept as soon as a case is done, so Ctrl-C loses nothing. Without a GPU, only what runs on the
        CPU is timed. What your function prints goes to stderr. The exit code is 1 where it fails, where a result
        is wrong, and where nothing could be timed.

        Examples:

            flashpath bench vector_add

            flashpath bench vector_add --sizes 2^16,2^20,2^24 --plot speeds.svg

            flashpath bench attention --list

            flashpath bench attention --sizes 1x512x8x64

            flashpath bench vector_add --with my_kernels.py:my_add --dev-hours 1.5 --output results.jsonl
        """,
        """给一个阶梯的每个梯级计时，与 PyTorch 比较；用 --with 还可加上你自己的函数。

        计时前先核对结果，计时后在新数据上再核对一次；所有实现在同一次运行中交替计时。
        每完成一个问题就保存记录，按 Ctrl-C 不会丢失。没有 GPU 时，只给能在 CPU 上运行的计时。
        你的函数打印的内容输出到 stderr。函数出错、结果有误或什么都没能计时的，退出码是 1。

        例：

            flashpath bench vector_add

            flashpath bench vector_add --sizes 2^16,2^20,2^24 --plot speeds.svg

            flashpath bench attention --list

            flashpath bench attention --sizes 1x512x8x64

            flashpath bench vector_add --with my_kernels.py:my_add --dev-hours 1.5 --output results.jsonl
        """,
    ),
    "bench-ladder": Text("Such as vector_add.", "如 vector_add。"),
    "bench-with": Text(
        "FILE.py:function to time beside the rungs.", "与梯级一起计时的函数，写作 FILE.py:function。"
    ),
    "bench-hours": Text(
        "How long your function took to write; kept in its record.", "写这个函数用了多少小时；存入它的记录。"
    ),
    "bench-case": Text("Only this case; --case '2^20 float32'.", "只测这个问题；如 --case '2^20 float32'。"),
    "bench-list": Text(
        "Only list the ladder's cases, for --case, and time nothing.",
        "只列出阶梯的问题（供 --case 使用），不计时。",
    ),
    "bench-sizes": Text("In place of the ladder's own cases. ", "代替阶梯自带的问题。"),
    "bench-rung": Text("Only this rung (and the peers).", "只测这个梯级（以及对照库）。"),
    "bench-device": Text(
        "cuda or cpu; by default the GPU, if there is one.", "cuda 或 cpu；有 GPU 时默认用 GPU。"
    ),
    "bench-seconds": Text(
        "Time spent on each implementation and case.", "每个实现、每个问题所用的时间（秒）。"
    ),
    "bench-eager": Text(
        "Also time calls as you make them, in a row and with what the host does.",
        "同时测量平常写法的调用：连续调用，计入主机端的开销。",
    ),
    "bench-ceilings": Text(
        "Measure copy, read and GEMM ceilings in the same run.",
        "在同一次运行中测出复制、读取和 GEMM 的上限。",
    ),
    "bench-output": Text("Append the records to this JSON-lines file.", "把记录追加到这个 JSON-lines 文件。"),
    "bench-plot": Text(
        "Draw speeds and the roofline: .svg, .png or .pdf.", "画出速度和 roofline：.svg、.png 或 .pdf。"
    ),
    "bench-json": Text("Print the records as JSON lines.", "以 JSON lines 输出记录。"),
    "bench-on": Text("On {machine}.", "测于 {machine}。"),
    "bench-sizes-and-cases": Entry(
        Text("Both --sizes and --case were given.", "同时给了 --sizes 和 --case。"),
        Text("Name cases, or sizes for new ones.", "请只给已有的问题，或新问题的大小。"),
    ),
    # ---- sizes -----------------------------------------------------------------------------------------
    "sizes": Text(
        "Such as 2^20, or 32768x1024 where a size has two dimensions, or three (matmul: MxNxK): one number alone stands for all of them. attention has four: batch, sequence, heads and dim (4x4096x16x128); attention_decode five: batch, keys, heads, heads of k and v, and dim (8x8192x32x8x128).",
        "如 2^20；有两维的写 32768x1024，三维的（matmul）写 MxNxK；只写一个数表示各维相同。attention 有四维：batch、序列长度、头数、头维度（4x4096x16x128）；attention_decode 有五维：batch、键的个数、头数、k 和 v 的头数、头维度（8x8192x32x8x128）。",
    ),
    "sizes-none-here": Entry(
        Text("The ladder {ladder!r} has no cases by size.", "阶梯 {ladder!r} 的问题不按大小给出。"),
        Text("Name its cases: {cases}.", "请给出它的问题：{cases}。"),
    ),
    "sizes-none-given": Entry(Text("No size was given.", "没有给出大小。"), Text("{help}", "{help}")),
    "sizes-not-one": Entry(
        Text("{text!r} is no size of {ladder}.", "{text!r} 不是 {ladder} 的大小。"),
        Text("It is {dimensions}, such as {example}.", "应为 {dimensions}，如 {example}。"),
    ),
    "sizes-too-large": Entry(
        Text(
            "{text!r} is no size of {ladder}: the largest is 2^40.",
            "{text!r} 不是 {ladder} 的大小：最大是 2^40。",
        ),
        Text("It is {dimensions}, such as {example}.", "应为 {dimensions}，如 {example}。"),
    ),
    # ---- Options that the commands about kernels share -------------------------------------------------
    "option-source-files": Text(
        "A .cu file; of a program also several: .cu, .cpp, .cc, .c.",
        ".cu 文件；程序可以有多个：.cu、.cpp、.cc、.c。",
    ),
    "option-kernel": Text(
        "Its name; a template instance: 'saxpy<float>'.", "核函数的名字；模板实例写作 'saxpy<float>'。"
    ),
    "option-arch": Text(
        "sm_75 … sm_100a; by default the GPU's own, or sm_80.",
        "sm_75 … sm_100a；默认是 GPU 自己的架构，或 sm_80。",
    ),
    "option-define": Text("NAME or NAME=VALUE.", "NAME 或 NAME=VALUE。"),
    "option-include": Text("A folder of headers.", "头文件目录。"),
    "option-compiler-flag": Text("A flag for the compiler.", "传给编译器的选项。"),
    "option-compiler": Text("nvrtc or nvcc.", "nvrtc 或 nvcc。"),
    "option-grid": Text("Blocks: 32, or 16,16.", "线程块数：32，或 16,16。"),
    "option-block": Text("Threads of a block: 256, or 16,16.", "每个线程块的线程数：256，或 16,16。"),
    "option-argument": Text(
        r"An argument, in order: 2.0, n=1024, f32\[1024] (random), x=f32\[n], zeros:f32\[n,n], "
        r"arange:i32\[n], i32\[n]:0..9, null.",
        r"按顺序给出的参数：2.0、n=1024、f32\[1024]（随机数）、x=f32\[n]、zeros:f32\[n,n]、"
        r"arange:i32\[n]、i32\[n]:0..9、null。",
    ),
    "option-shared": Text("Dynamic shared memory in bytes.", "动态共享内存的字节数。"),
    "option-array-seed": Text("Of the random arrays.", "随机数组的种子。"),
    "option-budget": Text(
        "Warp instructions after which a launch is stopped.", "一次启动最多执行的 warp 指令数，超过即停止。"
    ),
    "option-std-of-program": Text("Of a program: c++17, c++20, …", "程序的 C++ 标准：c++17、c++20……"),
    "option-optimize-of-program": Text("Of a program's host code: 0 … 3.", "程序主机代码的优化级别：0 … 3。"),
    "option-library-of-program": Text("A library of a program's.", "程序要链接的库。"),
    "option-library-folder": Text("A folder of libraries.", "库所在的目录。"),
    "option-devices-of-program": Text("How many virtual GPUs a program has.", "程序有几个虚拟 GPU。"),
    "option-timeout-of-program": Text(
        "Seconds after which a program is ended.", "程序最多运行的秒数，超过即结束。"
    ),
    "option-lang-of-work": Text(
        "en or zh; by default FLASHPATH_LANG, the work folder's, or the locale's.",
        "en 或 zh；默认取 FLASHPATH_LANG、工作目录的语言或系统语言。",
    ),
    "list": Text("{items}", "{items}"),
    "profile-of-python": Entry(
        Text(
            "{file} is Python; this command profiles CUDA C++.",
            "{file} 是 Python 文件；这个命令分析的是 CUDA C++。",
        ),
        Text(
            "Profile a Triton kernel where it is launched:\n"
            "      import flashpath as fp\n"
            "      print(fp.profile(kernel, grid=grid, args=(x, y, n), BLOCK=1024))  # one launch\n"
            "    or, for all launches of a piece of code:\n"
            "      with fp.vgpu.triton(profile=True) as gpu:\n"
            "          my_function(x)\n"
            '      print(*gpu.reports, sep="\\n")',
            "请在启动 Triton 核函数的地方分析它：\n"
            "      import flashpath\n"
            "      print(flashpath.profile(kernel, grid=grid, args=(x, y, n), BLOCK=1024))  # 一次启动\n"
            "    或者分析一段代码里的所有启动：\n"
            "      with flashpath.vgpu.triton(profile=True) as gpu:\n"
            "          my_function(x)\n"
            '      print(*gpu.reports, sep="\\n")',
        ),
    ),
    "option-of-kernels": Entry(
        Text(
            "{option} is for a kernel alone; without --grid and --block the file is run as a whole program.",
            "{option} 只用于单独的核函数；没有 --grid 和 --block 时，文件按完整程序运行。",
        ),
        Text("Add --grid and --block, or leave it out.", "请加上 --grid 和 --block，或者去掉它。"),
    ),
    "option-of-programs": Entry(
        Text("{option} is for a whole program.", "{option} 只用于完整程序。"),
        Text("Leave out --grid and --block.", "请去掉 --grid 和 --block。"),
    ),
    "arguments-of-programs": Entry(
        Text("What follows -- is for a whole program.", "-- 之后的内容只用于完整程序。"),
        Text("Leave out --grid and --block.", "请去掉 --grid 和 --block。"),
    ),
    "kernel-of-several-files": Entry(
        Text(
            "{count} files were given, and a kernel alone comes from one.",
            "给出了 {count} 个文件，而单独的核函数只来自一个文件。",
        ),
        Text(
            "Leave out --grid and --block to run them as a whole program.",
            "去掉 --grid 和 --block，就会把它们作为完整程序运行。",
        ),
    ),
    "grid-and-block": Entry(
        Text("{option} is missing.", "缺少 {option}。"),
        Text(
            "A kernel alone is launched with both; without both the file is run as a whole program.",
            "单独启动核函数需要 --grid 和 --block；两者都不给时，文件按完整程序运行。",
        ),
    ),
    "not-extents": Entry(
        Text("{option} is {text!r}.", "{option} 是 {text!r}。"),
        Text("Give one to three numbers: 32, or 16,16.", "请给出一到三个数：32，或 16,16。"),
    ),
    # ---- Arguments of a kernel: --arg ------------------------------------------------------------------
    "arg-too-large": Entry(
        Text(
            "--arg {text}: so large an array cannot be made here.",
            "--arg {text}：这里无法创建这么大的数组。",
        ),
        Text("Give a smaller shape.", "请给出小一些的形状。"),
    ),
    "arg-unknown": Entry(
        Text(
            "--arg {text}: {written!r} is neither a number nor an array.",
            "--arg {text}：{written!r} 既不是数，也不是数组。",
        ),
        Text(
            "Examples: 1024   2.0   n=2**20   f32[1024]   x=f32[n]   zeros:f32[n,n]   arange:i32[256]   "
            "i32[n]:0..9   null.",
            "例如：1024   2.0   n=2**20   f32[1024]   x=f32[n]   zeros:f32[n,n]   arange:i32[256]   "
            "i32[n]:0..9   null。",
        ),
    ),
    "arg-no-such-fill": Entry(
        Text(
            "--arg {text}: {fill!r} is no way to fill an array.", "--arg {text}：不能用 {fill!r} 填充数组。"
        ),
        Text("It is one of {fills}.", "可用的有：{fills}。"),
    ),
    "arg-no-such-type": Entry(
        Text("--arg {text}: {type!r} is no type.", "--arg {text}：没有类型 {type!r}。"),
        Text("It is one of {types}.", "可用的有：{types}。"),
    ),
    "arg-no-shape": Entry(
        Text("--arg {text}: [{shape}] is no shape.", "--arg {text}：[{shape}] 不是形状。"),
        Text(
            "Give numbers or names: [1024], [n,4*n]. Names so far: {names}.",
            "请给出数或名字：[1024]、[n,4*n]。已有的名字：{names}。",
        ),
    ),
    "arg-no-shape-without-names": Entry(
        Text("--arg {text}: [{shape}] is no shape.", "--arg {text}：[{shape}] 不是形状。"),
        Text(
            "Give numbers or names: [1024], [n,4*n]. Name a number before it: --arg n=1024.",
            "请给出数或名字：[1024]、[n,4*n]。先给一个数起名：--arg n=1024。",
        ),
    ),
    "arg-fill-with-range": Entry(
        Text("--arg {text}: {fill} has no range.", "--arg {text}：{fill} 不带取值范围。"),
        Text("Leave out the range, or the way to fill it.", "请去掉取值范围，或者去掉填充方式。"),
    ),
    "arg-no-range": Entry(
        Text("--arg {text}: {low}..{high} is no range.", "--arg {text}：{low}..{high} 不是取值范围。"),
        Text("Give two numbers: 0..9.", "请给出两个数：0..9。"),
    ),
    "arg-endless-range": Entry(
        Text(
            "--arg {text}: from {low} to {high} is no finite distance.",
            "--arg {text}：从 {low} 到 {high} 的距离不是有限的。",
        ),
        Text("Give two finite numbers, such as 0..1.", "请给出两个有限的数，例如 0..1。"),
    ),
    "arg-empty-range": Entry(
        Text(
            "--arg {text}: the range {low}..{high} is empty.", "--arg {text}：取值范围 {low}..{high} 是空的。"
        ),
        Text("Give the lower number first.", "请把小的数写在前面。"),
    ),
    "arg-range-too-wide": Entry(
        Text("--arg {text}: {low}..{high} does not fit.", "--arg {text}：{low}..{high} 超出了类型的范围。"),
        Text("Its values run from {least} to {most}.", "这个类型的值从 {least} 到 {most}。"),
    ),
    # ---- Which kernel of a file ------------------------------------------------------------------------
    "no-such-compiler": Entry(
        Text("--compiler is {compiler!r}.", "--compiler 是 {compiler!r}。"),
        Text("It is nvrtc or nvcc.", "应当是 nvrtc 或 nvcc。"),
    ),
    "file-without-kernel": Entry(
        Text(
            "{file} has no kernel: there is no __global__ function in it.",
            "{file} 里没有核函数：其中没有 __global__ 函数。",
        ),
        Text("Declare one: __global__ void name(…) {{ … }}", "请声明一个：__global__ void name(…) {{ … }}"),
    ),
    "several-kernels": Entry(
        Text("{file} has {count} kernels: {names}.", "{file} 里有 {count} 个核函数：{names}。"),
        Text("Name one with --kernel.", "请用 --kernel 指定一个。"),
    ),
    "several-kernels-and-templates": Entry(
        Text("{file} has {count} kernels: {names}.", "{file} 里有 {count} 个核函数：{names}。"),
        Text(
            "Name one with --kernel; an instance of a template: {example}.",
            "请用 --kernel 指定一个；模板的实例写作 {example}。",
        ),
    ),
    "only-templates": Entry(
        Text(
            "{file} has only templates: {names}. There is no kernel until one is instantiated.",
            "{file} 里只有模板：{names}。实例化之后才有核函数。",
        ),
        Text(
            "Name an instance with its own arguments: {example}.", "请指定一个带模板参数的实例：{example}。"
        ),
    ),
    # ---- run -------------------------------------------------------------------------------------------
    "run-help": Text(
        """Compile a CUDA program, host code included, and run it: on a GPU, or on the virtual GPU.

        With several files device code of one may use that of another. The program's input, output and exit code
        are its own; what stands after -- is for it. The executable is kept in the cache, and made again when a
        file that it is made from changes. On the virtual GPU times are modelled, not measured.

        A Python program is run as it is; where there is no GPU, its Triton kernels run on the virtual one.

        Examples:

            flashpath run saxpy.cu

            flashpath run saxpy.cu --device H200 -O2 -std=c++20 -- 1000000

            flashpath run main.cu kernels.cu -I include -D TILE=32 --timeout 10

            flashpath run pipeline.cu --devices 2 --timeline pipeline.html

            flashpath run softmax.py --device virtual
        """,
        """编译一个 CUDA 程序（包括主机代码）并运行：在 GPU 上，或在虚拟 GPU 上。

        给出多个文件时，一个文件的设备代码可以使用另一个的。程序的输入、输出和退出码都是它自己的；-- 之后的内容传给它。
        可执行文件保存在缓存里，所用的文件改动之后才重新编译。虚拟 GPU 上的时间来自模型，不是实测。

        Python 程序直接运行；没有 GPU 时，它的 Triton 核函数在虚拟 GPU 上运行。

        例：

            flashpath run saxpy.cu

            flashpath run saxpy.cu --device H200 -O2 -std=c++20 -- 1000000

            flashpath run main.cu kernels.cu -I include -D TILE=32 --timeout 10

            flashpath run pipeline.cu --devices 2 --timeline pipeline.html

            flashpath run softmax.py --device virtual
        """,
    ),
    "run-files": Text(
        "A .cu file, or several: .cu, .cpp, .cc, .c; or a .py file.",
        ".cu 文件，也可以多个：.cu、.cpp、.cc、.c；或者一个 .py 文件。",
    ),
    "run-device": Text(
        "cuda, cuda:1, virtual, or the GPU to play: H200, A100, …; by default a GPU, if any.",
        "cuda、cuda:1、virtual，或要模拟的 GPU：H200、A100……；默认用 GPU（如果有）。",
    ),
    "run-devices": Text("How many virtual GPUs.", "虚拟 GPU 的个数。"),
    "run-timeout": Text("Seconds after which it is ended.", "最多运行的秒数，超过即结束。"),
    "run-timeline": Text(
        "Write the modelled timeline here: .html, or .json (Chrome trace).",
        "把模型的时间线写到这里：.html，或 .json（Chrome trace）。",
    ),
    "run-arch": Text(
        "sm_75 … sm_121a; by default the GPU's own.", "sm_75 … sm_121a；默认是 GPU 自己的架构。"
    ),
    "run-std": Text("c++17, c++20, …", "c++17、c++20……"),
    "run-optimize": Text("0 … 3: of host code.", "主机代码的优化级别：0 … 3。"),
    "run-library": Text("A library to link.", "要链接的库。"),
    "run-option": Text("A flag for nvcc, as it is.", "原样传给 nvcc 的选项。"),
    "run-exact": Text("The bits of the GPU played, or faster.", "结果与所模拟的 GPU 逐位相同，或者更快。"),
    "run-seed": Text("Of the order of warps and blocks.", "warp 和线程块执行顺序的种子。"),
    "run-quiet": Text("Not a word about modelled times, or warnings.", "不提示模型时间，也不显示警告。"),
    "run-verbose": Text("Show nvcc's commands.", "显示 nvcc 的命令。"),
    "run-on-gpu": Entry(
        Text(
            "{option} is for the virtual GPU, and this program runs on cuda:{index}.",
            "{option} 只用于虚拟 GPU，而这个程序在 cuda:{index} 上运行。",
        ),
        Text(
            "Leave it out (--device virtual runs it on the virtual GPU).",
            "请去掉它（--device virtual 会在虚拟 GPU 上运行）。",
        ),
    ),
    "run-timeline-on-gpu": Entry(
        Text(
            "--timeline is for the virtual GPU, and this program runs on cuda:{index}.",
            "--timeline 只用于虚拟 GPU，而这个程序在 cuda:{index} 上运行。",
        ),
        Text(
            "Leave it out (flashpath profile --timeline has a real GPU's; --device virtual runs it on the virtual "
            "GPU).",
            "请去掉它（真实 GPU 的时间线用 flashpath profile --timeline；--device virtual 会在虚拟 GPU 上运行）。",
        ),
    ),
    "run-python-beside-others": Entry(
        Text(
            "{count} files were given, and one is a Python program.",
            "给出了 {count} 个文件，其中有一个是 Python 程序。",
        ),
        Text(
            "Give it alone; what is meant for it stands after --.", "请单独给出它；传给它的内容写在 -- 之后。"
        ),
    ),
    "run-option-of-cuda": Entry(
        Text(
            "{option} is for CUDA programs, and {file} is a Python program.",
            "{option} 只用于 CUDA 程序，而 {file} 是 Python 程序。",
        ),
        Text("Leave it out.", "请去掉它。"),
    ),
    "run-built": Text("built: {path}", "已编译：{path}"),
    "run-from-cache": Text("from the cache: {path}", "来自缓存：{path}"),
    "no-timeline-of-program": Text(
        "no timeline was written: the program did not come to its end.",
        "没有写出时间线：程序没有运行到结束。",
    ),
    "no-timeline-recorded": Text(
        "no timeline was written: nothing was recorded.", "没有写出时间线：什么也没有记录到。"
    ),
    "timeline-suffix": Entry(
        Text("--timeline is {file}.", "--timeline 是 {file}。"),
        Text(
            "It ends in .html (a page) or .json (Chrome trace).",
            "文件名应以 .html（网页）或 .json（Chrome trace）结尾。",
        ),
    ),
    "timeline-folder": Entry(
        Text("--timeline: there is no folder {folder}.", "--timeline：没有目录 {folder}。"),
        Text("Make it first.", "请先创建它。"),
    ),
    "timeline-not-written": Entry(
        Text("--timeline: {file} cannot be written: {why}.", "--timeline：无法写入 {file}：{why}。"),
        Text("Name another file.", "请换一个文件。"),
    ),
    "timeline-unreadable": Text(
        "The timeline {file} cannot be read: {why}.", "无法读取时间线 {file}：{why}。"
    ),
    "timeline-zoom": Text("zoom", "缩放"),
    "timeline-default-stream": Text("default stream", "默认流"),
    "timeline-stream": Text("stream {number}", "流 {number}"),
    "timeline-kernel": Text("kernel", "核函数"),
    "timeline-copy": Text("copy", "拷贝"),
    "timeline-fill": Text("fill", "填充"),
    "timeline-empty": Text(
        "The program used the GPU for nothing: no copy, no kernel.",
        "程序没有使用 GPU：没有拷贝，也没有核函数。",
    ),
    "timeline-modelled": Text(
        "bounds of a model of {gpu}, not measurements", "{gpu} 模型给出的下界，不是实测值"
    ),
    "timeline-measured": Text("measured on {gpu} by {tool}", "{tool} 在 {gpu} 上的实测值"),
    "timeline-summary": Text(
        "{count:,} copies and kernels in {time}. Times are {times}. Hold the pointer over a bar for its details.",
        "共 {count:,} 次拷贝和核函数，历时 {time}。时间是{times}。把指针停在色条上可以看到详情。",
    ),
    "timeline-summary-cut": Text(
        "{count:,} copies and kernels in {time}; the first {most:,} of a row are drawn. Times are {times}. Hold the "
        "pointer over a bar for its details.",
        "共 {count:,} 次拷贝和核函数，历时 {time}；每行只画前 {most:,} 个。时间是{times}。把指针停在色条上可以看到详情。",
    ),
    "timeline-bar": Text("{time}, from {start} on", "{time}，从 {start} 开始"),
    # ---- export-kernel ---------------------------------------------------------------------------------
    "export-kernel-help": Text(
        """Write a kernel or a rung as a shared library: its code for several GPUs, and one TVM-FFI function.

        Whoever has TVM-FFI can call it, from Python with tensors of torch, NumPy or CuPy, and from C++. Neither
        torch nor flashpath is needed then. The function checks types, shapes, alignment and devices, and says
        what is wrong. No GPU is needed to write a library, but a C++ compiler is.

        Of a kernel, --signature names the function's arguments and --launch says what the kernel is given. Of a
        rung, --signature has numbers for extents: for each the rung is asked what it would do, and the library
        takes every call for which it would do the same.

        Examples:

            flashpath export-kernel saxpy.cu saxpy.so -s 'a: float, x: float32\\[n], y: float32\\[n]' --launch '<<<cdiv(n, 256), 256>>>(n, a, x, y)'

            flashpath export-kernel softmax/resident softmax.so -s 'x: float32\\[64, n], out: float32\\[64, n]' --size n=128,1000,4096 --arch sm_80 --arch sm_90
        """,
        """把核函数或梯级写成共享库：含多种 GPU 的代码，以及一个 TVM-FFI 函数。

        装有 TVM-FFI 就能调用它：在 Python 里传 torch、NumPy 或 CuPy 的张量，也可以从 C++ 调用；那时既不需要 torch，也不需要
        flashpath。这个函数会检查类型、形状、对齐和设备，并说明错在哪里。生成库不需要 GPU，但需要 C++ 编译器。

        导出核函数时，--signature 写出函数的参数，--launch 写出交给核函数的内容。导出梯级时，--signature 里各维的大小是数：
        对每一组数询问梯级会怎么做；凡是梯级会同样处理的调用，库都接受。

        例：

            flashpath export-kernel saxpy.cu saxpy.so -s 'a: float, x: float32\\[n], y: float32\\[n]' --launch '<<<cdiv(n, 256), 256>>>(n, a, x, y)'

            flashpath export-kernel softmax/resident softmax.so -s 'x: float32\\[64, n], out: float32\\[64, n]' --size n=128,1000,4096 --arch sm_80 --arch sm_90
        """,
    ),
    "export-kernel-what": Text(
        "A .cu file, or a rung as LADDER/RUNG.", ".cu 文件，或写成 阶梯/梯级 的梯级。"
    ),
    "export-kernel-library": Text("The library to write.", "要写出的库。"),
    "export-kernel-signature": Text(
        "The function's arguments: 'a: float, x: float32\\[rows, n]'. Of a rung there may be several.",
        "函数的参数：'a: float, x: float32\\[rows, n]'。梯级可以有多个签名。",
    ),
    "export-kernel-launch": Text(
        "The launch of a kernel: '<<<cdiv(n, 256), 256>>>(n, a, x)'.",
        "核函数的启动：'<<<cdiv(n, 256), 256>>>(n, a, x)'。",
    ),
    "export-kernel-require": Text(
        "A comparison that has to hold, such as 'n % 4 == 0'; may be given several times.",
        "必须成立的比较，例如 'n % 4 == 0'；可以给出多次。",
    ),
    "export-kernel-size": Text(
        "Values for a name in a rung's signature: n=128,1000; may be given several times.",
        "梯级签名里一个名字的取值：n=128,1000；可以给出多次。",
    ),
    "export-kernel-arch": Text(
        "An architecture to have code for; may be given several times. Otherwise sm_80 and sm_90.",
        "要包含代码的架构，可以给出多次；默认是 sm_80 和 sm_90。",
    ),
    "export-kernel-name": Text(
        "The function's name; otherwise that of the file.", "函数名；默认与文件同名。"
    ),
    "export-kernel-done": Text(
        "{path}: {variants:~variant}, code for {archs}", "{path}：{variants} 个变体，包含 {archs} 的代码"
    ),
    "export-kernel-no-size": Entry(
        Text("--size {size} names no values.", "--size {size} 没有给出取值。"),
        Text("Write it as --size n=128,1000.", "请写成 --size n=128,1000。"),
    ),
    # ---- explain ---------------------------------------------------------------------------------------
    "explain-help": Text(
        """Show what the compilers made of a kernel: source, PTX, SASS, registers, memory, spills, occupancy.

        A Python program is run on the virtual GPU, and each Triton kernel that it launches is shown, with TTIR,
        TTGIR and its layouts: which thread holds what. No GPU is needed.

        Examples:

            flashpath explain saxpy.cu --kernel saxpy --arch sm_90a

            flashpath explain matmul.cu --kernel 'matmul<float, 32>' --gpu H200 --block 256 --stage sass

            flashpath explain programs/triton/02_matrix_multiply.py --stage layouts
        """,
        """显示编译器把核函数变成了什么：源代码、PTX、SASS、寄存器、内存、溢出和占用率。

        给出 Python 程序时，在虚拟 GPU 上运行它，并显示它启动的每个 Triton 核函数，包括 TTIR、TTGIR，以及各个布局：
        哪个线程持有什么。不需要 GPU。

        例：

            flashpath explain saxpy.cu --kernel saxpy --arch sm_90a

            flashpath explain matmul.cu --kernel 'matmul<float, 32>' --gpu H200 --block 256 --stage sass

            flashpath explain programs/triton/02_matrix_multiply.py --stage layouts
        """,
    ),
    "explain-file": Text(
        "A .cu file, or a Python program with Triton kernels.",
        "一个 .cu 文件，或带 Triton 核函数的 Python 程序。",
    ),
    "explain-layouts": Text("layouts", "布局"),
    "explain-layout": Text("{name}: a tensor of {shape} × {element}", "{name}：{shape} 个 {element} 的张量"),
    "explain-layout-not-drawn": Text(
        "  This kind is not drawn: flashpath layout --mma draws the operands of tensor cores.",
        "  这一种不画出来：tensor core 的操作数可以用 flashpath layout --mma 画出。",
    ),
    "explain-corner": Text(
        "The first {rows:~row} and {columns:~column} of {all} × {each}: thread (T) and its value (V).",
        "{all} × {each} 中的前 {rows} 行、{columns} 列：线程（T）及其第几个值（V）。",
    ),
    "explain-no-triton-kernel": Entry(
        Text("{file} launched no Triton kernel.", "{file} 没有启动任何 Triton 核函数。"),
        Text(
            "Only kernels that are launched are compiled: let the file launch one when it is run.",
            "只有启动过的核函数才会编译：请让这个文件在运行时启动一个核函数。",
        ),
    ),
    "explain-not-launched": Entry(
        Text("{file} launched no kernel {name!r}.", "{file} 没有启动核函数 {name!r}。"),
        Text("It launched {known}.", "它启动了 {known}。"),
    ),
    "explain-program-ended": Entry(
        Text(
            "{file} ended in an error, so its kernels are not explained.",
            "{file} 以错误结束，因此没有讲解它的核函数。",
        ),
        Text(
            "Let it end well first: flashpath run {file}.",
            "请先让它正常结束：flashpath run {file}。",
        ),
    ),
    "explain-program-missing": Entry(
        Text("There is no file {file}.", "没有文件 {file}。"),
        Text("Check the path.", "请检查路径。"),
    ),
    "explain-block": Text("Threads per block, for the occupancy.", "每个线程块的线程数，用来计算占用率。"),
    "explain-gpu": Text(
        "The GPU whose occupancy is shown, such as H200.", "按哪个 GPU 计算占用率，例如 H200。"
    ),
    "explain-stage": Text(
        "What to print besides the summary: source, ptx, sass, all or none; of Triton also ttir, ttgir, layouts.",
        "除摘要外还显示什么：source、ptx、sass、all 或 none；Triton 还有 ttir、ttgir、layouts。",
    ),
    "no-such-stage": Entry(
        Text("--stage is {stage!r}.", "--stage 是 {stage!r}。"),
        Text("It is one of {known}.", "应当是 {known} 之一。"),
    ),
    "no-disassembler": Text(
        "No disassembler was found. pip install triton brings one.",
        "没有找到反汇编器。pip install triton 会带来一个。",
    ),
    "explain-resources": Text("resources", "资源"),
    # ---- explain-finding -------------------------------------------------------------------------------
    "explain-finding-help": Text(
        """Teach what a finding of the virtual GPU means: why it matters, an example, how to mend it.

        Examples:

            flashpath explain-finding

            flashpath explain-finding race

            flashpath explain-finding missing-wait --lang zh

            flashpath explain-finding deadlock --save .
        """,
        """讲解虚拟 GPU 的一种发现：为什么重要，举一个例子，怎样改正。

        例：

            flashpath explain-finding

            flashpath explain-finding race

            flashpath explain-finding missing-wait --lang zh

            flashpath explain-finding deadlock --save .
        """,
    ),
    "explain-finding-kind": Text(
        "race, out-of-bounds, …; without it, all are listed.", "race、out-of-bounds……；不给则列出全部。"
    ),
    "explain-finding-lang": Text(
        "en or zh; by default FLASHPATH_LANG, or the locale's.",
        "en 或 zh；默认取 FLASHPATH_LANG 或系统语言。",
    ),
    "explain-finding-save": Text(
        "Write the example and the mended one into this folder, to try them.",
        "把有错的例子和改正后的例子写到这个目录，供你试验。",
    ),
    # ---- profile ---------------------------------------------------------------------------------------
    "profile-help": Text(
        r"""Run a program, or a kernel alone, on the virtual GPU and show what it counted: traffic, conflicts,
        divergence, hot lines.

        Without --grid and --block the file is a whole program, with main: it is compiled and run, and its
        launches are summed up and reported. With them one kernel is launched on arrays that --arg describes.

        A picture shows one access to global memory, lane by sector, and one to shared memory, bank by bank: the
        most wasteful ones, or those of --line. No GPU is needed, and none is used.

        With --device cuda a program is also measured on the GPU, where Nsight Compute (ncu) and Nsight Systems
        (nsys) are found: it runs once under each of them and once on the virtual GPU, with the same input.

        Examples:

            flashpath profile saxpy.cu --device H200 -- 1000000

            flashpath profile main.cu kernels.cu -I include

            flashpath profile saxpy.cu --device cuda --timeline saxpy.html

            flashpath profile axpy.cu --grid 32 --block 256 --arg n=8192 --arg 2.0 --arg 'f32\[n]' --arg 'f32\[n]'

            flashpath profile copy.cu --grid 32,32 --block 32,32 --arg n=1024 --arg 'f32\[n,n]' --line 12

            flashpath profile count.cu --kernel 'count<int>' --grid 64 --block 256 --arg 'i32\[65536]:0..9' --json
        """,
        r"""在虚拟 GPU 上运行一个程序或单独的核函数，显示计数结果：访存量、bank 冲突、分支分化、热点行。

        没有 --grid 和 --block 时，文件是带 main 的完整程序：编译并运行它，汇总并报告它的每次启动。给出两者时，
        只启动一个核函数，数组由 --arg 描述。

        图中画出一次全局内存访问（每个 lane 落在哪个扇区）和一次共享内存访问（每个 bank）：浪费最多的那些，或 --line
        指定的行。不需要 GPU，也不会使用 GPU。

        给出 --device cuda 时，如果找到 Nsight Compute（ncu）和 Nsight Systems（nsys），还会在 GPU 上实测：程序在两者下
        各运行一次，在虚拟 GPU 上运行一次，输入相同。

        例：

            flashpath profile saxpy.cu --device H200 -- 1000000

            flashpath profile main.cu kernels.cu -I include

            flashpath profile saxpy.cu --device cuda --timeline saxpy.html

            flashpath profile axpy.cu --grid 32 --block 256 --arg n=8192 --arg 2.0 --arg 'f32\[n]' --arg 'f32\[n]'

            flashpath profile copy.cu --grid 32,32 --block 32,32 --arg n=1024 --arg 'f32\[n,n]' --line 12

            flashpath profile count.cu --kernel 'count<int>' --grid 64 --block 256 --arg 'i32\[65536]:0..9' --json
        """,
    ),
    "profile-device": Text(
        "The GPU whose bounds are shown, such as H200; cuda: measure a program on it.",
        "按哪个 GPU 计算下界，例如 H200；cuda：在 GPU 上实测程序。",
    ),
    "profile-line": Text("Draw the accesses of this line.", "画出这一行的访问。"),
    "profile-of-block": Text(
        "Draw those of this block, counted with x first.", "画出这个线程块的访问，编号按 x 在前计算。"
    ),
    "profile-of-warp": Text("Draw those of this warp of its block.", "画出线程块中这个 warp 的访问。"),
    "profile-launch": Text("Of a program: show this launch.", "对程序：显示这一次启动。"),
    "profile-timeline": Text(
        "Of a program: write its timeline here, .html or .json.", "对程序：把时间线写到这里，.html 或 .json。"
    ),
    "profile-line-without-accesses": Entry(
        Text(
            "Line {line} accesses neither global nor shared memory.",
            "第 {line} 行既不访问全局内存，也不访问共享内存。",
        ),
        Text("Lines that do: {lines}.", "有访问的行：{lines}。"),
    ),
    "profile-no-accesses": Entry(
        Text(
            "Line {line} accesses neither global nor shared memory.",
            "第 {line} 行既不访问全局内存，也不访问共享内存。",
        ),
        Text("Lines that do: none.", "没有一行有这样的访问。"),
    ),
    "profile-where": Text(
        " on the virtual GPU ({gpu}), grid {grid}, block {block}",
        "，虚拟 GPU（{gpu}），网格 {grid}，线程块 {block}",
    ),
    "profile-bound-by": Text("bound by {bound}", "受{bound}限制"),
    "profile-at-least": Text(
        ": {time} at least on {gpu}, by datasheet peaks (no measured time)",
        "：按规格书峰值，在 {gpu} 上至少 {time}（不是实测时间）",
    ),
    "profile-intensity": Text(
        "{bytes:,} bytes moved at least, {flops:,} FLOPs: {intensity:.2f} a byte, the ridge is at {ridge:.1f}",
        "至少传输 {bytes:,} 字节，{flops:,} FLOP：每字节 {intensity:.2f}，拐点在 {ridge:.1f}",
    ),
    "profile-occupancy": Text("occupancy {share}, limited by {limit}", "占用率 {share}，受{limit}限制"),
    "profile-footprint": Text(
        "a thread has {registers} registers and {local:,} B of local memory; a block {static:,} + {dynamic:,} B shared",
        "每个线程有 {registers} 个寄存器、{local:,} B 局部内存；每个线程块有 {static:,} + {dynamic:,} B 共享内存",
    ),
    "profile-counted": Text("counted", "计数"),
    "profile-each": Text("each", "每次"),
    "profile-ideal": Text("ideal", "理想"),
    "profile-waste": Text("{ratio}× the {what}", "{what}的 {ratio} 倍"),
    "profile-bytes": Text("bytes", "所需字节"),
    "profile-passes": Text("passes", "所需趟数"),
    "profile-turns": Text("turns", "所需轮次"),
    "profile-instructions-of": Text("instructions", "所需指令"),
    "profile-sectors": Text("{access} sectors", "{access}扇区"),
    "profile-shared-passes": Text("{access} passes", "{access} bank 趟数"),
    "profile-local-sectors": Text("{access} sectors (PTX)", "{access}扇区（PTX）"),
    "profile-atomics": Text("atomics, lanes in turn", "原子操作，lane 轮流次数"),
    "profile-instructions": Text("thread instructions (PTX)", "线程指令（PTX）"),
    "profile-branches": Text("divergent branches (PTX)", "分化的分支（PTX）"),
    "profile-tensor-operations": Text("{element} tensor operations", "{element} tensor core 运算"),
    "profile-by-class": Text("instructions by class (PTX)", "指令分类（PTX）"),
    "profile-other-classes": Text("others", "其他"),
    "profile-heat-instructions": Text("instr.", "指令"),
    "profile-heat-sectors": Text("sectors", "扇区"),
    "profile-heat-conflicts": Text("conflicts", "冲突"),
    "profile-elsewhere": Text("{share} of the instructions come from {file}", "{share} 的指令来自 {file}"),
    "profile-no-such-launch": Entry(
        Text(
            "There is no launch {launch}: the program made {count}.",
            "没有第 {launch} 次启动：程序共启动 {count} 次。",
        ),
        Text(
            "Launches are counted from 1 on, in the order in which they ran.",
            "启动从 1 开始编号，按运行的先后排列。",
        ),
    ),
    "profile-no-kernel": Text(
        "No kernel ran: the program launched none, its launches were refused (it is told above), or it waited for none.",
        "没有核函数运行：程序没有启动核函数，启动被拒绝（见上文），或者没有等待它们完成。",
    ),
    "profile-launch-number": Text("Launch {number}", "第 {number} 次启动"),
    "profile-other-launches": Text("Others: --launch NUMBER.", "其他启动：--launch 编号。"),
    "profile-launches": Text(
        "{count:~launch/launches} on the virtual {gpu}; times are bounds, no measurements",
        "在虚拟 {gpu} 上启动 {count:,} 次；时间是下界，不是实测值",
    ),
    "profile-column-kernel": Text("kernel", "核函数"),
    "profile-column-launches": Text("launches", "启动次数"),
    "profile-column-bound-all": Text("bound, all", "下界，合计"),
    "profile-column-of-all": Text("of all", "占比"),
    "profile-column-bound-each": Text("bound, each", "下界，每次"),
    "profile-column-traffic": Text("memory traffic", "访存量"),
    "profile-column-in-the-run": Text("in the run", "程序中"),
    "profile-column-cold-each": Text("cold, each", "冷缓存，每次"),
    "profile-column-of-bound": Text("of bound", "与下界之比"),
    "profile-column-bandwidth": Text("bandwidth", "带宽"),
    "profile-column-of-peak": Text("of peak", "占峰值"),
    "profile-column-all": Text("all", "合计"),
    "profile-column-each": Text("each", "每次"),
    "profile-column-tool": Text("by", "工具"),
    # ---- profile: beside measurements ------------------------------------------------------------------
    "measured-runs": Text(
        "the program runs {count} times, under {tools} and on the virtual {gpu}; what it prints is shown once",
        "程序运行 {count} 次：在 {tools} 下各一次，在虚拟 {gpu} 上一次；它的输出只显示一次",
    ),
    "measured-runs-once": Text(
        "the program runs once, on the virtual {gpu}; what it prints is shown once",
        "程序在虚拟 {gpu} 上运行一次；它的输出只显示一次",
    ),
    "measured-where": Text(
        "{device}, measured; bounds are those of {gpu}", "{device} 上实测；下界是 {gpu} 的"
    ),
    "measured-where-unlike": Text(
        "{device}, measured; bounds are those of {gpu}: no profile describes this GPU itself",
        "{device} 上实测；下界是 {gpu} 的：没有描述这个 GPU 的数据",
    ),
    "measured-unlike": Text("Not alike: {what}.", "不一致：{what}。"),
    "measured-first-launches": Text(
        "ncu measured the first {count} launches only", "ncu 只测了前 {count} 次启动"
    ),
    "measured-launches": Text("{count:~launch/launches} on {where}", "{count:,} 次启动，{where}"),
    "measured-nothing": Text("Nothing was measured, and nothing counted.", "没有实测结果，也没有计数结果。"),
    "measured-alone": Text(
        "Measured on {device}; nothing was counted to compare it with",
        "在 {device} 上实测；没有计数结果可供比较",
    ),
    "measured-by-nsys": Text("nsys, in the run", "nsys，程序中"),
    "measured-by-ncu": Text("ncu, cold caches", "ncu，冷缓存"),
    "measured-nothing-counted": Text("Nothing was counted: {why}", "没有计数结果：{why}"),
    "measured-took-longer": Text(
        "Nothing was counted: on the virtual {gpu} the program took longer than --timeout, on the GPU it ended "
        "with {expected}.",
        "没有计数结果：程序在虚拟 {gpu} 上的运行时间超过了 --timeout，在 GPU 上的退出码是 {expected}。",
    ),
    "measured-ended-otherwise": Text(
        "Nothing was counted: on the virtual {gpu} the program ended with {code}, on the GPU with {expected}.",
        "没有计数结果：程序在虚拟 {gpu} 上的退出码是 {code}，在 GPU 上是 {expected}。",
    ),
    "measured-it-said": Text(" It said: {words}", "它的输出：{words}"),
    "measured-smaller-problem": Text(
        "Give it a smaller problem: the virtual GPU takes longer.", "请缩小问题规模：虚拟 GPU 更慢。"
    ),
    "measured-not": Text("not measured", "没有实测"),
    "measured-on": Text("measured on {device}: {time}", "{device} 上实测：{time}"),
    "measured-of-bound": Text(", {ratio} the bound", "，是下界的 {ratio}"),
    "measured-cold": Text(", with cold caches (ncu)", "，冷缓存（ncu）"),
    "measured-in-run": Text("in the program's run {time} (nsys)", "程序运行中 {time}（nsys）"),
    "measured-traffic": Text(
        "{bytes} bytes moved to and from memory, {counted:,} counted without caches: {rate}, {share} of the peak {peak}",
        "与内存之间传输 {bytes} 字节，不计缓存时计数为 {counted:,}：{rate}，达到峰值 {peak} 的 {share}",
    ),
    "measured-memory": Text("memory", "内存"),
    "measured-multiprocessors": Text("multiprocessors", "SM"),
    "measured-busy": Text("busy: {shares}", "忙碌：{shares}"),
    "measured-hits": Text("hits: {shares}", "命中：{shares}"),
    "measured-occupancy": Text("occupancy {share}", "占用率 {share}"),
    "measured-occupancy-of": Text(
        "occupancy {share} achieved, {fit} fit", "占用率实际达到 {share}，上限 {fit}"
    ),
    "measured-stalls": Text(
        "a warp waits, of the time between its instructions", "warp 在两条指令之间的等待原因及占比"
    ),
    # ---- sanitize --------------------------------------------------------------------------------------
    "sanitize-help": Text(
        r"""Run a program, or a kernel alone, on the virtual GPU and show what is wrong: races, bad accesses,
        missing waits, deadlocks, and mistakes of host code.

        Without --grid and --block the file is a whole program, with main: it is compiled and run, and all of its
        launches are watched. So is its host code: memory that is used before the GPU is done with it, or after it
        was freed, or never freed; copies that go astray; errors that nobody looks at. With them one kernel is
        launched on arrays that --arg describes.

        Each finding is shown with its lines of the source; `flashpath explain-finding race` teaches what it
        means. Some races show only under some orders of warps and blocks: --seeds 20 tries twenty. The exit code
        is 0 where nothing was found, 1 where something was, 2 where the kernel could not be run: it does not
        compile, was given what it cannot take, or the program died without a finding. No GPU is needed, and none
        is used.

        Examples:

            flashpath sanitize queue.cu --seeds 20 -- 1000

            flashpath sanitize main.cu kernels.cu -I include -std=c++20

            flashpath sanitize sum.cu --grid 4 --block 256 --arg n=1024 --arg 'f32\[n]' --arg 'zeros:f32\[4]'

            flashpath sanitize queue.cu --kernel consume --grid 8 --block 64 --arg 'zeros:i32\[64]' --seeds 20

            flashpath sanitize tiles.cu --grid 4,4 --block 16,16 --arg n=64 --arg 'f32\[n,n]' --json
        """,
        r"""在虚拟 GPU 上运行一个程序或单独的核函数，显示其中的错误：竞争、越界访问、缺少等待、死锁，以及主机代码的错误。

        没有 --grid 和 --block 时，文件是带 main 的完整程序：编译并运行它，检查它的每次启动，也检查主机代码：GPU 用完之前
        就使用内存、释放之后仍使用、从不释放、拷贝方向或大小有误、没有检查的错误。给出两者时，只启动一个核函数，数组由 --arg
        描述。

        每个发现都连同源代码的行一起显示；`flashpath explain-finding race` 讲解它的含义。有些竞争只在某些 warp 和线程块的
        执行顺序下出现：--seeds 20 会试二十种。退出码：0 表示没有发现问题，1 表示发现了问题，2 表示核函数无法运行
        （编译失败、参数不对，或程序异常结束而没有发现）。不需要 GPU，也不会使用 GPU。

        例：

            flashpath sanitize queue.cu --seeds 20 -- 1000

            flashpath sanitize main.cu kernels.cu -I include -std=c++20

            flashpath sanitize sum.cu --grid 4 --block 256 --arg n=1024 --arg 'f32\[n]' --arg 'zeros:f32\[4]'

            flashpath sanitize queue.cu --kernel consume --grid 8 --block 64 --arg 'zeros:i32\[64]' --seeds 20

            flashpath sanitize tiles.cu --grid 4,4 --block 16,16 --arg n=64 --arg 'f32\[n,n]' --json
        """,
    ),
    "sanitize-device": Text("The GPU that is played, such as H200.", "要模拟的 GPU，例如 H200。"),
    "sanitize-seeds": Text("How many schedules are tried.", "试多少种调度。"),
    "sanitize-progress": Text("schedules", "调度"),
    "sanitize-on-gpu": Entry(
        Text(
            "A program is checked on the virtual GPU, and a real one was asked for.",
            "程序在虚拟 GPU 上检查，而这里要求的是真实的 GPU。",
        ),
        Text(
            "Name the GPU to play, as --device H200; compute-sanitizer checks on a real one.",
            "请指定要模拟的 GPU，例如 --device H200；在真实的 GPU 上用 compute-sanitizer 检查。",
        ),
    ),
    "sanitize-died": Text(
        "{program} did not come to its end: what it had still to do was not checked.",
        "{program} 没有运行到结束：其余部分没有检查。",
    ),
    "sanitize-schedules": Text("under {count:,} schedules", "在 {count:,} 种调度下"),
    "sanitize-one-schedule": Text("under one schedule", "在一种调度下"),
    "sanitize-nothing": Text("{name}: nothing found {schedules}", "{name}：{schedules}没有发现问题"),
    "sanitize-nothing-yet": Text(
        "{name}: nothing found {schedules}; --seeds 20 tries twenty",
        "{name}：{schedules}没有发现问题；--seeds 20 会试二十种",
    ),
    "sanitize-findings": Text("{name}: {count:~finding}", "{name}：发现 {count} 个问题"),
    "sanitize-findings-and-notes": Text(
        "{name}: {count:~finding}, {notes:~note}", "{name}：发现 {count} 个问题，另有 {notes} 条提示"
    ),
    "sanitize-notes": Text(
        "{name}: {count:~note}, and nothing wrong", "{name}：{count} 条提示，没有发现问题"
    ),
    "sanitize-under": Text(" {schedules}", "（{schedules}）"),
    "sanitize-headline": Text(": {what}", "：{what}"),
    "sanitize-met": Text("met {count:,} times", "遇到 {count:,} 次"),
    "sanitize-first-seed": Text("first under seed {seed}", "最先出现在种子 {seed} 下"),
    "sanitize-did": Text("{action}: {who}", "{action}：{who}"),
    "sanitize-within": Text("{what}, in {library}", "{what}，位于 {library}"),
    "sanitize-no-line": Text("(no line is known)", "（行号未知）"),
    "sanitize-line": Text("line {line}: ", "第 {line} 行："),
    "sanitize-here": Text("here", "在这里"),
    "sanitize-called": Text("called from here", "从这里调用"),
    "sanitize-launched": Text("launched here", "在这里启动"),
    "sanitize-also-called": Text("{what}, which is called from here", "{what}，它从这里调用"),
    # ---- layout ----------------------------------------------------------------------------------------
    "layout-help": Text(
        """Draw a CuTe layout, what is made of it, or an MMA instruction.

        A grid shows the index of every coordinate, rows by the first mode; below it stands what reading it from
        shared memory asks of the banks. --compose, --divide, --product and --swizzle are applied in this order.

        Examples:

            flashpath layout '((2,4),(8,2)):((8,32),(1,16))'

            flashpath layout '(8,8):(8,1)' --compose '(4,4):(2,16)'

            flashpath layout '(8,8):(8,1)' --divide '(4,2)'

            flashpath layout '(2,2):(1,2)' --product '(3,4):(4,1)' --kind raked

            flashpath layout '(8,64):(64,1)' --swizzle 3,3,3

            flashpath layout --mma SM80_16x8x16_F32F16F16F32_TN

            flashpath layout '((4,8),(2,2)):((32,1),(16,8))' --tile 16,8

            flashpath layout '(64,64):(64,1)' --swizzle 3,3,3 --json
        """,
        """画出一个 CuTe 布局、由它得到的布局，或一条 MMA 指令。

        网格中是每个坐标的索引，第一个 mode 为行；下面是从共享内存读取它时各个 bank 的负担。
        --compose、--divide、--product、--swizzle 按这个顺序依次进行。

        示例：

            flashpath layout '((2,4),(8,2)):((8,32),(1,16))'

            flashpath layout '(8,8):(8,1)' --compose '(4,4):(2,16)'

            flashpath layout '(8,8):(8,1)' --divide '(4,2)'

            flashpath layout '(2,2):(1,2)' --product '(3,4):(4,1)' --kind raked

            flashpath layout '(8,64):(64,1)' --swizzle 3,3,3

            flashpath layout --mma SM80_16x8x16_F32F16F16F32_TN

            flashpath layout '((4,8),(2,2)):((32,1),(16,8))' --tile 16,8

            flashpath layout '(64,64):(64,1)' --swizzle 3,3,3 --json
        """,
    ),
    "layout-text": Text(
        "shape:stride in CuTe's notation; a shape alone has its first mode fastest.",
        "CuTe 记法的 形状:步长；只写形状时第一个 mode 最快。",
    ),
    "layout-compose": Text(
        "Compose: the layout after this one, R(c) = LAYOUT(this(c)).",
        "复合：先经过这个布局，R(c) = LAYOUT(此布局(c))。",
    ),
    "layout-divide": Text(
        "Cut into tiles: 4:2 for all modes together, (4,8) or <4:2,_> mode by mode.",
        "划分为分块：4:2 作用于全部 mode，(4,8) 或 <4:2,_> 逐个 mode。",
    ),
    "layout-product": Text(
        "Repeat the layout, a block, over this one.", "把布局当作一个块，按这个布局重复。"
    ),
    "layout-kind": Text(
        "Of --divide: zipped, logical or tiled; of --product: blocked, raked or logical.",
        "--divide 可用 zipped、logical、tiled；--product 可用 blocked、raked、logical。",
    ),
    "layout-swizzle": Text("Bits, base, shift: 3,3,3.", "依次为 bits、base、shift：3,3,3。"),
    "layout-mma": Text(
        "Draw which thread holds which element of an MMA instruction; list: names all.",
        "画出一条 MMA 指令中每个元素由哪个线程持有；list：列出全部名字。",
    ),
    "layout-operand": Text(
        "Of --mma: only A, B or C; may be repeated.", "用于 --mma：只画 A、B 或 C，可重复。"
    ),
    "layout-tile": Text(
        "Rows, columns: the layout gives to (thread, value) an element of this tile.",
        "行数,列数：布局把（线程, 值）映射到这个分块的元素。",
    ),
    "layout-bits": Text("Bits of an element, for the banks.", "一个元素的位数，用于计算 bank。"),
    "layout-banks": Text("Show banks instead of indices.", "显示 bank 而不是索引。"),
    "layout-all": Text("Show every row and column, in pieces.", "分段显示所有的行与列。"),
    "layout-save": Text(
        "Write the picture to this .svg file, for light and dark pages.",
        "把图写入这个 .svg 文件，深浅两种页面都适用。",
    ),
    "layout-save-suffix": Entry(
        Text("A picture cannot be saved as {file}.", "图不能保存为 {file}。"),
        Text("Give a name that ends in .svg.", "请给出以 .svg 结尾的文件名。"),
    ),
    "layout-no-such-size": Entry(
        Text("No element has {bits:~bit}.", "没有 {bits} 位的元素。"),
        Text("Give --bits one of {known}.", "--bits 可取 {known}。"),
    ),
    "layout-nothing": Entry(
        Text("There is neither a layout nor an MMA instruction to draw.", "没有给出要画的布局或 MMA 指令。"),
        Text(
            "Give a layout, as in flashpath layout '(4,8):(8,1)', or --mma NAME; --mma list shows the names.",
            "请给出布局，例如 flashpath layout '(4,8):(8,1)'；或给出 --mma NAME，名字见 --mma list。",
        ),
    ),
    "layout-and-mma": Entry(
        Text("--mma draws an instruction, and no layout beside it.", "--mma 只画一条指令，不能同时画布局。"),
        Text("Leave out the layout and its options, or leave out --mma.", "去掉布局及其选项，或去掉 --mma。"),
    ),
    "layout-divide-or-product": Entry(
        Text("--divide and --product are both given.", "同时给出了 --divide 和 --product。"),
        Text("Do one, and start a second command from its result.", "先做一个，再用其结果执行另一条命令。"),
    ),
    "layout-kind-of-nothing": Entry(
        Text(
            "--kind {kind} is given, but neither --divide nor --product.",
            "给出了 --kind {kind}，却没有 --divide 或 --product。",
        ),
        Text("Add one of them.", "请加上其中一个。"),
    ),
    "layout-no-such-kind": Entry(
        Text("There is no kind {kind} of this operation.", "这个操作没有 {kind} 这种形式。"),
        Text("Give --kind one of {known}.", "--kind 可取 {known}。"),
    ),
    "layout-product-by-mode": Entry(
        Text(
            "A {kind} product takes one layout, not a tiler for each mode.",
            "{kind} 乘积需要一个布局，而不是逐个 mode 的 tiler。",
        ),
        Text(
            "Give a layout such as (3,4):(4,1), or --kind logical.",
            "请给出布局，例如 (3,4):(4,1)；或用 --kind logical。",
        ),
    ),
    "layout-swizzled-already": Entry(
        Text("{layout} has a swizzle already.", "{layout} 已经带有 swizzle。"),
        Text(
            "Leave out --swizzle, or give the layout without one.",
            "去掉 --swizzle，或给出不带 swizzle 的布局。",
        ),
    ),
    "layout-swizzled-tile": Entry(
        Text(
            "{layout} is no thread-value layout: it has a swizzle.",
            "{layout} 带有 swizzle，不是线程–值布局。",
        ),
        Text("Give --tile a plain layout (thread,value).", "--tile 需要普通的布局（线程,值）。"),
    ),
    "layout-no-such-operand": Entry(
        Text("There is no operand {operand}.", "没有操作数 {operand}。"),
        Text("Give --operand one of {known}.", "--operand 可取 {known}。"),
    ),
    "layout-too-large": Entry(
        Text(
            "{layout} has {size:,} elements; at most {most:,} are drawn.",
            "{layout} 有 {size:,} 个元素；最多能画 {most:,} 个。",
        ),
        Text("Draw a tile of it.", "请只画其中的一个分块。"),
    ),
    "layout-composed": Text("o {text} = {result}", "o {text} = {result}"),
    "layout-operation": Text("{name} by {text} = {result}", "{name} {text} = {result}"),
    "layout-swizzled": Text("swizzled: {result}", "swizzle 之后：{result}"),
    "layout-facts": Text(
        "size {size:,}, cosize {cosize:,}, rank {rank}: {reached}.",
        "size {size:,}，cosize {cosize:,}，rank {rank}：{reached}。",
    ),
    "layout-bijective": Text("every index from 0 to {last:,} once", "0 到 {last:,} 的每个索引恰好一次"),
    "layout-gaps": Text(
        "no index twice, and {gaps:,} between 0 and {last:,} left out",
        "没有重复的索引，0 到 {last:,} 之间空出 {gaps:,} 个",
    ),
    "layout-shared": Text(
        "only {different:,} different indices, some coordinates share one",
        "只有 {different:,} 个不同的索引，有些坐标共用同一个",
    ),
    "layout-tile-facts": Text(
        "{threads:~thread} with {values:~value} each, on a tile of {rows} × {columns}.",
        "{threads} 个线程，每个持有 {values} 个值，分块为 {rows} × {columns}。",
    ),
    "layout-mma-facts": Text(
        "D ({m}×{n}, {d}) = A ({m}×{k}, {a}) · B ({k}×{n}, {b}) + C ({m}×{n}, {c}), by {threads:~thread}. "
        "T is the thread, V its value.",
        "D（{m}×{n}，{d}）= A（{m}×{k}，{a}）· B（{k}×{n}，{b}）+ C（{m}×{n}，{c}），由 {threads} 个线程完成。"
        "T 是线程，V 是它的第几个值。",
    ),
    "layout-quad-pair": Text(
        "A warp does four of these at once; lanes {lanes} do the one that is drawn.",
        "一个 warp 同时做四个；图中是 lane {lanes} 做的那个。",
    ),
    "layout-in-shared": Text(
        "{operands}: read from shared memory through a descriptor; no thread holds it.",
        "{operands}：通过描述符从共享内存读取，不在任何线程的寄存器里。",
    ),
    "layout-bank-title": Text(
        "Read from shared memory, how many words each bank gives to the worst warp:",
        "从共享内存读取时，最差的 warp 要每个 bank 给出几个字：",
    ),
    "layout-by-columns": Text("by columns", "逐列"),
    "layout-by-rows": Text("by rows", "逐行"),
    "layout-conflicts": Text(
        "{ways}-way: {passes:~pass/passes}, {least} would do",
        "{ways} 路 bank 冲突：{passes} 趟，{least} 趟即可",
    ),
    "layout-no-conflicts": Text("no conflict: {passes:~pass/passes}", "无冲突：{passes} 趟"),
    "layout-cut": Text(
        "… {rows} rows, {columns} columns: --all shows all of them, --save draws them.",
        "…… 共 {rows} 行、{columns} 列：--all 全部显示，--save 画成图。",
    ),
    # ---- explain-dispatch ------------------------------------------------------------------------------
    "explain-dispatch-help": Text(
        """Say which rung answers a call of an operator, for each direction, and why it is that one.

        No GPU is needed: name one. Attention goes by the nearest problem that was measured on such a GPU, by
        dimension and length; decoding by the bytes of the cache and the batch; where none was measured, the
        GPU's instructions decide. Batch and heads of a measured problem stand beside its times. What the
        operator refuses is refused here in the same words. softcap, ALiBi, sinks and dropout change nothing of
        the choice. `python benchmarks/dispatch_table.py` makes the table of what was measured.

        Examples:

            flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

            flashpath explain-dispatch attention --shape 1 512 8 256 --device sm_86 --json

            flashpath explain-dispatch decode --shape 8 8192 32 128 --kv-heads 8 --page-size 16 --device H200

            flashpath explain-dispatch matmul --shape 4096 4096 4096 --dtype bfloat16 --device H200

            flashpath explain-dispatch softmax --shape 64 131072 --device A100
        """,
        """说明一次算子调用由哪个梯级执行（前向、反向分别说明），以及为什么选它。

        不需要 GPU：指定一块即可。注意力按维度和长度取这种 GPU 上实测过的最接近的问题；解码按缓存字节数和批大小；
        没有实测数据时由 GPU 的指令决定。实测问题的批大小和头数列在时间旁边。算子会拒绝的调用，这里用同样的话拒绝。
        softcap、ALiBi、sink 和 dropout 不影响选择。`python benchmarks/dispatch_table.py` 生成实测数据表。

        示例：

            flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

            flashpath explain-dispatch attention --shape 1 512 8 256 --device sm_86 --json

            flashpath explain-dispatch decode --shape 8 8192 32 128 --kv-heads 8 --page-size 16 --device H200

            flashpath explain-dispatch matmul --shape 4096 4096 4096 --dtype bfloat16 --device H200

            flashpath explain-dispatch softmax --shape 64 131072 --device A100
        """,
    ),
    "explain-dispatch-operator": Text(
        "An operator of flashpath.ops, such as attention, softmax or matmul; decode is attention_decode.",
        "flashpath.ops 里的算子，如 attention、softmax、matmul；decode 即 attention_decode。",
    ),
    "explain-dispatch-shape": Text(
        "The sizes of the call. Of attention: of q, and of k and v unless said otherwise; of attention_varlen, "
        "so many sequences of this length; of attention_decode, the sequence is what the cache has. Of others "
        "see the message that `--shape 0` gets.",
        "调用的大小。attention：q 的大小，k 和 v 默认与它相同；attention_varlen：这么多条这样长的序列；"
        "attention_decode：序列长度指缓存里的键数。其他算子可用 `--shape 0` 查看格式。",
    ),
    "explain-dispatch-keys": Text(
        "Tokens of k and v, if not as many as of q.", "k 和 v 的 token 数，默认与 q 相同。"
    ),
    "explain-dispatch-kv-heads": Text("Heads of k and v, if fewer.", "k 和 v 的头数，可以少于 q。"),
    "explain-dispatch-v-dim": Text("The dimension of v's heads, if another.", "v 的头维度，默认与 q 相同。"),
    "explain-dispatch-queries": Text(
        "Of attention_decode: queries of the step, 1 by default.",
        "attention_decode：这一步的查询数，默认 1。",
    ),
    "explain-dispatch-page-size": Text(
        "Of attention_decode: keys of a page of the cache.", "attention_decode：缓存每页的键数。"
    ),
    "explain-dispatch-causal": Text("A query sees no key behind its place.", "查询看不到它之后的键。"),
    "explain-dispatch-window": Text(
        "Keys to the left and right that are seen; -1: all.", "左右各能看到多少个键；-1 表示不限。"
    ),
    "explain-dispatch-score-mod": Text(
        "Languages a ScoreMod is given in: triton, or cuda,triton,torch.",
        "ScoreMod 提供了哪些语言的实现：triton，或 cuda,triton,torch。",
    ),
    "explain-dispatch-dtype": Text(
        "The type of the tensors: float32, but bfloat16 of attention.",
        "张量类型：默认 float32，注意力默认 bfloat16。",
    ),
    "explain-dispatch-backend": Text(
        "As a call of attention would give it: triton, cuda or reference.",
        "与注意力调用的参数相同：triton、cuda 或 reference。",
    ),
    "explain-dispatch-device": Text(
        "sm_90, H200, cuda or cpu; by default the GPU, if there is one.",
        "sm_90、H200、cuda 或 cpu；默认用本机的 GPU（如果有）。",
    ),
    "explain-dispatch-wrong-dtype": Entry(
        Text("--dtype is {given!r}.", "--dtype 是 {given!r}。"),
        Text("It is one of {known}.", "可选：{known}。"),
    ),
    "explain-dispatch-foreign": Entry(
        Text("{option} is of {operator}.", "{option} 只用于 {operator}。"),
        Text("Leave it out.", "请去掉它。"),
    ),
    "explain-dispatch-unmeasured": Text(
        "Nothing was measured on such a GPU: python benchmarks/compare_all.py measures one.",
        "没有这种 GPU 的实测数据：可以用 python benchmarks/compare_all.py 测一遍。",
    ),
    "explain-dispatch-no-operator": Entry(
        Text("There is no choice to explain of {name!r}.", "没有可以说明的选择：{name!r}。"),
        Text("It explains {known}. {more}", "可以说明：{known}。{more}"),
    ),
    "explain-dispatch-did-you-mean": Text("Did you mean {name}?", "你是想输入 {name} 吗？"),
    "explain-dispatch-rungs-of": Text(
        "flashpath ladder {name} shows the rungs there are.", "flashpath ladder {name} 列出它的梯级。"
    ),
    "explain-dispatch-all-ladders": Text(
        "flashpath ladder lists all ladders.", "flashpath ladder 列出所有阶梯。"
    ),
    "explain-dispatch-wrong-languages": Entry(
        Text("--score-mod is {given!r}.", "--score-mod 是 {given!r}。"),
        Text(
            "It takes the languages that the ScoreMod has a form for: {known}.",
            "请给出 ScoreMod 提供了实现的语言：{known}。",
        ),
    ),
    "explain-dispatch-wrong-shape": Entry(
        Text("--shape is {given!r}.", "--shape 是 {given!r}。"),
        Text(
            "It takes {count} of 1 or more, {words}, such as --shape {example}.",
            "请给出 {count}（不小于 1）：{words}，例如 --shape {example}。",
        ),
    ),
    "explain-dispatch-too-large": Entry(
        Text("--shape {given} is larger than any GPU.", "--shape {given} 超过了任何 GPU 的容量。"),
        Text("Give the shape of a tensor that exists.", "请给出实际存在的张量的形状。"),
    ),
    "explain-dispatch-one-number": Text("a whole number", "一个整数"),
    "explain-dispatch-two-numbers": Text("two whole numbers", "两个整数"),
    "explain-dispatch-three-numbers": Text("three whole numbers", "三个整数"),
    "explain-dispatch-four-numbers": Text("four whole numbers", "四个整数"),
    "explain-dispatch-nearest": Text("The nearest that were measured", "实测过的最接近的问题"),
    "explain-dispatch-direction": Text("direction", "方向"),
    "explain-dispatch-problem": Text("problem", "问题"),
    "explain-dispatch-fastest": Text("fastest", "最快"),
    "explain-dispatch-decides": Text("this one decides", "由它决定"),
    "explain-dispatch-run": Text("Measured with {run}.", "实测环境：{run}。"),
    "explain-dispatch-way": Text(
        "{name:<8}  {backend} ({rung}): {why}.", "{name:<8}  {backend}（{rung}）：{why}。"
    ),
    "explain-dispatch-refused": Text("refused: {problem}", "会被拒绝：{problem}"),
    "explain-dispatch-too-many": Entry(
        Text("{what}", "{what}"),
        Text(
            "{fix} Here --device names the GPU: --device H200.",
            "{fix} 这里可以用 --device 指定 GPU：--device H200。",
        ),
    ),
    "explain-dispatch-one-kernel": Text(
        "there is one kernel, which is not a rung of a ladder", "只有一个核函数，它不属于任何阶梯"
    ),
    "explain-dispatch-call": Text("{operator} of {tensors}, {how}", "{operator}：{tensors}，{how}"),
    "explain-dispatch-steps": Text(
        "attention_decode of q {shape} with {keys:,} keys of {heads} heads, {layout}, {how}",
        "attention_decode：q {shape}，{heads} 个键值头、每条序列 {keys:,} 个键，{layout}，{how}",
    ),
    "explain-dispatch-how": Text("{features}, on {gpu}", "{features}，在 {gpu} 上"),
    "explain-dispatch-windowed": Text("window ({left}, {right})", "窗口（{left}, {right}）"),
    "explain-dispatch-modded": Text("a score_mod in {languages}", "score_mod（{languages}）"),
}
