// The sanitizer of a launch: data races, memory that nobody wrote, copies that nobody waited for, leaks.
//
// A race is a pair of accesses to the same bytes by different threads, at least one of them a write, of which
// neither happens before the other, unless both are strong (atomic, volatile, relaxed, …) and of a scope that holds
// both threads, or both write the same value. "Happens before" is that of the PTX memory model:
//
//   program order of a thread;
//   barriers of a block (bar.sync, bar.red; bar.arrive for those that wait), among their threads;
//   bar.warp.sync, among its members;
//   shuffles, votes, matches and reductions: what their members have read before what these write afterwards, since
//   none goes on before all are there, with values that they have read. They order nothing else: what one member has
//   acquired, the others are only told of (a note);
//   mbarrier: an arrival before the waits that see its phase complete;
//   release and acquire: a fence and then a strong write (or a .release), before a strong read of the same place
//   that sees it (or what read-modify-writes made of it) and then a fence (or an .acquire), where the scopes of all
//   four hold both threads;
//   sequential fences (membar, fence.sc): over a barrier, one thread may signal, or see a signal, for all that fence;
//   and whatever follows from these by transitivity.
//
// One schedule is watched, with vector clocks (clocks.h): what another schedule would have ordered the same way, or
// never run, is not found; what is found is a race in any schedule that gets there. An access is compared with the
// last write of its bytes, a write also with all their readers that it may race with (shadow.h). What happens before
// is known exactly, so nothing is reported that is ordered; where bounds are reached, things are held for ordered.
//
// exec/ calls the functions below where it resolves addresses and where threads synchronise, if `Warp::watch` is
// set; sanitised launches run on one host thread, their blocks in any order or in turns.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/memory.h"
#include "observe/findings.h"
#include "sanitize/clocks.h"
#include "sanitize/shadow.h"

namespace flashpath::sanitize {

class Sanitizer;
struct BlockWatch;

// A piece of memory, as findings name it.
struct Piece {
  const char* space;  // "shared", …
  u64 address;
  u32 bytes;
};

// Writes by two threads that nothing orders: a race if their values differ.
struct Suspect {
  int lane = 0;
  const std::byte* memory = nullptr;  // what the other has written
  u32 bytes = 0;
  u32 offset = 0;      // in the lane's access
  int other_lane = -1;  // of the same instruction; -1: another access, whose value is in memory
  Record other = 0;
  u32 other_instruction = 0;
  Piece piece{};
};

// What fences have to do with a thread.
struct Ordering {
  struct Released {
    Epoch epoch = 0;  // 0: there was no fence
    View view;
  };
  struct Shared {
    ClockRef near;
    ClockRef far;
  };
  Released near[kLanes];      // at its last fence: what a strong write lets threads of its block know
  Released far[kLanes];       // at its last fence for the GPU or the system: what others get to know
  u32 unshared = 0;            // lanes whose last fence was sequential, and that have met no others since
  ClockRef seen_near[kLanes];  // by strong reads, from threads of its block: known after the next fence
  ClockRef seen_far[kLanes];   // from other blocks
  u64 polled[kLanes] = {};     // the version of the flag that it read last, and whether by an acquire: that one has
                               // nothing to tell again
  u32 unpassed = 0;     // lanes that have learned something by themselves since they last exchanged values
  View heard[kLanes];  // what lanes knew that have exchanged values with each: passed on, if not by the memory model
};

// Memory for accesses that cannot be made, where the launch goes on: zeros to read, and room to write.
inline constexpr u32 kNowhereBytes = 128;

// The last operation by which lanes of a warp have passed values to each other, as one of them has seen it: all that
// its members had read up to the epoch, they have read before what the lane writes.
struct Exchange {
  Epoch epoch = 0;
  u32 members = 0;

