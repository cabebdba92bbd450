"""Device code that means harm, or is wrong as no compiler makes it: refused or run, and nobody is hurt."""

from __future__ import annotations

import time

import numpy as np
import pytest

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, UnsupportedInstruction, VirtualModule
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"
REGISTERS = (
    ".reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<4>; .reg .pred %p<4>;"
)


def module(code: str, top: str = "", parameters: str = ".param .u64 a") -> VirtualModule:
    body = f"{REGISTERS} .shared .align 16 .b8 s[64];\n{code}\nret;"
    return VirtualModule(f"{HEAD}{top}\n.visible .entry k({parameters})\n{{ {body} }}")


def run(code: str, top: str = "") -> np.ndarray:
    """The kernel's array after a launch of one warp, plain, counted and sanitised."""
    kernel = module(code, top).kernel("k")
    array = np.zeros(64, np.uint32)
    first, last = array.ctypes.data, array.ctypes.data + array.nbytes
    packed = Packed(bytes(8), [HostArray(0, first, first, last, first, last, writable=True)])
    for options in (Options(), Options(count=True), Options(sanitize=True)):
        array[:] = 0
        Launch(kernel, LaunchShape((1, 1, 1), (32, 1, 1)), packed).run(options)
    return array


@pytest.mark.parametrize(
    "instruction",
    [
        "mov.u32 _, 1;",
        "mov.u64 _, %clock64;",
        "mov.pred _, 1;",
        "mov.b64 {_, _}, %rd1;",
        "mov.b64 _, {%r1, %r2};",
        "add.u32 _, %r1, %r2;",
        "add.cc.u32 _, %r1, %r2;",
        "mul.f32 _, %f1, %f2;",
        "fma.rn.f64 _, %fd1, %fd2, %fd3;",
        "mad.wide.u32 _, %r1, %r2, %rd1;",
        "cvt.u32.u64 _, %rd1;",
        "cvt.rn.f16x2.f32 _, %f1, %f2;",
        "ex2.approx.f32 _, %f1;",
        "shl.b32 _, %r1, 3;",
        "lop3.b32 _, %r1, %r2, %r3, 0x96;",
        "lop3.or.b32 _|_, %r1, %r2, %r3, 0x96, %p1;",
        "prmt.b32 _, %r1, %r2, 0x3210;",
        "bfe.u32 _, %r1, 1, 2;",
        "popc.b32 _, %r1;",
        "selp.b32 _, %r1, %r2, %p1;",
        "setp.lt.u32 _, %r1, %r2;",
        "setp.lt.u32 _|_, %r1, %r2;",
        "set.lt.u32.f32 _, %f1, %f2;",
        "testp.finite.f32 _, %f1;",
        "isspacep.shared _, %rd1;",
        "cvta.to.global.u64 _, %rd1;",
        "ld.param.u64 _, [a];",
        "ld.shared.v4.u32 {_, %r1, _, _}, [s];",
        "atom.shared.add.u32 _, [s], 1;",
        "shfl.sync.idx.b32 _, %r1, 0, 31, -1;",
        "shfl.sync.idx.b32 _|_, %r1, 0, 31, -1;",
        "vote.sync.ballot.b32 _, %p1, -1;",
        "vote.sync.any.pred _, %p1, -1;",
        "match.any.sync.b32 _, %r1, -1;",
        "redux.sync.add.u32 _, %r1, -1;",
        "activemask.b32 _;",
        "bar.red.popc.u32 _, 0, %p1;",
        "bar.red.and.pred _, 0, %p1;",
        "vadd.u32.u32.u32 _, %r1, %r2;",
        "dp4a.u32.u32 _, %r1, %r2, %r3;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {_}, [s];",
        "movmatrix.sync.aligned.m8n8.trans.b16 _, %r1;",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {_, _, _, _}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};",  # noqa: E501
        "createpolicy.fractional.L2::evict_first.b64 _;",
    ],
)
def test_a_result_that_is_dropped(instruction: str) -> None:
    """What follows is as if the instruction were not there."""
    code = f"ld.param.u64 %rd8, [a]; mov.u32 %r8, 7; {instruction} st.global.u32 [%rd8], %r8;"
    for shared in range(0, 64, 4):
        code = f"st.shared.u32 [s+{shared}], 0;" + code
    assert run("bar.sync 0;".join(("", code)))[0] == 7


