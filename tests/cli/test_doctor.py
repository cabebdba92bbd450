from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.cli.doctor import checks, compilers, doctor, find, fixes, gpu, machine, python, tools
from flashpath.cli.doctor.check import Answer, Question, missing, ok, warn
from flashpath.jit import device as devices
from flashpath.jit import toolkit
from flashpath.jit.device import CudaDevice
from flashpath.vgpu import host

H200 = CudaDevice(
    index=0,
    name="NVIDIA H200",
    capability=(9, 0),
    sm_count=132,
    shared_per_sm_bytes=233472,
    l2_bytes=62914560,
    memory_bytes=150_754_820_096,
    max_shared_per_block=232448,
    max_grid=(2**31 - 1, 65535, 65535),
    max_block=(1024, 1024, 64),
    max_threads_per_block=1024,
    memory_clock_khz=3_201_000,
    memory_bus_bits=6144,
)


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.command("doctor")(doctor)
    return CliRunner().invoke(app, arguments)


def always(value: object) -> Callable[..., Any]:
    return lambda *_: value


def groups(monkeypatch: pytest.MonkeyPatch, *questions: Question) -> None:
    monkeypatch.setattr(checks, "GROUPS", {"Group": questions})


def with_gpus(
    monkeypatch: pytest.MonkeyPatch, *found: CudaDevice, cuda: tuple[int, int] | None = (13, 0)
) -> None:
    monkeypatch.setattr(devices, "devices", lambda: found)
    monkeypatch.setattr(devices, "driver_version", lambda: cuda)


def without_programs(monkeypatch: pytest.MonkeyPatch, *absent: str) -> None:
    real = find.program

    def program(name: str) -> Path | None:
        return None if name in absent else real(name)

    monkeypatch.setattr(find, "program", program)


