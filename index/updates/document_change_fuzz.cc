// Arbitrary bytes are refused, or are a change of documents within the limits, which can be
// executed.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/updates/change_state.h"
#include "index/updates/document_change.h"
#include "index/updates/map_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace search::index;
  const auto change = ParsePartitionChange({reinterpret_cast<const char*>(data), size});
  if (!change.ok()) return 0;
  MapState state;
  const auto answer = state.Execute(*change);
  if (!answer.ok()) return 0;  // statistics out of order
  for (const DocumentChange& document : change->documents()) {
    const auto kept = ReadChange(state, document.doc_id());
    if (!kept.ok() || !kept->has_value() || (*kept)->version() != document.version()) std::abort();
  }
  const auto again = ParsePartitionChange(change->SerializeAsString());
  if (!again.ok()) std::abort();
  return 0;
}
