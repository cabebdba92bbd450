"""Shared by the tests of the virtual GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from flashpath.vgpu.findings import Finding

Launch = Callable[..., list[Finding]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vgpu-seed",
        type=int,
        default=0,
        help="run every launch on the virtual GPU that names no seed under this schedule; tests that are "
        "about the plain one (marked plain_schedule) are skipped",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "plain_schedule(reason): says what only the plain schedule promises")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--vgpu-seed"):
        return
    for item in items:
        for mark in item.iter_markers("plain_schedule"):
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))


@pytest.fixture(autouse=True, scope="session")
def _schedule_of_all_launches(request: pytest.FixtureRequest) -> Iterator[None]:
    seed = request.config.getoption("--vgpu-seed")
    if not seed:
        yield
        return
    from flashpath.vgpu import launch
    from flashpath.vgpu.options import DEFAULT, Options

    run = launch.Launch.run

    def seeded(self: launch.Launch, options: Options = DEFAULT) -> launch.Launched:
        return run(self, options if options.seed else replace(options, seed=seed))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch.Launch, "run", seeded)
        yield


@pytest.fixture(scope="module")
def on_the_virtual_gpu() -> Iterator[None]:
    """Kernels without arrays would go to a GPU where there is one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLASHPATH_DEVICE", "virtual")
        yield


@pytest.fixture(scope="session")
def launch_with() -> Launch:
    """Launches a CUDA kernel with options of the virtual GPU; returns what a sanitised launch found."""
    from flashpath.gpus import shape
    from flashpath.jit import virtual
    from flashpath.vgpu.options import Options
    from flashpath.vgpu.profiles import profile_for

    def launch(
        kernel: Any,
        grid: Any,
        block: Any,
        *args: Any,
        device: str | None = None,
        shared: int = 0,
        **options: Any,
    ) -> list[Finding]:
        kernel.packer.pack(args)
        what = shape.LaunchShape(shape.dim3(grid, "grid"), shape.dim3(block, "block"), shared)
        return (
            virtual.ready(kernel, what, args, profile_for(kernel.arch, device))
            .run(Options(**options))
            .findings
        )

    return launch
