// The encoding in which the builder keeps a term's occurrences until they become posting blocks.
//
//   occurrences = { occurrence } , ordered by document, field, position
//   occurrence  = varint(position_gap * 8 + new_document * 4 + tag), [varint(ordinal_gap)]
//   tag 0: same field as before; position_gap is relative to the previous position.
//   tag 1 to 3: field tag - 1 begins; position_gap is relative to 0.
//   new_document 1: ordinal_gap is relative to the previous document, for the first one to 0. With
//   tag 0: the document holds the term without a position (site names).
//
// Threads: thread-compatible.
// Errors: OccurrenceReader::damaged for bytes that end inside an occurrence or are inconsistent.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/core/document.h"
#include "index/core/segment/varint.h"

namespace search::index {

inline constexpr uint64_t kNewDocumentFlag = 4;
inline constexpr unsigned kPositionShift = 3;

// A term's occurrences in one document.
struct RawPosting {
  uint32_t ordinal = 0;
  std::array<uint32_t, kFieldCount> frequencies = {};
  std::vector<uint32_t> position_gaps;
};

class OccurrenceReader {
 public:
  explicit OccurrenceReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Reads the next document's posting; false at the end or if damaged.
  bool Next(RawPosting* posting) {
    uint64_t code = 0;
    if (has_code_) {
      code = code_;
    } else if (!Read(&code)) {
      return false;
    }
    has_code_ = false;
    if ((code & kNewDocumentFlag) == 0) return Damage();
    uint64_t gap = 0;
    if (!GetVarint(&at_, end_, &gap)) return Damage();
    ordinal_ += static_cast<uint32_t>(gap);
    posting->ordinal = ordinal_;
    posting->frequencies.fill(0);
    posting->position_gaps.clear();
    size_t field = code & 3;
    if (field == 0) return true;
    do {
      if ((code & 3) != 0) field = code & 3;
      ++posting->frequencies[field - 1];
      posting->position_gaps.push_back(static_cast<uint32_t>(code >> kPositionShift));
      if (!Read(&code)) return !damaged_;
    } while ((code & kNewDocumentFlag) == 0);
    code_ = code;
    has_code_ = true;
    return true;
  }

  bool damaged() const { return damaged_; }

 private:
  bool Read(uint64_t* code) {
    if (at_ == end_) return false;
    return GetVarint(&at_, end_, code) || Damage();
  }
  bool Damage() {
    damaged_ = true;
    at_ = end_;
    return false;
  }

  const char* at_;
  const char* end_;
  uint32_t ordinal_ = 0;
  uint64_t code_ = 0;
  bool has_code_ = false;
  bool damaged_ = false;
};

}  // namespace search::index
