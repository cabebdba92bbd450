// What each PTX instruction becomes: one function per group of instructions, and what they share. An
// instruction, or a form of one, that is in none of them is refused by name.
#pragma once

#include <string>

#include "lower/builder.h"
#include "lower/modifiers.h"

namespace flashpath::lower {

using ptx::Operand;
using ptx::OperandKind;

inline std::string bits_type(u32 width) { return "b" + std::to_string(8 * width); }
inline std::string bits(u32 width) { return std::to_string(8 * width); }

inline const Operand& operand(const Builder& b, std::size_t index) {
  if (index >= b.operands().size()) b.refuse("vgpu.ptx.operand-missing", {{"index", index}});
  return b.operands()[index];
}

// d = op(a, b, c), all of one type.
void same_type(Builder& b, const std::string& name, u32 width, u32 flags = 0);

// arithmetic.cpp
void arithmetic(Builder& b);
void extended_precision(Builder& b);
void special_function(Builder& b);
void dot_product(Builder& b);

// bits.cpp
void logic(Builder& b);
void shift(Builder& b);
void count_bits(Builder& b);
void bit_field(Builder& b);
void bit_mask(Builder& b);
void lop3(Builder& b);
void permute(Builder& b);
void funnel(Builder& b);

// moves.cpp
void move(Builder& b);
void convert_address(Builder& b);
void in_space(Builder& b);
void select(Builder& b);
void select_by_sign(Builder& b);

// compare.cpp
void compare(Builder& b);
void compare_to_value(Builder& b);
void test_property(Builder& b);

// convert.cpp
void convert(Builder& b);

// video.cpp
void video(Builder& b);
void video_multiply_add(Builder& b);

// memory.cpp
void load(Builder& b);
void store(Builder& b);
void atomic(Builder& b);
void create_policy(Builder& b);

// async.cpp
void async_copy(Builder& b);
void memory_barrier(Builder& b);
void sleep(Builder& b);

// bulk.cpp
void bulk_copy(Builder& b, Modifiers& m, bool reduces);
void store_asynchronously(Builder& b, Modifiers& m);
void replace_in_map(Builder& b);

// cluster.cpp
void map_address(Builder& b);
void rank_of_address(Builder& b);
void elect(Builder& b);
void set_registers(Builder& b);

// calls.cpp
void call(Builder& b);
void leave(Builder& b);

// control.cpp
void branch(Builder& b);
void branch_table(Builder& b);
void barrier(Builder& b);
void trap(Builder& b);
void fence(Builder& b);
void nothing(Builder& b);

// lanes.cpp
void shuffle(Builder& b);
void vote(Builder& b);
void match(Builder& b);
void reduce(Builder& b);
void active_mask(Builder& b);

// warpgroup.cpp
void warpgroup(Builder& b);

// matrix.cpp
void load_matrix(Builder& b);
void store_matrix(Builder& b);
void move_matrix(Builder& b);
void matrix_multiply(Builder& b);
void warp_matrix(Builder& b);
void later_tensor_cores(Builder& b);

}  // namespace flashpath::lower
