// Fixed-size records of a document, a partition and the collection that a variant keeps in a
// foreign store.
//
// Threads: plain values and pure functions.
// Units: numbers in memory layout (little-endian machines only).

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "index/core/document.h"
#include "index/core/search/ranking.h"

namespace search::index {

static_assert(std::endian::native == std::endian::little,
              "records are stored as they lie in memory");

// Positions of a term in one document, by field, ascending from 0; site names have no positions.
using FieldPositions = std::array<std::vector<uint32_t>, kFieldCount>;

struct PartitionRecord {
  uint64_t document_count = 0;
  std::array<uint64_t, kFieldCount> length_sums = {};
};
static_assert(sizeof(PartitionRecord) == 32);

struct CollectionRecord {
  uint64_t document_count = 0;
  std::array<uint64_t, kFieldCount> length_sums = {};
  float k1 = 0;
  float static_rank_weight = 0;
  std::array<float, kFieldCount> weights = {};
  std::array<float, kFieldCount> bs = {};
};
static_assert(sizeof(CollectionRecord) == 64);

struct DocumentRecord {
  uint64_t doc_id = 0;
  float static_rank = 0;
  uint32_t length_codes = 0;  // one byte per field, lowest Field 0
};
static_assert(sizeof(DocumentRecord) == 16);

// The bytes of the record, valid while it exists.
template <typename Record>
std::string_view RecordBytes(const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

// The record in `bytes`; nullopt unless the size matches.
template <typename Record>
std::optional<Record> ReadRecord(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (bytes.size() != sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  return record;
}

// The ranking options that the collection was finished with.
inline RankingOptions RankingOf(const CollectionRecord& collection) {
  RankingOptions ranking;
  ranking.k1 = collection.k1;
  ranking.static_rank_weight = collection.static_rank_weight;
  for (size_t field = 0; field < kFieldCount; ++field) {
    ranking.fields[field] = {.weight = collection.weights[field], .b = collection.bs[field]};
  }
  return ranking;
}

// True if `document` may follow `previous` (null: first) in a partition's table.
inline bool MayFollow(const DocumentRecord& document, const DocumentRecord* previous) {
  return (previous == nullptr || document.doc_id > previous->doc_id) && document.static_rank >= 0 &&
         document.static_rank <= 1;
}

}  // namespace search::index
