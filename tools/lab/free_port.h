// A TCP port of loopback that nobody has now, for programs that want to be told theirs.
//
// Source: none. Layer: tools. Threads: pure function.
// Limits: another program may take it before the one that it is for does.

#pragma once

#include <cstdint>

namespace search::lab {

// 0: there is none.
uint16_t FreePort();

}  // namespace search::lab
