"""This machine: the engine, the processor, the disk and the settings in force."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import flashpath.errors
from flashpath import settings
from flashpath.cli.doctor import fixes
from flashpath.cli.doctor.check import Answer, missing, ok, warn
from flashpath.jit import device as devices
from flashpath.messages import Message, say, told
from flashpath.vgpu import host

MIN_FREE_BYTES = 10**9


def engine() -> Answer:
    try:
        host.vector_extensions()
    except host.EngineNotBuilt as error:
        checkout = Path(flashpath.errors.__file__).parents[2]
        if (checkout / "CMakeLists.txt").is_file():
            return missing(error.problem, fixes.pip("-e", str(checkout)))
        return missing(error.problem, fixes.pip("--force-reinstall", "--no-deps", "flashpath"))
    return ok(say("cli.doctor.built"))


def vector_extensions() -> Answer:
    try:
        found = host.vector_extensions()
    except host.EngineNotBuilt:
        return missing(say("cli.doctor.vector-unknown"))
    present = [name for name, there in found.items() if there]
    return ok(" ".join(present)) if present else warn(say("cli.doctor.vector-none"))


def amx() -> Answer:
    try:
        verdict = host.amx()
    except host.EngineNotBuilt:
        if not host.advertises_amx():
            return ok(say("cli.doctor.amx-absent"))
        state = say("cli.doctor.amx-untried")
    else:
        if verdict != "traps":
            return ok(say("cli.doctor.amx-works") if verdict == "works" else say("cli.doctor.amx-absent"))
        state = say("cli.doctor.amx-traps")
    if _torch_may_use_amx():
        return warn(f"{state}{_limit()}", f"export {host.ONEDNN_LIMIT}={host.ONEDNN_BELOW_AMX}")
    return ok(say("cli.doctor.amx-avoided", state=state) + _limit())


def disk() -> Answer:
    cache = settings.cache_dir()
    folder = cache
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    found = say("cli.doctor.disk", gb=free / 1e9, folder=cache)
    elsewhere = f"export {settings.CACHE_DIR.name}=/path/on/another/disk"
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return warn(say("cli.doctor.disk-locked", folder=cache), elsewhere)
    return ok(found) if free >= MIN_FREE_BYTES else warn(found, elsewhere)


def sandbox() -> Answer:
    from flashpath.course.sandbox.enforcement import MEANING, enforced

    held = enforced()
    if not held:
        return warn(say("cli.doctor.sandbox-none"))
    lacking = [
        told("cli.doctor.sandbox-part", part=part, meaning=Message(code))
        for part, code in MEANING.items()
        if part not in held
    ]
    found = " ".join(held)
    return warn(say("cli.doctor.sandbox-lacks", held=found, lacking=lacking)) if lacking else ok(found)


def environment() -> Answer:
    in_force = [f"{variable.name}={variable.value}" for variable in settings.VARIABLES if variable.value]
    wrong: dict[str, str] = {}
    for variable, read in (
        (settings.CACHE_LIMIT_MB, settings.cache_limit_bytes),
        (settings.DEVICE, devices.default_arch),
    ):
        try:
            read()
        except flashpath.errors.FlashpathError as error:
            wrong[variable.name] = f"{variable.name}={variable.value}: {error.problem}"
    if wrong:
        return warn(
            "\n".join(wrong.values()),
            f"unset {' '.join(wrong)}",
            matters=say("cli.doctor.environment-stops"),
        )
    return ok("\n".join(in_force) or say("cli.doctor.environment-none"))


def _torch_may_use_amx() -> bool:
    limit = os.environ.get(host.ONEDNN_LIMIT, "").upper()
    return limit in ("", "ALL", "DEFAULT") or "AMX" in limit


def _limit() -> str:
    limit = os.environ.get(host.ONEDNN_LIMIT)
    return f" ({host.ONEDNN_LIMIT}={limit})" if limit else ""