def lacking(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Pretend that the JIT finds no `what`."""

    def refuse() -> Any:
        raise toolkit.MissingCompiler(f"jit.no-{what.replace('_', '-')}")

    monkeypatch.setattr(toolkit, what, refuse)


def managers(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Pretend that exactly these package managers are on PATH, and that we are not root."""

    def which(name: str) -> str | None:
        return f"/usr/bin/{name}" if name in names else None

    monkeypatch.setattr(fixes.shutil, "which", which)
    monkeypatch.setattr(fixes.os, "geteuid", lambda: 1000)


# ── the command ──────────────────────────────────────────────────────────────────────────────────────


def test_a_machine_without_gpu_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, cuda=None)
    monkeypatch.setattr(find, "nvidia_hardware", lambda: False)
    without_programs(monkeypatch, "nsys", "ncu", "compute-sanitizer", "cuda-gdb", "nvidia-smi")
    result = run("--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0, report
    by_name = {check["name"]: check for check in report["checks"]}
    for name in ("NVIDIA driver", "GPU", "Nsight Compute", "cuda-gdb"):
        assert by_name[name]["status"] == "missing"
        assert by_name[name]["fix"] is None, "there is nothing to mend"
    assert "virtual GPU" in by_name["GPU"]["matters"]
    assert "no GPU" in report["verdict"]


def test_json_is_one_object_with_every_check() -> None:
    result = run("--json")
    report = json.loads(result.stdout)
    assert set(report) == {"flashpath", "ok", "verdict", "checks"}
    assert report["ok"] == (result.exit_code == 0)
    names = [question.name for questions in checks.GROUPS.values() for question in questions]
    assert [check["name"] for check in report["checks"]] == names
    for check in report["checks"]:
        assert set(check) == {"group", "name", "status", "found", "matters", "required", "fix"}
        assert check["status"] in ("ok", "warn", "missing")
        assert check["group"] in checks.GROUPS
        assert isinstance(check["required"], bool)
        assert check["fix"] is None or isinstance(check["fix"], str)
        assert check["found"]
        assert check["matters"]
        assert "check itself failed" not in check["found"]


def test_table_is_plain_and_not_wrapped_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with_gpus(monkeypatch, H200)
    result = run()
    assert "\x1b" not in result.stdout
    lines = result.stdout.splitlines()
    assert any(line.endswith(gpu.describe(H200)) for line in lines)
    assert all(line == line.rstrip() for line in lines)
    for title in checks.GROUPS:
        assert f"\n{title}\n" in f"\n{result.stdout}"
    assert result.stdout.rstrip().splitlines()[-1].startswith(("Ready", "Not ready"))


def test_help_shows_an_example() -> None:
    assert "flashpath doctor --json" in CliRunner().invoke(app, ["doctor", "--help"]).stdout


def test_a_crashing_check_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash() -> Answer:
        raise OSError("the disk is on fire")

    groups(
        monkeypatch,
        Question("Fragile", "cli.doctor.git-matters", crash),
        Question("Sound", "cli.doctor.git-matters", lambda: ok("yes")),
    )
    result = run()
    assert result.exit_code == 0
    assert result.exception is None
    assert "warn" in result.stdout
    assert "OSError: the disk is on fire" in result.stdout
    assert "Sound" in result.stdout


@pytest.mark.parametrize("answer", [missing("gone", "bring it back"), warn("too old", "renew it")])
def test_a_required_failure_exits_1_and_names_the_fix(
    monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    groups(monkeypatch, Question("Thing", "cli.doctor.git-matters", lambda: answer, required=True))
    result = run()
    assert result.exit_code == 1
    assert answer.fix is not None
    assert f"\n  {answer.fix}\n" in result.stdout
    assert "Not ready: Thing" in result.stdout
    result = run("--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False


def test_an_optional_failure_exits_0(monkeypatch: pytest.MonkeyPatch) -> None:
    groups(monkeypatch, Question("Thing", "cli.doctor.git-matters", lambda: missing("gone", "bring it back")))
    assert run().exit_code == 0


def test_a_long_fix_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "pip install " + " ".join(f"'package-{i}[extra]'" for i in range(20))
    groups(monkeypatch, Question("Thing", "cli.doctor.git-matters", lambda: missing("gone", command)))
    assert f"  {command}\n" in run().stdout


# ── single checks ────────────────────────────────────────────────────────────────────────────────────


def test_missing_nvcc_names_the_pip_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "nvcc")
    result = run()
    assert result.exit_code == 0
    assert "pip install 'flashpath[nvcc]'" in result.stdout


def test_programs_are_found_in_cuda_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "ncu"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'NVIDIA (R) Nsight Compute'\necho 'Version 2025.3.1.0 (build 1)'\n")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find.program("ncu") is None, "it is not executable yet"
    tool.chmod(0o755)
    assert find.program("ncu") == tool
    monkeypatch.setenv("PATH", os.defpath)
    assert find.program_version(tool) == "2025.3.1.0"


def test_a_hanging_program_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "git"
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setattr(find, "program", always(tool))
    monkeypatch.setattr(find, "TIMEOUT_S", 0.2)
    groups(monkeypatch, Question("git", "cli.doctor.git-matters", tools.git))
    result = run()
    assert result.exit_code == 0
    assert "TimeoutExpired" in result.stdout


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "sudo apt-get install -y g++"),
        ("dnf", "sudo dnf install -y gcc-c++"),
        ("pacman", "sudo pacman -S --noconfirm gcc"),
    ],
)
def test_system_fixes_speak_this_machines_language(
    monkeypatch: pytest.MonkeyPatch, manager: str, command: str
) -> None:
    lacking(monkeypatch, "host_compiler")
    managers(monkeypatch, manager)
    assert compilers.host_compiler().fix == command


def test_xcode_is_for_macs(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "host_compiler")
    managers(monkeypatch)
    monkeypatch.setattr(compilers.sys, "platform", "linux")
    assert "xcode" not in (compilers.host_compiler().fix or "")
    monkeypatch.setattr(compilers.sys, "platform", "darwin")
    assert compilers.host_compiler().fix == "xcode-select --install"


