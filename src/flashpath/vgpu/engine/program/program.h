// A kernel ready to run: a flat array of instructions whose operands are places in a warp's register file.
//
// A register is 32 lanes in a row (128 bytes for 32-bit types), a predicate a 32-bit mask. Constants and
// special registers are registers too, filled when a warp starts, so that an operation never asks what kind
// of operand it has.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/heap.h"
#include "program/types.h"

namespace flashpath {

namespace machine {
struct Warp;
}

struct Instruction;
using Handler = void (*)(machine::Warp&, const Instruction&);

inline constexpr u32 kNoRegister = 0xffffffffu;

enum class Kind : u8 {
  kStraight,  // run the handler, go on
  kBranch,    // to `target`
  kBranchTable,  // to the entry of Program::branch_tables[target] that a[0] names
  kCall,      // of Program::functions[target], or of the function whose address is in a[0]; the site is `immediate`
  kReturn,    // to the caller; the lanes end where there is none
  kExit,      // the lanes end
  kBarrier,   // of the block, or the cluster: a[0] names it, b[0] counts its threads if given, `modifier` is a BarrierMode
  kWarpSync,  // run the handler when all lanes of the member mask in b[3] are here
};

// What an operation does beside its registers, as far as waiting for others goes.
enum class Effect : u8 {
  kNone,
  kReads,   // memory that other threads may write, or it asks for a pause
  kAtomic,  // reads, and says in Warp::changed whether it changed anything
  kLocal,   // writes the thread's own memory
  kShared,  // writes memory of the block
  kWrites,  // other memory, output or the heap
};

inline bool stores(Effect effect) { return effect == Effect::kShared || effect == Effect::kWrites; }

enum class BarrierMode : u32 { kSync, kArrive, kCount, kAll, kAny, kClusterArrive, kClusterWait, kMatrices };

// What a memory access or a fence does for the order of others, as flags of Instruction::order.
inline constexpr u8 kStrong = 1;           // volatile, relaxed, acquire, release or atomic: others may do it at once
inline constexpr u8 kWideScope = 2;        // it orders threads of different blocks: .gpu or .sys
inline constexpr u8 kAcquire = 4;
inline constexpr u8 kRelease = 8;
inline constexpr u8 kReadModifyWrite = 16;
inline constexpr u8 kOfBarrier = 32;       // on an mbarrier: what it orders, the barrier's phases tell
inline constexpr u8 kSequential = 128;     // a fence that is in one order with all others of its kind
inline constexpr u8 kComparesFirst = 64;   // a read-modify-write that writes only where memory holds b[0]

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
  u8 order = 0;
  bool leader = false;  // the first of a basic block: where diverged lanes may meet again
  Effect effect = Effect::kNone;
  u32 target = 0;  // of a branch or a call; where a matrix operation's registers start in Program::operand_pool
  u32 index = 0;  // its place in the program
  u32 rank = 0;   // of its basic block: diverged lanes of lower rank run first (lower/order.cpp)
};

// What stands beside an instruction for people: never read while running.
struct Origin {
  u32 ptx_line = 0;
  u32 file = 0;  // of the user's source: what was inlined from a library has the place that it was called at
  u32 line = 0;
  u32 library_file = 0;  // where it stands itself, if that is in a library
  u32 library_line = 0;
  std::string text;  // the opcode with its modifiers; empty for what the lowering itself added
  std::string operation;  // what is done for it, by the engine's own name
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
  u32 clusterid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 nclusterid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 cluster_ctaid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 cluster_nctaid[3] = {kNoRegister, kNoRegister, kNoRegister};
  u32 cluster_ctarank = kNoRegister;
  u32 cluster_nctarank = kNoRegister;
  u32 is_explicit_cluster = kNoRegister;  // a predicate
  u32 laneid = kNoRegister;
  u32 warpid = kNoRegister;
  u32 lanemask_lt = kNoRegister;
  u32 lanemask_le = kNoRegister;
  u32 lanemask_eq = kNoRegister;
  u32 lanemask_ge = kNoRegister;
  u32 lanemask_gt = kNoRegister;
  u32 nwarpid = kNoRegister;
  u32 smid = kNoRegister;
  u32 nsmid = kNoRegister;
  u32 gridid = kNoRegister;             // 64 bits
  u32 envreg[2] = {kNoRegister, kNoRegister};  // %envreg1 and 2: the address of what a cooperative grid shares
  u32 dynamic_smem_size = kNoRegister;
  u32 total_smem_size = kNoRegister;
};

