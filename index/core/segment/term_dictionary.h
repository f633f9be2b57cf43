// The sorted terms of a segment, front-coded in blocks of 16, with the locations of their postings.
//
// Source: front coding [Witten99] 4.1.
// Format: format.md.
// Threads: immutable views of mapped bytes; TermCursor is thread-compatible.
// Errors: DATA_LOSS for damaged bytes, detected when they are read.
// Limits: keys of 1 to kTermKeySizeMax bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/segment/format.h"
#include "neptune/base/status.h"

namespace search::index {

// The beginning of a block: absolute values, to which the entries of the block are relative.
struct TermBlock {
  uint64_t bytes_offset = 0;
  uint64_t postings_offset = 0;
  uint64_t positions_offset = 0;
  uint64_t first_block = 0;
};

class TermCursor;

class TermDictionary {
 public:
  TermDictionary() = default;

  // Errors: DATA_LOSS if the sizes are inconsistent.
  static neptune::StatusOr<TermDictionary> FromSections(uint64_t term_count,
                                                        std::span<const uint64_t> heads,
                                                        std::span<const TermBlock> blocks,
                                                        std::string_view bytes);

  uint64_t term_count() const { return term_count_; }

  // The term's entry, or nullopt. Cost: a binary search over eight-byte heads, then one block.
  neptune::StatusOr<std::optional<TermEntry>> Find(std::string_view key) const;

  // A cursor whose next terms are at most kTermBlockSize smaller ones, then those from `key` on.
  neptune::StatusOr<TermCursor> CursorBefore(std::string_view key) const;

 private:
  friend class TermCursor;

  // The block that holds the key if any does; may be blocks_.size() of an empty dictionary.
  neptune::StatusOr<uint64_t> BlockOf(std::string_view key) const;
  neptune::StatusOr<std::optional<TermEntry>> FindInBlock(std::string_view key,
                                                          uint64_t block) const;

  uint64_t term_count_ = 0;
  std::span<const uint64_t> heads_;
  std::span<const TermBlock> blocks_;
  std::string_view bytes_;
};

// Iterates over the terms in ascending order.
class TermCursor {
 public:
  explicit TermCursor(const TermDictionary& dictionary) : TermCursor(dictionary, 0) {}

  // Moves to the next term, initially to the first; false at the end or if damaged (see status).
  bool Next();
  std::string_view key() const { return key_; }
  const TermEntry& entry() const { return entry_; }
  const neptune::Status& status() const { return status_; }

 private:
  friend class TermDictionary;
  TermCursor(const TermDictionary& dictionary, uint64_t block);

  bool EnterBlock();
  bool Fail(std::string_view what);

  const TermDictionary* dictionary_;
  uint64_t next_ordinal_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::string key_;
  TermEntry entry_;
  neptune::Status status_;
};

// The first eight bytes of a key as a number that orders like the key.
uint64_t KeyHead(std::string_view key);

// Collects terms in ascending order into the three sections.
class TermDictionaryBuilder {
 public:
  // REQUIRES: `key` is greater than the previous one; entries are contiguous in the sections.
  void Add(std::string_view key, const TermEntry& entry);

  uint64_t term_count() const { return term_count_; }
  std::span<const uint64_t> heads() const { return heads_; }
  std::span<const TermBlock> blocks() const { return blocks_; }
  std::string_view bytes() const { return bytes_; }

 private:
  uint64_t term_count_ = 0;
  std::vector<uint64_t> heads_;
  std::vector<TermBlock> blocks_;
  std::string bytes_;
  std::string last_key_;
};

}  // namespace search::index
