"""What the compilers, the cache, launches and whole programs say."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_KEEP = Text(
    "The exercise calls {wanted}: keep the skeleton's, a __global__ {form} in no namespace.",
    "练习调用的是 {wanted}：请保留骨架的写法，即不在任何命名空间里的 __global__ {form}。",
)
_ONE_FILE_EN = (
    "An answer is one file: write what you need into it. Headers of CUDA are found by their names, such as "
    "<cuda_fp16.h>, <mma.h> and <cooperative_groups.h>."
)
_ONE_FILE_ZH = (
    "一份答案就是一个文件：需要的代码请写在里面。CUDA 的头文件按名字就能找到，例如 "
    "<cuda_fp16.h>、<mma.h> 和 <cooperative_groups.h>。"
)
_CHECK_PATH = Text("Check the path.", "请检查路径。")
_DID_YOU_MEAN = Text("Did you mean {near}?", "你是不是想写 {near}？")
_SHOWN = Text("{shown}", "{shown}")
_ADVICE = Text("{advice}", "{advice}")
_UNNEST = Text(
    "Launch them from the host, or run the program on a GPU: --device cuda.",
    "请从主机端启动它们，或在 GPU 上运行程序：--device cuda。",
)
_NVRTC = "pip install 'nvidia-cuda-nvrtc==13.0.*'"
_NVJITLINK = "pip install 'cuda-bindings>=13,<14' 'nvidia-nvjitlink==13.0.*'"

_HOLDS_OPTION = Text("options holds {option!r}.", "options 里有 {option!r}。")
_OPTION_IS = Text("--option is {option!r}.", "--option 是 {option!r}。")

MESSAGES: dict[str, Text | Entry] = {
    # ---- Compilers' errors -----------------------------------------------------------------------------
    "does-not-compile": Entry(Text("{shown}{more}", "{shown}{more}"), _ADVICE),
    "more-errors": Text("\n… and {count} more errors.", "\n……还有 {count} 个错误。"),
    "compiler-failed": Text("The compiler failed:\n{output}", "编译器失败：\n{output}"),
    "ptxas-failed": Text("ptxas failed:\n{output}", "ptxas 失败：\n{output}"),
    "end-of-source": Text("the end of the source", "源代码末尾"),
    "needs-another-arch": Text(
        "The instruction needs another architecture than {arch}.", "这条指令需要 {arch} 以外的架构。"
    ),
    "needs-sm-90a": Entry(
        Text(
            "wgmma and setmaxnreg need arch='sm_90a': plain sm_90 does not have them.",
            "wgmma 和 setmaxnreg 需要 arch='sm_90a'：普通的 sm_90 没有它们。",
        ),
        command=Text(
            "wgmma and setmaxnreg need --arch sm_90a: plain sm_90 does not have them.",
            "wgmma 和 setmaxnreg 需要 --arch sm_90a：普通的 sm_90 没有它们。",
        ),
    ),
    # What to do about the first error.
    "inside-a-kernel": Text(
        "Use it inside a __global__ or __device__ function.", "它只能在 __global__ 或 __device__ 函数里使用。"
    ),
    "include": Text("#include <{header}>", "#include <{header}>"),
    "mark-the-function": Entry(
        Text("Mark the function __device__ or __global__.", "请给函数加上 __device__ 或 __global__。"),
        learner=Text(
            "Mark a kernel __global__, and a function that a kernel calls __device__. An answer has no host code, "
            "and no main.",
            "核函数要加 __global__，由核函数调用的函数要加 __device__。答案里没有主机代码，也没有 main。",
        ),
    ),
    "mark-the-variable": Text(
        "Mark the variable __device__ or __constant__.", "请给变量加上 __device__ 或 __constant__。"
    ),
    "mark-the-callee": Text("Mark the function __device__.", "请给函数加上 __device__。"),
    # ---- Includes --------------------------------------------------------------------------------------
    "missing-include": Entry(_SHOWN, _ADVICE, learner_fix=Text(_ONE_FILE_EN, _ONE_FILE_ZH)),
    "missing-include-of-header": Entry(
        _SHOWN,
        _ADVICE,
        learner=Text(
            "{source}: it includes a header that is for host code ({file} {message}).",
            "{source}：它包含了主机代码的头文件（{file} {message}）。",
        ),
        learner_fix=Text(
            f"Remove the #include: host code is no part of the exercise. {_ONE_FILE_EN}",
            f"请删去这行 #include：练习里没有主机代码。{_ONE_FILE_ZH}",
        ),
    ),
    "host-header": Entry(
        Text(
            "<{name}> is a host header; NVRTC compiles device code only. printf and assert need no header; "
            "for the rest use <cuda/std/…> (<cuda/std/cstdint>, <cuda/std/limits>), or compiler='nvcc'.",
            "<{name}> 是主机端头文件；NVRTC 只编译设备代码。printf 和 assert 不需要头文件；"
            "其余的请用 <cuda/std/…>（如 <cuda/std/cstdint>、<cuda/std/limits>），或 compiler='nvcc'。",
        ),
        command=Text(
            "<{name}> is a host header; NVRTC compiles device code only. printf and assert need no header; "
            "for the rest use <cuda/std/…> (<cuda/std/cstdint>, <cuda/std/limits>), or --compiler nvcc.",
            "<{name}> 是主机端头文件；NVRTC 只编译设备代码。printf 和 assert 不需要头文件；"
            "其余的请用 <cuda/std/…>（如 <cuda/std/cstdint>、<cuda/std/limits>），或 --compiler nvcc。",
        ),
    ),
    "searched": Text(
        "Searched: {folders} and CUDA's own headers.", "已查找：{folders} 和 CUDA 自己的头文件。"
    ),
    "no-folder": Text("no folder (the source is a string)", "没有目录（源代码是字符串）"),
    "searched-near": Text("{searched} Did you mean {near}?", "{searched}你是不是想写 {near}？"),
    "searched-package": Text(
        "It comes with CUDA's toolkit, or with pip install '{package}'. {searched}",
        "它随 CUDA 工具包提供，也可以 pip install '{package}'。{searched}",
    ),
    "header-of-host-library": Text(
        "{name} is of a library whose kernels are machine code: programs that call it run on a GPU only, with CUDA's "
        "toolkit (--device cuda).",
        "{name} 属于一个核函数只有机器码的库：调用它的程序只能在 GPU 上运行，并需要 CUDA 工具包（--device cuda）。",
    ),
    "searched-pass-folder": Entry(
        Text(
            "{searched} Pass its folder: fp.compile(…, includes=[folder]).",
            "{searched}请给出它的目录：fp.compile(…, includes=[folder])。",
        ),
        command=Text("{searched} Pass its folder: -I folder.", "{searched}请给出它的目录：-I folder。"),
    ),
    # ---- Names of kernels ------------------------------------------------------------------------------
    "form-template": Text("template", "模板"),
    "form-function": Text("function, no template,", "函数（不是模板）"),
    "compiler-says": Text("\n  The compiler says: {message}", "\n  编译器说：{message}"),
    "no-kernel": Text("no kernel", "没有核函数"),
    "kernel-is-template": Entry(
        Text(
            "{wanted!r} is a template: there is no kernel until it is instantiated.{also}",
            "{wanted!r} 是模板：实例化之后才有核函数。{also}",
        ),
        Text(
            "Ask for an instance: fp.compile(…, name_expressions=['{wanted}<float>']).",
            "请指定一个实例：fp.compile(…, name_expressions=['{wanted}<float>'])。",
        ),
        learner_fix=_KEEP,
        command_fix=Text(
            "Ask for an instance: --kernel '{wanted}<float>'.", "请指定一个实例：--kernel '{wanted}<float>'。"
        ),
    ),
    "instance-not-compiled": Entry(
        Text(
            "The module was compiled without the instance {wanted!r} of the template {base!r}. "
            "It has: {have}.{also}",
            "编译模块时没有模板 {base!r} 的实例 {wanted!r}。已有：{have}。{also}",
        ),
        Text(
            "Add it: fp.compile(…, name_expressions=['{wanted}']).",
            "请加上它：fp.compile(…, name_expressions=['{wanted}'])。",
        ),
        learner_fix=_KEEP,
        command_fix=Text("Add it: --kernel '{wanted}'.", "请加上它：--kernel '{wanted}'。"),
    ),
    "no-such-kernel": Entry(
        Text(
            "There is no kernel {wanted!r}. The source has: {have}.{also}",
            "没有核函数 {wanted!r}。源代码里有：{have}。{also}",
        ),
        Text("{advice}", "{advice}"),
        learner_fix=_KEEP,
    ),
    "did-you-mean-kernel": _DID_YOU_MEAN,
    "names-are-exact": Text("Names are exact, template arguments too.", "名字必须完全一致，模板参数也一样。"),
    "no-kernel-at-all": Entry(
        Text(
            "There is no kernel {wanted!r}: the source has no __global__ function at all.{also}",
            "没有核函数 {wanted!r}：源代码里一个 __global__ 函数也没有。{also}",
        ),
        Text("Declare one: __global__ void name(…) {{ … }}", "请声明一个：__global__ void name(…) {{ … }}"),
        learner_fix=_KEEP,
    ),
    "no-such-instance": Entry(
        Text(
            "The template {base!r} has no instance {wanted!r}.{also}",
            "模板 {base!r} 没有实例 {wanted!r}。{also}",
        ),
        Text("Check its template arguments.", "请检查模板参数。"),
        learner_fix=_KEEP,
    ),
    "kernel-cannot-be-named": Entry(
        Text("The kernel {wanted!r} cannot be named so.{also}", "核函数 {wanted!r} 不能这样写。{also}"),
        Text(
            "Leave it out: name_expressions is for template instances; or write its namespace, ns::name.",
            "请去掉它：name_expressions 只用于模板实例；或者写上命名空间：ns::name。",
        ),
        learner_fix=_KEEP,
        command_fix=Text("Write its namespace: --kernel ns::name.", "请写上命名空间：--kernel ns::name。"),
    ),
    "not-global": Entry(
        Text(
            "{wanted!r} is no kernel: it is not declared __global__.",
            "{wanted!r} 不是核函数：它没有声明为 __global__。",
        ),
        Text("Leave it out.", "请去掉它。"),
        learner_fix=_KEEP,
    ),
    "overloaded": Entry(
        Text("{name!r} is overloaded:\n    {choices}", "{name!r} 有多个重载：\n    {choices}"),
        Text("Use the mangled name on the left.", "请用左边的修饰名。"),
    ),
    # ---- Whole programs --------------------------------------------------------------------------------
    "compiling": Text("compiling {file} for {arch}", "正在为 {arch} 编译 {file}"),
    "compiling-one-of": Text(
        "compiling {file} for {arch} ({at} of {all})", "正在为 {arch} 编译 {file}（第 {at} 个，共 {all} 个）"
    ),
    "linking": Text("linking", "正在链接"),
    "nested-kernels": Entry(
        Text(
            "The program launches kernels from kernels (dynamic parallelism), which the virtual GPU does not "
            "run.",
            "程序在核函数里启动核函数（动态并行），虚拟 GPU 不支持。",
        ),
        _UNNEST,
    ),
    "host-compiler-too-new": Entry(
        Text(
            "nvcc does not work with this host compiler: {why} are not supported.",
            "nvcc 不支持这个主机编译器：{why} 不受支持。",
        ),
        Text(
            "Install an older one, and name it in NVCC_CCBIN: NVCC_CCBIN=g++-13 flashpath run …",
            "请安装旧一些的版本，并用 NVCC_CCBIN 指定：NVCC_CCBIN=g++-13 flashpath run …",
        ),
    ),
    "defined-twice": Entry(
        Text("{name} is defined more than once{places}", "{name} 被定义了不止一次{places}"),
        Text(
            "Keep one definition; in a header write inline before it, or __device__ static.",
            "请只保留一处定义；在头文件里请加 inline，或 __device__ static。",
        ),
    ),
    "no-main": Entry(
        Text("There is no main() in {files}.", "{files} 里没有 main()。"),
        Text(
            "A program starts in int main(); a kernel alone is run by `flashpath profile` and `sanitize` "
            "with --grid and --block.",
            "程序从 int main() 开始；单独的核函数可以用 `flashpath profile` 和 `sanitize` 加 --grid 和 "
            "--block 运行。",
        ),
    ),
    "no-library": Entry(
        Text("The linker does not find the library {name}.", "链接器找不到库 {name}。"), _ADVICE
    ),
    "library-folder": Text("Name its folder with -L.", "请用 -L 给出它的目录。"),
    "library-of-toolkit": Text(
        "It comes with the CUDA toolkit: install that, and name its lib64 folder with -L.",
        "它随 CUDA 工具包提供：请安装工具包，并用 -L 给出它的 lib64 目录。",
    ),
    "linker-failed": Text("The linker failed:\n{output}", "链接器失败：\n{output}"),
    "runtime-lacks": Entry(
        Text(
            "It does not link: the virtual GPU's runtime has no {names}.{places}",
            "链接失败：虚拟 GPU 的运行时没有 {names}。{places}",
        ),
        Text(
            "Do without it, or run the program on a GPU: --device cuda.",
            "请不要用它，或在 GPU 上运行程序：--device cuda。",
        ),
    ),
    "libraries-need-a-gpu": Entry(
        Text(
            "It does not link: CUDA's libraries run on a GPU only: {names}.{places}",
            "链接失败：CUDA 的库只能在 GPU 上运行：{names}。{places}",
        ),
        Text(
            "Do without it, or run the program on a GPU: --device cuda.",
            "请不要用它，或在 GPU 上运行程序：--device cuda。",
        ),
    ),
    "undefined": Entry(Text("Nothing defines {names}.{places}", "{names} 没有定义。{places}"), _ADVICE),
    "link-library": Text("Link its library: -l {library}.", "请链接它的库：-l {library}。"),
    "link-driver": Text(
        "It is a call of the driver's: link it with -l cuda.", "这是驱动的函数：请用 -l cuda 链接。"
    ),
    "name-the-definition": Text(
        "Name the file that defines it as well, or its library with -l.",
        "请把定义它的文件也写上，或用 -l 给出它的库。",
    ),
    "undefined-on-device": Entry(
        Text("No device code defines {names}.{places}", "没有设备代码定义 {names}。{places}"),
        Text(
            "Define it, or name the .cu file that does as well: files that are given together are linked.",
            "请定义它，或把定义它的 .cu 文件也写上：一起给出的文件会链接在一起。",
        ),
    ),
    "and-more": Text("{names} and {count} more", "{names} 等，另有 {count} 个"),
    "used-here": Text("{name} is used here", "{name} 用在这里"),
    "no-file-given": Entry(
        Text("No file was given.", "没有给出文件。"), Text("Name a .cu file.", "请给出一个 .cu 文件。")
    ),
    "file-twice": Entry(
        Text("A file was given twice.", "同一个文件给了两次。"),
        Text("Name each file once.", "每个文件只写一次。"),
    ),
    "program-is-folder": Entry(
        Text("{file} is a folder, not a CUDA program.", "{file} 是目录，不是 CUDA 程序。"), _ADVICE
    ),
    "name-a-file-in-it": Text("Name a file in it: {names}.", "请给出其中的一个文件：{names}。"),
    "name-a-cu-file": Text("Name a .cu file.", "请给出一个 .cu 文件。"),
    "not-cuda-source": Entry(Text("{file} is no CUDA C++ source.", "{file} 不是 CUDA C++ 源文件。"), _ADVICE),
    "is-a-header": Text(
        "It is a header: name the .cu file that includes it.", "它是头文件：请给出包含它的 .cu 文件。"
    ),
    "is-python": Text("Run it with Python: python {file}.", "请用 Python 运行：python {file}。"),
    "is-compiled": Text(
        "Name its sources; a library is linked with -l NAME -L FOLDER.",
        "请给出它的源文件；库用 -l 名字 -L 目录 链接。",
    ),
    "other-suffix": Text(
        "Sources end in {suffixes}; what is meant for the program stands after --.",
        "源文件以 {suffixes} 结尾；给程序的参数写在 -- 之后。",
    ),
    "file-unreadable": Entry(
        Text("{file} cannot be read: {why}.", "{file} 无法读取：{why}。"),
        Text("Check its permissions.", "请检查它的权限。"),
    ),
    "file-empty": Entry(
        Text("{file} is empty.", "{file} 是空的。"),
        Text("Write a program with main() in it.", "请写一个带 main() 的程序。"),
    ),
    "program-and-folder-missing": Entry(
        Text("{file} does not exist; neither does its folder.", "{file} 不存在，它的目录也不存在。"),
        _CHECK_PATH,
    ),
    "program-missing": Entry(Text("{file} does not exist.", "{file} 不存在。"), _ADVICE),
    "name-for-a-shell": Entry(
        Text(
            "nvcc cannot be given the file name {file}: it would read it as an option, or a shell as a command.",
            "不能把文件名 {file} 交给 nvcc：nvcc 会把它当作选项，或者 shell 会把它当作命令。",
        ),
        Text(
            'Rename the file: no name that begins with -, none with $, `, ", \\ or a line break.',
            '请给文件改名：开头不能是 -，名字里不能有 $、`、"、\\ 或换行。',
        ),
    ),
    "no-plain-file": Entry(
        Text("{file} is no plain file: a pipe or a device.", "{file} 不是普通文件，而是管道或设备。"),
        Text("Write the program into a file of its own.", "请把程序写进普通的文件。"),
    ),
    "check-the-path": _CHECK_PATH,
    "did-you-mean-file": _DID_YOU_MEAN,
    "arguments-after-dashes": Text(
        "If it is meant for the program, write it after --: flashpath run FILE.cu -- ARGUMENTS.",
        "如果它是给程序的参数，请写在 -- 之后：flashpath run FILE.cu -- 参数。",
    ),
    "may-not-be-executed": Entry(
        Text(
            "{path} may not be executed: its file system forbids it, or its permissions do.",
            "{path} 不能执行：它的文件系统或权限不允许。",
        ),
        Text(
            "Set {variable} to a folder from which programs may be run.",
            "请把 {variable} 设为允许运行程序的目录。",
        ),
    ),
    "program-evicted": Entry(
        Text(
            "The program is taken from the cache each time before it starts ({folder}).",
            "程序每次还没启动就从缓存里被清掉了（{folder}）。",
        ),
        Text(
            "Raise {variable}, or end what else clears the cache.",
            "请调大 {variable}，或停止清理缓存的其他进程。",
        ),
    ),
    # ---- Devices ---------------------------------------------------------------------------------------
    "unknown-device": Entry(
        Text("{variable} is {name!r}: {problem}.", "{variable} 是 {name!r}：{problem}。"),
        Text("{known} Or cuda, or virtual.", "{known}也可以写 cuda 或 virtual。"),
    ),
    "unknown-default-device": Entry(Text("{variable}: {problem}", "{variable}：{problem}"), _ADVICE),
    "device-number": Entry(
        Text("{variable} is {name!r}.", "{variable} 是 {name!r}。"),
        Text(
            "Write cuda, cuda:1, virtual, or a GPU's name.", "请写 cuda、cuda:1、virtual 或某个 GPU 的名字。"
        ),
    ),
    "default-device-number": Entry(
        Text("{variable} is {name!r}.", "{variable} 是 {name!r}。"),
        Text(
            "Set it to cuda, cuda:1, virtual, or a GPU's name.",
            "请设为 cuda、cuda:1、virtual 或某个 GPU 的名字。",
        ),
    ),
    "no-gpu-for-program": Entry(
        Text(
            "{variable} is {name!r}, and this machine has no GPU with a driver that works.",
            "{variable} 是 {name!r}，但这台机器没有驱动可用的 GPU。",
        ),
        Text(
            "Run it on the virtual GPU: --device virtual. `flashpath doctor` tells what is missing.",
            "请在虚拟 GPU 上运行：--device virtual。`flashpath doctor` 会说明缺什么。",
        ),
    ),
    "no-gpu-here": Entry(
        Text(
            "{variable} is {name!r}, and this machine has no GPU.",
            "{variable} 是 {name!r}，但这台机器没有 GPU。",
        ),
        Text("Unset it, or set it to virtual.", "请取消设置，或设为 virtual。"),
    ),
    "no-such-gpu": Entry(
        Text(
            "There is no GPU cuda:{index}: this machine has {count}.",
            "没有 GPU cuda:{index}：这台机器有 {count} 块。",
        ),
        Text("`flashpath doctor` shows what is there.", "`flashpath doctor` 会列出有什么。"),
    ),
    "driver-refuses": Entry(
        Text("cuInit answers {status}.", "cuInit 返回 {status}。"),
        Text("Restart the machine, or reinstall the driver.", "请重启机器，或重新安装驱动。"),
    ),
    "cuda-error": Entry(Text("{doing}: {name} ({text}).", "{doing}：{name}（{text}）。"), _ADVICE),
    "illegal-address": Text(
        "A kernel touched memory out of bounds. The process must be restarted; run it under "
        "compute-sanitizer to find the line.",
        "有核函数越界访问了内存。进程必须重新启动；用 compute-sanitizer 运行可以找到出错的行。",
    ),
    "out-of-memory": Text("Free tensors, or use a smaller problem.", "请释放张量，或缩小问题规模。"),
    "no-binary-for-gpu": Text(
        "Compile for this GPU: leave arch= out, or name its own architecture.",
        "请为这块 GPU 编译：不写 arch=，或写它自己的架构。",
    ),
    "launch-out-of-resources": Text(
        "The block needs more registers than an SM has: use fewer threads, or __launch_bounds__.",
        "线程块需要的寄存器比 SM 的还多：请减少线程，或用 __launch_bounds__。",
    ),
    "doing-launch": Text("Launching {kernel}", "启动 {kernel}"),
    "doing-opt-in": Text(
        "Opting {kernel} in to {bytes} bytes of shared memory", "为 {kernel} 申请 {bytes} 字节共享内存"
    ),
    # ---- Compilers that are missing --------------------------------------------------------------------
    "no-headers": Entry(
        Text(
            "No complete set of CUDA headers was found (cuda_fp16.h, crt/mma.h, cuda/std).",
            "没有找到完整的 CUDA 头文件（cuda_fp16.h、crt/mma.h、cuda/std）。",
        ),
        Text("pip install {packages}", "pip install {packages}"),
    ),
    "no-nvcc": Entry(
        Text(
            "nvcc was not found on PATH, in CUDA_HOME, in /usr/local/cuda or in this Python's packages.",
            "在 PATH、CUDA_HOME、/usr/local/cuda 和这个 Python 的包里都没有找到 nvcc。",
        ),
        Text(
            "pip install 'flashpath[nvcc]' brings it; NVRTC (compiler='nvrtc') needs no nvcc.",
            "pip install 'flashpath[nvcc]' 会装上它；NVRTC（compiler='nvrtc'）不需要 nvcc。",
        ),
        command_fix=Text(
            "pip install 'flashpath[nvcc]' brings it; NVRTC (--compiler nvrtc) needs no nvcc.",
            "pip install 'flashpath[nvcc]' 会装上它；NVRTC（--compiler nvrtc）不需要 nvcc。",
        ),
    ),
    "no-nvcc-for-programs": Entry(
        Text("{problem}", "{problem}"), Text("pip install 'flashpath[nvcc]'", "pip install 'flashpath[nvcc]'")
    ),
    "no-host-compiler": Entry(
        Text(
            "nvcc needs a host C++ compiler, and neither g++ nor clang++ is on PATH.",
            "nvcc 需要主机端的 C++ 编译器，但 PATH 里既没有 g++ 也没有 clang++。",
        ),
        Text(
            "apt-get install g++ (Debian, Ubuntu) or dnf install gcc-c++ (Fedora).",
            "apt-get install g++（Debian、Ubuntu）或 dnf install gcc-c++（Fedora）。",
        ),
    ),
    "no-nvrtc": Entry(
        Text("NVRTC cannot be loaded: {error}.", "无法加载 NVRTC：{error}。"),
        Text(
            "pip install 'cuda-bindings>=13,<14' 'nvidia-cuda-nvrtc==13.0.*'",
            "pip install 'cuda-bindings>=13,<14' 'nvidia-cuda-nvrtc==13.0.*'",
        ),
    ),
    "no-nvrtc-library": Entry(
        Text("The NVRTC library cannot be loaded: {error}.", "无法加载 NVRTC 库：{error}。"),
        Text(_NVRTC, _NVRTC),
    ),
    "nvrtc-does-not-answer": Entry(
        Text("NVRTC does not answer: {status}.", "NVRTC 没有响应：{status}。"), Text(_NVRTC, _NVRTC)
    ),
    "no-nvjitlink": Entry(
        Text("nvJitLink cannot be loaded: {error}.", "无法加载 nvJitLink：{error}。"),
        Text(_NVJITLINK, _NVJITLINK),
    ),
    "no-nvjitlink-library": Entry(
        Text("The nvJitLink library cannot be loaded: {error}.", "无法加载 nvJitLink 库：{error}。"),
        Text(_NVJITLINK, _NVJITLINK),
    ),
    # ---- What fp.compile is given ----------------------------------------------------------------------
    "compiler": Entry(
        Text("compiler is {value}.", "compiler 是 {value}。"),
        Text("It is 'nvrtc' or 'nvcc'.", "只能是 'nvrtc' 或 'nvcc'。"),
    ),
    "not-a-list": Entry(
        Text("{what} is {value}.", "{what} 是 {value}。"),
        Text("Give a list: {what}=[…].", "请给一个列表：{what}=[…]。"),
    ),
    "not-strings": Entry(
        Text("{what} holds {value}.", "{what} 里有 {value}。"), Text("Give strings.", "请给字符串。")
    ),
    "defines": Entry(
        Text("defines is {value}.", "defines 是 {value}。"),
        Text("Give a mapping: defines={{'BLOCK': 256}}.", "请给一个映射：defines={{'BLOCK': 256}}。"),
    ),
    "no-include-folder": Entry(
        Text("The include folder {folder} does not exist.", "头文件目录 {folder} 不存在。"),
        Text("Check includes=.", "请检查 includes=。"),
        command_fix=Text("Check -I.", "请检查 -I。"),
    ),
    "keyword-arch": Entry(Text("arch=", "arch="), command=Text("--arch", "--arch")),
    "keyword-includes": Entry(Text("includes=", "includes="), command=Text("-I", "-I")),
    "keyword-defines": Entry(Text("defines=", "defines="), command=Text("-D", "-D")),
    "managed-option": Entry(
        _HOLDS_OPTION,
        Text("Use {keyword} for that, so the cache sees it.", "请改用 {keyword}，这样缓存才知道。"),
        command=_OPTION_IS,
    ),
    "linking-option": Entry(
        _HOLDS_OPTION,
        Text(
            "A module is compiled whole: leave it out, #include what it needs.",
            "模块是整个编译的：请去掉它，把需要的代码 #include 进来。",
        ),
        command=_OPTION_IS,
    ),
    "option-without-value": Entry(
        _HOLDS_OPTION,
        Text("Write it with a value: {option}=….", "请写上值：{option}=…。"),
        command=_OPTION_IS,
    ),
    "define-name": Entry(
        Text("defines has the name {name}.", "defines 里有名字 {name}。"),
        Text("A macro's name is a C identifier.", "宏的名字必须是 C 标识符。"),
        command=Text("-D has the name {name}.", "-D 里有名字 {name}。"),
    ),
    "define-not-finite": Entry(
        Text("defines has {name}={value}.", "defines 里有 {name}={value}。"),
        Text("Use the string INFINITY or NAN.", "请用字符串 INFINITY 或 NAN。"),
    ),
    "define-value": Entry(
        Text("defines has {name}={value}.", "defines 里有 {name}={value}。"),
        Text("A macro's value is a string or a number.", "宏的值只能是字符串或数。"),
    ),
    "cache": Entry(
        Text("cache is {value}.", "cache 是 {value}。"),
        Text("Give a KernelCache(folder), or leave it out.", "请给 KernelCache(目录)，或不写。"),
    ),
    "source-name-of-file": Entry(
        Text(
            "source_name is {name}, but the source is a file, which has a name.",
            "source_name 是 {name}，但源代码是文件，它已经有名字了。",
        ),
        Text("Leave it out.", "请去掉它。"),
    ),
    "source-name": Entry(
        Text("source_name is {name}.", "source_name 是 {name}。"),
        Text("Give the name of a file, such as saxpy.cu.", "请给一个文件名，例如 saxpy.cu。"),
    ),
    # ---- Sources ---------------------------------------------------------------------------------------
    "no-source": Entry(
        Text("fp.compile was given {value}.", "fp.compile 收到的是 {value}。"),
        Text("Give the path of a .cu file, or CUDA source.", "请给 .cu 文件的路径，或 CUDA 源代码。"),
    ),
    "source-with-nul": Entry(
        Text("The source holds a NUL character.", "源代码里有 NUL 字符。"),
        Text("Remove it: compilers end there.", "请删去它：编译器读到那里就停了。"),
    ),
    "file-with-nul": Entry(
        Text("{path} holds a NUL character.", "{path} 里有 NUL 字符。"),
        Text("Remove it: compilers end there.", "请删去它：编译器读到那里就停了。"),
    ),
    "variables-of-string": Entry(
        Text(
            "variables= was given, but the source is a plain string.",
            "给了 variables=，但源代码是普通字符串。",
        ),
        Text(
            "Variables fill a *.cu.jinja file; for a string use defines= or str.format.",
            "variables 用来填充 *.cu.jinja 文件；字符串请用 defines= 或 str.format。",
        ),
    ),
    "no-path": Entry(Text("{value} is no path: {error}.", "{value} 不是路径：{error}。"), _CHECK_PATH),
    "variables-of-plain-file": Entry(
        Text("variables= was given, but {name} is no template.", "给了 variables=，但 {name} 不是模板。"),
        Text(
            "Rename it to *.cu.jinja, or use defines= for preprocessor values.",
            "请改名为 *.cu.jinja，或用 defines= 给预处理器的值。",
        ),
    ),
    "not-utf8": Entry(
        Text("{path} is not UTF-8 text: {error}.", "{path} 不是 UTF-8 文本：{error}。"),
        Text("Save the file as UTF-8.", "请把文件存为 UTF-8。"),
    ),
    "source-is-folder": Entry(
        Text("{path} is a folder, not a CUDA source file.", "{path} 是目录，不是 CUDA 源文件。"),
        Text("Name a .cu file in it.", "请给出其中的一个 .cu 文件。"),
    ),
    "source-and-folder-missing": Entry(
        Text(
            "{path} does not exist; neither does its folder {folder}.",
            "{path} 不存在，它的目录 {folder} 也不存在。",
        ),
        _CHECK_PATH,
    ),
    "source-missing-near": Entry(Text("{path} does not exist.", "{path} 不存在。"), _DID_YOU_MEAN),
    "source-missing": Entry(
        Text("{path} does not exist.", "{path} 不存在。"),
        Text(
            "Check the path; CUDA source given as a string holds a line break, a brace or a semicolon.",
            "请检查路径；以字符串给出的 CUDA 源代码应含有换行、花括号或分号。",
        ),
        command_fix=_CHECK_PATH,
    ),
    "template-variable": Entry(
        Text("{name}: {error}.", "{name}：{error}。"),
        Text(
            "Pass it: fp.compile(path, variables={{…}}). Given: {given}.",
            "请给出它：fp.compile(path, variables={{…}})。已给：{given}。",
        ),
    ),
    "nothing": Text("nothing", "没有"),
    "template-syntax": Text("{name}, line {line}: {error}.", "{name} 第 {line} 行：{error}。"),
    "template-include": Text(
        "{name} includes the template {other!r}, which is not there.",
        "{name} 包含模板 {other!r}，但它不存在。",
    ),
    "template-failed": Entry(Text("{name}: {error}.", "{name}：{error}。"), _ADVICE),
    "template-not-given": Text(
        "It was not given: {missing}. Pass it: fp.compile(path, variables={{…}}).",
        "没有给出：{missing}。请给出它：fp.compile(path, variables={{…}})。",
    ),
    # ---- The cache -------------------------------------------------------------------------------------
    "no-cache-entry": Entry(
        Text("No cache entry starts with {prefix!r}.", "没有以 {prefix!r} 开头的缓存项。"),
        Text("`flashpath cache list` shows them.", "`flashpath cache list` 会列出它们。"),
    ),
    "cache-entries": Entry(
        Text("{count} cache entries start with {prefix!r}.", "有 {count} 个缓存项以 {prefix!r} 开头。"),
        Text("Give more of the key.", "请多写几位键。"),
    ),
    "cache-unreadable": Text(
        "The kernel cache cannot be read ({error}); compiling anew.",
        "核函数缓存无法读取（{error}）；重新编译。",
    ),
    "cache-damaged": Text(
        "A damaged kernel-cache entry is dropped and rebuilt: {why} ({place}).",
        "丢弃并重建一个损坏的核函数缓存项：{why}（{place}）。",
    ),
    "file-is-missing": Text("{file} is missing", "缺少 {file}"),
    "file-changed": Text("{files} changed since it was written", "{files} 写入之后被改过"),
    "cache-read-only": Text(
        "The kernel cache {folder} cannot be written ({error}); the kernel will be compiled again next time. "
        "Set {variable} to a folder you can write.",
        "核函数缓存 {folder} 无法写入（{error}）；下次会重新编译。请把 {variable} 设为可写的目录。",
    ),
    # ---- Arguments of launches -------------------------------------------------------------------------
    "wrong-argument": Entry(
        Text(
            "{kernel}: argument {index} is {parameter}, got {got}.",
            "{kernel}：第 {index} 个参数是 {parameter}，收到的是 {got}。",
        ),
        _ADVICE,
    ),
    "argument-count": Entry(
        Text(
            "{kernel} takes {count} arguments {signature}, got {got}.",
            "{kernel} 有 {count} 个参数 {signature}，收到 {got} 个。",
        ),
        Text("Pass one argument per parameter, in order.", "请按顺序为每个形参传一个实参。"),
    ),
    "two-devices": Entry(
        Text(
            "{kernel}: argument {index} is on {here}, an earlier one on {there}.",
            "{kernel}：第 {index} 个参数在 {here}，前面的一个在 {there}。",
        ),
        Text(
            "Bring all arrays to one device, with tensor.to(device).",
            "请用 tensor.to(device) 把所有数组放到同一设备。",
        ),
    ),
    "the-cpu": Text("the CPU", "CPU"),
    "an-array": Text(
        "an array of {dtype}, shape {shape}, on {place}", "{place} 上形状为 {shape} 的 {dtype} 数组"
    ),
    "an-array-of": Text("an array of {dtype}", "{dtype} 数组"),
    "not-contiguous": Text("a non-contiguous array of shape {shape}", "形状为 {shape} 的不连续数组"),
    "so-many-bytes": Text("{count} bytes", "{count} 字节"),
    "pass-a-number": Text("Pass a number; for one element, x.item().", "请传一个数；单个元素用 x.item()。"),
    "pass-an-integer": Text("Pass an integer: int(x).", "请传整数：int(x)。"),
    "values-run": Text("Its values run from {low} to {high}.", "它的取值范围是 {low} 到 {high}。"),
    "too-large-for-any": Text("It is too large for any float.", "它太大，任何浮点类型都放不下。"),
    "too-large-for-float": Text(
        "It is too large for a float; pass a double, or scale it.",
        "它太大，float 放不下；请传 double，或缩放它。",
    ),
    "pass-struct": Text(
        "Pass the struct's {size} bytes: bytes, a NumPy record, or a ctypes.Structure.",
        "请传结构体的 {size} 个字节：bytes、NumPy 记录或 ctypes.Structure。",
    ),
    "map-of-no-array": Entry(
        Text("A tensor map is of an array, not of {value}.", "张量映射要对应一个数组，而不是 {value}。"),
        Text("Pass a NumPy array or a torch tensor.", "请传 NumPy 数组或 torch 张量。"),
    ),
    "map-type": Entry(
        Text("A tensor map has no elements of type {dtype}.", "张量映射没有 {dtype} 类型的元素。"),
        Text("Choose one of {known}.", "可选：{known}。"),
    ),
    "map-swizzle": Entry(
        Text("swizzle={value} is no width of a swizzle.", "swizzle={value} 不是合法的 swizzle 宽度。"),
        Text("Choose one of {known} bytes.", "可选（字节）：{known}。"),
    ),
    "map-fill": Entry(
        Text("fill={value} is not known.", "fill={value} 不可识别。"),
        Text("Choose one of {known}.", "可选：{known}。"),
    ),
    "map-rank": Entry(
        Text(
            "Box {box} and steps {steps} have not as many dimensions as the array, {shape}.",
            "box {box} 和 steps {steps} 的维数与数组 {shape} 不同。",
        ),
        Text("Give one number for each dimension.", "每一维给一个数。"),
    ),
    "map-inner-stride": Entry(
        Text(
            "The last dimension's elements are {stride} bytes apart, and {size} bytes wide: a tensor map has them next to "
            "each other.",
            "最内层一维的元素相隔 {stride} 字节，而元素宽 {size} 字节：张量映射要求它们相邻。",
        ),
        Text(
            "Pass x.contiguous(), or a map of the transposed array.",
            "请传 x.contiguous()，或对转置后的数组建映射。",
        ),
    ),
    "map-refused": Text("CUDA refuses {map}: {status}.", "CUDA 拒绝了 {map}：{status}。"),
    "struct-size": Text(
        "The struct has {size} bytes with its padding; np.dtype(…, align=True) pads as C++ does.",
        "结构体连同填充共 {size} 字节；np.dtype(…, align=True) 的填充与 C++ 相同。",
    ),
    "pass-an-array-of": Text("Pass an array of {names}.", "请传 {names} 数组。"),
    "pass-contiguous": Text(
        "Pass x.contiguous(); or fp.jit.strided(x), if the kernel takes the strides itself.",
        "请传 x.contiguous()；如果核函数自己处理步长，请传 fp.jit.strided(x)。",
    ),
    "any-type": Text("any type", "任意类型"),
    "pass-an-array": Text(
        "Pass an array of {names}: torch, NumPy, CuPy, anything with DLPack; or None for a null pointer.",
        "请传 {names} 的数组：torch、NumPy、CuPy 或任何支持 DLPack 的；空指针请传 None。",
    ),
    "stream": Entry(
        Text("stream is {value}.", "stream 是 {value}。"),
        Text(
            "Pass a torch.cuda.Stream, a cuda.core.Stream, a raw handle, or None.",
            "请传 torch.cuda.Stream、cuda.core.Stream、原始句柄或 None。",
        ),
    ),
    "launch-brackets": Entry(
        Text("{kernel}[…] was given {value}.", "{kernel}[…] 收到的是 {value}。"),
        Text(
            "Write kernel[grid, block](arguments…), as in <<<grid, block>>>.",
            "请写 kernel[grid, block](参数…)，与 <<<grid, block>>> 一样。",
        ),
    ),
    "compiled-for-another-gpu": Entry(
        Text(
            "{kernel} was compiled for {arch}; cuda:{index} ({gpu}) is {own}.",
            "{kernel} 是为 {arch} 编译的；cuda:{index}（{gpu}）是 {own}。",
        ),
        Text(
            "Leave arch= out of fp.compile, or name this GPU's own architecture.",
            "fp.compile 不写 arch=，或写这块 GPU 自己的架构。",
        ),
    ),
    "does-not-run-on": Entry(
        Text(
            "{kernel} was compiled for {arch}, which does not run on {gpu}.",
            "{kernel} 是为 {arch} 编译的，不能在 {gpu} 上运行。",
        ),
        Text("Compile it for {gpu}: arch='{own}'.", "请为 {gpu} 编译：arch='{own}'。"),
    ),
    "bit-exactness-of": Entry(
        Text(
            "bit_exactness was given {value}, which is no kernel.",
            "bit_exactness 收到的 {value} 不是核函数。",
        ),
        Text(
            "Give a kernel of fp.compile(…), as module['name'].",
            "请给 fp.compile(…) 的核函数，如 module['name']。",
        ),
    ),
    # ---- fp.profile and fp.sanitize --------------------------------------------------------------------
    "args": Entry(
        Text("args is {value}.", "args 是 {value}。"),
        Text(
            "Give the kernel's arguments as a tuple: args=(n, x, y).",
            "请用元组给出核函数的参数：args=(n, x, y)。",
        ),
    ),
    "cooperative": Entry(
        Text("cooperative is {value}.", "cooperative 是 {value}。"),
        Text("Give True or False.", "请给 True 或 False。"),
    ),
    "triton-chooses": Entry(
        Text(
            "{caller} was given block=, shared= or cooperative= for a Triton kernel.",
            "{caller} 为 Triton 核函数收到了 block=、shared= 或 cooperative=。",
        ),
        Text(
            "Triton chooses them itself: leave them out, and pass num_warps= for the number of threads, "
            "launch_cooperative_grid=True for a cooperative launch.",
            "这些由 Triton 决定：请去掉它们；线程数用 num_warps=，协作启动用 launch_cooperative_grid=True。",
        ),
    ),
    "not-a-kernel": Entry(
        Text("{caller} was given {value}, which is no kernel.", "{caller} 收到的 {value} 不是核函数。"),
        Text(
            "Give a kernel of fp.compile(…), as module['name'], or a @triton.jit function.",
            "请给 fp.compile(…) 的核函数（如 module['name']），或 @triton.jit 函数。",
        ),
    ),
    "options-of-cuda": Entry(
        Text(
            "{caller} was given the options {names} for the CUDA kernel {kernel}.",
            "{caller} 为 CUDA 核函数 {kernel} 收到了选项 {names}。",
        ),
        Text(
            "Call it as {caller}(kernel, grid=…, block=…, args=(…)).",
            "请这样调用：{caller}(kernel, grid=…, block=…, args=(…))。",
        ),
    ),
    "no-block": Entry(
        Text(
            "{caller} was given no block for the CUDA kernel {kernel}.",
            "{caller} 没有为 CUDA 核函数 {kernel} 收到 block。",
        ),
        Text(
            "Call it as {caller}(kernel, grid=…, block=…, args=(…)).",
            "请这样调用：{caller}(kernel, grid=…, block=…, args=(…))。",
        ),
    ),
    "arrays-on-gpu": Entry(
        Text(
            "{caller} was given arrays on cuda:{index} for {kernel}.",
            "{caller} 为 {kernel} 收到了 cuda:{index} 上的数组。",
        ),
        Text(
            "Pass arrays on the CPU (x.cpu()): the virtual GPU runs there.",
            "请传 CPU 上的数组（x.cpu()）：虚拟 GPU 在 CPU 上运行。",
        ),
    ),
    # ---- fp.explain ------------------------------------------------------------------------------------
    "compiled-from": Text(
        "{kernel}{signature}, compiled for {arch} from {source}",
        "{kernel}{signature}，由 {source} 为 {arch} 编译",
    ),
    "explanation-of": Entry(
        Text(
            "A compiled kernel is explained, not {value}.",
            "只能讲解编译好的核函数，而这里是 {value}。",
        ),
        Text(
            'Pass module["name"] of fp.compile, or what kernel[grid](…) or kernel.warmup(…) of a Triton kernel '
            "returns.",
            '请传入 fp.compile 所得的 module["名字"]，或 Triton 核函数的 kernel[grid](…)、kernel.warmup(…) 的返回值。',
        ),
    ),
    "constants": Text("constants", "编译期常量"),
    "warps-and-stages": Text("warps, stages", "warp 数，级数"),
    "operations": Text(
        "{tiles} operations on tiles, {threads} once tiles are dealt out",
        "分块上 {tiles} 个操作，分配给线程后 {threads} 个",
    ),
    "registers": Text("registers per thread", "每个线程的寄存器"),
    "shared-memory": Text("shared memory", "共享内存"),
    "static-and-dynamic": Text(
        "{static} B static + {dynamic} B dynamic", "静态 {static} B + 动态 {dynamic} B"
    ),
    "local-memory": Text("local memory", "局部内存"),
    "bytes-per-thread": Text("{bytes} B per thread", "每个线程 {bytes} B"),
    "spills": Text("spills", "寄存器溢出"),
    "stored-and-loaded": Text("{stored} B stored, {loaded} B loaded", "写 {stored} B，读 {loaded} B"),
    "instructions": Text("{count} instructions", "{count} 条指令"),
    "no-disassembler": Text("no disassembler was found", "没有找到反汇编器"),
    "occupancy-on": Text("occupancy on {gpu}", "{gpu} 上的占用率"),
    "no-block-fits": Text("no block fits: {reason}", "一个线程块也放不下：{reason}"),
    "occupancy": Text(
        "{fraction:.0%}: {blocks} blocks of {threads} threads, {warps} of {most} warps (limited by {limit})",
        "{fraction:.0%}：{blocks} 个线程块，每块 {threads} 个线程，{most} 个 warp 中的 {warps} 个（受限于{limit}）",
    ),
    "bit-exact-on": Text("bit-exact on {gpu}", "与 {gpu} 逐位一致"),
    # ---- Whether results have the bits of the hardware -------------------------------------------------
    "bit-exact": Text("yes", "是"),
    "not-certain": Text("not certain: {reasons}", "不能确定：{reasons}"),
    "next-reason": Text("{one}; {other}", "{one}；{other}"),
    "does-not-run-it": Text("the virtual GPU does not run it: {problem}", "虚拟 GPU 不能运行它：{problem}"),
    "modelled-warpgroups": Text(
        "the sums of {instruction} follow published models; no GPU has been compared yet",
        "{instruction} 的求和按公开发表的模型计算，尚未与 GPU 对照",
    ),
    "modelled-tensor-cores": Text(
        "the tensor cores of {gpu} are modelled, those of {verified} verified ({instruction})",
        "{gpu} 的 Tensor Core 是按模型计算的，{verified} 的已核对（{instruction}）",
    ),
    "special-functions": Text(
        "its special functions were measured on {verified} only ({instruction})",
        "它的特殊函数只在 {verified} 上测量过（{instruction}）",
    ),
    "order-of-atomics": Text(
        "the order of its atomic sums is not that of {gpu} ({instruction})",
        "它的原子加法的顺序与 {gpu} 不同（{instruction}）",
    ),
    "reads-a-clock": Text("it reads a clock, and time is not simulated", "它读取时钟，而虚拟 GPU 不模拟时间"),
    "ptxas-refuses": Text(
        "ptxas does not compile it for {arch}, so what it fuses is not known",
        "ptxas 不能为 {arch} 编译它，因此不知道它融合了哪些运算",
    ),
    "fusion-unknown": Text(
        "what ptxas fuses is not known: no disassembler was found (pip install triton brings one)",
        "不知道 ptxas 融合了哪些运算：没有找到反汇编器（pip install triton 会带来一个）",
    ),
    "fuses-otherwise": Text(
        "ptxas makes {fused_there} {fused_name} and {sums_there} {sum_name}{where}, the virtual GPU {fused} and "
        "{sums}",
        "ptxas 生成 {fused_there} 条 {fused_name} 和 {sums_there} 条 {sum_name}{where}，虚拟 GPU 是 {fused} 条和 "
        "{sums} 条",
    ),
    "of-line": Text(" of line {line}", "（第 {line} 行）"),
    # ---- Programs that end badly -----------------------------------------------------------------------
    "timed-out": Text(
        "flashpath: {name} was ended: it ran longer than {seconds:g} s (--timeout).",
        "flashpath：已结束 {name}：它运行超过了 {seconds:g} 秒（--timeout）。",
    ),
    "died": Text(
        "flashpath: {name} died of {signal}: {meaning}.", "flashpath：{name} 因 {signal} 终止：{meaning}。"
    ),
    "segmentation-fault": Text(
        "host code touched memory that is not its own, such as a pointer of cudaMalloc's",
        "主机代码访问了不属于它的内存，例如 cudaMalloc 返回的指针",
    ),
    "division-by-zero": Text("host code divided an integer by zero", "主机代码里整数除以零"),
    "aborted": Text(
        "an assertion failed, an exception was not caught, or the heap was damaged",
        "断言失败、异常没有捕获，或堆被破坏",
    ),
    "bus-error": Text(
        "host code touched memory that has no file or page behind it", "主机代码访问的内存没有对应的文件或页"
    ),
    "illegal-instruction": Text(
        "host code holds an instruction that this processor does not have", "主机代码含有这个处理器没有的指令"
    ),
    "killed": Text(
        "something killed it, such as the system when memory runs out", "它被杀死了，例如内存不足时被系统杀死"
    ),
    "as-rendered": Text("{template} (as rendered, line {line})", "{template}（渲染后的第 {line} 行）"),
}
