// Recognises a usual GET or HEAD request in the bytes that arrived, without parsing it into a
// request.
//
//   "GET /search?q=a HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n..."
//        └─ target          └─ headers                     └─ further requests
//
// It knows less than HttpRequestReader on purpose: what is incomplete, unusual, malformed or long
// is left to the reader. What it accepts, the reader reads as the same request, of HTTP/1.1,
// without a body, on a connection that stays open; unless the target itself is malformed, which is
// not looked at here.
//
// Source: RFC 9112 2 to 5, a subset.
// No I/O, no clock.
// Threads: pure function.
// Limits: kGlanceSizeMax, HttpGlance::kHeaderCountMax, and those of the reader.

#pragma once

#include <cstddef>
#include <string_view>

#include "neptune/wire/http/http_message.h"

namespace neptune {

// Larger: more requests are recognised; bytes of those that are not are looked at twice.
inline constexpr size_t kGlanceSizeMax = 8 * 1024;

// Returns the size of the request that `bytes` begin with, and sets all of *glance but what the
// server adds; 0: it is not recognised, and *glance has no meaning. The views are into `bytes`.
size_t GlanceAt(std::string_view bytes, const HttpReaderOptions& limits, HttpGlance* glance);

}  // namespace neptune
