// Data races in shared memory. `BUG` marks the access that comes too early or too late, `WITH` its partner.

// Lanes of a warp are not in step: a neighbour's word may not be there yet.
extern "C" __global__ void reverse_in_a_warp(const int* x, int* y) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = x[lane];  // WITH
  y[lane] = tile[31 - lane];  // BUG: race
}

// The old style of reduction, from when the lanes of a warp ran in step.
extern "C" __global__ void reduce_in_a_warp(const float* x, float* sum) {
  __shared__ float part[32];
  const int lane = threadIdx.x;
  part[lane] = x[lane];
  __syncwarp();
  if (lane < 16) {
    part[lane] += part[lane + 16];
    __syncwarp(0xffff);
    if (lane < 8) part[lane] += part[lane + 8];
    __syncwarp(0xffff);
    if (lane < 4) part[lane] += part[lane + 4];  // WITH
    if (lane < 2) part[lane] += part[lane + 2];  // BUG: race
    __syncwarp(0xffff);
    if (lane < 1) sum[0] = part[0] + part[1];
  }
}

// A flag in shared memory: the writer and the readers are in one warp.
extern "C" __global__ void broadcast_in_a_warp(const int* x, int* y) {
  __shared__ int largest;
  if (threadIdx.x == 0) largest = x[0];  // WITH
  y[threadIdx.x] = largest;  // BUG: race
}

// The barrier stands after the loop; it belongs into it.
extern "C" __global__ void reduce_in_a_block(const float* x, float* sum) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      part[t] += part[t + half];  // BUG: race
  }
  __syncthreads();
  if (t == 0) sum[0] = part[0];
}

// Only one barrier in the loop over tiles: the next tile is written while others still read this one.
extern "C" __global__ void tiles_without_second_barrier(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[y][x] = a[y * n + k + x];
    tile_b[y][x] = b[(k + y) * 16 + x];  // BUG: race
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 16; ++i)
      sum += tile_a[y][i] * tile_b[i][x];  // WITH
  }
  c[y * 16 + x] = sum;
}

// Two buffers need a barrier in each round only if they alternate in each round; these do in every second.
extern "C" __global__ void wrong_buffer(const float* x, float* y, int rounds) {
  __shared__ float buffer[2][64];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    const int stage = (i / 2) % 2;
    buffer[stage][t] = x[i * 64 + t];  // BUG: race
    __syncthreads();
    sum += buffer[stage][63 - t];  // WITH
  }
  y[t] = sum;
}

// A transpose reads columns of what other warps wrote as rows.
extern "C" __global__ void transpose_without_barrier(const float* in, float* out) {
  __shared__ float tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 16 + x];  // WITH
  out[y * 16 + x] = tile[x][y];  // BUG: race
}

// Whoever finds something says so: several threads, with different values, in one word.
extern "C" __global__ void last_one_wins(const int* x, int* y) {
  __shared__ int found;
  if (threadIdx.x == 0) found = -1;
  __syncthreads();
  if (x[threadIdx.x] > 0)
    found = threadIdx.x;  // BUG: race
  __syncthreads();
  if (threadIdx.x == 0) y[0] = found;
}

// `++` on a shared counter reads, adds and writes: counts are lost.
extern "C" __global__ void count_without_atomics(const int* x, int* y) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0)
    counter++;  // BUG: race
  __syncthreads();
  if (threadIdx.x == 0) y[0] = counter;
}

// The bins are read before all threads have counted.
extern "C" __global__ void bins_read_too_early(const unsigned char* x, int* bins) {
  __shared__ int count[64];
  count[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&count[x[threadIdx.x] % 64], 1);  // WITH
  bins[threadIdx.x] = count[threadIdx.x];  // BUG: race
}

// The bins are counted in before they have been set to zero.
extern "C" __global__ void bins_cleared_too_late(const unsigned char* x, int* bins) {
  __shared__ int count[64];
  count[threadIdx.x] = 0;  // WITH
  atomicAdd(&count[x[threadIdx.x] % 64], 1);  // BUG: race
  __syncthreads();
  bins[threadIdx.x] = count[threadIdx.x];
}

// A scan in place: the barrier after the write is there, the one between read and write is not.
extern "C" __global__ void scan_in_place(const int* x, int* y) {
  __shared__ int sum[64];
  const int t = threadIdx.x;
  sum[t] = x[t];
  __syncthreads();
  for (int distance = 1; distance < 64; distance *= 2) {
    if (t >= distance)
      sum[t] += sum[t - distance];  // BUG: race
    __syncthreads();
  }
  y[t] = sum[t];
}

// Bytes are written one by one and read four at a time, by other threads.
extern "C" __global__ void bytes_read_as_words(const unsigned char* x, unsigned* y) {
  __shared__ __align__(4) unsigned char bytes[128];
  const int t = threadIdx.x;
  bytes[t] = x[t];  // WITH
  if (t < 32)
    y[t] = reinterpret_cast<const unsigned*>(bytes)[31 - t];  // BUG: race
}

// A barrier of one warp does not hold the others back.
extern "C" __global__ void syncwarp_for_a_block(const int* x, int* y) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = x[t];  // WITH
  __syncwarp();
  y[t] = tile[63 - t];  // BUG: race
}
