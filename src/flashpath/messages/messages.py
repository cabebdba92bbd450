"""The words that all rooms share, and those of the settings."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- Names that nobody knows -----------------------------------------------------------------------
    "did-you-mean": Text("Did you mean {names}?", "你是不是想说 {names}？"),
    "there-are": Text("There {count:?is/are}: {names}.", "可选：{names}。"),
    "or": Text(" or ", " 或 "),
    "either": Text("{one} or {other}", "{one} 或 {other}"),
    # ---- Documents -------------------------------------------------------------------------------------
    "no-section": Entry(
        Text(
            "The document has no place for its section {name!r}.",
            "文档里没有小节 {name!r} 的位置。",
        ),
        Text(
            "Put the lines {first} and {last} where it belongs.", "请在相应位置加上 {first} 和 {last} 两行。"
        ),
    ),
    # ---- Settings --------------------------------------------------------------------------------------
    "cache-limit": Entry(
        Text(
            "{variable} is {value!r}, which is not a positive number of megabytes.",
            "{variable} 是 {value!r}，不是正的兆字节数。",
        ),
        Text(
            "Set it to a number such as {default}, or unset it.", "请设为一个数（如 {default}），或取消设置。"
        ),
    ),
    "language": Entry(
        Text("{variable} is {value!r}.", "{variable} 是 {value!r}。"),
        Text("It is one of {languages}.", "可选：{languages}。"),
    ),
    "language-named": Entry(
        Text("The language is {value!r}.", "语言是 {value!r}。"),
        Text("It is one of {languages}.", "可选：{languages}。"),
    ),
    "no-home-of": Entry(
        Text("{path}: there is no such home folder.", "{path}：没有这个主目录。"),
        Text("Write the path without ~, or put ./ before it.", "请写不带 ~ 的路径，或在前面加上 ./。"),
    ),
    "no-home": Entry(
        Text(
            "There is no home folder for {folder}: HOME is not set, and the system does not know this user.",
            "找不到 {folder} 所在的主目录：没有设置 HOME，系统也不认识当前用户。",
        ),
        Text(
            "Set HOME, or {variable}, to a folder of your own.",
            "请把 HOME 或 {variable} 设为你自己的一个目录。",
        ),
    ),
    "no-content": Entry(
        Text(
            "The content folder {name!r} is neither in the installed package nor beside its source.",
            "内容目录 {name!r} 既不在已安装的包里，也不在源代码旁边。",
        ),
        Text("Install flashpath again.", "请重新安装 flashpath。"),
    ),
}
