// wmma.load and wmma.store: whole matrices between memory and fragments.
//
// In memory a matrix is a number of lines, `stride` elements apart; a fragment's own rows either lie along the
// lines or across them. PTX wants one address and one stride from all lanes.
#include <algorithm>
#include <string>
#include <type_traits>

#include "exec/memory/traffic.h"
#include "exec/operations.h"
#include "exec/tensor_core/fragments.h"
#include "exec/tensor_core/whole_warp.h"
#include "program/wmma_space.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

enum class Lines { kAlongRows, kAcrossRows };  // how the lines in memory run, seen from the fragment's rows
enum class Role { kFactor, kAccumulator };

// Fragment: in elements of type T. kStrideBits: of what the stride counts, less than T where T packs several.
template <class F, class T, Role kRole_, Lines kLines_, int kStrideBits_>
struct Transfer {
  using Fragment = F;
  using Element = T;
  static constexpr Role kRole = kRole_;
  static constexpr Lines kDirection = kLines_;
  static constexpr int kStrideBits = kStrideBits_;
  static constexpr bool kAlong = kDirection == Lines::kAlongRows;
  static constexpr int kLines = kAlong ? F::kRows : F::kColumns;
  static constexpr int kLength = kAlong ? F::kColumns : F::kRows;
  static constexpr u32 kLineBytes = kLength * sizeof(T);
  static constexpr bool kSplit = kRole == Role::kAccumulator && sizeof(T) >= 4;  // a register per element
  // 16-bit pieces can be transposed inside a warp: the hardware reads them along the lines in either case.
  static constexpr bool kPiecesAlong = kAlong || sizeof(T) == 2;
  static constexpr int kPerAccess = kPiecesAlong ? F::kPerLane : 1;  // elements that a lane reads at once
  static constexpr u32 kAccessBytes = kPerAccess * sizeof(T);
  // Factors in shared memory are read as ldmatrix does, 16 bytes of a line at a time.
  static constexpr bool kByLdmatrix = kRole == Role::kFactor && kPiecesAlong && F::kWidth * sizeof(T) == 16;

  static constexpr int index(int row, int column) { return kAlong ? row * kLength + column : column * kLength + row; }
};

// Where the matrix is.
struct Place {
  u64 address = 0;  // of the first line, in its space
  u64 stride = 0;   // bytes between lines
  Space space = Space::kGlobal;
  bool is_misaligned = false;  // which has been told: nothing is read or written
};

template <class X>
Place find(Warp& warp, const Instruction& i) {
  Space space = space_in(i.modifier);
  u64 address[kLanes];
  read_addresses(warp, i.a[0], space != Space::kShared, i.immediate, address);
  const u32* stride = lanes<u32>(warp, i.c[0]);
  for (int lane = 1; lane < kLanes; ++lane) {
    if (address[lane] != address[0] || stride[lane] != stride[0]) {
      throw fault_at(warp, i.index, lane, "bad-mask", "vgpu.matrix-places-differ");
    }
  }
  Place place{address[0], u64(stride[0]) * X::kStrideBits / 8, space};
  if (space == Space::kGeneric) {
    place.space = Space::kGlobal;
    if (place.address - kSharedWindow < kWindowSize) {
      place.address -= kSharedWindow;
      place.space = Space::kShared;
    }
  }
  const bool in_rows_of_16 = place.space == Space::kShared && X::kByLdmatrix;
  const u32 aligned = in_rows_of_16 ? 16 : X::kAccessBytes;
  for (const u64 line : {place.address, place.address + place.stride}) {
    place.is_misaligned |= check_alignment(warp, i, &line, 1, aligned) != 0;
  }
  return place;
}

template <class X>
std::byte* line_of(Warp& warp, const Instruction& i, const Place& place, int line, bool write) {
  const u64 address = place.address + static_cast<u64>(line) * place.stride;
  if (place.space == Space::kShared) return shared_place(warp, i, 0, address, X::kLineBytes, write);
  return global_place(warp, i, 0, address, X::kLineBytes, write);
}