def test_a_bare_cxx_is_no_host_compiler_for_nvcc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "c++").write_text("#!/bin/sh\necho c++ 1.0\n")
    (tmp_path / "c++").chmod(0o755)
    for name in ("CXX", "NVCC_CCBIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    toolkit.host_compiler.cache_clear()
    assert compilers.host_compiler().status == "missing"
    (tmp_path / "c++").rename(tmp_path / "g++")
    assert compilers.host_compiler().status == "ok"
    toolkit.host_compiler.cache_clear()


def test_the_compilers_are_the_jits_own() -> None:
    assert str(toolkit.headers().folders[0]) in compilers.cuda_headers().found
    path = toolkit.disassembler()
    assert tools.disassembler().found.endswith(str(path)) == (path is not None)


def test_a_missing_profiler_is_worth_a_fix_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, H200)
    without_programs(monkeypatch, "ncu")
    managers(monkeypatch, "apt-get")
    monkeypatch.setattr(fixes, "NVIDIA_REPOSITORIES", ())
    assert tools.ncu().fix == "sudo apt-get install -y nsight-compute"


def test_locked_counters_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_gpus(monkeypatch, H200)
    parameters = tmp_path / "params"
    parameters.write_text("RmProfilingAdminOnly: 1\n")
    monkeypatch.setattr(tools, "DRIVER_PARAMETERS", parameters)
    monkeypatch.setattr(tools.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(find, "program", Path)
    monkeypatch.setattr(find, "program_version", always("1.0"))
    answer = tools.ncu()
    assert answer.status == "warn"
    assert answer.fix is not None
    assert "NVreg_RestrictProfilingToAdminUsers=0" in answer.fix
    parameters.write_text("RmProfilingAdminOnly: 0\n")
    assert tools.ncu().status == "ok"


class FakeDriver:
    """As cuda.bindings.driver answers, with its own enumerations, for a machine with one GPU."""

    def __init__(self) -> None:
        real: Any = pytest.importorskip("cuda.bindings.driver")
        self.CUresult = real.CUresult
        self.CUdevice_attribute = real.CUdevice_attribute
        self.init = real.CUresult.CUDA_SUCCESS

    def cuDriverGetVersion(self) -> tuple[Any, int]:
        return self.CUresult.CUDA_SUCCESS, 13000

    def cuInit(self, flags: int) -> tuple[Any]:
        return (self.init,)

    def cuDeviceGetCount(self) -> tuple[Any, int]:
        return self.CUresult.CUDA_SUCCESS, 1

    def cuDeviceGet(self, ordinal: int) -> tuple[Any, int]:
        return self.CUresult.CUDA_SUCCESS, ordinal

    def cuDeviceGetName(self, length: int, device: int) -> tuple[Any, bytes]:
        return self.CUresult.CUDA_SUCCESS, H200.name.encode().ljust(length, b"\0")

    def cuDeviceTotalMem(self, device: int) -> tuple[Any, int]:
        return self.CUresult.CUDA_SUCCESS, H200.memory_bytes

    def cuDeviceGetAttribute(self, kind: Any, device: int) -> tuple[Any, int]:
        values = {
            "COMPUTE_CAPABILITY_MAJOR": H200.capability[0],
            "COMPUTE_CAPABILITY_MINOR": H200.capability[1],
            "MULTIPROCESSOR_COUNT": H200.sm_count,
            "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": H200.shared_per_sm_bytes,
            "L2_CACHE_SIZE": H200.l2_bytes,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": H200.max_shared_per_block,
            "MAX_THREADS_PER_BLOCK": H200.max_threads_per_block,
            **{f"MAX_GRID_DIM_{axis}": size for axis, size in zip("XYZ", H200.max_grid, strict=True)},
            **{f"MAX_BLOCK_DIM_{axis}": size for axis, size in zip("XYZ", H200.max_block, strict=True)},
            "MEMORY_CLOCK_RATE": H200.memory_clock_khz,
            "GLOBAL_MEMORY_BUS_WIDTH": H200.memory_bus_bits,
        }
        return self.CUresult.CUDA_SUCCESS, values[kind.name.removeprefix("CU_DEVICE_ATTRIBUTE_")]


@pytest.fixture
def fake_driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    driver = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)  # pyright: ignore[reportArgumentType]
    for cached in (devices.devices, devices.driver_version):
        cached.cache_clear()
    yield driver
    for cached in (devices.devices, devices.driver_version):
        cached.cache_clear()


def test_devices_are_read_from_the_driver(fake_driver: FakeDriver) -> None:
    assert devices.driver_version() == (13, 0)
    assert devices.devices() == (H200,)


