// Whole kernels whose results are compared with those of a GPU, bit by bit: each small, each written as a learner
// or a library would write it. Blocks, grids and arguments stand in catalogue.py.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
#include <mma.h>


__device__ inline int global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// ---- Elementwise ---------------------------------------------------------------------------------------

extern "C" __global__ void vector_add(const float* x, const float* y, float* out, int n) {
  const int i = global_index();
  if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, int n) {
  const int i = global_index();
  if (i < n) out[i] = a * x[i] + y[i];
}

// Products and sums that the compiler leaves to ptxas: one rounding or two, up to its rules.
__device__ inline float product(float x, float y) {
  float r;
  asm("mul.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
__device__ inline float sum(float x, float y) {
  float r;
  asm("add.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
__device__ inline float difference(float x, float y) {
  float r;
  asm("sub.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}

extern "C" __global__ void contracted_by_ptxas(const float* x, const float* y, float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const float a = x[i], b = y[i], c = x[n - 1 - i], d = y[n - 1 - i];
  const float ab = product(a, b), cd = product(c, d), ad = product(a, d), bc = product(b, c);
  const float real = difference(ab, cd), imaginary = sum(ad, bc);
  float total = product(real, imaginary);
  if (b > 0) total = sum(total, product(imaginary, imaginary));
  for (int k = 0; k < 5; ++k) total = difference(product(total, 0.5f), product(a, total));
  out[i] = sum(total, product(real, real));
}

extern "C" __global__ void polynomial(const float* x, float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const float t = x[i];
  float even = 1.0f, odd = t;
  for (int k = 2; k < 9; k += 2) {
    even = even + t * t * even / k;
    odd -= t * odd * 0.125f + even * (k - t);
  }
  out[i] = even * odd - odd / (1.0f + t * t);
}

extern "C" __global__ void gelu(const float* x, float* out, int n) {
  const int i = global_index();
  if (i < n) out[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

extern "C" __global__ void gelu_erf(const float* x, float* out, int n) {
  const int i = global_index();
  if (i < n) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" __global__ void black_scholes(const float* spot, const float* strike, float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const float s = 20.0f + fabsf(spot[i]) * 30.0f, k = 20.0f + fabsf(strike[i]) * 30.0f, t = 0.25f + (i % 8) * 0.25f;
  const float root = sqrtf(t);
  const float d1 = (logf(s / k) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root);
  const float d2 = d1 - 0.3f * root;
  out[i] = s * normcdff(d1) - k * expf(-0.02f * t) * normcdff(d2);
}

extern "C" __global__ void rope(const float* x, float* out, int rows, int width) {
  const int half = width / 2;
  const int row = blockIdx.x, k = threadIdx.x;
  const float angle = row * powf(10000.0f, -2.0f * k / width);
  float s, c;
  sincosf(angle, &s, &c);
  const float a = x[row * width + k], b = x[row * width + half + k];
  out[row * width + k] = a * c - b * s;
  out[row * width + half + k] = a * s + b * c;
}

extern "C" __global__ void double_precision(const double* x, const double* y, double* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const double a = x[i], b = y[i];
  double total = a * b + 1.0;
  for (int k = 1; k < 6; ++k) total = total * a - b * b / k;
  out[i] = total / (1.0 + a * a) + sqrt(b * b + 1e-3) * exp(-a * a);
}

extern "C" __global__ void half_arithmetic(const __half2* x, const __half2* y, __half2* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const __half2 a = x[i], b = y[i];
  __half2 total = __hadd2(__hmul2(a, b), a);          // one rounding: ptxas fuses
  total = __hsub2(total, __hmul2_rn(a, a));           // two
  total = __hfma2(total, b, __hneg2(a));
  out[i] = __hadd2(total, h2exp2(__hmul2(b, b)));
}

extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  const __nv_bfloat16 a = x[i], b = y[i];
  __nv_bfloat16 total = __hadd(__hmul(a, b), a);
  total = __hfma(total, b, __hneg(a));
  out[i] = __hsub(total, __hmul(a, total));
}

extern "C" __global__ void mandelbrot(float* out, int width) {
  const int i = global_index();
  const float cx = -2.0f + 3.0f * (i % width) / width, cy = -1.5f + 3.0f * (i / width) / width;
  float x = 0, y = 0;
  int k = 0;
  for (; k < 64 && x * x + y * y < 4.0f; ++k) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
  }
  out[i] = k + x * y;
}

extern "C" __global__ void n_body(const float4* bodies, float4* out, int n) {
  const int i = global_index();
  const float4 me = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float force = other.w * inverse * inverse * inverse;
    ax += dx * force;
    ay += dy * force;
    az += dz * force;
  }
  out[i] = make_float4(ax, ay, az, ax * me.x + ay * me.y + az * me.z);
}

// ---- Rows ----------------------------------------------------------------------------------------------

__device__ inline float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

extern "C" __global__ void reduce_shuffle(const float* x, float* out, int n) {
  __shared__ float parts[32];
  float total = 0;
  for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) total += x[i];
  total = warp_sum(total);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x < 32) {
    total = warp_sum(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) out[blockIdx.x] = total;
  }
}

extern "C" __global__ void reduce_shared(const float* x, float* out, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) part[t] += x[i] * x[i];
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) part[t] += part[t + half];
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void dot(const float* x, const float* y, float* out, int n) {
  float total = 0;
  for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) total += x[i] * y[i];
  total = warp_sum(total);
  if (threadIdx.x % 32 == 0) out[global_index() / 32] = total;
}

extern "C" __global__ void softmax(const float* x, float* out, int width) {
  const float* row = x + blockIdx.x * width;
  float top = -CUDART_INF_F, total = 0;
  for (int k = threadIdx.x; k < width; k += 32) top = fmaxf(top, row[k]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  for (int k = threadIdx.x; k < width; k += 32) total += expf(row[k] - top);
  total = warp_sum(total);
  for (int k = threadIdx.x; k < width; k += 32) out[blockIdx.x * width + k] = expf(row[k] - top) / total;
}

extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias, float* out, int width) {
  const float* row = x + blockIdx.x * width;
  float total = 0, squares = 0;
  for (int k = threadIdx.x; k < width; k += 32) total += row[k];
  const float mean = warp_sum(total) / width;
  for (int k = threadIdx.x; k < width; k += 32) squares += (row[k] - mean) * (row[k] - mean);
  const float scale = rsqrtf(warp_sum(squares) / width + 1e-5f);
  for (int k = threadIdx.x; k < width; k += 32) {
    out[blockIdx.x * width + k] = (row[k] - mean) * scale * weight[k] + bias[k];
  }
}

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* out, int width) {
  const float* row = x + blockIdx.x * width;
  float squares = 0;
  for (int k = threadIdx.x; k < width; k += 32) squares += row[k] * row[k];
  const float scale = 1.0f / sqrtf(warp_sum(squares) / width + 1e-6f);
  for (int k = threadIdx.x; k < width; k += 32) out[blockIdx.x * width + k] = row[k] * scale * weight[k];
}

