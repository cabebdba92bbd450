"""Headings and names of folders, in both languages."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # Folders
    "lessons": ("lessons", "学习材料"),
    "notes": ("notes", "笔记"),
    "exercises": ("exercises", "练习"),
    # Headings
    "goals": ("Goals", "学习目标"),
    "about": ("About", "简介"),
    "plan": ("The plan", "学习安排"),
    "prerequisites": ("Prerequisites", "前置要求"),
    "time": ("Time", "时间安排"),
    "habits": ("Habits", "学习习惯"),
    "assessment": ("Assessment", "评估标准"),
    "corrections": ("What is different today", "与原计划不同之处"),
    "resources": ("Resources", "学习资源"),
    "lessons-and-exercises": ("Lessons and exercises", "讲义与练习"),
    "programs": ("Programs", "示例程序"),
    "tasks": ("Tasks", "任务"),
    "more-tasks": ("Tasks of no day", "不限于某一天的任务"),
    "files": ("Files to read", "要阅读的文件"),
    "formulas": ("Formulas", "关键公式"),
    "outputs": ("Outputs", "本周产出"),
    "checkpoints": ("Checkpoints", "检查点"),
    "structure": ("Folders", "目录结构"),
    "next": ("Next", "下一步"),
    "commands": ("Commands", "常用命令"),
    # In a line
    "planned": ("planned: the lesson is not written yet", "计划中：讲义尚未写成"),
    "planned-short": ("planned", "计划中"),
    "minutes": ("min", "分钟"),
    "hours": ("hours", "小时"),
    "difficulty": ("Difficulty", "难度"),
    "practice": ("Practice", "实践要求"),
    "chapters": ("chapters {}", "第 {} 章"),
    "parts": ("parts {}", "第 {} 篇"),
    "started": ("Started", "开始日期"),
    "finished": ("Finished", "完成日期"),
    "expected": ("Expected", "预计用时"),
    "weeks": ("weeks", "周"),
    "days": ("days", "天"),
    "theory": ("theory", "理论"),
    "reading": ("reading code", "代码阅读"),
    "practice-box": ("practice", "实践"),
    "reflection": ("reflection and notes", "总结与笔记"),
    "done-by-unit": ("done when all of `{}` is passed", "通过 `{}` 的全部练习即完成"),
    "done-by-exercise": ("done when `{}` is passed", "通过 `{}` 即完成"),
    "done-by-note": ("note: `flashpath note --name {}`", "笔记：`flashpath note --name {}`"),
}


def word(key: str, lang: str) -> str:
    return WORDS[key][lang == "zh"]


def week_name(number: str, lang: str) -> str:
    return f"第 {number} 周" if lang == "zh" else f"Week {number.replace('-', '–')}"


def day_name(number: str, lang: str) -> str:
    return f"第 {number} 天" if lang == "zh" else f"Day {number.replace('-', '–')}"


def titled(name: str, title: str, lang: str) -> str:
    return f"{name}：{title}" if lang == "zh" else f"{name}: {title}"


def stars(count: int) -> str:
    return "★" * count + "☆" * (5 - count)
