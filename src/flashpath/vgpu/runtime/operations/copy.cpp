#include "operations/copy.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "ground/sizes.h"
#include "work/model.h"

namespace flashpath::runtime {
namespace {

// One end of a copy.
struct End {
  const Allocation* allocation = nullptr;  // nullptr: memory of the host that no call has made known, pageable
  std::byte* bytes = nullptr;
  std::size_t pitch = 0;
  std::size_t plane = 0;

  bool is_device() const { return allocation != nullptr && allocation->kind == MemoryKind::kDevice; }
  bool is_pageable() const { return allocation == nullptr; }
};

std::size_t extent_of(const Place& place, const Box& box) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return 0;
  const std::size_t rows = sum(product(box.depth - 1, place.plane), product(box.height - 1, place.pitch));
  return sum(rows, box.width);
}

std::uint64_t bytes_of(const Box& box) { return product(product(box.width, box.height), box.depth); }

End find(Runtime& runtime, const Place& place, const Box& box, const char* which) {
  const std::size_t size = extent_of(place, box);
  const Allocation* const found = runtime.memory.find(place.pointer, size);
  if (found != nullptr) {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(place.pointer) - found->address;
    return {found, found->bytes + offset, place.pitch, place.plane};
  }
  const MessageParameter end("end", Message(which));
  if (place.pointer == nullptr) throw ApiError{cudaErrorInvalidValue, {"vgpu.end-is-null", {end}}, "bad-pointer"};
  if (const Allocation* const cut = runtime.memory.find(place.pointer)) {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(place.pointer) - cut->address;
    throw ApiError{cudaErrorInvalidValue,
                   {"vgpu.end-too-short", {end, {"bytes", cut->size - offset}, {"asked", size}}},
                   "out-of-bounds",
                   {"vgpu.allocated", cut->site}};
  }
  if (const Freed* const freed = runtime.memory.was_freed(place.pointer)) {
    throw ApiError{cudaErrorInvalidValue, {"vgpu.end-was-freed", {end}}, "use-after-free", {"vgpu.freed", freed->freed}};
  }
  if (Memory::is_device_address(place.pointer)) {
    throw ApiError{cudaErrorInvalidValue, {"vgpu.end-is-unknown", {end}}, "bad-pointer"};
  }
  if (sum(reinterpret_cast<std::uint64_t>(place.pointer), size) > kMostAddress) {
    throw ApiError{cudaErrorInvalidValue, {"vgpu.end-beyond-memory", {end, {"asked", size}}}, "out-of-bounds"};
  }
  return {nullptr, static_cast<std::byte*>(place.pointer), place.pitch, place.plane};
}

// What is to be said of a copy whose kind and addresses do not agree.
struct Disagreement {
  Message what;    // empty: they agree
  bool is_refused = false;  // else it is made as the addresses have it
};

// As on hardware: the addresses decide, and the kind only has to leave pageable memory to the host. Pinned and managed
// memory belongs to both sides.
Disagreement disagreement(const End& to, const End& from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return {};
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const std::string name = std::string("cudaMemcpy") + (from_device ? "Device" : "Host") + "To" +
                           (to_device ? "Device" : "Host");
  Disagreement found;
  const auto look_at = [&](const End& end, bool should_be_device, const char* which) {
    if (should_be_device ? !end.is_pageable() : !end.is_device()) return;
    const Message wrong(which, {{"memory", Message(should_be_device ? "vgpu.host-memory" : "vgpu.device-memory")}});
    found.what = found.what.empty() ? Message("vgpu.kind-disagrees", {{"kind", name}, {"wrong", wrong}})
                                    : Message("vgpu.and-also", {{"first", found.what}, {"next", wrong}});
    found.is_refused |= should_be_device;
  };
  look_at(to, to_device, "vgpu.destination-is");
  look_at(from, from_device, "vgpu.source-is");
  return found;
}

void check_direction(const Runtime& runtime, const End& to, const End& from, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    throw ApiError{cudaErrorInvalidMemcpyDirection, "vgpu.no-such-direction"};
  }
  Disagreement found = disagreement(to, from, kind);
  if (found.is_refused) throw ApiError{cudaErrorInvalidValue, found.what, "wrong-direction"};
  if (!found.what.empty() && runtime.checks != nullptr) runtime.checks->tell("wrong-direction", found.what);
}