def test_a_dropped_result_in_cuda() -> None:
    kernel = fp.compile(
        '__global__ void k(int* x) { asm volatile("mov.u32 _, 1;"); x[0] = 5; }', assemble=False
    )["k"]
    x = np.zeros(1, np.int32)
    kernel[1, 32](x)
    assert x[0] == 5


@pytest.mark.parametrize(
    ("declared", "called"),
    [
        (".extern .func vprintf();", "call vprintf;"),
        (".extern .func (.param .b32 r) vprintf(.param .b64 f);", "call (o32), vprintf, (i64);"),
        (
            ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b32 a);",
            "call (o32), vprintf, (i64, i32);",
        ),
        (
            ".extern .func (.param .b8 r) vprintf(.param .b64 f, .param .b64 a);",
            "call (o8), vprintf, (i64, j64);",
        ),
        (".extern .func (.param .b64 r) malloc();", "call (o64), malloc;"),
        (".extern .func (.param .b64 r) malloc(.param .b32 n);", "call (o64), malloc, (i32);"),
        (".extern .func (.param .b32 r) malloc(.param .b64 n);", "call (o32), malloc, (i64);"),
        (".extern .func free();", "call free;"),
        (".extern .func free(.param .b8 p);", "call free, (i8);"),
        (".extern .func __assertfail();", "call __assertfail;"),
        (".extern .func __assertfail(.param .b64 m, .param .b64 f);", "call __assertfail, (i64, j64);"),
    ],
)
def test_functions_that_the_engine_provides_are_declared_wrongly(declared: str, called: str) -> None:
    passed = ".param .b8 i8; .param .b32 i32; .param .b64 i64; .param .b64 j64;"
    gotten = ".param .b8 o8; .param .b32 o32; .param .b64 o64;"
    with pytest.raises(UnsupportedInstruction, match=r"the call of (vprintf|malloc|free|__assertfail) has"):
        module(f"{{ {passed} {gotten} {called} }}", declared).kernel("k")


def test_a_kernel_is_called() -> None:
    with pytest.raises(UnsupportedInstruction, match="the kernel k is called"):
        module("call k;").kernel("k")
    by_address = "mov.u64 %rd2, k; { pr: .callprototype _ (); call %rd2, pr; }"
    with pytest.raises(fp.KernelFault, match="no function"):
        run(by_address)


@pytest.mark.parametrize(
    "instruction",
    [
        "ld.param.u64 %rd1, [a+0x7fffffffffffffff];",
        "ld.param.u64 %rd1, [a-0x8000000000000000];",
        "ld.global.u32 %r1, [%rd1+0x100000000];",
        "st.shared.u32 [s+0x7fffffffffffffff], %r1;",
        "atom.global.add.u32 %r1, [%rd1-0x80000001], 1;",
        "cp.async.ca.shared.global [s+4294967296], [%rd1], 4;",
        "cvt.pred.u32 %p1, %r1;",
        "cvt.u32.pred %r1, %p1;",
        "cvt.pack.sat.pred.s32 %r1, %r2, %r3;",
        "cvt.pack.sat.u32.s32 %r1, %r2, %r3;",
        "cvt.u4.u32 %h1, %r1;",
        "cvt.u32.u16x2 %r1, %r2;",
        "and.pred 1, %p1, %p2;",
        "@%r1 mov.u32 %r2, 1;",
        "isspacep.shared 1, %rd1;",
    ],
)
def test_forms_that_no_gpu_has(instruction: str) -> None:
    with pytest.raises(FlashpathError):
        module(instruction).kernel("k")


@pytest.mark.parametrize(
    "code",
    [
        ".local .b8 big[524289]; mov.u64 %rd1, big;",
        ".local .b8 big[4294967312]; mov.u64 %rd1, big;",
        ".local .b8 one; .local .align 1073741824 .b8 two; mov.u64 %rd1, two;",
        ".shared .b8 big[1048577];",
        ".extern .shared .align 1073741824 .b8 dynamic[]; mov.u64 %rd1, dynamic;",
    ],
)
def test_memory_that_no_gpu_has(code: str) -> None:
    with pytest.raises(FlashpathError, match="more than any GPU"):
        module(code).kernel("k")


@pytest.mark.parametrize(
    "top", [".const .align 16 .pred c[64] = {1, 2};", ".global .pred g;", ".func f(.param .pred p);"]
)
def test_predicates_in_memory(top: str) -> None:
    with pytest.raises(FlashpathError, match="a type that memory can hold"):
        module("", top)


