#include "tools/lab/search/coverage_ledger.h"

#include <simdjson.h>

#include <charconv>
#include <utility>

#include "index/core/query/query.h"
#include "index/core/query/relaxation.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
namespace dom = simdjson::dom;

uint32_t Bit(uint64_t partition) { return 1u << (partition % kMadePartitionCount); }

bool ReadTier(dom::element tier, CoverageClaim* claim) {
  dom::array missing;
  dom::array ended_early;
  bool completely = false;
  if (tier["missing"].get(missing) || tier["ended_early"].get(ended_early) ||
      tier["evaluated_completely"].get(completely)) {
    return false;
  }
  for (const dom::element one : missing) {
    uint64_t partition = 0;
    if (one["partition"].get(partition)) return false;
    claim->missing |= Bit(partition);
  }
  claim->searched_to_the_end &= completely && ended_early.size() == 0;
  return true;
}

// A document is in the partition of its number modulo the partition count, see synthetic_index.cc.
bool ReadResult(dom::element result, CoverageClaim* claim) {
  std::string_view id;
  uint64_t number = 0;
  std::string_view title;
  if (result["id"].get(id) || result["title"].get(title)) return false;
  claim->results.append(id).append(" ").append(title).append("\n");
  if (std::from_chars(id.data(), id.data() + id.size(), number).ec != std::errc()) return false;
  claim->results_from |= Bit(number);
  return true;
}

}  // namespace

std::optional<CoverageClaim> ReadCoverageClaim(std::string_view json) {
  dom::parser parser;
  dom::element document;
  dom::array tiers;
  dom::array results;
  CoverageClaim claim;
  if (parser.parse(json.data(), json.size()).get(document) ||
      document["coverage"]["tiers"].get(tiers) || document["results"].get(results) ||
      document["total"].get(claim.total) || document["index_version"].get(claim.index_version) ||
      document["partial"].get(claim.partial)) {
    return std::nullopt;
  }
  claim.relaxed = document["relaxed"].is_object();
  for (const dom::element tier : tiers) {
    if (!ReadTier(tier, &claim)) return std::nullopt;
  }
  for (const dom::element result : results) {
    if (!ReadResult(result, &claim)) return std::nullopt;
  }
  return claim;
}

StatusOr<CoverageLedger> CoverageLedger::Open(const SyntheticIndex& index) {
  NEPTUNE_ASSIGN_OR_RETURN(MadeTiers tiers, OpenMadeTiers(index.folder()));
  return CoverageLedger(std::move(tiers));
}

StatusOr<std::vector<uint64_t>> CoverageLedger::TotalsOf(const std::string& question) {
  if (const auto known = totals_.find(question); known != totals_.end()) return known->second;
  NEPTUNE_ASSIGN_OR_RETURN(const index::TierQuery query, TierQueryOf(question));
  std::vector<uint64_t> totals;
  for (const auto& tier : tiers_) {
    NEPTUNE_ASSIGN_OR_RETURN(const index::TierAnswer answer, tier->Search(query, {}));
    totals.push_back(answer.total());
  }
  return totals_[question] = std::move(totals);
}

StatusOr<bool> CoverageLedger::IsTrue(const std::string& question, const CoverageClaim& claim) {
  if ((claim.missing & claim.results_from) != 0) return false;
  if (!claim.searched_to_the_end) return true;
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t asked, TotalOf(question, claim.missing));
  if (!claim.relaxed) return claim.total == asked;
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query query, index::ParseQuery(question));
  const auto relaxation = index::Relax(query);
  if (asked > 0 || !relaxation.has_value()) return false;
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t some,
                           TotalOf(index::Canonical(relaxation->query), claim.missing));
  return claim.total == some;
}

StatusOr<uint64_t> CoverageLedger::TotalOf(const std::string& question, uint32_t missing) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<uint64_t> totals, TotalsOf(question));
  uint64_t total = 0;
  for (uint32_t p = 0; p < totals.size(); ++p) {
    if ((missing & Bit(p)) == 0) total += totals[p];
  }
  return total;
}

}  // namespace search::lab