template <class F>
void for_rows(const Box& box, F&& f) {
  for (std::size_t z = 0; z < box.depth; ++z) {
    for (std::size_t y = 0; y < box.height; ++y) f(z, y);
  }
}

void move_bytes(const End& to, const End& from, const Box& box) {
  const bool to_is_whole = to.pitch == box.width && (box.depth == 1 || to.plane == box.width * box.height);
  const bool from_is_whole = from.pitch == box.width && (box.depth == 1 || from.plane == box.width * box.height);
  if (to_is_whole && from_is_whole) {
    std::memmove(to.bytes, from.bytes, box.width * box.height * box.depth);
    return;
  }
  for_rows(box, [&](std::size_t z, std::size_t y) {
    std::memmove(to.bytes + z * to.plane + y * to.pitch, from.bytes + z * from.plane + y * from.pitch, box.width);
  });
}

void add_rows(observe::Ranges& to, const Place& place, const Box& box) {
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(place.pointer);
  for_rows(box, [&](std::size_t z, std::size_t y) {
    const std::uint64_t row = first + z * place.plane + y * place.pitch;
    to.add({row, row + box.width});
  });
}

// What is known of initialised memory, if writing there may change it; nullptr: nothing is to be noted.
Initialised* initialised_in(Runtime& runtime, const End& to) {
  Initialised* const all = runtime.memory.initialised();
  const bool is_kept = all != nullptr && !all->is_everything() && to.is_device() && !to.allocation->of_program;
  return is_kept ? all : nullptr;
}

// The device's addresses of a row.
observe::Range row_of(const End& end, const Box& box, std::size_t z, std::size_t y) {
  const std::uint64_t first = end.allocation->address + static_cast<std::uint64_t>(end.bytes - end.allocation->bytes);
  const std::uint64_t begin = first + z * end.plane + y * end.pitch;
  return {begin, begin + box.width};
}

void note_copied(Runtime& runtime, const End& to, const End& from, const Box& box) {
  Initialised* const initialised = initialised_in(runtime, to);
  if (initialised == nullptr) return;
  const observe::Range all{to.allocation->address, to.allocation->address + to.allocation->size};
  for_rows(box, [&](std::size_t z, std::size_t y) {
    if (from.is_device()) {
      initialised->copy(row_of(to, box, z, y), row_of(from, box, z, y).begin, all);
    } else {
      initialised->write(row_of(to, box, z, y));
    }
  });
}

void note_filled(Runtime& runtime, const End& to, const Box& box) {
  Initialised* const initialised = initialised_in(runtime, to);
  if (initialised == nullptr) return;
  for_rows(box, [&](std::size_t z, std::size_t y) { initialised->write(row_of(to, box, z, y)); });
}

// What an operation does when its turn comes. Memory that was freed in between is a fault.
template <class F>
void work_on(Runtime& runtime, const Operation& self, F&& f) {
  Device& device = runtime.device(self.device);
  if (device.dead != cudaSuccess) return;
  try {
    f();
  } catch (const ApiError& error) {
    device.dead = cudaErrorIllegalAddress;
    tell({"vgpu.operation-died", {{"what", self.name}, {"reason", error.reason}}});
  }
}

}  // namespace

