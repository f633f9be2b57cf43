// Records with a checksum: 8 bytes XXH3-64, then the record.
//
// Threads: pure functions.
// Errors: kDataLoss the checksum does not match.

#pragma once

#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

std::string Sealed(std::string_view record);
// Returns a view of the record in `bytes`; `what` names it in the error.
StatusOr<std::string_view> Unsealed(std::string_view bytes, std::string_view what);

}  // namespace neptune