@pytest.mark.parametrize("guard", ["", "@%p1 "])  # with all lanes, and with some
def test_atomics_on_memory_that_nobody_shares(guard: str) -> None:
    """Faults as on a GPU, and is no traceback where it is counted."""
    code = f"""
    .local .align 8 .b8 own[16]; mov.u64 %rd1, own; cvta.local.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; {guard}atom.add.u32 %r2, [%rd1], 1;
    """
    with pytest.raises(fp.KernelFault, match="global and shared memory alone") as caught:
        run(code)
    assert caught.value.kind == "out-of-bounds"
    counted = Launch(module(code).kernel("k"), LaunchShape((1, 1, 1), (32, 1, 1)), Packed(bytes(8)))
    for options in (Options(count=True), Options(count=True, sanitize=True)):
        if options.sanitize:
            assert [each.kind for each in counted.run(options).findings] == ["out-of-bounds"]
        else:
            with pytest.raises(fp.KernelFault):
                counted.run(options)


def test_atomics_on_memory_of_several_kinds_at_once() -> None:
    """Only the lanes that go to local memory are refused."""
    code = """
    .local .align 8 .b8 own[16]; mov.u64 %rd1, own; cvta.local.u64 %rd1, %rd1; ld.param.u64 %rd2, [a];
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 31; @%p1 mov.u64 %rd1, %rd2; atom.add.u32 %r2, [%rd1], 1;
    """
    array = np.zeros(64, np.uint32)
    first, last = array.ctypes.data, array.ctypes.data + array.nbytes
    packed = Packed(bytes(8), [HostArray(0, first, first, last, first, last, writable=True)])
    launched = Launch(module(code).kernel("k"), LaunchShape((1, 1, 1), (32, 1, 1)), packed).run(
        Options(sanitize=True)
    )
    assert [(each.kind, each.thread) for each in launched.findings] == [("out-of-bounds", (31, 0, 0))]
    assert array[0] == 31


@pytest.mark.parametrize("name", ["load.a", "store.d"])
def test_matrices_at_addresses_that_are_misaligned_are_left_alone(name: str) -> None:
    """Where it is sanitised the launch goes on; what lies there is neither touched nor called unwritten."""
    registers = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"
    matrix = (
        f"wmma.load.a.sync.aligned.row.m32n8k16.shared.f16 {registers}, [s], 9;"
        if name == "load.a"
        else f"wmma.store.d.sync.aligned.row.m32n8k16.shared.f32 [s], {registers.replace('r', 'f')}, 9;"
    )
    code = f"""
    .shared .align 128 .b8 s[4096]; ld.param.u64 %rd2, [a]; mov.u32 %r8, %tid.x;
    mad.lo.u32 %r2, %r8, 128, s; mov.u32 %r1, 0;
    MORE: st.shared.u32 [%r2], %r8; add.u32 %r2, %r2, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 32;
    @%p1 bra MORE; bar.sync 0; {matrix} bar.sync 0;
    mov.u32 %r8, %tid.x; mad.lo.u32 %r2, %r8, 128, s; ld.shared.u32 %r7, [%r2+124];
    mad.wide.u32 %rd2, %r8, 4, %rd2; st.global.u32 [%rd2], %r7;
    """
    text = f"{HEAD}.visible .entry k(.param .u64 a)\n{{ {REGISTERS} {code} ret; }}"
    array = np.zeros(32, np.uint32)
    first, last = array.ctypes.data, array.ctypes.data + array.nbytes
    packed = Packed(bytes(8), [HostArray(0, first, first, last, first, last, writable=True)])
    launch = Launch(VirtualModule(text).kernel("k"), LaunchShape((1, 1, 1), (32, 1, 1)), packed)
    assert {each.kind for each in launch.run(Options(sanitize=True, count=True)).findings} == {"misaligned"}
    assert array.tolist() == list(range(32))
    with pytest.raises(fp.KernelFault, match="misaligned"):
        launch.run(Options(count=True))


