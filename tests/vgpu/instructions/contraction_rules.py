"""The rules by which ptxas fuses products into sums: one small kernel each, and what becomes of its sums.

Each body reads %a … %f (six loaded values), the predicates %p and %q and the number %n, and leaves results in
%x, %y and %z, which are stored. All expectations were read off SASS; test_contraction.py reads it again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A body, and how many fused operations, products and sums are left of it."""

    name: str
    body: str
    fused: int = 0
    products: int = 0
    sums: int = 0
    register: str = "f32"  # what the values are loaded as
    target: str = "sm_80"

    @property
    def kernel(self) -> str:
        return "rule_" + "".join(c if c.isalnum() else "_" for c in self.name)

    @property
    def ptx(self) -> str:
        """The kernel `(in, out, n)`: each thread reads six values and writes three."""
        size = {"b16": 2, "f64": 8}.get(self.register, 4)
        loads = "".join(
            f"ld.global.{self.register} %{name}, [%in + {8 * k}];\n" for k, name in enumerate("abcdef")
        )
        stores = "".join(f"st.global.{self.register} [%out + {8 * k}], %{n};\n" for k, n in enumerate("xyz"))
        names = ", ".join(f"%{name}" for name in "abcdefxyzmst")
        zeros = "".join(f"mov.b{8 * size} %{name}, 0;\n" for name in "xyz")
        return f"""
.visible .entry {self.kernel}(.param .u64 from, .param .u64 to, .param .u32 count) {{
.reg .{self.register} {names};
.reg .pred %p, %q, %always;
.reg .b64 %in, %out, %o;
.reg .b32 %n, %i, %u, %v;
.reg .f32 %g;
.shared .b32 %memory;
ld.param.u64 %in, [from]; ld.param.u64 %out, [to]; ld.param.u32 %n, [count];
cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;
mov.u32 %i, %tid.x; mov.u32 %u, 0;
mul.wide.u32 %o, %i, 64; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
setp.gt.u32 %p, %n, 0; setp.gt.u32 %q, %n, %i;
{loads}{zeros}{self.body}
{stores}ret;
}}
"""


PRODUCT = "mul.f32 %m, %a, %b;"
BOTH = "mul.f32 %m, %a, %b; mul.f32 %s, %c, %d;"

# ---- One product, one sum --------------------------------------------------------------------------------

PAIRS = [
    Rule("product plus", f"{PRODUCT} add.f32 %x, %m, %c;", fused=1),
    Rule("plus product", f"{PRODUCT} add.f32 %x, %c, %m;", fused=1),
    Rule("product minus", f"{PRODUCT} sub.f32 %x, %m, %c;", fused=1),
    Rule("minus product", f"{PRODUCT} sub.f32 %x, %c, %m;", fused=1),
    Rule("product rounds by itself", "mul.rn.f32 %m, %a, %b; add.f32 %x, %m, %c;", products=1, sums=1),
    Rule("sum rounds by itself", f"{PRODUCT} add.rn.f32 %x, %m, %c;", products=1, sums=1),
    Rule("product towards zero", "mul.rz.f32 %m, %a, %b; add.f32 %x, %m, %c;", products=1, sums=1),
    Rule("both towards zero", "mul.rz.f32 %m, %a, %b; add.rz.f32 %x, %m, %c;", products=1, sums=1),
    Rule("both flush", "mul.ftz.f32 %m, %a, %b; add.ftz.f32 %x, %m, %c;", fused=1),
    Rule("product alone flushes", "mul.ftz.f32 %m, %a, %b; add.f32 %x, %m, %c;", products=1, sums=1),
    Rule("sum alone flushes", f"{PRODUCT} add.ftz.f32 %x, %m, %c;", products=1, sums=1),
    Rule("sum saturates", f"{PRODUCT} add.sat.f32 %x, %m, %c;", fused=1),
    Rule("product saturates", "mul.sat.f32 %m, %a, %b; add.f32 %x, %m, %c;", products=1, sums=1),
    Rule("by a power of two", "mul.f32 %m, %a, 0f40000000; add.f32 %x, %m, %c;", fused=1),
    Rule("square", "mul.f32 %m, %a, %a; add.f32 %x, %m, %c;", fused=1),
    Rule("in place", "mul.f32 %a, %a, %b; add.f32 %a, %a, %c; mov.f32 %x, %a;", fused=1),
    Rule("factor changes before", f"{PRODUCT} add.f32 %a, %c, %d; add.f32 %x, %m, %a;", fused=1, sums=1),
    Rule("factor is loaded anew", f"{PRODUCT} ld.global.f32 %b, [%in + 48]; sub.f32 %x, %b, %m;", fused=1),
    Rule("chain", f"{PRODUCT} add.f32 %s, %m, %c; mul.f32 %t, %s, %d; add.f32 %x, %t, %e;", fused=2),
    Rule("product of a product", f"{PRODUCT} mul.f32 %s, %m, %c; add.f32 %x, %s, %d;", fused=1, products=1),
    Rule("plus a fused one", f"fma.rn.f32 %s, %c, %d, %e; {PRODUCT} add.f32 %x, %s, %m;", fused=2),
]

