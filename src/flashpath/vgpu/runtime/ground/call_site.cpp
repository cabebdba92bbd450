#include "ground/call_site.h"

#include <link.h>
#include <unwind.h>

namespace flashpath::runtime {
namespace {

// The program's own code, without that of libraries.
struct Executable {
  std::uint64_t base = 0;  // that its file's addresses are moved by
  std::uint64_t begin = ~0ull;
  std::uint64_t end = 0;

  bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

int look_at_first(dl_phdr_info* info, std::size_t, void* found) {
  Executable& executable = *static_cast<Executable*>(found);
  executable.base = info->dlpi_addr;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& segment = info->dlpi_phdr[k];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    executable.begin = begin < executable.begin ? begin : executable.begin;
    executable.end = begin + segment.p_memsz > executable.end ? begin + segment.p_memsz : executable.end;
  }
  return 1;  // the executable comes before its libraries
}

const Executable& executable() {
  static const Executable found = [] {
    Executable made;
    dl_iterate_phdr(look_at_first, &made);
    return made;
  }();
  return found;
}

_Unwind_Reason_Code keep(_Unwind_Context* frame, void* kept) {
  CallSite& site = *static_cast<CallSite*>(kept);
  int is_exact = 0;  // where a signal came: other frames are at the instruction behind their call
  const std::uint64_t address = _Unwind_GetIPInfo(frame, &is_exact) - (is_exact ? 0 : 1);
  if (executable().holds(address)) site.frames[site.depth++] = address - executable().base;
  return site.depth < CallSite::kDeepest ? _URC_NO_REASON : _URC_END_OF_STACK;
}

thread_local CallSiteRef current;

}  // namespace

CallSite trace_call_site() {
  CallSite site;
  _Unwind_Backtrace(keep, &site);
  return site;
}

CallSiteRef& current_call_site() { return current; }

}  // namespace flashpath::runtime
