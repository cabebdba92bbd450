"""What the benchmark lab says: its errors, its verdicts on results, and the headings of its tables."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- results that do not agree -------------------------------------------------------------------
    "none-returned": Text(
        "it returned None: return the result, so that it can be compared",
        "它返回了 None：请返回结果，才能比较",
    ),
    "results-count": Text(
        "it returned {count} results, but {name!r} returned {expected}",
        "它返回了 {count} 个结果，而 {name!r} 返回了 {expected} 个",
    ),
    "result-number": Text("result {index}", "第 {index} 个结果"),
    "result": Text("the result", "结果"),
    "result-shape": Text(
        "{which} has shape {shape}, but {name!r} returned {expected}",
        "{which}的形状是 {shape}，而 {name!r} 返回的是 {expected}",
    ),
    "result-dtype": Text(
        "{which} is of dtype {dtype}, but {name!r} returned {expected}",
        "{which}的 dtype 是 {dtype}，而 {name!r} 返回的是 {expected}",
    ),
    "result-differs": Text(
        "{which} differs from {name!r} in {count:,} of {elements:,} elements, first at {first}: got {got}, expected {expected} (tolerance {tolerance:g} for {dtype})",
        "{which}与 {name!r} 不同：{elements:,} 个元素中有 {count:,} 个，第一个在 {first}：得到 {got}，应为 {expected}（{dtype} 的容差是 {tolerance:g}）",
    ),
    "refused": Text("{what}: {why}", "{what}：{why}"),
    "wrong-result": Text("wrong result", "结果错误"),
    "wrong-result-new": Text("wrong result on new data", "在新数据上结果错误"),
    "check-silent": Text("the check says no more", "检查没有说明原因"),
    "check-false": Text("the check returned False", "检查返回了 False"),
    "result-kept": Text("it returned the result of the data before", "它返回的是旧数据的结果"),
    "case-not-made": Text(
        "the arguments of the case {case!r} could not be made: {why}", "无法生成问题 {case!r} 的参数：{why}"
    ),
    "changes-inputs": Text(
        "it changes its inputs (argument {argument}), on which the others are timed too: work on a copy",
        "它改动了输入（参数 {argument}），而其他实现还要用它计时：请在副本上运算",
    ),
    "faster-than-memory": Text(
        "it returned after {seconds}; memory alone needs at least {least} for what the case reads and writes: "
        "the work was not done",
        "它 {seconds} 就返回了，而仅仅读写这个问题的数据，内存就至少需要 {least}：它没有做应做的运算",
    ),
    "less-exact": Text("less exact than a rung may be: {why}", "精度低于对梯级的要求：{why}"),
    "out-of-memory": Text("out of memory", "内存不足"),
    "out-of-memory-for": Text("out of memory: {size} more were asked for", "内存不足：还需要 {size}"),
    "triton-wants-gpu": Entry(
        Text(
            "needs a GPU: it launches a Triton kernel, and Triton finds none here",
            "需要 GPU：它启动 Triton 核函数，而 Triton 在这里没有找到 GPU",
        ),
        Text(
            "Without one, count what it moves: `with flashpath.vgpu.triton(profile=True)` around the call.",
            "没有 GPU 时可以统计它的访存：在 `with flashpath.vgpu.triton(profile=True)` 之内调用它。",
        ),
    ),
    "interrupted": Text("interrupted before it was timed", "在计时之前被中断"),
    "no-time": Text("no time was measured", "没有测得时间"),
    "on-a-copy": Text("{name} on a copy", "{name}（在副本上）"),
    # ---- tables --------------------------------------------------------------------------------------
    "column-implementation": Text("implementation", "实现"),
    "column-language": Text("language", "语言"),
    "column-median": Text("median", "中位数"),
    "column-spread": Text("p20 … p80", "p20 … p80"),
    "column-eager": Text("eager call", "即时调用"),
    "column-gb": Text("GB/s", "GB/s"),
    "column-tflop": Text("TFLOP/s", "TFLOP/s"),
    "column-peer": Text("× best peer", "× 最快对照"),
    "column-ceiling": Text("ceiling", "实测上限"),
    "column-memory": Text("peak memory", "峰值内存"),
    "column-distance": Text("off by", "误差"),
    "column-method": Text("timed by", "计时方式"),
    "method-known-share": Text("its known share of copy bandwidth", "按已知的拷贝带宽占比推算"),
    "method-eager": Text("eager calls in a row", "连续的 eager 调用"),
    "method-cpu": Text("perf_counter, warm caches", "perf_counter，热缓存"),
    "method-graph": Text("graph replay, cold L2", "重放 CUDA 图，冷 L2"),
    "method-events": Text("events, cold L2", "事件，冷 L2"),
    "method-events-no-graph": Text(
        "events, cold L2; includes launch gaps, no graph: {why}",
        "事件，冷 L2；含启动间隙，没有 CUDA 图：{why}",
    ),
    "column-lines": Text("lines", "行数"),
    "column-hours": Text("hours", "小时"),
    "column-archs": Text("compiles for", "可编译的架构"),
    "column-readable": Text("readable", "可读性"),
    "column-debuggable": Text("debuggable", "可调试性"),
    "score": Text("{what} {value} ({reason})", "{what} {value}（{reason}）"),
    "scores": Text("{name}: {scores}", "{name}：{scores}"),
    "failed": Text("failed", "失败"),
    "skipped": Text("skipped", "跳过"),
    "of-ceiling": Text("{fraction:.0%} of {ceiling}", "{ceiling} 的 {fraction:.0%}"),
    "peer": Text(" (peer)", "（对照）"),
    "beside-speed": Text("beside speed", "速度之外"),
    # ---- errors --------------------------------------------------------------------------------------
    "no-such-device": Entry(
        Text(
            "A benchmark runs on 'cuda' or 'cpu', not on {device!r}.",
            "基准测试在 'cuda' 或 'cpu' 上运行，不能在 {device!r} 上运行。",
        ),
        Text(
            "To choose among several GPUs, set CUDA_VISIBLE_DEVICES before Python starts.",
            "要在多块 GPU 中选择，请在启动 Python 之前设置 CUDA_VISIBLE_DEVICES。",
        ),
    ),
    "no-gpu": Entry(
        Text(
            "The benchmark was asked to run on 'cuda', but torch finds no GPU here.",
            "要求在 'cuda' 上运行基准测试，但 torch 在这里找不到 GPU。",
        ),
        Text(
            "Leave the device out to time on the CPU, or check `nvidia-smi` and that torch is a CUDA build.",
            "不指定设备即可在 CPU 上计时；或检查 `nvidia-smi`，以及 torch 是否带 CUDA。",
        ),
    ),
    "no-batch": Entry(
        Text(
            "The record of {case!r} does not say its batch and heads.",
            "{case!r} 的记录没有写明 batch 和头数。",
        ),
        Text(
            "Cases of the attention ladder are named BATCH × SEQUENCE × HEADS × DIM.",
            "attention 阶梯的问题以 BATCH × SEQUENCE × HEADS × DIM 命名。",
        ),
    ),
    "no-capability": Entry(
        Text("The compute capability of {gpu!r} is not known here.", "不知道 {gpu!r} 的计算能力。"),
        Text("Give it: --capability 9.0.", "请给出：--capability 9.0。"),
    ),
    "implementations-unnamed": Entry(
        Text(
            "The implementations are {kind}, but each needs a name.",
            "实现的类型是 {kind}，但每个实现都要有名字。",
        ),
        Text('Pass a dict such as {{"mine": my_function}}.', '请传入 dict，如 {{"mine": my_function}}。'),
    ),
    "peers-kind": Entry(
        Text(
            "The peers are {peers}, which is neither a dict nor a list of names.",
            "对照是 {peers}，既不是 dict，也不是名字的列表。",
        ),
        Text(
            'Pass {{"library": function}}, or ["name"] of an implementation that is given already.',
            '请传入 {{"library": function}}，或已给出的实现的名字 ["name"]。',
        ),
    ),
    "peer-twice": Entry(
        Text("{name!r} is both an implementation and a peer.", "{name!r} 既是实现又是对照。"),
        Text("Give one of them another name.", "请给其中一个换个名字。"),
    ),
    "peer-unknown": Entry(
        Text("The peer {name!r} is not among the implementations.", "对照 {name!r} 不在所给的实现之中。"),
        Text("Those given are: {names}", "所给的有：{names}"),
    ),
    "none": Text("none", "没有"),
    "nothing-to-compare": Entry(
        Text(
            "There is nothing to compare: no implementations were given.", "没有可比较的：没有给出任何实现。"
        ),
        Text(
            'Pass at least one, such as {{"mine": my_function}}.',
            '请至少给出一个，如 {{"mine": my_function}}。',
        ),
    ),
    "not-callable": Entry(
        Text(
            "The implementation {name!r} is {kind}, which cannot be called.",
            "实现 {name!r} 的类型是 {kind}，不能调用。",
        ),
        Text(
            "Pass the function itself, without calling it: f, not f(x).",
            "请传入函数本身，不要调用：写 f，不写 f(x)。",
        ),
    ),
    "no-time-span": Entry(
        Text("seconds is {seconds}, which is no length of time.", "seconds 是 {seconds}，不是时长。"),
        Text("Pass a number, such as seconds=0.5.", "请给出一个数，如 seconds=0.5。"),
    ),
    "eager-without-gpu": Entry(
        Text(
            "Eager calls are timed on a GPU, and this run is on a CPU.",
            "即时调用在 GPU 上计时，而这次运行在 CPU 上。",
        ),
        Text("Leave --eager out, or eager=False.", "请去掉 --eager，即 eager=False。"),
    ),
    "no-picture": Entry(
        Text("{file} is no picture that can be drawn.", "{file} 不是能画出的图片格式。"),
        Text("Name a file that ends in {formats}.", "请给出以 {formats} 结尾的文件。"),
    ),
    "nothing-to-draw": Text(
        "There is nothing to draw: no implementation has a time.", "没有可画的：没有一个实现有时间。"
    ),
    "nothing-to-draw-of": Text(
        "There is nothing to draw: no implementation has a value for {label}.",
        "没有可画的：没有一个实现有 {label} 的值。",
    ),
    "no-sample": Text(
        "The ladder {ladder!r} has no sample for the virtual GPU.",
        "阶梯 {ladder!r} 没有供虚拟 GPU 使用的小问题。",
    ),
    "no-cases": Entry(
        Text("There is nothing to run: no cases were given.", "没有可运行的：没有给出任何问题。"),
        Text(
            'Pass flashpath.bench.Case objects, or ready arguments such as {{"1M floats": (a, b)}}.',
            '请传入 flashpath.bench.Case 的列表，或现成的参数，如 {{"1M floats": (a, b)}}。',
        ),
    ),
    "case-elsewhere": Entry(
        Text(
            "The arguments of the case {case!r} are on {home!r}, but the benchmark runs on {device!r}.",
            "问题 {case!r} 的参数在 {home!r} 上，而基准测试在 {device!r} 上运行。",
        ),
        Text("Move its tensors with .to({device!r}).", "请用 .to({device!r}) 移动它的张量。"),
    ),
    "cases-kind": Entry(
        Text("The cases are {kind}, not a list of cases.", "问题的类型是 {kind}，不是问题的列表。"),
        Text(
            'Pass a list of flashpath.bench.Case, or ready arguments such as {{"1M floats": (a, b)}}.',
            '请传入 flashpath.bench.Case 的列表，或现成的参数，如 {{"1M floats": (a, b)}}。',
        ),
    ),
    "case-kind": Entry(
        Text("One of the cases is {kind}, not a Case.", "其中一个问题的类型是 {kind}，不是 Case。"),
        Text(
            'Pass a list of flashpath.bench.Case, or ready arguments such as {{"1M floats": (a, b)}}.',
            '请传入 flashpath.bench.Case 的列表，或现成的参数，如 {{"1M floats": (a, b)}}。',
        ),
    ),
    "wants-list": Entry(
        Text(
            "{option} takes a list, not one alone: {option}={given}.",
            "{option} 应是列表，不能只给一个：{option}={given}。",
        ),
        Text("Write {option}=[{given}].", "请写 {option}=[{given}]。"),
    ),
    "not-a-ladder": Entry(
        Text("bench_ladder takes a ladder, not {given}.", "bench_ladder 需要一个阶梯，而不是 {given}。"),
        Text("Pass flashpath.kernels.ladder({given}).", "请传入 flashpath.kernels.ladder({given})。"),
    ),
    "extra-unnamed": Entry(
        Text("extra is {kind}, but names are needed too.", "extra 的类型是 {kind}，但还需要名字。"),
        Text('Write {{"mine": my_function}}.', '请写 {{"mine": my_function}}。'),
    ),
    "no-peer": Entry(
        Text("The ladder {ladder!r} has no peer {peer!r} here.", "阶梯 {ladder!r} 在这里没有对照 {peer!r}。"),
        Text("Those that can be imported: {names}", "可以导入的有：{names}"),
    ),
    "no-case": Entry(
        Text("The ladder {ladder!r} has no case {case!r}.", "阶梯 {ladder!r} 没有问题 {case!r}。"),
        Text(
            "{near}flashpath bench {ladder} --list shows all {count}.",
            "{near}`flashpath bench {ladder} --list` 列出全部 {count} 个。",
        ),
    ),
    "case-near": Text("Did you mean {name}? ", "你是不是想说 {name}？"),
    "cases-nearest": Text(
        """The nearest are{lines}
    """,
        """最接近的是{lines}
    """,
    ),
    "cases-all": Text(
        """Its cases are{lines}
    """,
        """它的问题是{lines}
    """,
    ),
    "cases-first": Text(
        """Its first cases are{lines}
    """,
        """它的前几个问题是{lines}
    """,
    ),
    "needs-gpu": Text("needs a GPU", "需要 GPU"),
    "needs-arch": Text("needs a GPU of {arch} or newer", "需要 {arch} 或更新的 GPU"),
    "needs-arch-alone": Text("needs a GPU of {arch}", "需要 {arch} 的 GPU"),
    "wrong-arch": Text(
        "needs {arch}, and this GPU is sm_{capability}", "需要 {arch}，而这块 GPU 是 sm_{capability}"
    ),
    "tuned-case-not-made": Entry(
        Text(
            "The arguments of the case {case!r} could not be made: {why}",
            "无法生成问题 {case!r} 的参数：{why}",
        ),
        Text("Name a smaller --size or another --case.", "请给出更小的 --size，或换一个 --case。"),
    ),
    "is-folder": Entry(
        Text("{path} is a folder.", "{path} 是一个目录。"),
        Text("Name a file in it, such as results.jsonl.", "请给出其中的文件，如 results.jsonl。"),
    ),
    "not-a-folder": Entry(
        Text(
            "{folder} is no folder, so {file} cannot be written there.",
            "{folder} 不是目录，无法在那里写 {file}。",
        ),
        Text("mkdir -p {folder}", "mkdir -p {folder}"),
    ),
    "no-folder": Entry(
        Text(
            "There is no folder {folder}, so {file} cannot be written there.",
            "没有目录 {folder}，无法在那里写 {file}。",
        ),
        Text("mkdir -p {folder}", "mkdir -p {folder}"),
    ),
    "cannot-write": Entry(
        Text("{path} cannot be written: {why}.", "无法写入 {path}：{why}。"),
        Text("Name a file in a folder of your own.", "请给出你自己目录中的文件。"),
    ),
    "whole-run": Entry(
        Text(
            "{path} holds a whole run as one JSON document, to which no record can be added.",
            "{path} 是一次完整运行的 JSON 文档，不能再追加记录。",
        ),
        Text("Name another file, such as results.jsonl.", "请换一个文件，如 results.jsonl。"),
    ),
    "records-not-written": Entry(
        Text("The records could not be written to {path}: {why}.", "无法把记录写入 {path}：{why}。"),
        Text(
            "Name a file that can be written, on a disk with space left.", "请给出可写的、磁盘有空间的文件。"
        ),
    ),
    "disk-full": Entry(
        Text(
            "Only {written} of {count} bytes could be written to {path}.",
            "{count} 字节中只有 {written} 字节写入了 {path}。",
        ),
        Text("Free some disk space; the file was left as it was.", "请腾出磁盘空间；文件保持原样。"),
    ),
    "no-records": Entry(
        Text("There is no file {path}.", "没有文件 {path}。"),
        Text("Run a benchmark first; it writes its records there.", "请先运行基准测试，它会把记录写在那里。"),
    ),
    "cannot-read": Entry(
        Text("{path} cannot be read: {why}.", "无法读取 {path}：{why}。"),
        Text("Name a file of records.", "请给出记录文件。"),
    ),
    "not-utf8": Entry(
        Text(
            "{path} is not UTF-8 text: byte {byte} cannot be read.",
            "{path} 不是 UTF-8 文本：第 {byte} 个字节无法读取。",
        ),
        Text(
            "Name a file that a benchmark wrote; it is not compressed.",
            "请给出基准测试写出的文件；它不是压缩的。",
        ),
    ),
    "not-a-run": Entry(
        Text("{path} is no whole run of a benchmark: {why}", "{path} 不是一次完整的基准测试运行：{why}"),
        Text(
            "Take the run over anew: python benchmarks/report.py --run <gpu>.jsonl",
            "请重新导入：python benchmarks/report.py --run <gpu>.jsonl",
        ),
    ),
    "record-no-object": Text(
        "it should be a JSON object, but is {value!r}", "应为 JSON 对象，却是 {value!r}"
    ),
    "record-part-no-object": Text(
        "{name} should be a JSON object, but is {value!r}", "{name} 应为 JSON 对象，却是 {value!r}"
    ),
    "record-unknown-field": Text("it has an unknown field {name!r}", "有未知的字段 {name!r}"),
    "record-field-type": Text(
        "{name} should be {expected}, but is {value}", "{name} 应为 {expected}，却是 {value}"
    ),
    "record-in-case": Text(
        "{name!r} in the case {case!r} of {ladder!r}: {why}",
        "{ladder!r} 的问题 {case!r} 中的 {name!r}：{why}",
    ),
    "lacks": Text("it lacks {what}", "缺少 {what}"),
    "not-a-record": Entry(
        Text(
            "{path}, line {line}, is no benchmark record: {why}",
            "{path} 第 {line} 行不是基准测试的记录：{why}",
        ),
        Text("Repair or delete that line.", "请修复或删除这一行。"),
    ),
    "not-a-function-name": Entry(
        Text(
            "{given!r} does not say which function of which file.", "{given!r} 没有写明哪个文件的哪个函数。"
        ),
        Text(
            "Write FILE.py:function, such as softmax.py:my_softmax.",
            "请写 FILE.py:function，如 softmax.py:my_softmax。",
        ),
    ),
    "no-file": Entry(Text("There is no file {file}.", "没有文件 {file}。"), Text("{near}", "{near}")),
    "no-folder-either": Text("The folder {folder} does not exist either.", "目录 {folder} 也不存在。"),
    "folder-holds": Text("Its folder holds: {names}", "该目录中的 Python 文件：{names}"),
    "no-function": Entry(
        Text("{file} has no function {name!r}.", "{file} 中没有函数 {name!r}。"), Text("{near}", "{near}")
    ),
    "not-a-function": Entry(
        Text("{file} defines something that is no function: {name!r}.", "{file} 中的 {name!r} 不是函数。"),
        Text("{near}", "{near}"),
    ),
    "file-defines": Text("The file defines: {names}", "该文件定义了：{names}"),
    "not-python": Entry(
        Text("{file} is no Python file.", "{file} 不是 Python 文件。"),
        Text("Its name must end in .py.", "文件名必须以 .py 结尾。"),
    ),
    "import-failed": Entry(
        Text("{file} failed while it was imported{where}\n{why}", "导入 {file} 时出错{where}\n{why}"),
        Text("Run `python {file}` to see it alone.", "单独运行可看到同样的错误：`python {file}`。"),
    ),
    "at-line": Text(", line {line}:\n    {code}", "，第 {line} 行：\n    {code}"),
    "at-line-in": Text(", line {line}, in {name}:\n    {code}", "，第 {line} 行，在 {name} 中：\n    {code}"),
    # ---- machines ------------------------------------------------------------------------------------
    "commit": Text("commit {commit}", "提交 {commit}"),
    "commit-changed": Text("commit {commit} with changes", "提交 {commit}（有改动）"),
    "clocks": Text("SM at {mhz:.0f} MHz", "SM 频率 {mhz:.0f} MHz"),
    "driver": Text("driver {version}", "驱动 {version}"),
    # ---- Nsight --------------------------------------------------------------------------------------
    "nsight-missing": Text(
        "{tool} was not found on PATH, in a CUDA toolkit or in /opt/nvidia; it gives {gives}.",
        "PATH、CUDA 工具包和 /opt/nvidia 中都没有 {tool}；它能给出{gives}。",
    ),
    "nsight-install": Text(
        "Install {product} (`flashpath doctor` has the command), or put the folder of it on PATH.",
        "请安装 {product}（命令见 `flashpath doctor`），或把它所在的目录加入 PATH。",
    ),
    "nsight-ncu-gives": Text("stalls, achieved bandwidth and occupancy", "停顿原因、实际带宽和占用率"),
    "nsight-nsys-gives": Text(
        "the timeline, and the times of the program's own run", "时间线，以及程序本身运行的时间"
    ),
    "nsight-other-shape": Text(
        "{name}, launch {number} of it: grid {grid}, block {block} on the virtual GPU, grid {other_grid}, block {other_block} {where}; it is compared up to there",
        "{name} 的第 {number} 次启动：虚拟 GPU 上网格 {grid}、线程块 {block}，{where}网格 {other_grid}、线程块 {other_block}；只比较到这里",
    ),
    "nsight-other-count": Text(
        "{name}: {here} on the virtual GPU, {there} {where}", "{name}：虚拟 GPU 上{here}，{where}{there}"
    ),
    "nsight-never": Text("never launched", "没有启动"),
    "nsight-once": Text("launched once", "启动 1 次"),
    "nsight-times": Text("launched {count:,} times", "启动 {count:,} 次"),
    "nsight-ncu-ended": Text(
        "ncu was ended before the program's end: it measured nothing.",
        "ncu 在程序结束前被终止，没有测到任何东西。",
    ),
    "nsight-counters-locked": Text(
        "ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): they are the administrator's here.",
        "ncu 无权读取这块 GPU 的计数器（ERR_NVGPUCTRPERM）：它们只对管理员开放。",
    ),
    "nsight-unlock-counters": Text(
        "Run it as root, or let everyone read them: echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf && sudo reboot. A container needs --cap-add=SYS_ADMIN.",
        "请以 root 运行，或对所有人开放：echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/nvidia-profiling.conf && sudo reboot。容器需要 --cap-add=SYS_ADMIN。",
    ),
    "nsight-launch-failed": Text(
        "A kernel failed, or cannot be run again: `flashpath sanitize` finds faults.",
        "有核函数出错或无法重复运行：用 `flashpath sanitize` 查找错误。",
    ),
    "nsight-silent": Text("it said nothing", "它没有给出任何信息"),
    "nsight-ncu-did-not-run": Text("ncu did not run the program: {why}", "ncu 没有运行程序：{why}"),
    "nsight-nsys-ended": Text(
        "nsys was ended before the program's end: there is no timeline.",
        "nsys 在程序结束前被终止，没有时间线。",
    ),
    "nsight-no-report": Text("nsys made no report: {why}", "nsys 没有生成报告：{why}"),
    "nsight-systems-itself": Text(
        "The nsys inside Nsight Compute cannot; install Nsight Systems itself.",
        "Nsight Compute 自带的 nsys 做不到；请安装 Nsight Systems 本身。",
    ),
    "nsight-unreadable": Text(
        "What nsys exported cannot be read: {why}.", "无法读取 nsys 导出的内容：{why}。"
    ),
    "nsight-not-started": Text("{program} cannot be started: {why}.", "无法启动 {program}：{why}。"),
    "nsight-stall-barrier": Text(
        "at __syncthreads(), for the other warps of the block", "在屏障处等待线程块的其他 warp"
    ),
    "nsight-stall-branch-resolving": Text(
        "for a jump to be worked out: many short branches", "等待跳转目标算出：短分支太多"
    ),
    "nsight-stall-dispatch-stall": Text(
        "for the dispatcher, which held an instruction back", "等待分派器：它扣住了一条指令"
    ),
    "nsight-stall-drain": Text("at its end, for its last stores to leave", "在结尾等待最后的存储完成"),
    "nsight-stall-gmma": Text(
        "for the tensor cores' asynchronous products (wgmma)", "等待 tensor core 的异步乘法（wgmma）"
    ),
    "nsight-stall-imc-miss": Text(
        "for a constant that was not in its cache, such as a kernel's parameter at first use",
        "等待不在缓存中的常量，例如首次用到的核函数参数",
    ),
    "nsight-stall-lg-throttle": Text(
        "for room in the queue of global and local accesses: too many small ones at once",
        "等待全局与本地访存队列的空位：同时的小访问太多",
    ),
    "nsight-stall-long-scoreboard": Text(
        "for data from global or local memory: more warps or more loads in flight hide it",
        "等待全局或局部内存的数据：更多 warp 或更多在途加载可以掩盖它",
    ),
    "nsight-stall-math-pipe-throttle": Text(
        "for an arithmetic unit that is busy: that unit is what bounds it",
        "等待忙碌的运算单元：瓶颈就是这个单元",
    ),
    "nsight-stall-membar": Text(
        "at a memory fence, for its earlier accesses to be seen", "在内存栅栏处等待此前的访存可见"
    ),
    "nsight-stall-mio-throttle": Text(
        "for room in the queue of shared memory and special functions: fewer, wider accesses",
        "等待共享内存与特殊函数队列的空位：用更少、更宽的访问",
    ),
    "nsight-stall-misc": Text("for something else", "等待其他事情"),
    "nsight-stall-no-instruction": Text(
        "for its next instruction to be fetched: a start, a jump, or long code",
        "等待取下一条指令：刚启动、跳转，或代码太长",
    ),
    "nsight-stall-not-selected": Text(
        "although ready: another warp was taken, so there are warps enough",
        "已就绪，但选中了另一个 warp：warp 已经够多",
    ),
    "nsight-stall-short-scoreboard": Text(
        "for shared memory or a special function: look at bank conflicts",
        "等待共享内存或特殊函数：检查 bank 冲突",
    ),
    "nsight-stall-sleeping": Text("in __nanosleep()", "在休眠：它自己调用了 nanosleep"),
    "nsight-stall-tex-throttle": Text("for room in the queue of textures", "等待纹理队列的空位"),
    "nsight-stall-wait": Text(
        "a fixed time between two dependent instructions: independent ones in between hide it",
        "两条相关指令之间的固定间隔：插入无关的指令可以掩盖它",
    ),
    "nsight-stall-warpgroup-arrive": Text(
        "for the other warps of its group before a wgmma", "在 wgmma 之前等待同组的其他 warp"
    ),
    "nsight-stall-unknown": Text(
        "a reason of this GPU that is not described here", "这种 GPU 特有的原因，这里没有说明"
    ),
    # ---- Programs under benchmarks/ --------------------------------------------------------------------
    "no-such-implementation": Entry(
        Text("There is no implementation {name!r}.", "没有实现 {name!r}。"),
        Text("There are: {names}.", "可选：{names}。"),
    ),
    "peer-not-importable": Entry(
        Text(
            "There is no implementation {name!r}. Its module {module} cannot be imported.",
            "没有实现 {name!r}：无法导入模块 {module}。",
        ),
        Text("There are: {names}.", "可选：{names}。"),
    ),
    "too-long-for-virtual-gpu": Entry(
        Text(
            "--lengths {length} with --dims {dim} ({mask}) is {products:,} multiply-adds; the virtual GPU takes up to {most:,}.",
            "--lengths {length}、--dims {dim}（{mask}）需要 {products:,} 次乘加；虚拟 GPU 最多算 {most:,} 次。",
        ),
        Text(
            "Give shorter --lengths, or --device cuda where there is a GPU.",
            "请缩短 --lengths；有 GPU 时可用 --device cuda。",
        ),
    ),
    "no-counts": Entry(
        Text("{file} holds no counts: {error}", "{file} 里没有计数：{error}"),
        Text("Name another file.", "请指定别的文件。"),
    ),
    "no-record-of": Entry(
        Text("{file} is no record of {what}: {why}", "{file} 不是 {what} 的记录：{why}"),
        Text("python benchmarks/{program} --json {name}", "python benchmarks/{program} --json {name}"),
    ),
}
