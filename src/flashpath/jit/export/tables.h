// What a library is built of: the tables of its function and of the variants in which it runs.
#pragma once

#include <cstdint>
#include <cstring>

#include "abi.h"
#include "arithmetic.h"
#include "driver.h"

namespace exported {

enum class Kind { kTensor, kInteger, kFloat };

struct Argument {
  const char* name;
  Kind kind;
};

struct Type {
  const char* dtype;
  DLDataType is;
  int rank;  // of a tensor
  bool is_written;
};

struct Launch {
  Wide grid[3];
  Wide block[3];
  Wide shared;
};

// A kernel's parameters, as cuLaunchKernel reads them: one pointer for each.
class Parameters {
 public:
  template <class T>
  void add(T value) {
    static_assert(sizeof value <= sizeof(std::uint64_t));
    std::memcpy(&values_[count_++], &value, sizeof value);
  }
  template <class T>
  void add_integer(Wide value, const char* shown, const char* type, Wide low, Wide high) {
    if (value < low || value > high) {
      throw Problem{"ValueError", filled(words::kInteger, {{"what", shown},
                                                            {"value", digits(value)},
                                                            {"type", type},
                                                            {"low", digits(low)},
                                                            {"high", digits(high)}})};
    }
    add(static_cast<T>(value));
  }
  void** pointers() {
    for (std::size_t k = 0; k < count_; ++k) pointers_[k] = &values_[k];
    return pointers_;
  }

 private:
  static constexpr std::size_t kMost = 128;
  std::uint64_t values_[kMost] = {};
  void* pointers_[kMost] = {};
  std::size_t count_ = 0;
};

class Call;

// One way in which the function runs: for such types, where the guards hold.
struct Variant {
  const Type* types;
  const char* const* guards;  // in words
  int (*first_unmet)(const Call&);  // the guard that does not hold; -1: all do
  Launch (*launch)(const Call&, Parameters&);
  Kernel* kernel;
};

struct Function {
  const char* name;
  const char* signature;
  const Argument* arguments;
  int argument_count;
  const Variant* variants;
  int variant_count;
};

}  // namespace exported
