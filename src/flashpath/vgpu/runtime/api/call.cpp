#include "api/call.h"

#include <cstdio>

namespace flashpath::runtime {

void tell_refused(const char* name, const ApiError& error) {
  if (error.reason.empty()) return;
  std::fprintf(stderr, "flashpath: %s returns %s: %s\n", name, cudaGetErrorName(error.code), error.reason.c_str());
}

void tell_failure(const char* name, const std::exception& error) {
  std::fprintf(stderr, "flashpath: %s: %s\n", name, error.what());
}

}  // namespace flashpath::runtime
