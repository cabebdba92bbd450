// What the two halves of the program share: the numbers that are tried, and how the GPU is asked.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

// 64 bits from a number: the finalizer of splitmix64.
BOTH inline std::uint64_t mixed(std::uint64_t z) {
  z = (z + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Two floats, the dividend below. One pair in four has a quotient near the edge of the subnormals: divisors that are
// 2^124 to 2^127 times the dividend, but for their last bits.
BOTH inline std::uint64_t pair(std::uint64_t number) {
  const std::uint64_t bits = mixed(number);
  if (number % 4 != 0) return bits;
  const std::uint64_t x = (bits & 0x807fffff) | (1 + (bits >> 23 & 255) % 125) << 23;
  const std::uint64_t y = x + ((124 + (bits >> 32 & 3)) << 23) + (bits >> 34 & 15) - 8;
  return x | ((y & 0x7fffffff) | (bits >> 32 & 0x80000000)) << 32;
}

BOTH inline std::uint64_t with_upper_word(std::uint64_t word) { return word << 32 | (mixed(word) & 0xffffffffu); }

enum Function {
#define ONE(name, ...) k_##name,
#define TWO ONE
#define UPPER_WORD ONE
#define DOUBLE ONE
#include "functions.inc"
#undef ONE
#undef TWO
#undef UPPER_WORD
#undef DOUBLE
  kFunctions
};

const char* gpu_name();
std::uint64_t* host_buffer(std::uint64_t count);  // pinned, of 64-bit words
// The bits of the results of inputs number `first` to `first + count`, in 32-bit words, or in 64-bit ones of doubles.
void measure(Function function, std::uint64_t first, std::uint64_t count, void* results);
