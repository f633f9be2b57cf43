#include "tools/lab/search/tiered_index.h"

#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "frontend/policy/tier_bound.h"
#include "index/core/query/query.h"
#include "index/tier/local_search.h"
#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"
#include "tools/lab/workloads/synthetic_index.h"

namespace search::lab {
namespace {

using frontend::PageWindow;
using frontend::TierBound;
using index::TierAnswer;
using index::TierQuery;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr PageWindow kFirstPage{0, 10};
constexpr uint32_t kRatedCount = 50;
constexpr double kSureMin = 0.7;
constexpr uint64_t kMadeTier1Share = 4;  // one document of four

neptune::Duration ProcessorTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

TierQuery FirstPageQuery(const index::Query& parsed) {
  TierQuery query;
  query.set_query(index::Canonical(parsed));
  query.set_hit_count_max(kFirstPage.count);
  query.set_second_phase_count(kRatedCount);
  return query;
}

// The bound of tier 2 if the best first-phase score of its documents were known: that of `answer`.
std::optional<TierBound> WithExactFirstScore(std::optional<TierBound> bound,
                                             const TierAnswer& answer) {
  if (!bound.has_value()) return bound;
  const float gain = bound->final_score - bound->first_score;
  bound->first_score = 0;
  for (const index::TierHit& hit : answer.hits()) {
    bound->first_score = std::max(bound->first_score, hit.score());
  }
  bound->final_score = bound->first_score + gain;
  return bound;
}

bool HasSamePage(const TierAnswer& a, const TierAnswer& b, uint32_t count) {
  const int shown = static_cast<int>(count);
  const int size = std::min(a.hits_size(), shown);
  if (size != std::min(b.hits_size(), shown)) return false;
  for (int i = 0; i < size; ++i) {
    if (a.hits(i).doc_id() != b.hits(i).doc_id()) return false;
  }
  return true;
}

Status BuildPart(const std::string& folder, uint32_t partition, uint64_t first, uint64_t end,
                 uint64_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(auto builder,
                           index::CreateTierBuilder("segment", {.directory = folder}));
  for (uint64_t id = first; id < end; ++id) {
    if (id % kMadePartitionCount != partition) continue;
    const std::string body = MadeBody(id);
    index::IndexedDocument document;
    document.doc_id = id;
    document.body = body;
    document.static_rank =
        1 - static_cast<float>(id) / static_cast<float>(std::max<uint64_t>(document_count, 1));
    NEPTUNE_RETURN_IF_ERROR(builder->Add(document));
  }
  return builder->Finish();
}

StatusOr<std::string> MakeFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "tiered_index_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return neptune::Unavailable("making a folder like ", folder);
  }
  return folder;
}

}  // namespace

StatusOr<std::unique_ptr<TieredIndex>> TieredIndex::Make(size_t document_count) {
  std::unique_ptr<TieredIndex> made(new TieredIndex);
  NEPTUNE_ASSIGN_OR_RETURN(made->made_folder_, MakeFolder());
  const uint64_t border = document_count / kMadeTier1Share;
  std::vector<std::string> folders;
  for (const auto& [name, first, end] :
       {std::tuple("/tier1/", uint64_t{0}, border), {"/tier2/", border, document_count}}) {
    for (uint32_t p = 0; p < kMadePartitionCount; ++p) {
      folders.push_back(StrCat(made->made_folder_, name, p));
      NEPTUNE_RETURN_IF_ERROR(BuildPart(folders.back(), p, first, end, document_count));
    }
  }
  NEPTUNE_RETURN_IF_ERROR(
      index::FinishTierCollection("segment", folders, {.tier1_count = kMadePartitionCount}));
  NEPTUNE_RETURN_IF_ERROR(made->OpenTiers(made->made_folder_));
  return made;
}

StatusOr<std::unique_ptr<TieredIndex>> TieredIndex::Open(const std::string& folder) {
  std::unique_ptr<TieredIndex> opened(new TieredIndex);
  NEPTUNE_RETURN_IF_ERROR(opened->OpenTiers(folder));
  return opened;
}

TieredIndex::~TieredIndex() {
  std::error_code ignored;
  if (!made_folder_.empty()) std::filesystem::remove_all(made_folder_, ignored);
}

Status TieredIndex::OpenTiers(const std::string& folder) {
  for (const auto& [name, tier] : {std::pair("/tier1/", &tier1_), {"/tier2/", &tier2_}}) {
    for (uint32_t p = 0; std::filesystem::exists(StrCat(folder, name, p)); ++p) {
      NEPTUNE_ASSIGN_OR_RETURN(auto opened,
                               index::OpenIndexTier("segment", StrCat(folder, name, p)));
      tier->push_back(std::move(opened));
    }
  }
  if (!tier1_.empty() && !tier2_.empty()) return neptune::OkStatus();
  return neptune::NotFound(folder, ": no index of two tiers");
}

