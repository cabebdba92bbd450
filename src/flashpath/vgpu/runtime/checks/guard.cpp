#include "checks/guard.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <utility>

namespace flashpath::runtime {
namespace {

// Signal handlers read and write these: no memory is taken for them, and they are never destroyed.
struct Region {
  std::uint64_t begin = 0;  // of pages
  std::uint64_t end = 0;
  Forbidden what = Forbidden::kAll;
  std::size_t touches = 0;
};
constexpr std::size_t kMostRegions = 4096;
constexpr std::size_t kMostTouches = 8192;
constexpr std::size_t kTouchesOfRegion = 4096;  // after these the whole of it is let go

Region regions[kMostRegions];
std::size_t region_count = 0;
HostTouch touches[kMostTouches];
std::atomic<std::size_t> touch_count = 0;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
const Guard::Crash* crash_handler = nullptr;
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
void close(std::uint64_t begin, std::uint64_t end, Forbidden what) {
  protect(begin, end, what == Forbidden::kAll ? PROT_NONE : PROT_READ);
}

// ---- Going on by one step ----------------------------------------------------------------------------------

// Pages that are open until the next instruction: one may read from two of them and write to two others.
constexpr std::size_t kMostOpen = 4;
thread_local std::uint64_t open_pages[kMostOpen];
thread_local std::size_t open_count = 0;

#if defined(__x86_64__)
constexpr greg_t kTrapFlag = 0x100;
constexpr greg_t kWriteBit = 2;
constexpr bool kCanStep = true;

void step(ucontext_t& context) { context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag; }
void step_no_more(ucontext_t& context) { context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag; }
bool is_write(const ucontext_t& context) { return (context.uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0; }
// Whether the instruction has the prefix `lock`, or is an exchange, which has it by nature.
bool is_atomic(const ucontext_t& context) {
  constexpr unsigned char kLock = 0xf0;
  const auto is_prefix = [](unsigned char byte) {
    constexpr unsigned char kPrefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3};
    return std::find(std::begin(kPrefixes), std::end(kPrefixes), byte) != std::end(kPrefixes) || (byte & 0xf0) == 0x40;
  };
  const auto* code = reinterpret_cast<const unsigned char*>(context.uc_mcontext.gregs[REG_RIP]);
  while (is_prefix(*code)) ++code;
  return *code == kLock || *code == 0x86 || *code == 0x87;
}
#else
constexpr bool kCanStep = false;  // a page stays open after its first touch

void step(ucontext_t&) {}
void step_no_more(ucontext_t&) {}
bool is_write(const ucontext_t&) { return false; }  // taken for a read, which fewer findings come of
bool is_atomic(const ucontext_t&) { return false; }
#endif

void keep(std::uint64_t address, bool writes, bool atomic) {
  const CallSite site = trace_call_site();
  if (touch_count > 0) {
    HostTouch& last = touches[touch_count - 1];
    if (last.address == address && last.writes == writes && last.is_atomic == atomic && last.site == site) {
      ++last.times;
      return;
    }
  }
  if (touch_count == kMostTouches) return;
  touches[touch_count] = {address, writes, atomic, 1, site};
  ++touch_count;
}

// Whether the fault was one of a guarded page, which is open now.
bool note(std::uint64_t address, ucontext_t& context) {
  const Busy alone;
  const std::uint64_t page = address / page_size() * page_size();
  bool is_guarded = false;
  bool is_noted = false;
  for (std::size_t k = 0; k < region_count; ++k) {
    Region& region = regions[k];
    if (address < region.begin || address >= region.end) continue;
    is_guarded = true;
    open(page, page + page_size());
    if (++region.touches > kTouchesOfRegion) open(region.begin, region.end);
    if (!is_noted) keep(address, is_write(context) || region.what == Forbidden::kWriting, is_atomic(context));
    is_noted = true;
  }
  if (is_guarded && kCanStep) {
    if (open_count < kMostOpen) open_pages[open_count++] = page;
    step(context);
  }
  return is_guarded;
}

void on_step(int, siginfo_t*, void* context) {
  step_no_more(*static_cast<ucontext_t*>(context));
  const Busy alone;
  for (std::size_t k = 0; k < region_count; ++k) {
    const Region& region = regions[k];
    if (region.touches > kTouchesOfRegion) continue;
    for (std::size_t p = 0; p < open_count; ++p) {
      const std::uint64_t page = open_pages[p];
      if (page >= region.begin && page < region.end) close(page, page + page_size(), region.what);
    }
  }
  open_count = 0;
}

void on_fault(int signal, siginfo_t* info, void* context_pointer) {
  ucontext_t& context = *static_cast<ucontext_t*>(context_pointer);
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (note(address, context)) return;
  // Another thread may have opened the page meanwhile: the second time at one place in a row is a true fault.
  thread_local std::uint64_t tried = 0;
  if (tried != address) {
    tried = address;
    return;
  }
  sigaction(signal, &before, nullptr);
  if (crash_handler != nullptr) (*crash_handler)(address, is_write(context), trace_call_site());
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* old) {
  struct sigaction now = {};
  now.sa_sigaction = handler;
  now.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&now.sa_mask);
  sigaction(signal, &now, old);
}

}  // namespace

Guard::Guard(Crash crash) {
  crash_handler = new Crash(std::move(crash));
  page_size();
  trace_call_site();  // what the first one loads cannot be loaded in a signal handler
  handle(SIGSEGV, on_fault, &before);
  if (kCanStep) handle(SIGTRAP, on_step, nullptr);
}

void Guard::add(observe::Range bytes, Forbidden what, bool pages_of_their_own) {
  const std::uint64_t page = page_size();
  const std::uint64_t outside = pages_of_their_own ? 0 : page - 1;
  const observe::Range pages{(bytes.begin + outside) / page * page, (bytes.end + (page - 1 - outside)) / page * page};
  if (pages.begin >= pages.end) return;
  // Only what is new is told to the processor: a host may ask for very many copies of one array.
  observe::Ranges fresh;
  fresh.add(pages);
  for (const observe::Ranges* known : {&forbidden_, &read_only_}) {
    if (known == &read_only_ && what == Forbidden::kAll) continue;  // the stricter one takes its place
    while (const auto both = fresh.overlap(*known)) fresh.remove(*both);
  }
  (what == Forbidden::kAll ? forbidden_ : read_only_).add(pages);
  const Busy alone;
  for (const auto& [begin, end] : fresh.all()) {
    if (region_count == kMostRegions) return;
    regions[region_count++] = {begin, end, what, 0};
    close(begin, end, what);
  }
}

void Guard::lift() {
  {
    const Busy alone;
    for (std::size_t k = 0; k < region_count; ++k) open(regions[k].begin, regions[k].end);
    region_count = 0;
  }
  forbidden_.clear();
  read_only_.clear();
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
