// What every program here does with the answer of a runtime call.
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
