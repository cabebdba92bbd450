#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <vector>
// prints the code of a call, and then the last error, which is cleared
#define P(...) do { cudaError_t e_ = (__VA_ARGS__); cudaError_t l_ = cudaGetLastError(); \
  std::printf("%-90s %s%s%s\n", #__VA_ARGS__, cudaGetErrorName(e_), e_ == l_ ? "" : "   last: ", e_ == l_ ? "" : cudaGetErrorName(l_)); std::fflush(stdout); } while (0)
// a launch: the last error after it
#define L(...) do { __VA_ARGS__; std::printf("%-90s last: %s", #__VA_ARGS__, cudaGetErrorName(cudaGetLastError())); \
  std::printf("   sync: %s\n", cudaGetErrorName(cudaDeviceSynchronize())); cudaGetLastError(); std::fflush(stdout); } while (0)
