// Counts on how many first pages each document is, for the questions of query logs, so that tier 1
// can hold the documents that fill first pages.
//
//   all documents as one tier ─┐
//   traces, access logs ───────┴─► first pages ─► number of pages, by document ─► ChooseTiers
//
// A log that chose tier 1 makes it hold the pages of questions that are asked again, and of many
// that are not: different questions lead to the same documents.
//
// Source: documents placed by the queries whose pages they are on [Leung10].
// Reads query logs (tools/trace/format.md) and segments.
// Threads: runs on the calling thread.
// Errors: those of TraceReader and of opening segments. Malformed lines, and questions over a limit
//   of the parser, are skipped.
// Limits: kFirstPageQuestionsMax different questions; further ones are ignored.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/build_index/build_options.h"

namespace search::tools {

inline constexpr size_t kFirstPageQuestionsMax = size_t{1} << 18;
inline constexpr char kPageCountsName[] = "page_counts";

struct FirstPages {
  uint64_t question_count = 0;  // different questions that were asked
  // On how many first pages each document is; a question counts as often as it was asked.
  std::vector<uint32_t> page_counts;
};

// `folders`: segments that together hold the documents 0 to document_count - 1, with statistics.
neptune::StatusOr<FirstPages> CountFirstPages(const BuildOptions& options,
                                              const std::vector<std::string>& folders,
                                              uint64_t document_count);

}  // namespace search::tools
