// Any bytes: an announcement or a correction is refused or accepted, and what is accepted encodes
// to the same again.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/service_yellow_page.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

FuzzPlace accepted_announcement("an announcement is accepted");
FuzzPlace accepted_correction("a correction is accepted");

void CheckCorrection(std::string_view bytes) {
  const StatusOr<Correction> correction = DecodeCorrection(bytes);
  if (!correction.ok()) return;
  accepted_correction.Reach();
  CHECK(DecodeCorrection(EncodeCorrection(*correction)).value() == *correction);
}

void Check(std::string_view bytes) {
  const StatusOr<Announcement> announcement = DecodeAnnouncement(bytes);
  if (!announcement.ok()) return;
  accepted_announcement.Reach();
  CHECK(!announcement->node.value().empty());
  ServiceYellowPage page;
  page.Receive(*announcement, TimePoint());
  (void)page.View();
  const StatusOr<std::string> again = EncodeAnnouncement(*announcement);
  CHECK(again.ok()) << again.status();
  CHECK(*DecodeAnnouncement(*again) == *announcement);
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  neptune::Check(bytes);
  neptune::CheckCorrection(bytes);
  // Adds the correct checksum, so that the code after the check is reached.
  std::string sealed(bytes.substr(0, bytes.size() > 8 ? bytes.size() - 8 : 0));
  const uint64_t checksum = neptune::Checksum64(sealed);
  neptune::ByteWriter(&sealed).Number(checksum);
  neptune::Check(sealed);
  neptune::CheckCorrection(sealed);
  return 0;
}
