// Any typed text, and any bytes as what the index tiers suggest for it: at most as many candidates
// as there are suggestions, each a query that parses.
//
// The input is a line with the typed text, then the answer.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/suggest/suggest_policy.h"
#include "index/core/query/query.h"
#include "tools/bazel/fuzz/place.h"

namespace search::frontend {
namespace {

neptune::FuzzPlace made_candidate("a suggestion becomes a candidate");

void Check(std::string_view typed, std::string_view bytes) {
  index::SuggestAnswer answer;
  if (!answer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const std::vector<TypedPart> parts = PartsToComplete(typed);
  CHECK_LE(parts.size(), kTypedPartsMax);
  CHECK_LE(static_cast<size_t>(MakeSuggestQuery(parts).prefixes_size()), parts.size());
  const std::vector<Candidate> candidates = MakeCandidates(typed, parts, answer);
  CHECK_LE(candidates.size(), static_cast<size_t>(answer.suggestions_size()));
  for (const Candidate& candidate : candidates) {
    made_candidate.Reach();
    CHECK(index::ParseQuery(candidate.canonical, index::ParseLimits::ForCanonical()).ok())
        << candidate.canonical;
  }
}

}  // namespace
}  // namespace search::frontend

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(bytes.find('\n'), bytes.size());
  // A frontend takes no longer text.
  search::frontend::Check(
      bytes.substr(0, std::min(line, search::index::ParseLimits().query_size_max)),
      bytes.substr(std::min(line + 1, bytes.size())));
  return 0;
}