def test_a_driver_without_devices(fake_driver: FakeDriver) -> None:
    fake_driver.init = fake_driver.CUresult.CUDA_ERROR_NO_DEVICE
    assert devices.devices() == ()


def test_a_driver_that_refuses(fake_driver: FakeDriver) -> None:
    fake_driver.init = fake_driver.CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    with pytest.raises(devices.DriverError, match="MISMATCH"):
        devices.devices()


@pytest.mark.parametrize(
    ("name", "printed", "version"),
    [
        ("git", "git version 2.39.5 (Apple Git-154)", "2.39.5"),
        ("nvdisasm", "Copyright (c) 2005-2025\nCuda compilation tools, release 13.1, V13.1.80", "13.1"),
        ("cuda-gdb", "with Python 3.12\nNVIDIA (R) cuda-gdb 13.0\nBased on GNU gdb 14.2", "13.0"),
        ("tool", "hello", "version unknown"),
    ],
)
def test_versions(monkeypatch: pytest.MonkeyPatch, name: str, printed: str, version: str) -> None:
    monkeypatch.setattr(find, "output", always(printed))
    assert find.program_version(Path(name)) == version


def test_a_known_gpu_is_described_by_its_data_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, H200)
    answer = gpu.gpus()
    assert answer.status == "ok"
    for fact in (
        "NVIDIA H200",
        "compute capability 9.0",
        "132 SMs",
        "L2 60 MiB",
        "GB/s",
        "TFLOP/s",
        "256 KiB",
    ):
        assert fact in answer.found


def test_an_unknown_gpu_is_described_by_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = dataclasses.replace(H200, name="NVIDIA X9999", capability=(42, 0))
    with_gpus(monkeypatch, unknown)
    found = gpu.gpus().found
    assert "about 4917 GB/s" in found
    assert "shared memory 228 KiB per SM" in found


def test_an_old_gpu_and_an_old_driver_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, dataclasses.replace(H200, name="Tesla V100", capability=(7, 0)), cuda=(12, 4))
    without_programs(monkeypatch, "nvidia-smi")
    managers(monkeypatch, "dnf")
    assert gpu.gpus().status == "warn"
    answer = gpu.driver()
    assert (answer.status, answer.fix) == ("warn", "sudo dnf install -y nvidia-open")


def test_a_gpu_without_driver_is_worth_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, cuda=None)
    monkeypatch.setattr(find, "nvidia_hardware", lambda: True)
    managers(monkeypatch, "apt-get")
    answer = gpu.driver()
    assert answer.status == "missing"
    assert answer.fix is not None
    assert "nvidia-driver" in answer.fix


def test_nvidia_hardware_is_read_from_the_pci_bus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(find, "PCI_DEVICES", tmp_path)
    assert not find.nvidia_hardware()
    for slot, vendor, kind in (("0", "0x8086", "0x030000"), ("1", "0x10de", "0x040300")):
        (tmp_path / slot).mkdir()
        (tmp_path / slot / "vendor").write_text(f"{vendor}\n")
        (tmp_path / slot / "class").write_text(f"{kind}\n")
    assert not find.nvidia_hardware(), "another maker's GPU and an NVIDIA sound device"
    (tmp_path / "1" / "class").write_text("0x030200\n")
    assert find.nvidia_hardware()


def test_hidden_gpus_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpu.gpus().fix == "unset CUDA_VISIBLE_DEVICES"


def test_a_driver_in_trouble_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> tuple[CudaDevice, ...]:
        raise devices.DriverError("jit.driver-refuses", status="CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")

    with_gpus(monkeypatch)
    monkeypatch.setattr(devices, "devices", refuse)
    assert devices.count() == 0
    assert gpu.driver().status == "warn"
    assert gpu.gpus().status == "missing"


