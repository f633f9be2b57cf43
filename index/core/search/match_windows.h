// All documents that a plan matches, as bitmaps of one window of documents after the other.
//
// Threads: thread-compatible; lives for one search.
// Errors: damaged postings are reported by the evaluation.
// Limits: 8 KiB for the bitmap, and the cursors of the plan.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index/core/search/evaluation.h"
#include "index/core/search/matcher.h"
#include "index/core/search/query_plan.h"

namespace search::index {

class MatchWindows {
 public:
  // Both outlive the object.
  MatchWindows(const PlanNode& root, Evaluation* evaluation);

  // Fills the next window; false at the end. Once the evaluation is stopped, the window in progress
  // is the last, and incomplete.
  bool Next();

  // The first document of the window.
  uint32_t begin() const { return begin_; }
  // Bit i: the live document begin() + i matches. Bits after the last document are 0.
  std::span<const uint64_t> bits() const { return bits_; }

 private:
  void Add(uint32_t ordinal);
  void AddBitmap(const uint64_t* bitmap);
  void AddList(PostingCursor* list);
  void AddMatches(Matcher* matcher);
  void KeepLive();

  Evaluation* const evaluation_;
  // A document matches if it is in one of these.
  std::vector<const uint64_t*> bitmaps_;
  std::vector<PostingCursor*> lists_;
  std::vector<std::unique_ptr<Matcher>> matchers_;
  std::vector<uint64_t> bits_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

}  // namespace search::index
