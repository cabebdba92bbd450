// In which order diverged lanes run. Each basic block has a rank; lanes in the block of lowest rank go first and
// wait, as it were, where a block of higher rank begins. Ranks follow the control flow: a block stands after all
// that lead to it, and the blocks of a loop stand together, before what follows the loop. So lanes that parted
// meet where the paths join, and those that leave a loop wait until the others have left it too.
#include <algorithm>
#include <numeric>

#include "lower/builder.h"

namespace flashpath::lower {
namespace {

struct Graph {
  std::vector<std::vector<u32>> successors;
};

// Blocks of the code from `first` on: where each begins (and where the last ends).
std::vector<u32> block_starts(const Program& program, u32 first) {
  std::vector<u32> starts;
  for (u32 k = first; k < program.code.size(); ++k) {
    if (program.code[k].leader) starts.push_back(k);
  }
  starts.push_back(static_cast<u32>(program.code.size()));
  return starts;
}

Graph control_flow(const Program& program, const std::vector<u32>& starts) {
  Graph graph;
  const u32 blocks = static_cast<u32>(starts.size()) - 1;
  graph.successors.resize(blocks);
  const auto block_at = [&](u32 instruction) {
    return static_cast<u32>(std::lower_bound(starts.begin(), starts.end(), instruction) - starts.begin());
  };
  for (u32 block = 0; block < blocks; ++block) {
    const Instruction& last = program.code[starts[block + 1] - 1];
    std::vector<u32>& to = graph.successors[block];
    const bool always = last.guard == kNoRegister;
    const bool leaves = last.kind == Kind::kBranch || last.kind == Kind::kBranchTable || last.kind == Kind::kReturn ||
                        last.kind == Kind::kExit;
    if (!(leaves && always) && block + 1 < blocks) to.push_back(block + 1);
    if (last.kind == Kind::kBranch) to.push_back(block_at(last.target));
    if (last.kind == Kind::kBranchTable) {
      for (const u32 target : program.branch_tables[last.target]) to.push_back(block_at(target));
    }
  }
  return graph;
}

// Orders blocks: strongly connected parts one after the other, as they follow each other (Tarjan's algorithm,
// with a stack of its own), and inside each loop again, without the edges back to where it is entered.
class Orderer {
 public:
  explicit Orderer(const Graph& graph)
      : graph_(graph), part_(graph.successors.size()), number_(part_.size()), low_(part_.size()), open_(part_.size()) {}

  std::vector<u32> order() {
    std::vector<u32> all(part_.size());
    std::iota(all.begin(), all.end(), 0);
    struct Piece {
      std::vector<u32> blocks;
      u32 entry;
    };
    std::vector<u32> ordered;
    std::vector<Piece> pieces{{std::move(all), kNoEntry}};
    while (!pieces.empty()) {
      Piece piece = std::move(pieces.back());
      pieces.pop_back();
      if (piece.blocks.size() == 1) {
        ordered.push_back(piece.blocks[0]);
        continue;
      }
      const u32 inside = ++parts_;
      for (const u32 block : piece.blocks) part_[block] = inside;
      // Tarjan gives the last part first: what is pushed first is ordered last.
      for (std::vector<u32>& component : components(piece.blocks, piece.entry)) {
        const u32 entry = component.size() == 1 ? kNoEntry : entry_of(component, piece.entry);
        pieces.push_back({std::move(component), entry});
      }
    }
    return ordered;
  }

 private:
  static constexpr u32 kNoEntry = ~0u;

  // Where the loop is entered from outside; its first block in the text where there are several.
  u32 entry_of(const std::vector<u32>& component, u32 outer_entry) {
    const u32 mark = ++parts_;
    const u32 outside = part_[component[0]];
    for (const u32 block : component) part_[block] = mark;
    u32 entry = *std::min_element(component.begin(), component.end());
    u32 best = ~0u;
    for (std::size_t from = 0; from < part_.size(); ++from) {
      if (part_[from] == mark) continue;
      for (const u32 to : graph_.successors[from]) {
        if (part_[to] == mark && to != outer_entry && to < best) best = to;
      }
    }
    for (const u32 block : component) part_[block] = outside;
    return best == ~0u ? entry : best;
  }

  bool follows(u32 to, u32 inside, u32 entry) const { return part_[to] == inside && to != entry; }

  std::vector<std::vector<u32>> components(const std::vector<u32>& blocks, u32 entry) {
    std::vector<std::vector<u32>> found;
    const u32 inside = part_[blocks[0]];
    for (const u32 block : blocks) number_[block] = 0;
    u32 counter = 0;
    struct Visit {
      u32 block;
      std::size_t next;
    };
    std::vector<Visit> path;
    std::vector<u32> stack;
    const auto enter = [&](u32 block) {
      number_[block] = low_[block] = ++counter;
      open_[block] = true;
      stack.push_back(block);
      path.push_back({block, 0});
    };
    // The entry, or the first of the text, first: what it does not lead to is never reached.
    std::vector<u32> roots = blocks;
    std::sort(roots.begin(), roots.end());
    if (entry != kNoEntry) roots.insert(roots.begin(), entry);
    for (const u32 root : roots) {
      if (number_[root]) continue;
      enter(root);
      while (!path.empty()) {
        Visit& visit = path.back();
        const std::vector<u32>& to = graph_.successors[visit.block];
        if (visit.next < to.size()) {
          const u32 next = to[visit.next++];
          if (!follows(next, inside, entry)) continue;
          if (!number_[next]) {
            enter(next);
          } else if (open_[next]) {
            low_[visit.block] = std::min(low_[visit.block], number_[next]);
          }
          continue;
        }
        const u32 done = visit.block;
        path.pop_back();
        if (!path.empty()) low_[path.back().block] = std::min(low_[path.back().block], low_[done]);
        if (low_[done] != number_[done]) continue;
        std::vector<u32> component;
        u32 block = 0;
        do {
          block = stack.back();
          stack.pop_back();
          open_[block] = false;
          component.push_back(block);
        } while (block != done);
        found.push_back(std::move(component));
      }
    }
    return found;
  }

  const Graph& graph_;
  u32 parts_ = 0;
  std::vector<u32> part_;
  std::vector<u32> number_;
  std::vector<u32> low_;
  std::vector<bool> open_;
};

}  // namespace

void order_blocks(Program& program, u32 first) {
  const std::vector<u32> starts = block_starts(program, first);
  const Graph graph = control_flow(program, starts);
  const std::vector<u32> ordered = Orderer(graph).order();
  // Ranks begin at 1 with each function: lanes deeper in calls go first, whatever their rank.
  for (u32 rank = 0; rank < ordered.size(); ++rank) {
    for (u32 k = starts[ordered[rank]]; k < starts[ordered[rank] + 1]; ++k) program.code[k].rank = rank + 1;
  }
}

}  // namespace flashpath::lower
