// Correct: the threads of one block, with barriers where they are needed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void collatz(const unsigned* x, int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = x[i];
  int count = 0;
  for (; value != 1; ++count) value = value % 2 ? 3 * value + 1 : value / 2;
  steps[i] = count;
}

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
    tile_b[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

template <int kPadding>
__device__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPadding];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int i = y; i < 32; i += 8) tile[i][x] = in[(blockIdx.y * 32 + i) * n + blockIdx.x * 32 + x];
  __syncthreads();
  for (int i = y; i < 32; i += 8) out[(blockIdx.x * 32 + i) * n + blockIdx.y * 32 + x] = tile[x][i];
}

extern "C" __global__ void transpose_conflicts(const float* in, float* out, int n) { transpose<0>(in, out, n); }

extern "C" __global__ void transpose_padded(const float* in, float* out, int n) { transpose<1>(in, out, n); }

extern "C" __global__ void transpose_direct(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += 8) out[x * n + blockIdx.y * 32 + i] = in[(blockIdx.y * 32 + i) * n + x];
}

extern "C" __global__ void reduce_tree(const float* x, float* sum) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * blockDim.x + t];
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) part[t] += part[t + half];
  }
  if (t == 0) sum[blockIdx.x] = part[0];
}

// Hillis and Steele, between two buffers: one barrier a step is enough.
extern "C" __global__ void scan_two_buffers(const int* x, int* y) {
  __shared__ int buffer[2][64];
  const int t = threadIdx.x;
  int from = 0;
  buffer[from][t] = x[t];
  for (int distance = 1; distance < 64; distance *= 2) {
    __syncthreads();
    buffer[1 - from][t] = buffer[from][t] + (t >= distance ? buffer[from][t - distance] : 0);
    from = 1 - from;
  }
  y[t] = buffer[from][t];
}

// In place: a barrier between reading and writing, and one after.
extern "C" __global__ void scan_in_place(const int* x, int* y) {
  __shared__ int sum[64];
  const int t = threadIdx.x;
  sum[t] = x[t];
  __syncthreads();
  for (int distance = 1; distance < 64; distance *= 2) {
    const int left = t >= distance ? sum[t - distance] : 0;
    __syncthreads();
    sum[t] += left;
    __syncthreads();
  }
  y[t] = sum[t];
}

extern "C" __global__ void double_buffer(const float* x, float* y, int rounds) {
  __shared__ float buffer[2][64];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    buffer[i % 2][t] = x[i * 64 + t];
    __syncthreads();
    sum += buffer[i % 2][63 - t];
  }
  y[t] = sum;
}

extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned count[256];
  count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&count[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], count[threadIdx.x]);
}

extern "C" __global__ void stencil(const float* x, float* y, int n) {
  __shared__ float tile[66];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t + 1] = i < n ? x[i] : 0;
  if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0;
  if (t == 63) tile[65] = i + 1 < n ? x[i + 1] : 0;
  __syncthreads();
  if (i < n) y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

// Whoever finds one says so; all say the same, and so it does not matter who says it last.
extern "C" __global__ void any_negative(const int* x, int* answer) {
  __shared__ bool found;
  if (threadIdx.x == 0) found = false;
  __syncthreads();
  if (x[blockIdx.x * blockDim.x + threadIdx.x] < 0) found = true;
  __syncthreads();
  if (found) answer[0] = 1;
}

// Neighbours write neighbouring bytes of one word.
extern "C" __global__ void bytes_by_neighbours(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned char bytes[128];
  bytes[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x] ^ 0x55;
  __syncthreads();
  y[blockIdx.x * 128 + threadIdx.x] = bytes[127 - threadIdx.x];
}

// Bits and bytes of one structure, each written by its own thread.
struct Mixed {
  char small;
  short medium;
  int large;
};

extern "C" __global__ void fields_by_neighbours(int* y) {
  __shared__ Mixed items[32];
  const int item = threadIdx.x / 3;
  if (item < 32) {
    if (threadIdx.x % 3 == 0) items[item].small = item;
    if (threadIdx.x % 3 == 1) items[item].medium = 2 * item;
    if (threadIdx.x % 3 == 2) items[item].large = 3 * item;
  }
  __syncthreads();
  if (threadIdx.x < 32) y[threadIdx.x] = items[threadIdx.x].small + items[threadIdx.x].medium + items[threadIdx.x].large;
}

