"""Whole programs in their children: what comes back of a run, and what is left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flashpath.course.sandbox import BuildFailed, Crashed, Limits, ProgramSession, TimedOut
from flashpath.course.sandbox.programs import need_compilers
from flashpath.jit import toolkit
from tests.harness.compilers import needs_nvcc

pytestmark = needs_nvcc

COPIES = """#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(int n, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

int main(int argc, char** argv) {
  const int n = std::atoi(argv[1]);
  std::vector<int> x(n, argc);
  int *device, *pinned;
  if (cudaMalloc(&device, n * sizeof(int)) != cudaSuccess) return 1;
  if (cudaMallocHost(&pinned, n * sizeof(int)) != cudaSuccess) return 1;
  if (cudaMemcpy(device, x.data(), n * sizeof(int), cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  add<<<(n + 63) / 64, 64>>>(n, device);
  if (cudaMemcpy(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  std::printf("%s: %d\\n", argv[2], pinned[n - 1]);
  std::fprintf(stderr, "done\\n");
  cudaFree(device);
  cudaFreeHost(pinned);
  return std::atoi(argv[3]);
}
"""


def test_a_run_tells_its_end_its_output_and_its_counts() -> None:
    counts = (
        "report.launches", "report.to_device.bytes", "report.to_device.pinned", "report.to_host.count",
        "report.to_host.pinned", "report.device_memory.bytes", "report.pinned_memory.count",
        "report.global_store.bytes", "report.seconds * 1e9 / n",
    )  # fmt: skip
    with ProgramSession(COPIES, "copies.cu") as session:
        run = session.run(["1000", "a b; c", "7"])
        counted = session.run(["1000", "last", "0"], counts, {"n": 1000}, sanitize=False)
    assert (run.exit_code, run.signal, run.has_ended) == (7, None, True)
    assert (run.printed, run.complained) == ("a b; c: 5\n", "done\n")
    assert run.findings == ()
    assert counted.exit_code == 0
    assert [counted.counts[each] for each in counts[:-1]] == [1, 4000, 0, 1, 1, 4000, 1, 4000]
    assert counted.counts[counts[-1]] > 0


def test_findings_name_the_lines_of_the_answer_again_and_again() -> None:
    """Also of an executable that was compiled in another folder, and kept."""
    wrong = COPIES.replace("if (i < n) ", "").replace("cudaFree(device);", "")
    for _ in range(2):
        with ProgramSession(wrong, "copies.cu") as session:
            kernels, host = session.run(["1000", "x", "0"]), session.run(["1024", "x", "0"])
        assert [(each.kind, Path(each.file).name, each.line) for each in kernels.findings][:1] == [
            ("out-of-bounds", "copies.cu", 7)
        ]
        assert [(each.kind, each.file, each.line) for each in host.findings] == [("leak", "copies.cu", 14)]


def test_results_that_are_dropped_are_known_of_a_kept_executable() -> None:
    dropped = COPIES.replace(
        "if (cudaMalloc(&device, n * sizeof(int)) != cudaSuccess) return 1;",
        "cudaMalloc(&device, 1ull << 50);",
    )
    for _ in range(2):
        with ProgramSession(dropped, "copies.cu") as session:
            run = session.run(["10", "x", "0"])
        assert run.findings[0].kind == "unchecked-error", "the cause comes before what follows from it"


def test_a_signal_is_told() -> None:
    with ProgramSession("int main() { __builtin_trap(); }", "trap.cu") as session:
        run = session.run([])
    assert (run.exit_code, run.signal, run.has_ended) == (None, "SIGILL", False)


def test_what_does_not_compile_or_link_is_told_with_its_line() -> None:
    with (
        pytest.raises(BuildFailed, match=r"mine\.cu:2:") as caught,
        ProgramSession("int main() {\n  x = 1;\n}\n", "mine.cu"),
    ):
        pass
    assert caught.value.diagnostics[0].line == 2
    with pytest.raises(BuildFailed, match="main") as unlinked, ProgramSession("void f() {}\n", "mine.cu"):
        pass
    for error in (caught.value, unlinked.value):
        assert "/tmp" not in str(error)
        assert "sandbox" not in str(error)


def test_a_program_that_hangs_is_ended_and_leaves_nothing() -> None:
    limits = Limits(run_seconds=1.0)
    with ProgramSession("int main() { for (;;) {} }", "hangs.cu", limits=limits) as session:
        assert session._child is not None  # pyright: ignore[reportPrivateUsage]
        built = session._child.folder  # pyright: ignore[reportPrivateUsage]
        own = f"flashpath-sandbox-{os.getpid()}-*"
        before = set(built.parent.glob(own))
        with pytest.raises(TimedOut):
            session.run([])
        assert built in before
        assert set(built.parent.glob(own)) == before
    assert not built.exists()


def test_the_environment_of_this_process_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "x")
    source = "#include <cstdio>\nextern char** environ;\n"
    source += "int main() { for (char** each = environ; *each; ++each) std::puts(*each); }\n"
    with ProgramSession(source, "environ.cu") as session:
        printed = session.run([]).printed
    assert "SECRET_OF_MINE" not in printed
    assert str(Path.home()) not in printed.replace(str(Path(os.devnull)), "")


def test_without_nvcc_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> toolkit.Nvcc:
        raise toolkit.MissingCompiler("jit.no-nvcc")

    monkeypatch.setattr(toolkit, "nvcc", missing)
    with pytest.raises(toolkit.MissingCompiler, match="nvcc"):
        need_compilers()


def test_a_record_of_its_own_making_is_no_record() -> None:
    source = (
        '#include <unistd.h>\nint main() { for (int fd = 3; fd < 32; ++fd) (void)!write(fd, "[]\\n", 3); }\n'
    )
    with ProgramSession(source, "forged.cu") as session, pytest.raises(Crashed):
        session.run([])
