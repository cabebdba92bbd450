// FlashAttention 1, full and causal: the kernel of the ladder `attention`, which keeps a tile of keys on chip and lets
// all queries come by. What it is checked against is the formula in double, on the CPU.
//
//   flashpath run flash_attention_v1.cu [-- QUERIES KEYS HEADS DIM]
//   nvcc -I src programs/flash_attention/flash_v1/cuda/flash_attention_v1.cu      (in a checkout)
//
// flashpath profile shows what is typical of this version: it stores much more than the result.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <flashpath/kernels/attention/flash_v1/forward.cu>

#include "../../../cuda/check.cuh"

using Number = __nv_bfloat16;

struct Sizes {
  int queries, keys, heads, dim;
};

// (rows, heads, dim), rounded as the kernel gets them.
std::vector<Number> random_rows(int rows, const Sizes& n, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<Number> values(std::size_t(rows) * n.heads * n.dim);
  for (Number& x : values) x = __float2bfloat16(normal(random));
  return values;
}

struct Result {
  std::vector<double> out, lse;  // (queries, heads, dim), (heads, queries)
};

// The formula, row by row of the scores.
Result reference(const Sizes& n, bool is_causal, const std::vector<Number>& q, const std::vector<Number>& k,
                 const std::vector<Number>& v) {
  Result result{std::vector<double>(q.size()), std::vector<double>(std::size_t(n.heads) * n.queries)};
  std::vector<double> scores(n.keys);
  for (int head = 0; head < n.heads; ++head) {
    for (int i = 0; i < n.queries; ++i) {
      const int seen = is_causal ? std::max(0, std::min(n.keys, i + 1 + n.keys - n.queries)) : n.keys;
      const std::size_t row = (std::size_t(i) * n.heads + head) * n.dim;
      double m = -INFINITY, l = 0;
      for (int j = 0; j < seen; ++j) {
        const std::size_t other = (std::size_t(j) * n.heads + head) * n.dim;
        scores[j] = 0;
        for (int c = 0; c < n.dim; ++c) {
          scores[j] += double(__bfloat162float(q[row + c])) * __bfloat162float(k[other + c]);
        }
        scores[j] /= std::sqrt(double(n.dim));
        m = std::max(m, scores[j]);
      }
      for (int j = 0; j < seen; ++j) l += std::exp(scores[j] - m);
      for (int j = 0; j < seen; ++j) {
        const double weight = std::exp(scores[j] - m) / l;
        const std::size_t other = (std::size_t(j) * n.heads + head) * n.dim;
        for (int c = 0; c < n.dim; ++c) result.out[row + c] += weight * __bfloat162float(v[other + c]);
      }
      result.lse[std::size_t(head) * n.queries + i] = seen ? m + std::log(l) : -INFINITY;
    }
  }
  return result;
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* copy;
  CHECK(cudaMalloc(&copy, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return copy;
}

// Memory full of NaN: what is not written is wrong.
template <class T>
T* poisoned(std::size_t count) {
  T* memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0xff, count * sizeof(T)));
  return memory;
}

