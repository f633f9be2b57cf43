// Scans HTML before it is parsed and computes how much of it can be parsed in bounded time.
//
// Source: WHATWG HTML, 13.2 (tokenization; void, raw text and foreign elements).
// Threads: pure function.
// Why: the parser's work grows with the depth of open elements for each tag, and with the square of
//   a tag's attributes. The depth counted here is at least the parser's, except for elements whose
//   end is implied (p, li, td and the like), which can at most double it.
// Limits: linear time, constant memory (but for kNamesMax counters).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace search::html {

struct HtmlOutlineLimits {
  // Maximum number of open elements. Larger: deep pages are kept whole, hostile ones are slower.
  // Default: 512, ten times what documentation has.
  uint32_t depth_max = 512;
  // Maximum sum of the depths at all tags. Default: under a second of parsing.
  uint64_t work_max = 200'000'000;
  uint32_t attributes_max = 256;
};

// Size of the longest prefix of `html` within the limits; html.size() if all of it is.
size_t BoundedHtmlSize(std::string_view html, const HtmlOutlineLimits& limits = {});

}  // namespace search::html
