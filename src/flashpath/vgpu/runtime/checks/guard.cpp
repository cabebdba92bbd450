#include "checks/guard.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>

namespace flashpath::runtime {
namespace {

// A signal handler reads these: no memory is taken for them, and they are never destroyed.
struct Region {
  std::uint64_t begin = 0;  // of pages
  std::uint64_t end = 0;
  observe::Range bytes;
  Forbidden what = Forbidden::kAll;
  int touches = 0;
};
constexpr std::size_t kMostRegions = 1024;
constexpr std::size_t kMostTouches = 256;
constexpr int kTouchesOfRegion = 64;  // after these the whole of it is let go

Region regions[kMostRegions];
std::atomic<std::size_t> region_count = 0;
HostTouch touches[kMostTouches];
std::atomic<std::size_t> touch_count = 0;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
Guard::Crash crash_handler = nullptr;
struct sigaction before;

std::uint64_t page_size() {
  static const std::uint64_t size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

class Busy {
 public:
  Busy() {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Busy() { busy.clear(std::memory_order_release); }
};

void protect(std::uint64_t begin, std::uint64_t end, int protection) {
  if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

void open(std::uint64_t begin, std::uint64_t end) { protect(begin, end, PROT_READ | PROT_WRITE); }

bool is_write(const ucontext_t& context, const Region* region) {
  if (region != nullptr && region->what == Forbidden::kWriting) return true;
#if defined(__x86_64__)
  constexpr greg_t kWriteBit = 2;
  return (context.uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0;
#else
  (void)context;
  return false;  // taken for a read, which fewer findings come of
#endif
}

// Whether the fault was one of a guarded page, which is open now.
bool note(std::uint64_t address, const ucontext_t& context) {
  const Busy alone;
  const std::size_t count = region_count;
  bool found = false;
  for (std::size_t k = 0; k < count; ++k) {
    Region& region = regions[k];
    if (address < region.begin || address >= region.end) continue;
    found = true;
    const std::uint64_t page = address / page_size() * page_size();
    const bool enough = ++region.touches > kTouchesOfRegion;
    open(enough ? region.begin : page, enough ? region.end : page + page_size());
    const bool is_of_region = address >= region.bytes.begin && address < region.bytes.end;
    if (!is_of_region || touch_count == kMostTouches) continue;
    touches[touch_count] = {address, is_write(context, &region), trace_call_site()};
    ++touch_count;
    break;  // it is noted once, whoever guards it
  }
  return found;
}

void on_fault(int signal, siginfo_t* info, void* context_pointer) {
  const ucontext_t& context = *static_cast<const ucontext_t*>(context_pointer);
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (note(address, context)) return;
  // Another thread may have opened the page meanwhile: the second time at one place in a row is a true fault.
  thread_local std::uint64_t tried = 0;
  if (tried != address) {
    tried = address;
    return;
  }
  sigaction(signal, &before, nullptr);
  if (crash_handler != nullptr) crash_handler(address, is_write(context, nullptr), trace_call_site());
}

}  // namespace

Guard::Guard(Crash crash) {
  crash_handler = crash;
  page_size();
  trace_call_site();  // what the first one loads cannot be loaded in a signal handler
  struct sigaction now = {};
  now.sa_sigaction = on_fault;
  now.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&now.sa_mask);
  sigaction(SIGSEGV, &now, &before);
}

void Guard::raise(const std::vector<Guarded>& all) {
  const Busy alone;
  for (std::size_t k = 0; k < region_count; ++k) open(regions[k].begin, regions[k].end);
  std::size_t count = 0;
  for (const Guarded& each : all) {
    const std::uint64_t page = page_size();
    const std::uint64_t outside = each.has_pages_of_its_own ? 0 : page - 1;
    const std::uint64_t begin = (each.bytes.begin + outside) / page * page;
    const std::uint64_t end = (each.bytes.end + (page - 1 - outside)) / page * page;
    if (begin >= end || count == kMostRegions) continue;
    regions[count++] = {begin, end, each.bytes, each.what, 0};
  }
  region_count = count;
  // The stricter ones last: they hold where several guard a page.
  for (const Forbidden what : {Forbidden::kWriting, Forbidden::kAll}) {
    for (std::size_t k = 0; k < count; ++k) {
      if (regions[k].what != what) continue;
      protect(regions[k].begin, regions[k].end, what == Forbidden::kAll ? PROT_NONE : PROT_READ);
    }
  }
}

std::vector<HostTouch> Guard::take_touches() {
  std::vector<HostTouch> taken;
  if (touch_count == 0) return taken;
  taken.reserve(kMostTouches);  // before: what gives memory may itself touch a guarded page
  const Busy alone;
  taken.assign(touches, touches + touch_count);
  touch_count = 0;
  return taken;
}

}  // namespace flashpath::runtime
