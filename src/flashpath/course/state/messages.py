"""What is said of the progress file, and of what is done."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "not-ours": Entry(
        Text("{file} is a database, but not flashpath's.", "{file} 是数据库文件，但不是 flashpath 的。"),
        Text(
            "Move it elsewhere, or set {variable} to another folder.",
            "请把它移走，或把 {variable} 设为别的目录。",
        ),
    ),
    "newer": Entry(
        Text(
            "{file} was written by a newer flashpath (format {version}; this one knows up to {known}).",
            "{file} 由更新版本的 flashpath 写成（格式 {version}；当前版本只认识到 {known}）。",
        ),
        Text(
            "Upgrade flashpath: pip install --upgrade flashpath. The file was left as it is.",
            "请升级 flashpath：pip install --upgrade flashpath。文件保持原样。",
        ),
    ),
    "damaged": Entry(
        Text("The progress file {file} is damaged ({what}).", "进度文件 {file} 已损坏（{what}）。"),
        Text(
            "Run the command again: the file is then moved aside, and a new one is begun.",
            "请再运行一次命令：损坏的文件会被移到一旁，并新建一个。",
        ),
    ),
    "unwritable": Entry(
        Text(
            "Progress cannot be kept: {file} cannot be written ({what}).",
            "无法保存进度：不能写入 {file}（{what}）。",
        ),
        Text(
            "Make {folder} a folder that can be written, or set {variable} to one that can.",
            "请让 {folder} 成为可写的目录，或把 {variable} 设为可写的目录。",
        ),
    ),
    "full": Entry(
        Text(
            "Progress could not be kept: there is no room to write {file} ({what}).",
            "未能保存进度：没有空间写入 {file}（{what}）。",
        ),
        Text(
            "Free some space, or set {variable} to a folder on another disk; what was saved is safe.",
            "请腾出空间，或把 {variable} 设为另一块磁盘上的目录；已保存的内容不受影响。",
        ),
    ),
    "busy": Entry(
        Text(
            "The progress file {file} is being written by another process for more than {seconds:g} s.",
            "进度文件 {file} 被另一个进程占用已超过 {seconds:g} 秒。",
        ),
        Text(
            "Wait until it has ended, or end it, and run the command again.",
            "请等它结束，或结束它，然后再运行命令。",
        ),
    ),
    "unusable": Entry(
        Text("The progress file {file} cannot be used ({what}).", "无法使用进度文件 {file}（{what}）。"),
        Text(
            "Look at the file and its folder, or set {variable} to another folder.",
            "请检查该文件及其目录，或把 {variable} 设为别的目录。",
        ),
    ),
    "moved-aside": Text(
        "The progress file was damaged ({why}). It was moved to {aside}, and a new one was begun.",
        "进度文件已损坏（{why}）。它被移到 {aside}，并已新建一个。",
    ),
    "left-out": Text(
        "{count:~entry/entries} of the progress file {file} cannot be read and {count:?is/are} left out: another "
        "program has written there.",
        "进度文件 {file} 中有 {count} 条记录无法读取，已略过：它们是别的程序写入的。",
    ),
    # ---- Progress ------------------------------------------------------------------------------------------
    "no-task": Entry(
        Text(
            "The track {track} has no task or checkpoint {name!r}.",
            "路线 {track} 没有名为 {name!r} 的任务或检查点。",
        ),
        Text("{advice}", "{advice}"),
    ),
    "tasks-listed": Text("`flashpath progress --all` lists them.", "`flashpath progress --all` 会列出它们。"),
    "hours-and-minutes": Text("{hours} h {minutes} min", "{hours} 小时 {minutes} 分钟"),
    "minutes": Text("{minutes} min", "{minutes} 分钟"),
}
