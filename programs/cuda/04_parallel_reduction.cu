// The sum of n floats, by seven techniques: from a tree with idle lanes to one launch that reads as fast as memory
// is. The kernels are those of the ladder `reduction` (flashpath ladder reduction says what each is about).
//
//   flashpath run 04_parallel_reduction.cu [-- ELEMENTS]
//   nvcc -I src programs/cuda/04_parallel_reduction.cu      (in a checkout)
//
// On the virtual GPU times are lower bounds, which most techniques share: there `flashpath ladder reduction` shows how
// they differ.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "check.cuh"
// Every rung names its kernel `reduce`; what they share is included once, outside of their namespaces.
#include <flashpath/kernels/reduction/block.cuh>
#include <flashpath/kernels/reduction/span.cuh>
namespace divergent {
#include <flashpath/kernels/reduction/divergent.cu>
}
namespace bank_conflicted {
#include <flashpath/kernels/reduction/bank_conflicted.cu>
}
namespace sequential {
#include <flashpath/kernels/reduction/sequential.cu>
}
namespace first_add_on_load {
#include <flashpath/kernels/reduction/first_add_on_load.cu>
}
namespace warp_shuffle {
#include <flashpath/kernels/reduction/warp_shuffle.cu>
}
namespace vectorized {
#include <flashpath/kernels/reduction/vectorized.cu>
}
namespace single_pass {
#include <flashpath/kernels/reduction/single_pass.cu>
}

using Add = Sum<float>;
using State = Add::State;

struct Problem {
  long long n;
  const float* in;
  State* partials[2];  // of one launch and of the next
  unsigned* arrivals;
  float* out;
  int blocks;  // of a grid that walks through the array
};

// A launch reduces what the one before it left, until one block does it all.
template <class First, class Next>
void tree(const Problem& p, First first, Next next, int per_block) {
  long long left = (p.n + per_block - 1) / per_block;
  first<<<left, 256>>>(p.n, p.in, p.n, p.partials[0], p.out);
  for (int from = 0; left > 1; from = 1 - from) {
    const long long blocks = (left + per_block - 1) / per_block;
    next<<<blocks, 256>>>(left, p.partials[from], p.n, p.partials[1 - from], p.out);
    left = blocks;
  }
}

// Microseconds of all launches of a technique: the best of three, since the first one also loads the kernels.
float best_time(const std::function<void()>& launch) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  float best = INFINITY;
  for (int run = 0; run < 3; ++run) {
    CHECK(cudaEventRecord(start));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    best = std::min(best, milliseconds);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return 1000 * best;
}

int main(int argc, char** argv) {
  const long long n = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
  if (n < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [ELEMENTS]\n", argv[0]);
    return 2;
  }
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> in(n);
  for (float& x : in) x = normal(random);

  const auto begin = std::chrono::steady_clock::now();
  double truth = 0;
  for (float x : in) truth += x;
  const std::chrono::duration<double, std::micro> on_cpu = std::chrono::steady_clock::now() - begin;
  double squares = 0;
  for (float x : in) squares += double(x) * x;
  // Roundings of a tree add up like a random walk: log2(n) levels, each of the size of the elements' norm.
  const double allowed = std::ldexp(4 * (std::abs(truth) + std::sqrt((std::log2(n) + 1) * squares)), -24);

  cudaDeviceProp gpu;
  CHECK(cudaGetDeviceProperties(&gpu, 0));
  Problem p{n, nullptr, {}, nullptr, nullptr, 0};
  p.blocks = int(std::min<long long>((n + 4095) / 4096, gpu.multiProcessorCount * 16));
  float* device_in;
  CHECK(cudaMalloc(&device_in, n * sizeof(float)));
  CHECK(cudaMalloc(&p.partials[0], std::max((n + 255) / 256, 1ll * p.blocks) * sizeof(State)));
  CHECK(cudaMalloc(&p.partials[1], (n / 256 + 256) / 256 * sizeof(State)));
  CHECK(cudaMalloc(&p.arrivals, sizeof(unsigned)));
  CHECK(cudaMalloc(&p.out, sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(p.arrivals, 0, sizeof(unsigned)));  // every launch leaves it at 0 again
  p.in = device_in;

  const struct {
    const char* name;
    std::function<void()> launch;
  } techniques[] = {
      {"divergent", [&] { tree(p, divergent::reduce<Add, float>, divergent::reduce<Add, State>, 256); }},
      {"bank conflicts",
       [&] { tree(p, bank_conflicted::reduce<Add, float>, bank_conflicted::reduce<Add, State>, 256); }},
      {"sequential", [&] { tree(p, sequential::reduce<Add, float>, sequential::reduce<Add, State>, 256); }},
      {"first add on load",
       [&] { tree(p, first_add_on_load::reduce<Add, float>, first_add_on_load::reduce<Add, State>, 512); }},
      {"warp shuffle", [&] { tree(p, warp_shuffle::reduce<Add, float>, warp_shuffle::reduce<Add, State>, 512); }},
      {"vectorized",
       [&] {
         vectorized::reduce<Add, float><<<p.blocks, 256>>>(p.n, p.in, p.partials[0], p.out);
         if (p.blocks > 1) vectorized::finish<Add><<<1, 256>>>(p.n, p.blocks, p.partials[0], p.out);
       }},
      {"single pass",
       [&] {
         single_pass::reduce<Add, float><<<p.blocks, 256>>>(p.n, p.in, p.blocks, p.partials[0], p.arrivals, p.out);
       }},
  };
  std::printf("the sum of %lld floats, %.1f MB, on %s\n\n", n, n * 4e-6, gpu.name);
  std::printf("%-18s %13s %8s %10s\n", "", "time", "GB/s", "error");
  std::printf("%-18s %10.2f us %8.1f %10s\n", "CPU, in double", on_cpu.count(), n * 4e-3 / on_cpu.count(), "-");
  int wrong = 0;
  for (const auto& technique : techniques) {
    CHECK(cudaMemset(p.out, 0xff, sizeof(float)));  // NaN: what is not written is wrong
    const float time = best_time(technique.launch);
    float sum;
    CHECK(cudaMemcpy(&sum, p.out, sizeof(float), cudaMemcpyDeviceToHost));
    const double error = std::abs(sum - truth);
    const bool is_right = error <= allowed;  // not so for NaN
    wrong += !is_right;
    std::printf("%-18s %10.2f us %8.1f %10.1e%s\n", technique.name, time, n * 4e-3 / time, error,
                is_right ? "" : "  wrong");
  }
  std::printf("\n%d of %zu techniques are wrong; an error of %.1e is allowed\n", wrong, std::size(techniques), allowed);
  tell_of_bounds(__FILE__);
  tell_of_host_code();

  CHECK(cudaFree(device_in));
  CHECK(cudaFree(p.partials[0]));
  CHECK(cudaFree(p.partials[1]));
  CHECK(cudaFree(p.arrivals));
  CHECK(cudaFree(p.out));
  return wrong != 0;
}
