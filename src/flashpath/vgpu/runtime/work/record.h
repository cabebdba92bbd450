// What is written about a run, for `flashpath profile` and `flashpath sanitize` to read: a line of JSON for each
// program (a kernel's instructions), launch, copy and finding.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "exec/fault.h"
#include "exec/launch.h"
#include "program/registry.h"

namespace flashpath::runtime {

class Record {
 public:
  // Does nothing where `path` is empty. Lines are there as soon as they are written: a program may crash.
  void open(const std::string& path);
  bool is_open() const { return file_ != nullptr; }

  void launch(const Kernel& kernel, const exec::Launch& launch, const observe::Counters& counters, double seconds,
              int device, std::uint64_t stream);
  void findings(const Kernel& kernel, const Program& program, const observe::Findings& findings);
  void fault(const Kernel& kernel, const exec::Launch& launch, const exec::Fault& fault);

 private:
  // The number of a program; its instructions are written when it is met first.
  std::size_t number_of(const Kernel& kernel, const Program& program);
  void write(const std::string& line);

  std::FILE* file_ = nullptr;
  std::map<const Program*, std::size_t> programs_;
};

}  // namespace flashpath::runtime
