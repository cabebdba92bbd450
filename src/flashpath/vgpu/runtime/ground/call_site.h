// Where the host's code called: the way from main to the call, as addresses that a line table explains.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace flashpath::runtime {

struct CallSite {
  static constexpr std::size_t kDeepest = 16;

  std::array<std::uint64_t, kDeepest> frames{};  // innermost first, as they stand in the executable's file
  std::size_t depth = 0;

  bool operator==(const CallSite&) const = default;
  auto operator<=>(const CallSite&) const = default;
};
// Many operations and allocations come from one call; nullptr where nobody asks.
using CallSiteRef = std::shared_ptr<const CallSite>;

// The present one. Frames of libraries, this one among them, are left out. Takes no memory: signal handlers may ask.
CallSite trace_call_site();

// That of the call of the API that the thread is in; nullptr unless the program is checked.
CallSiteRef& current_call_site();

}  // namespace flashpath::runtime
