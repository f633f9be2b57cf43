#include "neptune/base/status.h"

namespace neptune {

Status Annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  Status annotated(status.code(), StrCat(context, ": ", ToStd(status.message())));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

}  // namespace neptune
