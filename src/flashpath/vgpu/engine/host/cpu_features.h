// What the host processor can do, as far as the engine and torch care: which vector width the engine
// may use, and whether AMX really works or only claims to.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flashpath::host {

// Name (as Linux spells it in /proc/cpuinfo) and presence of each vector extension, widest last;
// "presence" means that the processor has it and that the operating system saves its registers.
// Empty on a processor this file does not know.
std::vector<std::pair<std::string, bool>> vector_extensions();

enum class Amx {
  kAbsent,  // processor or operating system does not offer it: libraries leave it alone
  kWorks,   // a bf16 tile product ran
  kTraps,   // offered, but tiles set up as CPUID says die: libraries that trust CPUID crash with SIGILL
};
// Costs well under a millisecond and leaves the calling process as it was.
Amx probe_amx();

}  // namespace flashpath::host
