// A load of what is soon done with: its line is the first that L1 gives up, and those of x, which many entries meet,
// stay. Not past L1: a warp's entries begin anywhere, and neighbours find the rest of a sector there.
// For elements of 2 to 8 bytes that no kernel writes while this one runs.
#pragma once
#include "../common/pack.cuh"

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

// 16 bytes in one load, from an address that is aligned to them.
template <class T>
__device__ Pack<T> load_pack_once(const T* from) {
  int4 bits;
  asm("ld.global.nc.L1::evict_first.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
      : "l"(from));
  Pack<T> pack;
  memcpy(&pack, &bits, sizeof(pack));
  return pack;
}

// The same past L1, for warps that read whole lines.
template <class T>
__device__ Pack<T> load_pack_past_l1(const T* from) {
  int4 bits;
  asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
      : "l"(from));
  Pack<T> pack;
  memcpy(&pack, &bits, sizeof(pack));
  return pack;
}
