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
}
