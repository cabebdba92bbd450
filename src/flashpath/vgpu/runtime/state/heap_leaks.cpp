#include "state/heap_leaks.h"

#include <map>
#include <memory>

#include "sanitize/sanitizer.h"

namespace flashpath::runtime {

void tell_heap_leaks(Runtime& runtime) {
  for (const std::unique_ptr<Module>& module : runtime.registry.modules()) {
    for (const auto& [number, on_device] : module->devices()) {
      // A context that has died has taken its memory along, and what would have freed it did not run.
      if (runtime.device(number).dead != cudaSuccess) continue;
      std::map<const Program*, observe::Findings> leaks;
      for (const auto& [address, given] : on_device->open_allocations) {
        leaks[given.program].add(sanitize::leak_of(address, given, "vgpu.leak-of-program"));
      }
      for (const auto& [program, findings] : leaks) {
        runtime.record.findings(*runtime.registry.kernel_of(*program), *program, findings, nullptr);
      }
    }
  }
}

}  // namespace flashpath::runtime
