#include "lower/contract.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

namespace flashpath::lower {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::kNone;
using ptx::Operand;
using ptx::OperandKind;

template <std::size_t N>
bool is_among(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// ---- Who reads and writes what ---------------------------------------------------------------------------

struct Read {
  u32 instruction;
  u32 operand;  // kNone where it is not an operand of its own: part of a vector or an address
};

struct RegisterUse {
  std::vector<Read> reads;   // in the order of the text
  std::vector<u32> writes;   // likewise: instructions
};

// Instructions whose first operand is no result. (That of a store is an address, whose registers are read anyway.)
constexpr std::string_view kWithoutResult[] = {"bar", "barrier", "brx", "call", "nanosleep", "setmaxnreg", "wgmma"};

class Uses {
 public:
  explicit Uses(const Function& function) : function_(function), registers_(function.registers.size()) {
    for (u32 k = 0; k < function.instructions.size(); ++k) {
      const Instruction& each = function.instructions[k];
      if (each.guard != kNone) registers_[each.guard].reads.push_back({k, kNone});
      const auto operands = ptx::slice(function.operands, each.operands);
      const bool has_result = !is_among(each.opcode, kWithoutResult) || has(each, "red");
      for (u32 position = 0; position < operands.size(); ++position) {
        visit(operands[position], k, position, position == 0 && has_result);
        if (position == 0 && each.opcode == "wgmma") visit(operands[position], k, position, true);  // and read
      }
    }
  }

  const RegisterUse& of(u32 index) const { return registers_[index]; }

  // The last write of a register before an instruction; kNone where there is none.
  u32 last_write_before(u32 index, u32 instruction) const {
    const std::vector<u32>& writes = registers_[index].writes;
    const auto next = std::lower_bound(writes.begin(), writes.end(), instruction);
    return next == writes.begin() ? kNone : *(next - 1);
  }

  // The first write after an instruction; kNone where there is none.
  u32 first_write_after(u32 index, u32 instruction) const {
    const std::vector<u32>& writes = registers_[index].writes;
    const auto next = std::upper_bound(writes.begin(), writes.end(), instruction);
    return next == writes.end() ? kNone : *next;
  }

 private:
  bool has(const Instruction& instruction, std::string_view modifier) const {
    const auto modifiers = ptx::slice(function_.modifiers, instruction.modifiers);
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }

  void visit(const Operand& operand, u32 instruction, u32 position, bool is_result) {
    if (operand.kind == OperandKind::kRegister) {
      if (is_result) {
        registers_[operand.index].writes.push_back(instruction);
      } else {
        registers_[operand.index].reads.push_back({instruction, position});
      }
      return;
    }
    const bool holds_results = operand.kind == OperandKind::kVector || operand.kind == OperandKind::kPair;
    for (const Operand& part : ptx::slice(function_.operands, operand.parts)) {
      visit(part, instruction, kNone, is_result && holds_results);
    }
  }

  const Function& function_;
  std::vector<RegisterUse> registers_;
};

// ---- What kind of instruction ----------------------------------------------------------------------------

enum class Role : u8 {
  kOther,
  kProduct,  // mul, or a fast division: a product with the reciprocal
  kSum,      // add, sub
  kCopy,     // mov, or a multiplication by one
  kNegation, // neg, or a multiplication by minus one
};

struct Form {
  Role role = Role::kOther;
  std::string_view type;
  bool flushes = false;   // .ftz
  bool subtracts = false;
};

constexpr std::string_view kFloatTypes[] = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"};
constexpr std::string_view kMovedTypes[] = {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"};

// 1 or -1 where an operand is that constant, else 0.
int unit(const Operand& operand, std::string_view type) {
  f64 value = 0;
  if (operand.kind == OperandKind::kFloat32) value = std::bit_cast<f32>(static_cast<u32>(operand.value));
  if (operand.kind == OperandKind::kFloat64) value = std::bit_cast<f64>(operand.value);
  if (type != "f32" && type != "f64") return 0;
  return value == 1 ? 1 : value == -1 ? -1 : 0;
}

Form form_of(const Function& function, const Instruction& instruction) {
  Form form;
  const auto modifiers = ptx::slice(function.modifiers, instruction.modifiers);
  const auto operands = ptx::slice(function.operands, instruction.operands);
  if (modifiers.empty() || operands.empty() || operands[0].kind != OperandKind::kRegister) return form;
  form.type = modifiers.back();
  const std::string_view opcode = instruction.opcode;
  const bool guarded = instruction.guard != kNone;
  if (opcode == "mov") {
    const bool plain = operands.size() == 2 && operands[1].kind == OperandKind::kRegister;
    if (plain && !guarded && is_among(form.type, kMovedTypes)) form.role = Role::kCopy;
    return form;
  }
  if (!is_among(form.type, kFloatTypes)) return form;
  // A rounding mode, even the usual one, asks for an operation of its own; so does .sat on a product.
  bool saturates = false;
  bool is_fast_division = false;
  for (const std::string_view modifier : modifiers.first(modifiers.size() - 1)) {
    if (modifier == "ftz") {
      form.flushes = true;
    } else if (modifier == "sat") {
      saturates = true;
    } else if (opcode == "div" && (modifier == "full" || modifier == "approx")) {
      is_fast_division = true;
    } else {
      return form;
    }
  }
  // ptxas makes signs part of the operation that reads them, except those of bf16 pairs.
  if (opcode == "neg" && operands.size() == 2 && !guarded && form.type != "bf16x2") form.role = Role::kNegation;
  if (operands.size() != 3) return form;
  if (opcode == "mul" && !guarded && !saturates) {
    const int factor = unit(operands[1], form.type) + unit(operands[2], form.type);
    form.role = form.flushes || factor == 0 ? Role::kProduct : factor > 0 ? Role::kCopy : Role::kNegation;
  }
  if (is_fast_division && !guarded) form.role = Role::kProduct;
  if (opcode == "add" || opcode == "sub") {
    form.role = Role::kSum;
    form.subtracts = opcode == "sub";
  }
  return form;
}

// ---- Where ptxas sees basic blocks -----------------------------------------------------------------------

// These take part in a block when they have no guard; with one, ptxas branches around them.
constexpr std::string_view kBranchedAround[] = {
    "activemask", "atom", "bar",       "barrier",  "cp",  "elect", "ld",   "ldmatrix", "ldu",      "match", "mbarrier",
    "mma",        "nanosleep", "prefetch", "red", "redux", "shfl", "st",       "stmatrix", "vote",  "wmma"};
constexpr std::string_view kLeaves[] = {"bra", "brx", "call", "exit", "ret", "trap"};

// Operations that ptxas makes branches or a call of.
bool has_branches_inside(const Function& function, const Instruction& instruction) {
  const auto modifiers = ptx::slice(function.modifiers, instruction.modifiers);
  if (modifiers.empty()) return false;
  const auto has = [&](std::string_view word) {
    return std::find(modifiers.begin(), modifiers.end(), word) != modifiers.end();
  };
  const std::string_view opcode = instruction.opcode;
  const std::string_view type = modifiers.back();
  if (opcode == "membar" || opcode == "fence") return true;
  if ((opcode == "div" || opcode == "rem") && !is_among(type, kFloatTypes)) return type != "u32";
  if (opcode == "div" || opcode == "rcp" || opcode == "sqrt") return !has("approx") && !has("full");
  return opcode == "rsqrt" && type == "f64" && !has("ftz");
}

bool ends_block(const Function& function, const Instruction& instruction, bool is_guarded) {
  const std::string_view opcode = instruction.opcode;
  if (is_among(opcode, kLeaves) || has_branches_inside(function, instruction)) return true;
  return is_guarded && is_among(opcode, kBranchedAround);
}

// ---- The search ------------------------------------------------------------------------------------------

class Search {
 public:
  explicit Search(const Function& function)
      : function_(function), uses_(function), found_(function.instructions.size()), block_end_(found_.size()),
        product_of_(found_.size(), kNone) {
    forms_.reserve(found_.size());
    for (const Instruction& each : function.instructions) forms_.push_back(form_of(function, each));
    find_blocks();
  }

  std::vector<Contraction> run() {
    for (u32 k = 0; k < forms_.size(); ++k) {
      if (forms_[k].role == Role::kProduct) list_sums(k);
    }
    // First the products that one sum alone uses, then those that several do, each time the left operand first.
    for (const bool only_single : {true, false}) {
      for (u32 k = 0; k < forms_.size(); ++k) {
        if (forms_[k].role == Role::kSum && found_[k].product == kNone) fuse(k, only_single);
      }
    }
    for (const Product& product : products_) finish(product);
    return std::move(found_);
  }

 private:
  struct SumUse {
    u32 sum;
    u32 operand;
    bool negated;
  };
  struct Product {
    u32 instruction = kNone;
    bool fusible = true;  // every use is a sum that could take it
    std::vector<SumUse> sums;
    u32 fused = 0;
  };

  std::span<const Operand> operands(u32 k) const {
    return ptx::slice(function_.operands, function_.instructions[k].operands);
  }

  // A guard that Triton writes where a mask is known to hold, and that ptxas sees through.
  bool always_holds(const Instruction& instruction) const {
    if (instruction.guard_negated || uses_.of(instruction.guard).writes.size() != 1) return false;
    const u32 written = uses_.of(instruction.guard).writes[0];
    const Instruction& made = function_.instructions[written];
    return made.opcode == "mov" && made.guard == kNone && operands(written).size() == 2 &&
           operands(written)[1].kind == OperandKind::kInteger && operands(written)[1].value != 0;
  }

  void find_blocks() {
    const u32 count = static_cast<u32>(found_.size());
    std::vector<bool> begins(count + 1);
    const auto target = [&](u32 label, u32 from) {
      const u32 to = function_.labels[label].instruction;
      if (to != from + 1) begins[to] = true;
    };
    for (u32 k = 0; k < count; ++k) {
      const Instruction& each = function_.instructions[k];
      bool ends = ends_block(function_, each, each.guard != kNone && !always_holds(each));
      for (const Operand& operand : operands(k)) {
        if (operand.kind != OperandKind::kSymbol) continue;
        if (operand.symbol == ptx::SymbolKind::kLabel) {
          target(operand.index, k);
          ends &= function_.labels[operand.index].instruction != k + 1;
        }
        if (operand.symbol == ptx::SymbolKind::kBranchTable) {
          for (const u32 label : function_.branch_tables[operand.index].labels) target(label, k);
        }
      }
      if (ends) begins[k + 1] = true;
    }
    u32 end = count;
    for (u32 k = count; k-- > 0;) {
      block_end_[k] = end;
      if (begins[k]) end = k;
    }
  }

  // The instructions that may run after one.
  void append_successors(u32 k, std::vector<u32>& to) const {
    const Instruction& each = function_.instructions[k];
    for (const Operand& operand : operands(k)) {
      if (operand.kind != OperandKind::kSymbol) continue;
      if (operand.symbol == ptx::SymbolKind::kLabel) to.push_back(function_.labels[operand.index].instruction);
      if (operand.symbol == ptx::SymbolKind::kBranchTable) {
        for (const u32 label : function_.branch_tables[operand.index].labels) {
          to.push_back(function_.labels[label].instruction);
        }
      }
    }
    static constexpr std::string_view kGoesElsewhere[] = {"bra", "brx", "exit", "ret"};
    if (!is_among(each.opcode, kGoesElsewhere) || each.guard != kNone) to.push_back(k + 1);
  }

  // Whether some way after an instruction leads to a read of a register before a write.
  bool is_live_after(u32 index, u32 instruction) const {
    const RegisterUse& use = uses_.of(index);
    std::vector<bool> seen(found_.size());
    std::vector<u32> open;
    append_successors(instruction, open);
    while (!open.empty()) {
      const u32 k = open.back();
      open.pop_back();
      if (k >= found_.size() || seen[k]) continue;
      seen[k] = true;
      if (std::any_of(use.reads.begin(), use.reads.end(), [&](Read r) { return r.instruction == k; })) return true;
      const bool always = function_.instructions[k].guard == kNone;
      if (always && std::binary_search(use.writes.begin(), use.writes.end(), k)) continue;
      append_successors(k, open);
    }
    return false;
  }

  void list_sums(u32 k) {
    Product product;
    product.instruction = k;
    follow(k, false, product);
    product_of_[k] = static_cast<u32>(products_.size());
    products_.push_back(std::move(product));
  }

  // Adds the sums that use the value which instruction k writes, the product itself or a copy of it.
  void follow(u32 k, bool negated, Product& product) {
    const u32 index = operands(k)[0].index;
    const RegisterUse& use = uses_.of(index);
    const u32 rewritten = uses_.first_write_after(index, k);
    const bool ends_here = rewritten < block_end_[k];
    const u32 last = ends_here ? rewritten : block_end_[k] - 1;  // a read by the writing instruction still counts
    std::size_t inside = 0;
    for (const Read& read : use.reads) {
      if (read.instruction <= k || read.instruction > last) continue;
      ++inside;
      const Form& form = forms_[read.instruction];
      const Form& made = forms_[product.instruction];
      if (read.operand == kNone) {
        product.fusible = false;
      } else if (form.role == Role::kSum && form.type == made.type && form.flushes == made.flushes) {
        product.sums.push_back({read.instruction, read.operand, negated});
      } else if (form.role == Role::kCopy && bits_of(form.type) == bits_of(made.type)) {
        follow(read.instruction, negated, product);
      } else if (form.role == Role::kNegation && form.type == made.type && (made.flushes || !form.flushes)) {
        follow(read.instruction, !negated, product);
      } else {
        product.fusible = false;
      }
    }
    if (ends_here) {
      // Where the new value has a guard, the old one lives on in other lanes.
      if (function_.instructions[rewritten].guard != kNone) product.fusible = false;
    } else if (inside != use.reads.size() && is_live_after(index, block_end_[k] - 1)) {
      product.fusible = false;
    }
  }

  static u32 bits_of(std::string_view type) {
    if (type.ends_with("x2")) return 32;
    return type.ends_with("64") ? 64 : type.ends_with("32") ? 32 : 16;
  }

  // The product whose value an operand of a sum has, through copies; kNone where it is none of the same block.
  u32 product_behind(u32 k, u32 operand) const {
    const Operand& from = operands(k)[operand];
    if (from.kind != OperandKind::kRegister) return kNone;
    const u32 written = uses_.last_write_before(from.index, k);
    if (written == kNone || block_end_[written] != block_end_[k]) return kNone;
    const Role role = forms_[written].role;
    if (role == Role::kProduct) return product_of_[written];
    if (role != Role::kCopy && role != Role::kNegation) return kNone;
    const u32 source = operands(written)[1].kind == OperandKind::kRegister ? 1 : 2;
    return product_behind(written, source);
  }

  void fuse(u32 k, bool only_single) {
    for (const u32 operand : {1u, 2u}) {
      const u32 index = product_behind(k, operand);
      if (index == kNone) continue;
      Product& product = products_[index];
      if (!product.fusible || (only_single && product.sums.size() != 1)) continue;
      // Each use must still be a sum of its own: not one that has taken another product in, nor twice the same.
      const bool all_free = std::all_of(product.sums.begin(), product.sums.end(), [&](const SumUse& use) {
        const u32 taken = found_[use.sum].product;
        const auto same = std::count_if(product.sums.begin(), product.sums.end(),
                                        [&](const SumUse& other) { return other.sum == use.sum; });
        return same == 1 && (taken == kNone || taken == product.instruction);
      });
      if (!all_free) continue;
      const SumUse& use = *std::find_if(product.sums.begin(), product.sums.end(),
                                        [&](const SumUse& each) { return each.sum == k; });
      Contraction& made = found_[k];
      made.product = product.instruction;
      made.addend = 3 - operand;
      const bool subtracts = forms_[k].subtracts;
      made.negates_product = use.negated != (subtracts && operand == 2);
      made.negates_addend = subtracts && operand == 1;
      ++product.fused;
      return;
    }
  }

  void finish(const Product& product) {
    if (product.fused == 0) return;
    Contraction& made = found_[product.instruction];
    made.is_absorbed = product.fused == product.sums.size();
    const auto factors_and_result = operands(product.instruction);
    for (const Operand& factor : factors_and_result.subspan(1)) {
      if (factor.kind != OperandKind::kRegister) continue;
      made.keeps_factors |= !made.is_absorbed && factor.index == factors_and_result[0].index;
      const u32 rewritten = uses_.first_write_after(factor.index, product.instruction);
      for (const SumUse& use : product.sums) {
        made.keeps_factors |= found_[use.sum].product == product.instruction && rewritten < use.sum;
      }
    }
  }

  const Function& function_;
  const Uses uses_;
  std::vector<Contraction> found_;
  std::vector<u32> block_end_;  // by instruction
  std::vector<Form> forms_;
  std::vector<Product> products_;
  std::vector<u32> product_of_;  // by instruction: in products_
};

}  // namespace

std::vector<Contraction> find_contractions(const ptx::Module& module, const Function& function) {
  // Code for the debugger is not optimised.
  if (std::find(module.target.begin(), module.target.end(), "debug") != module.target.end()) {
    return std::vector<Contraction>(function.instructions.size());
  }
  return Search(function).run();
}

}  // namespace flashpath::lower