extern "C" __global__ void local_table(const int* index, int* y) {
  int squares[16];
  for (int i = 0; i < 16; ++i) squares[i] = i * i + threadIdx.x;
  squares[index[threadIdx.x] & 15] = -1;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += squares[(i * index[threadIdx.x]) & 15];
  y[threadIdx.x] = sum;
}

extern "C" __global__ void rotate_dynamic(const float* x, float* y) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x];
}

extern "C" __global__ void bitonic_sort(int* x) {
  __shared__ int values[128];
  const int t = threadIdx.x;
  values[t] = x[t];
  for (int size = 2; size <= 128; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int partner = t ^ distance;
      if (partner > t) {
        const bool up = (t & size) == 0;
        const int a = values[t], b = values[partner];
        if ((a > b) == up) {
          values[t] = b;
          values[partner] = a;
        }
      }
    }
  }
  __syncthreads();
  x[t] = values[t];
}

__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  __syncthreads();  // the part of the call before is still being read
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < blockDim.x / 32; ++i) sum += part[i];
  return sum;
}

extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float largest[128];
  const int t = threadIdx.x;
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float mine = -3e38f;
  for (int i = t; i < columns; i += blockDim.x) mine = fmaxf(mine, x[i]);
  largest[t] = mine;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) largest[t] = fmaxf(largest[t], largest[t + half]);
  }
  __syncthreads();
  float sum = 0;
  for (int i = t; i < columns; i += blockDim.x) sum += __expf(x[i] - largest[0]);
  sum = block_sum(sum);
  for (int i = t; i < columns; i += blockDim.x) y[i] = __expf(x[i] - largest[0]) / sum;
}

extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y, int columns) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[i];
  const float mean = block_sum(sum) / columns;
  float square = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) square += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(block_sum(square) / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

extern "C" __global__ void to_half_types(const float* x, __half* h, __nv_bfloat16* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  h[i] = __float2half(x[i]);
  b[i] = __float2bfloat16(x[i]);
}

// Whole warps leave before a barrier that counts only those that stay.
extern "C" __global__ void warps_that_leave(const int* x, int* y) {
  __shared__ int tile[64];
  if (threadIdx.x >= 64) return;
  tile[threadIdx.x] = x[threadIdx.x];
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

// Threads that have ended are not waited for.
extern "C" __global__ void return_before_barrier(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  y[i] = tile[threadIdx.x ^ 1];
}

// Producers fill a buffer and go on; consumers wait for them at one barrier and free it at another.
extern "C" __global__ void produce_and_consume(const int* x, int* y, int rounds) {
  __shared__ int buffer[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < rounds; ++i) {
      if (i % 2 == 0) asm volatile("barrier.sync 3, 64;" ::: "memory");  // empty: buffer 0
      else asm volatile("barrier.sync 4, 64;" ::: "memory");
      buffer[i % 2][lane] = x[i * 32 + lane];
      if (i % 2 == 0) asm volatile("barrier.arrive 1, 64;" ::: "memory");  // full: buffer 0
      else asm volatile("barrier.arrive 2, 64;" ::: "memory");
    }
  } else {
    asm volatile("barrier.arrive 3, 64;" ::: "memory");
    asm volatile("barrier.arrive 4, 64;" ::: "memory");
    for (int i = 0; i < rounds; ++i) {
      if (i % 2 == 0) asm volatile("barrier.sync 1, 64;" ::: "memory");
      else asm volatile("barrier.sync 2, 64;" ::: "memory");
      y[i * 32 + lane] = buffer[i % 2][31 - lane];
      if (i + 2 < rounds) {
        if (i % 2 == 0) asm volatile("barrier.arrive 3, 64;" ::: "memory");
        else asm volatile("barrier.arrive 4, 64;" ::: "memory");
      }
    }
  }
}

// A barrier that also counts.
extern "C" __global__ void counted_at_the_barrier(const int* x, int* y) {
  y[threadIdx.x] = __syncthreads_count(x[threadIdx.x] > 0);
}

// Memory of the heap, per thread and for the block.
extern "C" __global__ void heap(int* y, int n) {
  __shared__ int* table;
  if (threadIdx.x == 0) table = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  int* own = static_cast<int*>(malloc(n * sizeof(int)));
  for (int i = 0; i < n; ++i) own[i] = i;
  table[threadIdx.x] = own[n - 1] + threadIdx.x;
  free(own);
  __syncthreads();
  y[threadIdx.x] = table[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(table);
}