  u32 has_read(Epoch at) const { return at <= epoch ? members : 0; }
};

struct WarpWatch {
  BlockWatch* block = nullptr;
  u32 index = 0;
  u32 started = 0;  // its lanes: those that have ended may have left something behind
  Epoch epoch = 0;  // the present one
  Epoch known = 0;  // all its threads know their block at least up to here
  Epoch known_warp = 0;  // and their own warp
  View view[kLanes];
  Exchange exchanged[kLanes];        // among some lanes of the warp,
  Epoch exchanged_by_all = 0;        // and among all of them
  bool reads = false;                // it has read since its epoch began
  std::unique_ptr<Ordering> ordering;  // where there was any fence or release
  std::vector<Suspect> suspects;
  std::vector<std::byte> nowhere;  // for accesses that cannot be made, kNowhereBytes a lane

  Owner owner() const;
};

// What strong writes to a place let those know that read it.
struct Release {
  Party thread = 0;
  u32 block = 0;
  ClockRef near;  // for threads of that block
  ClockRef far;
};
struct Flag {
  std::vector<Release> releases;
  u64 version = 0;  // of these: no other place, and no other time, has the same
};
using Releases = std::unordered_map<u64, Flag>;  // by address

struct Mbarrier {
  ClockRef arriving;   // in the phase that is not complete
  ClockRef completed;  // in those that are
};

struct BlockWatch {
  Sanitizer* all = nullptr;
  u32 number = 0;
  Epoch first = 0;  // no epoch of the block is before this one
  Shadow shared;
  std::vector<WarpWatch> warps;
  ClockRef arrived[machine::kBarriers];  // by bar.arrive
  Mbarrier of_cluster;                   // of the first block: the barrier of its cluster
  std::unordered_map<u64, Mbarrier> mbarriers;
  Releases releases;              // through shared memory
  // What threads had done and knew at sequential fences before barriers: strong writes of others pass it on, since a
  // fence that follows a read of such a write comes later in the order of all sequential fences.
  Ordering::Shared fenced;
  ClockRef counted;       // what it has seen of other blocks by atomic operations that count, fence or not
  Ordering::Shared seen;  // by strong reads before barriers: sequential fences of others learn it, for the same reason
  std::vector<u8> local_written;  // (warp, lane, byte): `generation` where the block has written it
  u8 generation = 0;
};

inline constexpr Record kGlobalFloor = record_of(kFirstEpoch, 0);  // records of global memory below are nobody's

class Sanitizer {
 public:
  explicit Sanitizer(machine::Launch& launch);

  // A block begins to run; `block.watch` and its warps' are set.
  void begin_block(machine::Block& block, u64 number);
  void begin_epoch(WarpWatch& watch);
  Shadow& shadow_of(const machine::Segment& segment);
  // For readers of global memory.
  Readers::Rules rules() { return {epochs, kGlobalFloor, &room_for_readers}; }
  // Tells the launch's `accessed`, where somebody asks, what is known of it.
  void tell_accessed() const;
  // Tells of what malloc gave in this launch and nobody freed, unless later launches may.
  void report_leaks();
  // After the launch: memory that a race, or a write that went nowhere, left unwritten is no finding of its own.
  void take_back_consequences();

  machine::Launch& launch;
  Epochs epochs;
  Arena arena;
  std::vector<Shadow> segments;  // as Launch::segments
  Releases releases;             // through global memory
  // Lists of readers of global memory may have as many entries as this (200 MB). After that they keep readers of two
  // blocks for each place: a writer is not in both, but a race that blocks order in part may be missed.
  std::size_t room_for_readers = std::size_t{1} << 23;
  u64 versions = 0;              // of flags, so far
  // Reads of what nobody had written yet, by instruction: of each, as many as are worth a second look.
  struct Blank {
    Piece piece;
    observe::Party at;
    Shadow* shadow;
    u64 origin;  // the address of the shadow's first byte
  };
  std::map<u32, std::vector<Blank>> blanks;
  std::map<u32, bool> guesses;  // by instruction: it loads what a compare-and-swap is to find
  // As Launch::open_allocations; of this launch alone where there are none.
  std::map<u64, observe::OpenAllocation>& open_allocations;
  // The block that ran last, and the first epoch from which all others are its own.
  u32 running = ~0u;
  Epoch running_since = 0;

