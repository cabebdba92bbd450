# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""The driver as Triton and its users see it: switched on and off, nested, by architecture and by GPU."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import driver as triton_drivers
from triton.tools.tensor_descriptor import TensorDescriptor

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.vgpu.cubin import read_resources

CUOBJDUMP = triton.__path__[0] + "/backends/nvidia/bin/cuobjdump"


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x * 2, mask=i < n)


def doubled(n=5):
    x = torch.arange(n, dtype=torch.float32)
    double[(1,)](x, n, BLOCK=32)
    return torch.equal(x, torch.arange(n) * 2.0)


def test_contexts_nest_and_give_back_the_driver_that_was_there():
    before = triton_drivers._active
    with fp.vgpu.triton() as outer:
        assert triton_drivers.active is outer.driver
        assert doubled()
        with fp.vgpu.triton("sm_89") as inner:
            assert triton_drivers.active is inner.driver
            assert triton_drivers.active.get_current_target().arch == 89
            assert doubled()
        assert triton_drivers.active is outer.driver
        with outer:  # the same one again
            assert doubled()
        assert triton_drivers.active is outer.driver
        assert doubled()
    assert triton_drivers._active is before


def test_an_exception_inside_gives_the_driver_back_too():
    before = triton_drivers._active
    with pytest.raises(KeyError), fp.vgpu.triton():
        raise KeyError
    assert triton_drivers._active is before


def test_numpy_arrays_are_told_how_to_become_tensors():
    with pytest.raises(FlashpathError, match=r"Argument 0 .* NumPy array") as caught:
        fp.profile(double, grid=(1,), args=(np.zeros(5, np.float32), 5), BLOCK=32)
    assert "torch.from_numpy" in caught.value.fix


def test_enable_and_disable():
    before = triton_drivers._active
    gpu = fp.vgpu.enable_triton(device="RTX 4090")
    try:
        assert gpu.gpu.name == "RTX 4090"
        assert doubled()
    finally:
        fp.vgpu.disable_triton()
    assert triton_drivers._active is before
    with pytest.raises(FlashpathError, match="enable_triton"):
        fp.vgpu.disable_triton()


@pytest.mark.parametrize(
    ("how", "gpu", "arch"),
    [
        ({}, "A100", "sm_80"),
        ({"arch": "sm_86"}, "RTX 3090", "sm_86"),
        ({"device": "rtx4090"}, "RTX 4090", "sm_89"),
        ({"device": "H200"}, "H200", "sm_90"),
        ({"device": "H200", "arch": "sm_80"}, "H200", "sm_80"),
    ],
)
def test_gpu_and_architecture_follow_from_each_other(how, gpu, arch):
    with fp.vgpu.triton(**how) as virtual:
        assert (virtual.gpu.name, virtual.arch.name) == (gpu, arch)
        assert doubled()
        compiled = double.warmup(torch.float32, 5, BLOCK=32, grid=(1,))
        assert f".target {arch}" in compiled.asm["ptx"]


def test_the_environment_names_the_gpu(monkeypatch):
    monkeypatch.setenv("FLASHPATH_DEVICE", "L4")
    virtual = fp.vgpu.triton()
    assert (virtual.gpu.name, virtual.arch.name) == ("L4", "sm_89")


def test_each_gpu_has_a_device_number_of_its_own_and_keeps_it():
    def number(**how):
        with fp.vgpu.triton(**how):
            return triton_drivers.active.get_current_device()

    numbers = [number(), number(device="H100"), number(device="H100", arch="sm_80"), number(arch="sm_86")]
    assert len(set(numbers)) == 4
    assert number() == numbers[0]
    assert min(numbers) > 1000  # no real GPU has such a number


def test_code_for_a_newer_gpu_is_refused():
    with pytest.raises(FlashpathError, match="sm_89 does not run on A100"):
        fp.vgpu.triton("sm_89", "A100")


