"""What is said of files of the course that say what cannot be, and of names that nobody knows."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "none": Text("none", "无"),
    "add-figure": Text("Add it under [[figures]].", "请加到 [[figures]] 下。"),
    "leave-it-out": Text("Leave it out.", "请删去。"),
    "a-text": Text("a text", "文本"),
    "a-whole-number": Text("a whole number", "整数"),
    "a-number": Text("a number", "数"),
    "true-or-false": Text("true or false", "true 或 false"),
    "a-list": Text("a list", "列表"),
    "a-table": Text("a table", "表"),
    "an-empty-text": Text("empty", "空的"),
    "at-least": Text("at least {least:g}", "至少为 {least:g}"),
    "at-most": Text("at most {most:g}", "至多为 {most:g}"),
    "from-to": Text("from {least:g} to {most:g}", "在 {least:g} 到 {most:g} 之间"),
    "is-heading": Text("is {marks} {text}.", "是 {marks} {text}。"),
    "is-no-heading": Text("is no heading.", "不是标题。"),
    "too-few-questions": Entry(
        Text("{place}: there are {count}.", "{place}：只有 {count} 个。"),
        Text("Write at least {least}.", "至少写 {least} 个。"),
    ),
    "no-checkpoints": Entry(
        Text("{place}: there is none, or one without an answer.", "{place}：一个也没有，或者有的缺少答案。"),
        Text(
            "Say what one must be able to explain, and what the answer is.",
            "请写出学完后应能讲清楚的内容，以及答案。",
        ),
    ),
    "no-such-page": Entry(
        Text("{place}: there is no page {name!r}.", "{place}：没有页面 {name!r}。"),
        Text(
            "Write the name of a file in docs/ without .md: attention",
            "请写 docs/ 下的文件名，不带 .md：attention",
        ),
    ),
    "too-few-exercises": Entry(
        Text("{place}: there are {count} of {kinds} kinds.", "{place}：有 {count} 个练习，{kinds} 种类型。"),
        Text(
            "Write at least {least}, of at least {least_kinds} kinds.",
            "至少写 {least} 个，至少 {least_kinds} 种类型。",
        ),
    ),
    "comments-not-translated": Entry(
        Text("{place}: its comments are not translated.", "{place}：注释还没有翻译。"),
        Text("Write skeleton.zh.txt beside it.", "请在旁边写 skeleton.zh.txt。"),
    ),
    "too-few-mutants": Entry(
        Text("{place}: there are {count}.", "{place}：只有 {count} 个。"),
        Text("Write at least {least}.", "至少写 {least} 个。"),
    ),
    "no-drawn-size": Entry(
        Text("{place}: no size is drawn anew in every run.", "{place}：没有每次运行重新抽取的大小。"),
        Text(
            'Add sizes = {{ n = "between(2000, 5000)" }}.', '请加上 sizes = {{ n = "between(2000, 5000)" }}。'
        ),
    ),
    "no-shifted-values": Entry(
        Text('{place}: none has values = ["shifted"].', '{place}：没有一组用例写了 values = ["shifted"]。'),
        Text("Add one.", "请加一组。"),
    ),
    "program-without-goal": Entry(
        Text("{place}: a whole program needs a goal.", "{place}：完整程序的练习至少要有一个目标。"),
        Text(
            "Count what only the GPU can have done, such as report.global_store.bytes: else the CPU could print it all.",
            "请统计只有 GPU 才做得了的事，例如 report.global_store.bytes：否则只用 CPU 也能打印出全部结果。",
        ),
    ),
    "goal-without-mutant": Entry(
        Text(
            "{place}: a goal has no mutant that is right but misses it.",
            "{place}：有一个目标缺少“结果正确但未达到它”的变体。",
        ),
        Text('Add rejected_for = "goal".', '请加上 rejected_for = "goal"。'),
    ),
    "no-such-unit": Entry(
        Text("{place}: there is no unit {name!r}.", "{place}：没有单元 {name!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "before-itself": Entry(
        Text("{place}: {id} comes before itself.", "{place}：{id} 排在自己前面。"),
        Text("Break the circle.", "请打破这个循环。"),
    ),
    "figure-not-shown": Entry(
        Text("{place}: {lesson} does not show {name!r}.", "{place}：{lesson} 没有用到 {name!r}。"),
        Text("Show it, or leave it out.", "请用上它，或删去。"),
    ),
    "directive-missing": Entry(
        Text("{place}: {{{{{name}}}}} is missing.", "{place}：缺少 {{{{{name}}}}}。"),
        Text("Write it into its section.", "请写进它所在的小节。"),
    ),
    "no-chinese": Entry(
        Text("{place}: holds no Chinese.", "{place}：没有中文。"), Text("Translate it.", "请翻译。")
    ),
    "task-empty": Entry(
        Text("{place}: is empty.", "{place}：是空的。"), Text("Write what is asked.", "请写清楚要做什么。")
    ),
    "dimension-without-size": Entry(
        Text(
            "{place}: {rung} has the dimension {name!r}; speed.sizes has {sizes}.",
            "{place}：{rung} 有维度 {name!r}；speed.sizes 里有 {sizes}。",
        ),
        Text(
            'Say which one it is: problem = {{ {name} = "…" }}.',
            '请写明对应哪一个：problem = {{ {name} = "…" }}。',
        ),
    ),
    "of-another": Entry(Text("{place}: {problem}", "{place}：{problem}"), Text("{advice}", "{advice}")),
    "not-declared": Entry(
        Text(
            "{place}: {argument!r} of {lesson} is not in it.",
            "{place}：其中没有 {lesson} 用到的 {argument!r}。",
        ),
        Text("Add it.", "请加上。"),
    ),
    "other-comment-count": Entry(
        Text(
            "{place}: there are {count} lines, and {comments} comments.",
            "{place}：有 {count} 行，而注释有 {comments} 条。",
        ),
        Text("Write one line for each comment.", "请为每条注释写一行。"),
    ),
    "unit-folder-name": Entry(
        Text("{place}: a unit's folder has a number and a name.", "{place}：单元的文件夹由编号和名字组成。"),
        Text("Call it 01-first-kernel.", "请命名为 01-first-kernel 这样的形式。"),
    ),
    "same-unit-name": Entry(
        Text("{place}: {name} has that name too.", "{place}：{name} 也叫这个名字。"),
        Text("Name them apart.", "请改成不同的名字。"),
    ),
    "no-command": Entry(
        Text("`{command}` is no command of flashpath's.", "`{command}` 不是 flashpath 的命令。"),
        Text("Write {{{{run flashpath profile …}}}}.", "请写 {{{{run flashpath profile …}}}}。"),
    ),
    "no-line-holds": Entry(
        Text("no line holds {start!r}.", "没有一行含有 {start!r}。"),
        Text("Copy a piece of the line that it is to begin with.", "请从要开始的那一行复制一段。"),
    ),
    "no-line-begins": Entry(
        Text("no line after it begins with {end!r}.", "后面没有一行以 {end!r} 开头。"),
        Text("Copy the beginning of the last line.", "请复制最后一行的开头。"),
    ),
    "no-such-program": Entry(
        Text("there is no program {name!r}.", "没有程序 {name!r}。"),
        Text("Write a path under programs/.", "请写 programs/ 下的路径。"),
    ),
    "no-such-experiment": Entry(
        Text("there is no experiment {name!r}.", "没有实验 {name!r}。"),
        Text("Write the name of a file in the unit's experiments/.", "请写本单元 experiments/ 下的文件名。"),
    ),
    "output-missing": Entry(
        Text("outputs/{name} is missing.", "缺少 outputs/{name}。"),
        Text("make figures runs the command and keeps it.", "make figures 会运行该命令并保存输出。"),
    ),
    "no-such-figure": Entry(
        Text("unit.toml has no figure {name!r}.", "unit.toml 里没有图 {name!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "figure-missing": Entry(
        Text("figures/{name} is missing.", "缺少 figures/{name}。"),
        Text("make figures draws it.", "make figures 会画出它。"),
    ),
    "no-solution": Text("{place}: {kind} has no solution.", "{place}：{kind} 没有参考答案。"),
    "not-three-hints": Entry(
        Text("{place}: there are {count}.", "{place}：有 {count} 条。"),
        Text(
            "Write three: what to look at, the idea, almost the line.",
            "请写三条：看哪里、思路、几乎是那一行。",
        ),
    ),
    "derive-is-python": Entry(
        Text("{place}: is {value!r}, and derive is Python.", "{place}：是 {value!r}，而 derive 用 Python。"),
        Text("Leave it out.", "请删去。"),
    ),
    "two-references": Entry(
        Text("{place}: is there, and reference.py too.", "{place}：写了它，又有 reference.py。"),
        Text("Keep one of them.", "请只留一个。"),
    ),
    "other-outputs": Entry(
        Text(
            "{place}: is of {given}, and the outputs are {expected}.",
            "{place}：写的是 {given}，而输出是 {expected}。",
        ),
        Text("Give one for each.", "请为每个输出写一个。"),
    ),
    "one-kernel": Entry(
        Text("{place}: a question is about one kernel.", "{place}：一个问题只针对一个核函数。"),
        Text(
            'Write source = "strided.cu", or rung = "transpose/naive".',
            '请写 source = "strided.cu"，或 rung = "transpose/naive"。',
        ),
    ),
    "no-counterpart": Entry(
        Text("{place}: there is no {counterpart}.", "{place}：没有 {counterpart}。"),
        Text(
            "Write a path under src/flashpath/, or of programs/.",
            "请写 src/flashpath/ 下或 programs/ 里的路径。",
        ),
    ),
    "not-a-commit": Entry(
        Text("{place}: {commit!r} is no commit.", "{place}：{commit!r} 不是提交号。"),
        Text("Write all 40 hexadecimal digits.", "请写出全部 40 位十六进制数字。"),
    ),
    "path-outside": Entry(
        Text("{place}: {path!r} is no path inside of a clone.", "{place}：{path!r} 不是克隆目录内的路径。"),
        Text("Write it from the repository's root, without ...", "请从仓库根目录写起，不要用 “..”。"),
    ),
    "holds-too-much": Entry(
        Text(
            "{place}: has more than {most} texts, or one of more than {longest} characters.",
            "{place}：超过 {most} 段，或有一段超过 {longest} 个字符。",
        ),
        Text("Name the few pieces that the answer rests on.", "只写答案所依据的那几小段。"),
    ),
    "nothing-written": Entry(
        Text("{place}: none is written.", "{place}：没有会被写入的数组。"),
        Text('Give the output role = "output" or "inout".', '请给输出写 role = "output" 或 "inout"。'),
    ),
    "question-twice": Entry(
        Text("{place}: {id!r} is there twice.", "{place}：{id!r} 出现了两次。"),
        Text("Give each question an id of its own.", "请给每个问题不同的 id。"),
    ),
    "block-is-cuda": Entry(
        Text("{place}: is CUDA's; Triton has num_warps.", "{place}：是 CUDA 的；Triton 用 num_warps。"),
        Text("Leave block and shared out.", "请删去 block 和 shared。"),
    ),
    "num-warps-is-triton": Entry(
        Text("{place}: is Triton's; CUDA has block.", "{place}：是 Triton 的；CUDA 用 block。"),
        Text("Leave it out.", "请删去。"),
    ),
    "not-an-argument": Entry(
        Text("{place}: {name!r} is no name.", "{place}：{name!r} 不是名字。"),
        Text("Name sizes, scalars and arrays.", "请写大小、标量和数组的名字。"),
    ),
    "not-a-constant": Entry(
        Text("{place}: is {value!r}.", "{place}：是 {value!r}。"),
        Text("Write a number, true or false, or a text for a macro.", "请写数、true 或 false，或宏的文本。"),
    ),
    "open-code-block": Entry(
        Text(
            "{place}: the code block that {fence} begins has no end.",
            "{place}：以 {fence} 开头的代码块没有结束。",
        ),
        Text("Close it.", "请补上结尾。"),
    ),
    "not-a-directive": Entry(
        Text("{place}: {line!r} is no directive.", "{place}：{line!r} 不是指令。"),
        Text("Write {{{{name …}}}} alone on its line.", "请单独一行写 {{{{name …}}}}。"),
    ),
    "no-such-directive": Entry(
        Text("{place}: there is no directive {name!r}.", "{place}：没有指令 {name!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "directive-unreadable": Entry(
        Text("{place}: {line!r} cannot be read.", "{place}：{line!r} 无法读取。"),
        Text("Write {wanted}.", "请写 {wanted}。"),
    ),
    "other-title": Entry(
        Text("{place}: {found}.", "{place}：{found}"),
        Text("Write the unit's title: # {title}", "请写单元的标题：# {title}"),
    ),
    "section-too-many": Entry(
        Text("{place}: ## {text} is one section too many.", "{place}：## {text} 是多余的小节。"),
        Text("Use ### within a section.", "小节内部请用 ###。"),
    ),
    "missing-at-end": Entry(
        Text("{place}: {what} is missing at the end.", "{place}：末尾缺少 {what}。"),
        Text("Translate it.", "请翻译。"),
    ),
    "lessons-differ": Entry(
        Text(
            "{place}: {here} stands where {name} has {there} (line {line}).",
            "{place}：这里是 {here}，而 {name} 的对应处是 {there}（第 {line} 行）。",
        ),
        Text(
            "Give both lessons the same headings and directives in the same order.",
            "两种语言的讲义应有相同的标题和指令，顺序相同。",
        ),
    ),
    "no-such-option": Entry(
        Text("{place}: {name} has no option {option!r}.", "{place}：{name} 没有选项 {option!r}。"),
        Text("It has: {known}.", "它的选项：{known}。"),
    ),
    "heading-level": Entry(
        Text("{place}: a heading of level {level}.", "{place}：有一个 {level} 级标题。"),
        Text("Sections have ##, their parts ###.", "小节用 ##，其中的部分用 ###。"),
    ),
    "section-missing": Entry(
        Text("{place}: the section {name!r} is missing.", "{place}：缺少小节 {name!r}。"),
        Text("Write ## {name}", "请写 ## {name}"),
    ),
    "section-misplaced": Entry(
        Text(
            "{place}: ## {text} stands where {name!r} belongs.", "{place}：该写 {name!r} 的地方是 ## {text}。"
        ),
        Text("The sections are: {sections}.", "各小节依次为：{sections}。"),
    ),
    "mutant-without-edits": Entry(
        Text(
            "{place}: a mutant has edits of the solution, or a source of its own.",
            "{place}：变体要么是对参考答案的修改，要么有自己的源文件。",
        ),
        Text('Write edits = [["old", "new"]].', '请写 edits = [["old", "new"]]。'),
    ),
    "edits-nothing": Entry(
        Text("{place}: change nothing.", "{place}：什么也没有改动。"),
        Text("Write another text as the replacement.", "请写不同的替换文本。"),
    ),
    "mutant-twice": Entry(
        Text("{place}: {name!r} is there twice.", "{place}：{name!r} 出现了两次。"),
        Text("Name them apart.", "请改成不同的名字。"),
    ),
    "not-an-edit": Entry(
        Text("{place}: {edit!r} is no edit.", "{place}：{edit!r} 不是修改。"),
        Text('Write ["text of the solution", "its replacement"].', '请写 ["参考答案里的文本", "替换文本"]。'),
    ),
    "edits-overlap": Entry(
        Text("{place}: {old!r} overlaps another edit.", "{place}：{old!r} 与另一处修改重叠。"),
        Text("Make one edit of both.", "请合成一处修改。"),
    ),
    "too-few-options": Text(
        "{place}: has {count}, and at least 2 are wanted.", "{place}：有 {count} 个，至少需要 2 个。"
    ),
    "not-each-once": Entry(
        Text("{place}: is {answer!r}.", "{place}：是 {answer!r}。"),
        Text("Write each right option once.", "请把每个正确选项写一次。"),
    ),
    "not-an-option": Entry(
        Text(
            "{place}: {answer!r} is none of the {options} options.",
            "{place}：{answer!r} 不在 {options} 个选项之中。",
        ),
        Text("Write a number from 1 to {options}.", "请写 1 到 {options} 的数。"),
    ),
    "not-a-pattern": Text(
        "{place}: {pattern!r} is no regular expression: {error}.",
        "{place}：{pattern!r} 不是正则表达式：{error}。",
    ),
    "not-a-rung": Entry(
        Text("{name!r} is no rung.", "{name!r} 不是梯级。"),
        Text('Write ladder and rung: "reduction/shuffle".', '请写阶梯和梯级："reduction/shuffle"。'),
    ),
    "not-an-address": Entry(
        Text("{place}: {url!r} is no address.", "{place}：{url!r} 不是网址。"),
        Text("Write https://…", "请写 https://…"),
    ),
    "missing": Entry(
        Text("{place}: is missing.", "{place}：缺少。"),
        Text("Write {key} = {example}", "请写 {key} = {example}"),
    ),
    "example-items": Text("… : questions, each under [[items]]", "… ：题目，各在一个 [[items]] 下"),
    "example-option": Text("1, the number of the right option", "1，即正确选项的编号"),
    "example-patterns": Text('["…"], regular expressions', '["…"]，正则表达式'),
    "example-reference": Text(
        "… : an expression for each output; or write reference.py",
        "… ：每个输出一个表达式；或写 reference.py",
    ),
    "example-at-most": Text("4.0 (or at_least)", "4.0（或 at_least）"),
    "example-questions": Text("… : at least one under [[questions]]", "… ：[[questions]] 下至少一个"),
    "example-launch": Text(
        "… : for all questions under [launch], or here", "… ：写在 [launch] 下，适用于所有问题；或写在这里"
    ),
    "example-stages": Text("… : at least one under [[stages]]", "… ：[[stages]] 下至少一个"),
    "example-cases": Text("… : at least one under [[cases]]", "… ：[[cases]] 下至少一个"),
    "example-weeks": Text('1, or "7-8"', '1，或 "7-8"'),
    "example-goals": Text('["…"], and goals.zh = ["…"]', '["…"]，以及 goals.zh = ["…"]'),
    "example-choice": Text('"…", one of {known}', '"…"，取 {known} 之一'),
    "example-both": Text('"…", and {key}.zh = "…"', '"…"，以及 {key}.zh = "…"'),
    "not-a-slug": Entry(
        Text("{place}: {name!r} is no name.", "{place}：{name!r} 不是合适的名字。"),
        Text(
            "Write lower-case letters, digits and hyphens: no-tail-check.",
            "请用小写字母、数字和连字符：no-tail-check。",
        ),
    ),
    "not-toml": Entry(
        Text("{place}: this is no TOML: {error}.", "{place}：不是合法的 TOML：{error}。"),
        Text("Correct that line.", "请改正那一行。"),
    ),
    "no-file": Entry(
        Text("{place}: there is no such file.", "{place}：没有这个文件。"),
        Text(
            "Write it; docs/authoring.md says what it holds.",
            "请写这个文件；docs/authoring.md 说明它的内容。",
        ),
    ),
    "not-utf-8": Entry(
        Text("{place}: byte {byte} is no UTF-8.", "{place}：第 {byte} 个字节不是 UTF-8。"),
        Text("Save the file as UTF-8.", "请把文件存成 UTF-8 编码。"),
    ),
    "other-type": Text("{place}: is {value}, and {kind} is wanted.", "{place}：是 {value}，应为{kind}。"),
    "empty": Entry(
        Text("{place}: is empty.", "{place}：是空的。"),
        Text("Write it, or leave the key out.", "请写内容，或删去这个键。"),
    ),
    "not-known": Entry(
        Text("{place}: {value!r} is not known.", "{place}：不认识 {value!r}。"),
        Text("It is one of {known}.", "可用的有：{known}。"),
    ),
    "out-of-range": Text("{place}: is {value}, and must be {range}.", "{place}：是 {value}，必须{range}。"),
    "twice": Entry(
        Text("{place}: {name!r} is there twice.", "{place}：{name!r} 出现了两次。"),
        Text("Keep one of them.", "请只留一个。"),
    ),
    "both-languages": Entry(
        Text("{place}: is {value}, and is wanted in both languages.", "{place}：是 {value}，需要两种语言。"),
        Text('Write {key}.en = "…" and {key}.zh = "…"', '请写 {key}.en = "…" 和 {key}.zh = "…"'),
    ),
    "other-lengths": Entry(
        Text(
            "{place}: has {english} in English and {chinese} in Chinese.",
            "{place}：英文有 {english} 条，中文有 {chinese} 条。",
        ),
        Text("Translate each.", "请逐条翻译。"),
    ),
    "unknown-key": Entry(
        Text("{place}: is not known here.", "{place}：这里没有这个键。"), Text("{advice}", "{advice}")
    ),
    "not-a-text": Text("{place}: is {value}, and a text is wanted.", "{place}：是 {value}，应为文本。"),
    "not-a-table": Entry(
        Text("{place}: is {value}, and a table is wanted.", "{place}：是 {value}，应为表。"),
        Text("Write [[{key}]].", "请写 [[{key}]]。"),
    ),
    "not-an-inline-table": Entry(
        Text("{place}: is {value}, and a table is wanted.", "{place}：是 {value}，应为表。"),
        Text("Write {{ … }}.", "请写 {{ … }}。"),
    ),
    "not-a-number": Entry(
        Text("{place}: is {value!r}.", "{place}：是 {value!r}。"),
        Text('Write 1, or "7-8".', '请写 1，或 "7-8"。'),
    ),
    "twice-in-track": Entry(
        Text(
            "{place}: {name!r} is there twice in this track.",
            "{place}：{name!r} 在这条学习路线里出现了两次。",
        ),
        Text("Give each an id of its own.", "请给每一个不同的 id。"),
    ),
    "no-such-week": Entry(
        Text("{place}: there is no week {name!r}.", "{place}：没有第 {name!r} 周。"),
        Text("{advice}", "{advice}"),
    ),
    "exercises-left-out": Entry(
        Text(
            "{place}: {id} has more exercises than the day names, and its week does not name the unit.",
            "{place}：{id} 的练习不止当天列出的这些，而所在的周没有列出这个单元。",
        ),
        Text(
            "Add it to the `units` of the week: there the others follow.",
            "把它加进这一周的 `units`：其余练习排在那里。",
        ),
    ),
    "no-such-exercise": Entry(
        Text("{place}: {id} has no exercise {exercise!r}.", "{place}：{id} 没有练习 {exercise!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "no-such-resource": Entry(
        Text("{place}: resources.toml has no {key!r}.", "{place}：resources.toml 里没有 {key!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "no-such-program-file": Entry(
        Text("{place}: there is no program {name!r}.", "{place}：没有程序 {name!r}。"),
        Text(
            "Write a path under programs/: cuda/01_hello_cuda.cu",
            "请写 programs/ 下的路径：cuda/01_hello_cuda.cu",
        ),
    ),
    "checkpoint-twice": Entry(
        Text("{place}: {id!r} is there twice.", "{place}：{id!r} 出现了两次。"),
        Text("Give each checkpoint an id of its own.", "请给每个检查点不同的 id。"),
    ),
    "not-a-plan-line": Entry(
        Text("{place}: {name!r} is no line of a plan.", "{place}：{name!r} 不是计划里的条目。"),
        Text('Write plan and number: "000-01".', '请写计划和编号："000-01"。'),
    ),
    "not-a-rung-name": Entry(
        Text("{place}: {name!r} is no rung.", "{place}：{name!r} 不是梯级。"),
        Text('Write ladder and rung: "reduction/shuffle".', '请写阶梯和梯级："reduction/shuffle"。'),
    ),
    "quiz-in-list": Entry(
        Text("{place}: the quiz comes last by itself.", "{place}：测验会自动排在最后。"),
        Text("Leave it out of the list.", "请从列表里删去。"),
    ),
    "no-exercise-file": Entry(
        Text(
            "{place}: there is no exercises/{name}/exercise.toml.",
            "{place}：没有 exercises/{name}/exercise.toml。",
        ),
        Text("Write it, or leave it out.", "请写这个文件，或从列表里删去。"),
    ),
    "not-in-list": Entry(
        Text(
            "{place}: {name} is in the folder and not in the list.",
            "{place}：{name} 在文件夹里，却不在列表里。",
        ),
        Text("Add it where it belongs.", "请加到它该在的位置。"),
    ),
    "names-no-figure": Entry(
        Text("{place}: {made_by!r} names no figure.", "{place}：{made_by!r} 不是图。"),
        Text(
            'Write "flashpath.course.figures.units.MODULE:FUNCTION".',
            '请写 "flashpath.course.figures.units.模块:函数"。',
        ),
    ),
    "figure-twice": Text("{place}: {name!r} is there twice.", "{place}：{name!r} 出现了两次。"),
    "not-a-size": Entry(
        Text("{place}: is {value!r}.", "{place}：是 {value!r}。"),
        Text(
            'Write a number, a list of numbers, or "between(2000, 5000)".',
            '请写一个数、一列数，或 "between(2000, 5000)"。',
        ),
    ),
    "other-sizes": Entry(
        Text("{place}: has {given}.", "{place}：写了 {given}。"),
        Text("Give a number for each of {expected}.", "请给 {expected} 各写一个数。"),
    ),
    "not-an-expression": Entry(
        Text("{place}: is {value!r}, and an expression is wanted.", "{place}：是 {value!r}，应为表达式。"),
        Text('Write a text such as "ceil_div(n, 256)".', '请写文本，例如 "ceil_div(n, 256)"。'),
    ),
    "other-entry-count": Text(
        "{place}: has {count} entries, and must have 1 to {most}.",
        "{place}：有 {count} 项，应为 1 到 {most} 项。",
    ),
    "no-sizes": Entry(
        Text("{place}: is an empty list.", "{place}：是空的列表。"),
        Text("Write at least one size.", "请至少写一个大小。"),
    ),
    "no-number-of-a-gpu": Entry(
        Text(
            "{place}: names {count} GPUs, and not every case says which of them it runs on.",
            "{place}：列出了 {count} 款 GPU，但不是每个用例都说明了在哪一款上运行。",
        ),
        Text(
            "Give every case a size `gpu`, a number from 0 to {last}.",
            "请给每个用例加上大小 `gpu`，取 0 到 {last} 的整数。",
        ),
    ),
    "size-out-of-range": Text(
        "{place}: is {value}, and must be from 0 to 2³¹ − 1.",
        "{place}：是 {value}，必须在 0 到 2³¹ − 1 之间。",
    ),
    "sizes-differ": Entry(
        Text(
            "{place}: has {given}, and the first case has {expected}.",
            "{place}：有 {given}，而第一组用例有 {expected}。",
        ),
        Text("Give every case the same sizes.", "每组用例应有相同的大小。"),
    ),
    "name-twice": Entry(
        Text(
            "{place}: {name} is a size, scalar or array more than once.",
            "{place}：{name} 重复用作大小、标量或数组的名字。",
        ),
        Text("Name them apart.", "请改成不同的名字。"),
    ),
    "not-a-value-name": Entry(
        Text("{place}: {name!r} cannot be the name of a value.", "{place}：{name!r} 不能作为值的名字。"),
        Text("Write a name such as row_stride.", "请写 row_stride 这样的名字。"),
    ),
    "name-has-meaning": Entry(
        Text("{place}: {name} has a meaning in expressions.", "{place}：{name} 在表达式里另有含义。"),
        Text("Choose another name.", "请换一个名字。"),
    ),
    "below-with-indices": Entry(
        Text(
            '{place}: belongs to values = "indices" or "starts", and these need it.',
            '{place}：只能与 values = "indices" 或 "starts" 一起写，反之亦然。',
        ),
        Text('Write values = "indices", below = "n".', '请写 values = "indices", below = "n"。'),
    ),
    "value-of-input": Entry(
        Text(
            "{place}: an array with a value is an input, and is not drawn.",
            "{place}：写了 value 的数组应是输入，而且不是抽取的。",
        ),
        Text('Leave out values, and role = "output".', '请去掉 values 和 role = "output"。'),
    ),
    "not-one-number": Text(
        "{place}: is {value!r}, and one number is wanted here.", "{place}：是 {value!r}，这里应为一个数。"
    ),
    "edit-many-times": Entry(
        Text(
            "{place}: {old!r} is there {times} times in the solution.",
            "{place}：{old!r} 在参考答案里出现了 {times} 次。",
        ),
        Text(
            "Write text that is there exactly once; take in more of the line.",
            "请写只出现一次的文本，可以多写一些。",
        ),
    ),
    "edit-not-there": Entry(
        Text("{place}: {old!r} is not there in the solution.", "{place}：参考答案里没有 {old!r}。"),
        Text("Copy it from the solution.", "请从参考答案里复制。"),
    ),
    # ---- Names -------------------------------------------------------------------------------------------
    "unknown-unit": Entry(
        Text("There is no unit {name!r}.", "没有单元 {name!r}。"),
        Text("{advice} flashpath read lists them.", "{advice}flashpath read 会列出它们。"),
    ),
    "several-exercises": Entry(
        Text("There is no one exercise {name!r}.", "没有唯一的练习 {name!r}。"),
        Text("There are several: {names}.", "有好几个：{names}。"),
    ),
    "unknown-exercise": Entry(
        Text("There is no exercise {name!r}.", "没有练习 {name!r}。"),
        Text("{advice} Exercises are named UNIT/EXERCISE.", "{advice}练习的写法是 UNIT/EXERCISE。"),
    ),
    "unit-not-exercise": Entry(
        Text("{unit} is a unit, not an exercise.", "{unit} 是单元，不是练习。"),
        Text(
            "Name one of its exercises, such as `flashpath grade {first}`. There are: {names}.",
            "请写出其中一个练习，如 `flashpath grade {first}`。可选：{names}。",
        ),
    ),
    "unit-without-exercises": Entry(
        Text("{unit} is a unit, and its exercises are still planned.", "{unit} 是单元，它的练习还在计划中。"),
        Text(
            "`flashpath read {unit}` says what there is meanwhile.",
            "`flashpath read {unit}` 会列出目前可用的内容。",
        ),
    ),
    "unknown-exercise-of-unit": Entry(
        Text("There is no exercise of {unit} {name!r}.", "没有 {unit} 的练习 {name!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "unknown-track": Entry(
        Text("There is no track {name!r}.", "没有学习路线 {name!r}。"), Text("{advice}", "{advice}")
    ),
    "unknown-resource": Entry(
        Text("There is no resource {name!r}.", "没有资源 {name!r}。"),
        Text("{advice} flashpath resources lists them.", "{advice}flashpath resources 会列出它们。"),
    ),
    "unknown-week": Entry(
        Text("There is no week in {track} {name!r}.", "没有 {track} 的周 {name!r}。"),
        Text("{advice}", "{advice}"),
    ),
    "figure-function": Entry(
        Text("{place}: {made_by!r}: {error}.", "{place}：{made_by!r}：{error}。"),
        Text("Write the function.", "请写这个函数。"),
    ),
}