extern "C" __global__ void scan(const float* x, float* out) {
  __shared__ float part[256];
  const int t = threadIdx.x, at = blockIdx.x * 256 + t;
  part[t] = x[at];
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const float left = t >= step ? part[t - step] : 0.0f;
    __syncthreads();
    part[t] += left;
  }
  out[at] = part[t];
}

extern "C" __global__ void histogram(const float* x, int* bins, int n) {
  __shared__ int part[64];
  if (threadIdx.x < 64) part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = global_index(); i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&part[min(63, max(0, (int)floorf((x[i] + 3.0f) * (64.0f / 6.0f))))], 1);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}

// ---- Planes --------------------------------------------------------------------------------------------

extern "C" __global__ void transpose(const float* x, float* out, int width, int height) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32, row = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(row + k) * width + column + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) out[(column + k) * height + row + threadIdx.x] = tile[threadIdx.x][k];
}

extern "C" __global__ void stencil(const float* x, float* out, int width) {
  const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y, at = j * width + i;
  if (i == 0 || j == 0 || i == width - 1 || j == width - 1) {
    out[at] = x[at];
    return;
  }
  out[at] = 0.6f * x[at] + 0.1f * (x[at - 1] + x[at + 1] + x[at - width] + x[at + width]) - 0.01f * x[at] * x[at - 1];
}

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float total = 0;
  for (int k = 0; k < n; k += 16) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) total += a_tile[threadIdx.y][j] * b_tile[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = total;
}

