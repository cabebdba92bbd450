"""What is said of work folders, and the words on their pages."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "marker-track": Entry(
        Text(
            "{file} says track = {track!r}, lang = {lang!r}.",
            "{file} 中 track = {track!r}，lang = {lang!r}。",
        ),
        Text(
            'Write track = "…" and lang = "…", one of {languages}.',
            '请写 track = "…"，以及 lang = "…"（{languages} 之一）。',
        ),
    ),
    "unreadable": Entry(
        Text("{file} cannot be read: {why}.", "无法读取 {file}：{why}。"),
        Text("Check who may read it, and what it is.", "请检查它是什么，以及谁有权读取。"),
    ),
    "not-toml": Entry(
        Text(
            "{file} is no TOML: line {line}, column {column}: {why}.",
            "{file} 不是有效的 TOML：第 {line} 行第 {column} 列：{why}。",
        ),
        Text("Mend that line, or take the file back from git.", "请改正那一行，或从 git 取回该文件。"),
    ),
    "marker-path": Entry(
        Text("{file}: {key}.{name} is {path!r}.", "{file}：{key}.{name} 是 {path!r}。"),
        Text(
            "Write a path from the folder, such as notes/week-1.md.",
            "请写从该目录出发的路径，例如 notes/week-1.md。",
        ),
    ),
    "not-utf8": Text("this is no UTF-8", "不是 UTF-8 编码"),
    "into-file": Entry(
        Text("{root} is a file.", "{root} 是一个文件。"),
        Text("Name a folder with --into.", "请用 --into 指定一个目录。"),
    ),
    "not-empty": Entry(
        Text(
            "{root} is not empty, and no work folder of flashpath.",
            "{root} 不是空目录，也不是 flashpath 的学习目录。",
        ),
        Text("Name a new or an empty folder with --into.", "请用 --into 指定一个新的或空的目录。"),
    ),
    "no-exercise": Entry(
        Text("{file} has no exercise {exercise!r}.", "{file} 中没有练习 {exercise!r}。"),
        Text(
            "`flashpath start {track}` adds the exercises that came since it was made.",
            "`flashpath start {track}` 会补上之后新增的练习。",
        ),
    ),
    "other-track": Entry(
        Text("{root} is a work folder of {track}.", "{root} 是 {track} 的学习目录。"),
        Text("Name another one for {other} with --into.", "请用 --into 为 {other} 另指定一个目录。"),
    ),
    "other-language": Entry(
        Text("{root} was made with --lang {lang}.", "{root} 是用 --lang {lang} 创建的。"),
        Text(
            "Leave --lang out, or name another folder for {other} with --into.",
            "请去掉 --lang，或用 --into 为 {other} 另指定一个目录。",
        ),
    ),
    "unwritable": Entry(
        Text("{target} cannot be written: {why}.", "无法写入 {target}：{why}。"), Text("{advice}", "{advice}")
    ),
    "no-room": Text(
        "There is no room left. Make some and start again: the rest is added.",
        "空间已满。请腾出空间后再次运行，余下的会补上。",
    ),
    "not-allowed": Text(
        "You may not write there. Name another folder with --into.",
        "没有写入权限。请用 --into 指定别的目录。",
    ),
    "path-is-file": Text(
        "A part of that path is a file. Move it away, or name another folder with --into.",
        "路径中有一段是文件。请移走它，或用 --into 指定别的目录。",
    ),
    "name-another": Text("Name another folder with --into.", "请用 --into 指定别的目录。"),
    # ---- Pages ---------------------------------------------------------------------------------------------
    "week": Text("Week {number}", "第 {number} 周"),
    "day": Text("Day {number}", "第 {number} 天"),
    "titled": Text("{name}: {title}", "{name}：{title}"),
    "lessons": Text("lessons", "学习材料"),
    "notes": Text("notes", "笔记"),
    "exercises": Text("exercises", "练习"),
    "goals": Text("Goals", "学习目标"),
    "plan": Text("The plan", "学习安排"),
    "prerequisites": Text("Prerequisites", "前置要求"),
    "time": Text("Time", "时间安排"),
    "habits": Text("Habits", "学习习惯"),
    "assessment": Text("Assessment", "评估标准"),
    "corrections": Text("What is different today", "与原计划不同之处"),
    "resources": Text("Resources", "学习资源"),
    "lessons-and-exercises": Text("Lessons and exercises", "讲义与练习"),
    "programs": Text("Programs", "示例程序"),
    "tasks": Text("Tasks", "任务"),
    "more-tasks": Text("Tasks of no day", "不限于某一天的任务"),
    "more-exercises": Text("After the days", "这几天之后"),
    "files": Text("Files to read", "要阅读的文件"),
    "formulas": Text("Formulas", "关键公式"),
    "outputs": Text("Outputs", "本周产出"),
    "checkpoints": Text("Checkpoints", "检查点"),
    "structure": Text("Folders", "目录结构"),
    "next": Text("Next", "下一步"),
    "commands": Text("Commands", "常用命令"),
    "planned": Text("planned: the lesson is not written yet", "计划中：讲义尚未写成"),
    "planned-short": Text("planned", "计划中"),
    "minutes": Text("{count} min", "{count} 分钟"),
    "hours": Text("{count} hours", "{count} 小时"),
    "difficulty": Text("Difficulty: {stars}", "难度：{stars}"),
    "practice": Text("Practice: {stars}", "实践要求：{stars}"),
    "chapters": Text("chapters {part}", "第 {part} 章"),
    "parts": Text("parts {part}", "第 {part} 篇"),
    "started": Text("Started: {date}", "开始日期：{date}"),
    "finished": Text("Finished: {date}", "完成日期：{date}"),
    "expected": Text("Expected: {times}", "预计用时：{times}"),
    "weeks": Text("{count} weeks", "{count} 周"),
    "days": Text("{count} days", "{count} 天"),
    "theory": Text("theory", "理论"),
    "reading": Text("reading code", "代码阅读"),
    "practising": Text("practice", "实践"),
    "reflection": Text("reflection and notes", "总结与笔记"),
    "done-by-unit": Text("done when all of `{name}` is passed", "通过 `{name}` 的全部练习即完成"),
    "done-by-exercise": Text("done when `{name}` is passed", "通过 `{name}` 即完成"),
    "done-by-note": Text("note: `flashpath note --name {name}`", "笔记：`flashpath note --name {name}`"),
    "done-by-set": Text("done when `exercises/{name}` is solved", "`练习/{name}` 全部做对即完成"),
    "done-by-doctor": Text("done when `flashpath doctor` sees it", "`flashpath doctor` 检测到即完成"),
    "done-by-run": Text(
        "done when `flashpath run {name}` ends well", "`flashpath run {name}` 正常结束即完成"
    ),
    "how-to-grade": Text(
        "Write into `{name}`, then: `flashpath grade {exercise}`. Stuck: `flashpath hint {exercise}`.",
        "在 `{name}` 中作答，然后运行 `flashpath grade {exercise}`；卡住了就用 `flashpath hint {exercise}`。",
    ),
    # ---- What the commands do ------------------------------------------------------------------------------
    "command-next": Text("what to do now", "现在该做什么"),
    "command-read": Text("a lesson in the terminal", "在终端里读讲义"),
    "command-watch": Text("grades a file whenever it is saved", "每次保存文件时自动评分"),
    "command-hint": Text("a hint, one step at a time", "给出下一步提示"),
    "command-tick": Text("marks a task that was done by hand", "勾选手动完成的任务"),
    "command-note": Text("today's note", "今天的笔记"),
    "command-start": Text(
        "again: adds what is new, changes nothing of yours", "再次运行：补上新内容，不动你写的东西"
    ),
    # ---- The first week ------------------------------------------------------------------------------------
    "what-is-learnt": Text("What is learnt", "学习内容"),
    "material": Text("Material", "学习材料"),
    "notes-link": Text("Notes", "笔记"),
    "questions": Text("{count} questions", "练习题（{count} 题）"),
    "test-code": Text("Test code", "测试代码"),
    "papers": Text("The papers", "论文"),
    "papers-not-shipped": Text(
        "The papers are their authors' and are not shipped. Where there is a network, `flashpath resources --week 1 --fetch` saves them here.",
        "论文版权归作者所有，这里不附带。有网络时，`flashpath resources --week 1 --fetch` 会把它们存到这里。",
    ),
    "save-paper": Text("kept here as `{name}`", "存为本目录下的 `{name}`"),
    "links": Text("Links", "相关资源链接"),
    "git-ended": Text("git ended with {code}", "git 以退出码 {code} 结束"),
    "set-answers": Text("{number}-answers.toml", "{number}-答案.toml"),
    "how-to-solve": Text(
        "Answer the questions in {answers}, or let `flashpath review {name}` ask them; the other problems have files of their own. `flashpath grade {name}` grades all of it, and says what is left. Questions that were right come again later in `flashpath review`.",
        "选择题和填空题在 {answers} 中作答，也可以用 `flashpath review {name}` 逐题回答；其余各题有自己的文件。`flashpath grade {name}` 给全部题目评分，并列出还没做完的。答对的题以后会在 `flashpath review` 中再次出现。",
    ),
}