# ---- Signs and copies ------------------------------------------------------------------------------------

COPIES = [
    Rule("negated product", f"{PRODUCT} neg.f32 %s, %m; add.f32 %x, %s, %c;", fused=1),
    Rule("minus a negated product", f"{PRODUCT} neg.f32 %s, %m; sub.f32 %x, %c, %s;", fused=1),
    Rule("negated product minus", f"{PRODUCT} neg.f32 %s, %m; sub.f32 %x, %s, %c;", fused=1),
    Rule("negated and stored", f"{PRODUCT} neg.f32 %y, %m; add.f32 %x, %y, %c;", products=1, sums=1),
    Rule("negation alone flushes", f"{PRODUCT} neg.ftz.f32 %s, %m; add.f32 %x, %s, %c;", products=1, sums=1),
    Rule("magnitude", f"{PRODUCT} abs.f32 %s, %m; add.f32 %x, %s, %c;", products=1, sums=1),
    Rule("copy", f"{PRODUCT} mov.f32 %s, %m; add.f32 %x, %s, %c;", fused=1),
    Rule("copy as bits", f"{PRODUCT} mov.b32 %u, %m; mov.b32 %s, %u; add.f32 %x, %s, %c;", fused=1),
    Rule("selected", f"{PRODUCT} selp.f32 %s, %m, %d, %q; add.f32 %x, %s, %c;", products=1, sums=1),
]

# ---- Several products, several uses ----------------------------------------------------------------------

USES = [
    Rule("left of two", f"{BOTH} add.f32 %x, %m, %s;", fused=1, products=1),
    Rule("left of two, the later one", f"{BOTH} add.f32 %x, %s, %m;", fused=1, products=1),
    Rule("difference of two", f"{BOTH} sub.f32 %x, %m, %s;", fused=1, products=1),
    Rule("left is used again", f"{BOTH} add.f32 %x, %m, %s; mov.f32 %y, %m;", fused=1, products=1),
    Rule("stored too", f"{PRODUCT} add.f32 %x, %m, %c; mov.f32 %y, %m;", products=1, sums=1),
    Rule("a product too", f"{PRODUCT} add.f32 %x, %m, %c; mul.f32 %y, %m, %d;", products=2, sums=1),
    Rule(
        "compared too",
        f"{PRODUCT} add.f32 %x, %m, %c; setp.gt.f32 %p, %m, %d; selp.f32 %x, %x, %e, %p;",
        products=1,
        sums=1,
    ),
    Rule(
        "an addend too",
        f"{PRODUCT} fma.rn.f32 %y, %c, %d, %m; add.f32 %x, %m, %e;",
        fused=1,
        products=1,
        sums=1,
    ),
    Rule("twice in one sum", f"{PRODUCT} add.f32 %x, %m, %m;", products=1, sums=1),
    Rule("three sums", f"{PRODUCT} add.f32 %x, %m, %c; sub.f32 %y, %d, %m; add.f32 %z, %m, %e;", fused=3),
    Rule(
        "two sums, one rounds by itself",
        f"{PRODUCT} add.rn.f32 %x, %m, %c; add.f32 %y, %m, %d;",
        products=1,
        sums=2,
    ),
    Rule(
        "single use goes first",
        f"{BOTH} add.f32 %x, %m, %e; add.f32 %y, %m, %s;",
        fused=1,
        products=1,
        sums=1,
    ),
    Rule(
        "sum and difference of the same",
        f"{BOTH} add.f32 %x, %m, %s; sub.f32 %y, %m, %s;",
        fused=2,
        products=1,
    ),
    Rule(
        "in the order of the sums",
        f"{BOTH} add.f32 %x, %m, %e; add.f32 %y, %s, %f; add.f32 %z, %m, %s;",
        fused=3,
        products=1,
    ),
    Rule(
        "too late",
        f"{BOTH} add.f32 %x, %m, %s; add.f32 %y, %m, %e; add.f32 %z, %s, %f;",
        fused=2,
        products=1,
        sums=1,
    ),
    Rule(
        "complex product",
        "mul.f32 %m, %a, %c; mul.f32 %s, %b, %d; sub.f32 %x, %m, %s;"
        "mul.f32 %m, %a, %d; mul.f32 %s, %b, %c; add.f32 %y, %m, %s;",
        fused=2,
        products=2,
    ),
]

