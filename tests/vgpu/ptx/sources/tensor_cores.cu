// at least sm_80
#include <mma.h>

extern "C" __global__ void product(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half tile[16 * 16];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  unsigned fa[4], fb[2];
  float acc[4] = {0, 0, 0, 0};
  const unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x % 16 * 16]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(where));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2+16];"
               : "=r"(fb[0]), "=r"(fb[1]) : "r"(where));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = acc[i];

  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> wa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> wb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> wc;
  wmma::fill_fragment(wc, 0.0f);
  wmma::load_matrix_sync(wa, a, 16);
  wmma::load_matrix_sync(wb, b, 16);
  wmma::mma_sync(wc, wa, wb, wc);
  wmma::store_matrix_sync(c + 512, wc, 16, wmma::mem_row_major);
}
