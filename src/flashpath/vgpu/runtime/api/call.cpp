#include "api/call.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace flashpath::runtime {

void unload_at_exit() {
  std::atexit([] { Runtime::get().is_unloaded = true; });
}

void note_error(Runtime& runtime, const char* name, const ApiError& error) {
  last_error() = error.code;
  if (runtime.is_unloaded) return;
  if (!error.reason.empty()) {
    tell({"vgpu.call-fails-because",
                                  {{"call", name}, {"error", cudaGetErrorName(error.code)}, {"reason", error.reason}}});
  }
  if (runtime.checks == nullptr) return;
  // A dead context answers every call with the same error: who has got it once knows.
  Device& device = runtime.device();
  if (device.dead == error.code && std::exchange(device.death_is_told, true)) return;
  const bool is_launch = std::strcmp(name, kBrackets) == 0;
  runtime.checks->failed(
      {name, cudaGetErrorName(error.code), error.reason, error.finding, error.other, is_launch});
}

}  // namespace flashpath::runtime