# ---- Control flow ----------------------------------------------------------------------------------------


def between(name: str, text: str, *, splits: bool) -> Rule:
    body = f"{PRODUCT} {text} add.f32 %x, %m, %c;"
    return Rule(f"{name} between", body, products=int(splits), sums=int(splits), fused=int(not splits))


FLOW = [
    Rule("guarded sum", f"{PRODUCT} @%q add.f32 %x, %m, %c;", fused=1),
    Rule("sums under opposite guards", f"{PRODUCT} @%q add.f32 %x, %m, %c; @!%q sub.f32 %y, %m, %d;",
         fused=2),
    Rule("guarded product", f"mov.f32 %m, %f; @%q {PRODUCT} add.f32 %x, %m, %c;", products=1, sums=1),
    Rule("guarded in place", f"{PRODUCT} @%q add.f32 %m, %m, %c; mov.f32 %x, %m;", products=1, sums=1),
    Rule("sum in a branch", f"{PRODUCT} @%q bra JOIN; bar.sync 0; add.f32 %x, %m, %c; JOIN:",
         products=1, sums=1),
    Rule("sum after a join",
         f"{PRODUCT} @%q bra JOIN; st.global.f32 [%out + 48], %a; JOIN: add.f32 %x, %m, %c;",
         products=1, sums=1),
    Rule("product alive in another block",
         f"{PRODUCT} add.f32 %x, %m, %c; @%q bra JOIN; st.global.f32 [%out + 48], %m; JOIN:",
         products=1, sums=1),
    Rule("product of two branches",
         f"@%q bra OTHER; {PRODUCT} bar.sync 0; bra JOIN; OTHER: mul.f32 %m, %c, %d; bar.sync 1;"
         "JOIN: add.f32 %x, %m, %e;", products=2, sums=1),
    between("unused label", "HERE:", splits=False),
    between("branch to the next instruction", "@%q bra HERE; HERE:", splits=False),
    between("store", "st.global.f32 [%out + 48], %a;", splits=False),
    between("atomic", "red.global.add.f32 [%out + 48], %a;", splits=False),
    between("block barrier", "bar.sync 0;", splits=False),
    between("warp barrier", "bar.warp.sync -1;", splits=False),
    between("shuffle", "shfl.sync.bfly.b32 %u, %n, 1, 31, -1; st.global.b32 [%out + 48], %u;", splits=False),
    between("fence", "membar.gl;", splits=True),
    between("guarded move", "@%q mov.f32 %y, %f;", splits=False),
    between("guarded store", "@%q st.global.f32 [%out + 48], %a;", splits=True),
    between("guarded load", "@%q ld.global.f32 %y, [%in + 48];", splits=True),
    between("guarded load of a parameter", "@%q ld.param.u32 %u, [count]; st.global.b32 [%out + 48], %u;",
            splits=True),
    between("load whose guard always holds", "mov.pred %always, -1; @%always ld.global.f32 %y, [%in + 48];",
            splits=False),
    between("guarded vote", "@%q vote.sync.ballot.b32 %u, %p, -1; st.global.b32 [%out + 48], %u;",
            splits=True),
    between("guarded exit", "@%q exit;", splits=True),
    between("unsigned division", "div.u32 %u, %n, %i; st.global.b32 [%out + 48], %u;", splits=False),
    between("signed division", "div.s32 %u, %n, %i; st.global.b32 [%out + 48], %u;", splits=True),
    between("fast division", "div.full.f32 %y, %d, %e;", splits=False),
]  # fmt: skip

# ---- Other types -----------------------------------------------------------------------------------------


