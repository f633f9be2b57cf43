#include "tools/build_index/first_pages.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "index/core/query/query.h"
#include "index/tier/index_tier.h"
#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "tools/trace/trace_file.h"

namespace search::tools {
namespace {

using index::TierAnswer;
using index::TierQuery;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using Tier = std::vector<std::unique_ptr<index::IndexTier>>;

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

StatusOr<Tier> OpenAll(const std::vector<std::string>& folders) {
  Tier tier;
  for (const std::string& folder : folders) {
    NEPTUNE_ASSIGN_OR_RETURN(auto opened, index::OpenIndexTier("segment", folder));
    tier.push_back(std::move(opened));
  }
  return tier;
}

StatusOr<TierAnswer> Search(const Tier& tier, const TierQuery& query) {
  TierAnswer merged;
  bool is_first = true;
  for (const auto& partition : tier) {
    NEPTUNE_ASSIGN_OR_RETURN(TierAnswer answer, partition->Search(query, {}));
    merged = is_first ? std::move(answer) : index::MergeTierAnswers(merged, answer, kPageSize);
    is_first = false;
  }
  return merged;
}

}  // namespace

StatusOr<FirstPages> CountFirstPages(const BuildOptions& options,
                                     const std::vector<std::string>& folders,
                                     uint64_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto questions, ReadQuestions(options.tier1_queries));
  NEPTUNE_ASSIGN_OR_RETURN(const Tier tier, OpenAll(folders));
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
    NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer answer, Search(tier, query));
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
