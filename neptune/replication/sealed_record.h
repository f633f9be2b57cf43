// A stored record with its checksum in front: 8 bytes XXH3-64, then the record.
//
// Threads: pure functions.
// Errors: kDataLoss the checksum is not that of the rest.

#pragma once

#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

std::string Sealed(std::string_view record);
// A view of `bytes`; `what` is damaged if it is.
StatusOr<std::string_view> Unsealed(std::string_view bytes, std::string_view what);

}  // namespace neptune
