#include "tools/build_index/first_pages.h"

#include <algorithm>
#include <limits>
#include <map>

#include "index/core/query/query.h"
#include "index/tier/local_search.h"
#include "tools/trace/trace_file.h"

namespace search::tools {
namespace {

using index::TierAnswer;
using index::TierQuery;
using neptune::StatusOr;

constexpr uint32_t kPageSize = 10;
constexpr uint32_t kRatedCount = 50;

// How often each question was asked.
StatusOr<std::map<std::string, uint32_t>> ReadQuestions(const std::vector<std::string>& logs) {
  std::map<std::string, uint32_t> questions;
  for (const std::string& log : logs) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(log, BadLines::kCount));
    TraceRecord record;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
      if (!more) break;
      const auto known = questions.find(record.query);
      if (known != questions.end()) {
        ++known->second;
      } else if (questions.size() < kFirstPageQuestionsMax) {
        questions.emplace(record.query, 1);
      }
    }
  }
  return questions;
}

}  // namespace

StatusOr<FirstPages> CountFirstPages(const BuildOptions& options,
                                     const std::vector<std::string>& folders,
                                     uint64_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto questions, ReadQuestions(options.tier1_queries));
  NEPTUNE_ASSIGN_OR_RETURN(const auto partitions, index::OpenPartitions("segment", folders));
  FirstPages pages{.question_count = questions.size(),
                   .page_counts = std::vector<uint32_t>(document_count)};
  for (const auto& [question, count] : questions) {
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options));
    const auto parsed = index::ParseQuestion(question);
    if (!parsed.ok() || parsed->empty()) continue;
    TierQuery query;
    query.set_query(index::Canonical(*parsed));
    query.set_hit_count_max(kPageSize);
    query.set_second_phase_count(kRatedCount);
    NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer answer, index::SearchPartitions(partitions, query));
    for (int i = 0; i < std::min<int>(answer.hits_size(), kPageSize); ++i) {
      const uint64_t document = answer.hits(i).doc_id();
      if (document >= document_count) return neptune::DataLoss("a document number is out of range");
      uint32_t& pages_of = pages.page_counts[document];
      pages_of += std::min(count, std::numeric_limits<uint32_t>::max() - pages_of);
    }
  }
  return pages;
}

}  // namespace search::tools