// ---- Functions -------------------------------------------------------------------------------------------

// A piece of a thread's local memory: of its frame in a recursive function, else of a place of its own.
struct LocalPlace {
  u64 offset = 0;
  u64 size = 0;
};

// What a function of the program needs when it is called. Only functions that may call themselves have frames
// and save registers: all others are entered once at a time by a thread.
struct FunctionCode {
  std::string name;
  u64 address = 0;  // what a pointer to it holds
  u32 entry = 0;
  bool recursive = false;
  u64 frame_bytes = 0;
  std::vector<LocalPlace> parameters;
  std::vector<LocalPlace> returns;
  std::vector<std::pair<u32, u32>> registers;  // offset and width of each; for recursive functions
};

// One call in the code: where the caller keeps what it passes and what it gets.
struct CallSite {
  bool framed = false;  // the caller is recursive: its places are relative to its frame
  std::vector<LocalPlace> arguments;
  std::vector<LocalPlace> results;
};

// Where the variables of modules stand in the device's address space, below all arrays; several modules that are
// on one device follow each other there.
inline constexpr u64 kGlobalsBase = 0x100000000ull;
inline constexpr u64 kConstantsBase = 0x200000000ull;
inline constexpr u64 kParametersBase = 0x300000000ull;
inline constexpr u64 kFunctionsBase = 0x400000000ull;  // + 16 × the function's index in the module: no memory
inline constexpr u64 kGridBase = 0x480000000ull;       // what the blocks of a cooperative launch share
inline constexpr u64 kHeapBase = 0x500000000ull;       // what malloc gives

// Generic addresses: shared and local memory are seen through windows, as on hardware.
inline constexpr u64 kLocalWindow = 0x7d0000000000ull;
inline constexpr u64 kSharedWindow = 0x7e0000000000ull;
inline constexpr u64 kWindowSize = 0x010000000000ull;

// Addresses of shared memory: above the offset, 0 for the block's own, else the rank of a block of its cluster, plus one.
inline constexpr u32 kRankShift = 24;
inline constexpr u32 kMostBlocksOfCluster = 16;

struct VariableBases {
  u64 globals = kGlobalsBase;
  u64 constants = kConstantsBase;
  u64 managed = 0;  // 0: __managed__ variables stand among the others of .global
};

// The variables of a module: the same for all its kernels, kept from launch to launch.
struct ModuleMemory {
  VariableBases bases;
  std::vector<std::byte> globals;    // .global
  std::vector<std::byte> constants;  // .const
  std::vector<std::byte> managed;    // what is in those of `bases.managed` at first; whoever chose it keeps them
  program::Heap heap;                   // of malloc in device code, at kHeapBase
};

struct Program {
  std::string name;
  std::vector<Instruction> code;
  std::vector<u32> operand_pool;    // registers of instructions that have many, as offsets in the register file
  std::vector<Origin> origins;      // one per instruction
  std::vector<std::string> files;   // by the index that Origin::file holds
  std::vector<bool> of_library;     // by the same: whether it is no file of the user's
  std::vector<Constant> constants;
  SpecialRegisters special;
  u32 register_bytes = 0;   // of one warp
  u32 parameter_bytes = 0;
  u32 shared_bytes = 0;     // static
  u32 reserved_shared_bytes = 0;  // at their end, what CUDA's libraries have: zeros when a block begins
  u32 dynamic_shared_offset = 0;
  u32 local_bytes = 0;      // per thread, with its stack
  u32 stack_base = 0;       // where in it the frames of recursive functions begin
  u32 frame_pointer = kNoRegister;  // a 64-bit register, where there are recursive functions
  u32 max_threads = 0;      // __launch_bounds__; 0 where none
  u32 cluster[3] = {0, 0, 0};     // __cluster_dims__; zeros where there are none
  bool explicit_cluster = false;  // it is launched in clusters, whatever their extent
  std::vector<FunctionCode> functions;  // the kernel is the first
  std::vector<CallSite> calls;
  std::vector<std::vector<u32>> branch_tables;
  bool allocates = false;      // it calls malloc
  bool order_matters = false;  // atomics, output or the heap: the order of blocks can be seen in the results
  std::shared_ptr<ModuleMemory> memory;
};

}  // namespace flashpath
