// Kernels whose memory traffic was measured with Nsight Compute.
//
// Each access in the source is one access in PTX and one in machine code: nothing here gives ptxas neighbouring
// accesses to merge. All names begin with "golden_": the profiler picks them by it.
#include <cuda_fp16.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

// ---- Global memory ---------------------------------------------------------------------------------------

extern "C" __global__ void golden_vector_add(int n, const float* x, const float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

// Element i * stride + offset of x and z, element i of y.
extern "C" __global__ void golden_strided_add(int n, int stride, int offset, const float* x, const float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i * stride + offset] = x[i * stride + offset] + y[i];
}

extern "C" __global__ void golden_copy_float4(int n, const float4* x, float4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

// 16 bytes a thread, each thread's in a line of its own.
extern "C" __global__ void golden_copy_float4_strided(int n, int stride, const float4* x, float4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i * stride] = x[i * stride];
}

extern "C" __global__ void golden_scale_double(int n, double a, const double* x, double* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}

extern "C" __global__ void golden_invert_bytes(int n, const u8* x, u8* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (u8)~x[i];
}

extern "C" __global__ void golden_add_halves(int n, const u16* x, u16* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (u16)(x[i] + 1);
}

struct Particle {
  float x, y, z, mass;
  float vx, vy, vz, charge;
};

// Three of eight neighbouring members: too far apart, or unaligned, to be loaded together.
extern "C" __global__ void golden_array_of_structs(int n, const Particle* p, float* energy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) energy[i] = p[i].mass * p[i].vy * p[i].vy + p[i].charge;
}

extern "C" __global__ void golden_struct_of_arrays(int n, const float* mass, const float* vy, const float* charge,
                                                   float* energy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) energy[i] = mass[i] * vy[i] * vy[i] + charge[i];
}

// Twelve-byte structures straddle sectors.
extern "C" __global__ void golden_packed_triples(int n, const float* xyz, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = xyz[3 * i] + xyz[3 * i + 1] + xyz[3 * i + 2];
}

extern "C" __global__ void golden_gather(int n, const int* index, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}

extern "C" __global__ void golden_scatter(int n, const int* index, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[index[i]] = x[i];
}

extern "C" __global__ void golden_gather_double2(int n, const int* index, const double2* x, double2* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}

// All threads of a block read one value.
extern "C" __global__ void golden_broadcast(const float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x];
}

// Lanes that take part in a load: every third; then two halves by different ways.
extern "C" __global__ void golden_predicated(int n, const float* x, const float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i % 3 == 0) sum = x[i];
  if (threadIdx.x % 32 < 16) {
    sum += y[i];
  } else {
    sum -= y[n - 1 - i] * x[n - 1 - i];
  }
  z[i] = sum;
}

// Rows of a matrix by blocks of 16 × 16 threads: a warp covers two rows.
extern "C" __global__ void golden_matrix_scale(int width, int height, const float* x, float* y) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) y[row * width + column] = 2 * x[row * width + column];
}

// At most 8 bytes a thread; every thread strides over the whole grid.
extern "C" __global__ void golden_grid_stride(int n, const float2* x, float* y) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float2 pair = x[i];
    y[i] = pair.x + pair.y;
  }
}

extern "C" __global__ void golden_transpose_naive(int n, const float* x, float* y) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[column * n + row + k] = x[(row + k) * n + column];
}

// ---- Shared memory ---------------------------------------------------------------------------------------

template <int kPadding>
__device__ void transpose_tiles(int n, const float* x, float* y) {
  __shared__ float tile[32][32 + kPadding];
  int column = blockIdx.x * 32 + threadIdx.x;
  int row = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + column];
  __syncthreads();
  column = blockIdx.y * 32 + threadIdx.x;
  row = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(row + k) * n + column] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void golden_transpose_conflicts(int n, const float* x, float* y) { transpose_tiles<0>(n, x, y); }

extern "C" __global__ void golden_transpose_padded(int n, const float* x, float* y) { transpose_tiles<1>(n, x, y); }

