// A PTX module after parsing, as plain data: what the text says, with every name resolved and every constant
// folded, and nothing about what the instructions mean.
//
// Names are views into the text, which the module keeps alive. Operands and modifiers of a function lie in two
// arrays of their own (a Range of them belongs to each instruction), so that a large kernel costs few allocations.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashpath::ptx {

inline constexpr uint32_t kNone = UINT32_MAX;

struct Range {
  uint32_t first = 0;
  uint32_t count = 0;
};

template <class T>
std::span<const T> slice(const std::vector<T>& all, Range range) {
  return std::span<const T>(all).subspan(range.first, range.count);
}

enum class Type : uint8_t {
  kB8, kB16, kB32, kB64, kB128,
  kU8, kU16, kU32, kU64,
  kS8, kS16, kS32, kS64,
  kF16, kF16x2, kBf16, kBf16x2, kF32, kF64,
  kPred,
};

enum class Space : uint8_t { kGeneric, kReg, kParam, kLocal, kShared, kGlobal, kConst };

enum class Linkage : uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

// ---- Names -----------------------------------------------------------------------------------------------

enum class SymbolKind : uint8_t {
  kGlobal,       // Module::variables
  kFunction,     // Module::functions
  kParameter,    // Function::parameters
  kReturn,       // Function::returns
  kVariable,     // Function::variables
  kLabel,        // Function::labels
  kBranchTable,  // Function::branch_tables
  kCallTargets,  // Function::call_targets
  kPrototype,    // Function::prototypes
};

struct Symbol {
  SymbolKind kind = SymbolKind::kGlobal;
  uint32_t index = kNone;
};

// ---- Variables -------------------------------------------------------------------------------------------

enum class ValueKind : uint8_t { kInteger, kFloat32, kFloat64, kSymbol };

// One value of an initialiser. Elements that none is given for are zero.
struct Value {
  ValueKind kind = ValueKind::kInteger;
  bool generic = false;    // generic(symbol): its generic address, not the one in its own space
  uint64_t element = 0;    // which scalar of the variable, counted through all dimensions
  uint64_t bits = 0;       // the integer; the float's bits; what is added to the symbol's address
  uint64_t mask = 0;       // 0xFF00(symbol): the bits taken of the address; 0: all
  Symbol symbol;           // kGlobal or kFunction
};

struct Variable {
  std::string_view name;
  Space space = Space::kGeneric;
  Linkage linkage = Linkage::kInternal;
  Type type = Type::kB8;
  uint8_t vector_width = 1;
  uint32_t alignment = 0;                // 0: none is given, so that of its type
  std::vector<uint64_t> dimensions;      // empty: a scalar; a first one of 0: unsized, `[]`
  std::vector<Value> initialiser;        // in the order of their elements
  std::vector<std::string_view> attributes;  // as written inside `.attribute(…)`
  uint32_t line = 0;
};

struct Parameter {
  Variable variable;
  bool is_pointer = false;  // `.ptr`: a promise about what it points to
  Space pointer_space = Space::kGeneric;
  uint32_t pointer_alignment = 0;
  uint32_t register_index = kNone;  // of a `.reg` parameter, as device functions of old had them
};

// Only registers that some instruction names: a function's register file needs no others.
struct Register {
  std::string_view stem;     // "%r" of `%r<10>`; the whole name of a register declared by itself
  uint32_t number = kNone;   // 7 of %r7
  Type type = Type::kB32;
  uint8_t vector_width = 1;
};

// ---- Instructions ----------------------------------------------------------------------------------------

enum class OperandKind : uint8_t {
  kRegister,  // index, component; value is the offset in an address
  kSpecial,   // name ("%tid"), component
  kInteger,   // value
  kFloat32,   // value: the bits
  kFloat64,   // value: the bits
  kSymbol,    // symbol, index; value is the offset
  kAddress,   // parts: [base] or [base, {coordinates}, …]
  kVector,    // parts: {a, b}
  kList,      // parts: (a, b) of a call
  kPair,      // parts: a|b
  kSink,      // _
};

