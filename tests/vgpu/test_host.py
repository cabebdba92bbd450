from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import flashpath.vgpu
from flashpath.errors import FlashpathError
from flashpath.vgpu import host

CPUINFO = Path("/proc/cpuinfo")
MATMUL = "import torch; a = torch.randn(256, 256).bfloat16(); print((a @ a).float().sum().item())"


def cpuinfo_flags() -> set[str]:
    """The kernel's own list: what the processor has and the kernel has not switched off."""
    for line in CPUINFO.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return set(value.split())
    return set()


def run_without_limit(code: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != host.ONEDNN_LIMIT}
    env["PYTHONPATH"] = str(Path(flashpath.vgpu.__file__).parents[2])
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(flashpath.vgpu, "_engine", raising=False)
    monkeypatch.setitem(sys.modules, "flashpath.vgpu._engine", None)


@pytest.mark.skipif(not CPUINFO.exists(), reason="the independent truth, /proc/cpuinfo, is Linux's")
def test_vector_extensions_agree_with_the_kernel() -> None:
    found = host.vector_extensions()
    assert found, "a Linux processor has vector extensions"
    flags = cpuinfo_flags()
    assert found == {name: name in flags for name in found}


@pytest.mark.skipif(not CPUINFO.exists(), reason="the independent truth, /proc/cpuinfo, is Linux's")
def test_amx_is_advertised_as_the_kernel_says() -> None:
    assert host.advertises_amx() == ("amx_bf16" in cpuinfo_flags())
    if not host.advertises_amx():
        assert host.amx() == "absent"


def test_amx_verdict_is_what_happens_to_torch() -> None:
    result = run_without_limit(MATMUL)
    died = result.returncode == -signal.SIGILL
    assert died or result.returncode == 0, result.stderr
    assert (host.amx() == "traps") == died


def test_shield_keeps_torch_alive() -> None:
    # After `import torch`, since a user may import torch first: oneDNN reads its limit at the first product.
    shield = "from flashpath.vgpu import host; host.shield_torch_from_amx(); "
    result = run_without_limit(f"import torch; {shield}{MATMUL}")
    assert result.returncode == 0, result.stderr


def test_probe_is_quick_and_leaves_no_trace_in_a_busy_process() -> None:
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    children = 0

    def count(_signal: int, _frame: object) -> None:
        nonlocal children
        children += 1

    threads = [threading.Thread(target=spin) for _ in range(4)]
    before = signal.signal(signal.SIGCHLD, count)
    handlers = [signal.getsignal(number) for number in (signal.SIGILL, signal.SIGSEGV)]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    for thread in threads:
        thread.start()
    try:
        times: list[float] = []
        for _ in range(20):
            start = time.perf_counter()
            host.amx()
            times.append(time.perf_counter() - start)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        signal.signal(signal.SIGCHLD, before)
    assert min(times) < 0.020
    assert children == 0
    assert [signal.getsignal(number) for number in (signal.SIGILL, signal.SIGSEGV)] == handlers
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask


@pytest.fixture
def advertised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu avx2 amx_bf16 amx_tile\n\nprocessor\t: 1\n")
    monkeypatch.setattr(host, "CPUINFO", cpuinfo)
    # Set, then deleted: so that what the shield writes is undone after the test.
    monkeypatch.setenv(host.ONEDNN_LIMIT, "")
    monkeypatch.delenv(host.ONEDNN_LIMIT)


def verdict(monkeypatch: pytest.MonkeyPatch, value: host.Amx) -> None:
    monkeypatch.setattr(host, "amx", lambda: value)


@pytest.mark.usefixtures("advertised")
def test_shield_limits_onednn_where_amx_traps(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict(monkeypatch, "traps")
    host.shield_torch_from_amx()
    assert os.environ[host.ONEDNN_LIMIT] == "AVX512_CORE_BF16"


@pytest.mark.usefixtures("advertised")
@pytest.mark.parametrize("value", ["works", "absent"])
def test_shield_leaves_sound_hosts_alone(monkeypatch: pytest.MonkeyPatch, value: host.Amx) -> None:
    verdict(monkeypatch, value)
    host.shield_torch_from_amx()
    assert host.ONEDNN_LIMIT not in os.environ


@pytest.mark.usefixtures("advertised")
def test_shield_does_not_override_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict(monkeypatch, "traps")
    monkeypatch.setenv(host.ONEDNN_LIMIT, "AVX2")
    host.shield_torch_from_amx()
    assert os.environ[host.ONEDNN_LIMIT] == "AVX2"


@pytest.mark.usefixtures("advertised", "without_engine")
def test_shield_assumes_the_worst_without_the_engine() -> None:
    host.shield_torch_from_amx()
    assert os.environ[host.ONEDNN_LIMIT] == "AVX512_CORE_BF16"


@pytest.mark.usefixtures("advertised")
def test_shield_is_cheap_where_there_is_no_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    host.CPUINFO.write_text("processor\t: 0\nflags\t\t: fpu avx2\n\nprocessor\t: 1\nflags\t\t: amx_bf16\n")

    def fail() -> host.Amx:
        raise AssertionError("probed a processor that advertises no AMX")

    monkeypatch.setattr(host, "amx", fail)
    times: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        host.shield_torch_from_amx()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.001
    assert host.ONEDNN_LIMIT not in os.environ


@pytest.mark.usefixtures("advertised")
def test_no_cpuinfo_means_no_shield(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "CPUINFO", tmp_path / "none")
    assert not host.advertises_amx()


@pytest.mark.usefixtures("without_engine")
def test_missing_engine_says_what_to_run() -> None:
    for call in (host.vector_extensions, host.amx):
        with pytest.raises(FlashpathError, match="not built") as caught:
            call()
        assert "pip install -e ." in str(caught.value)
        assert "compiler" in str(caught.value)
