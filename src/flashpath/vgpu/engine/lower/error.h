// What cannot be run: named, with its line in the PTX and in the source.
#pragma once

#include <stdexcept>
#include <string>

#include "program/types.h"

namespace flashpath::lower {

struct Error : std::runtime_error {
  Error(const std::string& message, u32 ptx_line, std::string file, u32 line)
      : std::runtime_error(message), ptx_line(ptx_line), file(std::move(file)), line(line) {}

  u32 ptx_line;      // 0: none
  std::string file;  // of the source; empty where the PTX has no line table
  u32 line;
};

}  // namespace flashpath::lower
