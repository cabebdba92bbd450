"""The kernel cache: keys, damage, many processes at once, and a size that stays bounded."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.jit import KernelCache, compiler, tally
from flashpath.jit.job import Job

SOURCE = 'extern "C" __global__ void k(float* p, int n) { p[n] = VALUE; }\n'


def _compile(cache: KernelCache, **changed: Any) -> fp.Module:
    given: dict[str, Any] = {"arch": "sm_80", "defines": {"VALUE": 1}, "cache": cache, **changed}
    return fp.compile(given.pop("source", SOURCE), **given)


def _count_builds(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    builds: list[Any] = []
    builder: Any = compiler._Builder  # pyright: ignore[reportPrivateUsage]
    real: Callable[..., Any] = builder._compile

    def build(*args: Any) -> Any:
        builds.append(args)
        return real(*args)

    monkeypatch.setattr(builder, "_compile", build)
    return builds


def _leftovers(cache: KernelCache) -> list[Path]:
    return list((cache.folder / "tmp").glob("*"))


# ---- Machine code, when it is needed ------------------------------------------------------------------


def test_a_small_launch_does_not_wait_for_machine_code(cache: KernelCache) -> None:
    x = np.zeros(4, dtype=np.float32)
    lazy = _compile(cache, assemble=False)
    lazy["k"][1, 1](x, 2)
    assert x[2] == 1
    assert not lazy.is_assembled
    assert _compile(cache, assemble=False).cache_entry.key == lazy.cache_entry.key
    eager = _compile(cache)
    assert eager.is_assembled
    assert lazy.cubin == eager.cubin
    assert lazy["k"].resources == eager["k"].resources
    assert [each.key for each in cache.entries()] == [eager.cache_entry.key]  # it took the other's place
    assert _compile(cache, assemble=False).is_assembled


@pytest.mark.parametrize(
    ("grid", "block"), [(1, 512), (10_000, 32)], ids=["registers may be too many", "blocks may have to wait"]
)
def test_a_launch_that_depends_on_registers_waits_for_it(cache: KernelCache, grid: int, block: int) -> None:
    module = _compile(cache, assemble=False)
    module["k"][grid, block](np.zeros(4, dtype=np.float32), 2)
    assert module.is_assembled


def test_what_ptxas_refuses_is_told_when_machine_code_is_asked_for(cache: KernelCache) -> None:
    source = 'extern "C" __global__ void k(int* p) { asm("mov.u32 %0, %nothing;" : "=r"(*p)); }'
    module = _compile(cache, source=source, assemble=False)
    with pytest.raises(fp.FlashpathError, match="nothing"):
        module.cubin  # noqa: B018 - it is made here
    with pytest.raises(fp.FlashpathError, match="nothing"):
        _compile(cache, source=source)


# ---- Keys ----------------------------------------------------------------------------------------------


def test_the_second_time_nothing_is_compiled(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = _count_builds(monkeypatch)
    first = _compile(cache)
    second = _compile(KernelCache(cache.folder.parent))
    assert len(builds) == 1
    for what in ("source", "source_name", "arch", "ptx", "cubin", "log", "names"):
        assert getattr(first, what) == getattr(second, what), what
    assert str(second["k"].signature) == "(float*, int)"
    assert _leftovers(cache) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"source": SOURCE + " "},
        {"arch": "sm_90"},
        {"arch": "sm_90a"},
        {"defines": {"VALUE": 2}},
        {"defines": {"VALUE": 1, "OTHER": None}},
        {"options": ["--use_fast_math"]},
        {"options": ["-maxrregcount=32"]},
        {"options": ["-Xptxas=-O1"]},
        {"options": ["-G"]},
        {"options": ["-std=c++20"]},
        {"name_expressions": ["k"]},
        {"includes": [Path(__file__).parent]},
    ],
    ids=str,
)
def test_everything_that_decides_is_in_the_key(cache: KernelCache, changed: dict[str, Any]) -> None:
    usual = _compile(cache)
    assert _compile(cache, **changed).cache_entry.key != usual.cache_entry.key
    assert len(cache.entries()) == 2


@pytest.mark.parametrize("part", ["compiler", "assembler", "headers", "source_name"])
def test_versions_and_names_are_in_the_key(
    part: str, monkeypatch: pytest.MonkeyPatch, cache: KernelCache
) -> None:
    real = Job.ingredients
    usual = _compile(cache)

    def other(job: Job, digests: Mapping[str, str]) -> dict[str, Any]:
        found = real(job, digests)
        return {**found, part: ["another", found[part]]}

    monkeypatch.setattr(Job, "ingredients", other)
    assert _compile(cache).cache_entry.key != usual.cache_entry.key


def test_keys_do_not_depend_on_the_order_of_ingredients() -> None:
    assert KernelCache.key({"a": 1, "b": {"x": 1, "y": 2}}) == KernelCache.key(
        {"b": {"y": 2, "x": 1}, "a": 1}
    )
    assert KernelCache.key({"a": ["xy"]}) != KernelCache.key({"a": ["x", "y"]})


# ---- Damage --------------------------------------------------------------------------------------------


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _lose(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [_flip, _truncate, _empty, _lose])
@pytest.mark.parametrize("name", ["build.json", "source.cu", "kernel.ptx", "kernel.cubin", "compiler.log"])
def test_a_damaged_entry_is_rebuilt(name: str, damage: Callable[[Path], None], cache: KernelCache) -> None:
    good = _compile(cache)
    place = cache.find(good.cache_entry.key)
    damage(place / name)
    with pytest.warns(UserWarning, match="A damaged kernel-cache entry is dropped and rebuilt"):
        again = _compile(cache)
    assert (again.ptx, again.cubin) == (good.ptx, good.cubin)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _compile(cache).cubin == good.cubin
    assert _leftovers(cache) == []


def _lose_a_parameter(build: Any) -> None:
    build["kernels"][0]["parameters"].pop()


def _rename_the_kernel(build: Any) -> None:
    build["kernels"][0]["name"] = "other"


def _lose_a_digest(build: Any) -> None:
    del build["digests"]["kernel.cubin"]


def _lose_the_kernels(build: Any) -> None:
    del build["kernels"]


def _lose_the_seal(build: Any) -> None:
    del build["seal"]


@pytest.mark.parametrize(
    "change", [_lose_a_parameter, _rename_the_kernel, _lose_a_digest, _lose_the_kernels, _lose_the_seal]
)
def test_a_changed_build_json_is_noticed(cache: KernelCache, change: Callable[[Any], None]) -> None:
    good = _compile(cache)
    path = cache.find(good.cache_entry.key) / "build.json"
    build = json.loads(path.read_text())
    change(build)
    path.write_text(json.dumps(build))
    with pytest.warns(UserWarning, match="damaged"):
        assert _compile(cache).names == good.names


def test_an_entry_under_another_key_is_noticed(cache: KernelCache) -> None:
    good = _compile(cache)
    key = "0" * 64
    place = cache.folder / "00" / key
    place.parent.mkdir(exist_ok=True)
    cache.find(good.cache_entry.key).rename(place)
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.load(key) is None


@pytest.mark.parametrize("text", ["[]", "null", "3", '"x"', "{}"])
def test_any_json_but_ours_is_damage(cache: KernelCache, text: str) -> None:
    good = _compile(cache)
    (cache.find(good.cache_entry.key) / "build.json").write_text(text)
    assert cache.entries() == []
    with pytest.warns(UserWarning, match="damaged"):
        assert cache.load(good.cache_entry.key) is None


# ---- Many processes ------------------------------------------------------------------------------------


_AT_ONCE = """
import hashlib, sys, time, warnings
from pathlib import Path
from flashpath.jit import KernelCache
import flashpath as fp

