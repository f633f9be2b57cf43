// JSON strings from untrusted text.
//
// Source: RFC 8259. Threads: pure functions.
// Bytes that are not UTF-8 become U+FFFD; '<', '>' and '&' are escaped so that the text may stand
// in a page.

#pragma once

#include <string>
#include <string_view>

namespace neptune {

// Appends `text` as a JSON string with its quotes.
void AppendJsonString(std::string_view text, std::string* json);
// A number as JSON; null for what JSON cannot say (infinity, not a number).
void AppendJsonNumber(double number, std::string* json);

}  // namespace neptune
