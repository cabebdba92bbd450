// One product on a tensor core, fragments loaded by hand: d = a b.
// a: (16, 8), b: (8, 8), d: (16, 8), all float, row by row.
__global__ void one_tile(const float* a, const float* b, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const float loaded[6] = {
      a[g * 8 + t],       a[(g + 8) * 8 + t],      // A: registers 0 and 1
      a[g * 8 + t + 4],   a[(g + 8) * 8 + t + 4],  // A: registers 2 and 3
      b[t * 8 + g],       b[(t + 4) * 8 + g],      // B: registers 0 and 1
  };
  unsigned r[6];
  for (int e = 0; e < 6; ++e) {  // to the nearest TF32
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[e]) : "f"(loaded[e]));
  }
  float s[4] = {};
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
  d[g * 8 + 2 * t] = s[0];
  d[g * 8 + 2 * t + 1] = s[1];
  d[(g + 8) * 8 + 2 * t] = s[2];
  d[(g + 8) * 8 + 2 * t + 1] = s[3];
}
