extern "C" __global__ void axpy(int n, float a, float* x, float* y) {
    // your code
}