warnings.simplefilter("error")
Path(sys.argv[1], f"ready-{sys.argv[2]}").touch()
while not Path(sys.argv[1], "go").exists():
    time.sleep(0.001)
for value in (1, 2):
    module = fp.compile(sys.argv[3], "sm_80", {"VALUE": value}, cache=KernelCache(Path(sys.argv[1])))
    print(hashlib.sha256(module.cubin).hexdigest())
"""


def test_many_processes_at_once(cache: KernelCache) -> None:
    folder = cache.folder.parent
    folder.mkdir()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _AT_ONCE, str(folder), str(number), SOURCE],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(6)
    ]
    deadline = time.time() + 60
    while len(list(folder.glob("ready-*"))) < len(workers) and time.time() < deadline:
        time.sleep(0.01)
    (folder / "go").touch()
    told = [worker.communicate(timeout=60) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 6, told
    expected = [
        hashlib.sha256(_compile(cache, defines={"VALUE": value}).cubin).hexdigest() for value in (1, 2)
    ]
    assert [output.split() for output, _ in told] == [expected] * 6
    assert len(cache.entries()) == 2
    assert _leftovers(cache) == []


_KILLED = """
import os, signal, sys
from pathlib import Path
from flashpath.jit import KernelCache, cache
import flashpath as fp