enum class Component : uint8_t { kWhole, kX, kY, kZ, kW, kB0, kB1, kB2, kB3, kH0, kH1 };

struct Operand {
  OperandKind kind = OperandKind::kSink;
  bool negated = false;  // !%p
  Component component = Component::kWhole;
  SymbolKind symbol = SymbolKind::kGlobal;
  uint32_t index = kNone;
  Range parts;  // in Function::operands
  int64_t value = 0;
  std::string_view name;
};

struct Instruction {
  std::string_view opcode;  // "ld"
  Range modifiers;          // "global", "nc", "L2::128B", "v4", "f32"; in Function::modifiers
  Range operands;           // in Function::operands
  uint32_t guard = kNone;   // the predicate register
  bool guard_negated = false;
  uint32_t line = 0;          // in the PTX text
  uint32_t location = kNone;  // in Module::locations
};

struct Label {
  std::string_view name;
  uint32_t instruction = 0;  // the next one; the count of instructions, at the end
};

struct BranchTable {
  std::string_view name;
  std::vector<uint32_t> labels;
};

struct CallTargets {
  std::string_view name;
  std::vector<uint32_t> functions;
};

struct Prototype {
  std::string_view name;
  std::vector<Parameter> returns;
  std::vector<Parameter> parameters;
  bool noreturn = false;
};

struct Pragma {
  uint32_t instruction = 0;  // the next one; kNone: the whole function
  std::string_view text;
};

// ---- Functions and the module ----------------------------------------------------------------------------

using Extent = std::array<uint32_t, 3>;

struct Performance {
  std::optional<Extent> maxntid;
  std::optional<Extent> reqntid;
  std::optional<Extent> reqnctapercluster;
  std::optional<uint32_t> minnctapersm;
  std::optional<uint32_t> maxnctapersm;
  std::optional<uint32_t> maxnreg;
  std::optional<uint32_t> maxclusterrank;
  std::optional<uint32_t> abi_preserve;
  std::optional<uint32_t> abi_preserve_control;
  bool explicitcluster = false;
  bool blocksareclusters = false;
  bool noreturn = false;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool is_declaration = true;  // no body
  Linkage linkage = Linkage::kInternal;
  std::vector<std::string_view> attributes;
  std::vector<Parameter> returns;
  std::vector<Parameter> parameters;
  Performance performance;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // of all its scopes: two may have the same name
  std::vector<Instruction> instructions;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  std::vector<Label> labels;  // of all its scopes, in the order of their instructions
  std::vector<BranchTable> branch_tables;
  std::vector<CallTargets> call_targets;
  std::vector<Prototype> prototypes;
  std::vector<Pragma> pragmas;
  uint32_t line = 0;
};

struct SourceLocation {
  uint32_t file = 0;  // File::index
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t inlined_at = kNone;     // the call this was inlined at, in Module::locations
  std::string_view function;       // the inlined function: a label in the section .debug_str
  uint32_t function_offset = 0;    // and the offset from it
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

struct File {
  uint32_t index = 0;
  std::string_view path;
};

struct Alias {
  uint32_t alias = 0;   // Module::functions
  uint32_t target = 0;  // Module::functions
};

struct Section {  // debug information, not looked into
  std::string_view name;
  std::string_view body;
};

struct Module {
  std::shared_ptr<const std::string> text;
  uint32_t version_major = 0;
  uint32_t version_minor = 0;
  std::vector<std::string_view> target;  // "sm_80", "debug"
  uint32_t address_size = 64;
  std::vector<File> files;
  std::vector<Variable> variables;
  std::vector<Function> functions;  // a definition takes the place of its declaration
  std::vector<Alias> aliases;
  std::vector<std::string_view> pragmas;
  std::vector<SourceLocation> locations;
  std::vector<Section> sections;
};

}  // namespace flashpath::ptx
