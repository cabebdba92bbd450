"""Whole programs: recipes, a cache that knows what they are made from, errors in the learner's own lines."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashpath import gpus, settings
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.jit import CompileError, KernelCache, MissingCompiler, MissingInclude, programs, toolkit
from flashpath.jit import device as cuda
from flashpath.jit.programs import errors, running
from flashpath.jit.programs.dependencies import Snapshot, hidden_by, read_makefile
from flashpath.jit.programs.errors import LinkError
from flashpath.jit.programs.target import Target
from flashpath.messages import Message
from flashpath.vgpu import runtime_library

PROGRAMS = Path(__file__).parent / "programs"
A100 = Target("sm_80", gpus.gpu("A100"))

# A program without device code compiles in a third of a second, and is kept and run as any other.
HOST_PROGRAM = '#include "answer.h"\nint main(int count, char**) { return ANSWER + count - 1; }\n'


class Steps:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.doing: list[str] = []
        self.commands: list[str] = []
        self.programs: list[programs.Program] = []

    def progress(self, doing: Message) -> None:
        self.doing.append(str(doing))

    def command(self, command: str) -> None:
        self.commands.append(command)

    def ready(self, program: programs.Program) -> None:
        self.programs.append(program)


@pytest.fixture
def host_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> programs.Recipe:
    """A recipe for answer.cpp, which returns 40 + the number of its arguments."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "answer.h").write_text("#define ANSWER 40\n")
    (tmp_path / "answer.cpp").write_text(HOST_PROGRAM)
    monkeypatch.chdir(tmp_path)
    return programs.make_recipe(["answer.cpp"], A100, includes=["include"])


# ---- Where it runs -------------------------------------------------------------------------------------


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLASHPATH_DEVICE", raising=False)
    monkeypatch.setattr(cuda, "devices", tuple)


@pytest.mark.parametrize(
    ("device", "arch", "expected"),
    [
        (None, None, ("sm_80", "A100")),
        ("virtual", None, ("sm_80", "A100")),
        ("virtual", "sm_90", ("sm_90", "H200")),
        ("H200", None, ("sm_90", "H200")),
        ("rtx4090", None, ("sm_89", "RTX 4090")),
        ("H200", "sm_80", ("sm_80", "H200")),
        ("H200", "sm_90a", ("sm_90a", "H200")),
    ],
)
def test_the_gpu_that_is_played(
    no_gpu: None, device: str | None, arch: str | None, expected: tuple[str, str]
) -> None:
    target = programs.choose_target(device, arch)
    assert target.gpu is not None
    assert (target.arch, target.gpu.name) == expected


def test_the_variable_names_the_device(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "T4")
    assert programs.choose_target().arch == "sm_75"
    assert programs.choose_target("L4").arch == "sm_89"
    monkeypatch.setenv("FLASHPATH_DEVICE", "T5")
    with pytest.raises(FlashpathError, match="FLASHPATH_DEVICE is 'T5'"):
        programs.choose_target()


def test_a_gpu_that_is_not_there(no_gpu: None) -> None:
    with pytest.raises(MissingDevice, match="has no GPU") as caught:
        programs.choose_target("cuda")
    assert "--device virtual" in str(caught.value)
    with pytest.raises(FlashpathError, match="'cuda:x'"):
        programs.choose_target("cuda:x")
    with pytest.raises(gpus.UnknownArch):
        programs.choose_target("H200", "sm_33")


def test_a_gpu_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLASHPATH_DEVICE", raising=False)
    two = tuple(
        cuda.CudaDevice(
            index, "GPU", (9, index), 132, 0, (1, 1, 1), (1, 1, 1), 1024, 0, 0, 0, 0, 0
        )  # only the capability matters here
        for index in range(2)
    )
    monkeypatch.setattr(cuda, "devices", lambda: two)
    assert programs.choose_target() == Target("sm_90", None, 0)
    second = programs.choose_target("cuda:1")
    assert second == Target("sm_91", None, 1)
    with pytest.raises(MissingDevice, match="cuda:2"):
        programs.choose_target("cuda:2")
    recipe = programs.make_recipe([PROGRAMS / "behave.cu"], second)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert running.environment(recipe, {})["CUDA_VISIBLE_DEVICES"] == "1"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    assert running.environment(recipe, {})["CUDA_VISIBLE_DEVICES"] == "7"
    assert settings.RUNTIME.name not in running.environment(recipe, {})


