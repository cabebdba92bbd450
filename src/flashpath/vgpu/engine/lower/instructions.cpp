// Which function makes what of an opcode.
#include "lower/instructions.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "lower/lower.h"

namespace flashpath::lower {
namespace {

struct Lowering {
  void (*lower)(Builder&);
  std::size_t operands = 0;  // how many it has, where all its forms have as many; 0: `lower` sees to it
};
const std::unordered_map<std::string_view, Lowering>& lowerings() {
  static const auto& table = *new std::unordered_map<std::string_view, Lowering>{
      {"add", {arithmetic, 3}}, {"sub", {arithmetic, 3}}, {"mul", {arithmetic, 3}}, {"mad", {arithmetic, 4}},
      {"fma", {arithmetic, 4}}, {"div", {arithmetic, 3}}, {"rem", {arithmetic, 3}}, {"min", {arithmetic}},
      {"max", {arithmetic}}, {"abs", {arithmetic, 2}}, {"neg", {arithmetic, 2}}, {"copysign", {arithmetic, 3}},
      {"mul24", {arithmetic, 3}}, {"mad24", {arithmetic, 4}}, {"sad", {arithmetic, 4}},
      {"addc", {extended_precision, 3}}, {"subc", {extended_precision, 3}}, {"madc", {extended_precision, 4}},
      {"dp4a", {dot_product, 4}}, {"dp2a", {dot_product, 4}}, {"sqrt", {special_function, 2}},
      {"rcp", {special_function, 2}}, {"rsqrt", {special_function, 2}}, {"ex2", {special_function, 2}},
      {"lg2", {special_function, 2}}, {"sin", {special_function, 2}}, {"cos", {special_function, 2}},
      {"tanh", {special_function, 2}}, {"and", {logic, 3}}, {"or", {logic, 3}}, {"xor", {logic, 3}},
      {"not", {logic, 2}}, {"cnot", {logic, 2}}, {"shl", {shift, 3}}, {"shr", {shift, 3}}, {"popc", {count_bits, 2}},
      {"clz", {count_bits, 2}}, {"brev", {count_bits, 2}}, {"bfind", {count_bits, 2}}, {"fns", {bit_mask, 4}},
      {"bmsk", {bit_mask, 3}}, {"szext", {bit_mask, 3}}, {"bfe", {bit_field, 4}}, {"bfi", {bit_field, 5}},
      {"lop3", {lop3}}, {"prmt", {permute, 4}}, {"shf", {funnel, 4}}, {"mov", {move, 2}},
      {"cvta", {convert_address, 2}}, {"isspacep", {in_space, 2}}, {"selp", {select, 4}},
      {"slct", {select_by_sign, 4}}, {"setp", {compare}}, {"set", {compare_to_value}}, {"testp", {test_property, 2}},
      {"cvt", {convert}}, {"vadd", {video}}, {"vsub", {video}}, {"vabsdiff", {video}}, {"vmin", {video}},
      {"vmax", {video}}, {"vshl", {video}}, {"vshr", {video}}, {"vset", {video}}, {"vadd2", {video}},
      {"vsub2", {video}}, {"vavrg2", {video}}, {"vabsdiff2", {video}}, {"vmin2", {video}}, {"vmax2", {video}},
      {"vset2", {video}}, {"vadd4", {video}}, {"vsub4", {video}}, {"vavrg4", {video}}, {"vabsdiff4", {video}},
      {"vmin4", {video}}, {"vmax4", {video}}, {"vset4", {video}}, {"vmad", {video_multiply_add}}, {"ld", {load}},
      {"ldu", {load}}, {"st", {store}}, {"atom", {atomic}}, {"red", {atomic}}, {"bra", {branch}},
      {"brx", {branch_table}}, {"call", {call}}, {"ret", {leave}}, {"exit", {leave}}, {"trap", {trap}},
      {"brkpt", {trap}}, {"bar", {barrier}}, {"barrier", {barrier}}, {"shfl", {shuffle}}, {"vote", {vote}},
      {"match", {match}}, {"redux", {reduce}}, {"activemask", {active_mask}}, {"cp", {async_copy}},
      {"mbarrier", {memory_barrier}}, {"tensormap", {replace_in_map}}, {"mapa", {map_address, 3}},
      {"getctarank", {rank_of_address, 2}}, {"elect", {elect, 2}}, {"setmaxnreg", {set_registers, 1}},
      {"nanosleep", {sleep}}, {"createpolicy", {create_policy}},
      {"applypriority", {nothing}}, {"discard", {nothing}}, {"membar", {fence}}, {"fence", {fence}},
      {"prefetch", {nothing}}, {"prefetchu", {nothing}}, {"pmevent", {nothing}}, {"griddepcontrol", {nothing}},
      {"ldmatrix", {load_matrix}}, {"stmatrix", {store_matrix}}, {"movmatrix", {move_matrix}},
      {"mma", {matrix_multiply}}, {"wmma", {warp_matrix}}, {"wgmma", {warpgroup}},
      {"tcgen05", {later_tensor_cores}},
  };
  return table;
}

}  // namespace

void lower_instruction(Builder& b) {
  const auto found = lowerings().find(b.current->opcode);
  if (found == lowerings().end()) b.refuse("vgpu.ptx.instruction-not-known");
  const auto [lower, expected] = found->second;
  if (expected != 0 && b.operands().size() != expected) {
    b.refuse("vgpu.ptx.operand-count", {{"given", b.operands().size()}, {"expected", expected}});
  }
  lower(b);
}

std::vector<std::string> known_opcodes() {
  std::vector<std::string> names;
  for (const auto& [name, lowering] : lowerings()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace flashpath::lower
