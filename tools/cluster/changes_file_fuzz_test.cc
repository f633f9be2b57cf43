// Any bytes as a cluster's changes, as a node's status page and as an order to swap: read or
// refused; changes that were read are written and read again.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/bazel/fuzz/place.h"
#include "tools/cluster/changes_file.h"
#include "tools/cluster/offered_replicas.h"
#include "tools/cluster/status_page.h"
#include "tools/cluster/swap_plan.h"

using namespace search::tools;

namespace {

neptune::FuzzPlace read_changes("changes are read");
neptune::FuzzPlace read_page("a section of a status page is read");
neptune::FuzzPlace read_swap("an order to swap is read");

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseYellowPage(text);
  if (ParseStatusSection(text, "yellow page").ok()) read_page.Reach();
  if (ParseSwap(text).ok()) read_swap.Reach();
  const auto changes = ParseChanges(text);
  if (!changes.ok()) return 0;
  read_changes.Reach();
  const auto again = ParseChanges(ChangesJson(*changes));
  CHECK(again.ok() && *again == *changes) << text;
  return 0;
}
