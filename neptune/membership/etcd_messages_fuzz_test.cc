// Any answer of a directory's server: an error, or values within the limits.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "neptune/membership/announcement.h"
#include "neptune/membership/etcd_messages.h"

// The first byte chooses the HTTP status.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  neptune::HttpResponse answer;
  answer.status = data[0] % 4 == 3 ? 404 : 200;
  answer.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto lease = neptune::ReadEtcdGrant(answer);
  CHECK(!lease.ok() || *lease > 0);
  const auto token = neptune::ReadEtcdToken(answer);
  CHECK(!token.ok() || (!token->empty() && token->size() <= neptune::kEtcdTokenSizeMax));
  (void)neptune::ReadEtcdKeepAlive(answer);
  (void)neptune::ReadEtcdPut(answer);
  const auto page = neptune::ReadEtcdRange(answer);
  if (!page.ok()) {
    // Four bytes a byte where it is escaped, and a few words.
    CHECK_LT(page.status().message().size(), 4 * neptune::kEtcdErrorSizeMax + 200);
    return 0;
  }
  CHECK_GE(page->revision, 0);
  CHECK_LE(page->values.size() + page->refused_count, neptune::kEtcdPageCountMax);
  for (const std::string& value : page->values)
    CHECK_LE(value.size(), neptune::kAnnouncementSizeMax);
  return 0;
}
