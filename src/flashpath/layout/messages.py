"""What layouts say: why one cannot be read, or an operation has no result."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- A layout itself -------------------------------------------------------------------------------
    "extent-below-one": Entry(
        Text("The shape {shape} has an extent below 1.", "形状 {shape} 中有小于 1 的大小。"),
        Text(
            "Every extent of a shape counts coordinates: 1 or more.", "形状中的每个数是坐标的个数，至少为 1。"
        ),
    ),
    "different-profile": Entry(
        Text(
            "Shape {shape} and stride {stride} are not nested alike: {where}.",
            "形状 {shape} 与步长 {stride} 的括号结构不一致：{where}。",
        ),
        Text(
            "Give every extent of the shape one stride, with the same parentheses: (4,(2,8)):(16,(1,2)).",
            "形状中的每个数都要有一个步长，括号也要相同，例如 (4,(2,8)):(16,(1,2))。",
        ),
    ),
    "differs-at-all": Text("the shape has {shape}, the stride {stride}", "形状有{shape}，步长有{stride}"),
    "differs-in-mode": Text(
        "in mode {mode} the shape has {shape}, the stride {stride}",
        "在 mode {mode}，形状是 {shape}，步长是 {stride}",
    ),
    "one-integer": Text("a single number", "一个单独的数"),
    "so-many-modes": Text("{count:~mode}", " {count} 个 mode"),
    "negative-stride": Entry(
        Text("The stride {stride} has a negative number.", "步长 {stride} 中有负数。"),
        Text(
            "Strides are 0 or more here; reverse the data's order in the coordinates instead.",
            "这里的步长不小于 0；需要倒序时请改变坐标的顺序。",
        ),
    ),
    "coordinate-out-of-range": Entry(
        Text(
            "In the coordinate {coordinate}, {part} is out of range: the shape {shape} has {size:~coordinate}.",
            "坐标 {coordinate} 中的 {part} 超出范围：形状 {shape} 只有 {size} 个坐标。",
        ),
        Text("Coordinates count from 0.", "坐标从 0 开始计数。"),
    ),
    "coordinate-profile": Entry(
        Text(
            "In the coordinate {coordinate}, {part} does not fit the shape {shape}.",
            "坐标 {coordinate} 中的 {part} 与形状 {shape} 的结构不符。",
        ),
        Text(
            "Give one number for each mode, a nested coordinate as the shape is nested, or a single number for all.",
            "给每个 mode 一个数，或按形状的括号嵌套给出坐标，或只给一个数表示全部。",
        ),
    ),
    # ---- Operations ------------------------------------------------------------------------------------
    "composition-stride": Entry(
        Text(
            "{outer} o {inner} has no layout: {part} takes steps of {step} through a mode of {extent}, and neither "
            "divides the other.",
            "{outer} o {inner} 无法写成布局：{part} 以步长 {step} 走过大小为 {extent} 的 mode，而这两个数互不整除。",
        ),
        Text(
            "Choose a stride that divides {extent}, or a multiple of {extent}; or shape the outer layout so that {step} does.",
            "把步长改为 {extent} 的约数或倍数；或者改变外层布局的形状，使 {step} 能够整除。",
        ),
    ),
    "composition-extent": Entry(
        Text(
            "{outer} o {inner} has no layout: {part} goes through a mode of {extent} in steps of {step}, {count} at a "
            "time, and {count} does not divide {rest}, the number that is left.",
            "{outer} o {inner} 无法写成布局：{part} 以步长 {step} 走过大小为 {extent} 的 mode，每次取 {count} 个，"
            "而 {count} 不能整除剩下的 {rest} 个。",
        ),
        Text(
            "Choose an extent that is a multiple of {count}, or at most {count}.",
            "把大小改为 {count} 的倍数，或不超过 {count}。",
        ),
    ),
    "composition-carry": Entry(
        Text(
            "{outer} o {inner} has no layout: the modes of {inner} together reach position {position} of a mode of {extent}, "
            "and the carry into the next mode is no fixed step.",
            "{outer} o {inner} 无法写成布局：{inner} 的各个 mode 合起来会走到大小为 {extent} 的 mode 的第 {position} 个位置，"
            "向下一个 mode 的进位不是固定的一步。",
        ),
        Text(
            "Choose extents and strides that stay below {extent} together, or that step over it as a whole.",
            "选择合起来小于 {extent} 的大小与步长，或者整个跨过它。",
        ),
    ),
    "too-many-modes": Entry(
        Text(
            "{what} got a tiler for {got:~mode}, but {layout} has {rank}.",
            "{what} 的 tiler 有 {got} 个 mode，而 {layout} 只有 {rank} 个。",
        ),
        Text(
            "Give at most one tiler per mode, _ for a mode that stays, or one layout for all modes together.",
            "每个 mode 最多给一个 tiler；不变的 mode 写 _；或给一个作用于全部 mode 的布局。",
        ),
    ),
    "complement-overlaps": Entry(
        Text(
            "{layout} has no complement: its stride {stride} begins again within the {reached} indices that its other "
            "modes already reach.",
            "{layout} 没有补布局：步长 {stride} 落在其他 mode 已经到达的 {reached} 个索引之内，会重复。",
        ),
        Text(
            "Only layouts that reach each index once have one; use a stride of {reached} or more.",
            "每个索引只到达一次的布局才有补布局；请把步长改为 {reached} 或更大。",
        ),
    ),
    "no-left-inverse": Entry(
        Text(
            "{layout} has no left inverse: its stride {stride} does not step over whole groups of the {reached} indices "
            "below it.",
            "{layout} 没有左逆：步长 {stride} 没有整组地跨过它之下的 {reached} 个索引。",
        ),
        Text(
            "A left inverse exists where no two coordinates share an index and each stride is a multiple of the one before.",
            "只有索引互不重复、且每个步长都是前一个步长的倍数时，才有左逆。",
        ),
    ),
    "impossible-swizzle": Entry(
        Text(
            "There is no swizzle <{bits},{base},{shift}>.",
            "没有 swizzle <{bits},{base},{shift}>。",
        ),
        Text(
            "A swizzle is bits, base, shift: bits and base are 0 or more, and the shift is at least as far as there are "
            "bits, so that no bit flips itself; none is more than 64. For example 3,3,3.",
            "swizzle 依次为 bits、base、shift：bits 与 base 不小于 0，shift 的绝对值不小于 bits，否则会有位翻转自身；三者都不超过 64。例如 3,3,3。",
        ),
    ),
    # ---- Notation --------------------------------------------------------------------------------------
    "empty": Entry(
        Text("There is no layout to read: the text is empty.", "没有可读的布局：文字是空的。"),
        Text("Write shape:stride, such as (4,8):(8,1).", "请写 形状:步长，例如 (4,8):(8,1)。"),
    ),
    "never-closed": Entry(
        Text("This {sign} is never closed:{shown}", "这个 {sign} 没有闭合：{shown}"),
        Text("Add a {closing} where it ends.", "在它结束的地方补上 {closing}。"),
    ),
    "closed-too-often": Entry(
        Text("This ) closes nothing:{shown}", "这个 ) 没有对应的左括号：{shown}"),
        Text("Take it away, or add a ( where it begins.", "去掉它，或在开头补上 (。"),
    ),
    "text-left": Entry(
        Text("The layout ends before '{rest}':{shown}", "布局在“{rest}”之前已经结束：{shown}"),
        Text("One layout is shape:stride.", "一个布局是 形状:步长。"),
        command_fix=Text(
            "One layout is shape:stride; two are composed with --compose.",
            "一个布局是 形状:步长；要复合两个布局请用 --compose。",
        ),
    ),
    "unknown-sign": Entry(
        Text("'{sign}' has no meaning here:{shown}", "这里不认识“{sign}”：{shown}"),
        Text(
            "A layout is made of numbers, parentheses, commas and one colon: (4,8):(8,1).",
            "布局由数字、括号、逗号和一个冒号组成：(4,8):(8,1)。",
        ),
    ),
    "negative-number": Entry(
        Text("A negative number cannot stand here:{shown}", "这里不能是负数：{shown}"),
        Text(
            "Extents are 1 or more, strides 0 or more. Only the shift of a swizzle may be negative.",
            "大小至少为 1，步长不小于 0；只有 swizzle 的 shift 可以是负数。",
        ),
    ),
    "unexpected-sign": Text(
        "'{sign}' stands where {expected} should:{shown}", "此处应为{expected}，却是“{sign}”：{shown}"
    ),
    "ends-early": Text(
        "The text ends where {expected} should stand:{shown}", "文字到此结束，而此处应为{expected}：{shown}"
    ),
    "expected-number": Text("a number or a parenthesis", "数字或括号"),
    "expected-comma": Text("a comma or {closing}", "逗号或 {closing}"),
    "expected-sign": Text("{sign}", " {sign} "),
    "expected-o": Text(
        "an o, as in Sw<3,3,3> o 0 o (8,64):(64,1),", " o（例如 Sw<3,3,3> o 0 o (8,64):(64,1)）"
    ),
    "expected-swizzle": Text(
        "a comma and one more of bits, base and shift", "逗号以及 bits、base、shift 中的下一个数"
    ),
    "expected-tile": Text("a comma and the number of columns", "逗号以及列数"),
    # ---- Threads and values ----------------------------------------------------------------------------
    "not-thread-value": Entry(
        Text(
            "{layout} is no thread-value layout: it has {rank:~mode}.",
            "{layout} 不是线程–值布局：它有 {rank} 个 mode。",
        ),
        Text(
            "Its first mode counts threads and its second their values: two modes in all.",
            "第一个 mode 是线程，第二个 mode 是各线程的值：总共两个 mode。",
        ),
    ),
    "tile-too-small": Entry(
        Text(
            "{layout} reaches element {largest}, but a tile of {rows} by {columns} has {count:~element}.",
            "{layout} 会到达第 {largest} 个元素，而 {rows}×{columns} 的分块只有 {count} 个元素。",
        ),
        Text("Give the rows and columns of the whole tile.", "请给出整个分块的行数与列数。"),
    ),
    "no-such-atom": Entry(
        Text("There is no MMA atom {name}.", "没有名为 {name} 的 MMA 原子。"),
        Text(
            "{advice}`flashpath.layout.mma_names()` lists them.",
            "{advice}`flashpath.layout.mma_names()` 列出全部名字。",
        ),
        command_fix=Text(
            "{advice}`flashpath layout --mma list` lists them.",
            "{advice}`flashpath layout --mma list` 列出全部名字。",
        ),
    ),
    # ---- Titles of pictures ----------------------------------------------------------------------------
    "panel-indices": Text(
        "Indices of all coordinates; a colour is 16 bytes of banks ({bits}-bit elements).",
        "每个坐标的索引；每种颜色是 16 字节的 bank，元素为 {bits} 位。",
    ),
    "panel-banks": Text(
        "Banks of all coordinates ({bits}-bit elements).", "每个坐标所在的 bank，元素为 {bits} 位。"
    ),
    "panel-tiles": Text(
        "{layout} before, cut into {count:~tile}.", "划分之前的 {layout}，分成 {count} 个分块。"
    ),
    "panel-blocks": Text(
        "Indices of all coordinates, in {count:~block}.", "每个坐标的索引，共 {count} 个块。"
    ),
    "panel-thread-value": Text(
        "Which thread (T) holds which element, as which value (V).",
        "每个元素由哪个线程（T）持有，是它的第几个值（V）。",
    ),
    "panel-operand": Text("{name} ({type}): {layout}", "{name}（{type}）：{layout}"),
}
