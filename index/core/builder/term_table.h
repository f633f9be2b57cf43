// Terms in memory with their occurrences: a hash table over an arena of growing slices.
//
// Source: slices as in Lucene's byte block pool; a full slice is continued by one of twice the
//   size, so that rare terms stay small and frequent ones consist of few pieces.
// Threads: thread-compatible.
// Units: arena addresses are byte offsets.
// Limits: kArenaSizeMax; the owner must clear the table before it is reached, by memory_size().

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/document.h"

namespace search::index {

inline constexpr size_t kArenaSizeMax = size_t{3} << 30;

class TermTable {
 public:
  TermTable();

  // REQUIRES: for each key, the order of occurrence_code.h: ordinals, fields, positions ascend;
  // keys of 1 to 255 bytes.
  void Add(std::string_view key, uint32_t ordinal, Field field, uint32_t position) {
    Add(key, HashOf(key), ordinal, field, position);
  }
  // Adds a key whose hash is known.
  void Add(std::string_view key, uint32_t hash, uint32_t ordinal, Field field, uint32_t position);
  // Records that the document holds the term, without a position.
  void AddWithoutPosition(std::string_view key, uint32_t ordinal);

  // A term's data are in three places, each of which points to the next, and nearly every access is
  // a cache miss. A caller that knows the next terms can prefetch them, some terms ahead: first
  // PrefetchEntry, then PrefetchSlot, then PrefetchData. They have no effect for keys not yet
  // added.
  static uint32_t HashOf(std::string_view key);
  void PrefetchEntry(uint32_t hash) const {
    __builtin_prefetch(&table_[hash & (table_.size() - 1)]);
  }
  void PrefetchSlot(uint32_t hash) const {
    const uint32_t number = LikelyNumber(hash);
    if (number > 0) __builtin_prefetch(&slots_[number - 1]);
  }
  void PrefetchData(uint32_t hash) const {
    const uint32_t number = LikelyNumber(hash);
    if (number == 0) return;
    const Slot& slot = slots_[number - 1];
    __builtin_prefetch(At(slot.key_at));
    __builtin_prefetch(At(slot.write_at), /*rw=*/1);
  }

  bool empty() const { return slots_.empty(); }
  size_t memory_size() const;
  void Clear();

  // The slots of the terms in ascending order of key.
  std::vector<uint32_t> SortedSlots() const;
  std::string_view key(uint32_t slot) const;
  // Replaces *out by the term's occurrences.
  void CopyOccurrences(uint32_t slot, std::string* out) const;

 private:
  struct Entry {
    uint32_t hash = 0;
    uint32_t number = 0;  // index of the slot + 1, 0 = empty
  };
  struct Slot {
    uint32_t key_at = 0;  // arena address of the key: size in one byte, then the bytes
    uint32_t first_slice = 0;
    uint32_t write_at = 0;
    uint32_t slice_end = 0;
    uint32_t last_ordinal = 0;
    uint32_t last_position = 0;
    uint8_t last_field = 0;
    uint8_t level = 0;
    bool has_document = false;
  };

  // The number of the first entry with this hash, which is nearly always that of the key; 0: none.
  uint32_t LikelyNumber(uint32_t hash) const {
    const size_t mask = table_.size() - 1;
    size_t at = hash & mask;
    while (table_[at].number != 0 && table_[at].hash != hash) at = (at + 1) & mask;
    return table_[at].number;
  }
  Slot& FindOrAdd(std::string_view key, uint32_t hash);
  void AddSlot(std::string_view key);
  void Grow();
  uint32_t Allocate(uint32_t size);
  void AppendVarint(Slot* slot, uint64_t value);
  void Continue(Slot* slot);
  char* At(uint32_t address) { return chunks_[address >> kChunkBits].get() + (address & kMask); }
  const char* At(uint32_t address) const {
    return chunks_[address >> kChunkBits].get() + (address & kMask);
  }

  static constexpr uint32_t kChunkBits = 18;
  static constexpr uint32_t kChunkSize = uint32_t{1} << kChunkBits;
  static constexpr uint32_t kMask = kChunkSize - 1;

  std::vector<Entry> table_;  // open addressing; size a power of two
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t chunk_count_ = 0;  // chunks in use
  uint32_t chunk_used_ = kChunkSize;
};

}  // namespace search::index
