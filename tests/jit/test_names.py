"""Which kernels a source declares, under which names a module gives them, and that asking leaves no trace."""

from __future__ import annotations

from typing import Any

import pytest

import flashpath as fp
from flashpath.jit import KernelCache, KernelNotFound, toolkit
from flashpath.jit.names import MARKER_FILE, declared_kernels, extern_c_kernels, kernel_not_found

NASTY = r"""
// __global__ void in_a_line_comment(int);
/* __global__ void in_a_block_comment(int);
   extern "C" { */
const char* text = "__global__ void in_a_string(int) { /*";
const char* raw = R"x(__global__ void in_a_raw_string(int) { ")x";
char quote = '"'; char brace = '{'; int million = 1'000'000;
#define STR "}"
extern "C" __global__ void plain_c(float* p) { asm("{ }"); p[0] = '}'; }
__global__ void __launch_bounds__(128, (2 + 1)) bounds_before(int n) {}
__launch_bounds__(64) __global__ void bounds_first(int n) {}
extern "C" __global__ __launch_bounds__(256) void bounds_between(int n) {}
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) two_attributes(int n) {}
static __global__ void internal(int) {}
extern "C" {
  __global__ void in_block(
      const float *x,  // __global__ void nor_this(int)
      float *y) { if (x) { y[0] = 1; } }
}
__global__ void after_block(int) {}
template <typename T, int N = (1 < 2)>
__global__ void templated(T* p) {}
namespace ns { __global__ void in_namespace(int) {} }
#if 0
extern "C" __global__ void compiled_out(int) {}
#endif
"""


def test_what_a_nasty_source_declares() -> None:
    found = {each.name: (each.is_template, each.is_extern_c) for each in declared_kernels(NASTY)}
    assert found == {
        "plain_c": (False, True),
        "bounds_before": (False, False),
        "bounds_first": (False, False),
        "bounds_between": (False, True),
        "two_attributes": (False, False),
        "internal": (False, False),
        "in_block": (False, True),
        "after_block": (False, False),
        "templated": (True, False),
        "in_namespace": (False, False),
        "compiled_out": (False, True),
    }
    assert extern_c_kernels(NASTY) == ["plain_c", "bounds_between", "in_block", "compiled_out"]


@pytest.mark.parametrize("text", ["", "__global__", "__global__ void", "__global__ __launch_bounds__(", "}{"])
def test_half_written_sources_declare_nothing(text: str) -> None:
    assert declared_kernels(text) == []


def test_the_compiler_agrees_and_every_kernel_has_its_types(cache: KernelCache) -> None:
    source = NASTY.replace("const char*", "__device__ const char*").replace(
        "char quote", "__device__ char quote"
    )
    source = source.replace("; char brace", "; __device__ char brace").replace(
        "; int m", "; __device__ int m"
    )
    module = fp.compile(source, "sm_90", name_expressions=["templated<float>"], cache=cache)
    signatures = {kernel.name: str(kernel.signature) for kernel in module}
    assert signatures == {
        "plain_c": "(float*)",
        "bounds_before": "(int)",
        "bounds_first": "(int)",
        "bounds_between": "(int)",
        "two_attributes": "(int)",
        "internal": "(int)",
        "in_block": "(const float*, float*)",
        "after_block": "(int)",
        "templated<float>": "(float*)",
        "ns::in_namespace": "(int)",
    }


def test_kernels_that_a_macro_writes_have_types_too(cache: KernelCache) -> None:
    source = (
        '#define KERNEL(name, T) extern "C" __global__ void name(T* p, int n) {}\n'
        "KERNEL(fill_float, float)\nKERNEL(fill_int, int)\n"
        'namespace ns { extern "C" __global__ void hidden(float*) {} }\n'
        'extern "C" __global__ void usual(double*) {}\n'
    )
    module = fp.compile(source, "sm_80", cache=cache)
    assert {kernel.name: str(kernel.signature) for kernel in module} == {
        "fill_float": "(float*, int)",
        "fill_int": "(int*, int)",
        "usual": "(double*)",
        "hidden": "(.u64)",  # its name cannot be spelled outside its namespace: PTX is all there is
    }


def _compilers() -> list[str]:
    try:
        toolkit.nvcc()
    except toolkit.MissingCompiler:
        return ["nvrtc"]
    return ["nvrtc", "nvcc"]


@pytest.mark.parametrize("compiler", _compilers())
@pytest.mark.parametrize("options", [(), ("-G",), ("--device-debug",)])
def test_asking_leaves_no_trace(cache: KernelCache, compiler: Any, options: tuple[str, ...]) -> None:
    source = (
        'extern "C" __global__ void __launch_bounds__(128) c(float* p) { *p = 1; }\n'
        "template <class T> __global__ void t(T* p, const T* q) { *p = *q; }\n"
        "__global__ void plain(int* p) { *p = 2; }\n"
    )
    module = fp.compile(
        source,
        "sm_80",
        name_expressions=["t<float>"],
        options=options,
        compiler=compiler,
        cache=cache,
    )
    assert {kernel.name: str(kernel.signature) for kernel in module} == {
        "t<float>": "(float*, const float*)",
        "c": "(float*)",
        "plain": "(int*)",
    }
    for trace in ("fp_kernel", "fp_signature", MARKER_FILE):
        assert trace not in module.ptx
        assert trace.encode() not in module.cubin
    assert module.ptx.count(".entry") == 3
    assert module.ptx.count(".global .align") == 0
    assert ("debug_info" in module.ptx) == bool(options)
    assert module["c"].max_threads == 128