@pytest.mark.parametrize(
    ("version", "cuda", "gpu_here", "status"),
    [
        ("2.13.0+cpu", None, False, "ok"),
        ("2.13.0+cpu", None, True, "warn"),
        ("2.13.0", "13.0", True, "ok"),
        ("2.4.1", "12.4", True, "warn"),
        (None, None, False, "missing"),
    ],
)
def test_torch(
    monkeypatch: pytest.MonkeyPatch, version: str | None, cuda: str | None, gpu_here: bool, status: str
) -> None:
    with_gpus(monkeypatch, *([H200] if gpu_here else []))
    monkeypatch.setattr(find, "distribution", always(version))
    monkeypatch.setattr(python, "torch_cuda", lambda: cuda)
    answer = python.torch()
    assert answer.status == status
    assert (answer.fix is None) == (status == "ok")


def test_torch_cuda_is_read_without_importing_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(find, "package_folder", always(tmp_path))
    (tmp_path / "version.py").write_text("from typing import Optional\ncuda: Optional[str] = '13.0'\n")
    assert python.torch_cuda() == "13.0"
    (tmp_path / "version.py").write_text("cuda = None\n")
    assert python.torch_cuda() is None


def test_the_command_imports_no_torch() -> None:
    code = (
        "import sys; from flashpath.cli.doctor.checks import run_checks; run_checks();"
        "sys.exit('torch' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=120)


def test_flash_attn_is_offered_where_it_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "distribution", always(None))
    monkeypatch.setattr(python, "torch_cuda", lambda: "13.0")
    with_gpus(monkeypatch, H200)
    assert python.flash_attn().fix == "pip install flash-attn --no-build-isolation"
    with_gpus(monkeypatch)
    assert python.flash_attn().fix is None


def raising(error: Exception) -> Callable[[], Any]:
    def call() -> Any:
        raise error

    return call


def test_engine_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    not_built = raising(host.EngineNotBuilt(ImportError("no _engine")))
    monkeypatch.setattr(host, "vector_extensions", not_built)
    monkeypatch.setattr(host, "amx", not_built)
    monkeypatch.setattr(host, "advertises_amx", lambda: True)
    answer = machine.engine()
    assert answer.status == "missing"
    assert answer.fix is not None
    assert answer.fix.startswith("pip install ")
    assert machine.vector_extensions().status == "missing"
    monkeypatch.setenv(host.ONEDNN_LIMIT, "")
    assert machine.amx().status == "warn"
    monkeypatch.setenv(host.ONEDNN_LIMIT, host.ONEDNN_BELOW_AMX)
    assert machine.amx().status == "ok"


@pytest.mark.parametrize(
    ("limit", "status"), [(None, "warn"), ("ALL", "warn"), ("AVX512_CORE_BF16", "ok"), ("AVX2", "ok")]
)
def test_trapping_amx_needs_a_limit(monkeypatch: pytest.MonkeyPatch, limit: str | None, status: str) -> None:
    monkeypatch.setattr(host, "amx", lambda: "traps")
    monkeypatch.setenv(host.ONEDNN_LIMIT, limit or "")
    answer = machine.amx()
    assert answer.status == status
    assert answer.fix == (None if status == "ok" else "export ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16")


def test_a_full_disk_is_warned_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASHPATH_CACHE_DIR", str(tmp_path / "not" / "yet"))
    assert machine.disk().status == "ok"
    monkeypatch.setattr(machine, "MIN_FREE_BYTES", 10**18)
    answer = machine.disk()
    assert answer.status == "warn"
    assert answer.fix is not None
    assert "FLASHPATH_CACHE_DIR" in answer.fix


def test_environment_lists_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "virtual")
    assert "FLASHPATH_DEVICE=virtual" in machine.environment().found
    monkeypatch.setenv("FLASHPATH_CACHE_LIMIT_MB", "plenty")
    answer = machine.environment()
    assert (answer.status, answer.fix) == ("warn", "unset FLASHPATH_CACHE_LIMIT_MB")
    monkeypatch.setenv("FLASHPATH_DEVICE", "H2OO")
    answer = machine.environment()
    assert (answer.status, answer.fix) == ("warn", "unset FLASHPATH_CACHE_LIMIT_MB FLASHPATH_DEVICE")
    assert "FLASHPATH_DEVICE=H2OO" in answer.found
    monkeypatch.delenv("FLASHPATH_CACHE_LIMIT_MB")
    assert machine.environment().fix == "unset FLASHPATH_DEVICE"
