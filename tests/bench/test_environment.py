from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from flashpath.bench.environment import (
    Environment,
    cpu_model,
    git_state,
    number,
    parse_query,
    read_environment,
    run,
)


def test_nvidia_smi_line_is_parsed() -> None:
    assert parse_query("1980, 2619\n", 2) == ["1980", "2619"]


def test_what_nvidia_smi_does_not_know_is_none() -> None:
    assert parse_query("[N/A], 700.00", 2) == [None, "700.00"]
    assert parse_query("[Not Supported], [N/A]", 2) == [None, None]


@pytest.mark.parametrize("answer", [None, "", "No devices were found", "1, 2, 3"])
def test_no_answer_is_none_for_each_field(answer: str | None) -> None:
    assert parse_query(answer, 2) == [None, None]


def test_numbers() -> None:
    assert number("1980") == 1980.0
    assert number("fast") is None
    assert number(None) is None


def test_a_missing_or_failing_command_is_none() -> None:
    assert run(["no-such-program-anywhere"]) is None
    assert run(["git", "no-such-subcommand"]) is None


def test_cpu_environment_names_cpu_and_versions() -> None:
    environment = read_environment("cpu")
    assert environment.device == "cpu"
    assert environment.gpu is None
    assert environment.cpu
    assert environment.versions is not None
    assert environment.versions["python"] == platform.python_version()
    assert environment.versions["torch"]


def test_clocks_of_a_gpu_are_not_asked_for_on_the_cpu() -> None:
    environment = Environment("cpu", cpu="x")
    assert environment.with_clocks_now() == environment


def test_cpu_model_is_read_from_the_system(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Fast CPU 9000 @ 3 GHz\nflags\t: avx\n")
    assert cpu_model(cpuinfo) == "Fast CPU 9000 @ 3 GHz"
    assert cpu_model(tmp_path / "absent") == (platform.processor() or platform.machine())


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_commit_and_dirty_flag_of_a_checkout(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    package = root / "src" / "flashpath"
    package.mkdir(parents=True)
    (package / "a.py").write_text("a = 1\n")
    assert git_state(package) == (None, None)  # no checkout yet
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    commit, dirty = git_state(package)
    assert commit is not None
    assert len(commit) == 40
    assert dirty is False
    (package / "a.py").write_text("a = 2\n")
    assert git_state(package) == (commit, True)


def test_a_copy_without_its_history_is_told_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_COMMIT", "0123456789abcdef")
    assert "commit 0123456789" in read_environment("cpu").describe()


def test_a_package_installed_inside_another_checkout_has_no_commit(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    package = root / "venv" / "site-packages" / "flashpath"
    package.mkdir(parents=True)
    (package / "a.py").write_text("a = 1\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    assert git_state(package) == (None, None)


@pytest.mark.gpu
def test_gpu_environment_names_the_gpu_and_its_clocks() -> None:
    environment = read_environment("cuda")
    assert environment.gpu
    assert environment.driver
    assert environment.sm_mhz is not None
    assert environment.sm_mhz > 100
    assert environment.memory_mhz is not None
