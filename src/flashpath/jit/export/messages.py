"""What exporting a kernel says, and what the exported library itself says (`says-…`) in its export's language."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_LAUNCH_FORM = Text(
    "Write it as CUDA does: '<<<cdiv(n, 256), 256>>>(n, x, y)'; the number of bytes of shared memory may follow the block.",
    "请像 CUDA 那样写：'<<<cdiv(n, 256), 256>>>(n, x, y)'；线程块之后还可以写共享内存的字节数。",
)
_DECLARATION_FORM = Text(
    "Write tensors as 'x: float32[rows, n]' and numbers as 'a: float' or 'n: int'.",
    "张量写成 'x: float32[rows, n]'，数写成 'a: float' 或 'n: int'。",
)

MESSAGES: dict[str, Text | Entry] = {
    # ---- Describing ------------------------------------------------------------------------------------
    "no-launch": Entry(
        Text("{launch!r} is no launch.", "{launch!r} 不是一次启动。"),
        _LAUNCH_FORM,
    ),
    "no-declaration": Entry(
        Text("{text!r} declares no argument.", "{text!r} 没有声明参数。"),
        _DECLARATION_FORM,
    ),
    "tensor-without-extents": Entry(
        Text(
            "{text!r} names a tensor's type and no extents.", "{text!r} 写了张量的类型，却没有写各维的大小。"
        ),
        _DECLARATION_FORM,
    ),
    "no-scalar": Entry(
        Text(
            "{kind} in {text!r} is no type of a number: it is int or float.",
            "{text!r} 里的 {kind} 不是数的类型：数的类型是 int 或 float。",
        ),
        _DECLARATION_FORM,
    ),
    "no-dtype": Entry(
        Text("{kind} in {text!r} is no type of a tensor.", "{text!r} 里的 {kind} 不是张量的类型。"),
        Text("{advice}", "{advice}"),
    ),
    "name-twice": Text("The name {name} is given twice.", "名字 {name} 用了两次。"),
    "no-expression": Entry(
        Text("{text!r} cannot be computed.", "{text!r} 无法计算。"),
        Text("Expressions are written as in Python.", "表达式用 Python 的写法。"),
    ),
    "no-number": Entry(
        Text("{text!r} is no number that a library can compute.", "{text!r} 不是库能够计算的数。"),
        Text(
            "There are names of extents, x.size and x.address of a tensor x, whole numbers, + - * // % << >> & | and {functions}.",
            "可以使用：各维的名字、张量 x 的 x.size 和 x.address、整数、+ - * // % << >> & |，以及 {functions}。",
        ),
    ),
    "no-comparison": Entry(
        Text("{text!r} is no comparison.", "{text!r} 不是比较。"),
        Text("Write one, such as 'n % 4 == 0'.", "请写一个比较，例如 'n % 4 == 0'。"),
    ),
    "unknown-name": Entry(
        Text("Nothing is called {name} here.", "这里没有叫 {name} 的东西。"),
        Text("There are {known}.", "可用的有：{known}。"),
    ),
    "dimensions": Text("{text!r} are not one to three dimensions.", "{text!r} 不是一到三维的大小。"),
    "wrong-count": Entry(
        Text(
            "{kernel} has {wanted:~parameter}, and the launch gives it {count:~argument}.",
            "{kernel} 有 {wanted} 个参数，启动给了它 {count} 个。",
        ),
        Text("Its signature is {signature}.", "它的签名是 {signature}。"),
    ),
    "wrong-value": Text(
        "Parameter {index} of {kernel} is {parameter} and takes {wanted}; the launch gives it {got}.",
        "{kernel} 的第 {index} 个参数是 {parameter}，需要{wanted}；启动给它的是 {got}。",
    ),
    "a-tensor": Text("a tensor or None", "张量或 None"),
    "a-tensor-of": Text("a tensor of {dtypes}", "元素类型为 {dtypes} 的张量"),
    "an-integer": Text("a whole number", "整数"),
    "a-number": Text("a number", "数"),
    "strange-parameter": Entry(
        Text(
            "{kernel} takes {parameter}, which no TVM-FFI caller can pass.",
            "{kernel} 有 {parameter} 类型的参数，TVM-FFI 的调用者无法传入。",
        ),
        Text(
            "Pass structs and half-precision numbers by pointer, or fix them as template arguments.",
            "请用指针传递结构体和半精度的数，或者把它们固定为模板参数。",
        ),
    ),
    # ---- Building --------------------------------------------------------------------------------------
    "no-compiler": Entry(
        Text(
            "A library is compiled by a C++ compiler, and there is none.",
            "库要用 C++ 编译器编译，而这台机器上没有。",
        ),
        Text(
            "apt-get install g++ or dnf install gcc-c++; or name one in CXX.",
            "apt-get install g++ 或 dnf install gcc-c++；也可以用环境变量 CXX 指定。",
        ),
    ),
    "does-not-compile": Text(
        "{compiler} did not compile the library:\n{output}", "{compiler} 没有编译成这个库：\n{output}"
    ),
    # ---- What the library says of itself ---------------------------------------------------------------
    "about-guards": Text("where {guards}", "条件：{guards}"),
    "about-launch": Text(
        "launches {kernel} with grid ({grid}), block ({block})",
        "启动 {kernel}：网格 ({grid})，线程块 ({block})",
    ),
    # ---- What the library says of a call ---------------------------------------------------------------
    "says-count": Text(
        "it takes {signature}, and got {count} arguments", "它的参数是 {signature}，这次给了 {count} 个"
    ),
    "says-no-tensor": Text(
        "{name} must be a tensor (of torch, NumPy, CuPy or anything that speaks DLPack), and is {got}",
        "{name} 必须是张量（torch、NumPy、CuPy 或任何支持 DLPack 的库），给的是 {got}",
    ),
    "says-no-integer": Text("{name} must be a whole number, and is {got}", "{name} 必须是整数，给的是 {got}"),
    "says-no-number": Text("{name} must be a number, and is {got}", "{name} 必须是数，给的是 {got}"),
    "says-strided": Entry(
        Text("{name} is not contiguous: {got}", "{name} 不是连续的：{got}"),
        Text("Pass a contiguous copy.", "请传入连续的副本。"),
    ),
    "says-device": Text(
        "{name} is on a device of DLPack's type {type}, neither on the CPU nor on a CUDA GPU",
        "{name} 在 DLPack 类型为 {type} 的设备上，既不在 CPU 上，也不在 CUDA GPU 上",
    ),
    "says-devices": Entry(
        Text("{name} is on {place}, and {other} on {place2}", "{name} 在 {place} 上，{other} 在 {place2} 上"),
        Text("All tensors must be in one place.", "所有张量必须在同一个设备上。"),
    ),
    "says-or": Text(" or ", " 或 "),
    "says-types": Text("{name} is {got}, and must be {taken}", "{name} 是 {got}，必须是 {taken}"),
    "says-combination": Text(
        "these types do not go together: {got}; it is {signature}",
        "这些类型不能一起使用：{got}；签名是 {signature}",
    ),
    "says-guards": Text(
        "it was not built for this call: {got}; it needs{needs}",
        "它不是为这种调用生成的：{got}；需要满足{needs}",
    ),
    "says-overlap": Entry(
        Text("{name} is written, and shares memory with {other}", "{name} 会被写入，而它与 {other} 共享内存"),
        Text("Pass arrays of their own, or arrays on the GPU.", "请传入互不重叠的数组，或 GPU 上的数组。"),
    ),
    "says-integer": Text(
        "{what} is {value}, and the kernel's {type} holds {low} to {high}",
        "{what} 是 {value}，而核函数的 {type} 只能存放 {low} 到 {high}",
    ),
    "says-zero": Text("an extent of 0 would be divided by", "会用为 0 的大小作除数"),
    "says-shift": Text("a number would be shifted too far", "移位的位数过大"),
    "says-launch": Text(
        "no GPU takes this launch: grid {grid}, block {block}, {shared} bytes of shared memory, for {got}",
        "GPU 无法执行这次启动：网格 {grid}，线程块 {block}，共享内存 {shared} 字节，调用是 {got}",
    ),
    "says-other": Text("an object of TVM-FFI's type {number}", "TVM-FFI 类型为 {number} 的对象"),
    "says-no-driver": Entry(
        Text("NVIDIA's driver is not there: {problem}", "没有 NVIDIA 驱动：{problem}"),
        Text("It runs on a machine with an NVIDIA GPU.", "请在有 NVIDIA GPU 的机器上运行。"),
    ),
    "says-no-gpu": Text(
        "there is no GPU {index}: the driver has {count}", "没有编号为 {index} 的 GPU：驱动共有 {count} 个"
    ),
    "says-no-code": Entry(
        Text("the library has no code for this GPU, which is {arch}", "库里没有这个 GPU（{arch}）的代码"),
        Text("Export it for that architecture too.", "请为这个架构再导出一次。"),
    ),
    "says-cuda": Text("{call} failed: {error} ({text})", "{call} 失败：{error}（{text}）"),
}
