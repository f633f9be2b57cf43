// Entries in a vector, for reference implementations of eviction policies that are as simple as
// possible: newest first, linear search.
//
// Test only.

#pragma once

#include <cstdint>
#include <vector>

#include "cache/eviction/eviction_policy.h"

namespace search::cache {

struct ObviousEntry {
  uint64_t id = 0;
  EntryWeight weight{};
  int uses = 0;
};

using ObviousEntries = std::vector<ObviousEntry>;

inline uint64_t SizeOf(const ObviousEntries& entries) {
  uint64_t size = 0;
  for (const ObviousEntry& entry : entries) size += entry.weight.size;
  return size;
}

// Moves the entry of that id to *taken; false if there is none.
inline bool TakeEntry(ObviousEntries* entries, uint64_t id, ObviousEntry* taken) {
  for (auto entry = entries->begin(); entry != entries->end(); ++entry) {
    if (entry->id != id) continue;
    *taken = *entry;
    entries->erase(entry);
    return true;
  }
  return false;
}

inline ObviousEntry TakeOldest(ObviousEntries* entries) {
  const ObviousEntry oldest = entries->back();
  entries->pop_back();
  return oldest;
}

inline void PutNewest(ObviousEntries* entries, const ObviousEntry& entry) {
  entries->insert(entries->begin(), entry);
}

}  // namespace search::cache
