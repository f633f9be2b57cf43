// Any bytes as a cluster's changes and as a node's status page: read or refused; what was read is
// written and read again.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/cluster/changes_file.h"
#include "tools/cluster/offered_replicas.h"

using namespace search::tools;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseYellowPage(text);
  const auto changes = ParseChanges(text);
  if (!changes.ok()) return 0;
  const auto again = ParseChanges(ChangesJson(*changes));
  CHECK(again.ok() && *again == *changes) << text;
  return 0;
}
