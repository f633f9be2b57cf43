#include "index/html/utf8.h"

#include <simdjson.h>

#include <array>
#include <cstdint>

namespace search::html {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Code points of the bytes 0x80 to 0x9f in windows-1252.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

// Continuation of a lead byte: the number of bytes, and the range of the first of them.
struct Lead {
  int following = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
};

Lead LeadOf(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  return {};
}

// Size of the valid character at the beginning, or 0 with the size of the invalid part in `bad`.
size_t CharacterSize(std::string_view bytes, size_t* bad) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if (at(0) < 0x80) return 1;
  const Lead lead = LeadOf(at(0));
  *bad = 1;
  if (lead.following == 0) return 0;
  for (size_t i = 1; i <= static_cast<size_t>(lead.following); ++i) {
    const uint8_t low = i == 1 ? lead.low : 0x80;
    const uint8_t high = i == 1 ? lead.high : 0xBF;
    if (i >= bytes.size() || at(i) < low || at(i) > high) return 0;
    *bad = i + 1;
  }
  return 1 + lead.following;
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

std::string ReplaceInvalidUtf8(std::string_view bytes) {
  if (IsValidUtf8(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  while (!bytes.empty()) {
    size_t bad = 0;
    const size_t size = CharacterSize(bytes, &bad);
    text.append(size > 0 ? bytes.substr(0, size) : kReplacement);
    bytes.remove_prefix(size > 0 ? size : bad);
  }
  return text;
}

std::string Windows1252ToUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    const uint32_t code = byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xE0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
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
