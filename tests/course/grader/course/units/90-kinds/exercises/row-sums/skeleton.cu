extern "C" __global__ void row_sums(int rows, int n, const float* x, float* y) {
    __shared__ float part[128];
    // your code
}
