// Parses arbitrary bytes in both languages: parsing succeeds or reports an error, the tree keeps
// its invariants, and canonical text has the same meaning.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "index/core/query/query.h"
#include "index/core/query/query_invariants.h"

namespace {

using search::index::Canonical;
using search::index::ParseLimits;
using search::index::ParseQuery;
using search::index::ParseQuestion;

void Check(const neptune::StatusOr<search::index::Query>& query) {
  if (!query.ok()) {
    CHECK(query.status().code() == neptune::StatusCode::kInvalidArgument);
    return;
  }
  CHECK_EQ(search::index::BrokenInvariant(query->root), "");
  const std::string canonical = Canonical(*query);
  const auto again = ParseQuery(canonical, ParseLimits::ForCanonical());
  CHECK(again.ok()) << canonical << ": " << again.status();
  CHECK(*again == *query) << canonical;
  CHECK_EQ(Canonical(*again), canonical);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(ParseQuery(text));
  Check(ParseQuestion(text));
  return 0;
}
