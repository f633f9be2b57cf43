// JSON strings from untrusted text.
//
// Bytes that are not UTF-8 become U+FFFD; '<', '>' and '&' are escaped so that the text may be
// embedded in a page.
//
// Source: RFC 8259.
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>

namespace neptune {

// Appends `text` as a JSON string with its quotes.
void AppendJsonString(std::string_view text, std::string* json);
// Appends a JSON number; null for infinity and NaN, which JSON cannot represent.
void AppendJsonNumber(double number, std::string* json);

}  // namespace neptune