Status TieredIndex::AskOne(const std::string& question, TierRule rule, RuleOutcome* outcome) const {
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query parsed, index::ParseQuestion(question));
  if (parsed.empty()) return neptune::OkStatus();
  const TierQuery query = FirstPageQuery(parsed);
  const neptune::Duration before = ProcessorTime();
  NEPTUNE_ASSIGN_OR_RETURN(TierAnswer shown, index::SearchPartitions(tier1_, query));
  const TierAnswer first = shown;
  const auto bound = frontend::BoundOfTier2(first.other_tier(), frontend::BoundedQueryOf(parsed));
  const double sure = frontend::SurePageShare(first, bound, kFirstPage);
  const bool skips = rule == TierRule::kTenHits   ? first.hits_size() >= 10
                     : rule == TierRule::kSafe    ? sure == 1
                     : rule == TierRule::kQuality ? sure >= kSureMin
                                                  : false;
  if (!skips) {
    NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer more, index::SearchPartitions(tier2_, query));
    shown = index::MergeTierAnswers(first, more, kFirstPage.count);
  }
  outcome->processor_time += ProcessorTime() - before;
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer rest, index::SearchPartitions(tier2_, query));
  const TierAnswer whole = index::MergeTierAnswers(first, rest, kFirstPage.count);
  const auto sure_count = static_cast<uint32_t>(sure * kFirstPage.count + 0.5);
  ++outcome->query_count;
  outcome->skip_count += skips ? 1 : 0;
  outcome->same_count += HasSamePage(shown, whole, kFirstPage.count) ? 1 : 0;
  outcome->unchanged_count += HasSamePage(first, whole, kFirstPage.count) ? 1 : 0;
  const auto exact = WithExactFirstScore(bound, rest);
  outcome->exact_count += frontend::SurePageShare(first, exact, kFirstPage) == 1 ? 1 : 0;
  const uint32_t claimed = sure == 1 ? kFirstPage.count : sure_count;
  outcome->false_count += HasSamePage(first, whole, claimed) ? 0 : 1;
  return neptune::OkStatus();
}

StatusOr<std::vector<uint64_t>> TieredIndex::Page(const std::string& question) const {
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query parsed, index::ParseQuestion(question));
  std::vector<uint64_t> page;
  if (parsed.empty()) return page;
  const TierQuery query = FirstPageQuery(parsed);
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer first, index::SearchPartitions(tier1_, query));
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer rest, index::SearchPartitions(tier2_, query));
  const TierAnswer whole = index::MergeTierAnswers(first, rest, kFirstPage.count);
  for (int i = 0; i < std::min<int>(whole.hits_size(), kFirstPage.count); ++i) {
    page.push_back(whole.hits(i).doc_id());
  }
  return page;
}

uint64_t TieredIndex::Tier1Size() const {
  uint64_t size = 0;
  for (const auto& partition : tier1_) size += partition->Info().document_count;
  return size;
}

StatusOr<double> TieredIndex::ShareOfAsked(const std::vector<std::string>& asked,
                                           const std::vector<std::string>& questions) const {
  std::map<uint64_t, uint64_t> page_counts;  // by document
  for (const std::string& question : asked) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto page, Page(question));
    for (const uint64_t document : page) ++page_counts[document];
  }
  std::vector<std::pair<uint64_t, uint64_t>> order;  // number of pages, document
  for (const auto& [document, count] : page_counts) order.emplace_back(count, document);
  std::sort(order.begin(), order.end(), std::greater<>());
  order.resize(std::min<size_t>(order.size(), Tier1Size()));
  std::set<uint64_t> kept;
  for (const auto& [count, document] : order) kept.insert(document);
  uint64_t kept_pages = 0;
  for (const std::string& question : questions) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto page, Page(question));
    kept_pages += std::all_of(page.begin(), page.end(),
                              [&](uint64_t document) { return kept.contains(document); });
  }
  return static_cast<double>(kept_pages) /
         static_cast<double>(std::max<size_t>(questions.size(), 1));
}

StatusOr<RuleOutcome> TieredIndex::Ask(const std::vector<std::string>& questions,
                                       TierRule rule) const {
  RuleOutcome outcome;
  for (const std::string& question : questions) {
    NEPTUNE_RETURN_IF_ERROR(AskOne(question, rule, &outcome));
  }
  return outcome;
}

}  // namespace search::lab
