// What the programs of this folder share. Each holds one mistake for each of its functions, which the first argument
// names; a second one, `mended`, runs the function without it.
//
// The line that a finding must name says `// BUG: KIND`, that of the other party `// OTHER`. Where they stand outside
// of the function, in a kernel, they say of which: `// BUG of NAME: KIND`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

inline bool mended = false;

inline void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::printf("CUDA error: %s\n", cudaGetErrorString(code));
  std::exit(1);
}

// The mended ones compute something, and it must be right.
inline void expect(bool holds) {
  if (!mended || holds) return;
  std::printf("the result is wrong\n");
  std::exit(1);
}

struct Function {
  const char* name;
  void (*run)();
};

template <int kCount>
int run_named(int argc, char** argv, const Function (&all)[kCount]) {
  mended = argc == 3 && std::strcmp(argv[2], "mended") == 0;
  for (const Function& each : all) {
    if (argc < 2 || std::strcmp(argv[1], each.name) != 0) continue;
    each.run();
    return 0;
  }
  std::printf("there is no such function\n");
  return 2;
}
#define NAMED(function) \
  { #function, function }
