#include "index/core/builder/term_table.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "index/core/builder/occurrence_code.h"
#include "index/core/segment/term_dictionary.h"

namespace search::index {
namespace {

constexpr size_t kTableSizeMin = 1 << 12;
constexpr uint32_t kLinkSize = sizeof(uint32_t);
constexpr uint32_t kFirstSliceSize = 12;
constexpr uint8_t kLevelMax = 8;

// Size of a slice in bytes, without the link to the next.
constexpr uint32_t SlicePayload(uint8_t level) { return kFirstSliceSize << level; }

}  // namespace

TermTable::TermTable() : table_(kTableSizeMin) {}

size_t TermTable::memory_size() const {
  return table_.size() * sizeof(Entry) + slots_.capacity() * sizeof(Slot) +
         chunk_count_ * kChunkSize;
}

void TermTable::Clear() {
  table_.assign(kTableSizeMin, {});
  slots_.clear();
  slots_.shrink_to_fit();
  chunk_count_ = 0;
  chunk_used_ = kChunkSize;
}

uint32_t TermTable::Allocate(uint32_t size) {
  if (chunk_used_ + size > kChunkSize) {
    if (chunk_count_ == chunks_.size()) {
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunkSize));
    }
    ++chunk_count_;
    chunk_used_ = 0;
  }
  const auto address = static_cast<uint32_t>((chunk_count_ - 1) << kChunkBits) + chunk_used_;
  chunk_used_ += size;
  return address;
}

uint32_t TermTable::HashOf(std::string_view key) {
  return static_cast<uint32_t>(XXH3_64bits(key.data(), key.size()));
}

TermTable::Slot& TermTable::FindOrAdd(std::string_view key, uint32_t hash) {
  const size_t mask = table_.size() - 1;
  size_t at = hash & mask;
  for (; table_[at].number != 0; at = (at + 1) & mask) {
    if (table_[at].hash == hash && this->key(table_[at].number - 1) == key) {
      return slots_[table_[at].number - 1];
    }
  }
  AddSlot(key);
  table_[at] = {hash, static_cast<uint32_t>(slots_.size())};
  if (slots_.size() * 2 > table_.size()) Grow();
  return slots_.back();
}

void TermTable::AddSlot(std::string_view key) {
  Slot slot;
  slot.key_at = Allocate(static_cast<uint32_t>(key.size()) + 1);
  *At(slot.key_at) = static_cast<char>(key.size());
  std::memcpy(At(slot.key_at) + 1, key.data(), key.size());
  slot.first_slice = Allocate(SlicePayload(0) + kLinkSize);
  slot.write_at = slot.first_slice;
  slot.slice_end = slot.first_slice + SlicePayload(0);
  slots_.push_back(slot);
}

void TermTable::Grow() {
  std::vector<Entry> grown(table_.size() * 2);
  const size_t mask = grown.size() - 1;
  for (const Entry entry : table_) {
    if (entry.number == 0) continue;
    size_t at = entry.hash & mask;
    while (grown[at].number != 0) at = (at + 1) & mask;
    grown[at] = entry;
  }
  table_ = std::move(grown);
}

void TermTable::Continue(Slot* slot) {
  if (slot->level < kLevelMax) ++slot->level;
  const uint32_t payload = SlicePayload(slot->level);
  const uint32_t next = Allocate(payload + kLinkSize);
  std::memcpy(At(slot->slice_end), &next, kLinkSize);
  slot->write_at = next;
  slot->slice_end = next + payload;
}

void TermTable::AppendVarint(Slot* slot, uint64_t value) {
  for (;; value >>= 7) {
    if (slot->write_at == slot->slice_end) Continue(slot);
    *At(slot->write_at++) = static_cast<char>(value >= 0x80 ? value | 0x80 : value);
    if (value < 0x80) return;
  }
}

void TermTable::Add(std::string_view key, uint32_t hash, uint32_t ordinal, Field field,
                    uint32_t position) {
  Slot& slot = FindOrAdd(key, hash);
  const auto tag = static_cast<uint8_t>(static_cast<uint8_t>(field) + 1);
  const bool new_document = !slot.has_document || slot.last_ordinal != ordinal;
  if (new_document || slot.last_field != tag) {
    const uint64_t flag = new_document ? kNewDocumentFlag : 0;
    AppendVarint(&slot, uint64_t{position} << kPositionShift | flag | tag);
    if (new_document) AppendVarint(&slot, ordinal - slot.last_ordinal);
  } else {
    AppendVarint(&slot, uint64_t{position - slot.last_position} << kPositionShift);
  }
  slot.has_document = true;
  slot.last_ordinal = ordinal;
  slot.last_field = tag;
  slot.last_position = position;
}

void TermTable::AddWithoutPosition(std::string_view key, uint32_t ordinal) {
  Slot& slot = FindOrAdd(key, HashOf(key));
  if (slot.has_document && slot.last_ordinal == ordinal) return;
  AppendVarint(&slot, kNewDocumentFlag);
  AppendVarint(&slot, ordinal - slot.last_ordinal);
  slot.has_document = true;
  slot.last_ordinal = ordinal;
}

std::string_view TermTable::key(uint32_t slot) const {
  const char* at = At(slots_[slot].key_at);
  return {at + 1, static_cast<uint8_t>(*at)};
}

std::vector<uint32_t> TermTable::SortedSlots() const {
  struct Order {
    uint64_t head;
    uint32_t slot;
  };
  std::vector<Order> order(slots_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = {KeyHead(key(i)), i};
  std::sort(order.begin(), order.end(), [this](const Order& a, const Order& b) {
    return a.head != b.head ? a.head < b.head : key(a.slot) < key(b.slot);
  });
  std::vector<uint32_t> sorted(order.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = order[i].slot;
  return sorted;
}

void TermTable::CopyOccurrences(uint32_t slot_index, std::string* out) const {
  out->clear();
  const Slot& slot = slots_[slot_index];
  uint32_t at = slot.first_slice;
  for (uint8_t level = 0;; level = std::min<uint8_t>(level + 1, kLevelMax)) {
    const uint32_t end = at + SlicePayload(level);
    if (end == slot.slice_end) {
      out->append(At(at), slot.write_at - at);
      return;
    }
    out->append(At(at), SlicePayload(level));
    std::memcpy(&at, At(end), kLinkSize);
  }
}

}  // namespace search::index
