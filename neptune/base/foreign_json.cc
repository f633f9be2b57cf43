#include "neptune/base/foreign_json.h"

#include <utility>

namespace neptune {
namespace {

// Index of the quotation mark that ends the string, or the size of the text. `begin`: index of its
// first byte.
size_t EndOfString(std::string_view text, size_t begin) {
  size_t i = begin;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i;
}

}  // namespace

Status CheckJsonLimits(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.size_max) {
    return InvalidArgument("JSON of ", text.size(), " bytes, more than ", limits.size_max);
  }
  size_t depth = 0;
  size_t count = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        i = EndOfString(text, i + 1);
        break;
      case '[':
      case '{':
        ++count;
        if (++depth > limits.depth_max) {
          return InvalidArgument("JSON with more than ", limits.depth_max,
                                 " arrays and objects within each other");
        }
        break;
      case ']':
      case '}':
        if (depth > 0) --depth;
        break;
      case ',':
      case ':':
        ++count;
        break;
      default:
        break;
    }
    if (count > limits.value_count_max) {
      return InvalidArgument("JSON with more than ", limits.value_count_max, " values");
    }
  }
  return OkStatus();
}

StatusOr<nlohmann::json> ReadForeignJson(std::string_view text, const JsonLimits& limits) {
  NEPTUNE_RETURN_IF_ERROR(CheckJsonLimits(text, limits));
  nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument("not JSON, or not UTF-8");
  return document;
}

}  // namespace neptune
