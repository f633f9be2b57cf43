#include "neptune/wire/http/url_decoding.h"

#include "absl/strings/ascii.h"

namespace neptune {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

// Value of a hexadecimal digit, or -1.
int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

StatusOr<std::string> PercentDecode(std::string_view text, PlusMeaning plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus == PlusMeaning::kBlank) {
      c = ' ';
    } else if (c == '%') {
      const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return InvalidArgument("'%' at byte ", i, " is not followed by two hexadecimal digits");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return InvalidArgument("zero byte at byte ", i);
    decoded += c;
  }
  return decoded;
}

StatusOr<std::vector<std::pair<std::string, std::string>>> ParseQueryParameters(
    std::string_view query, size_t count_max) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view piece = query.substr(0, end);
    query = end == query.npos ? std::string_view() : query.substr(end + 1);
    if (piece.empty()) continue;
    if (parameters.size() == count_max) {
      return InvalidArgument("more than ", count_max, " parameters");
    }
    const size_t equals = piece.find('=');
    const std::string_view raw =
        equals == piece.npos ? std::string_view() : piece.substr(equals + 1);
    NEPTUNE_ASSIGN_OR_RETURN(std::string name,
                             PercentDecode(piece.substr(0, equals), PlusMeaning::kBlank));
    NEPTUNE_ASSIGN_OR_RETURN(std::string value, PercentDecode(raw, PlusMeaning::kBlank));
    parameters.emplace_back(std::move(name), std::move(value));
  }
  return parameters;
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  }
  return encoded;
}

}  // namespace neptune
