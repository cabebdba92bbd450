"""The sandbox's own words in Chinese. What a compiler or Python itself says stays as it is."""

from __future__ import annotations

import re

_SENTENCES: tuple[tuple[str, str], ...] = (
    # ---- Why something is refused ----------------------------------------------------------------------
    (r"an answer to this exercise may not import it\.", "本练习的答案不能导入它。"),
    (
        r"names with two underscores around them are Python's own\.",
        "前后各有两条下划线的名字是 Python 自己的。",
    ),
    (
        r"an answer needs no files, processes or insides of Python\.",
        "答案用不着文件、进程和 Python 的内部机制。",
    ),
    (r"an answer needs no files, and no code made from text\.", "答案用不着文件，也用不着由文本生成的代码。"),
    (r"an answer is one file\.", "答案只有一个文件。"),
    (r"it is nested too deeply to be read\.", "嵌套太深，无法读取。"),
    (r"it is longer than 1 MiB, or holds a NUL character\.", "它超过 1 MiB，或含有 NUL 字符。"),
    (r"a macro names the file\.", "文件名由宏给出。"),
    (r"answers include headers of CUDA only, by their names\.", "答案只能包含 CUDA 的头文件，且只写文件名。"),
    (
        r"this is no header of CUDA: an answer stands on its own\.",
        "这不是 CUDA 的头文件：答案必须独立。",
    ),
    # ---- What to do ------------------------------------------------------------------------------------
    (r"Remove it; what an answer may import here: nothing\.", "请删除；这里不能导入任何模块。"),
    (r"Remove it; what an answer may import here: (.+)\.", r"请删除；这里可以导入：\1。"),
    (r"Remove the line\.", "请删除这一行。"),
    (r"Remove the line; write what you need into this file\.", "请删除这一行；把需要的内容写进本文件。"),
    (r"Write the header's name itself\.", "请直接写头文件名。"),
    (r"Write shorter expressions\.", "请把表达式写短。"),
    (r"Write (?:less|a kernel)\.", "请写短一些。"),
    (r"`flashpath reset` brings the skeleton back\.", "`flashpath reset` 可以恢复初始文件。"),
    (
        r"Look for memory without bound, or for a call that ends the process\.",
        "请检查是否无限制地占用内存，或有结束进程的调用。",
    ),
    (
        r"The exercise calls it with \((.*)\): keep the skeleton's parameters\.",
        r"本练习以 (\1) 调用它：请保留初始文件里的参数。",
    ),
    (
        r"Use smaller blocks, or raise __launch_bounds__; flashpath explain shows its registers\.",
        "请用更小的块，或调大 __launch_bounds__；flashpath explain 会显示寄存器数。",
    ),
    (r"Use smaller blocks\.", "请用更小的块。"),
    (
        r"Run it on a GPU, or write it with instructions that the virtual GPU knows\.",
        "请在 GPU 上运行，或改用虚拟 GPU 认识的指令。",
    ),
    # ---- What is wrong with a file or a process --------------------------------------------------------
    (r"(\S+) is empty\.", r"\1 是空的。"),
    (r"(?:(\S+): )?There is no function (\w+) in the file\.", r"文件里没有函数 \2。"),
    (r"(?:(\S+): )?There is no kernel (\w+) in the file\.", r"文件里没有核函数 \2。"),
    (
        r"(\w+) takes (\d+) parameters (\(.*\))\.",
        r"\1 有 \2 个参数：\3。",
    ),
    (
        r"block (\(.+\)) has (\d+) threads; (\w+) was compiled for at most (\d+) "
        r"\(its registers or its __launch_bounds__\)\.",
        r"块 \1 有 \2 个线程；\3 编译时最多允许 \4 个（由寄存器数或 __launch_bounds__ 决定）。",
    ),
    (r"took more memory than it may, and was ended", "占用的内存超过限制，已被终止"),
    (r"sent what is no answer(?: \(.*\))?", "发来的不是答案"),
    (r"was ended by signal (\w+)", r"被信号 \1 终止"),
    (r"ended with exit code (\d+) and gave no answer", r"以退出码 \1 结束，没有给出答案"),
    (r"closed its pipe", "关闭了管道"),
    (r"MemoryError: .+", "内存不足：占用的内存超过限制。"),
    (r"There is not enough memory for it\.", "内存不足。"),
    (
        r"(\w+): there is no memory for the registers, the local memory and the output of \d+ blocks\.",
        r"\1：寄存器、局部内存和输出需要的内存超过可用内存。",
    ),
    (r"Launch smaller blocks, print less, or pass threads=1\.", "请少输出一些，或用更小的块。"),
)
_PATTERNS = tuple((re.compile(pattern), said) for pattern, said in _SENTENCES)


def in_language(text: str, lang: str) -> str:
    """A sentence of the sandbox's in that language; what is not known here stays English."""
    if lang != "zh":
        return text
    where, said = _split(text)
    for pattern, chinese in _PATTERNS:
        found = pattern.fullmatch(said)
        if found is not None:
            return where + found.expand(chinese)
    return text


def _split(text: str) -> tuple[str, str]:
    """Of `f.py:3: import os: an answer …` what it is about, which stays, and the sentence."""
    for pattern, _ in _PATTERNS[:10]:
        found = re.search(rf"^(.*: ){pattern.pattern}$", text, re.DOTALL)
        if found is not None:
            return found[1], text[len(found[1]) :]
    return "", text
