// What a malformed PTX text is answered with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/failure.h"

namespace flashpath::ptx {

struct Place {
  uint32_t line = 1;  // both count from 1; columns count bytes
  uint32_t column = 1;
};

struct Error : Failure {
  Error(Place at, Message problem)
      : Failure(std::move(problem), " (PTX " + std::to_string(at.line) + ":" + std::to_string(at.column) + ")"), at(at) {}

  Place at;
};

// The text in quotes, shortened, in printable ASCII: it may come from anywhere.
std::string quoted(std::string_view text);

}  // namespace flashpath::ptx
