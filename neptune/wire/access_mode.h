// Whether a request may change the data of its service.
//
// Threads: a plain value.

#pragma once

#include <cstdint>

namespace neptune {

enum class AccessMode : uint8_t { kRead = 0, kWrite = 1 };

}  // namespace neptune