// ---- Counting and watching ---------------------------------------------------------------------------------

// The lanes of a mask that go to memory that is there.
u32 possible(Warp& warp, const Instruction& i, Where where, const u64* address, u32 lanes, u32 size) {
  u32 found = 0;
  const u64 limit = warp.block->shared.size();
  for_lanes(lanes, [&](int lane) {
    const bool is_there = where == Where::kShared ? address[lane] <= limit && size <= limit - address[lane]
                                                  : segment_of(warp, i, address[lane], size) != nullptr;
    found |= u32(is_there) << lane;
  });
  return found;
}

void observe(Warp& warp, const Instruction& i, Where where, const u64* address, u32 lanes, u32 size, Use use) {
  if (warp.watch != nullptr) {
    lanes = possible(warp, i, where, address, lanes, size);
    if (lanes == 0) return;
  }
  if (warp.counters != nullptr) {
    u64 own[kLanes];
    keep_addresses(lanes, address, own);
    count_scattered(warp, i, where, own, lanes, size, use);
  }
  if (warp.watch != nullptr) sanitize::watch_scattered(warp, i, where, address, lanes, size, use);
}

// As ldmatrix: each lane the address of 16 bytes, four pieces at a time.
template <class X>
void observe_as_ldmatrix(Warp& warp, const Instruction& i, const Place& place) {
  using F = typename X::Fragment;
  u64 address[kLanes] = {};
  for (int p = 0; p < F::kPieces; ++p) {
    const Piece piece = F::piece(p);
    const int first = X::kAlong ? piece.row : piece.column;
    const int position = X::kAlong ? piece.column : piece.row;
    for (int row = 0; row < 8; ++row) {
      address[p % 4 * 8 + row] = place.address + static_cast<u64>(first + row) * place.stride +
                                 static_cast<u64>(position) * sizeof(typename X::Element);
    }
    if (p % 4 == 3 || p == F::kPieces - 1) {
      const int rows = (p % 4 + 1) * 8;
      std::fill(address + rows, address + kLanes, address[0]);
      observe(warp, i, Where::kShared, address, rows == kLanes ? kAllLanes : (1u << rows) - 1, 16, Use::kMatrixRead);
    }
  }
}

template <class X>
void observe_lanes(Warp& warp, const Instruction& i, const Place& place, bool write) {
  using F = typename X::Fragment;
  for (int p = 0; p < F::kPieces; ++p) {
    const Piece piece = F::piece(p);
    for (int access = 0; access < F::kPerLane / X::kPerAccess; ++access) {
      u64 address[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const int down = lane / 4;
        const int right = lane % 4 * F::kPerLane + access;
        int line = piece.row + down;
        int position = piece.column + right;
        if (!X::kAlong) {
          line = piece.column + (X::kPiecesAlong ? down : right);
          position = piece.row + (X::kPiecesAlong ? right : down);
        }
        address[lane] = place.address + static_cast<u64>(line) * place.stride +
                        static_cast<u64>(position) * sizeof(typename X::Element);
      }
      const Where where = place.space == Space::kShared ? Where::kShared : Where::kGlobal;
      observe(warp, i, where, address, kAllLanes, X::kAccessBytes, write ? Use::kWrite : Use::kRead);
    }
  }
}

template <class X>
void observe(Warp& warp, const Instruction& i, const Place& place, bool write) {
  if (!warp.observed) return;
  if (place.space == Space::kShared && X::kByLdmatrix) {
    observe_as_ldmatrix<X>(warp, i, place);
  } else {
    observe_lanes<X>(warp, i, place, write);
  }
}

// ---- Loads and stores ------------------------------------------------------------------------------------

