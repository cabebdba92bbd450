// Which function makes what of an opcode.
#include "lower/instructions.h"

#include <string_view>
#include <unordered_map>

namespace flashpath::lower {
namespace {

using Lowering = void (*)(Builder&);
const std::unordered_map<std::string_view, Lowering>& lowerings() {
  static const std::unordered_map<std::string_view, Lowering> table = {
      {"add", arithmetic},     {"sub", arithmetic},      {"mul", arithmetic},      {"mad", arithmetic},
      {"fma", arithmetic},     {"div", arithmetic},      {"rem", arithmetic},      {"min", arithmetic},
      {"max", arithmetic},     {"abs", arithmetic},      {"neg", arithmetic},      {"copysign", arithmetic},
      {"sqrt", special_function}, {"rcp", special_function}, {"rsqrt", special_function}, {"ex2", special_function},
      {"lg2", special_function}, {"sin", special_function}, {"cos", special_function}, {"tanh", special_function},
      {"and", logic},          {"or", logic},            {"xor", logic},           {"not", logic},
      {"cnot", logic},         {"shl", shift},           {"shr", shift},           {"popc", count_bits},
      {"clz", count_bits},     {"brev", count_bits},     {"bfe", bit_field},       {"bfi", bit_field},
      {"lop3", lop3},          {"prmt", permute},        {"shf", funnel},          {"mov", move},
      {"cvta", convert_address}, {"selp", select},       {"setp", compare},        {"cvt", convert},
      {"ld", load},            {"ldu", load},            {"st", store},            {"atom", atomic},
      {"red", atomic},         {"bra", branch},          {"brx", branch_table},    {"call", call},
      {"ret", leave},          {"exit", leave},          {"trap", trap},          {"brkpt", trap},
      {"bar", barrier},        {"barrier", barrier},     {"shfl", shuffle},        {"vote", vote},
      {"match", match},        {"redux", reduce},        {"activemask", active_mask},
      {"cp", async_copy},      {"mbarrier", memory_barrier}, {"nanosleep", sleep},  {"createpolicy", create_policy},
      {"applypriority", nothing}, {"discard", nothing},
      {"membar", nothing},     {"fence", nothing},       {"prefetch", nothing},    {"prefetchu", nothing},
      {"pmevent", nothing},     {"griddepcontrol", nothing},
  };
  return table;
}

}  // namespace

void lower_instruction(Builder& b) {
  const auto found = lowerings().find(b.current->opcode);
  if (found == lowerings().end()) b.refuse("the instruction " + b.spelled() + " is not known to this version");
  found->second(b);
}

}  // namespace flashpath::lower
