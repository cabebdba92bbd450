"""fp.compile: architectures, headers, options, templates, both compilers, any working folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import flashpath as fp
from flashpath import gpus
from flashpath.jit import KernelCache, SourceNotFound, TemplateError, device, toolkit
from flashpath.jit.toolkit import MissingCompiler

SOURCE = 'extern "C" __global__ void k(int* p) { *p = VALUE; }\n'


def _stored(module: fp.Module) -> int:
    (line,) = [line for line in module.ptx.splitlines() if re.search(r"mov\.[ub]32", line)]
    return int(line.rpartition(",")[2].strip(" ;"))


@pytest.mark.parametrize("arch", [arch.name for arch in gpus.archs()])
def test_every_architecture(arch: str, cache: KernelCache) -> None:
    module = fp.compile(SOURCE, arch, {"VALUE": 3}, cache=cache)
    assert f".target {arch}\n" in module.ptx
    assert module.cubin.startswith(b"\x7fELF")
    assert (module.arch, module["k"].arch) == (arch, arch)
    assert module["k"].resources.registers > 0


def test_the_default_architecture(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "count", lambda: 0)
    for wanted, arch in (
        ("", "sm_80"),
        ("virtual", "sm_80"),
        ("H200", "sm_90a"),
        ("A100", "sm_80"),
    ):
        monkeypatch.setenv("FLASHPATH_DEVICE", wanted)
        assert fp.compile(SOURCE, defines={"VALUE": 1}, cache=cache).arch == arch
    monkeypatch.setenv("FLASHPATH_DEVICE", "cuda:x")
    with pytest.raises(fp.FlashpathError, match="FLASHPATH_DEVICE is 'cuda:x'"):
        fp.compile(SOURCE, defines={"VALUE": 1}, cache=cache)
    monkeypatch.setenv("FLASHPATH_DEVICE", "cuda")
    with pytest.raises(fp.MissingDevice, match="this machine has no GPU"):
        fp.compile(SOURCE, defines={"VALUE": 1}, cache=cache)
    monkeypatch.setenv("FLASHPATH_DEVICE", "H2OO")
    with pytest.raises(fp.FlashpathError, match="FLASHPATH_DEVICE: unknown GPU"):
        fp.compile(SOURCE, defines={"VALUE": 1}, cache=cache)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("cuda_fp16.h", "*(__half*)p = __float2half(1.0f);"),
        ("cuda_bf16.h", "*(__nv_bfloat16*)p = __float2bfloat16(1.0f);"),
        ("cuda_fp8.h", "*(__nv_fp8_e4m3*)p = __nv_fp8_e4m3(1.0f);"),
        (
            "mma.h",
            "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; fill_fragment(f, 0.0f);",
        ),
        ("cooperative_groups.h", "cooperative_groups::this_thread_block().sync();"),
        ("cuda/std/type_traits", "static_assert(cuda::std::is_same_v<int, int>); *p = 1;"),
        ("cuda/barrier", "__shared__ cuda::barrier<cuda::thread_scope_block> b; init(&b, 32);"),
    ],
)
def test_the_headers_of_cuda(header: str, body: str, cache: KernelCache) -> None:
    source = f'#include <{header}>\nextern "C" __global__ void k(int* p) {{ {body} }}\n'
    assert fp.compile(source, "sm_90", cache=cache).kernels == ["k"]


# ---- Options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "stored"), [(7, 7), (True, 1), (False, 0), ("(2 + 3)", 5), (None, 1)])
def test_defines(value: Any, stored: int, cache: KernelCache) -> None:
    assert _stored(fp.compile(SOURCE, "sm_80", {"VALUE": value}, cache=cache)) == stored


def test_a_float_define(cache: KernelCache) -> None:
    source = 'extern "C" __global__ void k(float* p) { *p = EPS; static_assert(EPS == 1e-05); }'
    assert fp.compile(source, "sm_80", {"EPS": 1e-5}, cache=cache).kernels == ["k"]
    with pytest.raises(fp.FlashpathError, match="defines has the name '2X'"):
        fp.compile(source, "sm_80", {"2X": 1}, cache=cache)


def test_include_folders(tmp_path: Path, cache: KernelCache) -> None:
    for number, name in enumerate(("one", "two"), 1):
        (tmp_path / name).mkdir()
        (tmp_path / name / "value.h").write_text(f"#define VALUE {number}\n")
    source = "#include <value.h>\n" + SOURCE
    assert (
        _stored(fp.compile(source, "sm_80", includes=[tmp_path / "one", tmp_path / "two"], cache=cache)) == 1
    )
    assert _stored(fp.compile(source, "sm_80", includes=[str(tmp_path / "two")], cache=cache)) == 2
    with pytest.raises(fp.FlashpathError, match=r"The include folder .*three does not exist"):
        fp.compile(source, "sm_80", includes=[tmp_path / "three"], cache=cache)


@pytest.mark.parametrize("option", ["-maxrregcount=24", "--maxrregcount=24"])
def test_maxrregcount_is_honoured(option: str, cache: KernelCache) -> None:
    source = """extern "C" __global__ void k(const float* p, float* q) {
      float v[64];
      #pragma unroll
      for (int i = 0; i < 64; ++i) v[i] = p[i * 999 + threadIdx.x];
      __syncthreads();
      #pragma unroll
      for (int i = 0; i < 64; ++i) q[i * 999 + threadIdx.x] = v[63 - i] * v[i];
    }"""
    assert fp.compile(source, "sm_80", cache=cache)["k"].resources.registers > 24
    assert fp.compile(source, "sm_80", options=[option], cache=cache)["k"].resources.registers <= 24


def test_the_standard_can_be_chosen(cache: KernelCache) -> None:
    source = 'extern "C" __global__ void k(long* p) { *p = __cplusplus; }'
    for options, standard in (((), 201703), (["-std=c++20"], 202002), (["--std=c++17"], 201703)):
        assert f", {standard};" in fp.compile(source, "sm_80", options=options, cache=cache).ptx


def test_source_lines_stand_in_the_ptx(cache: KernelCache) -> None:
    usual = fp.compile(SOURCE, "sm_80", {"VALUE": 1}, cache=cache)
    assert '.file\t1 "source.cu"' in usual.ptx
    assert re.search(r"\.loc\s+1 1 ", usual.ptx)
    assert "debug" not in usual.ptx
    debug = fp.compile(SOURCE, "sm_80", {"VALUE": 1}, options=["-G"], cache=cache)
    assert ".target sm_80, debug" in debug.ptx
    assert str(debug["k"].signature) == "(int*)"


@pytest.mark.parametrize(
    ("option", "keyword"),
    [
        ("-arch=sm_90", "arch="),
        ("--gpu-architecture=x", "arch="),
        ("-I/x", "includes="),
        ("-DX=1", "defines="),
    ],
)
def test_what_has_its_own_argument_is_no_option(option: str, keyword: str, cache: KernelCache) -> None:
    with pytest.raises(fp.FlashpathError) as caught:
        fp.compile(SOURCE, "sm_80", options=[option], cache=cache)
    assert (
        str(caught.value) == f"options holds {option!r}.\n  → Use {keyword} for that, so the cache sees it."
    )


def test_misused_arguments(cache: KernelCache) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"options": "-G"}, "options is '-G'.\n  → Give a list: options=[…]."),
        ({"name_expressions": "k"}, "name_expressions is 'k'.\n  → Give a list: name_expressions=[…]."),
        ({"includes": None}, "includes is None.\n  → Give a list: includes=[…]."),
        ({"options": [3]}, "options holds 3.\n  → Give strings."),
        ({"defines": ["N"]}, "defines is ['N'].\n  → Give a mapping: defines={'BLOCK': 256}."),
        ({"defines": {"N": [1]}}, "defines has N=[1].\n  → A macro's value is a string or a number."),
        ({"defines": {"N": float("nan")}}, "defines has N=nan.\n  → Use the string INFINITY or NAN."),
        (
            {"options": ["-isystem=/usr"]},
            "options holds '-isystem=/usr'.\n  → Use includes= for that, so the cache sees it.",
        ),
        (
            {"options": ["-rdc=true"]},
            "options holds '-rdc=true'.\n"
            "  → A module is compiled whole: leave it out, #include what it needs.",
        ),
        ({"compiler": "gcc"}, "compiler is 'gcc'.\n  → It is 'nvrtc' or 'nvcc'."),
        (
            {"options": ["-maxrregcount", "32"]},
            "options holds '-maxrregcount'.\n  → Write it with a value: -maxrregcount=….",
        ),
    ]
    for arguments, message in wrong:
        with pytest.raises(fp.FlashpathError) as caught:
            fp.compile(SOURCE, "sm_80", cache=cache, **arguments)
        assert str(caught.value) == message


# ---- Sources and templates -----------------------------------------------------------------------------


def test_a_string_is_source_or_path(tmp_path: Path, cache: KernelCache) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(SOURCE, encoding="utf-8")
    by_path = fp.compile(path, "sm_80", {"VALUE": 4}, cache=cache)
    by_name = fp.compile(str(path), "sm_80", {"VALUE": 4}, cache=cache)
    assert by_path.cache_entry.key == by_name.cache_entry.key
    assert by_path.source_name == str(path)
    assert f'.file\t1 "{path}"' in by_path.ptx
    odd = tmp_path / "odd{name};.cu"
    odd.write_text(SOURCE)
    assert _stored(fp.compile(odd, "sm_80", {"VALUE": 4}, cache=cache)) == 4


def test_sources_that_are_not_there(tmp_path: Path, cache: KernelCache) -> None:
    (tmp_path / "saxpy.cu").write_text(SOURCE)
    cases = [
        (tmp_path / "saxpi.cu", f"{tmp_path}/saxpi.cu does not exist.\n  → Did you mean saxpy.cu?"),
        (tmp_path, f"{tmp_path} is a folder, not a CUDA source file.\n  → Name a .cu file in it."),
        (
            tmp_path / "no" / "a.cu",
            f"{tmp_path}/no/a.cu does not exist; neither does its folder {tmp_path}/no.\n  → Check the path.",
        ),
    ]
    for path, message in cases:
        with pytest.raises(SourceNotFound) as caught:
            fp.compile(path, "sm_80", cache=cache)
        assert str(caught.value) == message
    (tmp_path / "latin.cu").write_bytes(b"// caf\xe9\n")
    with pytest.raises(fp.FlashpathError, match=r"latin\.cu is not UTF-8 text"):
        fp.compile(tmp_path / "latin.cu", "sm_80", cache=cache)


TEMPLATE = """{% for name in names %}
extern "C" __global__ void {{ name }}(int* p) { *p = {{ value }}; }
{% endfor %}
"""


def test_templates(tmp_path: Path, cache: KernelCache) -> None:
    path = tmp_path / "kernel.cu.jinja"
    path.write_text(TEMPLATE)
    first = fp.compile(path, "sm_80", variables={"names": ["a", "b"], "value": 3}, cache=cache)
    assert first.kernels == ["a", "b"]
    assert first.source_name == str(tmp_path / "kernel.cu")
    second = fp.compile(path, "sm_80", variables={"names": ["a"], "value": 4}, cache=cache)
    assert _stored(second) == 4


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        (
            "int x = {{ valu }};",
            {"value": 3},
            "k.cu.jinja: 'valu' is undefined.\n  → Pass it: fp.compile(path, variables={…}). Given: value.",
        ),
        (
            "{{ a }}",
            {},
            "k.cu.jinja: 'a' is undefined.\n  → Pass it: fp.compile(path, variables={…}). Given: nothing.",
        ),
        ("a\n{% for %}", {}, "k.cu.jinja, line 2: Expected an expression, got 'end of statement block'."),
        ("{% include 'gone.h' %}", {}, "k.cu.jinja includes the template 'gone.h', which is not there."),
        (
            "{{ 1 // zero }}",
            {"zero": 0},
            "k.cu.jinja: ZeroDivisionError: integer division or modulo by zero.",
        ),
        (
            "{{ n + 'x' }}",
            {"n": 1},
            "k.cu.jinja: TypeError: unsupported operand type(s) for +: 'int' and 'str'.",
        ),
    ],
)
def test_templates_that_cannot_be_rendered(
    text: str, variables: dict[str, Any], message: str, tmp_path: Path, cache: KernelCache
) -> None:
    path = tmp_path / "k.cu.jinja"
    path.write_text(text)
    with pytest.raises(TemplateError) as caught:
        fp.compile(path, "sm_80", variables=variables, cache=cache)
    assert str(caught.value) == message


def test_variables_need_a_template(tmp_path: Path, cache: KernelCache) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    with pytest.raises(TemplateError, match=r"k\.cu is no template"):
        fp.compile(path, "sm_80", variables={"a": 1}, cache=cache)
    with pytest.raises(TemplateError, match="the source is a plain string"):
        fp.compile(SOURCE, "sm_80", variables={"a": 1}, cache=cache)


def test_an_error_in_a_template_names_the_template(tmp_path: Path, cache: KernelCache) -> None:
    path = tmp_path / "k.cu.jinja"
    path.write_text('{% if true %}\nextern "C" __global__ void k() { {{ what }}; }\n{% endif %}\n')
    with pytest.raises(fp.FlashpathError) as caught:
        fp.compile(path, "sm_80", variables={"what": "oops"}, cache=cache)
    assert str(caught.value) == (
        f'{path} (as rendered, line 1): error: identifier "oops" is undefined\n'
        '  1 | extern "C" __global__ void k() { oops; }\n'
        "    |                                  ^"
    )


# ---- Surroundings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_the_working_folder_does_not_matter(
    compiler: Any, tmp_path: Path, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiler == "nvcc":
        _need_nvcc()
    source = '#if __has_include("value.h")\n#include "value.h"\n#endif\n' + SOURCE
    found: list[fp.Module] = []
    for number, name in enumerate(("one", "two"), 1):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "value.h").write_text(f"#undef VALUE\n#define VALUE {number}\n")
        monkeypatch.chdir(folder)
        own = KernelCache(tmp_path / f"cache {name}")
        found.append(fp.compile(source, "sm_80", {"VALUE": 9}, compiler=compiler, cache=own))
    assert found[0].ptx == found[1].ptx
    assert found[0].cubin == found[1].cubin
    assert found[0].cache_entry.key == found[1].cache_entry.key
    assert _stored(found[0]) == 9


def test_a_relative_path_is_the_same_as_the_full_one(
    tmp_path: Path, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "k.cu").write_text('#include "value.h"\n' + SOURCE)
    (tmp_path / "value.h").write_text("#define VALUE 5\n")
    monkeypatch.chdir(tmp_path)
    relative = fp.compile("k.cu", "sm_80", cache=cache)
    assert relative.cache_entry.key == fp.compile(tmp_path / "k.cu", "sm_80", cache=cache).cache_entry.key
    assert _stored(relative) == 5


# ---- nvcc ----------------------------------------------------------------------------------------------


def _need_nvcc() -> None:
    try:
        toolkit.nvcc()
        toolkit.host_compiler()
    except MissingCompiler as error:
        pytest.skip(str(error))


def test_nvcc_gives_the_same_kernels_names_and_types(cache: KernelCache) -> None:
    _need_nvcc()
    source = """
    struct S { int a; float b; };
    extern "C" __global__ void __launch_bounds__(64) c(float* p, S s) { p[0] = s.b; }
    __global__ void plain(const int* p, int* q) { *q = *p; }
    static __global__ void internal(float* p) { *p = 1; }
    namespace ns { template <class T, int N> __global__ void t(T* p, const T* q) { *p = q[N]; } }
    """
    names = ["ns::t<float, 3>", "ns::t<S, 4>"]
    found = [
        fp.compile(source, "sm_80", name_expressions=names, compiler=compiler, cache=cache)
        for compiler in ("nvrtc", "nvcc")
    ]
    told = [
        {each.name: (each.lowered, str(each.signature), each.max_threads) for each in module}
        for module in found
    ]
    assert told[0] == told[1]
    assert len(told[0]) == 5
    assert found[0].cache_entry.key != found[1].cache_entry.key
    for module in found:
        assert "fp_" not in module.ptx
        assert '.file\t1 "source.cu"' in module.ptx
        assert module["c"].resources.registers > 0


def test_nvcc_takes_host_code_and_options(cache: KernelCache) -> None:
    _need_nvcc()
    source = (
        "#include <vector>\n#include <cstdio>\n"
        + SOURCE
        + "int main() { std::vector<int> v(3); return 0; }\n"
    )
    module = fp.compile(
        source,
        "sm_80",
        {"VALUE": 6},
        options=["-maxrregcount=32", "-Xptxas=-O1"],
        compiler="nvcc",
        cache=cache,
    )
    assert module.kernels == ["k"]
    assert _stored(module) == 6


def test_sources_that_are_none(tmp_path: Path, cache: KernelCache) -> None:
    for source in ("", "  ", None, 3, "x" * 5000, "~nobody-at-all/x.cu"):
        with pytest.raises(SourceNotFound):
            fp.compile(source, "sm_80", cache=cache)  # pyright: ignore[reportArgumentType]
    (tmp_path / "nul.cu").write_text("__global__ void k() {}\0 hidden")
    with pytest.raises(fp.FlashpathError, match="NUL"):
        fp.compile(tmp_path / "nul.cu", "sm_80", cache=cache)


def test_a_byte_order_mark_and_dos_lines_do_no_harm(tmp_path: Path, cache: KernelCache) -> None:
    file = tmp_path / "dos.cu"
    file.write_bytes(b"\xef\xbb\xbf" + SOURCE.replace("\n", "\r\n").encode())
    assert fp.compile(file, "sm_80", {"VALUE": 1}, cache=cache).kernels == ["k"]


def test_a_device_function_is_no_kernel(cache: KernelCache) -> None:
    source = "__device__ int f(int x) { return x; }\n__global__ void k(int* x) { *x = f(1); }"
    with pytest.raises(fp.jit.KernelNotFound, match="not declared __global__"):
        fp.compile(source, "sm_80", name_expressions=["f"], cache=cache)


def test_a_wrong_template_argument_is_told_as_one(cache: KernelCache) -> None:
    source = "template <class T> __global__ void k(T* x) { *x = 1; }"
    with pytest.raises(fp.jit.KernelNotFound) as caught:
        fp.compile(source, "sm_80", name_expressions=["k<flot>"], cache=cache)
    assert str(caught.value).startswith("The template 'k' has no instance 'k<flot>'.\n  The compiler says:")


def test_a_kernel_in_a_namespace_is_found_by_its_whole_name(cache: KernelCache) -> None:
    module = fp.compile("namespace a { __global__ void k(float* x) { *x = 1; } }", "sm_80", cache=cache)
    with pytest.raises(fp.jit.KernelNotFound, match="Did you mean 'a::k'"):
        module["k"]


def test_headers_found_by_the_environment_are_not(
    tmp_path: Path, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        toolkit.nvcc()
    except MissingCompiler as error:
        pytest.skip(str(error))
    (tmp_path / "from_environment.h").write_text("#define VALUE 1")
    monkeypatch.setenv("CPATH", str(tmp_path))
    with pytest.raises(fp.jit.MissingInclude):
        fp.compile("#include <from_environment.h>\n", "sm_80", compiler="nvcc", cache=cache)


@pytest.mark.parametrize("arch", ["sm_87", "sm_103a", "sm_120a"])
def test_architectures_without_a_profile_are_explained(arch: str, cache: KernelCache) -> None:
    kernel = fp.compile("__global__ void k(float* x) { *x = 1; }", arch, cache=cache)["k"]
    explained = fp.explain(kernel)
    assert explained.gpu is None
    assert f"occupancy on {arch}" in str(explained)
    assert explained.occupancy.blocks_per_sm > 0


def test_code_is_not_explained_for_a_gpu_that_cannot_run_it(cache: KernelCache) -> None:
    kernel = fp.compile("__global__ void k(float* x) { *x = 1; }", "sm_90a", cache=cache)["k"]
    with pytest.raises(fp.FlashpathError, match="does not run on T4"):
        fp.explain(kernel, gpu="T4")


def test_a_source_given_as_text_can_have_a_name(cache: KernelCache) -> None:
    module = fp.compile("__global__ void k() {}", cache=cache, source_name="mine.cu")
    assert module.source_name == "mine.cu"
    assert '"mine.cu"' in module.ptx
    with pytest.raises(fp.jit.CompileError, match=r"mine\.cu:1"):
        fp.compile("__global__ void k() { x; }", cache=cache, source_name="mine.cu")
    with pytest.raises(fp.FlashpathError, match="name of a file"):
        fp.compile("__global__ void k() {}", cache=cache, source_name="a/b.cu")