def test_overloads_are_told_apart_by_their_mangled_names(cache: KernelCache) -> None:
    module = fp.compile("__global__ void k(float*) {}\n__global__ void k(int, int) {}", "sm_80", cache=cache)
    assert module.kernels == ["_Z1kPf", "_Z1kii"]
    assert str(module["_Z1kii"].signature) == "(int, int)"
    assert "k" in module
    with pytest.raises(fp.FlashpathError) as caught:
        module["k"]
    assert str(caught.value) == (
        "'k' is overloaded:\n    _Z1kPf  (float*)\n    _Z1kii  (int, int)\n"
        "  → Use the mangled name on the left."
    )


def test_spaces_in_a_name_do_not_matter_and_no_kernel_is_listed_twice(cache: KernelCache) -> None:
    source = "namespace a { template <class T, int N> __global__ void k(T*) {} }"
    names = ["a::k<float, 3>", "a::k<float,3>", "a::k< unsigned int, 4 >"]
    module = fp.compile(source, "sm_80", name_expressions=names, cache=cache)
    assert len(module.kernels) == 2
    assert module["a::k<float,  3>"].lowered == "_ZN1a1kIfLi3EEEvPT_"
    assert module["a::k<unsigned int,4>"].lowered == "_ZN1a1kIjLi4EEEvPT_"
    assert module["_ZN1a1kIfLi3EEEvPT_"].name.startswith("a::k<float,")


def test_instances_that_the_source_makes_itself_need_no_mention(cache: KernelCache) -> None:
    source = (
        "template <class T, int N> __global__ void k(T*, int) {}\n"
        "template __global__ void k<float, 3>(float*, int);\n"
    )
    module = fp.compile(source, "sm_80", cache=cache)
    assert module.kernels == ["k<float, 3>"]
    assert str(module["k<float,3>"].signature) == "(float*, int)"


# ---- Names that are not there --------------------------------------------------------------------------

SOURCE = "__global__ void saxpy(int) {}\ntemplate <class T> __global__ void scale(T*) {}\n"


@pytest.mark.parametrize(
    ("wanted", "have", "text", "message"),
    [
        (
            "saxpi",
            ["saxpy"],
            SOURCE,
            "There is no kernel 'saxpi'. The source has: saxpy, scale.\n  → Did you mean 'saxpy'?",
        ),
        (
            "completely_different",
            ["saxpy"],
            SOURCE,
            "There is no kernel 'completely_different'. The source has: saxpy, scale.\n"
            "  → Names are exact, template arguments too.",
        ),
        (
            "scale",
            ["saxpy"],
            SOURCE,
            "'scale' is a template: there is no kernel until it is instantiated.\n"
            "  → Ask for an instance: fp.compile(…, name_expressions=['scale<float>']).",
        ),
        (
            "scale<int>",
            ["scale<float>"],
            SOURCE,
            "The module was compiled without the instance 'scale<int>' of the template 'scale'. "
            "It has: scale<float>.\n  → Add it: fp.compile(…, name_expressions=['scale<int>']).",
        ),
        (
            "k",
            [],
            "// nothing here",
            "There is no kernel 'k': the source has no __global__ function at all.\n"
            "  → Declare one: __global__ void name(…) { … }",
        ),
    ],
)
def test_what_is_said_of_a_name_that_is_not_there(
    wanted: str, have: list[str], text: str, message: str
) -> None:
    assert str(kernel_not_found(wanted, have, text)) == message


def test_a_module_says_the_same(cache: KernelCache) -> None:
    module = fp.compile(SOURCE, "sm_80", cache=cache)
    assert "scale" not in module
    with pytest.raises(KernelNotFound, match="'scale' is a template"):
        module["scale"]
    with pytest.raises(KeyError, match="Did you mean 'saxpy'"):
        module["saxpyy"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "scal<float>",
            "There is no kernel 'scal<float>'. The source has: saxpy, scale.\n"
            "  The compiler says: identifier \"scal\" is undefined\n  → Did you mean 'scale'?",
        ),
        (
            "saxpy<float>",
            "There is no kernel 'saxpy<float>'. The source has: saxpy, scale.\n"
            "  The compiler says: type name is not allowed\n  → Did you mean 'saxpy'?",
        ),
    ],
)
def test_a_wrong_name_expression_is_the_name_that_is_blamed(
    name: str, message: str, cache: KernelCache
) -> None:
    with pytest.raises(KernelNotFound) as caught:
        fp.compile(SOURCE, "sm_80", name_expressions=["scale<int>", name], cache=cache)
    assert str(caught.value) == message


def test_a_name_expression_that_cannot_be_named_so(cache: KernelCache) -> None:
    source = "__global__ void k(int) {}\n__global__ void k(float) {}\n"
    with pytest.raises(KernelNotFound) as caught:
        fp.compile(source, "sm_80", name_expressions=["k"], cache=cache)
    assert str(caught.value).startswith("The kernel 'k' cannot be named so.\n  The compiler says: ")
    assert "Leave it out" in str(caught.value)