// f(element of the lanes, its index in the lines) for all of a piece.
template <class X, class Function>
void for_piece(Warp& warp, int p, const u32* registers, Function&& f) {
  using F = typename X::Fragment;
  using T = typename X::Element;
  const Piece piece = F::piece(p);
  if constexpr (X::kSplit) {
    for (int side = 0; side < 2; ++side) {
      T* d = lanes<T>(warp, registers[2 * p + side]);
      for (int lane = 0; lane < kLanes; ++lane) {
        f(d[lane], X::index(piece.row + lane / 4, piece.column + lane % 4 * 2 + side));
      }
    }
  } else {
    T* d = lanes<T>(warp, registers[p]);
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < F::kWidth; ++column) {
        f(d[row * F::kWidth + column], X::index(piece.row + row, piece.column + column));
      }
    }
  }
}

template <class X>
void run_load(Warp& warp, const Instruction& i) {
  using T = typename X::Element;
  require_whole_warp(warp, i);
  const Place place = find<X>(warp, i);
  T lines[X::kLines * X::kLength];
  if (place.is_misaligned) std::fill(std::begin(lines), std::end(lines), T());
  for (int line = 0; line < X::kLines && !place.is_misaligned; ++line) {
    std::memcpy(lines + line * X::kLength, line_of<X>(warp, i, place, line, false), X::kLineBytes);
  }
  const u32* registers = pooled_registers(warp, i);
  const int pieces = registers_in(i.modifier) / (X::kSplit ? 2 : 1);
  // Halves have eight registers in any shape: where the pieces are fewer, they repeat.
  for (int first = 0; first < pieces; first += X::Fragment::kPieces) {
    for (int p = 0; p < X::Fragment::kPieces; ++p) {
      for_piece<X>(warp, p, registers + first, [&](T& element, int index) { element = lines[index]; });
    }
  }
  if (!place.is_misaligned) observe<X>(warp, i, place, false);
}

// Which lane stores what does not matter here: the suspects tell where it goes.
template <class X>
void settle(Warp& warp, const Instruction& i, const typename X::Element* lines, std::byte* const* to) {
  sanitize::settle_by_place(warp, i, [&](const std::byte* place, u32 bytes, std::byte* value) {
    for (int line = 0; line < X::kLines; ++line) {
      if (place < to[line] || place + bytes > to[line] + X::kLineBytes) continue;
      std::memcpy(value, reinterpret_cast<const std::byte*>(lines + line * X::kLength) + (place - to[line]), bytes);
    }
  });
}

template <class X>
void run_store(Warp& warp, const Instruction& i) {
  using T = typename X::Element;
  require_whole_warp(warp, i);
  const Place place = find<X>(warp, i);
  if (place.is_misaligned) return;
  const u32* registers = pooled_registers(warp, i);
  T lines[X::kLines * X::kLength];
  for (int p = 0; p < X::Fragment::kPieces; ++p) {
    for_piece<X>(warp, p, registers, [&](const T& element, int index) { lines[index] = element; });
  }
  std::byte* to[X::kLines];
  for (int line = 0; line < X::kLines; ++line) to[line] = line_of<X>(warp, i, place, line, true);
  observe<X>(warp, i, place, true);
  if (sanitize::has_suspects(warp)) settle<X>(warp, i, lines, to);
  for (int line = 0; line < X::kLines; ++line) std::memcpy(to[line], lines + line * X::kLength, X::kLineBytes);
}

// ---- All shapes and types --------------------------------------------------------------------------------

template <class F, class T>
void add_factor(Registry& r, const std::string& name, const std::string& along, const std::string& across) {
  constexpr int kBits = 8 * sizeof(T);
  r.add(name + "." + along, &run_load<Transfer<F, T, Role::kFactor, Lines::kAlongRows, kBits>>);
  r.add(name + "." + across, &run_load<Transfer<F, T, Role::kFactor, Lines::kAcrossRows, kBits>>);
}

