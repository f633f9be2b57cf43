// Keys of the posting database.
//
// Threads: pure functions.
// Units: ordinals number a partition's documents from 0. Numbers in keys are big-endian; records
//   are those of index/tier/engine_kit/records.h.
//
//   "t" size:1 term first_ordinal:4  -> chunk of the term's postings (posting_chunk.h)
//   "n" size:1 term first_ordinal:4  -> number of postings in that chunk, 4 bytes
//
// The kit uses the other keys (index/tier/engine_kit/engine_tables.h).
//
// A term has one chunk for each time that the builder flushed its memory while it contained the
// term.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/byte_order.h"

namespace search::index::rocksdb_postings {

inline constexpr char kCountPrefix[] = "n";
// Maximum size of a term in a key; the analysis cuts longer words.
inline constexpr size_t kTermKeySizeMax = 255;

// `kind` and the term, encoded so that no term's key is a prefix of another's. REQUIRES: the term
// has at most kTermKeySizeMax bytes.
inline std::string TermKey(char kind, std::string_view term) {
  std::string key(1, kind);
  key.push_back(static_cast<char>(term.size()));
  key.append(term);
  return key;
}

inline std::string WithOrdinal(std::string key, uint32_t first_ordinal) {
  neptune::ByteWriter(&key).Number(first_ordinal);
  return key;
}

// The term of a key of kind 't' or 'n'.
inline std::optional<std::string_view> TermOfChunkKey(std::string_view key) {
  if (key.size() < 2 + sizeof(uint32_t)) return std::nullopt;
  const size_t size = static_cast<uint8_t>(key[1]);
  if (key.size() != 2 + size + sizeof(uint32_t)) return std::nullopt;
  return key.substr(2, size);
}

}  // namespace search::index::rocksdb_postings
