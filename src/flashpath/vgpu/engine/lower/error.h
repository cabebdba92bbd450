// What cannot be run: why, with its line in the PTX and in the source.
#pragma once

#include <string>
#include <utility>

#include "messages/failure.h"
#include "program/types.h"

namespace flashpath::lower {

struct Error : Failure {
  // `code` is that of the whole message, which says what to do about such problems.
  Error(const char* code, Message problem, u32 ptx_line = 0, std::string place = {})
      : Failure(std::move(problem), std::move(place)), code(code), ptx_line(ptx_line) {}

  const char* code;
  u32 ptx_line;  // 0: none
};

}  // namespace flashpath::lower
