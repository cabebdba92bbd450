extern __shared__ float dynamic[];

extern "C" __global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  dynamic[threadIdx.x] = in[x];
  __syncthreads();
  out[x * n + y] = tile[threadIdx.x][threadIdx.y] + dynamic[31 - threadIdx.x];
}
