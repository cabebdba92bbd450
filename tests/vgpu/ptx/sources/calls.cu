struct Large {
  int values[10];
};

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int next(int x) { return x + 1; }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ Large bump(Large large, int i) {
  large.values[i] += 1;
  return large;
}
__device__ __noinline__ float4 turn(float4 v, double scale, bool flip) {
  return flip ? make_float4(v.y, v.x, v.w, v.z) : make_float4(v.x * scale, v.y, v.z, v.w);
}

using Step = int (*)(int);
__device__ Step steps[2] = {twice, next};

extern "C" __global__ void calls(int* out, int n, Large large, float4* vectors) {
  out[0] = fibonacci(n);
  out[1] = steps[n & 1](n);
  out[2] = bump(large, n).values[3];
  vectors[0] = turn(vectors[1], 2.5, n > 3);
}
