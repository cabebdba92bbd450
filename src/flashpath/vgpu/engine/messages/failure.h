// Device code that cannot be taken: why, and where that stands.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "messages/message.h"

namespace flashpath {

struct Failure : std::runtime_error {
  explicit Failure(Message problem, std::string place = {})
      : std::runtime_error(problem.code), problem(std::move(problem)), place(std::move(place)) {}

  Message problem;
  std::string place;  // " (saxpy.cu:7)"; empty where no line is known
};

}  // namespace flashpath