def test_device_properties_are_those_of_the_gpu_that_is_played():
    with fp.vgpu.triton(device="RTX 4090"):
        device = triton_drivers.active.get_active_torch_device()
        assert device == torch.device("cpu")
        for number in (device.index, triton_drivers.active.get_current_device()):
            properties = triton_drivers.active.utils.get_device_properties(number)
            assert properties["multiprocessor_count"] == 128
            assert properties["max_shared_mem"] == 99 * 1024
            assert properties["max_num_regs"] == 65536
            assert properties["warpSize"] == 32


@triton.jit
def needs_many_registers(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x - tl.max(x, 0))


def test_registers_and_spills_are_those_that_ptxas_reports(gpu, tmp_path):
    """Read from the ELF file here; NVIDIA's own tool reads the same file."""
    few = double.warmup(torch.float32, 5, BLOCK=32, grid=(1,))
    many = needs_many_registers.warmup(torch.float32, BLOCK=4096, num_warps=1, maxnreg=32, grid=(1,))
    for compiled in (few, many):
        compiled._init_handles()
        file = tmp_path / "kernel.cubin"
        file.write_bytes(compiled.asm["cubin"])
        said = subprocess.run([CUOBJDUMP, "-res-usage", file], capture_output=True, text=True, check=True)
        words = dict(word.split(":") for word in said.stdout.split() if word.startswith(("REG:", "STACK:")))
        assert compiled.n_regs == int(words["REG"])
        assert compiled.n_spills == int(words["STACK"]) // 4
    assert few.n_spills == 0
    assert many.n_regs == 32
    assert many.n_spills > 0


def test_a_cubin_that_is_none_is_refused():
    with pytest.raises(FlashpathError, match="no 64-bit ELF"):
        read_resources(b"hello", "kernel")


