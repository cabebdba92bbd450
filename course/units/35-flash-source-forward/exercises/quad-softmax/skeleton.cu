// out = softmax(scale * s) v and lse = log of the row sums of e^(scale * s): the online softmax in registers, as an mma
// leaves the scores there. A warp has 16 rows and meets 32 columns at a time; a row lies in four neighbouring lanes.
// s: (rows, keys), float, -inf where a key is masked. v: (keys, 8), fp16. out: (rows, 8), lse: (rows), float.
#include <cuda_fp16.h>

constexpr int kTiles = 4, kDim = 8;  // mma tiles of 8 columns that are met at once; columns of v
constexpr float kLog2E = 1.44269504088896340736f;

// The scores of one step: element e of tile n is in row lane / 4 + 8 (e / 2), column 8 n + 2 (lane % 4) + e % 2.
__device__ void load_scores(float (&p)[kTiles][4], const float* s, int row0, int rows, int first, int keys) {
  const int row = row0 + threadIdx.x % 32 / 4, column = first + threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2 * 8, c = column + n * 8 + e % 2;
      p[n][e] = r < rows && c < keys ? s[r * keys + c] : -INFINITY;
    }
  }
}

__device__ unsigned pack(float x, float y) {
  const __half2 both = __floats2half2_rn(x, y);
  return *reinterpret_cast<const unsigned*>(&both);
}

__device__ __half value_at(const __half* v, int key, int keys, int column) {
  return key < keys ? v[key * kDim + column] : __half(0.0f);
}

// o += p v for the 32 keys from `first` on, on tensor cores: two instructions of 16 keys. Weights are rounded to fp16.
__device__ void add_product(float (&o)[4], const float (&p)[kTiles][4], const __half* v, int first, int keys) {
  const int lane = threadIdx.x % 32, column = lane / 4;
#pragma unroll
  for (int step = 0; step < kTiles / 2; ++step) {
    const float *left = p[2 * step], *right = p[2 * step + 1];
    const unsigned a[4] = {pack(left[0], left[1]), pack(left[2], left[3]), pack(right[0], right[1]), pack(right[2], right[3])};
    unsigned b[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int key = first + step * 16 + i * 8 + lane % 4 * 2;
      const __half2 both = __halves2half2(value_at(v, key, keys, column), value_at(v, key + 1, keys, column));
      b[i] = *reinterpret_cast<const unsigned*>(&both);
    }
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(o[0]), "+f"(o[1]), "+f"(o[2]), "+f"(o[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

// TODO: maximum and sum over the four lanes of a row.
__device__ float quad_max(float x) {
  return x;
}
__device__ float quad_sum(float x) {
  return x;
}

// The state of a lane's two rows, and of its part of their output.
struct State {
  float m[2] = {-INFINITY, -INFINITY};  // the largest score so far, not scaled
  float l[2] = {};                      // this lane's part of the sum
  float o[4] = {};

  // Scores become weights; m, l and o of earlier steps shrink to the new maximum.
  __device__ void update(float (&p)[kTiles][4], float scale_log2) {
    // TODO: the new maximum of each of the two rows; shrink l and o; turn the scores into weights and count them in l.
  }

  // In the end: the sum of row i, whole.
  __device__ float total(int i) const { return quad_sum(l[i]); }
};

__global__ void online(int rows, int keys, float scale, const float* s, const __half* v, float* out, float* lse) {
  const int lane = threadIdx.x % 32, row0 = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
  State state;
  for (int first = 0; first < keys; first += kTiles * 8) {
    float p[kTiles][4];
    load_scores(p, s, row0, rows, first, keys);
    state.update(p, scale * kLog2E);
    add_product(state.o, p, v, first, keys);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = row0 + lane / 4 + 8 * i;
    // TODO: what the row of o is multiplied by, and lse, a natural logarithm.
    const float times = 1.0f, log_of_sum = 0.0f;
    if (row < rows) {
      out[row * kDim + lane % 4 * 2] = state.o[2 * i] * times;
      out[row * kDim + lane % 4 * 2 + 1] = state.o[2 * i + 1] * times;
      if (lane % 4 == 0) {
        lse[row] = log_of_sum;
      }
    }
  }
}
