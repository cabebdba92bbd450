#include "sanitize/shadow.h"

#include <algorithm>
#include <bit>
#include <new>

namespace flashpath::sanitize {

void LazyTable::resize(std::size_t size) {
  data_.reset(static_cast<u32*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(u32))));
  if (data_ == nullptr) throw std::bad_alloc();
}

void LazyTable::split(std::size_t size, u32 times) {
  const std::unique_ptr<u32[], Free> before = std::move(data_);
  resize(size);
  for (std::size_t k = 0; k < size; ++k) {
    const u32 value = before[k / times];
    if (value != 0) data_[k] = value;  // untouched pages stay untouched
  }
}

void Shadow::cover(u64 bytes) {
  bytes_ = bytes;
  for (LazyTable* table : {&written, &written_by, &read, &read_by, &also_read, &also_read_by}) table->resize(units());
}

void Shadow::split(u32 access) {
  const u32 before = shift_;
  shift_ = static_cast<u32>(std::countr_zero(access));
  for (LazyTable* table : {&written, &written_by, &read, &read_by, &also_read, &also_read_by}) {
    table->split(units(), 1u << (before - shift_));
  }
}

void Shadow::renew(u64 offset, u64 size) {
  const std::size_t first = static_cast<std::size_t>(offset >> shift_);
  const std::size_t count = static_cast<std::size_t>(size >> shift_);
  std::fill_n(written.data() + first, count, kFresh);
  std::fill_n(read.data() + first, count, kUntouched);
  std::fill_n(also_read.data() + first, count, kUntouched);
}

void Shadow::forget(Record blank) {
  for (std::size_t k = 0; k < units(); ++k) {
    if (written[k] >= blank && written[k] > kFresh) written[k] = record_of(kForgotten, 0);
    if (read[k] != 0) read[k] = kUntouched;
    if (also_read[k] != 0) also_read[k] = kUntouched;
  }
}

}  // namespace flashpath::sanitize
