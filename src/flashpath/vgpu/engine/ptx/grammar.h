// The recursive-descent parser behind parse(); its methods are spread over one file per part of the grammar.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ast.h"
#include "ptx/lexer.h"
#include "ptx/names.h"

namespace flashpath::ptx {

// A folded constant expression.
struct Constant {
  enum class Kind : uint8_t { kSigned, kUnsigned, kFloat32, kFloat64 };
  Kind kind = Kind::kSigned;
  uint64_t bits = 0;
};

class Grammar {
 public:
  Grammar(std::shared_ptr<const std::string> text, bool is_linked);
  Module parse_module();

 private:
  // ---- Tokens (parser.cpp)
  void advance() { token_ = lexer_.next(); }
  bool at(uint16_t wanted) const { return token_.sign == wanted; }
  bool at(TokenKind wanted) const { return token_.kind == wanted; }
  bool at_directive(std::string_view name) const { return token_.kind == TokenKind::kDotted && token_.text == name; }
  bool accept(uint16_t wanted);
  bool accept_directive(std::string_view name);
  void expect(uint16_t wanted);
  std::string_view expect_identifier(const char* what);
  std::string_view expect_string();
  uint32_t expect_uint32(const char* what);
  [[noreturn]] void fail_expected(const Message& expected) const;
  [[noreturn]] static void fail(Place place, const Message& problem);

  // Counts what recursion is under way: text nested too deeply is refused before the stack ends.
  class Nested {
   public:
    explicit Nested(Grammar& grammar);
    ~Nested() { --grammar_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Grammar& grammar_;
  };

  // ---- The module (parser.cpp)
  void begin_next_text();
  void parse_header();
  void parse_top_level();
  uint32_t parse_file_number();
  void parse_file();
  void parse_section();
  void parse_alias();
  std::vector<std::string_view> parse_pragma();
  Linkage parse_linkage();
  const Symbol* find_global(std::string_view name) const;
  void resolve_initialisers();

  // ---- Constant expressions (expressions.cpp)
  bool at_constant() const;
  Constant parse_constant();
  Constant parse_ternary();
  Constant parse_binary(int lowest);
  Constant parse_unary();
  Constant parse_primary();
  int64_t parse_offset();
  uint64_t parse_size(const char* what);

  // ---- Declarations (declarations.cpp)
  struct Declared {  // what stands before the name
    Type type = Type::kB8;
    uint8_t vector_width = 1;
    uint32_t alignment = 0;
    std::vector<std::string_view> attributes;
  };
  Declared parse_type(bool of_registers);
  uint32_t parse_alignment();
  std::vector<std::string_view> parse_attributes();
  std::vector<uint64_t> parse_dimensions(const Declared& declared);
  void parse_variables(Space space, Linkage linkage);
  void declare_variable(Variable variable, Place place);
  void parse_registers();
  void parse_initialiser(Variable& variable);
  void parse_values(Variable& variable, const std::vector<uint64_t>& inside, size_t level, uint64_t first);
  void parse_value(Variable& variable, uint64_t element);
  Parameter parse_parameter();
  std::vector<Parameter> parse_parameters();
  void parse_function(Linkage linkage);
  void parse_performance(Function& function);
  uint32_t declare_function(Function function, Place place);

  // ---- Bodies (statements.cpp)
  void parse_body();
  void declare_parameters(std::vector<Parameter>& parameters, SymbolKind kind);
  void open_scope();
  void close_scope();
  void parse_statement();
  void parse_body_directive();
  void parse_location();
  uint32_t add_location(const SourceLocation& location);
  void parse_labelled(std::string_view name, Place place);
  void declare_code_name(std::string_view name, Symbol symbol, Place place);
  void parse_instruction(std::string_view opcode, uint32_t guard, bool guard_negated, Place place);
  void parse_guard(uint32_t& guard, bool& negated);

  // ---- Operands (operands.cpp)
  Operand parse_operand();
  Operand parse_named();
  Operand parse_address();
  Operand parse_group(OperandKind kind, uint16_t close);
  Operand parse_constant_operand();
  bool at_negated_register() const;
  Component parse_component(bool special);
  Range store_from(size_t first);
  uint32_t parse_register(const char* what);
  [[noreturn]] void fail_unknown(std::string_view name, Place place) const;

  // A name that no register or variable has when it is met: a label, perhaps further down. It is looked up
  // when each scope around it closes.
  struct Pending {
    std::string_view name;
    Place place;
    uint32_t table;  // kNone: an operand
    uint32_t index;  // of the operand, or of the entry in the table
  };
  void resolve_pending();

  std::shared_ptr<const std::string> text_;
  Lexer lexer_;
  Token token_;
  int nesting_ = 0;
  bool is_linked_;           // there are several texts, one behind the other
  uint32_t first_file_ = 0;  // what the numbers of this text's files are counted from

  Module module_;
  std::unordered_map<std::string_view, Symbol> globals_;
  struct SymbolUse {  // a symbol in an initialiser, which may be declared further down
    uint32_t variable;
    uint32_t value;
    std::string_view name;
    Place place;
  };
  std::vector<SymbolUse> symbol_uses_;
  std::map<std::array<uint32_t, 3>, uint32_t> latest_location_;  // by file, line and column

  // Of the function whose body is being read.
  Function* function_ = nullptr;
  Registers registers_;
  ScopedMap<Symbol> variables_;
  ScopedMap<Symbol> code_;
  std::vector<Pending> pending_;
  std::vector<size_t> pending_marks_;
  std::vector<Operand> building_;  // a stack: operands of the instruction and of the groups around this one
  uint32_t location_ = kNone;
  bool branching_ = false;  // in a bra or brx, whose names are those of code
  bool calling_ = false;    // in a call, whose parentheses make lists
};

}  // namespace flashpath::ptx
