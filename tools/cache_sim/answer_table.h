// Sizes and costs of answers, measured once, for traces that have only queries.
//
// A query gets one row of the table by its hash, so that equal queries have equal answers and the
// sizes and costs of a trace are distributed together as they were measured.
//
// Source: the format is described in README.md.
// Threads: immutable after reading.
// Units: bytes, microseconds.
// Errors: those of reading; INVALID_ARGUMENT "FILE:LINE: reason".
// Limits: kRowCountMax rows.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/eviction/eviction_policy.h"
#include "neptune/base/status.h"

namespace search::tools {

class AnswerTable {
 public:
  static constexpr size_t kRowCountMax = 1'000'000;

  static neptune::StatusOr<AnswerTable> Read(const std::string& path);
  // All answers have this weight.
  static AnswerTable OfOne(cache::EntryWeight weight) { return AnswerTable({weight}); }

  cache::EntryWeight AnswerTo(std::string_view query) const;
  size_t row_count() const { return rows_.size(); }

 private:
  explicit AnswerTable(std::vector<cache::EntryWeight> rows) : rows_(std::move(rows)) {}

  std::vector<cache::EntryWeight> rows_;  // at least one
};

// A row "SIZE<tab>COST". Errors: INVALID_ARGUMENT it is not two whole numbers, or SIZE is 0.
neptune::StatusOr<cache::EntryWeight> ParseAnswerRow(std::string_view line);

}  // namespace search::tools
