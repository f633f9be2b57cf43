// Queries and their relevance judgments, read from files.
//
//   queries.tsv  query id, tab, text as a person would type it
//   qrels.tsv    query id, document id, grade; or query id, 0, document id, grade
//
// Threads: plain values.
// Errors: INVALID_ARGUMENT a bad line, which the message names.
// Limits: kJudgedQueriesMax queries, kJudgmentsMax judgments.

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/evaluate/metrics.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

inline constexpr size_t kJudgedQueriesMax = 1'000'000;
inline constexpr size_t kJudgmentsMax = 20'000'000;

struct JudgedQuery {
  std::string id;
  std::string text;
};

// The queries in the file's order.
neptune::StatusOr<std::vector<JudgedQuery>> ReadQueries(const std::string& path);
// Reads from bytes; `name` is used in messages.
neptune::StatusOr<std::vector<JudgedQuery>> ReadQueries(ByteSource* source,
                                                        const std::string& name);

// Judgments by query id. A document judged twice keeps the later grade.
using JudgmentsByQuery = std::map<std::string, Judgments>;
neptune::StatusOr<JudgmentsByQuery> ReadJudgments(const std::string& path);
neptune::StatusOr<JudgmentsByQuery> ReadJudgments(ByteSource* source, const std::string& name);

}  // namespace search::tools
