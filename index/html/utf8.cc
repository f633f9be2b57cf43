#include "index/html/utf8.h"

#include <simdjson.h>

#include <array>
#include <cstdint>

#include "neptune/base/utf8.h"

namespace search::html {
namespace {

// Code points of the bytes 0x80 to 0x9f in windows-1252.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

std::string ReplaceInvalidUtf8(std::string_view bytes) {
  if (IsValidUtf8(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  while (!bytes.empty()) {
    const neptune::DecodedCodePoint decoded = neptune::DecodeCodePoint(bytes);
    text.append(decoded.well_formed ? bytes.substr(0, decoded.size) : neptune::kReplacementUtf8);
    bytes.remove_prefix(decoded.well_formed ? decoded.size : decoded.ill_formed_size);
  }
  return text;
}

std::string Windows1252ToUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    neptune::AppendUtf8(byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte, &text);
  }
  return text;
}

std::string CollapseSpace(std::string_view text) {
  std::string out;
  bool space = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool no_break_space = text.substr(i, 2) == "\xC2\xA0";
    if (static_cast<uint8_t>(text[i]) <= 0x20 || text[i] == 0x7F || no_break_space) {
      space = true;
      i += no_break_space ? 1 : 0;
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += text[i];
  }
  return out;
}

}  // namespace search::html
