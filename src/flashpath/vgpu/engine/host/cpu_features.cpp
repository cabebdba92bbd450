#include "host/cpu_features.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace flashpath::host {

using Extensions = std::vector<std::pair<std::string, bool>>;

#if defined(__x86_64__)

namespace {

struct Cpuid {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero for a leaf above the highest one, where the instruction itself would answer with another leaf.
Cpuid cpuid(uint32_t leaf, uint32_t subleaf) {
  Cpuid r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

constexpr bool bit(uint32_t word, int index) { return (word >> index) & 1; }

// The register files that the operating system saves (XCR0).
uint64_t saved_state() {
  constexpr int kOsxsave = 27;
  if (!bit(cpuid(1, 0).ecx, kOsxsave)) return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

}  // namespace

Extensions vector_extensions() {
  constexpr uint64_t kYmm = 0b110;           // XMM, upper halves of YMM
  constexpr uint64_t kZmm = kYmm | 0xE0;     // masks, upper halves of ZMM0–15, ZMM16–31
  constexpr uint64_t kTiles = 0b11ull << 17;  // tile configuration, tile data
  const uint64_t saved = saved_state();
  const bool ymm = (saved & kYmm) == kYmm;
  const bool zmm = (saved & kZmm) == kZmm;
  const bool tiles = (saved & kTiles) == kTiles;

  const Cpuid base = cpuid(1, 0);
  const Cpuid wide = cpuid(7, 0);
  const Cpuid more = cpuid(7, 1);
  return {
      {"sse4_2", bit(base.ecx, 20)},
      {"avx", ymm && bit(base.ecx, 28)},
      {"f16c", ymm && bit(base.ecx, 29)},
      {"fma", ymm && bit(base.ecx, 12)},
      {"avx2", ymm && bit(wide.ebx, 5)},
      {"avx512f", zmm && bit(wide.ebx, 16)},
      {"avx512dq", zmm && bit(wide.ebx, 17)},
      {"avx512cd", zmm && bit(wide.ebx, 28)},
      {"avx512bw", zmm && bit(wide.ebx, 30)},
      {"avx512vl", zmm && bit(wide.ebx, 31)},
      {"avx512_vnni", zmm && bit(wide.ecx, 11)},
      {"avx512_bf16", zmm && bit(more.eax, 5)},
      {"avx512_fp16", zmm && bit(wide.edx, 23)},
      {"amx_tile", tiles && bit(wide.edx, 24)},
      {"amx_int8", tiles && bit(wide.edx, 25)},
      {"amx_bf16", tiles && bit(wide.edx, 22)},
  };
}

#elif defined(__aarch64__) && defined(__linux__)

Extensions vector_extensions() {
  const unsigned long first = getauxval(AT_HWCAP);
  [[maybe_unused]] const unsigned long second = getauxval(AT_HWCAP2);
  Extensions found;
  found.emplace_back("asimd", first & HWCAP_ASIMD);
  found.emplace_back("asimdhp", first & HWCAP_ASIMDHP);
// Headers older than the extension do not name its bit.
#ifdef HWCAP_ASIMDDP
  found.emplace_back("asimddp", first & HWCAP_ASIMDDP);
#endif
#ifdef HWCAP2_I8MM
  found.emplace_back("i8mm", second & HWCAP2_I8MM);
#endif
#ifdef HWCAP2_BF16
  found.emplace_back("bf16", second & HWCAP2_BF16);
#endif
#ifdef HWCAP_SVE
  found.emplace_back("sve", first & HWCAP_SVE);
#endif
#ifdef HWCAP2_SVE2
  found.emplace_back("sve2", second & HWCAP2_SVE2);
#endif
  return found;
}

#else

Extensions vector_extensions() { return {}; }

#endif

}  // namespace flashpath::host