def test_an_assertion_in_no_known_encoding() -> None:
    """What is no UTF-8 is replaced, in the words of the fault and in those of a sanitised launch."""
    said = b"n > \xff\xc3 \xe4\xbd\xa0\xed\xa0\x80\xf0\x9f\x99\x82\xf5\xc0\x80\0"
    top = f"""
    .global .b8 said[{len(said)}] = {{{", ".join(map(str, said))}}};
    .extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
    """
    code = """
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; mov.u64 %rd1, said;
    cvta.global.u64 %rd1, %rd1; st.param.b64 [m], %rd1; st.param.b64 [f], %rd1; st.param.b32 [l], 3;
    st.param.b64 [n], %rd1; st.param.b64 [s], 1; call __assertfail, (m, f, l, n, s); }
    """
    with pytest.raises(fp.KernelFault) as caught:
        run(code, top)
    assert "n > \ufffd\ufffd 你\ufffd\ufffd\ufffd🙂\ufffd\ufffd\ufffd" in str(caught.value)


def test_parameters_that_no_launch_can_pass() -> None:
    with pytest.raises(FlashpathError, match="32764 are passed"):
        module("", parameters=".param .b8 a[4294967304]").kernel("k")


@pytest.mark.parametrize("number", ["4294967295", "4000000000", "1048577"])
def test_files_that_nobody_has(number: str) -> None:
    with pytest.raises(FlashpathError, match="file number"):
        VirtualModule(f'{HEAD}.file {number} "k.cu"\n.visible .entry k() {{ ret; }}')


# ---- What costs too much -------------------------------------------------------------------------------

PRINTING = """
__global__ void k(int n) {{ for (int i = 0; i < n; ++i) printf("{text}", {value}); }}
"""


@pytest.mark.parametrize(
    ("text", "value", "length"),
    [
        ("%999999999d", "1", 4096),
        ("%.999999999d", "1", 4096),
        ("%-999999999d|", "1", 4097),
        ("%0999999999d", "1", 4096),
        ("%*d", "2147483647, 1", 4096),
        ("%*d|", "-2147483647 - 1, 1", 4097),
        ("%12d", "1", 12),
        ("%-5d|%05d|%.3d|%+.2f", "1, 2, 3, 4.0", 21),
    ],
)
def test_the_width_of_what_is_printed(
    text: str, value: str, length: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "virtual")
    fp.compile(PRINTING.format(text=text, value=value))["k"][1, 1](1)
    assert len(capfd.readouterr().out) == length


def test_what_is_printed_counts(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "virtual")
    kernel = fp.compile(PRINTING.format(text="%4000d", value="i"))["k"]
    found = fp.sanitize(kernel, 1, 32, [1 << 30], budget=100_000)
    assert [finding.kind for finding in found] == ["timeout"]
    assert len(capfd.readouterr().out) < 10 << 20


MANY = """
__global__ void k(int* given, int n) {
  void* kept[64];
  for (int i = 0; i < n; ++i) {
    kept[i % 64] = malloc(1 + i % 40);
    if (kept[i % 64] == nullptr) return;
    atomicAdd(given, 1);
    if (i % 3 == 0) { free(kept[i % 64]); kept[i % 64] = nullptr; }
  }
}
"""


def test_device_malloc_does_not_look_through_all_it_gave() -> None:
    given = np.zeros(1, np.int32)
    began = time.monotonic()
    fp.compile(MANY)["k"][8, 128](given, 100)
    assert given[0] == 8 * 128 * 100
    assert time.monotonic() - began < 20


def test_device_malloc_uses_gaps_again_and_gives_all_it_has() -> None:
    source = """
    __global__ void k(unsigned long long* o) {
      char* a = (char*)malloc(100);
      char* b = (char*)malloc(50);
      char* c = (char*)malloc(200);
      char* d = (char*)malloc(8);
      free(b); free(a);
      char* e = (char*)malloc(150);   // in the gap of both
      o[0] = e - a;
      free(c); free(e); free(d);
      char* all = (char*)malloc(8 << 20);
      o[1] = all != nullptr; o[2] = all == a; o[3] = malloc(1) == nullptr;
      free(all);
    }
    """
    o = np.full(4, 9, np.uint64)
    fp.compile(source)["k"][1, 1](o)
    assert o.tolist() == [0, 1, 1, 1]


def test_freeing_twice_is_still_told() -> None:
    source = "__global__ void k(int* o) { void* p = malloc(4); free(p); free(p); o[0] = 1; }"
    with pytest.raises(fp.KernelFault, match="out-of-bounds"):
        fp.compile(source)["k"][1, 1](np.zeros(1, np.int32))
