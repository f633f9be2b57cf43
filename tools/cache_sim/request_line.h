// Parses single lines of request logs: the Common Log Format of Web servers, and the "time id size"
// lines in which traces of content networks are published.
//
// Source: README.md has the grammars.
// Threads: pure functions.
// Units: bytes, microseconds, seconds as the names say.
// Errors: INVALID_ARGUMENT says what is wrong with the line; the caller adds its number.
// Limits: RequestLimits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/eviction/eviction_policy.h"
#include "neptune/base/status.h"

namespace search::tools {

struct RequestLimits {
  static constexpr size_t kLineSizeMax = 64 * 1024;
  static constexpr uint64_t kSizeMax = uint64_t{1} << 40;
  static constexpr uint64_t kCostMaxUs = uint64_t{3600} * 1'000'000;
  // The year 10000.
  static constexpr uint64_t kTimeMaxS = uint64_t{253'402'300'800};
};

// A whole number without sign or blanks; nullopt for anything else, or above 2^64 - 1.
std::optional<uint64_t> ParseWhole(std::string_view text);

struct SizedRequest {
  uint64_t time_s = 0;
  std::string_view id;  // part of the line
  cache::EntryWeight weight{};
};
// "TIME ID SIZE [COST]", separated by blanks or tabs.
neptune::StatusOr<SizedRequest> ParseSizedLine(std::string_view line);

struct ServedPage {
  uint64_t time_s = 0;    // since 1970
  std::string_view path;  // with its parameters; part of the line
  uint32_t status = 0;
  uint64_t size = 0;  // 0 for "-"
  bool is_get = false;
};
// host - - [01/Jul/1995:00:00:01 -0400] "GET /path HTTP/1.0" 200 6245
neptune::StatusOr<ServedPage> ParseCommonLogLine(std::string_view line);

}  // namespace search::tools
