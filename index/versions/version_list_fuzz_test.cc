// Any bytes as a list of versions: read or refused; what was read is written and read again, and
// changed only to what can be.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "index/versions/version_list.h"

using namespace search::index;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto list = ParseVersionList({reinterpret_cast<const char*>(data), size});
  if (!list.ok()) return 0;
  const auto again = ParseVersionList(VersionListJson(*list));
  CHECK(again.ok() && *again == *list);
  const IndexVersion& current = list->Current();
  for (const IndexVersion& version : list->versions) {
    const auto removed = RemoveVersion(*list, version.name);
    CHECK_EQ(removed.ok(), version.name != current.name);
    if (removed.ok()) CHECK(ParseVersionList(VersionListJson(*removed)).ok());
  }
  if (const auto back = RollBack(*list); back.ok()) CHECK(back->current == list->previous);
  return 0;
}
