#include "frontend/policy/plan_policy.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "docserver/document_service.h"
#include "frontend/policy/result_folding.h"
#include "index/tier/index_tier.h"
#include "index/tier/title_operators.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"

namespace search::frontend {
namespace {

using index::TierAnswer;
using index::TierQuery;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusCode;
using neptune::StatusOr;
using neptune::StrCat;

static_assert(kReachableResultCountMax <= index::kTierHitCountMax);

// Increment when the meaning of cached_answer.proto changes.
constexpr int kStoredFormVersion = 6;

}  // namespace

StatusOr<PageWindow> ReachablePage(uint32_t start, uint32_t count) {
  if (start >= kReachableResultCountMax) {
    return InvalidArgument("parameter start: only the best ", kReachableResultCountMax,
                           " results can be shown");
  }
  return PageWindow{start, std::min(count, kReachableResultCountMax - start)};
}

uint32_t CandidateCount(const PageWindow& page) {
  if (!page.folds || page.start > 0) return page.count;
  return std::max(page.count, std::min(kFoldCandidatesMax, kReachableResultCountMax));
}

TierQuery MakeTierQuery(std::string_view canonical, const PageWindow& page,
                        const SearchPlanOptions& options) {
  TierQuery query;
  query.set_query(std::string(canonical));
  query.set_hit_count_max(
      std::clamp(page.start + CandidateCount(page), 1u, index::kTierHitCountMax));
  query.set_count_exactly(options.count_exactly);
  query.set_second_phase_count(options.second_phase_count);
  // A page without summaries needs no document server if the tiers name its documents. What is
  // folded depends on signatures of texts, which they do not have.
  const uint32_t shown = page.start + page.count;
  if (options.snippet_size_max == 0 && !page.folds && shown <= index::kTitledDocumentsMax) {
    query.set_titled_count(shown);
  }
  return query;
}

Tier2Need DecideTier2(const TierAnswer* tier1, bool has_bounds, double sure_share,
                      const SearchPlanOptions& options) {
  if (options.tier2_partitions == 0) return Tier2Need::kNone;
  if (tier1 == nullptr) return Tier2Need::kTier1Failed;
  if (options.tier2_policy == kTier2Always) return Tier2Need::kAlways;
  const double wanted = options.tier2_policy == kTier2Quality ? options.page_sure_min : 1;
  if (sure_share >= wanted) return Tier2Need::kNone;
  return has_bounds ? Tier2Need::kMayEnterPage : Tier2Need::kNoBounds;
}

std::map<uint32_t, std::vector<size_t>> GroupByPartition(const std::vector<uint64_t>& doc_ids,
                                                         uint32_t partition_count) {
  std::map<uint32_t, std::vector<size_t>> groups;
  for (size_t i = 0; i < doc_ids.size(); ++i) {
    groups[docserver::PartitionOfDocument(doc_ids[i], partition_count)].push_back(i);
  }
  return groups;
}

std::string CacheKey(std::string_view canonical, const PageWindow& page, std::string_view variant,
                     uint64_t asked_version) {
  const std::string version = asked_version == 0 ? "" : StrCat("@", asked_version);
  return StrCat(kStoredFormVersion, " ", page.start, " ", page.count, page.folds ? "f" : "",
                variant, version, " ", canonical);
}

std::string HiddenCacheKey(std::string_view key, std::string_view secret) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(key.data()), key.size(), code.data(), &size);
  std::string text = "hidden ";
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[code[i] >> 4];
    text += kDigits[code[i] & 15];
  }
  return text;
}

bool IsWhole(const SearchAnswer& answer) {
  const bool counts_are_complete = !answer.site_facets || answer.site_facets->is_complete;
  return answer.coverage.complete() && answer.spelling_is_complete && counts_are_complete &&
         std::all_of(answer.results.begin(), answer.results.end(),
                     [](const SearchResult& result) { return result.has_summary; });
}

neptune::Duration CacheLife(const SearchAnswer& answer, const SearchPlanOptions& options) {
  const neptune::Duration life = options.cache_time_to_live;
  if (IsWhole(answer)) {
    return answer.results.empty() && answer.total == 0
               ? std::min(life, options.cache_empty_time_to_live)
               : life;
  }
  // The stored form has no room for counts and spellings that came too late.
  const bool counts_are_complete = !answer.site_facets || answer.site_facets->is_complete;
  if (!answer.spelling_is_complete || !counts_are_complete) return neptune::Duration(0);
  return std::min(life, options.cache_partial_time_to_live);
}

std::string MissingReason(const Status& status) {
  switch (status.code()) {
    case StatusCode::kDeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::kResourceExhausted:
      return std::string(kOverloadedReason);
    case StatusCode::kUnavailable:
      if (neptune::SaysBypassed(status)) return "bypassed";
      return neptune::ToStd(status.message()).starts_with("no live replica") ? "no live replica"
                                                                             : "connection failed";
    case StatusCode::kDataLoss:
      return "damaged data";
    case StatusCode::kInvalidArgument:
      return "query refused";
    case StatusCode::kCancelled:
    case StatusCode::kAborted:
      return "cut short";
    default:
      return "internal error";
  }
}

Status NothingAnswered(const Coverage& coverage) {
  uint32_t asked_count = 0;
  uint32_t overloaded_count = 0;
  std::string first_reason;
  for (const ServiceCoverage& tier : coverage.tiers) {
    asked_count += tier.partitions_asked;
    for (const MissingPartition& missing : tier.missing) {
      if (missing.reason == kOverloadedReason) ++overloaded_count;
      if (first_reason.empty()) {
        first_reason =
            StrCat(tier.service, ", partition ", missing.partition, ": ", missing.reason);
      }
    }
  }
  if (asked_count > 0 && overloaded_count == asked_count) {
    return neptune::ResourceExhausted("all ", asked_count, " index partitions are overloaded");
  }
  return neptune::Unavailable("too few of ", asked_count, " index partitions answered (",
                              first_reason, ")");
}

}  // namespace search::frontend