# ---- What the runtime is told --------------------------------------------------------------------------


def test_the_settings_are_the_profile_to_the_last_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/elsewhere")
    recipe = programs.make_recipe([PROGRAMS / "behave.cu"], programs.choose_target("H200"))
    options = {"devices": 2, "exact": False, "seed": None, "timeline": Path("/tmp/a b.json")}
    variables = running.environment(recipe, options)
    told = dict(line.split("=", 1) for line in variables[settings.RUNTIME.name].splitlines())
    h200 = gpus.gpu("H200")
    assert told["gpu"] == "H200"
    assert told["device_name"] == "NVIDIA H200"
    assert (told["major"], told["minor"], told["sm_count"]) == ("9", "0", "132")
    assert int(told["memory_bytes"]) == h200.driver_memory_bytes
    assert float(told["memory_bytes_per_s"]) == h200.memory_bandwidth_gb_per_s * 1e9
    assert float(told["link_bytes_per_s"]) == h200.host_link_gb_per_s * 1e9
    assert int(told["max_shared_per_block"]) == 227 * 1024
    assert float(told["peak_fp16_tensor"]) == h200.peak_tflops.fp16_tensor * 1e12
    assert (told["devices"], told["exact"], told["timeline"]) == ("2", "0", "/tmp/a b.json")
    assert "seed" not in told
    assert variables["LD_LIBRARY_PATH"] == f"{runtime_library.folder()}:/elsewhere"


def test_a_line_break_cannot_smuggle_a_setting_in() -> None:
    with pytest.raises(FlashpathError, match="line break"):
        runtime_library.settings(gpus.gpu("A100"), {"timeline": "a\ndevices=9"})


def test_a_library_that_is_not_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runtime_library, "_places", lambda: iter([tmp_path]))
    with pytest.raises(runtime_library.RuntimeNotBuilt, match="is not built"):
        runtime_library.folder()


# ---- Files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "problem", "fix"),
    [
        ("saxpi.cu", "saxpi.cu does not exist", "Did you mean saxpy.cu?"),
        ("1000", "1000 does not exist", "after --"),
        ("nowhere/a.cu", "neither does its folder", "Check the path"),
        (".", "is a folder", "saxpy.cu"),
        ("tool.py", "no CUDA C++ source", "python tool.py"),
        ("tile.cuh", "no CUDA C++ source", "It is a header"),
        ("part.o", "no CUDA C++ source", "-l NAME"),
        ("empty.cu", "is empty", "main()"),
        ("a$(touch made).cu", "a shell as a command", "Rename the file"),
        ("`touch made`.cu", "a shell as a command", "Rename the file"),
        ('q"x.cu', "a shell as a command", "Rename the file"),
        ("-x.cu", "as an option", "Rename the file"),
        ("listens.cu", "is no plain file", "file of its own"),
    ],
)
def test_files_that_are_no_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, problem: str, fix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for there in ("saxpy.cu", "tool.py", "tile.cuh", "part.o"):
        Path(there).write_text("int main() {}")
    Path("empty.cu").write_text("\n")
    os.mkfifo("listens.cu")
    if not Path(name).exists() and name.startswith(("a$", "`", "q", "-")):
        Path(name).write_text("int main() {}")
    with pytest.raises(programs.ProgramNotFound) as caught:
        programs.make_recipe([name], A100)
    assert problem in caught.value.problem
    assert fix in (caught.value.fix or "")


def test_a_file_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("int main() {}")
    with pytest.raises(programs.ProgramNotFound, match="twice"):
        programs.make_recipe([tmp_path / "a.cu", tmp_path / "." / "a.cu"], A100)


# ---- What it was made from -----------------------------------------------------------------------------


def test_the_rule_that_compilers_write_is_read_whole() -> None:
    rule = "a.o : a.cu \\\n    /opt/my\\ headers/x.h \\\n /a\\#b.h /cost$$.h\\\n c.h\n"
    assert read_makefile(rule) == ["a.cu", "/opt/my headers/x.h", "/a#b.h", "/cost$.h", "c.h"]


