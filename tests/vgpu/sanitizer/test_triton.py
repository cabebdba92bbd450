# type: ignore - launches of device code, which is Python in syntax only
"""Triton kernels, sanitised: correct ones under twenty schedules, and some with a bug."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import flashpath as fp

triton = pytest.importorskip("triton")

import triton_kernels as kernels  # noqa: E402 - only where there is Triton

SCHEDULES = 20


def clean(kernel, grid, *args, **options):
    findings = fp.sanitize(kernel, grid, args=args, seeds=SCHEDULES, **options)
    assert findings == [], list(map(str, findings))


def close(found, wanted, tolerance):
    assert not found.isnan().any()
    assert (found.double() - wanted).abs().max() <= tolerance * wanted.abs().max()


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_vector_add():
    x, y, z = torch.randn(1000), torch.randn(1000), torch.full((1000,), torch.nan)
    clean(kernels.vector_add, (4,), x, y, z, 1000, BLOCK=256)
    assert torch.equal(z, x + y)


def test_softmax():
    x, y = torch.randn(3, 100), torch.full((3, 100), torch.nan)
    clean(kernels.softmax, (3,), x, y, 100, BLOCK=128)
    close(y, torch.softmax(x.double(), 1), 1e-5)


def test_layer_norm():
    x, y, weight, bias = (
        torch.randn(3, 100),
        torch.full((3, 100), torch.nan),
        torch.randn(100),
        torch.randn(100),
    )
    clean(kernels.layer_norm, (3,), x, weight, bias, y, 100, 1e-5, BLOCK=128)
    wanted = torch.nn.functional.layer_norm(x.double(), (100,), weight.double(), bias.double())
    close(y, wanted, 1e-5)


@pytest.mark.parametrize("stages", [1, 3])
def test_matmul(stages):
    a, b, c = torch.randn(64, 80).half(), torch.randn(80, 64).half(), torch.full((64, 64), torch.nan)
    tiles = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16}
    clean(kernels.matmul, (2, 2), a, b, c, 64, 64, 80, **tiles, num_stages=stages)
    close(c, a.double() @ b.double(), 1e-5)


def test_flash_attention():
    q, k, v, o = (torch.randn(64, 32).half() for _ in range(4))
    o = torch.full((64, 32), torch.nan)
    clean(kernels.flash_attention, (2,), q, k, v, o, 64, 0.2, BLOCK_M=32, BLOCK_N=32, D=32)
    close(o, torch.softmax(q.double() @ k.double().T * 0.2, 1) @ v.double(), 2e-3)


def test_histogram():
    keys, counts = torch.randint(0, 16, (500,), dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    clean(kernels.histogram, (4,), keys, counts, 500, BLOCK=128)
    assert counts.tolist() == np.bincount(keys.numpy(), minlength=16).tolist()


def test_prefix_sums():
    x, y = torch.randint(0, 9, (128,), dtype=torch.int32), torch.zeros(128, dtype=torch.int32)
    clean(kernels.prefix_sums, (1,), x, y, BLOCK=128)
    assert torch.equal(y, torch.cumsum(x, 0).int())


def test_split_k_under_a_lock():
    a, b, c = torch.randn(32, 128).half(), torch.randn(128, 32).half(), torch.zeros(32, 32)
    clean(kernels.split_k, (4,), a, b, c, torch.zeros(1, dtype=torch.int32), 128, SPLITS=4, BLOCK=32)
    close(c, a.double() @ b.double(), 1e-5)


def test_split_k_with_atomics():
    a, b, c = torch.randn(32, 128).half(), torch.randn(128, 32).half(), torch.zeros(32, 32)
    clean(kernels.split_k_atomics, (4,), a, b, c, 128, SPLITS=4, BLOCK=32)
    close(c, a.double() @ b.double(), 1e-5)


# ---- With a bug ----------------------------------------------------------------------------------------


def marked(kernel):
    """The kind, the line that is marked, and the partner's; the file is the one of the kernel."""
    lines = Path(kernels.__file__).read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"def {kernel}("))
    own = range(
        start + 1, next((k for k in range(start + 1, len(lines)) if lines[k].startswith("@")), len(lines))
    )
    (bug,) = [k for k in own if "# BUG" in lines[k]]
    partner = next((k for k in own if lines[k].endswith("# WITH")), bug)
    return re.search(r"# BUG: ([\w-]+)", lines[bug])[1], bug + 1, partner + 1


@pytest.mark.parametrize(
    ("name", "grid", "args", "options"),
    [
        ("mask_forgotten", 2, lambda: (torch.ones(200), torch.zeros(200), 200), {"BLOCK": 128}),
        ("sum_without_atomics", 4, lambda: (torch.ones(512), torch.zeros(1)), {"BLOCK": 128}),
        ("neighbour_in_place", 1, lambda: (torch.zeros(512),), {"BLOCK": 256}),
    ],
)
def test_planted(name, grid, args, options):
    kind, line, partner = marked(name)
    findings = fp.sanitize(getattr(kernels, name), grid, args=args(), **options)
    assert {finding.kind for finding in findings} == {kind}
    places = [{each.line, each.other.line if each.other else each.line} for each in findings]
    assert {line, partner} in places


def test_numpy_arrays_are_refused():
    with pytest.raises(fp.FlashpathError, match="NumPy array"):
        fp.sanitize(kernels.vector_add, 1, args=(np.zeros(4), np.zeros(4), np.zeros(4), 4), BLOCK=64)
    with pytest.raises(fp.FlashpathError, match="Triton kernel"):
        fp.sanitize(kernels.vector_add, 1, 32, args=(), BLOCK=64)
