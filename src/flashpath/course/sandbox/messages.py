"""What the sandbox says of a learner's work, to learners."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_RESET = Text("`flashpath reset` brings the skeleton back.", "`flashpath reset` 可以恢复初始文件。")
_REMOVE_LINE = Text("Remove the line.", "请删除这一行。")
_REMOVE_IT = Text(
    "Remove it; what an answer may import here: {allowed}.", "请删除；这里可以导入：{allowed}。"
)
_KEEP_PARAMETERS = Text(
    "The exercise calls it with ({called}): keep the skeleton's parameters.",
    "本练习以 ({called}) 调用它：请保留初始文件里的参数。",
)
_SHORTER = Text("Write shorter expressions.", "请把表达式写短。")

MESSAGES: dict[str, Text | Entry] = {
    "assembler-refuses": Text(
        "The assembler refuses the compiled {kernel}:\n{log}", "汇编器拒绝编译好的 {kernel}：\n{log}"
    ),
    # ---- Steps -----------------------------------------------------------------------------------------
    "starting": Text("starting Python", "启动 Python"),
    "building": Text("building {file}", "编译 {file}"),
    "loading": Text("loading {file}", "载入 {file}"),
    "importing": Text("the import of {file}", "导入 {file}"),
    "calling": Text("calling {function}", "调用 {function}"),
    "running": Text("running {kernel}", "运行 {kernel}"),
    "looking": Text("looking at its restrictions", "检查限制"),
    # ---- A process that ended --------------------------------------------------------------------------
    "timed-out": Entry(
        Text(
            "It hung: {step} took more than {seconds:g} s and was stopped.",
            "程序挂起：{step}超过 {seconds:g} 秒，已停止。",
        ),
        Text(
            "Look for a loop that never ends, or for work that grows without bound.",
            "请检查是否有不会结束的循环，或无限制增长的工作量。",
        ),
    ),
    "crashed": Entry(
        Text("The process that ran it {how}.{last}", "运行它的进程{how}。{last}"),
        Text("{advice}", "{advice}"),
    ),
    "look-for-memory": Text(
        "Look for memory without bound, or for a call that ends the process.",
        "请检查是否无限制地占用内存，或有结束进程的调用。",
    ),
    "ours-to-mend": Text(
        "Nothing that a file holds should do that: please report it, together with the file. Until then, try to "
        "write it in another way.",
        "无论文件里写了什么，都不该发生这种情况：请连同文件一起报告。在此之前，可以试试换一种写法。",
    ),
    "triton-crashed": Text(
        "Triton's compiler crashed while it compiled the kernel, and did not say why. Take back what you wrote "
        "last, and write it in another way.",
        "Triton 的编译器在编译核函数时崩溃，没有给出原因。请撤回最后的改动，换一种写法。",
    ),
    "needs-no-files": Text(
        "An answer needs no files: compute, and return the result.", "答案用不着文件：计算并返回结果即可。"
    ),
    "sent-no-answer": Text("sent what is no answer", "发来的不是答案"),
    "sent-no-frame": Text("sent what is no answer ({why})", "发来的不是答案（{why}）"),
    "printed-more": Text("… (more was printed, and dropped)", "……（后面的输出已丢弃）"),
    "sent-no-kernel": Text("sent what is no compiled kernel", "发来的不是编译好的核函数"),
    "met-a-defect": Text(
        "met a defect of flashpath's own ({defect})", "遇到了 flashpath 自己的缺陷（{defect}）"
    ),
    "crashed-itself": Text(
        "crashed by a defect of flashpath's own or of a compiler (signal {signal})",
        "因 flashpath 自己或编译器的缺陷而崩溃（信号 {signal}）",
    ),
    "took-too-much-memory": Text(
        "took more memory than it may, and was ended", "占用的内存超过限制，已被终止"
    ),
    "wrote-too-much": Text(
        "wrote more than {mib} MiB into files, and was ended", "写入文件的内容超过 {mib} MiB，已被终止"
    ),
    "made-too-many-files": Text(
        "made more than {count} files, and was ended", "建立的文件超过 {count} 个，已被终止"
    ),
    "made-too-deep-folders": Text(
        "made folders in folders without end, and was ended", "无限制地嵌套文件夹，已被终止"
    ),
    "recorded-too-much": Text(
        "asked the GPU for more than can be recorded, and was ended", "对 GPU 的调用多到无法记录，已被终止"
    ),
    "do-less": Text(
        "Look for a loop that copies or launches far too often.", "请检查是否有循环拷贝或启动得过于频繁。"
    ),
    "recorded-nonsense": Text("wrote into the record of its own run", "改写了记录它自身运行过程的数据"),
    "leave-the-record": Text(
        "Write to standard output and standard error only.", "只能写标准输出和标准错误。"
    ),
    "closed-its-pipe": Text("closed its pipe", "关闭了管道"),
    "exited": Text("ended with exit code {code} and gave no answer", "以退出码 {code} 结束，没有给出答案"),
    "ended-by-signal": Text("was ended by signal {signal}", "被信号 {signal} 终止"),
    # ---- A file that cannot be built -------------------------------------------------------------------
    "at-place": Text("{where}: error: {problem}{listing}", "{where}: 错误：{problem}{listing}"),
    "in-file": Text("{file}: {problem}", "{file}：{problem}"),
    "python-says": Text("{text}", "{text}"),
    "exception-without-text": Text("an exception whose text cannot be shown", "无法显示其内容的异常"),
    "empty": Entry(Text("{file} is empty.", "{file} 是空的。"), _RESET),
    "no-function": Text("There is no function {name} in the file.", "文件里没有函数 {name}。"),
    "no-kernel": Text("There is no kernel {name} in the file.", "文件里没有核函数 {name}。"),
    "no-memory-import": Text(
        "MemoryError: importing the file takes more memory than it may.",
        "内存不足：导入文件占用的内存超过限制。",
    ),
    "no-memory-call": Text(
        "MemoryError: it takes more memory than it may.", "内存不足：占用的内存超过限制。"
    ),
    "no-memory-compile": Text(
        "MemoryError: compiling it takes more memory than it may.", "内存不足：编译占用的内存超过限制。"
    ),
    "no-memory": Text("There is not enough memory for it.", "内存不足。"),
    "host-header": Entry(
        Text(
            "{where}: error: <{name}> is for host code, which is no part of the exercise{listing}",
            "{where}: 错误：<{name}> 用于主机代码，本练习不包含主机代码{listing}",
        ),
        Text(
            "Remove the line; printf and assert are there without any #include.",
            "请删除这一行；printf 和 assert 不需要 #include。",
        ),
    ),
    "other-parameter-count": Entry(
        Text("{kernel} takes {count:~parameter} {signature}.", "{kernel} 有 {count} 个参数：{signature}。"),
        _KEEP_PARAMETERS,
    ),
    "other-parameter": Entry(
        Text(
            "Parameter {place} of {kernel} ({name}) is {parameter}.",
            "{kernel} 的第 {place} 个参数（{name}）是 {parameter}。",
        ),
        _KEEP_PARAMETERS,
    ),
    # ---- Triton ----------------------------------------------------------------------------------------
    "ptx-without-kernel": Text(
        "The compiled code has no kernel {kernel}.", "编译出的代码里没有核函数 {kernel}。"
    ),
    "ptx-other-parameters": Entry(
        Text(
            "The compiled {kernel} takes other parameters than the exercise passes.",
            "编译后的 {kernel} 的参数与练习传入的不同。",
        ),
        _KEEP_PARAMETERS,
    ),
    "too-much-shared": Entry(
        Text(
            "{kernel} needs {shared} bytes of shared memory; no GPU has more than {most}.",
            "{kernel} 需要 {shared} 字节共享内存；没有 GPU 超过 {most} 字节。",
        ),
        Text("Use smaller blocks.", "请用更小的块。"),
    ),
    "no-clusters": Entry(
        Text(
            "{kernel} uses clusters, descriptors or scratch memory, which the virtual GPU does not have.",
            "{kernel} 用到了 cluster、描述符或临时内存，虚拟 GPU 没有这些。",
        ),
        Text("Use pointers and masks.", "请使用指针和掩码。"),
    ),
    "not-jit": Text(
        "{kernel} is no @triton.jit function: keep the decorator, and no other.",
        "{kernel} 不是 @triton.jit 函数：请保留这个装饰器，且不要加别的。",
    ),
    "no-constexpr": Text(
        "{kernel} has no parameter {name}: tl.constexpr, which the exercise gives.",
        "{kernel} 没有练习给出的参数 {name}: tl.constexpr。",
    ),
    "takes-others": Text(
        "{kernel} takes ({own}); the exercise calls it with ({called}).",
        "{kernel} 的参数是 ({own})；本练习以 ({called}) 调用它。",
    ),
    "is-constexpr": Text(
        "{name} is marked tl.constexpr; the exercise passes it at run time.",
        "{name} 标为 tl.constexpr，而本练习在运行时传入它。",
    ),
    "calls-plain-python": Text(
        "A kernel calls {name}, which is plain Python: kernels call @triton.jit functions.",
        "核函数调用了普通的 Python 函数 {name}：核函数只能调用 @triton.jit 函数。",
    ),
    "needs-jit": Text(
        "a kernel calls {name}, which is a plain Python function: put @triton.jit above it.",
        "核函数调用了普通的 Python 函数 {name}：请在它上面加 @triton.jit。",
    ),
    "needs-jit-at": Text(
        "a kernel calls {name} (line {line}), which is a plain Python function: put @triton.jit above it.",
        "核函数（第 {line} 行）调用了普通的 Python 函数 {name}：请在它上面加 @triton.jit。",
    ),
    # ---- Values that a function returned ---------------------------------------------------------------
    "returned-too-many": Text("It returned {count} values.", "它返回了 {count} 个值。"),
    "returned-no-numbers": Text(
        "Value {place} is of the type {kind}: return plain numbers or arrays.",
        "第 {place} 个值的类型是 {kind}：请返回普通的数或数组。",
    ),
    # ---- What an answer may not use --------------------------------------------------------------------
    "nothing": Text("nothing", "无"),
    "refused-import": Entry(
        Text("{where}: an answer to this exercise may not import it.", "{where}：本练习的答案不能导入它。"),
        _REMOVE_IT,
    ),
    "refused-own-name": Entry(
        Text(
            "{where}: names with two underscores around them are Python's own.",
            "{where}：前后各有两条下划线的名字是 Python 自己的。",
        ),
        _REMOVE_IT,
    ),
    "refused-attribute": Entry(
        Text(
            "{where}: an answer needs no files, processes or insides of Python.",
            "{where}：答案用不着文件、进程和 Python 的内部机制。",
        ),
        _REMOVE_IT,
    ),
    "refused-builtin": Entry(
        Text(
            "{where}: an answer needs no files, and no code made from text.",
            "{where}：答案用不着文件，也用不着由文本生成的代码。",
        ),
        _REMOVE_IT,
    ),
    "refused-relative-import": Entry(
        Text("{where}: an answer is one file.", "{where}：答案只有一个文件。"), _REMOVE_IT
    ),
    "too-long": Entry(
        Text(
            "{file}: it is longer than 1 MiB, or holds a NUL character.",
            "{file}：它超过 1 MiB，或含有 NUL 字符。",
        ),
        Text("Write less.", "请写短一些。"),
    ),
    "too-deep": Entry(
        Text("{file}: it is nested too deeply to be read.", "{file}：嵌套太深，无法读取。"), _SHORTER
    ),
    "refused-line": Entry(
        Text(
            "{where}: messages name the lines of your own file, which it would rename.",
            "{where}：提示信息用的是你文件里的行号，而它会改变行号。",
        ),
        _REMOVE_LINE,
    ),
    "refused-pragma": Entry(
        Text("{where}: it names another file.", "{where}：它指向另一个文件。"),
        Text("Remove the line: an answer is one file.", "请删除这一行：答案只有一个文件。"),
    ),
    "refused-condition": Entry(
        Text("{where}: there is a text in its condition.", "{where}：条件里有字符串。"),
        Text("Compare whole numbers and macros only.", "只能比较整数和宏。"),
    ),
    "refused-macro": Entry(
        Text("{where}: a macro names the file.", "{where}：文件名由宏给出。"),
        Text("Write the header's name itself.", "请直接写头文件名。"),
    ),
    "refused-path": Entry(
        Text(
            "{where}: answers include headers of CUDA and of the standard library only, by their names.",
            "{where}：答案只能包含 CUDA 和标准库的头文件，且只写文件名。",
        ),
        _REMOVE_LINE,
    ),
    "refused-own-header": Entry(
        Text(
            "{where}: this is no header of CUDA: an answer stands on its own.",
            "{where}：这不是 CUDA 的头文件：答案必须独立。",
        ),
        Text(
            "Remove the line; write what you need into this file.",
            "请删除这一行；把需要的内容写进本文件。",
        ),
    ),
    # ---- What the system enforces ----
    "part-time": Text(
        "a child that takes too long is ended, with all that it has started",
        "超时的子进程连同它启动的一切都会被结束",
    ),
    "part-files": Text(
        "a child that writes too much, or too many files, is ended", "写得太多或文件太多的子进程会被结束"
    ),
    "part-dies-with-parent": Text(
        "a child ends when the process that started it ends", "启动它的进程结束时，子进程也结束"
    ),
    "part-rlimits": Text(
        "limits on CPU time, memory, the size of a file and the number of open ones",
        "限制 CPU 时间、内存、文件大小和打开的文件数",
    ),
    "part-landlock": Text(
        "reads only Python, its packages and the system's libraries; writes only a folder of its own",
        "只读 Python、它的包和系统库；只写自己的目录",
    ),
    "part-seccomp": Text(
        "starts no processes, opens no sockets, touches no other process, no file's mode or times",
        "不启动进程，不打开套接字，不触及其他进程，不改文件的权限和时间",
    ),
    "part-no-network": Text("is in a network of its own, with nothing in it", "处在空无一物的独立网络中"),
    "part-unseen": Text(
        "does not see that there are other files, nor how long they are", "看不到其他文件是否存在、有多长"
    ),
}
