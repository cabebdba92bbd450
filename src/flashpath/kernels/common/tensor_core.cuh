// What the tensor-core rungs have in common: how a tile's chunks of 16 bytes come from a matrix whose edge may run
// through the tile, and the instructions of a warp that has its tiles in shared memory.
//
// A warp multiplies by `mma.sync`: D (16, 8) += A (16, kK) B (kK, 8), in float32, with kK = 16 for half types and 8
// for tf32: 32 bytes of a row of A either way. Lane l holds, with g = l / 4 and t = l % 4, in registers of 32 bits,
// each two halves or one tf32,
//
//   A   {(g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)}   t counting registers along a row
//   B   {(t, g), (t + 4, g)}                               t counting registers down a column
//   D   {(g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)}
#pragma once
#include "numbers.cuh"
#include "pack.cuh"

// ---- From a matrix ---------------------------------------------------------------------------------------------

// 16 bytes of a row, of which `inside` elements, if any, are before the row's end; zeros for the others. `kAligned`
// promises that every row begins and ends at a multiple of 16 bytes: then a chunk is inside or outside as a whole, and
// is one load. Rows that begin anywhere are read element by element.
template <bool kAligned, class T>
__device__ Pack<T> load_chunk(const T* __restrict__ from, int inside) {
  Pack<T> chunk = {};
  if constexpr (kAligned) {
    if (inside > 0) {
      chunk = read_only(reinterpret_cast<const Pack<T>*>(from));
    }
  } else {
#pragma unroll
    for (int e = 0; e < 16 / sizeof(T); ++e) {
      if (e < inside) {
        chunk.value[e] = from[e];
      }
    }
  }
  return chunk;
}

// The way back: what is outside is not written.
template <bool kAligned, class T, int kWidth>
__device__ void store_chunk(T* __restrict__ to, int inside, Pack<T, kWidth> chunk) {
  if constexpr (kAligned) {
    if (inside > 0) {
      *reinterpret_cast<Pack<T, kWidth>*>(to) = chunk;
    }
  } else {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      if (e < inside) {
        to[e] = chunk.value[e];
      }
    }
  }
}

// A row-major matrix, or a part of one that a block works on: from (row, column) on.
template <class T>
struct Region {
  T* from;
  int rows, columns;  // from here to the matrix's edge, perhaps less than none
  long long pitch;

  __device__ Region(T* matrix, int rows, int columns, int row = 0, int column = 0)
      : from(matrix + row * (long long)columns + column), rows(rows - row), columns(columns - column), pitch(columns) {}

  __device__ T* at(int row, int column) const { return from + row * pitch + column; }
  // How many elements of a row there are from here on; none where there is no such row.
  __device__ int inside(int row, int column) const { return row < rows ? columns - column : 0; }
};

// ---- Instructions of a warp ------------------------------------------------------------------------------------

// The address of shared memory as instructions take it: 32 bits.
__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Four 8×8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8, 16 bytes, and gets two
// neighbours of each matrix: (g, 2t) and (g, 2t + 1). For 32-bit elements that is element (g, t) of an 8×4 matrix.
__device__ inline void ldmatrix(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// The same, each matrix transposed on the way: (2t, g) and (2t + 1, g).
__device__ inline void ldmatrix_transposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

__device__ inline unsigned load_shared(unsigned address) {
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

// Four lanes, kApart from each other, with four registers each hand them round: number t of them gets number t of each.
template <int kApart>
__device__ void transpose_among_four(unsigned (&r)[4]) {
#pragma unroll
  for (int apart = 1; apart <= 2; apart *= 2) {
    const bool is_upper = threadIdx.x & apart * kApart;
#pragma unroll
    for (int low = 0; low < 4; ++low) {
      if ((low & apart) == 0) {  // of two registers, a lower lane gives away the upper, an upper lane the lower
        const int high = low + apart;
        const unsigned given = __shfl_xor_sync(~0u, is_upper ? r[low] : r[high], apart * kApart);
        r[low] = is_upper ? given : r[low];
        r[high] = is_upper ? r[high] : given;
      }
    }
  }
}

// What differs between the types of A and B.
template <class T>
struct TensorCore;

#define MMA_SYNC(shape_and_types)                                                                                     \
  asm("mma.sync.aligned." shape_and_types " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"          \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                                \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

template <>
struct TensorCore<__half> {
  static constexpr int kK = 16;
  static constexpr bool kTransposes = true;  // ldmatrix turns rows of B into the columns that mma wants
  __device__ static void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    MMA_SYNC("m16n8k16.row.col.f32.f16.f16.f32");
  }
  __device__ static void round(unsigned&) {}
};

template <>
struct TensorCore<__nv_bfloat16> : TensorCore<__half> {
  __device__ static void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    MMA_SYNC("m16n8k16.row.col.f32.bf16.bf16.f32");
  }
};

template <>
struct TensorCore<float> {
  static constexpr int kK = 8;
  static constexpr bool kTransposes = false;  // it would transpose halves of 32-bit elements
  __device__ static void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    MMA_SYNC("m16n8k8.row.col.f32.tf32.tf32.f32");
  }
  // To tf32, to the nearest. The tensor core itself cuts the lower 13 bits off, an error twice as large and always
  // towards zero.
  __device__ static void round(unsigned& bits) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
  }
};
#undef MMA_SYNC

// ---- From tiles in shared memory to the registers of mma -------------------------------------------------------
// `Layout::at(row, chunk)` is where a tile has the 16 bytes number `chunk` of a row; Layout::kPitch is a row's bytes.
// Rows 8 apart must have the same pattern, so that only the first address of a lane has to be computed.

// Of A: 16 rows and 32 bytes of each, from `row` and `chunk` on.
template <class Layout>
__device__ int offset_of_a(int lane, int row, int chunk) {
  return Layout::at(row + lane % 16, chunk + lane / 16);
}

template <class T>
__device__ void load_a(unsigned (&a)[4], unsigned address) {
  ldmatrix(a, address);
#pragma unroll
  for (unsigned& bits : a) {
    TensorCore<T>::round(bits);
  }
}

// Of B: kK rows from row 0 on; 16 columns for half types, all with one ldmatrix; 8 for tf32.
template <class T, class Layout>
__device__ int offset_of_b(int lane, int column) {
  if constexpr (TensorCore<T>::kTransposes) {
    return Layout::at(lane % 16, column / 8 + lane / 16);
  } else {
    const int n = column + lane / 4;
    return Layout::at(lane % 4, n / 4) + n % 4 * 4;
  }
}

// Two neighbours of 8 columns each.
template <class T, class Layout>
__device__ void load_b(unsigned (&left)[2], unsigned (&right)[2], unsigned at_left, unsigned at_right) {
  if constexpr (TensorCore<T>::kTransposes) {
    unsigned both[4];
    ldmatrix_transposed(both, at_left);
    left[0] = both[0], left[1] = both[1];
    right[0] = both[2], right[1] = both[3];
  } else {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      left[half] = load_shared(at_left + half * 4 * Layout::kPitch);
      right[half] = load_shared(at_right + half * 4 * Layout::kPitch);
      TensorCore<T>::round(left[half]);
      TensorCore<T>::round(right[half]);
    }
  }
}
