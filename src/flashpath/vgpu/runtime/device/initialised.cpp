#include "device/initialised.h"

#include <iterator>

namespace flashpath::runtime {

using observe::Range;
using observe::Ranges;

void Initialised::begin(Range allocation) { open_[allocation.begin] = {allocation.end, {}}; }

Initialised::Place Initialised::find(std::uint64_t address) {
  const Place above = open_.upper_bound(address);
  if (above == open_.begin()) return open_.end();
  const Place below = std::prev(above);
  return address < below->second.end ? below : open_.end();
}

Initialised::Place Initialised::close_if_all(Place place) {
  const auto& [begin, open] = *place;
  return open.written.holds({begin, open.end}) ? open_.erase(place) : std::next(place);
}

void Initialised::write(Range range) {
  const Place found = find(range.begin);
  if (found == open_.end()) return;
  found->second.written.add(range);
  close_if_all(found);
}

void Initialised::write(const Ranges& ranges) {
  for (Place each = open_.begin(); each != open_.end();) {
    Open& open = each->second;
    open.written.add(ranges, {each->first, open.end});
    each = close_if_all(each);
  }
}

void Initialised::copy(Range to, std::uint64_t from, Range allocation) {
  const Place source = find(from);
  if (source == open_.end()) return write(to);
  // Taken first: the two may be parts of one allocation.
  Ranges copied;
  source->second.written.for_parts({from, from + (to.end - to.begin)}, [&](Range part) {
    copied.add({part.begin - from + to.begin, part.end - from + to.begin});
  });
  const auto [place, is_new] = open_.try_emplace(allocation.begin, Open{allocation.end, {}});
  if (is_new) place->second.written.add(allocation);
  place->second.written.remove(to);
  for (const auto& [begin, end] : copied.all()) place->second.written.add({begin, end});
  close_if_all(place);
}

const Ranges* Initialised::of(std::uint64_t address) const {
  const auto found = open_.find(address);
  return found == open_.end() ? nullptr : &found->second.written;
}

}  // namespace flashpath::runtime
