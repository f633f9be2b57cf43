// Parses arbitrary bytes as a file of synonyms; accepted sets keep the invariants of a query in
// either language.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "index/core/query/query_invariants.h"
#include "index/core/query/scoring_words.h"
#include "index/core/query/synonyms.h"

namespace {

using search::index::Canonical;
using search::index::ParseLimits;
using search::index::ParseQuery;
using search::index::ParseQuestion;

void Check(const search::index::SynonymSets& sets, neptune::StatusOr<search::index::Query> query) {
  if (!query.ok()) return;
  sets.Expand(&*query);
  CHECK_EQ(search::index::BrokenInvariant(query->root), "");
  const std::string canonical = Canonical(*query);
  const auto again = ParseQuery(canonical, ParseLimits::ForCanonical());
  CHECK(again.ok()) << canonical << ": " << again.status();
  CHECK(*again == *query) << canonical;
  // Synonyms and what they stand for are scoring words.
  const auto words = search::index::ScoringWords(*query);
  for (const auto& word : words) {
    for (const auto& synonym : word.synonyms) {
      for (const size_t i : synonym) CHECK_LT(i, words.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto sets = search::index::SynonymSets::Parse(text);
  if (!sets.ok()) {
    CHECK(sets.status().code() == neptune::StatusCode::kInvalidArgument);
    return 0;
  }
  // The file's own text is a query that has its words.
  const std::string_view asked = text.substr(0, ParseLimits().query_size_max);
  Check(*sets, ParseQuery(asked));
  Check(*sets, ParseQuestion(asked));
  return 0;
}