@pytest.fixture
def header(tmp_path: Path) -> Path:
    file = tmp_path / "answer.h"
    file.write_text("#define ANSWER 40\n")
    os.utime(file, (1e9, 1e9))  # written long ago
    return file


def test_a_snapshot_holds_until_something_changes(header: Path) -> None:
    snapshot = Snapshot.from_json(Snapshot.take([header], []).to_json())
    assert snapshot.holds()
    os.utime(header)
    assert snapshot.holds(), "touched, but the same"
    header.write_text("#define ANSWER 41\n")
    assert not snapshot.holds()
    header.unlink()
    assert not snapshot.holds()


def test_a_file_that_was_just_written_is_read_again(header: Path) -> None:
    os.utime(header)
    snapshot = Snapshot.take([header], [])
    status = header.stat()
    header.write_text("#define ANSWER 41\n")
    os.utime(header, ns=(status.st_atime_ns, status.st_mtime_ns))  # as within one tick of the clock
    assert not snapshot.holds()


def test_a_header_that_appears_in_front_of_another(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (second / "a.h").write_text("")
    read = [second / "a.h", Path("/usr/include/stdio.h")]
    absent = hidden_by(read, [first, second])
    assert set(absent) == {str(first / "a.h"), str(first / "stdio.h"), str(second / "stdio.h")}
    snapshot = Snapshot.take([second / "a.h"], absent)
    assert snapshot.holds()
    (first / "a.h").write_text("")
    assert not snapshot.holds()


def test_files_that_changed_while_a_compiler_read_them(header: Path) -> None:
    snapshot = Snapshot.take([header], [])
    assert snapshot.changed_since(snapshot.taken_ns - 10**9) == []
    os.utime(header, ns=(snapshot.taken_ns, snapshot.taken_ns - 10**6))
    later = Snapshot.take([header], [])
    assert later.changed_since(snapshot.taken_ns - 10**9) == [str(header)]


# ---- The cache -----------------------------------------------------------------------------------------


def test_a_program_is_made_once_for_what_it_is_made_from(
    host_program: programs.Recipe, cache: KernelCache
) -> None:
    header = Path("include/answer.h")
    first = programs.build(host_program, cache)
    assert first.built
    assert first.path.is_relative_to(cache.folder)
    assert first.path.stat().st_mode & 0o777 == 0o755
    assert programs.run(host_program, cache=cache) == 40
    again = programs.build(host_program, cache)
    assert (again.built, again.path) == (False, first.path)

    header.write_text("#define ANSWER 50\n")
    assert programs.run(host_program, ["one"], cache=cache) == 51
    header.write_text("#define ANSWER 40\n")
    undone = programs.build(host_program, cache)
    assert (undone.built, undone.path) == (False, first.path)

    other = programs.make_recipe(["answer.cpp"], A100, includes=["include"], optimize="2")
    assert programs.build(other, cache).built, "another flag, another program"
    moved = KernelCache(cache.folder.parent.with_name("moved"))
    shutil.copytree(cache.folder.parent, moved.folder.parent)
    assert programs.run(host_program, cache=moved) == 40
    assert not programs.build(host_program, moved).built


def test_a_header_in_front_of_another_is_used(host_program: programs.Recipe, cache: KernelCache) -> None:
    assert programs.run(host_program, cache=cache) == 40
    Path("answer.h").write_text("#define ANSWER 7\n")  # beside the source: found before -I include
    assert programs.run(host_program, cache=cache) == 7


def test_a_library_of_ones_own_is_linked_again(tmp_path: Path, cache: KernelCache) -> None:
    source = tmp_path / "main.cpp"
    source.write_text("int number(); int main() { return number(); }")
    recipe = programs.make_recipe([source], A100, libraries=["mine"], library_folders=[tmp_path])
    host, _ = toolkit.host_compiler()
    for number in (3, 4):
        (tmp_path / "mine.cpp").write_text(f"int number() {{ return {number}; }}")
        shared = ["-shared", "-fPIC", "-Wl,-soname," + str(tmp_path / "libmine.so")]
        subprocess.run(
            [host, *shared, "-o", tmp_path / "libmine.so", tmp_path / "mine.cpp"],
            check=True,
        )
        program = programs.build(recipe, cache)
        assert program.built
        assert programs.run(recipe, cache=cache) == number


@pytest.mark.parametrize("damage", ["program", "note", "gone"])
def test_damage_is_noticed_and_mended(host_program: programs.Recipe, cache: KernelCache, damage: str) -> None:
    program = programs.build(host_program, cache)
    if damage == "program":
        program.path.write_bytes(program.path.read_bytes()[:-1] + b"x")
    elif damage == "note":
        (note,) = cache.index.iterdir()
        note.write_text('[{"files": 3}, 4]')
    else:
        cache.clear()
        assert not cache.index.exists()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert programs.run(host_program, cache=cache) == 40
    assert [str(each.message)[:26] for each in caught] == (
        ["A damaged kernel-cache ent"] if damage == "program" else []
    )


def test_a_program_that_is_evicted_before_it_starts(
    host_program: programs.Recipe, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = 0

    def evicted_twice(*arguments: object) -> programs.Program:
        nonlocal times
        times += 1
        program = programs.build(host_program, cache)
        if times <= 2:
            cache.clear()
        return program

    monkeypatch.setattr(running, "build", evicted_twice)
    assert programs.run(host_program, cache=cache) == 40
    assert times == 3


def test_a_cache_that_cannot_be_written(host_program: programs.Recipe, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = KernelCache(tmp_path / "file")
    with pytest.warns(UserWarning, match="cannot be written"):
        program = programs.build(host_program, nowhere)
    assert program.path.is_file()
    with pytest.warns(UserWarning, match="cannot be written"):
        assert programs.run(host_program, cache=nowhere) == 40


def test_what_the_cache_lists_of_a_program(host_program: programs.Recipe, cache: KernelCache) -> None:
    programs.build(host_program, cache)
    (entry,) = cache.entries()
    assert entry.source == str(Path.cwd() / "answer.cpp")
    assert entry.arch == "sm_80"


# ---- Commands ------------------------------------------------------------------------------------------


def test_separate_compilation_links_device_code_across_files(cache: KernelCache) -> None:
    files = [PROGRAMS / "halves_main.cu", PROGRAMS / "halves.cu"]
    recipe = programs.make_recipe(files, A100, defines=["UNUSED=1"], std="c++20")
    steps = Steps()
    program = programs.build(recipe, cache, steps)
    assert steps.doing == [
        f"compiling {files[0]} for sm_80 (1 of 2)",
        f"compiling {files[1]} for sm_80 (2 of 2)",
        "linking",
    ]
    compiled, compiled_too, device_link, link = steps.commands
    for command in (compiled, compiled_too):
        assert "-rdc=true" in command
        assert "-lineinfo" in command
        assert "-DUNUSED=1 -std=c++20" in command
        assert "'arch=compute_80,code=[compute_80,sm_80]'" in command
    assert "-dlink" in device_link
    assert "-cudart none" in link
    done = subprocess.run(
        [program.path], env=running.environment(recipe, {}), capture_output=True, text=True, check=True
    )
    assert done.stdout == "1 2 3 4, 4 calls\n"


def test_for_a_gpu_it_is_linked_with_nvidias_runtime(cache: KernelCache) -> None:
    recipe = programs.make_recipe([PROGRAMS / "behave.cu"], Target("sm_80", None))
    steps = Steps()
    program = programs.build(recipe, cache, steps)
    assert "-cudart static" in steps.commands[-1]
    assert runtime_library.NAME not in " ".join(steps.commands)
    done = subprocess.run([program.path, "arguments", "1"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(program.path), "arguments", "1"]


def test_the_wheels_keep_their_libraries_where_their_nvcc_does_not_look(tmp_path: Path) -> None:
    nvcc = toolkit.Nvcc(tmp_path / "bin" / "nvcc", tmp_path / "bin" / "ptxas")
    assert nvcc.libraries is None
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcudart_static.a").write_text("")
    assert nvcc.libraries == tmp_path / "lib"


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(toolkit, "_toolkit_roots", list)
    monkeypatch.setattr(toolkit, "_site_packages_roots", list)
    toolkit.nvcc.cache_clear()
    yield
    toolkit.nvcc.cache_clear()


def test_without_nvcc_one_command_brings_it(
    no_tools: None, host_program: programs.Recipe, cache: KernelCache
) -> None:
    with pytest.raises(MissingCompiler) as caught:
        programs.run(host_program, cache=cache)
    assert caught.value.fix == "pip install 'flashpath[nvcc]'"


def test_without_a_host_compiler(
    host_program: programs.Recipe, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolkit.nvcc()  # found while there is a PATH
    for name in ("NVCC_CCBIN", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingCompiler, match="needs a host C\\+\\+ compiler") as caught:
        programs.run(host_program, cache=cache)
    assert "apt-get install g++" in str(caught.value)


@pytest.mark.usefixtures("hears_control_c")
@pytest.mark.parametrize(
    ("number", "end"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_stopped_build_leaves_nothing_behind(
    host_program: programs.Recipe,
    cache: KernelCache,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    end: type[BaseException],
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    Path("answer.cpp").write_text("#include <regex>\n#include <iostream>\n" + HOST_PROGRAM)
    started: list[str] = []

    class Impatient(Steps):
        def progress(self, doing: Message) -> None:
            started.extend(str(each) for each in scratch.iterdir())
            os.kill(os.getpid(), number)

    with pytest.raises(end):
        programs.build(host_program, cache, Impatient())
    assert started
    assert list(scratch.iterdir()) == []
    at_work = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.is_file()]
    assert not [line for line in at_work if os.fsencode(scratch) in line]


# ---- Errors --------------------------------------------------------------------------------------------


def failure(tmp_path: Path, cache: KernelCache, text: str, name: str = "wrong.cu") -> FlashpathError:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(FlashpathError) as caught:
        programs.build(programs.make_recipe([file], A100), cache)
    return caught.value


def test_an_error_in_host_code_and_one_in_device_code_show_their_lines(
    tmp_path: Path, cache: KernelCache
) -> None:
    error = failure(
        tmp_path,
        cache,
        "#include <vector>\n"
        "__global__ void k(int* x) { x[0] = y; }\n"
        "int main() { std::vector<int> v; v.push(3); k<<<1, 1>>>(nullptr) }\n",
    )
    assert isinstance(error, CompileError)
    file = tmp_path / "wrong.cu"
    assert f'{file}:2:36: error: identifier "y" is undefined\n' in str(error)
    assert (
        "  2 | __global__ void k(int* x) { x[0] = y; }\n    |                                    ^\n"
        in str(error)
    )
    assert f"{file}:3:36: error: class" in str(error)
    assert "tmpxft" not in str(error)


def test_an_error_that_the_host_compiler_finds(tmp_path: Path, cache: KernelCache) -> None:
    text = '__attribute__((target("no-such-thing"))) int f() { return 1; }\nint main() { return f(); }\n'
    error = failure(tmp_path, cache, text)
    assert f"{tmp_path / 'wrong.cu'}:1:" in str(error)
    assert "no-such-thing" in str(error)
    assert "tmpxft" not in str(error)


def test_an_instruction_that_ptxas_refuses(tmp_path: Path, cache: KernelCache) -> None:
    text = '__global__ void k() {\n  asm("bogus.u32;");\n}\nint main() { k<<<1, 1>>>(); }\n'
    error = failure(tmp_path, cache, text)
    assert f"{tmp_path / 'wrong.cu'}:2: error: Not a name of any known instruction: 'bogus'" in str(error)
    assert '  2 |   asm("bogus.u32;");' in str(error)


def test_a_host_compiler_that_is_too_new(tmp_path: Path, cache: KernelCache) -> None:
    text = "#error -- unsupported GNU version! gcc versions later than 15 are not supported! The nvcc flag\n"
    error = failure(tmp_path, cache, text)
    assert error.problem.endswith("gcc versions later than 15 are not supported.")
    assert "NVCC_CCBIN=" in str(error.fix)


def test_a_header_that_is_nowhere(tmp_path: Path, cache: KernelCache) -> None:
    (tmp_path / "tiles.h").write_text("")
    error = failure(tmp_path, cache, '#include "tile.h"\nint main() {}\n')
    assert isinstance(error, MissingInclude)
    assert "Did you mean tiles.h?" in str(error)
    typo = failure(tmp_path, cache, "#include <stdioo.h>\nint main() {}\n")
    assert "NVRTC" not in str(typo), "a program has host headers"


def test_a_call_that_the_virtual_gpu_does_not_have(tmp_path: Path, cache: KernelCache) -> None:
    text = (
        "// cudaNoSuchCall is not there\n"
        'extern "C" cudaError_t cudaNoSuchCall(int);\n'
        "int main() { return cudaNoSuchCall(3); }\n"
    )
    error = failure(tmp_path, cache, text)
    assert isinstance(error, LinkError)
    assert error.problem.startswith("It does not link: the virtual GPU's runtime has no cudaNoSuchCall.\n")
    assert f"{tmp_path / 'wrong.cu'}:2:24" in error.problem, "the comment is no call"
    assert "--device cuda" in str(error.fix)


def test_a_program_without_main(tmp_path: Path, cache: KernelCache) -> None:
    error = failure(tmp_path, cache, "int f() { return 1; }\n", "library.cpp")
    assert error.problem == f"There is no main() in {tmp_path / 'library.cpp'}."


def test_a_device_function_that_no_file_defines(tmp_path: Path, cache: KernelCache) -> None:
    text = "__device__ float twice(float);\n__global__ void k(float* x) { *x = twice(*x); }\nint main() {}\n"
    error = failure(tmp_path, cache, text)
    assert error.problem.startswith("No device code defines twice(float).\n")
    assert "name the .cu file" in str(error.fix)


RECIPE_FILES = {
    "main.cu": "int main() { cublasCreate_v2(0); cuInit(0); helper(); cudaMalloc3DArray(0); }\n",
    "other.cu": "int main() {}\n",
}


def link_log(*lines: str) -> str:
    return "\n".join([*lines, "collect2: error: ld returned 1 exit status"])


@pytest.mark.parametrize(
    ("virtual", "log", "problem", "fix"),
    [
        (True, "undefined reference to `cudaMalloc3DArray'", "no cudaMalloc3DArray.\nmain.cu:1:", "cuda"),
        (True, "undefined reference to `cuInit'", "runtime has no cuInit", "--device cuda"),
        (True, "undefined reference to `cublasCreate_v2'", "on a GPU only: cublasCreate_v2", "--device cuda"),
        (False, "undefined reference to `cublasCreate_v2'", "defines cublasCreate_v2", "-l cublas."),
        (False, "undefined reference to `cuInit'", "Nothing defines cuInit.\nmain.cu:1:", "-l cuda."),
        (True, "undefined reference to `helper()'", "defines helper().\nmain.cu:1:", "Name the file"),
        (True, "multiple definition of `main'; main.cu: first", "main is defined more than once", "Keep one"),
        (True, "/usr/bin/ld: cannot find -lfast: No such file", "find the library fast", "-L"),
        (True, "/usr/bin/ld: cannot find -lcufft: No such file", "find the library cufft", "toolkit"),
        (True, "ld: something new", "The linker failed:\nld: something new", None),
        (True, "nvlink error : Undefined reference to '_Z5twicef' in 'a.o'", "defines twice(float)", "name"),
    ],
)  # fmt: skip
def test_what_linkers_say(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    virtual: bool,
    log: str,
    problem: str,
    fix: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in RECIPE_FILES.items():
        Path(name).write_text(text)
    target = A100 if virtual else Target("sm_80", None)
    error = errors.failed_link(link_log(log), programs.make_recipe(list(RECIPE_FILES), target))
    assert problem in str(error)
    assert (fix or "") in (error.fix or "")


def test_names_on_the_way_become_the_learners() -> None:
    recipe = programs.make_recipe([PROGRAMS / "behave.cu"], A100)
    log = (
        "/usr/bin/ld: /tmp/x/0.o: in function `main':\n"
        "tmpxft_00005d27_00000000-6_behave.cudafe1.cpp:(.text+0x168): undefined reference to `f'\n"
        "ptxas /tmp/x/tmpxft_00005e54_00000000-6_behave.ptx, line 28; error\n"
        "/tmp/x/tmpxft_0000abcd_00000000-7_behave.compute_80.cudafe1.stub.c:3: warning\n"
    )
    file = str(PROGRAMS / "behave.cu")
    assert errors.cleaned(log, recipe, {"/tmp/x/0.o": PROGRAMS / "behave.cu"}) == (
        f"/usr/bin/ld: {file}: in function `main':\n"
        f"{file}:(.text+0x168): undefined reference to `f'\n"
        f"ptxas {file}, line 28; error\n"
        f"{file}:3: warning"
    )
