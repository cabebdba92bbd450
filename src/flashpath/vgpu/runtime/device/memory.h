// The memory of a program that runs on virtual GPUs: what it has allocated, and where that stands.
//
// Device memory has addresses of its own, at which the host finds nothing: a program that reads a device pointer on
// the host ends with a segmentation fault, as on hardware. Its bytes are elsewhere. Host memory that devices see,
// pinned and managed, has one address for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "device/initialised.h"
#include "ground/call_site.h"
#include "machine/launch.h"

namespace flashpath::runtime {

enum class MemoryKind : std::uint8_t { kDevice, kPinned, kRegistered, kManaged };

struct Allocation {
  std::uint64_t address = 0;  // as the program sees it
  std::size_t size = 0;       // as it asked for
  std::byte* bytes = nullptr;
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;             // of which it is, or which was current
  std::size_t reserved = 0;   // bytes taken of the host, to be given back
  bool of_program = false;    // a variable, which nobody frees
  CallSiteRef site;           // of the call that made it, where the program is checked
  bool is_leaving = false;    // freed in the order of a stream, whose turn has not come: it is not freed again
  CallSiteRef left;           // of the call that did so
};

// An allocation that is no more.
struct Freed {
  std::size_t size = 0;
  CallSiteRef freed;  // of the call that did so
};

class Memory {
 public:
  // nullptr where neither the device nor the host has so much.
  const Allocation* allocate(MemoryKind kind, std::size_t size, int device, std::uint64_t capacity);
  // Memory of that kind at that address, which the program holds from its start to its end; nullptr: it is taken.
  const Allocation* allocate_at(std::uint64_t address, MemoryKind kind, std::size_t size);
  // Memory that is there already: registered by the host, or a variable.
  const Allocation* adopt(const Allocation& allocation);
  // Of an allocation, by its first address; false where there is none such.
  bool release(std::uint64_t address);

  // That which holds these bytes; nullptr: none does.
  const Allocation* find(const void* pointer, std::size_t size = 1) const;
  // That which holds any of these bytes.
  const Allocation* overlapping(const void* pointer, std::size_t size) const;
  // It has been freed in the order of a stream.
  void let_leave(std::uint64_t address);
  // That which a pointer points into, or just behind, or has been freed: for messages.
  const Allocation* near(const void* pointer) const;
  // What was freed there; nullptr: nothing was.
  const Freed* was_freed(const void* pointer) const;
  // Whether it can only point to device memory, be it there or not.
  static bool is_device_address(const void* pointer);
  // Whether the host has memory in the whole range.
  static bool is_mapped(const void* pointer, std::size_t size);

  const std::map<std::uint64_t, Allocation>& all() const { return all_; }
  std::uint64_t used(int device) const;
  // Of device memory, what is initialised; nullptr: nobody asks, and all of it counts as that.
  Initialised* initialised() { return initialised_.get(); }
  void watch_initialised() { initialised_ = std::make_unique<Initialised>(); }
  // Grows whenever something is allocated or released.
  std::uint64_t generation() const { return generation_; }

 private:
  std::uint64_t next_address(std::size_t size);

  std::map<std::uint64_t, Allocation> all_;
  std::map<std::uint64_t, Freed> freed_;  // by address; none is used twice
  std::map<int, std::uint64_t> used_;
  std::uint64_t next_device_ = 0;
  std::uint64_t next_host_ = 0;
  std::uint64_t generation_ = 0;
  std::unique_ptr<Initialised> initialised_;
};

}  // namespace flashpath::runtime
