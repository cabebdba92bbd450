extern "C" __global__ void choose(int* out, int which, float x) {
  switch (which) {
    case 0: out[0] = 11; break;
    case 1: out[7] = __float2int_rn(x); break;
    case 2: out[2] = out[3] * 7; break;
    case 3: __syncthreads(); break;
    case 4: atomicAdd(out, 4); break;
    case 5: out[5] = clock(); break;
    case 6: out[6] = __popc(out[1]); break;
    case 7: out[1] = sinf(x); break;
    case 8: out[8] = out[9] / which; break;
    case 9: out[4] = -which; break;
    case 10: out[10] = __clz(out[2]); break;
    case 11: out[11] = sqrtf(x); break;
    default: out[12] = 1;
  }
}

// What a compiler may make of a switch: a jump through a table of labels.
extern "C" __global__ void jump(int* out, unsigned which) {
  int result = 0;
  asm volatile(
      "{\ntable: .branchtargets ZERO, ONE, ZERO, TWO;\n"
      "\tbrx.idx %1, table;\n"
      "ZERO:\n\tmov.s32 %0, 10;\n\tbra.uni END;\n"
      "ONE:\n\tmov.s32 %0, 11;\n\tbra.uni END;\n"
      "TWO:\n\tmov.s32 %0, 12;\nEND:\n\t}"
      : "+r"(result) : "r"(which & 3));
  out[threadIdx.x] = result;
}
