// What the programs of this folder share: facts that are printed, and calls that must succeed.
#pragma once

#include <cstdio>
#include <cstdlib>

inline int wrong = 0;  // main returns it

inline void expect(bool holds, const char* fact) {
  std::printf("%s: %s\n", holds ? "ok" : "WRONG", fact);
  if (!holds) ++wrong;
}

inline void expect_error(cudaError_t got, cudaError_t wanted, const char* fact) {
  expect(got == wanted, fact);
  if (got != wanted) std::printf("  %s, not %s\n", cudaGetErrorName(got), cudaGetErrorName(wanted));
}

#define MUST(call)                                                                                    \
  do {                                                                                                \
    const cudaError_t error_of_call = (call);                                                         \
    if (error_of_call != cudaSuccess) {                                                               \
      std::printf("line %d: %s returned %s\n", __LINE__, #call, cudaGetErrorName(error_of_call));     \
      std::exit(100);                                                                                 \
    }                                                                                                 \
  } while (0)