extern "C" __global__ void golden_matmul_tiled(int n, const float* a, const float* b, float* c) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += 16) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Partners next to each other, threads far apart: the stride grows, and with it the conflicts.
extern "C" __global__ void golden_reduce_interleaved(const float* x, float* sums) {
  __shared__ float part[256];
  part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (u32 step = 1; step < 256; step *= 2) {
    const u32 at = 2 * step * threadIdx.x;
    if (at < 256) {
      volatile float* p = part;
      p[at] = p[at] + p[at + step];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void golden_reduce_sequential(const float* x, float* sums) {
  __shared__ float part[256];
  part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (u32 half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      volatile float* p = part;
      p[threadIdx.x] = p[threadIdx.x] + p[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

extern "C" __global__ void golden_reduce_shuffle(int n, const float* x, float* sum) {
  __shared__ float part[8];
  float mine = 0;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = warp_sum(threadIdx.x < 8 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
  }
}

extern "C" __global__ void golden_stencil(int n, const float* x, float* y) {
  __shared__ float tile[128 + 2 * 4];
  const int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x + 4] = i < n ? x[i] : 0;
  if (threadIdx.x < 4) {
    tile[threadIdx.x] = i >= 4 ? x[i - 4] : 0;
    tile[threadIdx.x + 132] = i + 128 < n ? x[i + 128] : 0;
  }
  __syncthreads();
  float sum = 0;
  volatile float* p = tile;
  for (int k = 0; k < 9; ++k) sum += p[threadIdx.x + k];
  if (i < n) y[i] = sum;
}

// One block a row of at most 1,024.
extern "C" __global__ void golden_softmax_rows(int n, const float* x, float* y) {
  __shared__ float part[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float* row = x + blockIdx.x * n;
  float most = -3e38f;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  most = warp_max(most);
  if (lane == 0) part[warp] = most;
  __syncthreads();
  most = warp_max(lane < warps ? part[lane] : -3e38f);
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __expf(row[i] - most);
  sum = warp_sum(sum);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = warp_sum(lane < warps ? part[lane] : 0);
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = __expf(row[i] - most) / sum;
}

// Each lane stores to, then loads from, the element that `index` names: any pattern of addresses can be asked of
// the banks, at each width. One warp a block; an index below 0 keeps a lane out.
template <class T>
__device__ void probe_banks(const int* index, T* out) {
  extern __shared__ uint4 memory[];
  volatile T* shared = reinterpret_cast<T*>(memory);
  const int at = index[blockIdx.x * 32 + threadIdx.x];
  if (at >= 0) {
    shared[at] = (T)threadIdx.x;
    __syncwarp(__activemask());
    out[blockIdx.x * 32 + threadIdx.x] = shared[at];
  }
}

extern "C" __global__ void golden_banks_1(const int* index, u8* out) { probe_banks(index, out); }
extern "C" __global__ void golden_banks_2(const int* index, u16* out) { probe_banks(index, out); }
extern "C" __global__ void golden_banks_4(const int* index, u32* out) { probe_banks(index, out); }

// The same in vectors, which `volatile` would split. `at` is not known to the compiler: nothing is forwarded.
extern "C" __global__ void golden_banks_8(const int* index, uint2* out) {
  extern __shared__ uint4 memory[];
  uint2* shared = reinterpret_cast<uint2*>(memory);
  const int at = index[blockIdx.x * 32 + threadIdx.x];
  if (at >= 0) {
    shared[at] = make_uint2(threadIdx.x, at);
    __syncwarp(__activemask());
    out[blockIdx.x * 32 + threadIdx.x] = shared[at];
  }
}

extern "C" __global__ void golden_banks_16(const int* index, uint4* out) {
  extern __shared__ uint4 memory[];
  const int at = index[blockIdx.x * 32 + threadIdx.x];
  if (at >= 0) {
    memory[at] = make_uint4(threadIdx.x, at, 1, 2);
    __syncwarp(__activemask());
    out[blockIdx.x * 32 + threadIdx.x] = memory[at];
  }
}

// ---- Atomics, local memory, matrices ---------------------------------------------------------------------

extern "C" __global__ void golden_atomic_add(int n, const int* index, float* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + index[i], 1.5f);
}

// atomicAdd without a result may or may not become a reduction; this is one.
extern "C" __global__ void golden_reduction(int n, const int* index, float* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(bins + index[i]), "f"(1.5f) : "memory");
}

extern "C" __global__ void golden_atomic_exchange(int n, const int* index, int* bins, int* previous) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) previous[i] = atomicExch(bins + index[i], i);
}

extern "C" __global__ void golden_histogram(int n, const int* values, int* bins) {
  __shared__ int mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(mine + values[i], i);
  __syncthreads();
  atomicAdd(bins + threadIdx.x, mine[threadIdx.x]);
}

// An index that is known only at run time keeps the array out of registers.
extern "C" __global__ void golden_local_array(const int* order, float* y) {
  float values[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) values[order[k]] = (float)(i * k);
  y[i] = values[order[i % 32]];
}

__device__ u32 shared_address(const void* pointer) { return (u32)__cvta_generic_to_shared(pointer); }

// Four warps copy a tile by cp.async; `kPadding` halves after each row decide about the conflicts of ldmatrix.
template <int kPadding>
__device__ void multiply_tile(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half tile_a[64][64 + kPadding], tile_b[64][64 + kPadding];
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    const int row = i / 8, column = i % 8 * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&tile_a[row][column])),
                 "l"(a + row * 64 + column));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&tile_b[row][column])),
                 "l"(b + row * 64 + column));
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[8][4] = {};
  for (int k = 0; k < 64; k += 16) {
    u32 x[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(&tile_a[warp * 16 + lane % 16][k + lane / 16 * 8])));
    for (int n = 0; n < 8; ++n) {
      u32 y[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(y[0]), "=r"(y[1])
                   : "r"(shared_address(&tile_b[k + lane % 16][n * 8])));
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
  }
  for (int n = 0; n < 8; ++n) {
    float* to = c + (warp * 16 + lane / 4) * 64 + n * 8 + lane % 4 * 2;
    *reinterpret_cast<float2*>(to) = make_float2(d[n][0], d[n][1]);
    *reinterpret_cast<float2*>(to + 8 * 64) = make_float2(d[n][2], d[n][3]);
  }
}

extern "C" __global__ void golden_mma_conflicts(const __half* a, const __half* b, float* c) { multiply_tile<0>(a, b, c); }
extern "C" __global__ void golden_mma_padded(const __half* a, const __half* b, float* c) { multiply_tile<8>(a, b, c); }
