// The writer behind print(): print.cpp writes what is declared, print_code.cpp what is run.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ptx/ast.h"

namespace flashpath::ptx {

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}
  std::string print();

 private:
  // ---- Text
  void append(std::string_view text) { out_ += text; }
  void append(char character) { out_ += character; }
  void append(std::integral auto number) { out_ += std::to_string(number); }
  template <class... Pieces>
  void put(const Pieces&... pieces) {
    (append(pieces), ...);
  }
  void put_hex(uint64_t bits, int digits);
  void put_offset(int64_t offset);
  template <class Items, class Write>
  void put_list(const Items& items, std::string_view between, Write write) {
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) put(between);
      write(item);
    }
  }

  // ---- What is declared (print.cpp)
  void print_header();
  void print_pragma(std::string_view text);
  void print_attributes(const std::vector<std::string_view>& attributes);
  void print_variable(const Variable& variable, std::string_view name, const Parameter* parameter = nullptr);
  void print_global(const Variable& variable);
  void print_values(std::span<const Value> values, const std::vector<uint64_t>& inside, size_t level);
  void print_value(const Value& value);
  void print_parameters(const std::vector<Parameter>& parameters, const std::vector<std::string>& names);
  void print_function(const Function& function, bool declaration_only);
  void print_performance(const Performance& performance);

  // ---- What is run (print_code.cpp)
  void print_body();
  void print_registers();
  void print_tables();
  void print_prototype(const Prototype& prototype, std::string_view name);
  void print_location(uint32_t index);
  void print_instruction(const Instruction& instruction);
  void print_operands(Range range, std::string_view between);
  void print_operand(const Operand& operand);
  std::string_view symbol_name(const Operand& operand) const;

  // Scopes are dissolved, so each thing of a function needs a name that no other has.
  struct Names {
    std::vector<std::string> registers, variables, returns, parameters, labels, tables, targets, prototypes;
    uint32_t register_parameters = 0;  // the first registers are these
  };
  Names names_of(const Function& function) const;

  const Module& module_;
  std::string out_;
  std::unordered_set<std::string> global_names_;
  const Function* function_ = nullptr;
  Names names_;
};

}  // namespace flashpath::ptx
