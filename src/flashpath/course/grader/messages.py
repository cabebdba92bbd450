"""What the grader says."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- Headlines -------------------------------------------------------------------------------------
    "passed": Text("Right: {cases} cases.", "正确：{cases} 组用例全部通过。"),
    "passed-one": Text("Right.", "正确。"),
    "passed-goals": Text(
        "Right and efficient. Cases: {cases}; goals reached: {goals}.",
        "正确且高效：{cases} 组用例，{goals} 个目标全部达到。",
    ),
    "wrong": Text(
        "Wrong: {count} of {n} elements of {name} differ, for {case}.",
        "结果错误：{name} 的 {n} 个元素中有 {count} 个不对（{case}）。",
    ),
    "wrong-one": Text(
        "Wrong: {name} is {got}, expected {expected}, for {case}.",
        "结果错误：{name} 是 {got}，应为 {expected}（{case}）。",
    ),
    "wrong-shape": Text(
        "Wrong: {name} has the shape {got}, expected {expected}, for {case}.",
        "结果错误：{name} 的形状是 {got}，应为 {expected}（{case}）。",
    ),
    "wrong-type": Text(
        "Wrong: {name} is {got}, expected {expected}, for {case}.",
        "结果错误：{name} 是 {got}，应为 {expected}（{case}）。",
    ),
    "not-whole": Text(
        "Wrong: {name} is {got}, which is no whole number; expected {expected}, for {case}.",
        "结果错误：{name} 是 {got}，不是整数；应为 {expected}（{case}）。",
    ),
    "wrong-count": Text(
        "Wrong: the function returned {got} values, expected {expected}: {names}.",
        "结果错误：函数返回了 {got} 个值，应为 {expected} 个：{names}。",
    ),
    "unwritten": Text(
        "{count} of {n} elements of {name} were never written, for {case}.",
        "{name} 的 {n} 个元素中有 {count} 个从未被写入（{case}）。",
    ),
    "input-changed": Text(
        "The kernel changed its input {name}, which it may only read, for {case}.",
        "核函数改动了只读输入 {name}（{case}）。",
    ),
    "finding": Text("{kind}: {summary}, for {case}.", "{kind}：{summary}（{case}）。"),
    "goal": Text(
        "The result is right; goals not reached yet: {count} of {goals}.",
        "结果正确；{goals} 个目标中还有 {count} 个未达到。",
    ),
    "speed": Text(
        "The result is right; the speed asked for is not reached yet.",
        "结果正确；速度尚未达到要求。",
    ),
    "every-thread": Text("Every thread does all the work.", "每个线程都把全部工作做了一遍。"),
    "one-thread": Text(
        "The threads do not share the work: one does it while the others wait.",
        "线程没有分工：只有一个线程在做，其余的都在等。",
    ),
    "compile": Text("It does not compile.", "编译不通过。"),
    "launch": Text("It compiles, but its launch failed.", "编译通过，但启动失败。"),
    "nothing-returned": Text(
        "Value {place} of what the function returned is None: is a `return` missing? For {case}.",
        "函数返回的第 {place} 个值是 None：是不是漏写了 return？（{case}）",
    ),
    "no-numbers": Text(
        "Value {place} of what the function returned is of the type {kind}, and numbers or arrays are "
        "expected, for {case}.",
        "函数返回的第 {place} 个值的类型是 {kind}，应为数或数组（{case}）。",
    ),
    "too-many-values": Text(
        "The function returned far more values than are expected, for {case}.",
        "函数返回的值远多于所要求的个数（{case}）。",
    ),
    "raised": Text("The function raised an error, for {case}.", "函数抛出了异常（{case}）。"),
    "timeout": Text(
        "It hung: still not finished after {seconds:.0f} s. Look for a loop that never ends.",
        "程序挂起：{seconds:.0f} 秒后仍未结束。请检查是否有不会结束的循环。",
    ),
    "timeout-compile": Text(
        "Compiling took more than {seconds:.0f} s and was stopped. Look for templates, or loops that are "
        "unrolled, that grow without bound.",
        "编译超过 {seconds:.0f} 秒，已停止。请检查是否有无限制增长的模板或被展开的循环。",
    ),
    "timeout-import": Text(
        "It hung at import: the file itself, outside of any function, was not finished after {seconds:.0f} s."
        " Look for a loop at its top level.",
        "导入时挂起：函数之外的代码在 {seconds:.0f} 秒后仍未结束。请检查文件顶层是否有不会结束的循环。",
    ),
    "timeout-finding": Text(
        "It hung: the kernel did not finish, for {case}.",
        "程序挂起：核函数没有结束（{case}）。",
    ),
    "crashed": Text(
        "The process that ran it ended unexpectedly: {problem}", "运行它的进程意外终止：{problem}"
    ),
    "refused": Text("This is not allowed here: {problem}", "这里不允许这样做：{problem}"),
    # ---- Whole programs --------------------------------------------------------------------------------
    "not-installed": Text(
        "It was not graded: this machine lacks what compiles whole programs.",
        "没有评分：这台机器缺少编译完整程序所需的工具。",
    ),
    "program-died": Text(
        "The program was ended by the signal {signal}, for {case}.", "程序被信号 {signal} 终止（{case}）。"
    ),
    "program-gave-up": Text(
        "The program ended with exit code {got}, where 0 is expected: it could do what it was asked for, for {case}.",
        "程序以退出码 {got} 结束，应为 0：这组参数下它本可以正常完成（{case}）。",
    ),
    "program-went-on": Text(
        "The program ended with exit code 0, as if all had gone well; expected {expected}, for {case}.",
        "程序以退出码 0 结束，好像一切正常；应为 {expected}（{case}）。",
    ),
    "program-other-code": Text(
        "The program ended with exit code {got}, expected {expected}, for {case}.",
        "程序以退出码 {got} 结束，应为 {expected}（{case}）。",
    ),
    "program-left": Text(
        "The program ended without coming to its end: leave it by `return` from main or by `exit`, for {case}.",
        "程序没有正常走到结尾：请从 main 用 `return` 返回，或调用 `exit`（{case}）。",
    ),
    "not-printed": Text(
        "No line `{name} = …` was printed, for {case}.", "没有打印 `{name} = …` 这一行（{case}）。"
    ),
    "printed-no-number": Text(
        "Wrong: behind {name} stands {text!r}, which is no number of the kind that is asked for, for {case}.",
        "结果错误：{name} 后面是 {text!r}，不是所要求的那种数（{case}）。",
    ),
    "printed-other-count": Text(
        "Wrong: behind {name} stand {got} values, expected {expected}, for {case}.",
        "结果错误：{name} 后面有 {got} 个值，应为 {expected} 个（{case}）。",
    ),
    "host-party": Text("  the other side: {what}", "  另一方：{what}"),
    "same-run": Text("→ The same run: `{command}`", "→ 重现这次运行：`{command}`"),
    "nothing-grades": Text(
        "{id} is of the kind {kind!r}, which nothing grades.", "{id} 的类型是 {kind!r}，没有对应的评分方式。"
    ),
    "unanswered": Text(
        "{count} of {n} questions are not answered yet.",
        "{n} 个问题中还有 {count} 个没有回答。",
    ),
    "answers-wrong": Text("{count} of {n} answers are not right.", "{n} 个回答中有 {count} 个不对。"),
    "answers-form": Text(
        "{count} of {n} answers cannot be read; they do not count as wrong.",
        "{n} 个回答中有 {count} 个不符合答题格式，不算答错。",
    ),
    "answers-right": Text("All {n} answers are right.", "{n} 个回答全部正确。"),
    "incomplete": Text("{count} of {n} sections are not filled yet.", "{n} 个小节中还有 {count} 个没有写。"),
    "complete": Text("All {n} sections are filled.", "{n} 个小节都已写好。"),
    # ---- Details ---------------------------------------------------------------------------------------
    "first-difference": Text(
        "first difference: {name}{index}: expected {expected}, got {got}",
        "第一处差异：{name}{index} 应为 {expected}，实际为 {got}",
    ),
    "allowed": Text(
        "  difference {error}, allowed {allowed}",
        "  相差 {error}，允许 {allowed}",
    ),
    "first-unwritten": Text(
        "first one never written: {name}{index}, expected {expected}",
        "第一个未写入的元素：{name}{index}，应为 {expected}",
    ),
    "first-changed": Text(
        "first change: {name}{index} was {before}, is {after}",
        "第一处改动：{name}{index} 原为 {before}，现为 {after}",
    ),
    "also-wrong": Text(
        "of those that were written, {count} are wrong as well",
        "已写入的元素中还有 {count} 个值不对",
    ),
    "pattern": Text("pattern: {pattern}", "规律：{pattern}"),
    "case": Text("{parts}", "{parts}"),
    "values-of": Text("values {values}", "取值 {values}"),
    "at-line": Text("  {file}, line {line}: {text}", "  {file} 第 {line} 行：{text}"),
    "who": Text("block {block}, thread {thread}", "线程块 {block}，线程 {thread}"),
    "at-thread": Text("  {who}", "  {who}"),
    "other-party": Text("  the other party: {who}", "  另一方：{who}"),
    "other-party-at": Text("  the other party: line {line}: {who}", "  另一方：第 {line} 行，{who}"),
    "met": Text("  met {count} times", "  共出现 {count} 次"),
    "more-findings": Text("  and {count} more: {kinds}", "  另有 {count} 个：{kinds}"),
    "printed": Text("it printed:", "它输出了："),
    "explain-finding": Text(
        "→ `flashpath explain-finding {kind}` explains it with an example.",
        "→ `flashpath explain-finding {kind}` 用例子解释这类问题。",
    ),
    "forbidden": Text(
        "line {line}: {name} may not be used in this exercise",
        "第 {line} 行：本练习不允许使用 {name}",
    ),
    "required": Text(
        "the exercise asks for {word} in your answer; no result can show that it is missing",
        "本练习要求答案里写有 {word}；缺了它，从结果上看不出来",
    ),
    # ---- Goals and speed -------------------------------------------------------------------------------
    "goal-line": Text("{mark} {name}: {counted} ({asked})", "{mark} {name}：{counted}（{asked}）"),
    "goal-line-far": Text(
        "{mark} {name}: {counted} ({asked}, {far})", "{mark} {name}：{counted}（{asked}，{far}）"
    ),
    "goal-advice": Text("→ {advice}", "→ {advice}"),
    "at-most": Text("at most {asked}", "至多 {asked}"),
    "at-least": Text("at least {asked}", "至少 {asked}"),
    "times-too-many": Text("{factor} times too many", "是目标的 {factor} 倍"),
    "share-reached": Text("{share} of what is asked", "只达到目标的 {share}"),
    "asked-times": Text(
        "  {threads} threads asked for {times} times the bytes that there are, for {case}",
        "  {threads} 个线程请求的字节数是数据本身的 {times} 倍（{case}）",
    ),
    "lanes-of-a-request": Text(
        "  {lanes} of 32 lanes take part in a load or store of a warp, for {case}",
        "  一个 warp 的每次加载或存储平均只有 {lanes} 个 lane 参与，共 32 个（{case}）",
    ),
    "share-every-thread": Text(
        "All threads run the same lines, and here every one of them goes through all elements. A thread's own number, "
        "from blockIdx and threadIdx, decides which elements are its own: share them out.",
        "所有线程执行同样的代码，而这里每个线程都走遍了所有元素。线程应当用 blockIdx 和 threadIdx 算出自己的编号，"
        "只处理属于自己的元素。",
    ),
    "share-one-thread": Text(
        "A warp's 32 lanes load and store together; here one lane at a time does. Share the elements out, so that "
        "neighbouring threads take neighbouring elements.",
        "一个 warp 的 32 个 lane 是一起加载、一起存储的；这里每次只有一个 lane 在做。请把元素分给各个线程，相邻的线程取相邻的元素。",
    ),
    "goal-atomics": Text("atomics, by threads", "线程执行的原子操作"),
    "missed-atomics": Text(
        "An atomic reads and writes memory too, and the goals here count plain loads and stores. This "
        "exercise needs no atomics: write it with loads and stores.",
        "原子操作同样要读写内存，而这里的目标只统计普通的加载和存储。本练习用不着原子操作：请只用加载和存储。",
    ),
    "goal-constants": Text("loads of constant memory, by threads", "线程执行的常量内存加载"),
    "missed-constants": Text(
        "The goals here count loads of global and shared memory. This exercise needs no constant memory: "
        "read the arrays themselves.",
        "这里的目标统计的是全局内存和共享内存的加载。本练习用不着常量内存：请直接读数组。",
    ),
    "speed-name": Text("speed beside {rung}", "与 {rung} 相比的速度"),
    "speed-line": Text(
        "{mark} {name}: {ratio} ({asked}); yours {own}, its {other}",
        "{mark} {name}：{ratio}（{asked}）；你的 {own}，对照 {other}",
    ),
    "speed-impossible": Text(
        "A time of {own} is below the {floor} that {gpu} needs for this many bytes and FLOPs: it is refused.",
        "{own} 低于 {gpu} 搬运这些字节、完成这些运算所需的最短时间 {floor}，因此不予承认。",
    ),
    "speed-failed": Text("The speed could not be measured: {problem}", "无法测量速度：{problem}"),
    "count-failed": Entry(
        Text(
            "{id}: the exercise's own count `{count}` failed: {why}",
            "{id}：练习自己的计数表达式 `{count}` 出错：{why}",
        ),
        Text(
            "This is a mistake in its exercise.toml, and none of your answer's.",
            "这是练习的 exercise.toml 里的错误，与你的答案无关。",
        ),
    ),
    "no-value": Text("it has no value for this kernel.", "对这个核函数没有值。"),
    "empty-grid": Text(
        "{id}: the launch that is counted has an empty grid ({what}).",
        "{id}：用于计数的启动网格为空（{what}）。",
    ),
    # ---- Pictures --------------------------------------------------------------------------------------
    "mark-one": Text("(a mark is one element; ✗ differs)", "（每个符号代表一个元素；✗ 表示不对）"),
    "mark-run": Text(
        "(a mark stands for {wide} elements; ✗: some differ)",
        "（每个符号代表 {wide} 个元素；✗ 表示其中有不对的）",
    ),
    "mark-several": Text(
        "(a mark stands for {high} × {wide} elements; ✗: some differ)",
        "（每个符号代表 {high} × {wide} 个元素；✗ 表示其中有不对的）",
    ),
    "noun-element": Text("element", "个元素"),
    "noun-row": Text("row", "行"),
    "noun-column": Text("column", "列"),
    "nouns-element": Text("elements", "个元素"),
    "nouns-row": Text("rows", "行"),
    "nouns-column": Text("columns", "列"),
    "pattern-all": Text("all {n}", "全部 {n} 个"),
    "pattern-only-one": Text("the only one", "唯一的一个"),
    "pattern-only": Text("only {noun} {i} of {n}", "只有第 {i} {noun}（共 {n} {noun}，从 0 数起）"),
    "pattern-first": Text("the first {count} of {n} {nouns}", "前 {count} {nouns}（共 {n} {nouns}）"),
    "pattern-last": Text("the last {count} of {n} {nouns}", "最后 {count} {nouns}（共 {n} {nouns}）"),
    "pattern-range": Text(
        "{nouns} {first} to {last} of {n}",
        "第 {first} 到第 {last} {nouns}（共 {n} {nouns}，从 0 数起）",
    ),
    "pattern-all-but": Text(
        "all but {noun} {i} of {n}", "除第 {i} {noun}以外的全部（共 {n} {noun}，从 0 数起）"
    ),
    "pattern-every": Text(
        "every {step} of the {nouns}, from {first} on",
        "从第 {first} {nouns}起，每 {step} {nouns}有一处（从 0 数起）",
    ),
    "pattern-period": Text(
        "in every {period} {nouns}: {first} to {last}",
        "每 {period} {nouns}中的第 {first} 到第 {last} {nouns}（从 0 数起）",
    ),
    "pattern-diagonal": Text("only the diagonal", "只有对角线"),
    "pattern-off-diagonal": Text("all but the diagonal", "除对角线以外的全部"),
    "pattern-above": Text("above the diagonal", "对角线以上"),
    "pattern-from-diagonal-up": Text("the diagonal and above it", "对角线及其以上"),
    "pattern-below": Text("below the diagonal", "对角线以下"),
    "pattern-from-diagonal-down": Text("the diagonal and below it", "对角线及其以下"),
    # ---- Questions -------------------------------------------------------------------------------------
    "answers-head": Text(
        'Put your answers in place of "?" and save.',
        '把 "?" 换成你的答案，然后保存。',
    ),
    "how-choice": Text("the number of the right option", "正确选项的编号"),
    "how-choices": Text(
        "the numbers of all right options, such as [1, 3]", "所有正确选项的编号，例如 [1, 3]"
    ),
    "how-number": Text("a number", "一个数"),
    "how-order": Text(
        "the numbers in the right order, such as [2, 1, 3]", "按正确顺序写出编号，例如 [2, 1, 3]"
    ),
    "how-text": Text("a few words, in quotes", "几个词，写在引号里"),
    "about-function": Text("(about {function})", "（关于 {function}）"),
    "answers-toml": Text(
        "{file} is no TOML: {problem}",
        "{file} 不是合法的 TOML：{problem}",
    ),
    "answers-too-much": Text(
        "a number has too many digits, or brackets stand in brackets too often",
        "数字的位数过多，或括号嵌套过深",
    ),
    "unknown-answer": Text(
        "There is no question {id!r}; the questions are {known}.",
        "没有问题 {id!r}；问题有：{known}。",
    ),
    "item-right": Text("✓ {id}: {explain}", "✓ {id}：{explain}"),
    "item-counted": Text("✓ {id}: counted {counted}. {explain}", "✓ {id}：实际计数为 {counted}。{explain}"),
    "item-wrong": Text("✗ {id}: {answer} is not right.", "✗ {id}：{answer} 不对。"),
    "item-common": Text("✗ {id}: {answer} is not right. {remark}", "✗ {id}：{answer} 不对。{remark}"),
    "item-unanswered": Text("· {id}: not answered yet.", "· {id}：还没有回答。"),
    "item-explained": Text("✗ {id}: {answer} is not right. {explain}", "✗ {id}：{answer} 不对。{explain}"),
    "item-form": Text(
        "· {id}: {answer} cannot be read as an answer. Write {how}.",
        "· {id}：{answer} 不符合答题格式，不算作答。请写：{how}。",
    ),
    # ---- Guided reading --------------------------------------------------------------------------------
    "reading-file": Text("The file: {path} of {name} {version}", "要读的文件：{name} {version} 的 {path}"),
    "reading-clone": Text(
        "Clone it once, in the work folder: git clone --branch {version} --depth 1 {repository} {folder}",
        "在学习目录中克隆一次：git clone --branch {version} --depth 1 {repository} {folder}",
    ),
    "reading-beside": Text("Ours, beside it: {counterpart}", "与之对照的本课程文件：{counterpart}"),
    "clone-none": Entry(
        Text(
            "No clone of {name} was found: the answers are those of {version}, and nothing of yours was compared.",
            "没有找到 {name} 的克隆：答案以 {version} 为准，未与你的源码比对。",
        ),
        Text(
            "git clone --branch {version} --depth 1 {repository} {folder}",
            "git clone --branch {version} --depth 1 {repository} {folder}",
        ),
    ),
    "clone-unknown": Text(
        "{folder} does not say which version it is; the questions are about {version}.",
        "{folder} 没有记录版本；这些问题针对 {version}。",
    ),
    "clone-other": Entry(
        Text(
            "{folder} is at {found}, and the questions are about {version}: there, names and answers may be others.",
            "{folder} 检出的是 {found}，而这些问题针对 {version}：名字和答案都可能不同。",
        ),
        Text(
            "git -C {folder} fetch --depth 1 origin tag {version} && git -C {folder} checkout {version}",
            "git -C {folder} fetch --depth 1 origin tag {version} && git -C {folder} checkout {version}",
        ),
    ),
    "clone-same": Text(
        "{folder} is {version}, and has all that the answers rest on.",
        "{folder} 就是 {version}，答案所依据的内容都在其中。",
    ),
    "clone-no-file": Text(
        "{id}: your clone has no {path} that can be read.", "{id}：你的克隆中没有可读的 {path}。"
    ),
    "clone-no-function": Text(
        "{id}: {path} of your clone has no {function}; the question may not fit it.",
        "{id}：你的克隆的 {path} 中没有 {function}；这个问题可能不适用。",
    ),
    "clone-differs": Text(
        "{id}: {function} in {path} of your clone has no `{text}`, on which the answer rests: there, it may be another.",
        "{id}：你的克隆的 {path} 里，{function} 中没有 `{text}`；答案以它为依据，所以在你那里答案可能不同。",
    ),
    # ---- Notes -----------------------------------------------------------------------------------------
    "section-empty": Text(
        "· {heading}: {have} of at least {least} characters",
        "· {heading}：已写 {have} 个字符，至少需要 {least} 个",
    ),
    "section-missing": Text("· {heading}: this heading is gone", "· {heading}：这个标题不见了"),
    "section-filled": Text("✓ {heading}", "✓ {heading}"),
    # ---- Mistakes of an exercise's author ---------------------------------------------------------------
    "no-such-dtype": Entry(
        Text("There is no element type {name!r}.", "没有元素类型 {name!r}。"),
        Text("It is one of {known}.", "可用的类型：{known}。"),
    ),
    "no-such-values": Entry(
        Text("There are no values {kind!r}.", "没有取值方式 {kind!r}。"),
        Text("They are one of {known}.", "可用的取值方式：{known}。"),
    ),
    "indices-without-bound": Entry(
        Text(
            "Values of the kind indices need a bound of at least 1; got {below}.",
            "取值方式 indices 需要至少为 1 的上界，实际为 {below}。",
        ),
        Text(
            'Give the array below = "…", such as the length of what it points into.',
            '请给这个数组写上 below = "…"，例如它所指的数组的长度。',
        ),
    ),
    "starts-without-bound": Entry(
        Text(
            "Values of the kind starts need the end of the last piece.",
            "取值方式 starts 需要最后一段的终点。",
        ),
        Text('Give the array below = "…".', '请给这个数组写上 below = "…"。'),
    ),
    "other-shape": Text(
        "{name} has the shape {got}, not {expected}.", "{name} 的形状是 {got}，不是 {expected}。"
    ),
    "reference-asks": Entry(
        Text("{id}: reference.py asks for {unknown}.", "{id}：reference.py 要的参数 {unknown} 不存在。"),
        Text("Its parameters are of {known}.", "可用的参数：{known}。"),
    ),
    "reference-returned": Entry(
        Text("{id}: reference.py returned {got} arrays.", "{id}：reference.py 返回了 {got} 个数组。"),
        Text("It must return {expected}: {names}.", "应返回 {expected} 个：{names}。"),
    ),
    "no-reference": Entry(
        Text("{file} defines no function reference.", "{file} 没有定义函数 reference。"),
        Text("Write def reference(n, x): …", "请写 def reference(n, x): …"),
    ),
    "reference-has-fractions": Text(
        "{id}: the reference of {name} has fractions, and is {dtype}.",
        "{id}：{name} 的参考结果含有小数，而它的类型是 {dtype}。",
    ),
    "no-own-size": Text(
        "The ladder {ladder} has no problem of a size of one's own.", "阶梯 {ladder} 不能自选问题规模。"
    ),
    "other-parameters": Text(
        "The compiled {name} takes other parameters than the exercise passes.",
        "编译后的 {name} 的参数与练习传入的不同。",
    ),
    "not-assembled": Text("The compiled kernel is not assembled: {log}", "编译后的核函数无法汇编：{log}"),
    "not-timed": Text("It was not timed: {problem}", "没有测到时间：{problem}"),
}
