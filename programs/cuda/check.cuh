// What the programs here share: what is done with the answer of a runtime call, and what is to be said of times.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

// `flashpath run` tells the virtual GPU by this variable what it plays.
inline bool is_virtual() { return std::getenv("FLASHPATH_RUNTIME") != nullptr; }

// Of kernels that do the same with the same data.
inline void tell_of_bounds(const char* program) {
  if (!is_virtual()) return;
  std::printf("On the virtual GPU times are bounds of a model, equal where only traffic decides;\n");
  std::printf("flashpath profile %s shows what differs.\n", program);
}

// nvcc optimizes device code, and host code only if told to.
inline void tell_of_host_code() {
#ifndef __OPTIMIZE__
  std::printf("The CPU runs code that is not optimized: flashpath run -O3, or nvcc -O3, compares better.\n");
#endif
}