written = 0
real = cache._write_new

def write(path, data):
    global written
    if written == int(sys.argv[2]):
        path.write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    written += 1
    real(path, data)

cache._write_new = write
fp.compile(sys.argv[3], "sm_80", {"VALUE": 1}, cache=KernelCache(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("files_written", [0, 2, 4])
def test_a_process_killed_half_way_leaves_no_entry(cache: KernelCache, files_written: int) -> None:
    command = [sys.executable, "-c", _KILLED, str(cache.folder.parent), str(files_written), SOURCE]
    done = subprocess.run(command, check=False)
    assert done.returncode == -signal.SIGKILL
    assert cache.entries() == []
    (leftover,) = _leftovers(cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _compile(cache)
    assert len(cache.entries()) == 1
    assert leftover.exists()  # young: its process may still be writing
    old = time.time() - 7200
    os.utime(leftover, (old, old))
    _compile(cache, defines={"VALUE": 2})
    assert _leftovers(cache) == []


def test_an_entry_that_another_process_stored_first_is_kept(cache: KernelCache) -> None:
    cache.store("ab" * 32, {"n": 1}, {"file": b"first"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.store("ab" * 32, {"n": 1}, {"file": b"first"})
    assert _leftovers(cache) == []
    found = cache.load("ab" * 32)
    assert found is not None
    assert found.files == {"file": b"first"}


# ---- Size ----------------------------------------------------------------------------------------------


def _store(cache: KernelCache, letter: str, used: float, size: int = 10_000) -> None:
    cache.store(letter * 64, {"source": letter, "arch": "", "kernels": [], "built": 0.0}, {"f": b"x" * size})
    os.utime(cache.find(letter), (used, used))


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit_bytes=35_000)
    now = time.time()
    for age, letter in enumerate("cba"):
        _store(cache, letter, now - 100 + age)
    assert [summary.source for summary in cache.entries()] == ["a", "b", "c"]
    assert cache.load("c" * 64) is not None  # used now: no longer the oldest
    _store(cache, "d", now + 1)
    assert {summary.source for summary in cache.entries()} == {"a", "c", "d"}
    assert sum(summary.bytes for summary in cache.entries()) <= 35_000


def test_what_was_just_stored_stays_however_large(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit_bytes=15_000)
    _store(cache, "a", time.time() - 5)
    _store(cache, "b", time.time(), size=50_000)
    assert [summary.source for summary in cache.entries()] == ["b"]


def _count_looks(monkeypatch: pytest.MonkeyPatch) -> list[KernelCache]:
    looks: list[KernelCache] = []
    real: Callable[..., Any] = KernelCache._folders  # pyright: ignore[reportPrivateUsage]

    def look(cache: KernelCache) -> Any:
        looks.append(cache)
        return real(cache)

    monkeypatch.setattr(KernelCache, "_folders", look)
    return looks


def _store_many(cache: KernelCache, count: int, size: int = 1000) -> None:
    for number in range(count):
        key = hashlib.sha256(f"{count} {number}".encode()).hexdigest()
        cache.store(key, {"source": key}, {"f": b"x" * size})


def test_a_store_does_not_look_at_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = _count_looks(monkeypatch)
    _store_many(KernelCache(tmp_path), 50)
    assert len(looks) == 1  # the first one: what an older version kept counts too
    _store_many(KernelCache(tmp_path), 49)  # as another process does
    assert len(looks) == 1


def test_a_full_cache_is_not_looked_at_by_every_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _count_looks(monkeypatch)
    cache = KernelCache(tmp_path, limit_bytes=100_000)
    _store_many(cache, 400)  # four times what it may hold
    assert len(looks) < 60
    assert sum(file.stat().st_size for file in cache.folder.glob("??/*/*")) <= 100_000


def test_what_is_kept_from_before_counts(tmp_path: Path) -> None:
    _store(KernelCache(tmp_path), "a", time.time() - 5)
    (tmp_path / "kernels" / "sizes").unlink()  # an older version wrote none
    cache = KernelCache(tmp_path, limit_bytes=15_000)
    _store(cache, "b", time.time())
    assert [summary.source for summary in cache.entries()] == ["b"]


@pytest.mark.parametrize("data", [b"half", bytes(8 * tally.MOST_SIZES)], ids=["damaged", "grown"])
def test_sizes_that_say_nothing_are_counted_again(tmp_path: Path, data: bytes) -> None:
    cache = KernelCache(tmp_path)
    _store(cache, "a", time.time())
    sizes = cache.folder / "sizes"
    sizes.write_bytes(data)
    _store(cache, "b", time.time())
    total = sum(each.bytes for each in cache.entries())
    assert sizes.read_bytes() == total.to_bytes(8, "little")


def test_many_processes_add_up(tmp_path: Path) -> None:
    file = tmp_path / "sizes"
    tally.Tally(file).restart(5)
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_add, [file] * 400))
    assert tally.Tally(file).add(0) == 405


def _add(file: Path) -> int | None:
    return tally.Tally(file).add(1)


def test_the_limit_comes_from_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_CACHE_LIMIT_MB", "0.5")
    monkeypatch.setenv("FLASHPATH_CACHE_DIR", str(tmp_path / "elsewhere"))
    cache = KernelCache()
    assert cache.limit_bytes == 2**19
    assert cache.folder == tmp_path / "elsewhere" / "kernels"


# ---- Folders that cannot be written --------------------------------------------------------------------


def test_a_cache_that_cannot_be_written_costs_a_warning_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = KernelCache(tmp_path / "file")
    with (
        pytest.warns(UserWarning, match="cannot be read"),
        pytest.warns(UserWarning, match=r"cannot be written .* Set FLASHPATH_CACHE_DIR to a folder you can"),
    ):
        module = _compile(cache)
    assert str(module["k"].signature) == "(float*, int)"
    assert cache.entries() == []


def test_a_damaged_entry_that_cannot_be_removed_is_still_rebuilt(
    cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = _compile(cache)
    _flip(cache.find(good.cache_entry.key) / "kernel.cubin")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.warns(UserWarning, match="damaged"):
        assert _compile(cache).cubin == good.cubin


# ---- Looking after it ----------------------------------------------------------------------------------


def test_find_clear_and_list(cache: KernelCache) -> None:
    module = _compile(cache)
    key = module.cache_entry.key
    assert cache.find(key[:6]) == cache.find(key) == cache.folder / key[:2] / key
    (summary,) = cache.entries()
    assert (summary.key, summary.source, summary.arch, summary.kernels) == (key, "source.cu", "sm_80", ("k",))
    assert summary.bytes == sum(file.stat().st_size for file in cache.find(key).iterdir())
    for wanted in ("", "zz"):
        with pytest.raises(fp.FlashpathError, match=f"No cache entry starts with '{wanted}'"):
            cache.find(wanted)
    shutil.copytree(cache.find(key), cache.folder / key[:2] / (key[:10] + "0" * 54))
    with pytest.raises(fp.FlashpathError, match=f"2 cache entries start with '{key[:8]}'"):
        cache.find(key[:8])
    assert cache.clear() == (2, 2 * summary.bytes)
    assert cache.entries() == []
    assert cache.clear() == (0, 0)
