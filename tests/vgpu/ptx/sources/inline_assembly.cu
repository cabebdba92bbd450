extern "C" __global__ void blocks(int* out, const float* in, unsigned long long policy) {
  int result = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .b32 t;\n\t"
        "setp.ne.s32 p, %0, %1;\n\t@!p bra DONE;\n\tadd.s32 t, %0, 0x10;\n\tmov.b32 %0, t;\nDONE:\n\t}"
        : "+r"(result) : "r"(i));
    asm volatile("{ .reg .b32 t; mov.u32 t, %%laneid; { .reg .f32 t; mov.f32 t, 0f3F800000; } add.s32 %0, %0, t; }"
                 : "+r"(result));
  }
  unsigned stop;
  asm volatile("mov.u32 %0, %%clock_hi; /* a comment; with } in it */" : "=r"(stop));
  float value;
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1 + 4 * 2];" : "=f"(value) : "l"(in));
  out[threadIdx.x] = result + stop + value;
}
