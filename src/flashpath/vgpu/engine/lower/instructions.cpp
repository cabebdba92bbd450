// Which function makes what of an opcode.
#include "lower/instructions.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "lower/lower.h"

namespace flashpath::lower {
namespace {

using Lowering = void (*)(Builder&);
const std::unordered_map<std::string_view, Lowering>& lowerings() {
  static const std::unordered_map<std::string_view, Lowering> table = {
      {"add", arithmetic},     {"sub", arithmetic},      {"mul", arithmetic},      {"mad", arithmetic},
      {"fma", arithmetic},     {"div", arithmetic},      {"rem", arithmetic},      {"min", arithmetic},
      {"max", arithmetic},     {"abs", arithmetic},      {"neg", arithmetic},      {"copysign", arithmetic},
      {"mul24", arithmetic},   {"mad24", arithmetic},    {"sad", arithmetic},      {"addc", extended_precision},
      {"subc", extended_precision}, {"madc", extended_precision}, {"dp4a", dot_product}, {"dp2a", dot_product},
      {"sqrt", special_function}, {"rcp", special_function}, {"rsqrt", special_function}, {"ex2", special_function},
      {"lg2", special_function}, {"sin", special_function}, {"cos", special_function}, {"tanh", special_function},
      {"and", logic},          {"or", logic},            {"xor", logic},           {"not", logic},
      {"cnot", logic},         {"shl", shift},           {"shr", shift},           {"popc", count_bits},
      {"clz", count_bits},     {"brev", count_bits},     {"bfind", count_bits},    {"fns", bit_mask},
      {"bmsk", bit_mask},      {"szext", bit_mask},      {"bfe", bit_field},       {"bfi", bit_field},
      {"lop3", lop3},          {"prmt", permute},        {"shf", funnel},          {"mov", move},
      {"cvta", convert_address}, {"isspacep", in_space}, {"selp", select},         {"slct", select_by_sign},
      {"setp", compare},       {"set", compare_to_value}, {"testp", test_property}, {"cvt", convert},
      {"vadd", video},         {"vsub", video},          {"vabsdiff", video},      {"vmin", video},
      {"vmax", video},         {"vshl", video},          {"vshr", video},          {"vset", video},
      {"vadd2", video},        {"vsub2", video},         {"vavrg2", video},        {"vabsdiff2", video},
      {"vmin2", video},        {"vmax2", video},         {"vset2", video},         {"vadd4", video},
      {"vsub4", video},        {"vavrg4", video},        {"vabsdiff4", video},     {"vmin4", video},
      {"vmax4", video},        {"vset4", video},         {"vmad", video_multiply_add},
      {"ld", load},            {"ldu", load},            {"st", store},            {"atom", atomic},
      {"red", atomic},         {"bra", branch},          {"brx", branch_table},    {"call", call},
      {"ret", leave},          {"exit", leave},          {"trap", trap},          {"brkpt", trap},
      {"bar", barrier},        {"barrier", barrier},     {"shfl", shuffle},        {"vote", vote},
      {"match", match},        {"redux", reduce},        {"activemask", active_mask},
      {"cp", async_copy},      {"mbarrier", memory_barrier}, {"nanosleep", sleep},  {"createpolicy", create_policy},
      {"applypriority", nothing}, {"discard", nothing},
      {"membar", fence},       {"fence", fence},       {"prefetch", nothing},    {"prefetchu", nothing},
      {"pmevent", nothing},     {"griddepcontrol", nothing},
      {"ldmatrix", load_matrix}, {"stmatrix", store_matrix}, {"movmatrix", move_matrix},
      {"mma", matrix_multiply}, {"wmma", warp_matrix},   {"wgmma", later_tensor_cores},
      {"tcgen05", later_tensor_cores},
  };
  return table;
}

}  // namespace

void lower_instruction(Builder& b) {
  const auto found = lowerings().find(b.current->opcode);
  if (found == lowerings().end()) b.refuse("the instruction " + b.spelled() + " is not known to this version");
  found->second(b);
}

std::vector<std::string> known_opcodes() {
  std::vector<std::string> names;
  for (const auto& [name, lowering] : lowerings()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace flashpath::lower
