// The latest canonical texts that were parsed, with their trees.
//
// A node is asked the same question several times within a millisecond: for each of its partitions,
// in both tiers, and for the documents of the page. Parsing analyses each word again, which takes
// longer than a short evaluation. The tree depends on the text alone, so a former one is as good.
//
// No I/O, no clock.
// Threads: thread-compatible; OfThread has one for each kernel thread.
// Errors: those of ParseQuery, which are not kept.
// Limits: kQueryCount texts of at most kTextSizeMax bytes; the oldest gives way.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "index/core/query/query.h"
#include "neptune/base/status.h"

namespace search::index {

class RecentQueries {
 public:
  // Larger: more questions under way at once are parsed once; each lookup compares with all.
  static constexpr size_t kQueryCount = 8;
  static constexpr size_t kTextSizeMax = 4096;

  // Returns what ParseQuery does with ParseLimits::ForCanonical().
  neptune::StatusOr<std::shared_ptr<const Query>> Parse(std::string_view canonical);
  // Number of texts that were parsed, not found.
  uint64_t parsed_count() const { return parsed_count_; }

  // Those of the calling kernel thread.
  static RecentQueries& OfThread();

 private:
  struct Parsed {
    std::string text;
    std::shared_ptr<const Query> query;  // null: unused
  };

  std::array<Parsed, kQueryCount> latest_;
  size_t next_ = 0;  // to be replaced
  uint64_t parsed_count_ = 0;
};

}  // namespace search::index
