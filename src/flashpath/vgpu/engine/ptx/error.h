// What a malformed PTX text is answered with.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace flashpath::ptx {

struct Place {
  uint32_t line = 1;  // both count from 1; columns count bytes
  uint32_t column = 1;
};

class Error : public std::runtime_error {
 public:
  Error(Place place, const std::string& message) : std::runtime_error(message), place_(place) {}
  Place place() const { return place_; }

 private:
  Place place_;
};

// The text in quotes, shortened, in printable ASCII: it may come from anywhere.
std::string quoted(std::string_view text);

}  // namespace flashpath::ptx
