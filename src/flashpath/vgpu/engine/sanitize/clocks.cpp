#include "sanitize/clocks.h"

#include <algorithm>

namespace flashpath::sanitize {

Epoch Clock::of(Party party) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), party,
                                      [](const Entry& entry, Party wanted) { return entry.party < wanted; });
  const Epoch own = found != entries_.end() && found->party == party ? found->epoch : 0;
  return std::max(own, everything_);
}

void ClockBuilder::add(const ClockRef& clock) {
  if (!clock || std::find(added_.begin(), added_.end(), clock) != added_.end()) return;
  added_.push_back(clock);
  entries_.insert(entries_.end(), clock->entries().begin(), clock->entries().end());
  everything_ = std::max(everything_, clock->everything());
}

void ClockBuilder::drop_block(u32 block) {
  std::erase_if(entries_, [=](const Clock::Entry& entry) { return entry.party >> kPartyBits == block; });
}

ClockRef ClockBuilder::build() {
  // Of several entries of a party the latest is first, and stays.
  std::sort(entries_.begin(), entries_.end(), [](const Clock::Entry& a, const Clock::Entry& b) {
    return a.party != b.party ? a.party < b.party : a.epoch > b.epoch;
  });
  const auto same = [](const Clock::Entry& a, const Clock::Entry& b) { return a.party == b.party; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  if (entries_.size() > Clock::kMostEntries) {
    for (const Clock::Entry& entry : entries_) everything_ = std::max(everything_, entry.epoch);
    entries_.clear();
  }
  if (entries_.empty() && everything_ == 0) return {};
  Clock* clock = new Clock;
  clock->entries_ = std::move(entries_);
  clock->everything_ = everything_;
  return ClockRef(clock);
}

bool covers(const ClockRef& a, const ClockRef& b) {
  if (!b || a == b) return true;
  if (!a || b->everything() > a->everything() || b->entries().size() > a->entries().size()) return false;
  auto own = a->entries().begin();
  for (const Clock::Entry& entry : b->entries()) {  // both are sorted
    if (entry.epoch <= a->everything()) continue;
    while (own != a->entries().end() && own->party < entry.party) ++own;
    if (own == a->entries().end() || own->party != entry.party || own->epoch < entry.epoch) return false;
  }
  return true;
}

ClockRef joined(const ClockRef& a, const ClockRef& b) {
  if (!a) return b;
  if (covers(a, b)) return a;  // so it is when a flag is polled
  ClockBuilder builder;
  builder.add(a);
  builder.add(b);
  return builder.build();
}

}  // namespace flashpath::sanitize