def test_hooks_see_every_launch(gpu):
    from triton import knobs

    seen = []

    @triton.jit(launch_metadata=lambda grid, metadata, args: {"bytes": 8 * args["n"]})
    def described(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    def enter(metadata):
        seen.append(("enter", metadata.get()["name"], metadata.get()["bytes"]))

    def leave(metadata):
        seen.append(("leave", metadata.get()["name"], metadata.get()["bytes"]))

    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    try:
        described[(1,)](torch.empty(32), 32, BLOCK=32)
    finally:
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    assert seen == [("enter", "described", 256), ("leave", "described", 256)]


def test_a_compiled_kernel_runs_by_itself(gpu):
    """As the tutorial on persistent softmax calls it."""
    x = torch.ones(5)
    compiled = double.warmup(x, 5, BLOCK=32, grid=(1,))
    compiled[(1, 1, 1)](x, 5, 32)
    assert torch.equal(x, torch.full((5,), 2.0))


def test_a_cache_without_ptx_is_named(gpu, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_STORE_BINARY_ONLY", "1")

    @triton.jit
    def unseen(x_ptr):
        tl.store(x_ptr, 1.0)

    with pytest.raises(FlashpathError, match="TRITON_STORE_BINARY_ONLY"):
        unseen[(1,)](torch.empty(1))


def test_a_cooperative_launch_runs_where_its_grid_fits():
    x = torch.ones(64)
    with fp.vgpu.triton("sm_90"):
        double[(2,)](x, 64, BLOCK=32, launch_cooperative_grid=True)
        assert (x == 2).all()
        with pytest.raises(FlashpathError, match="a cooperative launch of 100000 blocks"):
            double[(100_000,)](x, 64, BLOCK=32, launch_cooperative_grid=True)


def test_blocks_of_a_cluster_share_a_program():
    x = torch.ones(5)
    with fp.vgpu.triton("sm_90"):
        double[(1,)](x, 5, BLOCK=32, num_ctas=2)
    assert x.tolist() == [2.0] * 5


def test_asking_for_the_package_loads_neither_triton_nor_torch():
    code = (
        "import sys, flashpath; assert flashpath.vgpu.__name__ == 'flashpath.vgpu'; "
        "sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_said_at_the_end_of_a_process():
    """Triton keeps kernels until the process ends; the engine's bindings must not call that a leak."""
    code = (
        "import importlib.util as u, sys; spec = u.spec_from_file_location('driver_tests', sys.argv[1]); "
        "module = u.module_from_spec(spec); sys.modules['driver_tests'] = module; "
        "spec.loader.exec_module(module); fp = module.fp\n"
        "with fp.vgpu.triton(): assert module.doubled()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, __file__], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.gpu
def test_tensors_on_a_gpu_go_there_outside_and_are_refused_inside():
    x = torch.arange(5, dtype=torch.float32, device="cuda")
    double[(1,)](x, 5, BLOCK=32)
    with fp.vgpu.triton("sm_80"):
        assert doubled()
        with pytest.raises(ValueError, match="cuda:0"):
            double[(1,)](x, 5, BLOCK=32)
    double[(1,)](x, 5, BLOCK=32)
    assert torch.equal(x.cpu(), torch.arange(5) * 4.0)


def test_memory_that_is_not_the_hosts_is_refused(gpu):
    with pytest.raises(FlashpathError, match="meta"):
        double[(1,)](torch.empty(5, device="meta"), 5, BLOCK=32)


def test_debug_shows_launches(gpu, monkeypatch, capsys):
    monkeypatch.setenv("FLASHPATH_DEBUG", "1")
    x = torch.zeros(8)
    _shown_kernel[(2,)](x, 8, BLOCK=8)
    shown = capsys.readouterr().err
    assert "[flashpath] _shown_kernel <<<(2, 1, 1), (128, 1, 1)" in shown
    assert "virtual A100>>>" in shown
    assert "*fp32: torch.float32 (8,)" in shown


def test_debug_shows_launches_of_tritons_own_driver_too(gpu, monkeypatch, capsys):
    from types import SimpleNamespace

    from flashpath.kernels.building import triton_device
    from flashpath.vgpu.triton_driver import parts

    monkeypatch.setenv("FLASHPATH_DEBUG", "1")
    launched = []
    own = SimpleNamespace(launcher_cls=lambda source, metadata: lambda *given: launched.append(given))
    monkeypatch.setattr(parts, "drivers", SimpleNamespace(active=own, _active=own))
    for _ in range(2):  # a launch is shown once, however often a rung runs
        triton_device(SimpleNamespace(is_cuda=True))
    source = SimpleNamespace(
        signature={"x": "*fp32", "d": "tensordesc<fp16[4, 8]>", "n": "i32", "BLOCK": "constexpr"}
    )
    metadata = SimpleNamespace(name="add", num_warps=4, num_ctas=1, shared=64, launch_cooperative_grid=False)
    launch = own.launcher_cls(source, metadata)
    descriptor = TensorDescriptor.from_tensor(torch.zeros(8, 16).half(), [4, 8])
    launch(3, 1, 1, 0x10, None, None, None, None, None, torch.zeros(8), descriptor, 8, 32)
    shown = capsys.readouterr().err
    assert shown.count("[flashpath]") == 1
    assert "add <<<(3, 1, 1), (128, 1, 1), 64 B, stream 0x10>>> (*fp32: torch.float32 (8,), " in shown
    assert "tensordesc<fp16[4, 8]>: torch.float16 (8, 16), i32: 8)" in shown
    assert len(launched) == 1


@pytest.mark.gpu
def test_debug_shows_launches_on_a_gpu():
    program = (
        "import torch; from flashpath import kernels\n"
        "x = torch.randn(64, 1000, device='cuda'); ladder = kernels.ladder('softmax')\n"
        "ladder.check(ladder['triton'](x), (x,))\n"
        "a = torch.randn(304, 304, device='cuda').bfloat16(); ladder = kernels.ladder('matmul')\n"
        "ladder.check(ladder['triton_persistent'](a, a), (a, a, 'ieee'))\n"
    )
    environment = {**os.environ, "FLASHPATH_DEBUG": "1"}
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "[flashpath] softmax_kernel <<<(" in ended.stderr
    assert "*fp32: torch.float32 (64, 1000)" in ended.stderr
    assert "torch.bfloat16 (304, 304)" in ended.stderr


@triton.jit
def _shown_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, 1.0, at < n)
