// A kernel ready to run: a flat array of instructions whose operands are places in a warp's register file.
//
// A register is 32 lanes in a row (128 bytes for 32-bit types), a predicate a 32-bit mask. Constants and
// special registers are registers too, filled when a warp starts, so that an operation never asks what kind
// of operand it has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exec/types.h"

namespace flashpath {

namespace exec {
struct Warp;
}

struct Instruction;
using Handler = void (*)(exec::Warp&, const Instruction&);

inline constexpr u32 kNoRegister = 0xffffffffu;

enum class Kind : u8 {
  kStraight,  // run the handler, go on
  kBranch,    // to `target`
  kExit,      // the lanes end
  kBarrier,   // wait for the block: the barrier is `modifier`, its count of threads in a[0] if given
  kWarpSync,  // run the handler when all lanes of the member mask in b[3] are here
};

struct Instruction {
  Handler handler = nullptr;
  u32 dst[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};  // offsets in the register file
  u32 a[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  u32 b[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  u32 c[4] = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  s64 immediate = 0;        // an address's offset, or what the handler says
  u32 modifier = 0;         // what the handler says
  u32 guard = kNoRegister;  // the predicate that must hold
  bool guard_negated = false;
  Kind kind = Kind::kStraight;
  bool leader = false;  // the first of a basic block: where diverged lanes may meet again
  u32 target = 0;
  u32 index = 0;  // its place in the program
  u32 pool = 0;   // where its registers stand in Program::operand_pool, if it has more than fit above
};

// What stands beside an instruction for people: never read while running.
struct Origin {
  u32 ptx_line = 0;
  u32 file = 0;
  u32 line = 0;
  std::string text;  // the opcode with its modifiers
};

struct Constant {
  u32 offset;
  u32 width;  // bytes per lane; 0 for a predicate
  u64 bits;
};

// Where the special registers stand in the register file; kNoRegister where the kernel does not read them.
struct SpecialRegisters {
  u32 tid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 ctaid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 ntid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 nctaid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 laneid = kNoRegister;
  u32 warpid = kNoRegister;
  u32 lanemask_lt = kNoRegister;
  u32 lanemask_le = kNoRegister;
  u32 lanemask_eq = kNoRegister;
  u32 lanemask_ge = kNoRegister;
  u32 lanemask_gt = kNoRegister;
};

struct Program {
  std::string name;
  std::vector<Instruction> code;
  std::vector<u32> operand_pool;    // registers of instructions that have many, as offsets in the register file
  std::vector<Origin> origins;      // one per instruction
  std::vector<std::string> files;   // by the index that Origin::file holds
  std::vector<Constant> constants;
  SpecialRegisters special;
  u32 register_bytes = 0;   // of one warp
  u32 parameter_bytes = 0;
  u32 shared_bytes = 0;     // static
  u32 dynamic_shared_offset = 0;
  u32 local_bytes = 0;      // per thread
  u32 max_threads = 0;      // __launch_bounds__; 0 where none
  std::vector<std::byte> globals;    // the module's .global variables, at kGlobalsBase
  std::vector<std::byte> constants_memory;  // its .const variables, at kConstantsBase
};

// Where the variables of a module stand in the device's address space, below all arrays.
inline constexpr u64 kGlobalsBase = 0x100000000ull;
inline constexpr u64 kConstantsBase = 0x200000000ull;

}  // namespace flashpath
