// Any bytes as what a cache gives for a search: refused, or an answer that is stored as the same
// bytes when it is stored again.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/search_plan/cached_form.h"
#include "tools/bazel/fuzz/place.h"

namespace search::frontend {
namespace {

neptune::FuzzPlace read_answer("an answer with results is read");

void Check(std::string_view bytes) {
  SearchAnswer answer;
  if (!FromCachedForm(bytes, &answer).ok()) return;
  if (!answer.results.empty()) read_answer.Reach();
  const std::string stored = ToCachedForm(answer);
  SearchAnswer again;
  CHECK(FromCachedForm(stored, &again).ok());
  // The share is kept as its complement, whose rounding ends after one turn.
  again.coverage.sure_share = answer.coverage.sure_share;
  CHECK(ToCachedForm(again) == stored);
}

}  // namespace
}  // namespace search::frontend

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::frontend::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
