"""What the commands of the course say: help, headings, results and errors.

Each command has a section, under its name; a section's keys begin with the command's name.
"""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- The commands of the course: options that several have -----------------------------------------
    "option-lang": Text(
        "en or zh; by default FLASHPATH_LANG, or the folder's.",
        "en 或 zh；默认取 FLASHPATH_LANG，否则取学习目录的语言。",
    ),
    # ---- start -----------------------------------------------------------------------------------------
    "start-help": Text(
        """Begin a track: make a work folder with its plan, lessons, exercises and notes, as a git repository.

Run again, it adds what is new and what is missing, and changes nothing that you wrote. Nothing is downloaded.

Examples:

    flashpath start

    flashpath start cuda-triton-flash

    flashpath start flash-attention-source --lang zh --into 源码学习
""",
        """开始一条学习路线：建立学习目录，含计划、讲义、练习和笔记，并建成 git 仓库。

再次运行时只补上新增和缺少的内容，不改动你写的东西。不会下载任何东西。

示例：

    flashpath start

    flashpath start cuda-triton-flash

    flashpath start flash-attention-source --lang zh --into 源码学习
""",
    ),
    "start-track": Text(
        "cuda-triton-flash, …; without it, all are listed.", "cuda-triton-flash 等；不写则列出全部路线。"
    ),
    "start-into": Text(
        "The folder; by default one of the track's name here.", "学习目录；默认在当前位置以路线名建立。"
    ),
    "start-into-too": Text("The same folder, as an option.", "同上，写成选项。"),
    "start-two-folders": Entry(
        Text("Two folders are named: {folder} and {into}.", "指定了两个目录：{folder} 和 {into}。"),
        Text("Name one: flashpath start TRACK FOLDER", "只写一个：flashpath start 路线 目录"),
    ),
    "start-two-tracks": Entry(
        Text("Two tracks are named: {track} and {other}.", "写了两条路线：{track} 和 {other}。"),
        Text("Begin one, then the other: flashpath start {track}", "先开始一条：flashpath start {track}"),
    ),
    "start-how": Text("Begin one: flashpath start {track}", "开始学习：flashpath start {track}"),
    "start-made": Text("Made {root}: {new} files.", "已创建 {root}：{new} 个文件。"),
    "start-completed": Text(
        "{root}: {new} files added, {updated} brought up to date, {same} as they were.",
        "{root}：新增 {new} 个文件，更新 {updated} 个，{same} 个未变。",
    ),
    "start-kept": Text(
        "{count} of yours left as they are, though there is something newer: {names}",
        "{count} 个你改过的文件保持原样（有更新的版本）：{names}",
    ),
    "start-git-begun": Text(
        "A git repository with a first commit is in it.", "已建立 git 仓库并做了第一次提交。"
    ),
    "start-git-inside": Text(
        "It lies in the git repository {said}, so it has none of its own.",
        "它位于 git 仓库 {said} 中，因此没有另建仓库。",
    ),
    "start-git-none": Text(
        "There is no git here, so no repository was made; everything else works.",
        "没有找到 git，因此没有建立仓库；其他功能不受影响。",
    ),
    "start-git-failed": Text(
        "git could not make the repository: {said}. Everything else works.",
        "git 未能建立仓库：{said}。其他功能不受影响。",
    ),
    "start-next": Text("Next:", "下一步："),
    # ---- next ------------------------------------------------------------------------------------------
    "next-help": Text(
        """Say what to do now: the next exercise of the track with its file, and tasks that are still to tick.

Examples:

    flashpath next

    flashpath next --lang zh

    flashpath next --json
""",
        """说明现在该做什么：路线中的下一个练习及其文件，以及还没有打勾的任务。

示例：

    flashpath next

    flashpath next --lang zh

    flashpath next --json
""",
    ),
    "next-done": Text("{track}: everything is done. Well done!", "{track}：全部完成，祝贺你！"),
    "next-all-passed": Text(
        "{track}: all {count} exercises that are written are passed. Well done!",
        "{track}：已写成的 {count} 个练习全部通过，祝贺你！",
    ),
    "next-planned": Text(
        "{count:~unit} {count:?is/are} planned: {names}", "还有 {count} 个单元正在计划中：{names}"
    ),
    "next-export": Text("  flashpath export   makes a portfolio of it", "  flashpath export   生成作品集"),
    "next-ladder": Text(
        "kernels from the simplest to the fastest, to read and to run",
        "从最简单到最快的核函数，可以读，也可以运行",
    ),
    "next-programs": Text(
        "whole programs, such as programs/cuda/03_matrix_multiply.cu",
        "完整的程序，例如 programs/cuda/03_matrix_multiply.cu",
    ),
    "next-review": Text("questions that are due again", "复习到期的题目"),
    "next-portfolio": Text("a portfolio of what you did", "把做过的内容整理成作品集"),
    "next-checkpoint": Text(
        "the checkpoint of a unit that you finished: {count:~question}", "已学完单元的检查点：{count} 个问题"
    ),
    "next-due": Text("{count:~question} {count:?is/are} due again", "有 {count} 道题该复习了"),
    "about-minutes": Text("about {minutes} min", "约 {minutes} 分钟"),
    "next-lesson-first": Text("   the lesson first: {unit}", "   先读讲义：{unit}"),
    "next-answer-questions": Text("   answer the questions", "   回答问题"),
    "next-or-watch": Text("   or: flashpath watch", "   或者：flashpath watch"),
    "next-to-tick": Text("To do and to tick:", "待完成并打勾："),
    "next-more-tasks": Text("  and {more} more: flashpath progress", "  还有 {more} 项：flashpath progress"),
    # ---- read ------------------------------------------------------------------------------------------
    "read-help": Text(
        """Read a lesson in the terminal, or a page that lessons name; without either, list the units.

Into a pipe it is Markdown.

Examples:

    flashpath read

    flashpath read first-kernel

    flashpath read 03-coalescing --lang zh > coalescing.md

    flashpath read docs/attention
""",
        """在终端里读讲义，或者讲义提到的文档页；都不给出时列出全部单元。

输出到管道时是 Markdown。

示例：

    flashpath read

    flashpath read first-kernel

    flashpath read 03-coalescing --lang zh > coalescing.md

    flashpath read docs/attention
""",
    ),
    "read-unit": Text(
        "A unit, such as first-kernel, or a page, such as docs/attention; without it, the list of all units.",
        "单元（例如 first-kernel）或文档页（例如 docs/attention）；不写则列出全部单元。",
    ),
    "read-pager": Text("Page through a lesson that is longer than the screen.", "讲义比屏幕长时分页显示。"),
    "read-column-unit": Text("unit", "单元"),
    "read-column-title": Text("title", "标题"),
    "read-column-minutes": Text("minutes", "分钟"),
    "read-column-exercises": Text("exercises", "练习"),
    "read-how": Text("flashpath read UNIT shows a lesson.", "flashpath read 单元 显示讲义。"),
    # ---- watch -----------------------------------------------------------------------------------------
    "watch-help": Text(
        """Grade again on every save, with single keys: next, hint, list, check all, reset, solution, quit.

Saving another exercise's file turns to that one. Where there is no terminal, grades are only printed,
with --json one document a line; end it with Ctrl-C.

Examples:

    flashpath watch

    flashpath watch first-kernel/vector-add

    flashpath watch --json
""",
        """每次保存文件时重新评分，按单个键操作：下一个、提示、列表、全部检查、重置、答案、退出。

保存另一个练习的文件，就转到那个练习。没有终端时只打印评分，加 --json 则每行一个文档；按 Ctrl-C 结束。

示例：

    flashpath watch

    flashpath watch first-kernel/vector-add

    flashpath watch --json
""",
    ),
    "watch-exercise": Text(
        "first-kernel/vector-add, or its file; by default the next one to do.",
        "first-kernel/vector-add，或它的文件；默认是下一个要做的练习。",
    ),
    "watch-lesson": Text("The lesson: flashpath read {unit}", "讲义：flashpath read {unit}"),
    "watch-hint": Text("hint {number} of {count}: ", "提示 {number}/{count}："),
    "watch-passed": Text(
        "Passed. Press n to go on to {exercise}, s to see the solution and its explanation.",
        "通过。按 n 继续：{exercise}；按 s 看答案与讲解。",
    ),
    "watch-all-passed": Text(
        "Passed, and so is every other exercise here. Press s for the solution; `flashpath next` says what is left.",
        "通过，其余练习也都已通过。按 s 看答案与讲解；`flashpath next` 会说明还剩什么。",
    ),
    "watch-checking": Text("checking …", "正在检查……"),
    "watch-stopped": Text("stopped; Enter checks it again", "已停止；按回车重新检查"),
    "watch-no-other": Text("There is no other to do.", "没有别的练习要做了。"),
    "watch-checking-one": Text("checking {name} …", "正在检查 {name}……"),
    "watch-nothing-begun": Text("Nothing was begun yet.", "还没有开始任何练习。"),
    "watch-stopped-at": Text("stopped at {name}; c checks all again", "在 {name} 处停止；按 c 重新全部检查"),
    "watch-listed": Text(
        "  {first}–{last} of {count}; l shows more", "  第 {first}–{last} 个，共 {count} 个；按 l 看更多"
    ),
    "watch-reset-ask": Text(
        "Put the file back to its beginning? What you wrote is kept. [y/N]",
        "把文件恢复到最初？你写的内容会保留。[y/N]",
    ),
    "watch-keys": Text(
        "n next · h hint · l list · c check all · r reset · s solution · q quit",
        "n 下一个 · h 提示 · l 列表 · c 全部检查 · r 重置 · s 答案 · q 退出",
    ),
    # ---- grade -----------------------------------------------------------------------------------------
    "grade-help": Text(
        """Grade an exercise. Exits with 0 when it passes, else with 1.

What you tried is kept before it is graded: nothing is lost when the command is stopped.

Examples:

    flashpath grade

    flashpath grade first-kernel/vector-add

    flashpath grade exercises/first-kernel/vector-add/vector-add.cu

    flashpath grade first-kernel/vector-add --file ~/my-vector-add.cu

    flashpath grade --all --json
""",
        """给练习评分。通过时退出码为 0，否则为 1。

评分之前先保存你写的内容：中途停止也不会丢失。

示例：

    flashpath grade

    flashpath grade first-kernel/vector-add

    flashpath grade 练习/first-kernel/vector-add/vector-add.cu

    flashpath grade first-kernel/vector-add --file ~/my-vector-add.cu

    flashpath grade --all --json
""",
    ),
    "grade-exercise": Text(
        "first-kernel/vector-add, its file or folder, or a problem set (exercises/01); by default what was last changed.",
        "first-kernel/vector-add，或它的文件、目录，或一套练习题（练习/01）；默认是最近改动的练习。",
    ),
    "grade-file": Text("Grade this file as an answer to the exercise.", "把这个文件当作该练习的答案来评分。"),
    "grade-every": Text("Every exercise of the track that was begun.", "路线中所有已经开始的练习。"),
    "set-solved": Text("{name}: all {count} are solved", "{name}：{count} 题全部做对"),
    "set-left": Text("{name}: {solved} of {count} are solved", "{name}：{count} 题中已做对 {solved} 题"),
    "grade-next": Text("Next: {exercise}  (flashpath next)", "下一个：{exercise}  (flashpath next)"),
    "grade-all-done": Text(
        "Every exercise of the track is passed. Well done!  (flashpath next)",
        "这条路线的练习全部通过，祝贺你！  (flashpath next)",
    ),
    "grade-checkpoint": Text(
        "  the unit is finished; its checkpoint: flashpath review {unit}",
        "  这个单元已经学完；检查点：flashpath review {unit}",
    ),
    "grade-solution": Text(
        "  a solution and its explanation: flashpath solution {exercise}",
        "  答案与讲解：flashpath solution {exercise}",
    ),
    "grade-hint": Text(
        "  a hint ({seen} of {count} seen): flashpath hint {exercise}",
        "  提示（已看 {seen}/{count}）：flashpath hint {exercise}",
    ),
    "grade-all-passed": Text(
        "{passed} of {count} exercises that were begun pass.", "已开始的 {count} 个练习中通过 {passed} 个。"
    ),
    # ---- hint ------------------------------------------------------------------------------------------
    "hint-help": Text(
        """Show the next hint: what to look at, the idea, almost the line.

Examples:

    flashpath hint

    flashpath hint first-kernel/vector-add

    flashpath hint first-kernel/vector-add --number 1
""",
        """给出下一条提示：该看哪里、思路是什么、几乎就是那一行代码。

示例：

    flashpath hint

    flashpath hint first-kernel/vector-add

    flashpath hint first-kernel/vector-add --number 1
""",
    ),
    "hint-exercise": Text(
        "first-kernel/vector-add, or its file; by default the one that was last changed.",
        "first-kernel/vector-add，或它的文件；默认是最近改动的练习。",
    ),
    "hint-number": Text("Show this one again.", "再看一次这一条。"),
    "hint-title": Text("hint {number} of {count}", "提示 {number}/{count}"),
    "hint-last": Text(
        "That was the last one. The solution: flashpath solution {exercise} --give-up",
        "这是最后一条提示。查看答案：flashpath solution {exercise} --give-up",
    ),
    # ---- solution --------------------------------------------------------------------------------------
    "solution-help": Text(
        """Show a solution and its explanation: once you have passed, or with --give-up.

Examples:

    flashpath solution first-kernel/vector-add

    flashpath solution first-kernel/vector-add --give-up
""",
        """显示答案与讲解：通过之后可看，或加上 --give-up。

示例：

    flashpath solution first-kernel/vector-add

    flashpath solution first-kernel/vector-add --give-up
""",
    ),
    "solution-give-up": Text(
        "Show it before you have passed; that is noted.", "没有通过也要看；会记录下来。"
    ),
    # ---- reset -----------------------------------------------------------------------------------------
    "reset-help": Text(
        """Put the exercise's file back to its beginning. What you wrote is kept: --bring-back writes it again.

Examples:

    flashpath reset first-kernel/vector-add

    flashpath reset first-kernel/vector-add --yes

    flashpath reset first-kernel/vector-add --bring-back
""",
        """把练习的文件恢复到最初。你写的内容会保留：--bring-back 把它写回来。

示例：

    flashpath reset first-kernel/vector-add

    flashpath reset first-kernel/vector-add --yes

    flashpath reset first-kernel/vector-add --bring-back
""",
    ),
    "reset-exercise": Text("first-kernel/vector-add, or its file.", "first-kernel/vector-add，或它的文件。"),
    "reset-yes": Text("Do not ask.", "不再询问。"),
    "reset-bring-back": Text("Undo: write what the last reset replaced.", "撤销：写回上次重置所替换的内容。"),
    "reset-ask": Text(
        "Put {file} back to its beginning? What you wrote is kept.",
        "把 {file} 恢复到最初？你写的内容会保留。",
    ),
    "reset-undone": Text("{file} is as it was before the reset.", "{file} 已恢复到重置之前。"),
    "reset-done": Text("{file} is as it was at first.", "{file} 已恢复到最初。"),
    # ---- progress --------------------------------------------------------------------------------------
    "progress-help": Text(
        """Show how far you are: by track, week and day, checkpoints, days in a row, time spent.

Tasks and checkpoints that no exercise stands for are ticked by hand, by the names shown.

Examples:

    flashpath progress

    flashpath progress --week 2

    flashpath progress --tick read-paper

    flashpath progress --tick first-kernel/global-index

    flashpath progress --untick read-paper --json
""",
        """显示学到了哪里：按路线、周和天，检查点，连续学习的天数，所用时间。

没有对应练习的任务和检查点由你自己打勾，名字如显示的那样。

示例：

    flashpath progress

    flashpath progress --week 2

    flashpath progress --tick read-paper

    flashpath progress --tick first-kernel/global-index

    flashpath progress --untick read-paper --json
""",
    ),
    "progress-tick": Text(
        "Mark a task or checkpoint as done; may be repeated.", "把任务或检查点标为完成；可重复使用。"
    ),
    "progress-untick": Text("Take a mark back.", "取消标记。"),
    "progress-week": Text("Show the days and tasks of this week.", "显示这一周的各天与任务。"),
    "progress-all": Text("Show the days and tasks of every week.", "显示每一周的各天与任务。"),
    "progress-track": Text(
        "Of this track; by default the work folder's.", "这条路线的进度；默认是学习目录的路线。"
    ),
    "progress-ticked": Text("{done} of {total} in {track}", "{track}：{done}/{total}"),
    "progress-all-passed": Text(
        "All {count} exercises that are written are passed. Well done!",
        "已写成的 {count} 个练习全部通过，祝贺你！",
    ),
    "progress-streak": Text("{days:~day} in a row · {time} spent", "连续 {days} 天 · 已学习 {time}"),
    "progress-due": Text(" · {due} due: flashpath review", " · {due} 道题待复习：flashpath review"),
    "progress-exercises": Text("{done} exercises", "练习 {done}"),
    "progress-tasks": Text("{done} tasks", "任务 {done}"),
    "progress-planned": Text("{count:~unit} to come", "{count} 个单元待编写"),
    "progress-to-come": Text("to come", "待编写"),
    "progress-solution-seen": Text("  (solution seen)", "  （已看答案）"),
    "progress-checkpoints": Text("Checkpoints", "检查点"),
    "progress-assessment": Text("Final assessment", "最终评估"),
    # ---- review ----------------------------------------------------------------------------------------
    "review-help": Text(
        """Ask questions: those of a unit when they are new, and old ones when they are due again.

A question answered right comes back after 1, 3, 7, 16 and 35 days; one answered wrong, the next day.
Every answer is kept as soon as it is given. Type ? where you do not know, q to stop.
Once all exercises of a unit are passed, its checkpoint is asked too: answer in your own words, see the answer, and
say whether you had it.
With --json nothing is asked: what is due, and when the rest is, is printed.

Examples:

    flashpath review first-kernel

    flashpath review

    flashpath review --limit 10

    flashpath review first-kernel --again
""",
        """提问：单元里没有做过的题，以及到期该复习的题。

答对的题在 1、3、7、16、35 天之后再问；答错的题第二天再问。
每个回答都立即保存。不知道就输入 ?，输入 q 停止。
单元的练习全部通过之后，还会问它的检查点：先用自己的话回答，再看答案，然后说明自己是否答到了。
加 --json 时不提问，只输出哪些题到期、其余何时到期。

示例：

    flashpath review first-kernel

    flashpath review

    flashpath review --limit 10

    flashpath review first-kernel --again
""",
    ),
    "review-unit": Text(
        "Ask the questions of this unit, or of a problem set (exercises/01); by default those that are due.",
        "问这个单元或这套练习题（练习/01）的题；默认问到期的题。",
    ),
    "review-limit": Text("At most so many questions.", "最多问多少题。"),
    "review-again": Text("Of a unit: all its questions, due or not.", "单元的全部题目，不论是否到期。"),
    "review-choice": Text("the number of one option", "一个选项的编号"),
    "review-choices": Text("the numbers of all right ones, such as 1 3", "所有正确选项的编号，例如 1 3"),
    "review-order": Text("the numbers in the right order, such as 2 1 3", "按正确顺序写编号，例如 2 1 3"),
    "review-number": Text("a number", "一个数"),
    "review-text": Text("a few words", "几个字"),
    "review-prompt": Text("  {kind} (? I do not know, q stop): ", "  {kind}（? 不知道，q 停止）："),
    "review-unreadable": Text(
        "  {typed!r} cannot be read as an answer, and does not count. Write {kind}.",
        "  {typed!r} 不符合答题格式，不算作答。请写{kind}。",
    ),
    "review-right": Text("  ✓ right", "  ✓ 正确"),
    "review-wrong": Text("  ✗ not right", "  ✗ 不对"),
    "review-wrong-answer": Text("  ✗ not right. The answer is: {answer}", "  ✗ 不对。正确答案：{answer}"),
    "review-again-on": Text("again on {day}", "{day} 再问"),
    "review-checkpoint": Text(
        "The checkpoint: what you must be able to explain.", "检查点：学完之后应当能讲清楚的内容。"
    ),
    "review-own-words": Text(
        "  in your own words, then Enter (q stop): ", "  先用自己的话回答，再按回车（q 停止）："
    ),
    "review-had-it": Text("  Did you have it? [y/N] (q stop): ", "  答到了吗？[y/N]（q 停止）："),
    "review-had": Text("  ☑ kept in your progress", "  ☑ 已记入进度"),
    "review-not-had": Text("  ☐ it stays open, and is asked again", "  ☐ 仍未完成，下次再问"),
    "review-score": Text(
        "{right} of {asked} right; every answer is kept.", "答对 {right}/{asked}；所有回答都已保存。"
    ),
    "review-quiz-passed": Text("✓ {quiz} is passed.", "✓ {quiz} 已通过。"),
    "review-unit-done": Text(
        "Nothing of {unit} is due. All its questions again: flashpath review {unit} --again",
        "{unit} 没有到期的题目。全部再问一遍：flashpath review {unit} --again",
    ),
    "review-no-quiz": Text("{unit} has no questions yet.", "{unit} 还没有题目。"),
    "review-nothing-due": Text("Nothing is due before {day}.", "{day} 之前没有要复习的题目。"),
    "review-nothing-asked": Text(
        "No question was asked yet. Begin with a unit: flashpath review first-kernel",
        "还没有做过题。先从一个单元开始：flashpath review first-kernel",
    ),
    # ---- note ------------------------------------------------------------------------------------------
    "note-help": Text(
        """Begin a note from its template in the work folder, and open it; one that is there is never overwritten.

Examples:

    flashpath note

    flashpath note --week 1

    flashpath note csrc/flash_attn/src/flash_fwd_kernel.h

    flashpath note --environment

    flashpath note --name flash-attention-paper --no-edit
""",
        """在学习目录中用模板新建笔记并打开；已有的笔记不会被覆盖。

示例：

    flashpath note

    flashpath note --week 1

    flashpath note csrc/flash_attn/src/flash_fwd_kernel.h

    flashpath note --environment

    flashpath note --name flash-attention-paper --no-edit
""",
    ),
    "note-source": Text(
        "A note on this source file; by default today's note.", "关于这个源文件的笔记；默认是今天的笔记。"
    ),
    "note-file": Text(
        "The same: --file csrc/flash_attn/src/softmax.h.", "同上：--file csrc/flash_attn/src/softmax.h。"
    ),
    "note-week": Text("The note of this week of the track: 1, 7-8.", "路线中这一周的笔记：1、7-8。"),
    "note-name": Text("The note that a task of the track names.", "路线的某个任务所要求的笔记。"),
    "note-environment": Text(
        "What this machine has, filled in by doctor.", "这台机器的环境，由 doctor 填写。"
    ),
    "note-edit": Text(
        "Open it in $VISUAL or $EDITOR, where one is set.", "用 $VISUAL 或 $EDITOR 打开（若已设置）。"
    ),
    "note-list": Text("List the notes that are there.", "列出已有的笔记。"),
    "note-one": Entry(
        Text("One note at a time.", "一次只能写一篇笔记。"),
        Text(
            "Give one of --file, --week, --name and --environment.",
            "请在 --file、--week、--name、--environment 中选一个。",
        ),
    ),
    "note-editor": Entry(
        Text("The editor {editor!r} cannot be started: {error}.", "无法启动编辑器 {editor!r}：{error}。"),
        Text("Set $EDITOR to one that is there.", "请把 $EDITOR 设为可用的编辑器。"),
    ),
    "note-checks": Text("| what | state | found |", "| 项目 | 状态 | 检查结果 |"),
    "note-mend": Text("To mend", "如何补齐"),
    # ---- log -------------------------------------------------------------------------------------------
    "log-help": Text(
        """Keep a learning log: a problem, its solution, what was learnt, and the kernel that it is about.

Examples:

    flashpath log "wrong sums for n = 33" --solution "guard the tail" --learnt "the last warp is not full"

    flashpath log "race in the reduction" --kernel exercises/reduction/block-sum/block-sum.cu

    flashpath log

    flashpath log --list
""",
        """写学习日志：遇到的问题、怎样解决、学到什么，以及与哪个核函数有关。

示例：

    flashpath log "n = 33 时求和出错" --solution "给尾部加边界检查" --learnt "最后一个 warp 没有占满"

    flashpath log "归约中有数据竞争" --kernel 练习/reduction/block-sum/block-sum.cu

    flashpath log

    flashpath log --list
""",
    ),
    "log-problem-option": Text("What happened; without it, you are asked.", "遇到的问题；不写则逐项询问。"),
    "log-solution-option": Text("What solved it.", "怎样解决的。"),
    "log-learnt-option": Text("What you learnt.", "学到了什么。"),
    "log-kernel-option": Text("The file that it is about.", "与之有关的文件。"),
    "log-list-option": Text("Show what was written so far.", "显示已有的记录。"),
    "log-problem": Text("What was the problem", "遇到了什么问题"),
    "log-solution": Text("What solved it (Enter: not solved yet)", "怎样解决的（回车：尚未解决）"),
    "log-learnt": Text("What did you learn", "学到了什么"),
    "log-file": Text("Which file is it about (Enter: none)", "与哪个文件有关（回车：无）"),
    "log-problem-empty": Entry(
        Text("The problem is empty.", "问题是空的。"),
        Text('Write it: flashpath log "…"', '请写上：flashpath log "…"'),
    ),
    "log-nobody-to-ask": Entry(
        Text("There is no problem to keep, and nobody to ask.", "没有给出问题，也无法询问。"),
        Text(
            'flashpath log "…" --solution "…" --learnt "…" --kernel FILE',
            'flashpath log "…" --solution "…" --learnt "…" --kernel FILE',
        ),
    ),
    "log-no-file": Entry(
        Text("There is no file {file}.", "找不到文件 {file}。"),
        Text("Give the path of a file, or leave --kernel out.", "请给出文件路径，或省略 --kernel。"),
    ),
    "log-kept": Text("Kept as entry {number}.", "已保存为第 {number} 条。"),
    "log-empty": Text('Nothing yet. Begin: flashpath log "…"', '还没有记录。开始：flashpath log "…"'),
    "log-entry-solution": Text("solution", "解决"),
    "log-entry-learnt": Text("learnt", "收获"),
    "log-entry-file": Text("kernel", "文件"),
    # ---- export ----------------------------------------------------------------------------------------
    "export-help": Text(
        """Make a folder of Markdown to show: notes, passed kernels with their grades, progress, the log.

A folder that is there is made anew only if an earlier export made it.

Examples:

    flashpath export

    flashpath export ~/my-portfolio --lang zh

    flashpath export --review first-kernel/vector-add
""",
        """生成可以展示的 Markdown 目录：笔记、通过的核函数及评分、进度、学习日志。

已有的目录只有在由之前的导出生成时才会重做。

示例：

    flashpath export

    flashpath export ~/my-portfolio --lang zh

    flashpath export --review first-kernel/vector-add
""",
    ),
    "export-into": Text(
        "The folder to make; by default portfolio, or review-EXERCISE.",
        "要生成的目录；默认是 portfolio 或 review-EXERCISE。",
    ),
    "export-review": Text(
        "Bundle this exercise's kernel with its report and a review checklist.",
        "把这个练习的核函数、报告和评审清单放在一起。",
    ),
    "export-done": Text(
        "{count} files in {place}; begin with {first}", "{place} 中有 {count} 个文件；从 {first} 看起"
    ),
    # ---- resources -------------------------------------------------------------------------------------
    "resources-help": Text(
        """List what there is to read and watch, and where people meet.

Examples:

    flashpath resources

    flashpath resources --track cuda-triton-flash --week 1
""",
        """列出可读、可看的资料，以及交流的社区。

示例：

    flashpath resources

    flashpath resources --track cuda-triton-flash --week 1
""",
    ),
    "resources-fetch": Text(
        "Save the papers of the weeks in the work folder. It needs a network.",
        "把这些周的论文下载到学习目录（需要网络）。",
    ),
    "resources-fetched": Text("saved: {path}", "已保存：{path}"),
    "resources-was-there": Text("already there: {path}", "已经有了：{path}"),
    "resources-no-papers": Text(
        "No paper of those weeks has an address to fetch.", "这些周没有可下载的论文。"
    ),
    "resources-track": Text("Those of a track, week by week.", "某条路线的资料，按周列出。"),
    "resources-week": Text(
        "Those of one week: 1, or 7-8; of the work folder's track, or --track.",
        "某一周的资料：1 或 7-8；路线取自学习目录或 --track。",
    ),
    "resources-which-track": Entry(
        Text("--week {week} is of which track?", "--week {week} 属于哪条路线？"),
        Text("Add --track, one of {names}.", "请加上 --track，可选：{names}。"),
    ),
    "resources-none": Text("None are named.", "没有指定资料。"),
    "resources-books": Text("Books", "书籍"),
    "resources-papers": Text("Papers", "论文"),
    "resources-documents": Text("Documents", "文档"),
    "resources-courses": Text("Courses", "课程"),
    "resources-communities": Text("Communities", "社区"),
    "resources-repositories": Text("Repositories", "代码仓库"),
    "resources-talks": Text("Talks", "演讲"),
    "resources-tools": Text("Tools", "工具"),
    # ---- validate --------------------------------------------------------------------------------------
    "validate-help": Text(
        """Edge cases, numerical stability, comparison with a reference, gradients: on a function of your own.

The function takes and returns torch tensors, and so does the reference, with the same arguments. Without
a GPU, Triton kernels that it launches run on the virtual one. The reference in float64 is the truth; the
error may be twice that of the reference in the same precision. A function without gradients fails where
the reference has them: say --no-gradients if it is to have none. The exit code is 1 if a step fails, and
124 if a check took longer than --timeout; the words then say in which line it was.

Examples:

    flashpath validate softmax.py:my_softmax --reference ladder:softmax --input 'x: float32\\[m, n]'

    flashpath validate mine.py:forward_only --reference torch.relu --no-gradients --timeout 10

    flashpath validate gelu.py:gelu --reference torch.nn.functional.gelu --sizes n=0,1,1000

    flashpath validate norm.py:rms --reference norm.py:slow --input 'x: float32\\[m, n]' --input 'eps: 1e-5'
""",
        """对你自己的函数做四步检查：边界情况、数值稳定性、与参考实现对比、梯度。

函数接收并返回 torch 张量，参考实现也一样，参数相同。没有 GPU 时，它启动的 Triton 核函数在虚拟 GPU 上运行。
以 float64 的参考实现为准；误差至多是同精度参考实现误差的两倍。参考实现有梯度而函数没有，就算不通过：
确实不需要梯度时请加 --no-gradients。有一步不通过时退出码为 1；某项检查超过 --timeout 时为 124，并说明停在哪一行。

示例：

    flashpath validate softmax.py:my_softmax --reference ladder:softmax --input 'x: float32\\[m, n]'

    flashpath validate mine.py:forward_only --reference torch.relu --no-gradients --timeout 10

    flashpath validate gelu.py:gelu --reference torch.nn.functional.gelu --sizes n=0,1,1000

    flashpath validate norm.py:rms --reference norm.py:slow --input 'x: float32\\[m, n]' --input 'eps: 1e-5'
""",
    ),
    "validate-where": Text("Such as softmax.py:my_softmax.", "例如 softmax.py:my_softmax。"),
    "validate-reference": Text(
        "FILE.py:function, torch's or NumPy's (torch.nn.functional.gelu), or ladder:softmax.",
        "FILE.py:function、torch 或 NumPy 的函数（torch.nn.functional.gelu），或 ladder:softmax。",
    ),
    "validate-input": Text(
        "An argument, in order: 'x: float32\\[m, n]', 'i: int64\\[n] < m', 'eps: 1e-5'.",
        "依次给出参数：'x: float32\\[m, n]'、'i: int64\\[n] < m'、'eps: 1e-5'。",
    ),
    "validate-sizes": Text(
        "Sizes of a letter, in place of the usual ones: 'm=1,7,128'.",
        "某个字母的大小，代替默认值：'m=1,7,128'。",
    ),
    "validate-device": Text(
        "cpu or cuda; by default the GPU, if there is one.", "cpu 或 cuda；有 GPU 时默认用 GPU。"
    ),
    "validate-seed": Text("Of the random inputs.", "随机输入的种子。"),
    "validate-check-gradients": Text(
        "Check gradients; a function that needs none goes without.",
        "是否检查梯度；不需要梯度的函数可以不查。",
    ),
    "validate-timeout": Text(
        "Seconds that one check may take, of which there are about 30.", "每项检查至多用多少秒，共约 30 项。"
    ),
    "validate-edge-cases": Text("edge cases", "边界情况"),
    "validate-stability": Text("numerical stability", "数值稳定性"),
    "validate-comparison": Text("comparison with the reference", "与参考实现对比"),
    "validate-gradients": Text("gradients", "梯度检查"),
    "validate-passed": Text("passed", "通过"),
    "validate-failed": Text("failed", "未通过"),
    "validate-skipped": Text("not done", "未检查"),
    "validate-loading": Text("loading", "加载"),
    "validate-checks": Text(", {count} checks", "，{count} 项检查"),
    "validate-more": Text("    … {count} more failures", "    …… 另有 {count} 项失败"),
    "validate-all": Text("All four steps hold.", "四个步骤全部通过。"),
    "validate-some": Text(
        "Not all steps hold: mend the first failure, then run this again.",
        "尚有步骤未通过：先改第一处失败，再运行一次。",
    ),
    "validate-all-but": Text(
        "What was checked holds. Not done: {names}.", "已检查的步骤全部通过。未检查：{names}。"
    ),
    "validate-sizes-format": Entry(
        Text("--sizes got {text!r}.", "--sizes 是 {text!r}。"),
        Text(
            "Write LETTER=NUMBERS, such as --sizes n=0,1,1000.", "请写成 字母=数字，例如 --sizes n=0,1,1000。"
        ),
    ),
}
