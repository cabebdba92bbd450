"""Every way in which a kernel can load is counted by the goals that count loads, or is no way at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashpath.course.content import load_course
from flashpath.course.grader import Grade, grade

COURSE = Path(__file__).parents[3] / "course"

# A product that loads every element again, far more often than tiles do. get() is how.
KERNEL = """
__device__ float get(const float* p) {{ {body} }}
__global__ void matmul(int m, int n, int k, const float* a, const float* b, float* c) {{
  const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) sum += get(a + row * k + p) * get(b + col * k + p);
  c[row * n + col] = sum;
}}
"""


def _loaded(instruction: str) -> str:
    return f'float v; asm volatile("{instruction} %0, [%1];" : "=f"(v) : "l"(p)); return v;'


COPIED = """
  __shared__ float s[1024];
  const int t = threadIdx.y * 32 + threadIdx.x;
  const unsigned to = __cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\\ncp.async.wait_all;" :: "r"(to), "l"(p) : "memory");
  return *(volatile float*)&s[t];
"""


def _graded(body: str, folder: Path) -> Grade:
    file = folder / "matmul.cu"
    file.write_text(KERNEL.format(body=body))
    return grade(load_course(COURSE).exercise("shared-memory/tiled-matmul"), file)


@pytest.mark.parametrize(
    "body",
    [
        "return __ldg(p);",
        "return *(volatile const float*)p;",
        "float v; memcpy(&v, p, 4); return v;",
        _loaded("ldu.global.f32"),
        _loaded("ld.f32"),
        _loaded("ld.global.nc.L1::no_allocate.f32"),
        _loaded("ld.relaxed.gpu.global.f32"),
        _loaded("ld.volatile.global.f32"),
        'asm volatile("prefetch.global.L2 [%0];" :: "l"(p)); return *p;',
        "float v[2]; v[threadIdx.x & 1] = *p; return *(volatile float*)&v[threadIdx.x & 1];",
        COPIED,
    ],
)
def test_a_load_in_other_words_is_a_load(body: str, tmp_path: Path) -> None:
    found = _graded(body, tmp_path)
    assert found.reason == "goal"
    assert "✗ bytes loaded over those of all tiles: " in "\n".join(found.details)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return __int_as_float(atomicOr((int*)p, 0));", "✗ atomics, by threads: 524,288 (at most 0)"),
        ("return __int_as_float(atomicCAS((int*)p, 0, 0));", "✗ atomics, by threads: 524,288 (at most 0)"),
        (_loaded("ld.const.f32"), "✗ loads of constant memory, by threads: 524,288 (at most 0)"),
        (_loaded("ld.param.f32"), "✗ loads of constant memory, by threads: 524,288 (at most 0)"),
    ],
)
def test_what_is_not_counted_is_not_allowed(body: str, words: str, tmp_path: Path) -> None:
    found = _graded(body, tmp_path)
    assert found.reason == "goal"
    assert words in found.details


@pytest.mark.parametrize("instruction", ["ld.local.f32", "ld.shared.f32"])
def test_another_space_holds_other_bytes(instruction: str, tmp_path: Path) -> None:
    assert _graded(_loaded(instruction), tmp_path).reason == "out-of-bounds"


def test_what_the_virtual_gpu_does_not_know_is_refused(tmp_path: Path) -> None:
    texture = 'float v, w, x, y; asm volatile("tex.1d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5}];" '
    texture += ': "=f"(v), "=f"(w), "=f"(x), "=f"(y) : "l"(p), "r"(0)); return v;'
    assert _graded(texture, tmp_path).reason == "compile"


def test_an_exercise_for_atomics_has_them() -> None:
    exercise = load_course(COURSE).exercise("reduction/grid-sum")
    assert exercise.solution is not None
    assert grade(exercise, exercise.solution).passed


def test_atomics_on_shared_memory_are_atomics(tmp_path: Path) -> None:
    file = tmp_path / "copy.cu"
    file.write_text("""
__global__ void copy(int n, const float* x, float* out) {
  __shared__ int turn[256];
  turn[threadIdx.x] = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&turn[threadIdx.x], 1);
    out[i] = x[i];
  }
}
""")
    found = grade(load_course(COURSE).exercise("coalescing/coalesced-copy"), file)
    assert found.reason == "goal"
    assert any(line.startswith("✗ atomics, by threads: ") for line in found.details)
