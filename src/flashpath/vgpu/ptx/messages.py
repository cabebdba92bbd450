"""What is wrong with a kernel's PTX: why it cannot be read, and why it cannot be run.

The texts are parts of sentences: `vgpu.ptx` and `vgpu.unsupported-instruction` say where it is and what to do.
What PTX itself writes, such as `.row | .col`, is a parameter.
"""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- What the virtual GPU does not run -------------------------------------------------------------
    "instruction-not-known": Text(
        "the instruction {instruction} is not known to this version", "这个版本不支持指令 {instruction}"
    ),
    "part-not-known": Text(
        "the instruction {instruction} is not known to this version: .{part} is not",
        "这个版本不支持指令 {instruction}：不支持其中的 .{part}",
    ),
    "only-form-known": Text(
        "the instruction {instruction} is not known to this version: only {known} is",
        "这个版本不支持指令 {instruction}：只支持 {known}",
    ),
    "three-operands": Text(
        "the instruction {instruction} of three operands is not known to this version",
        "这个版本不支持三个操作数的指令 {instruction}",
    ),
    "sparse-matrices": Text(
        "the instruction {instruction} is not known to this version: it multiplies sparse matrices",
        "这个版本不支持指令 {instruction}：它做稀疏矩阵乘法",
    ),
    "part-of-later-gpu": Text(
        "the instruction {instruction} is not known to this version: .{part} is of {architecture} and later",
        "这个版本不支持指令 {instruction}：.{part} 属于 {architecture} 及更新的架构",
    ),
    "later-tensor-core": Text(
        "the instruction {instruction} is not known to this version: it is a tensor core of {architecture}, "
        "compile for sm_80 or sm_89 to have mma instead",
        "这个版本不支持指令 {instruction}：它属于 {architecture} 的 tensor core；"
        "请为 sm_80 或 sm_89 编译，改用 mma",
    ),
    "no-member-mask": Text(
        "{instruction} has no member mask: it is of an architecture before sm_70",
        "{instruction} 没有成员掩码：它属于 sm_70 之前的架构",
    ),
    "register-parts": Text(
        "{instruction}: parts of registers are not known to this version",
        "{instruction}：这个版本不支持寄存器的一部分",
    ),
    "special-register-not-known": Text(
        "{instruction}: the special register {register} is not known",
        "{instruction}：不支持特殊寄存器 {register}",
    ),
    "address-of-label": Text(
        "{instruction}: the address of a label is not known to this version",
        "{instruction}：这个版本不支持取标号的地址",
    ),
    "dynamic-parallelism": Text(
        "the kernel launches other kernels ({function}): dynamic parallelism is not known to this version",
        "核函数启动了其他核函数（{function}）：这个版本不支持动态并行",
    ),
    "function-without-body": Text(
        "the function {function} has no body in this module", "函数 {function} 在这个模块里没有函数体"
    ),
    "kernel-is-called": Text(
        "the kernel {function} is called: only device functions can be",
        "调用了核函数 {function}：能调用的只有设备函数",
    ),
    "wide-registers-in-recursion": Text(
        "128-bit registers in the recursive function {function} are not known to this version",
        "这个版本不支持递归函数 {function} 里的 128 位寄存器",
    ),
    "values-in-registers": Text(
        "the function {function} passes values in registers, a form from before PTX ISA 2.0",
        "函数 {function} 用寄存器传值，这是 PTX ISA 2.0 之前的写法",
    ),
    "variable-in-body": Text(
        "the variable {variable} in the body of {function} is not in shared or local memory, "
        "which this version does not know",
        "{function} 函数体里的变量 {variable} 不在共享内存或局部内存里，这个版本不支持",
    ),
    # ---- What no GPU has -------------------------------------------------------------------------------
    "shared-bytes": Text(
        "the kernel's static shared memory has {bytes} bytes, more than any GPU",
        "核函数的静态共享内存有 {bytes} 字节，比任何 GPU 都多",
    ),
    "local-bytes": Text(
        "the kernel's local memory has {bytes} bytes, more than any GPU",
        "核函数的局部内存有 {bytes} 字节，比任何 GPU 都多",
    ),
    "parameter-bytes": Text(
        "the kernel's parameters have {bytes} bytes, at most {most} are passed",
        "核函数的参数有 {bytes} 字节，最多能传 {most} 字节",
    ),
    "too-many-registers": Text(
        "the kernel has more registers than this version can keep", "核函数的寄存器超出这个版本的上限"
    ),
    "variable-bytes": Text(
        "the module's variables have {bytes} bytes, at most {most} are given to them",
        "模块的变量共有 {bytes} 字节，最多 {most} 字节",
    ),
    "other-entries": Text(
        "the module has no such kernel, only {names}", "模块里没有这个核函数，只有 {names}"
    ),
    "no-entries": Text("the module has no kernels", "模块里没有核函数"),
    # ---- Operands that an instruction cannot have ------------------------------------------------------
    "notation-expected": Text("{instruction}: {expected} is expected", "{instruction}：应为 {expected}"),
    "layouts": Text("{instruction}: A must be .row and B .col", "{instruction}：A 应为 .row，B 应为 .col"),
    "type-missing": Text("{instruction}: it has no type", "{instruction}：没有写类型"),
    "number-expected": Text("{instruction}: a number is expected", "{instruction}：应为一个数"),
    "operand-missing": Text(
        "{instruction}: operand {index} is missing", "{instruction}：缺少第 {index} 个操作数（从 0 数起）"
    ),
    "operand-count": Text(
        "{instruction}: {given:~operand} {given:?stands/stand} where {expected} {expected:?is/are} expected",
        "{instruction}：有 {given} 个操作数，应为 {expected} 个",
    ),
    "operand-must-be-vector": Text(
        "{instruction}: operand {index} must be {count} registers between braces",
        "{instruction}：第 {index} 个操作数（从 0 数起）应为花括号里的 {count} 个寄存器",
    ),
    "operand-kind": Text(
        "{instruction}: an operand of this kind is not understood", "{instruction}：不支持这种操作数"
    ),
    "register-count": Text(
        "{instruction}: {given:~register} {given:?stands/stand} where {expected} {expected:?is/are} expected",
        "{instruction}：有 {given} 个寄存器，应为 {expected} 个",
    ),
    "register-expected": Text("{instruction}: a register is expected", "{instruction}：应为寄存器"),
    "predicate-expected": Text("{instruction}: a predicate is expected", "{instruction}：应为谓词寄存器"),
    "register-bits": Text(
        "{instruction}: a register of {given} bits stands where one of {expected} is expected",
        "{instruction}：这里的寄存器有 {given} 位，应为 {expected} 位",
    ),
    "special-register-bits": Text(
        "{instruction}: {register} has {given} bits, and {expected} are expected",
        "{instruction}：{register} 有 {given} 位，应为 {expected} 位",
    ),
    "label-expected": Text("{instruction}: a label is expected", "{instruction}：应为标号"),
    "targets-expected": Text(
        "{instruction}: a list of branch targets is expected", "{instruction}：应为一组跳转目标"
    ),
    "barrier-number": Text(
        "{instruction}: the barrier must be a number from 0 to 15", "{instruction}：屏障的编号应为 0 到 15"
    ),
    "param-variable-expected": Text(
        "{instruction}: what is passed must be a .param variable",
        "{instruction}：传递的值应在 .param 变量里",
    ),
    "call-arguments": Text(
        "the call of {function} has {given:~argument}, the function {expected}",
        "调用 {function} 时有 {given} 个参数，函数有 {expected} 个",
    ),
    "call-results": Text(
        "the call of {function} has {given:~result}, the function {expected}",
        "调用 {function} 时有 {given} 个返回值，函数有 {expected} 个",
    ),
    "call-argument-bytes": Text(
        "the call of {function} has an argument of {given} bytes, the function one of {expected}",
        "调用 {function} 时有一个参数是 {given} 字节，函数的是 {expected} 字节",
    ),
    "call-result-bytes": Text(
        "the call of {function} has a result of {given} bytes, the function one of {expected}",
        "调用 {function} 时返回值是 {given} 字节，函数的是 {expected} 字节",
    ),
    "beyond-parameters": Text(
        "{instruction}: it reads beyond the parameters", "{instruction}：读到了参数之外"
    ),
    "parameters-are-read-only": Text(
        "{instruction}: the parameters of a kernel are read-only", "{instruction}：核函数的参数是只读的"
    ),
    "blocks-are-clusters": Text(
        ".blocksareclusters is not known to this version", "这个版本不支持 .blocksareclusters"
    ),
    "register-limit": Text(
        "{instruction}: a warp has 24 to 256 registers a thread, a multiple of 8",
        "{instruction}：每个线程的寄存器数在 24 到 256 之间，且是 8 的倍数",
    ),
    "copy-size": Text(
        "{instruction}: it copies 4, 8 or 16 bytes with .ca, 16 with .cg",
        "{instruction}：用 .ca 可以拷贝 4、8 或 16 字节，用 .cg 只能拷贝 16 字节",
    ),
    "offset-too-large": Text(
        "{instruction}: the offset {offset} does not fit 32 bits", "{instruction}：偏移 {offset} 超出 32 位"
    ),
    "address-bits": Text(
        "{instruction}: an address of {bits} bits is not expected here",
        "{instruction}：这里的地址不能是 {bits} 位",
    ),
    # ---- What the parser got ---------------------------------------------------------------------------
    "got-instead": Text("got {got}, expected {expected}", "读到 {got}，此处应为：{expected}"),
    "end-of-text": Text("the end of the text", "文本的结尾"),
    "alignment-is": Text(
        "got the alignment {alignment}, expected a power of two", "对齐是 {alignment}，应为 2 的幂"
    ),
    "array-too-large": Text(
        "got an array of more than 2^40 bytes, expected less", "数组超过 2^40 字节，应小于它"
    ),
    "second-declaration": Text(
        "got a second declaration of {name}, expected one", "{name} 声明了两次，应只声明一次"
    ),
    "second-body": Text("got a second body of {name}, expected one", "{name} 有两个函数体，应只有一个"),
    "second-parameter": Text(
        "got a second parameter {name}, expected one", "有两个参数叫 {name}，应只有一个"
    ),
    "second-label": Text("got a second label {name}, expected one", "有两个标号叫 {name}，应只有一个"),
    "other-parameters": Text(
        "got {name} with other parameters than on line {line}, expected the same",
        "{name} 的参数与第 {line} 行不同，应相同",
    ),
    "directive-of-module": Text(
        "got the directive {got}, expected one of a module", "读到指示字 {got}，此处应为模块的指示字"
    ),
    "directive-of-head": Text(
        "got the directive {got}, expected one of a function's head",
        "读到指示字 {got}，此处应为函数头的指示字",
    ),
    "directive-of-body": Text(
        "got the directive {got}, expected one of a function's body",
        "读到指示字 {got}，此处应为函数体的指示字",
    ),
    "operation-on-floats": Text("got {got} on floats, expected integers", "{got} 用在了浮点数上，应为整数"),
    "complement-of-float": Text("got '~' on a float, expected an integer", "'~' 用在了浮点数上，应为整数"),
    "float-as-offset": Text("got a float as an offset, expected an integer", "偏移是浮点数，应为整数"),
    "division-by-zero": Text(
        "got a division by zero in a constant, expected another divisor", "常量里除以了零，请换一个除数"
    ),
    "malformed-number": Text(
        "got the number {got}, expected one that is well formed and fits 64 bits",
        "读到数 {got}，应为格式正确且不超过 64 位的数",
    ),
    "negative-or-fractional": Text(
        "got a negative or fractional number, expected {expected}", "读到负数或小数，此处应为：{expected}"
    ),
    "no-token": Text("got {got}, which no PTX token starts with", "读到 {got}，PTX 里没有以它开头的记号"),
    "endless-comment": Text("got a comment with no end, expected '*/'", "注释没有结尾，应有 '*/'"),
    "endless-string": Text(
        "got a string with no end, expected '\"' on its line", "字符串没有结尾，同一行里应有 '\"'"
    ),
    "text-too-long": Text("got more than 1 GiB of PTX, expected at most that", "PTX 超过 1 GiB，应不超过它"),
    "nested-too-deeply": Text(
        "got nesting deeper than {most} levels, expected less", "嵌套超过 {most} 层，应少于它"
    ),
    "file-number-is": Text(
        "got the file number {number}, expected at most {most}", "文件编号是 {number}，应不超过 {most}"
    ),
    "function-not-declared": Text(
        "got {got}, expected a function declared above", "读到 {got}，此处应为前面声明过的函数"
    ),
    "past-registers": Text(
        "got the unknown name {name}, expected a register of {range}",
        "读到未知的名字 {name}，此处应为 {range} 中的寄存器",
    ),
    "unknown-name": Text(
        "got the unknown name {name}, expected one that is declared",
        "读到未知的名字 {name}，此处应为声明过的名字",
    ),
    "perhaps": Text(
        "got the unknown name {name}, expected perhaps {near}", "读到未知的名字 {name}，是不是想写 {near}"
    ),
    # ---- What the parser expected ----------------------------------------------------------------------
    "address": Text("an address", "地址"),
    "address-size": Text("32 or 64", "32 或 64"),
    "after-linkage": Text("a variable or a function after its linkage", "链接属性之后的变量或函数"),
    "alignment": Text("an alignment", "对齐字节数"),
    "an-instruction": Text("an instruction", "指令"),
    "array-size": Text("an array's size", "数组的大小"),
    "attribute": Text("an attribute such as .managed", "属性，如 .managed"),
    "body-or-end": Text("'{{' or ';'", "'{{' 或 ';'"),
    "bracket": Text("']'", "']'"),
    "column": Text("a column", "列号"),
    "comma-or-semicolon": Text("',' or ';'", "',' 或 ';'"),
    "component": Text("a component such as .x", "分量，如 .x"),
    "constant": Text("a constant", "常量"),
    "directive": Text("a directive", "指示字"),
    "end-after-values": Text("'}}' after {count} values", "{count} 个值之后的 '}}'"),
    "file-number": Text("a file's number", "文件编号"),
    "function": Text("a function", "函数"),
    "function-name": Text("a function's name", "函数名"),
    "label": Text("a label", "标号"),
    "line": Text("a line", "行号"),
    "location-word": Text("'function_name' or 'inlined_at'", "'function_name' 或 'inlined_at'"),
    "no-elements": Text("no value: the array has no elements", "没有值：数组没有元素"),
    "no-value-here": Text(
        "';': only a module's own variables have values", "';'：只有模块自己的变量可以有初值"
    ),
    "number": Text("a number", "数"),
    "offset": Text("an offset", "偏移"),
    "open-brace": Text("'{{'", "'{{'"),
    "operand": Text("an operand", "操作数"),
    "param": Text("'.param'", "'.param'"),
    "parameter-name": Text("a parameter's name", "参数名"),
    "predicate-register": Text("a predicate register", "谓词寄存器"),
    "register-name": Text("a register's name", "寄存器名"),
    "register-or-sink": Text("a register or '_'", "寄存器或 '_'"),
    "register-total": Text("how many registers", "寄存器的个数"),
    "section-end": Text("'}}' at the end of the section", "段结尾的 '}}'"),
    "section-name": Text("a section's name", "段名"),
    "semicolon": Text("';'", "';'"),
    "sink": Text("'_'", "'_'"),
    "size": Text("a size", "大小"),
    "special-component": Text("one of .x, .y, .z, .w", ".x、.y、.z、.w 之一"),
    "statement": Text("a statement or '}}'", "语句或 '}}'"),
    "string": Text("a string", "字符串"),
    "target": Text("a target such as sm_80", "目标架构，如 sm_80"),
    "target-second": Text("'.target' after the version", "版本之后的 '.target'"),
    "time": Text("a time", "时间"),
    "type": Text("a type such as .b32", "类型，如 .b32"),
    "type-in-memory": Text("a type that memory can hold", "内存能存放的类型"),
    "value": Text("a value", "值"),
    "variable-after-linkage": Text("a variable after its linkage", "链接属性之后的变量"),
    "variable-name": Text("a variable's name", "变量名"),
    "variable-or-function": Text("a variable or a function", "变量或函数"),
    "version": Text("a version such as 8.5", "版本，如 8.5"),
    "version-first": Text("'.version' at the start", "开头的 '.version'"),
}
