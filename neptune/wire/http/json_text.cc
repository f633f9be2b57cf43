#include "neptune/wire/http/json_text.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace neptune {
namespace {

// Size of the well-formed UTF-8 sequence at the front of `text`, or 0.
size_t Utf8SequenceSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and beyond the last code point.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return size;
}

bool NeedsEscape(unsigned char c) {
  return c < 0x20 || c == 0x7F || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&';
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* json) {
  *json += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const size_t size = Utf8SequenceSize(text);
    if (size == 0) {
      *json += "\\ufffd";
    } else if (size > 1 || !NeedsEscape(c)) {
      json->append(text.substr(0, size));
    } else if (c == '"' || c == '\\') {
      *json += {'\\', static_cast<char>(c)};
    } else if (c == '\n') {
      *json += "\\n";
    } else {
      absl::StrAppendFormat(json, "\\u%04x", c);
    }
    text.remove_prefix(size == 0 ? 1 : size);
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
