// Encoding of a run of a term's postings.
//
//   chunk   = { posting }, ascending by ordinal
//   posting = varint(ordinal gap, the first from 0) varint(frequency) x 3 fields
//             varint(size of positions) positions
//   positions = for each field its varint(gap), the first from 0
//
// Threads: thread-compatible.
// Errors: at malformed bytes a reader ends and is damaged(); it never allocates by numbers from the
//   bytes.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/document.h"
#include "index/tier/engine_kit/records.h"

namespace search::index::rocksdb_postings {

class PostingChunkWriter {
 public:
  // REQUIRES: ordinals and positions ascend.
  void Add(uint32_t ordinal, const FieldPositions& positions);

  const std::string& bytes() const { return bytes_; }
  uint32_t posting_count() const { return posting_count_; }
  uint32_t first_ordinal() const { return first_ordinal_; }

 private:
  std::string bytes_;
  uint32_t posting_count_ = 0;
  uint32_t first_ordinal_ = 0;
  uint32_t last_ordinal_ = 0;
};

struct Posting {
  uint32_t ordinal = 0;
  std::array<uint32_t, kFieldCount> frequencies = {};
  std::string_view positions;  // encoded
};

class PostingChunkReader {
 public:
  PostingChunkReader() = default;
  // `bytes` must outlive the reader.
  explicit PostingChunkReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // False at the end or if damaged.
  bool Next(Posting* posting);
  bool damaged() const { return damaged_; }

 private:
  bool Read(uint64_t value_max, uint64_t* value);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  uint64_t ordinal_ = 0;
  bool is_first_ = true;
  bool damaged_ = false;
};

// Sets *positions to those of the field; false if the bytes are damaged.
bool DecodePositions(const Posting& posting, Field field, std::vector<uint32_t>* positions);

}  // namespace search::index::rocksdb_postings
