// Interface of eviction policies: which entries of a cache make room for others, and which new ones
// are not worth their room.
//
// A policy knows ids, sizes and costs, not values. Its caller keeps the values and drops those that
// the policy evicts. No I/O, no clock, no locks: equal calls give equal evictions.
// Threads: thread-compatible.
// Units: sizes in whatever unit the caller counts, bytes here; costs in microseconds.
// Limits: size() <= the size_max of construction after every call. What a policy remembers of
//   entries that are gone is bounded by size_max too.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace search::cache {

struct EntryWeight {
  uint64_t size = 0;
  // Time that it takes to make the value again; 0: unknown.
  uint64_t cost_us = 0;
};

class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  // Counts a use of a resident entry; does nothing for any other.
  virtual void Touch(uint64_t id) = 0;

  // Inserts the entry, or replaces the weight of a resident one, and appends the ids evicted to
  // make room to *evicted; `id` is never among them. Returns false if the entry was not admitted;
  // it is not resident then, whatever it was before. An entry that fits without evicting any is
  // admitted.
  // REQUIRES: 1 <= weight.size <= size_max.
  virtual bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) = 0;

  // Removes a resident entry; does nothing for any other.
  virtual void Remove(uint64_t id) = 0;

  // Removes all entries and forgets what was learnt about them.
  virtual void Clear() = 0;

  virtual bool Contains(uint64_t id) const = 0;

  // Sum of the sizes of resident entries, and their number.
  virtual uint64_t size() const = 0;
  virtual uint64_t entry_count() const = 0;
};

}  // namespace search::cache
