#include "neptune/wire/http/json_text.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "neptune/base/utf8.h"

namespace neptune {
namespace {

bool NeedsEscape(unsigned char c) {
  return c < 0x20 || c == 0x7F || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&';
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* json) {
  *json += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const DecodedCodePoint decoded = DecodeCodePoint(text);
    if (!decoded.well_formed) {
      *json += "\\ufffd";
    } else if (decoded.size > 1 || !NeedsEscape(c)) {
      json->append(text.substr(0, decoded.size));
    } else if (c == '"' || c == '\\') {
      *json += {'\\', static_cast<char>(c)};
    } else if (c == '\n') {
      *json += "\\n";
    } else {
      absl::StrAppendFormat(json, "\\u%04x", c);
    }
    text.remove_prefix(decoded.size);
  }
  *json += '"';
}

void AppendJsonNumber(double number, std::string* json) {
  if (!std::isfinite(number)) {
    *json += "null";
  } else {
    absl::StrAppendFormat(json, "%.12g", number);
  }
}

}  // namespace neptune