def typed(
    name: str, number: str, register: str, target: str = "sm_80", negated: dict[str, int] | None = None
) -> list[Rule]:
    def rule(what: str, body: str, **counts: int) -> Rule:
        text = body.replace("TYPE", number)
        return Rule(f"{name} {what}", text, register=register, target=target, **counts)

    product = "mul.TYPE %m, %a, %b;"
    return [
        rule("sum", f"{product} add.TYPE %x, %m, %c;", fused=1),
        rule("difference", f"{product} sub.TYPE %x, %c, %m;", fused=1),
        rule("product minus", f"{product} sub.TYPE %x, %m, %c;", fused=1),
        rule("negated product", f"{product} neg.TYPE %s, %m; sub.TYPE %x, %s, %c;",
             **(negated if negated else {"fused": 1})),
        rule("rounds by itself", "mul.rn.TYPE %m, %a, %b; add.TYPE %x, %m, %c;", products=1, sums=1),
        rule("stored too", f"{product} add.TYPE %x, %m, %c; mov.b{register[1:]} %y, %m;",
             products=1, sums=1),
        rule("factor changes", f"{product} add.TYPE %a, %c, %d; add.TYPE %x, %m, %a;", fused=1, sums=1),
    ]  # fmt: skip


TYPES = [
    *typed("double", "f64", "f64"),
    *typed("half", "f16", "b16"),
    *typed("half pair", "f16x2", "b32"),
    *typed("bfloat", "bf16", "b16", "sm_90"),
    *typed("bfloat pair", "bf16x2", "b32", "sm_90", negated={"products": 1, "sums": 1}),
]

RULES = [*PAIRS, *COPIES, *USES, *FLOW, *TYPES]

# ---- Where only results are compared ---------------------------------------------------------------------
# A fast quotient is a product with a reciprocal, which a sum takes in as any other.

HUGE = "mul.rn.f32 %b, %b, 0f7E800000;"
TINY = "mul.rn.f32 %b, %b, 0f00000200;"
QUOTIENTS = [
    Rule("quotient", "div.full.f32 %x, %a, %b; div.approx.f32 %y, %a, %b; div.full.ftz.f32 %z, %a, %b;"),
    Rule("quotient plus", "div.full.f32 %m, %a, %b; add.f32 %x, %m, %c;"),
    Rule("minus quotient", "div.full.f32 %m, %a, %b; sub.f32 %x, %c, %m;"),
    Rule("quotient minus", "div.approx.f32 %m, %a, %b; sub.f32 %x, %m, %c;"),
    Rule("quotient in two sums", "div.full.f32 %m, %a, %b; sub.f32 %x, %c, %m; sub.f32 %y, %d, %m;"),
    Rule("quotient stored too", "div.full.f32 %y, %a, %b; sub.f32 %x, %c, %y;"),
    Rule("quotient that flushes", "div.full.ftz.f32 %m, %a, %b; add.ftz.f32 %x, %m, %c;"),
    Rule("fast quotient that flushes", "div.approx.ftz.f32 %m, %a, %b; sub.ftz.f32 %x, %c, %m;"),
    Rule("quotient alone flushes", "div.full.ftz.f32 %m, %a, %b; add.f32 %x, %m, %c;"),
    Rule("quotient by a number", "div.full.f32 %x, %a, 0f40E00000; div.approx.ftz.f32 %y, %a, 0f42C80000;"),
    Rule("quotient by a number plus", "div.full.f32 %m, %a, 0f40E00000; add.f32 %x, %m, %c;"),
    Rule("product and quotient", f"{PRODUCT} div.full.f32 %s, %c, %d; add.f32 %x, %m, %s;"),
    Rule("quotient and product", f"{PRODUCT} div.full.f32 %s, %c, %d; sub.f32 %x, %s, %m;"),
    Rule("quotient by a huge number", f"{HUGE} div.full.f32 %x, %a, %b; div.full.f32 %m, %a, %b;"
         "add.f32 %y, %m, 0f00800000;"),
    Rule("quotient by a tiny number", f"{TINY} div.full.f32 %x, %a, %b; div.approx.f32 %m, %a, %b;"
         "add.f32 %y, %m, %c;"),
    Rule("number by a quotient", "div.full.f32 %m, 0f3F800000, %b; add.f32 %x, %m, %c;"),
    Rule("reciprocal plus", "rcp.approx.f32 %m, %a; add.f32 %x, %m, %c; rcp.approx.ftz.f32 %m, %b;"
         "add.f32 %y, %m, %c;"),
]  # fmt: skip

MEASURED = [*RULES, *QUOTIENTS]


def module(target: str) -> str:
    """The rules of one target as a PTX module."""
    kernels = "".join(rule.ptx for rule in MEASURED if rule.target == target)
    return f".version 8.6\n.target {target}\n.address_size 64\n{kernels}"
