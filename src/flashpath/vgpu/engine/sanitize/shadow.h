// The shadow of a piece of memory: for each unit of it who wrote it last, and two threads that have read it.
//
// A unit is a word until an access is narrower; then it is as wide as that, for all of the memory. One reader would
// be enough if it were never the next writer itself. Where more than two have read, those two stay that were not
// seen to be ordered.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "sanitize/records.h"

namespace flashpath::sanitize {

// Zeros that cost nothing until they are touched.
class LazyTable {
 public:
  void resize(std::size_t size);
  u32* data() { return data_.get(); }
  u32& operator[](std::size_t k) { return data_.get()[k]; }
  bool empty() const { return data_ == nullptr; }
  // Each unit becomes `times` units that hold the same.
  void split(std::size_t size, u32 times);

 private:
  struct Free {
    void operator()(u32* memory) const { std::free(memory); }
  };
  std::unique_ptr<u32[], Free> data_;
};

class Shadow {
 public:
  void cover(u64 bytes);
  bool is_empty() const { return written.empty(); }
  u64 bytes() const { return bytes_; }
  u32 shift() const { return shift_; }
  // Units for accesses of so many bytes, at multiples of as many.
  void refine(u32 access) {
    if (access >> shift_ == 0) split(access);
  }
  // What malloc gives: nobody has touched it.
  void renew(u64 offset, u64 size);
  // Epochs begin anew: what was written stays so, and nothing else is known. `blank`: records below it mean that
  // nobody has written.
  void forget(Record blank);

  LazyTable written;
  LazyTable written_by;  // instructions, here and below
  LazyTable read;
  LazyTable read_by;
  LazyTable also_read;
  LazyTable also_read_by;
  bool has_second_readers = false;

 private:
  std::size_t units() const { return static_cast<std::size_t>((bytes_ + (u64(1) << shift_) - 1) >> shift_); }
  void split(u32 access);

  u64 bytes_ = 0;
  u32 shift_ = 2;  // log₂ of a unit's bytes
};

}  // namespace flashpath::sanitize