void copy(Runtime& runtime, const Place& to_place, const Place& from_place, const Box& box, cudaMemcpyKind kind,
          Stream& stream, Waiting waiting) {
  if (box.width > to_place.pitch || box.width > from_place.pitch) {
    throw ApiError{cudaErrorInvalidPitchValue, {"vgpu.pitches-too-small",
                                                {{"width", box.width}, {"to", to_place.pitch}, {"from", from_place.pitch}}}};
  }
  const std::uint64_t bytes = bytes_of(box);
  if (bytes == 0) return;
  const End to = find(runtime, to_place, box, "vgpu.the-destination");
  const End from = find(runtime, from_place, box, "vgpu.the-source");
  check_direction(runtime, to, from, kind);

  Operation operation;
  operation.kind = "copy";
  operation.bytes = bytes;
  if (to.is_device() && from.is_device()) {
    const bool is_within = to.allocation->device == from.allocation->device;
    operation.name = is_within ? "copy, device to device" : "copy, between devices";
    operation.unit = is_within ? Unit::kMultiprocessors : Unit::kCopyToHost;
    operation.seconds =
        is_within ? seconds_of_copy_within(runtime.gpu(), bytes) : seconds_over_link(runtime.gpu(), bytes);
  } else if (to.is_device() || from.is_device()) {
    operation.name = to.is_device() ? "copy, host to device" : "copy, device to host";
    operation.unit = to.is_device() ? Unit::kCopyToDevice : Unit::kCopyToHost;
    operation.seconds = seconds_over_link(runtime.gpu(), bytes);
  } else {
    operation.name = "copy, host to host";
  }
  // Pageable memory is read at once, into a buffer of the driver, and written before the call returns. All else is
  // done later, but for plain calls that have the host at one end.
  const bool is_between_devices = to.is_device() && from.is_device();
  // While the stream is captured nothing is copied: the graph's launches read and write pageable memory as any other.
  const bool waits = waiting == Waiting::kAsUsual ? to.is_pageable() || !is_between_devices
                                                  : to.is_pageable() && stream.capture == nullptr;
  if (waits) runtime.refuse_in_capture(stream, "vgpu.waiting-copy-captured");
  std::shared_ptr<std::vector<std::byte>> staged;
  if (from.is_pageable() && !waits && stream.capture == nullptr) {
    staged = std::make_shared<std::vector<std::byte>>(bytes);
    const End buffer{nullptr, staged->data(), box.width, box.width * box.height};
    move_bytes(buffer, from, box);
  }
  if (runtime.checks != nullptr) {
    operation.accesses = std::make_shared<Accesses>();
    add_rows(operation.accesses->written, to_place, box);
    if (staged == nullptr) add_rows(operation.accesses->read, from_place, box);
  }
  const bool is_pinned = !to.is_pageable() && !from.is_pageable();
  operation.work = [&runtime, to_place, from_place, box, staged, is_pinned](Operation& self) {
    work_on(runtime, self, [&] {
      End source;
      if (staged != nullptr) {
        source = {nullptr, staged->data(), box.width, box.width * box.height};
      } else {
        source = find(runtime, from_place, box, "vgpu.the-source");
      }
      const End destination = find(runtime, to_place, box, "vgpu.the-destination");
      move_bytes(destination, source, box);
      note_copied(runtime, destination, source, box);
      runtime.record.copy(self.name, self.bytes, is_pinned);
    });
  };
  runtime.submit(stream, std::move(operation));
  if (waits) runtime.wait_for(stream);
}

void fill(Runtime& runtime, const Place& place, int value, const Box& box, Stream& stream, Waiting waiting) {
  const std::uint64_t bytes = bytes_of(box);
  if (bytes == 0) return;
  if (box.width > place.pitch) {
    throw ApiError{cudaErrorInvalidValue, {"vgpu.pitch-too-small", {{"width", box.width}, {"pitch", place.pitch}}}};
  }
  const End to = find(runtime, place, box, "vgpu.the-destination");
  if (to.is_pageable()) throw ApiError{cudaErrorInvalidValue, "vgpu.destination-is-host", "bad-pointer"};
  Operation operation;
  operation.name = operation.kind = "fill";
  operation.bytes = bytes;
  operation.unit = Unit::kMultiprocessors;
  operation.seconds = seconds_of_fill(runtime.gpu(), bytes);
  if (runtime.checks != nullptr) {
    operation.accesses = std::make_shared<Accesses>();
    add_rows(operation.accesses->written, place, box);
  }
  operation.work = [&runtime, place, box, value](Operation& self) {
    work_on(runtime, self, [&] {
      const End now = find(runtime, place, box, "vgpu.the-destination");
      for_rows(box, [&](std::size_t z, std::size_t y) {
        std::memset(now.bytes + z * now.plane + y * now.pitch, value, box.width);
      });
      note_filled(runtime, now, box);
    });
  };
  runtime.submit(stream, std::move(operation));
  if (waiting == Waiting::kAsUsual && !to.is_device()) runtime.wait_for(stream);
}

}  // namespace flashpath::runtime