// A's fragments are its rows; B's are its columns, as both run along k.
template <class FragmentA, class FragmentB, class T>
void add_factors(Registry& r, const std::string& shape) {
  const std::string type = ".b" + std::to_string(8 * sizeof(T));
  add_factor<FragmentA, T>(r, "wmma.load.a." + shape + type, "row", "col");
  add_factor<FragmentB, T>(r, "wmma.load.b." + shape + type, "col", "row");
}

// Of less than eight bits: 32 bits of them are an element, and only one layout is known.
template <int kBits>
void add_packed_factors(Registry& r, const std::string& shape) {
  using Packed = Transfer<RightFragment<8, 4, 32>, u32, Role::kFactor, Lines::kAlongRows, kBits>;
  const std::string type = ".b" + std::to_string(kBits);
  r.add("wmma.load.a." + shape + type + ".row", &run_load<Packed>);
  r.add("wmma.load.b." + shape + type + ".col", &run_load<Packed>);
}

template <class F, class T>
void add_accumulators(Registry& r, const std::string& shape, const std::string& along, const std::string& across) {
  constexpr int kBits = 8 * sizeof(T);
  using Along = Transfer<F, T, Role::kAccumulator, Lines::kAlongRows, kBits>;
  using Across = Transfer<F, T, Role::kAccumulator, Lines::kAcrossRows, kBits>;
  const std::string name = shape + ".b" + std::to_string(kBits) + ".";
  r.add("wmma.load.c." + name + along, &run_load<Along>);
  r.add("wmma.load.c." + name + across, &run_load<Across>);
  r.add("wmma.store.d." + name + along, &run_store<Along>);
  r.add("wmma.store.d." + name + across, &run_store<Across>);
}

}  // namespace

void register_wmma(Registry& r) {
  add_factors<LeftFragment<16, 16, 16>, RightFragment<16, 16, 16>, u16>(r, "m16n16k16");
  add_factors<LeftFragment<32, 16, 16>, RightFragment<8, 16, 16>, u16>(r, "m32n8k16");
  add_factors<RightFragment<8, 16, 16>, LeftFragment<32, 16, 16>, u16>(r, "m8n32k16");
  add_factors<LeftFragment<16, 16, 8>, RightFragment<16, 16, 8>, u8>(r, "m16n16k16");
  add_factors<LeftFragment<32, 16, 8>, RightFragment<8, 16, 8>, u8>(r, "m32n8k16");
  add_factors<RightFragment<8, 16, 8>, LeftFragment<32, 16, 8>, u8>(r, "m8n32k16");
  add_factors<LeftFragment<16, 8, 32>, RightFragment<16, 8, 32>, u32>(r, "m16n16k8");
  add_factors<LeftFragment<8, 4, 64>, RightFragment<8, 4, 64>, u64>(r, "m8n8k4");
  add_packed_factors<4>(r, "m8n8k32");
  add_packed_factors<1>(r, "m8n8k128");

  add_accumulators<AccumulatorFragment<16, 16>, u16>(r, "m16n16k16", "row", "col");
  add_accumulators<AccumulatorFragment<16, 16>, u32>(r, "m16n16k16", "row", "col");
  add_accumulators<AccumulatorFragment<32, 8>, u16>(r, "m32n8k16", "row", "col");
  add_accumulators<AccumulatorFragment<32, 8>, u32>(r, "m32n8k16", "row", "col");
  add_accumulators<AccumulatorFragment<32, 8>, u16>(r, "m8n32k16", "col", "row");  // the transposed product
  add_accumulators<AccumulatorFragment<32, 8>, u32>(r, "m8n32k16", "col", "row");
  add_accumulators<AccumulatorFragment<16, 16>, u32>(r, "m16n16k8", "row", "col");
  add_accumulators<AccumulatorFragment<8, 8>, u64>(r, "m8n8k4", "row", "col");
  add_accumulators<AccumulatorFragment<8, 8>, u32>(r, "m8n8k32", "row", "col");
  add_accumulators<AccumulatorFragment<8, 8>, u32>(r, "m8n8k128", "row", "col");
}

}  // namespace flashpath::exec
