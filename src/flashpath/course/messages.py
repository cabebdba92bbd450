"""What the course says of the learner, of notes, portfolios and its own files."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- The learner ---------------------------------------------------------------------------------------
    "not-an-exercise": Entry(
        Text("{path} is not the file of an exercise of {root}.", "{path} 不是 {root} 中任何练习的文件。"),
        Text(
            "Name the exercise and the file: flashpath grade EXERCISE --file FILE.",
            "请同时给出练习和文件：flashpath grade EXERCISE --file FILE。",
        ),
    ),
    "no-work-folder": Entry(
        Text("There is no work folder here.", "这里没有学习目录。"),
        Text(
            "Make one with `flashpath start TRACK`, or change into the one you made.",
            "请用 `flashpath start TRACK` 创建，或进入已经创建的目录。",
        ),
    ),
    "no-exercise-in-folder": Entry(
        Text("{folder} is a folder without an exercise of {root}.", "目录 {folder} 中没有 {root} 的练习。"),
        Text(
            "Name an exercise, its file or its folder; `flashpath next` names one.",
            "请给出练习、它的文件或目录；`flashpath next` 会给出一个。",
        ),
    ),
    "nothing-begun": Entry(
        Text("No exercise was begun yet.", "还没有开始任何练习。"),
        Text("Name one, or see `flashpath next`.", "请指定一个练习，或运行 `flashpath next`。"),
    ),
    "no-such-page": Entry(
        Text("There is no page {name!r}.", "没有文档页 {name!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "paper-not-fetched": Entry(
        Text("{title}: {why}", "{title}：{why}"),
        Text(
            "It needs a network. Open {url} elsewhere, and save the PDF under that name.",
            "下载需要网络。也可以在别处打开 {url}，把 PDF 存为同名文件。",
        ),
    ),
    "paper-is-no-pdf": Text("what came is no PDF", "收到的不是 PDF"),
    "paper-cut-short": Text("it broke off after {bytes} bytes", "传输中断，只收到 {bytes} 字节"),
    "paper-too-large": Text("more than {most} MiB came", "收到的内容超过 {most} MiB"),
    "no-problem-set": Entry(
        Text("There is no problem set {name!r}.", "没有练习题 {name!r}。"),
        Text("There are {known}.", "可选：{known}。"),
    ),
    "no-set-answers": Entry(
        Text("There is no file {path}, in which the questions are answered.", "找不到作答文件 {path}。"),
        Text("`flashpath start {track}` makes it again.", "`flashpath start {track}` 会重新生成它。"),
    ),
    "no-answer-file": Entry(
        Text("There is no file {path}.", "找不到文件 {path}。"),
        Text("Begin it: flashpath reset {exercise}", "重新生成：flashpath reset {exercise}"),
    ),
    "not-recorded": Text(
        "This verdict was not recorded. It holds all the same: grade again to have it kept.",
        "这次评分没有记录下来，但结果有效：再评一次即可记录。",
    ),
    "no-track": Entry(
        Text("No track was begun.", "还没有开始任何学习路线。"),
        Text(
            "Begin one: flashpath start TRACK. There are {names}.",
            "请先开始一条：flashpath start TRACK。可选：{names}。",
        ),
    ),
    "no-file": Entry(
        Text("There is no file {file}.", "找不到文件 {file}。"),
        Text(
            "Name an exercise, such as first-kernel/vector-add, or a file that is there.",
            "请给出练习的名称（如 first-kernel/vector-add），或一个存在的文件。",
        ),
    ),
    "several-exercises": Entry(
        Text("{folder} holds {count} exercises.", "目录 {folder} 中有 {count} 个练习。"),
        Text("Name one: {names}", "请指定一个：{names}"),
    ),
    "answer-is-folder": Entry(
        Text("{path} is a folder, not a file.", "{path} 是目录，不是文件。"),
        Text("Name the file in it with your answer.", "请写出其中答案所在的文件。"),
    ),
    "answer-not-utf8": Entry(
        Text("{path}: byte {byte} is no UTF-8.", "{path}：第 {byte} 个字节不是 UTF-8 编码。"),
        Text("Save it as UTF-8.", "请另存为 UTF-8 编码。"),
    ),
    "answer-not-plain": Text(
        "{path} is a pipe or a device. An answer is a plain file.",
        "{path} 是管道或设备。答案必须是普通文件。",
    ),
    "answer-too-large": Text(
        "{path} has more than {most:,} bytes: it is not read.", "{path} 超过 {most:,} 字节，不予读取。"
    ),
    "quiz-passed-in-review": Text(
        "every question was answered right in `flashpath review`", "各题都已在 `flashpath review` 中答对"
    ),
    "no-hints": Entry(
        Text("{exercise} has no hints.", "{exercise} 没有提示。"),
        Text("Read the lesson: flashpath read {unit}", "请阅读：flashpath read {unit}"),
    ),
    "hint-too-early": Entry(
        Text(
            "Hint {number} cannot be shown yet: {seen} of {count} were seen.",
            "还不能看第 {number} 条提示：共 {count} 条，已看 {seen} 条。",
        ),
        Text("flashpath hint {exercise}", "flashpath hint {exercise}"),
    ),
    "solution-not-passed": Entry(
        Text("{exercise} is not passed yet.", "{exercise} 还没有通过。"),
        Text(
            "A hint: flashpath hint {exercise}. To see the solution all the same: add --give-up.",
            "看提示：flashpath hint {exercise}。一定要看答案：加上 --give-up。",
        ),
    ),
    "no-solution": Entry(
        Text("{exercise} ({kind}) has no solution to show.", "{exercise}（{kind}）没有可以展示的答案。"),
        Text("flashpath read {unit}", "flashpath read {unit}"),
    ),
    "never-reset": Text("{exercise} was never reset.", "{exercise} 从未重置过。"),
    "kind-kernel": Text("kernel", "写核函数"),
    "kind-debug": Text("debug", "调试"),
    "kind-program": Text("whole program", "完整程序"),
    "kind-predict": Text("predict", "预测"),
    "kind-derive": Text("derive", "推导"),
    "kind-note": Text("note", "笔记"),
    "kind-read": Text("reading", "读源码"),
    "kind-report": Text("report", "报告"),
    "kind-quiz": Text("quiz", "小测验"),
    # ---- Units that are planned ----------------------------------------------------------------------------
    "way-program": Text("a whole program, to read and to run", "完整的程序，可以读，也可以运行"),
    "way-ladder": Text("its kernels, from the simplest to the fastest", "从最简单到最快的核函数"),
    "way-quiz": Text("its quiz: {count:~question}", "它的测验：{count} 题"),
    "read-goals": Text("You will be able to:", "学完之后，你能："),
    "read-after": Text("after {units}", "先学 {units}"),
    "read-not-yet": Text("This unit is not written yet.", "这个单元还没有写好。"),
    "read-meanwhile": Text("What there is of it already:", "现在就可以用的内容："),
    # ---- Notes ---------------------------------------------------------------------------------------------
    "note-name": Entry(
        Text("{given!r} is no name for a note.", "{given!r} 不能作为笔记的名字。"),
        Text(
            "Give a plain name, such as warp-shuffles: no slashes, and no dot at its beginning.",
            "请给出普通的名字，例如 warp-shuffles：不含斜杠，也不以点开头。",
        ),
    ),
    "no-week": Entry(
        Text("{track} has no week {week!r}.", "{track} 没有第 {week} 周。"),
        Text("It has {known}.", "有：{known}。"),
    ),
    "no-template": Entry(
        Text("There is no template {name!r} in {lang!r}.", "没有 {lang!r} 的模板 {name!r}。"),
        Text("There are {known} in en and zh.", "有 {known}，各有 en 和 zh 两种。"),
    ),
    # ---- The portfolio -------------------------------------------------------------------------------------
    "export-holds": Entry(
        Text(
            "{place} holds the folder that you are in, or your work folder.",
            "{place} 包含当前目录或你的学习目录。",
        ),
        Text(
            "An export replaces its folder whole: name one of its own.",
            "导出会整个替换目标目录：请另给一个目录。",
        ),
    ),
    "export-file": Entry(
        Text("{place} is a file.", "{place} 是一个文件。"), Text("Name a folder.", "请给出一个目录。")
    ),
    "export-foreign": Entry(
        Text("{place} is there already, and no export made it.", "{place} 已经存在，而且不是由导出生成的。"),
        Text("Name another folder, or move it away.", "请换一个目录，或先把它移走。"),
    ),
    "portfolio-state": Text(
        "As of {day}: {exercises_done} of {exercises} exercises, {tasks_done} of {tasks} tasks, {time}.",
        "截至 {day}：练习 {exercises_done}/{exercises}，任务 {tasks_done}/{tasks}，学习 {time}。",
    ),
    "portfolio-week-table": Text("| Week | Exercises | Tasks |", "| 周 | 练习 | 任务 |"),
    "portfolio-passes": Text("passes", "通过"),
    "portfolio-fails": Text("does not pass yet", "尚未通过"),
    "portfolio-review": Text(
        "For review, {today}. The answer is [{path}]({link}); it {verdict}.",
        "待评审，{today}。代码：[{path}]({link})；{verdict}。",
    ),
    "portfolio-kernels": Text("Kernels", "核函数"),
    "portfolio-answers": Text("Answers", "答题"),
    "portfolio-notes": Text("Notes", "笔记"),
    "portfolio-figures": Text("Figures", "图"),
    "portfolio-passed-on": Text("Passed on {day}.", "{day} 通过。"),
    "portfolio-day-table": Text("| Day | Spent |", "| 日期 | 用时 |"),
    "portfolio-goal-table": Text("| counted | value | goal | |", "| 计数 | 数值 | 目标 | |"),
    "portfolio-progress": Text("Progress", "进度"),
    "portfolio-log": Text("Learning log", "学习日志"),
    "portfolio-solution": Text("Solution", "解决"),
    "portfolio-learnt": Text("Learnt", "收获"),
    "portfolio-file": Text("File", "文件"),
    "portfolio-report": Text("Report", "报告"),
    "portfolio-checklist": Text("Checklist for the reviewer", "评审清单"),
    "portfolio-task": Text("What was asked", "题目"),
    "portfolio-time": Text("Time", "时间"),
    "check-header": Text(
        "Does the header say what it computes, in which layout, and how much work each thread does?",
        "开头是否说明了计算什么、数据怎样排布、每个线程做多少工作？",
    ),
    "check-tail": Text(
        "Is every access guarded at the tail: sizes 0, 1, and no multiple of the block?",
        "尾部的每次访问是否都有保护：大小为 0、1、不是块大小的倍数？",
    ),
    "check-neighbours": Text(
        "Do neighbouring threads touch neighbouring addresses? Do the counted figures say so too?",
        "相邻线程是否访问相邻地址？计数结果是否也说明了这一点？",
    ),
    "check-barriers": Text(
        "Is every barrier reached by all threads of its block, and is none missing or superfluous?",
        "每个屏障是否被线程块内所有线程到达？有没有缺少或多余的屏障？",
    ),
    "check-sums": Text(
        "Are sums kept in a type that is wide enough, and is the order of additions sound?",
        "累加的类型是否足够宽，加法的顺序是否可靠？",
    ),
    "check-indices": Text(
        "Are index types wide enough for the largest array?", "下标类型对最大的数组是否足够？"
    ),
    "check-constants": Text(
        "Is each constant named and each assumption checked (static_assert, a guard)?",
        "常量是否都有名字，假设是否都有检查（static_assert、判断）？",
    ),
    "check-simpler": Text(
        "Would a simpler version be as fast? What would you try next, and how would you measure it?",
        "更简单的版本会不会一样快？下一步会尝试什么，怎样测量？",
    ),
    # ---- The page that lists the tracks --------------------------------------------------------------------
    "listing": Text("The courses", "课程"),
    "listing-about": Text(
        "Four plans over the same units: what is learnt once counts in each. Made from `course/` by `make figures`. [中文](courses.zh.md)",
        "四条学习路线，共用同一批单元：学过一次，处处算数。本页由 `make figures` 从 `course/` 生成。[English](courses.md)",
    ),
    "listing-how": Text(
        "Begin one with `flashpath start TRACK`: it makes a work folder with the plan, lessons, exercises and templates for notes, and needs neither a GPU nor the network.",
        "用 `flashpath start 路线` 开始：它会建立学习目录，包含计划、讲义、练习和笔记模板，不需要 GPU，也不需要联网。",
    ),
    "listing-columns": Text("| week | about | units |", "| 周 | 主题 | 单元 |"),
    "listing-units": Text("The units", "单元"),
    # ---- Expressions of the course's files -----------------------------------------------------------------
    "expression-between": Entry(
        Text(
            "`{text}`: between stands alone, with two numbers and, if need be, what it is a multiple of.",
            "`{text}`：between 要单独写，带两个数，必要时再写明是谁的倍数。",
        ),
        Text(
            "Write between(2000, 5000) or between(0, 4000, size).",
            "请写 between(2000, 5000) 或 between(0, 4000, size)。",
        ),
    ),
    "expression-lower-first": Entry(
        Text("`{text}`: the lower number comes first.", "`{text}`：小的数写在前面。"),
        Text("Write between({low}, {high}).", "请写 between({low}, {high})。"),
    ),
    "expression-zero": Text("`{text}`: divides by zero{where}.", "`{text}`：除以零{where}。"),
    "expression-failed": Text("`{text}`: {kind}: {error}{where}.", "`{text}`：{kind}：{error}{where}。"),
    "expression-where": Text(", where {sizes}", "，其中 {sizes}"),
    "expression-not-whole": Text(
        "`{text}`: is {value}, and a whole number is wanted.", "`{text}`：值是 {value}，应当是整数。"
    ),
    "expression-too-small": Text(
        "`{text}`: is {value}, and a whole number from {least} on is wanted.",
        "`{text}`：值是 {value}，应当是不小于 {least} 的整数。",
    ),
    "expression-no-name": Entry(
        Text("`{text}`: there is no {name} here.", "`{text}`：这里没有 {name}。"),
        Text("{advice}", "{advice}"),
    ),
    "expression-unreadable": Entry(
        Text("`{text}`: cannot be read as an expression.", "`{text}`：不是表达式。"),
        Text("Write it as in Python: a * x + y", "请按 Python 的写法：a * x + y"),
    ),
    "expression-no-place": Entry(
        Text("`{text}`: {word} has no place in an expression.", "`{text}`：表达式中不能用 {word}。"),
        Text("Numbers, names, arithmetic, calls.", "只能用数、名字、算术和调用。"),
    ),
    "expression-underscore": Entry(
        Text("`{text}`: {name} begins with an underscore.", "`{text}`：{name} 以下划线开头。"),
        Text("Such names are not for expressions.", "表达式中不能用这样的名字。"),
    ),
    "expression-no-function": Entry(
        Text("`{text}`: {name} is no function here.", "`{text}`：这里没有函数 {name}。"),
        Text("{advice} NumPy's are np.…", "{advice}NumPy 的函数写作 np.…"),
    ),
    "expression-numpy": Entry(
        Text("`{text}`: {name} is not for expressions.", "`{text}`：表达式中不能用 {name}。"),
        Text("Put it into reference.py.", "请写进 reference.py。"),
    ),
    "expression-method": Entry(
        Text("`{text}`: .{name} is not for expressions.", "`{text}`：表达式中不能用 .{name}。"),
        Text("{advice}", "{advice}"),
    ),
    # ---- Making what lessons show --------------------------------------------------------------------------
    "making-too-long": Entry(
        Text("`{command}` took more than {seconds} s.", "`{command}` 用了超过 {seconds} 秒。"),
        Text("Give the lesson a smaller problem.", "请让讲义用小一些的问题。"),
    ),
    "making-failed": Text("`{command}` cannot be run: {output}", "无法运行 `{command}`：{output}"),
}