 private:
  void forget();

  std::vector<std::shared_ptr<BlockWatch>> blocks_;
  std::map<u64, observe::OpenAllocation> own_allocations_;
};

// ---- Accesses (accesses.cpp), before they happen ---------------------------------------------------------

// `segment`: nullptr for shared memory, whose addresses begin at 0.
void watch_whole(machine::Warp& warp, const Instruction& i, const machine::Segment* segment, machine::Shape shape, u64 first,
                 u32 size, machine::Use use);
void watch_near(machine::Warp& warp, const Instruction& i, const machine::Segment* segment, const u32* offset, u32 size,
                machine::Use use);
void watch_scattered(machine::Warp& warp, const Instruction& i, machine::Where where, const u64* address, u32 executing,
                     u32 size, machine::Use use);

// ldmatrix: 16 bytes at each address of `rows`, eight to a matrix. In PTX it is the threads that get a piece of a row
// that load it, not the one that gave its address: a word for each of four lanes, or, transposed, an element for every
// fourth lane.
void watch_matrix(machine::Warp& warp, const Instruction& i, const u64* address, u32 rows, bool is_transposed);

// After a store was watched: compares the values that two threads write to one place. `value(lane, bytes)` tells
// what a lane is about to write.
void settle(machine::Warp& warp, const Instruction& i, const std::function<void(int, std::byte*)>& value);
// The same where a warp stores as one: `value(place, bytes, to)` tells what it is about to write there.
void settle_by_place(machine::Warp& warp, const Instruction& i,
                     const std::function<void(const std::byte*, u32, std::byte*)>& value);
inline bool has_suspects(const machine::Warp& warp) { return warp.watch != nullptr && !warp.watch->suspects.empty(); }

// Whether what the record tells of happens before what the lane does now.
bool happened_before(const WarpWatch& watch, int lane, Record record);

// ---- Synchronisation (order.cpp) -------------------------------------------------------------------------

void arrive_early(machine::Warp& warp, u32 barrier, u32 lanes);              // bar.arrive
void meet(machine::Block& block, u32 number, const machine::Barrier& barrier);  // a barrier lets its threads go
void arrive_at_cluster(machine::Warp& warp, const Instruction& i);  // barrier.cluster.arrive
void wait_for_cluster(machine::Warp& warp, const Instruction& i);   // .wait, where it is met, or before that
void meet_cluster(machine::Cluster& cluster);                       // its waiting threads are about to go on
void meet_warp(machine::Warp& warp, const u32* members);                     // bar.warp.sync
void exchange(machine::Warp& warp, const u32* members);                      // shfl, vote, match, redux
void fence(machine::Warp& warp, const Instruction& i);
// Strong accesses by the lanes of a mask.
void order_strong(machine::Warp& warp, const Instruction& i, bool is_shared, const u64* address, u32 lanes,
                  machine::Use use);

// What lanes of a warp have done and know.
ClockRef told(const WarpWatch& watch, u32 lanes);
void learn(WarpWatch& watch, u32 lanes, const ClockRef& clock);

// ---- Asynchronous copies and mbarrier (copies.cpp, accesses.cpp) -----------------------------------------

// cp.async begins; `read`: how many bytes of its source each lane reads.
void watch_copy(machine::Warp& warp, const Instruction& i, const u64* to, const u64* from, const u32* read, u32 lanes,
                u32 size);
// Its lanes have waited for it: it is theirs, done in this epoch.
void end_copy(machine::Warp& warp, const machine::AsyncCopy& copy, u32 lanes, Epoch epoch);

// ---- Bulk copies (bulk.cpp) ---------------------------------------------------------------------------------

void watch_bulk_copy(machine::Warp& warp, const Instruction& i, machine::BulkCopy& copy);  // it begins
void end_bulk_copy(machine::BulkCopy& copy);  // its barrier was asked, or its thread has waited for its group
// It has read its sources, and may still write.
void end_bulk_read(const machine::BulkCopy& copy, const std::vector<const std::byte*>& sources);
void end_without_wait(const machine::BulkCopy& copy);  // all threads of its cluster have ended

// ---- wgmma (matrices.cpp) -----------------------------------------------------------------------------------

void begin_matrix_operation(machine::Warp& warp, const Instruction& i, machine::MatrixOperation& operation);
void end_matrix_operation(machine::Warp& warp, const machine::MatrixOperation& operation);
void wait_for_matrices(machine::Warp& warp, Epoch ended);  // all that have ended so far
// An instruction uses accumulators that a product is still added to.
void report_accumulator_in_flight(const machine::Warp& warp, const Instruction& i, const Instruction& product);

void begin_barrier(machine::Warp& warp, const std::byte* object);  // mbarrier.init
void arrive_at(machine::Warp& warp, const Instruction& i, std::byte* const* objects);
void arrive_after_copies(machine::Warp& warp, int lane, const std::byte* object, Epoch epoch);
void complete_phase(machine::Warp& warp, const std::byte* object);
void wait_at(machine::Warp& warp, const Instruction& i, std::byte* const* objects, u32 lanes);

// ---- Accesses that cannot be made --------------------------------------------------------------------------

inline std::byte* nowhere(machine::Warp& warp, int lane) {
  std::vector<std::byte>& memory = warp.watch->nowhere;
  memory.resize(kLanes * kNowhereBytes);
  return memory.data() + static_cast<u32>(lane) * kNowhereBytes;
}
inline bool is_nowhere(const machine::Warp& warp, const std::byte* place) {
  if (warp.watch == nullptr) return false;
  const std::vector<std::byte>& memory = warp.watch->nowhere;
  return place >= memory.data() && place < memory.data() + memory.size();
}

// ---- Local memory and the heap (memory.cpp) --------------------------------------------------------------

void watch_local(machine::Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, machine::Use use);
void write_local(machine::Warp& warp, int lane, u64 address, u64 size);  // by a call, which passes what is there
void watch_heap(machine::Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, machine::Use use);
void watch_malloc(machine::Warp& warp, const Instruction& i, int lane, u64 address, u64 size);
void watch_free(machine::Warp& warp, u64 address);

// ---- Findings (report.cpp) -------------------------------------------------------------------------------

// What would end a launch that is not sanitised.
void report_fault(const machine::Warp& warp, const machine::Fault& fault);
// What is as wrong, but ends no launch: the memory is there.
void report(const machine::Warp& warp, const machine::Fault& fault);

// A thread, as findings name it.
observe::Party party_of(const machine::Warp& warp, const Instruction& i, int lane);
// Memory of the heap that was not freed.
observe::Finding leak_of(u64 address, const observe::OpenAllocation& given, const char* code);

struct Access {
  u32 instruction = 0;
  Record record = 0;
  bool writes = false;
};
void report_race(const machine::Warp& warp, const Instruction& i, int lane, bool writes, const Access& other,
                 const Piece& piece);
// `copy`: the cp.async; `source`: it is what the copy reads that is written too early.
void report_missing_wait(const machine::Warp& warp, const Instruction& i, int lane, bool writes, const Access& copy,
                         const Piece& piece);
// All threads have ended while a copy reads shared memory, or writes there.
void report_end_in_flight(const machine::BulkCopy& copy, bool reads);
// Whether what the record tells of would have happened before, if a fence had followed an atomic operation by which the
// block has counted.
bool lacks_only_a_fence(const WarpWatch& watch, Record record);
// Whether it would have, if exchanges between lanes passed on what one of them has acquired.
bool lacks_only_a_barrier(const WarpWatch& watch, int lane, Record record);
void report_uninitialized(const machine::Warp& warp, const Instruction& i, int lane, const Piece& piece,
                          Shadow* shadow = nullptr, u64 origin = 0);

}  // namespace flashpath::sanitize
