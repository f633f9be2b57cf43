#include "index/tier/facet_operators.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace search::index {
namespace {

uint64_t AddSaturated(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

void Add(const std::string& name, uint64_t count, FacetAnswer* answer) {
  FacetValue& value = *answer->add_values();
  value.set_name(name);
  value.set_document_count(count);
}

}  // namespace

neptune::StatusOr<FacetAnswer> FacetOperator(const IndexTier& tier, const FacetQuery& query,
                                             const TierSearchControl& control) {
  if (query.query().size() > kTierQuerySizeMax) {
    return neptune::InvalidArgument("facets: query has ", query.query().size(),
                                    " bytes, more than ", kTierQuerySizeMax);
  }
  return tier.CountSites(query, control);
}

FacetAnswer MergeFacetAnswers(const FacetAnswer& a, const FacetAnswer& b) {
  std::map<std::string, uint64_t> counts;
  std::set<std::string> names;
  for (const FacetAnswer* answer : {&a, &b}) {
    for (const FacetValue& value : answer->values()) {
      uint64_t& count = counts[value.name()];
      count = AddSaturated(count, value.document_count());
    }
    names.insert(answer->cannot_count().begin(), answer->cannot_count().end());
  }
  FacetAnswer merged;
  for (const auto& [name, count] : counts) Add(name, count, &merged);
  for (const std::string& name : names) merged.add_cannot_count(name);
  merged.set_total(AddSaturated(a.total(), b.total()));
  merged.set_left_out_count_max(AddSaturated(a.left_out_count_max(), b.left_out_count_max()));
  merged.set_is_complete(a.is_complete() && b.is_complete());
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  return merged;
}

void SetFacetValues(const std::map<std::string, uint64_t>& counts, FacetAnswer* answer) {
  std::vector<std::pair<std::string, uint64_t>> sites(counts.begin(), counts.end());
  if (sites.size() > kFacetValuesMax) {
    std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    answer->set_left_out_count_max(sites[kFacetValuesMax].second);
    sites.resize(kFacetValuesMax);
    std::sort(sites.begin(), sites.end());
  }
  for (const auto& [name, count] : sites) Add(name, count, answer);
}

}  // namespace search::index
