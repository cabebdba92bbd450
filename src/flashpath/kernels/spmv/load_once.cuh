// A load of what is soon done with: its line is the first that L1 gives up, and those of x, which many entries meet,
// stay. Not past L1: a warp's entries begin anywhere, and neighbours find the rest of a sector there.
// For elements of 2 to 8 bytes that no kernel writes while this one runs.
#pragma once

template <class T>
__device__ T load_once(const T* from) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "one register, half of one, or a pair");
  T element;
  if constexpr (sizeof(T) == 2) {
    short bits;
    asm("ld.global.nc.L1::evict_first.b16 %0, [%1];" : "=h"(bits) : "l"(from));
    memcpy(&element, &bits, sizeof(T));
  } else if constexpr (sizeof(T) == 4) {
    int bits;
    asm("ld.global.nc.L1::evict_first.b32 %0, [%1];" : "=r"(bits) : "l"(from));
    memcpy(&element, &bits, sizeof(T));
  } else {
    long long bits;
    asm("ld.global.nc.L1::evict_first.b64 %0, [%1];" : "=l"(bits) : "l"(from));
    memcpy(&element, &bits, sizeof(T));
  }
  return element;
}
