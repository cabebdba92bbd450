// Scan, rung 6: totals are published long before they are asked for.
//
//   maths    inclusive out[i] = x[0] ⊕ … ⊕ x[i]; exclusive without x[i]
//   layout   in, out: (n), at addresses that are multiples of 16. words: a board of lookback.cuh for the totals of
//            the tiles; ticket: 0 before the launch, and 0 after it. Shared memory: (kSlots, kWarps) tiles of warps
//   cost     n - 1 operations ⊕; at least n (sizeof(T) + sizeof(Out)) bytes
//   improves decoupled_lookback, whose tiles wait together for the totals before them, and then nobody reads or writes
//   idea     one block per SM stays and takes tile after tile by a ticket. Copies fill a ring of kSlots tiles in shared
//            memory; a tile is added up, and its total published, kAhead rounds before it is scanned. By then all
//            totals before it are there, and reads of later tiles are under way while results are written. A warp of
//            its own finds what stands before the next tile (ledger.cuh) while the others add up and scan.
//            A block only waits for tiles that were taken before its own, whose blocks run: none waits for ever.
//   error    as decoupled_lookback: the same bits in every run and on every GPU; log2(n) + n / 2^23
#include "ledger.cuh"
#include "warp_tile.cuh"

constexpr int kThreads = 384;  // that scan; one warp more keeps the ledger
constexpr int kWarps = kThreads / 32;

template <class Op, int kSlots, int kAhead, class T>
__global__ void __launch_bounds__(kThreads + 32, 1)
    scan(long long n, unsigned tiles, const T* __restrict__ in, bool is_exclusive, unsigned launch, Word* words,
         unsigned* ticket, typename Op::Out* __restrict__ out) {
  static_assert(0 < kAhead && kAhead < kSlots, "what is added up has to stay until it is scanned");
  using State = typename Op::State;
  constexpr int kWidest = sizeof(T) > sizeof(typename Op::Out) ? sizeof(T) : sizeof(typename Op::Out);
  using Part = WarpTile<Op, 16 / kWidest, T>;
  constexpr int kTotals = kAhead + 2;  // rounds whose totals are wanted at once, and the one that is written
  extern __shared__ int4 ring[];       // (kSlots, kWarps)
  __shared__ unsigned taken[2 * kSlots];
  __shared__ State totals[kTotals][kWarps];
  __shared__ State before_tile[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool is_scanner = warp < kWarps;

  // A round is a tile of this block: all of its warps, or this warp's part.
  const auto tile_of = [&](unsigned round) -> unsigned& { return taken[round % (2 * kSlots)]; };
  const auto first_of = [&](unsigned round) {
    return (tile_of(round) * (long long)kWarps + warp) * Part::kElements;
  };
  const auto part_of = [&](unsigned round) {
    return Part(reinterpret_cast<typename Part::Shared*>(ring)[round % kSlots * kWarps + warp]);
  };

  // What the scanners do with a round, in this order. A lane keeps what its warp has before it until the last step.
  const auto fetch = [&](unsigned round) {
    const long long first = first_of(round);
    part_of(round).fetch(in + first, Part::at_most(n - first));
    commit_copies();
  };
  const auto add_up = [&](unsigned round) {
    __syncwarp();  // all lanes have waited for their copies
    Part part = part_of(round);
    part.take();
    const Prefix<State> in_warp = scan_warp<Op>(part.total());
    if (lane == 0) {
      totals[round % kTotals][warp] = in_warp.total;
    }
    return in_warp.before;
  };
  const auto scan_warps_of = [&](unsigned round) {
    return scan_warp<Op>(lane < kWarps ? totals[round % kTotals][lane] : Op::identity());
  };
  const auto finish = [&](unsigned round, State before_lane) {
    const State in_tile = shuffle(scan_warps_of(round).before, warp);
    const State before = Op::append(before_tile[round % 2], Op::append(in_tile, before_lane));
    const long long first = first_of(round);
    Part part = part_of(round);
    part.take();
    part.template store<false>(out + first, Part::at_most(n - first), is_exclusive, before);
    __syncwarp();  // all lanes have read the results: the slot is free
  };

  // What the last warp does.
  const Board<State> board{words, tiles, launch};
  const auto next_tile = [&] {
    return lane == 0 ? atomicInc(ticket, gridDim.x * kSlots + tiles - 1) : 0;  // the last one leaves it at 0
  };
  const auto publish = [&](unsigned round) {
    const State total = scan_warps_of(round).total;
    if (lane == 0 && tile_of(round) < tiles) {
      board.publish(tile_of(round), total);
    }
  };

  for (int round = 0; round <= kSlots; ++round) {  // one by one, so that the blocks take turns
    if (is_scanner && round > 0) {
      fetch(round - 1);
    } else if (!is_scanner && round < kSlots) {
      const unsigned next = next_tile();
      if (lane == 0) {
        tile_of(round) = next;
      }
    }
    __syncthreads();
  }
  State before_lane[kAhead + 1];  // of this round and those after it
  if (is_scanner) {
    wait_for_copies<kSlots - kAhead>();
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      before_lane[k] = add_up(k);
    }
  }
  __syncthreads();
  Ledger<Op> ledger(board);
  if (!is_scanner) {
    for (int k = 0; k < kAhead; ++k) {
      publish(k);
    }
  }

  for (unsigned round = 0; tile_of(round) < tiles; ++round) {
    if (is_scanner) {
      wait_for_copies<kSlots - 1 - kAhead>();
      before_lane[kAhead] = add_up(round + kAhead);
    } else {
      if (round > 0) {
        publish(round - 1 + kAhead);
      }
      const unsigned next = next_tile();  // on its way while the ledger is read
      const State before = ledger.before(tile_of(round));
      if (lane == 0) {
        before_tile[round % 2] = before;
        tile_of(round + kSlots) = next;
      }
    }
    __syncthreads();
    if (is_scanner) {
      finish(round, before_lane[0]);
      fetch(round + kSlots);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        before_lane[k] = before_lane[k + 1];
      }
    }
  }
}
