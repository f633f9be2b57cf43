#include "cache/persistent/persistent_entries.h"

#include <string>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/replication/state/stored_message.h"

namespace search::cache {

using neptune::DataLoss;
using neptune::Status;
using neptune::StatusOr;
using neptune::StoreChanges;
using neptune::StoreView;

namespace {

constexpr char kTotalsKey[] = "t";

std::string NumberKey(char kind, uint64_t number) {
  std::string key(1, kind);
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
  return key;
}

std::string EntryKey(std::string_view query) { return NumberKey('e', neptune::Checksum64(query)); }

uint64_t SizeOf(const PersistentEntry& entry) {
  return entry.query().size() + entry.value().size() + kPersistentEntryOverhead;
}

// 0 for an entry of the future: clocks differ.
uint64_t AgeOf(const PersistentEntry& entry, int64_t now_ns) {
  if (now_ns <= entry.inserted_ns()) return 0;
  return static_cast<uint64_t>(now_ns) - static_cast<uint64_t>(entry.inserted_ns());
}

bool IsTaken(const PersistentEntry& entry, const PersistentLimits& limits) {
  return !entry.query().empty() && entry.query().size() <= kKeySizeMax &&
         entry.value().size() <= limits.value_size_max && entry.time_to_live_ns() >= 0 &&
         SizeOf(entry) <= limits.size_max;
}

void Drop(const std::string& key, const PersistentEntry& entry, PersistentTotals* totals,
          StoreChanges& changes) {
  changes.Delete(key);
  changes.Delete(NumberKey('o', entry.number()));
  totals->set_size(totals->size() - SizeOf(entry));
  totals->set_entry_count(totals->entry_count() - 1);
}

// Removes the oldest entries except `spared` until there is room.
StatusOr<uint64_t> MakeRoom(const StoreView& store, uint64_t size, uint64_t size_max,
                            const std::string& spared, PersistentTotals* totals,
                            StoreChanges& changes) {
  uint64_t dropped_count = 0;
  Status damage;
  NEPTUNE_RETURN_IF_ERROR(
      store.Scan({.first = "o", .end = "p"}, [&](std::string_view, std::string_view key) {
        if (totals->size() + size <= size_max) return false;
        if (key == spared) return true;
        const StatusOr<std::optional<PersistentEntry>> old =
            neptune::FindStored<PersistentEntry>(store, key);
        damage = old.status();
        if (damage.ok() && !*old) damage = DataLoss("the age index names an entry that is missing");
        if (!damage.ok()) return false;
        Drop(std::string(key), **old, totals, changes);
        ++dropped_count;
        return true;
      }));
  if (!damage.ok()) return damage;
  return dropped_count;
}

}  // namespace

StatusOr<FoundEntry> FindEntry(const StoreView& store, const CacheKey& key, int64_t now_ns) {
  FoundEntry found;
  NEPTUNE_ASSIGN_OR_RETURN(auto entry,
                           neptune::FindStored<PersistentEntry>(store, EntryKey(key.query)));
  if (!entry || entry->query() != key.query || entry->index_version() != key.index_version) {
    return found;
  }
  const bool is_old = entry->time_to_live_ns() > 0 &&
                      AgeOf(*entry, now_ns) >= static_cast<uint64_t>(entry->time_to_live_ns());
  found.outcome = is_old ? PersistentFind::kExpired : PersistentFind::kFound;
  found.entry = *std::move(entry);
  return found;
}

StatusOr<InsertOutcome> InsertEntry(const StoreView& store, const PersistentLimits& limits,
                                    PersistentEntry entry, StoreChanges& changes) {
  InsertOutcome outcome;
  outcome.stored = IsTaken(entry, limits);
  const std::string key = EntryKey(entry.query());
  NEPTUNE_ASSIGN_OR_RETURN(PersistentTotals totals, ReadTotals(store));
  NEPTUNE_ASSIGN_OR_RETURN(const auto other, neptune::FindStored<PersistentEntry>(store, key));
  if (other) Drop(key, *other, &totals, changes);
  if (outcome.stored) {
    NEPTUNE_ASSIGN_OR_RETURN(outcome.evicted_count, MakeRoom(store, SizeOf(entry), limits.size_max,
                                                             key, &totals, changes));
    totals.set_last_number(totals.last_number() + 1);
    totals.set_size(totals.size() + SizeOf(entry));
    totals.set_entry_count(totals.entry_count() + 1);
    entry.set_number(totals.last_number());
    changes.Put(key, entry.SerializeAsString());
    changes.Put(NumberKey('o', entry.number()), key);
  }
  changes.Put(kTotalsKey, totals.SerializeAsString());
  return outcome;
}

StatusOr<PersistentTotals> ReadTotals(const StoreView& store) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           neptune::FindStored<PersistentTotals>(store, kTotalsKey));
  return totals.value_or(PersistentTotals());
}

void ClearEntries(StoreChanges& changes) {
  changes.DeleteRange("e", "f");
  changes.DeleteRange("o", "p");
  changes.Delete(kTotalsKey);
}

}  // namespace search::cache
