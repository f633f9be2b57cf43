// HTTP answers from rendered pages and from errors, and what a request's headers ask for.
//
// Source: RFC 9457 (problems), RFC 9110 (Retry-After), RFC 9111 5.2.1.4 (a reload).
// No I/O.
// Threads: pure functions.

#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "frontend/model/answer.h"
#include "frontend/model/search_request.h"
#include "frontend/model/site.h"
#include "frontend/render/render.h"
#include "neptune/base/status.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

inline constexpr size_t kIndentedSizeMax = 1 << 20;

// Sent with answers that a client should repeat.
inline constexpr uint32_t kRetryAfterSeconds = 1;

neptune::HttpResponse ToResponse(RenderedPage page);
// Never cached; has Retry-After if the error says when to retry.
neptune::HttpResponse ToResponse(const ErrorAnswer& error, PageFormat format, const Site& site);

// `query` is the one that the page repeats; it may be empty.
ErrorAnswer ToError(const neptune::Status& status, std::string_view query);

// Indents a JSON answer for the parameter pretty=1. Answers with an ETag, encoded ones, and those
// over kIndentedSizeMax stay as they are.
void IndentIfAsked(const neptune::HttpRequest& request, neptune::HttpResponse* response);

// True if the client accepts HTML.
bool IsBrowser(const neptune::HttpRequest& request);
// True if the client asks for a reload that bypasses caches.
bool WantsFreshAnswer(const neptune::HttpRequest& request);
// The format that the parameters or the Accept header ask for.
PageFormat FormatOf(const neptune::HttpRequest& request);

// Parses a decimal number without a sign; nullopt: it is none, or too large.
template <std::unsigned_integral Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace search::frontend