int attribute(cudaDeviceAttr which) {
  int value;
  CHECK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

// What so many SMs can do in a second without tensor cores: a multiply-add in each lane for floats, each clock.
double peak_flops(int sms) {
  const int major = attribute(cudaDevAttrComputeCapabilityMajor), minor = attribute(cudaDevAttrComputeCapabilityMinor);
  const int lanes = major == 7 || (major == 8 && minor == 0) ? 64 : 128;
  return 2.0 * lanes * sms * attribute(cudaDevAttrClockRate) * 1e3;
}

int main(int argc, char** argv) {
  const Sizes n = {argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? std::atoi(argv[2]) : 100,
                   argc > 3 ? std::atoi(argv[3]) : 4, argc > 4 ? std::atoi(argv[4]) : 64};
  if (n.queries < 1 || n.keys < 1 || n.heads < 1 || n.dim < 8 || n.dim > 256 || n.dim % 8 || argc > 5) {
    std::fprintf(stderr, "usage: %s [QUERIES KEYS HEADS DIM]    DIM: 8, 16, … 256\n", argv[0]);
    return 2;
  }
  const int sms = attribute(cudaDevAttrMultiProcessorCount), busy = std::min(n.heads, sms);
  const double peak = peak_flops(busy);
  std::printf("%d queries, %d keys, %d heads of dim %d, bfloat16\n", n.queries, n.keys, n.heads, n.dim);
  std::printf("A block per head: %d of %d SMs have work, and can do %.0f GFLOP/s without tensor cores.\n\n", busy, sms,
              peak / 1e9);

  std::mt19937 random(1);
  const std::vector<Number> q = random_rows(n.queries, n, random);
  const std::vector<Number> k = random_rows(n.keys, n, random), v = random_rows(n.keys, n, random);
  Number *device_q = on_device(q), *device_k = on_device(k), *device_v = on_device(v);
  const std::size_t rows = std::size_t(n.heads) * n.queries;
  float *o = poisoned<float>(rows * n.dim), *m = poisoned<float>(rows), *l = poisoned<float>(rows);

  const Strides strides = {0, (long long)n.heads * n.dim, n.dim};  // of one batch
  const float scale = float(std::log2(std::exp(1.0)) / std::sqrt(double(n.dim)));
  const int shared = flash_v1_shared(n.dim, n.dim, sizeof(Number));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  int wrong = 0;
  std::printf("%-8s %13s %10s %12s %14s\n", "", is_virtual() ? "at least" : "time", "GFLOP/s", "of that peak",
              "largest error");
  for (const bool is_causal : {false, true}) {
    Number* out = poisoned<Number>(rows * n.dim);
    float* lse = poisoned<float>(rows);
    float best = INFINITY;  // of three: the first one also loads the kernel
    for (int run = 0; run < 3; ++run) {
      CHECK(cudaEventRecord(start));
      flash_v1<<<n.heads, 32 * kWarps, shared>>>(device_q, device_k, device_v, out, lse, o, m, l, strides, strides,
                                                 strides, strides, scale, n.heads, 1, n.queries, n.keys, n.dim, n.dim,
                                                 is_causal);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(stop));
      CHECK(cudaEventSynchronize(stop));
      float milliseconds;
      CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
      best = std::min(best, milliseconds);
    }

    const Result truth = reference(n, is_causal, q, k, v);
    std::vector<Number> got(q.size());
    std::vector<float> got_lse(rows);
    CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(Number), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got_lse.data(), lse, rows * sizeof(float), cudaMemcpyDeviceToHost));
    double largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = std::abs(__bfloat162float(got[i]) - truth.out[i]);
      wrong += !(error <= std::ldexp(std::abs(truth.out[i]), -8) + 1e-5);  // its rounding, and that of sums in float
      largest = std::max(largest, error);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const bool sees_nothing = truth.lse[i] == -INFINITY;
      wrong += sees_nothing ? got_lse[i] != -INFINITY : !(std::abs(got_lse[i] - truth.lse[i]) <= 1e-5);
    }
    double pairs = 0;
    for (int i = 0; i < n.queries; ++i) {
      pairs += is_causal ? std::max(0, std::min(n.keys, i + 1 + n.keys - n.queries)) : n.keys;
    }
    const double flops = 4 * pairs * n.heads * n.dim, least = 1000 * flops / peak;
    // The model's bound lets all SMs share the arithmetic, which so few blocks cannot.
    const double milliseconds = is_virtual() ? std::max(double(best), least) : best;
    std::printf("%-8s %10.2f us %10.1f %10.1f %% %14.1e\n", is_causal ? "causal" : "full", 1000 * milliseconds,
                flops / milliseconds / 1e6, 100 * least / milliseconds, largest);
    CHECK(cudaFree(out));
    CHECK(cudaFree(lse));
  }
  const int tiles = (n.keys + kTile - 1) / kTile;
  const double state = 4.0 * n.dim + 8, result = 2.0 * n.dim + 4;  // bytes of a query
  std::printf("\nTiles of keys: %d. A query that sees all of them stores %.0f bytes, of which %.0f are its result.\n",
              tiles, (1 + tiles) * state + result, result);
  std::printf("%d results are wrong\n", wrong);
  if (is_virtual()) {
    std::printf("On the virtual GPU times are bounds: what these SMs need at least, were nothing waited for.\n");
    std::printf("flashpath profile %s shows more.\n", __FILE__);
  }

  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  for (void* each : {(void*)device_q, (void*)device_k, (void*)device_v, (void*)o, (void*)m, (void*)l}) {
    CHECK(cudaFree(each));
  }
  return wrong != 0;
}
