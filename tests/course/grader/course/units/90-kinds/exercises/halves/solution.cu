extern "C" __global__ void swap_halves(int n, const int* x, int* y) {
    __shared__ int tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[threadIdx.x ^ 32];
}
