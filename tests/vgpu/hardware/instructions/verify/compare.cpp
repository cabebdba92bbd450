// The engine's half: its code on the same inputs, on all host threads, compared with what the GPU gave. Prints a
// line of JSON for each instruction, and the first inputs that differ to stderr.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "exec/arithmetic/special_functions/compiled.h"
#include "measure.h"

namespace {

using namespace flashpath;
using namespace flashpath::exec;

constexpr u64 kChunk = 1ull << 26;
constexpr u64 kInputs = 1ull << 32;
constexpr u64 kBlock = 1024;

struct Verdict {
  std::atomic<u64> different = 0;
  std::mutex printing;
};

template <class T, class Ours, class Show>
void compare(u64 first, const T* theirs, Verdict& verdict, const char* name, Ours ours, Show show) {
  const unsigned threads = std::thread::hardware_concurrency();
  std::atomic<u64> next = 0;
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      T computed[kBlock];
      for (u64 start; (start = next.fetch_add(kBlock)) < kChunk;) {
        for (u64 i = 0; i < kBlock; ++i) computed[i] = ours(first + start + i);
        if (!std::memcmp(computed, theirs + start, sizeof computed)) continue;
        for (u64 i = 0; i < kBlock; ++i) {
          if (computed[i] == theirs[start + i] || verdict.different++ >= 8) continue;
          const std::lock_guard lock(verdict.printing);
          std::fprintf(stderr, "%s(%s) is %llx, computed %llx\n", name, show(first + start + i).c_str(),
                       static_cast<unsigned long long>(theirs[start + i]),
                       static_cast<unsigned long long>(computed[i]));
        }
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
}

std::string hexadecimal(u64 bits) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(bits));
  return text;
}

// Measures one chunk while the one before is compared.
template <class T, class Ours, class Show>
u64 verify(Function function, const char* name, Ours ours, Show show) {
  static u64* const buffers[] = {host_buffer(kChunk), host_buffer(kChunk)};
  Verdict verdict;
  measure(function, 0, kChunk, buffers[0]);
  for (u64 chunk = 0; chunk < kInputs / kChunk; ++chunk) {
    std::thread ahead([&, chunk] {
      if ((chunk + 1) * kChunk < kInputs) measure(function, (chunk + 1) * kChunk, kChunk, buffers[(chunk + 1) % 2]);
    });
    compare(chunk * kChunk, reinterpret_cast<const T*>(buffers[chunk % 2]), verdict, name, ours, show);
    ahead.join();
  }
  return verdict.different;
}

// Of all instructions, or of those that the command line names.
bool is_asked_for(const char* instruction, int count, char** names) {
  for (int k = 1; k < count; ++k) {
    if (!std::strcmp(names[k], instruction)) return true;
  }
  return count == 1;
}

void report(const char* instruction, const char* inputs, u64 different) {
  std::printf("{\"instruction\": \"%s\", \"inputs\": \"%s\", \"different\": %llu}\n", instruction, inputs,
              static_cast<unsigned long long>(different));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** names) {
  std::printf("{\"gpu\": \"%s\"}\n", gpu_name());
  std::fflush(stdout);
#define ONE(name, text, engine)                                                      \
  if (is_asked_for(text, count, names))                                              \
  report(text, "all 2^32",                                                           \
         verify<u32>(                                                                \
             k_##name, text,                                                         \
             [](u64 number) {                                                        \
               const f32 x = std::bit_cast<f32>(u32(number));                        \
               return std::bit_cast<u32>(engine);                                    \
             },                                                                      \
             [](u64 number) { return hexadecimal(number); }));
#define TWO(name, text, engine)                                                      \
  if (is_asked_for(text, count, names))                                              \
  report(text, "2^32 pairs",                                                         \
         verify<u32>(                                                                \
             k_##name, text,                                                         \
             [](u64 number) {                                                        \
               const u64 operands = pair(number);                                    \
               const f32 x = std::bit_cast<f32>(u32(operands));                      \
               const f32 y = std::bit_cast<f32>(u32(operands >> 32));                \
               return std::bit_cast<u32>(engine);                                    \
             },                                                                      \
             [](u64 number) { return hexadecimal(pair(number)); }));
#define OF_DOUBLE(name, text, engine, tried, input)                                  \
  if (is_asked_for(text, count, names))                                              \
  report(text, tried,                                                                \
         verify<u64>(                                                                \
             k_##name, text,                                                         \
             [](u64 number) {                                                        \
               const f64 x = std::bit_cast<f64>(input(number));                      \
               return std::bit_cast<u64>(engine);                                    \
             },                                                                      \
             [](u64 number) { return hexadecimal(input(number)); }));
#define UPPER_WORD(name, text, engine) OF_DOUBLE(name, text, engine, "all 2^32 upper words", with_upper_word)
#define DOUBLE(name, text, engine) OF_DOUBLE(name, text, engine, "2^32 mixed doubles", mixed)
#include "functions.inc"
}
