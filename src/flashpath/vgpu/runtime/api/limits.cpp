#include "api/limits.h"

#include <algorithm>
#include <string>

#include "ground/sizes.h"
#include "state/runtime.h"

// Defaults, least values and units are those that an H200's driver told (tests/programs/hardware). What it gives for
// printing is 64 KiB for each multiprocessor, and for data that stays in the L2 cache a number of sixteenths of it.
namespace flashpath::runtime {
namespace {

// CU_LIMIT_SHMEM_SIZE and CU_LIMIT_CIG_ENABLED of the driver's enumeration, which the runtime's has no names for.
constexpr int kSharedBesideGraphics = 7;
constexpr int kBesideGraphics = 8;
constexpr int kMostLimit = 9;

constexpr std::size_t kPrintedPerMultiprocessor = 64 << 10;
constexpr std::size_t kLeastPrinted = 512 << 10;
constexpr std::size_t kStandardHeap = 8 << 20;
constexpr std::size_t kHeapUnit = 4 << 20;
constexpr std::size_t kMostFetched = 128;
constexpr std::size_t kStandardSixteenths = 3;

std::size_t sixteenth_of_l2(const Gpu& gpu) { return static_cast<std::size_t>(gpu.l2_bytes / 16); }

}  // namespace

std::size_t standard_limit(const Gpu& gpu, cudaLimit limit) {
  switch (static_cast<int>(limit)) {
    case cudaLimitStackSize: return 1024;
    case cudaLimitPrintfFifoSize:
      return std::max(kLeastPrinted, kPrintedPerMultiprocessor * static_cast<std::size_t>(gpu.multiprocessors));
    case cudaLimitMallocHeapSize: return kStandardHeap;
    case cudaLimitDevRuntimePendingLaunchCount: return 2048;
    case cudaLimitMaxL2FetchGranularity: return 64;
    case cudaLimitPersistingL2CacheSize:
      return gpu.persisting_l2_sixteenths == 0 ? 0 : kStandardSixteenths * sixteenth_of_l2(gpu);
    case kSharedBesideGraphics: return static_cast<std::size_t>(gpu.max_shared_per_block);
    case kBesideGraphics: return 0;
    default: {  // a few more the driver knows, and no GPU of today has
      const int number = static_cast<int>(limit);
      const cudaError_t code = number >= 0 && number <= kMostLimit ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
      throw ApiError{code, {"vgpu.no-such-limit", {{"number", number}}}};
    }
  }
}

std::size_t limit_to_set(const Gpu& gpu, cudaLimit limit, std::size_t value) {
  standard_limit(gpu, limit);  // is there one?
  switch (static_cast<int>(limit)) {
    case cudaLimitPrintfFifoSize: return std::max(value, kLeastPrinted);
    case cudaLimitMallocHeapSize: return std::max(rounded(value, kHeapUnit), kHeapUnit);
    case cudaLimitMaxL2FetchGranularity:
      if (value > kMostFetched) throw ApiError{cudaErrorInvalidValue, "vgpu.fetch-too-large"};
      return value;
    case cudaLimitPersistingL2CacheSize: {
      if (gpu.persisting_l2_sixteenths == 0) return 0;
      const std::size_t sixteenth = sixteenth_of_l2(gpu);
      const std::size_t most = sixteenth * static_cast<std::size_t>(gpu.persisting_l2_sixteenths);
      return std::min(rounded(value, sixteenth), most);
    }
    case kSharedBesideGraphics:
    case kBesideGraphics: throw ApiError{cudaErrorNotPermitted, "vgpu.for-graphics"};
    default: return value;
  }
}

}  // namespace flashpath::runtime
