// Loads that tell the caches what to do with the lines they bring, for what is read twice: the first read asks to keep
// them, the second to let them go, so that what is at work stays in the L2 cache among all that streams by.
#pragma once

enum Caches { kAsEver, kKeep, kLetGo };

// Of 16-byte loads: what the caches shall do with these lines. Narrower ones are plain.
template <Caches kWhat>
struct Hinted {
#if __CUDA_ARCH__ >= 800
  unsigned long long policy;

  __device__ Hinted() {
    if constexpr (kWhat == kKeep) {
      asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    } else if constexpr (kWhat == kLetGo) {
      asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    }
  }
#endif

  template <class P>
  __device__ P operator()(const P* from) const {
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(P) == 16 && kWhat != kAsEver) {
      uint4 bits;
      if constexpr (kWhat == kKeep) {
        asm volatile("ld.global.L1::evict_last.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                     : "l"(from), "l"(policy));
      } else {
        asm volatile("ld.global.L1::evict_first.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                     : "l"(from), "l"(policy));
      }
      P pack;
      memcpy(&pack, &bits, sizeof(pack));
      return pack;
    }
#endif
    return *from;
  }
};