extern "C" __global__ void matmul_blocked(const float* a, const float* b, float* c, int n, float alpha, float beta) {
  __shared__ float a_tile[32][8], b_tile[8][32];
  const int t = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32;
  float total[4][4] = {};
  for (int k = 0; k < n; k += 8) {
    for (int j = t; j < 256; j += 64) {
      a_tile[j / 8][j % 8] = a[(row + j / 8) * n + k + j % 8];
      b_tile[j / 32][j % 32] = b[(k + j / 32) * n + column + j % 32];
    }
    __syncthreads();
    for (int j = 0; j < 8; ++j) {
      for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) total[y][x] += a_tile[t / 8 * 4 + y][j] * b_tile[j][t % 8 * 4 + x];
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      const int at = (row + t / 8 * 4 + y) * n + column + t % 8 * 4 + x;
      c[at] = alpha * total[y][x] + beta * c[at];
    }
  }
}

// ---- Tensor cores --------------------------------------------------------------------------------------

template <class T, class Factor, int kDepth>
__device__ void matmul_by_tiles(const T* a, const T* b, float* c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, kDepth, Factor, row_major> fa;
  fragment<matrix_b, 16, 16, kDepth, Factor, row_major> fb;
  fragment<accumulator, 16, 16, kDepth, float> total;
  fill_fragment(total, 0.0f);
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < n; k += kDepth) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + k * n + column, n);
    if constexpr (kDepth == 8) {
      for (float& each : fa.x) each = __float_to_tf32(each);
      for (float& each : fb.x) each = __float_to_tf32(each);
    }
    mma_sync(total, fa, fb, total);
  }
  store_matrix_sync(c + row * n + column, total, n, mem_row_major);
}

extern "C" __global__ void matmul_half(const __half* a, const __half* b, float* c, int n) { matmul_by_tiles<__half, __half, 16>(a, b, c, n); }
extern "C" __global__ void matmul_bfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {
  matmul_by_tiles<__nv_bfloat16, __nv_bfloat16, 16>(a, b, c, n);
}
extern "C" __global__ void matmul_tf32(const float* a, const float* b, float* c, int n) {
  matmul_by_tiles<float, nvcuda::wmma::precision::tf32, 8>(a, b, c, n);
}

// D = A (16, 16) times the transpose of B (8, 16), sums in half precision, one warp.
extern "C" __global__ void matmul_half_sums(const unsigned* a, const unsigned* b, unsigned* d) {
  const int lane = threadIdx.x, group = lane / 4, pair = lane % 4;
  a += blockIdx.x * 128, b += blockIdx.x * 64, d += blockIdx.x * 64;
  unsigned d0 = 0, d1 = 0;
  for (int k = 0; k < 3; ++k) {
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a[group * 8 + pair]), "r"(a[(group + 8) * 8 + pair]), "r"(a[group * 8 + pair + 4]),
          "r"(a[(group + 8) * 8 + pair + 4]), "r"(b[group * 8 + pair]), "r"(b[group * 8 + pair + 4]));
  }
  d[group * 4 + pair] = d0;
  d[(group + 8) * 4 + pair] = d1;
}

// ---- Attention -----------------------------------------------------------------------------------------

// One warp per query: keys in tiles of 32, one per lane; the sum of values in registers, two per lane.
extern "C" __global__ void flash_attention(const float* q, const float* k, const float* v, float* out, int length) {
  constexpr int kDim = 64;
  __shared__ float query[kDim];
  const int lane = threadIdx.x, row = blockIdx.x;
  query[lane] = q[row * kDim + lane] * 0.125f;
  query[lane + 32] = q[row * kDim + lane + 32] * 0.125f;
  __syncwarp();
  float m = -CUDART_INF_F, l = 0, low = 0, high = 0;
  for (int first = 0; first < length; first += 32) {
    float score = 0;
    for (int d = 0; d < kDim; ++d) score += query[d] * k[(first + lane) * kDim + d];
    if (first + lane > row) score = -CUDART_INF_F;
    float top = score;
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    const float next = fmaxf(m, top);
    const float p = next == -CUDART_INF_F ? 0.0f : __expf(score - next), scale = next == -CUDART_INF_F ? 1.0f : __expf(m - next);
    l = l * scale + warp_sum(p);
    low *= scale;
    high *= scale;
    for (int j = 0; j < 32; ++j) {
      const float weight = __shfl_sync(0xffffffffu, p, j);
      low += weight * v[(first + j) * kDim + lane];
      high += weight * v[(first + j) * kDim + lane + 32];
    }
    m = next;
  }
  out[row * kDim + lane] = low / l;
  out[row * kDim + lane + 32] = high / l;
}
