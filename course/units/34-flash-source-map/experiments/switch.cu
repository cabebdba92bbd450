// A flag of a call becomes a template argument.
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "row_max.cu"

// Calls f with a constant of the condition's value: in each branch f is compiled once more.
template <class F>
void with_constant(bool condition, F f) {
  if (condition) {
    f(std::true_type{});
  } else {
    f(std::false_type{});
  }
}

int main() {
  const int rows = 32;
  for (int keys : {512, 500}) {
    std::vector<float> s(rows * keys);
    for (int i = 0; i < rows * keys; ++i) s[i] = float(i * 37 % 1001);
    float *on_gpu, *out, result[rows];
    cudaMalloc(&on_gpu, sizeof(float) * s.size());
    cudaMalloc(&out, sizeof(result));
    cudaMemcpy(on_gpu, s.data(), sizeof(float) * s.size(), cudaMemcpyHostToDevice);
    with_constant(keys % 64 == 0, [&](auto even) {
      constexpr bool kEven = decltype(even)::value;
      printf("%d keys: row_max<%s>\n", keys, kEven ? "true" : "false");
      row_max<kEven><<<rows / 4, 128>>>(rows, keys, on_gpu, out);
    });
    if (cudaGetLastError() != cudaSuccess) return EXIT_FAILURE;
    cudaMemcpy(result, out, sizeof(result), cudaMemcpyDeviceToHost);
    printf("  largest of row 0: %g\n", result[0]);
    cudaFree(on_gpu);
    cudaFree(out);
  }
}
