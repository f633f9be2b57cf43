#include "neptune/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace neptune {
namespace {

struct LeadByte {
  size_t size;
  char32_t bits;
  uint8_t second_min;
  uint8_t second_max;
};

// The valid continuation of `lead`; size 0 if no well-formed sequence begins with it.
LeadByte ClassifyLead(uint8_t lead) {
  if (lead < 0x80) return {1, lead, 0, 0};
  if (lead < 0xC2) return {0, 0, 0, 0};
  if (lead < 0xE0) return {2, char32_t{lead} & 0x1F, 0x80, 0xBF};
  if (lead < 0xF0) {
    const uint8_t second_min = lead == 0xE0 ? 0xA0 : 0x80;
    const uint8_t second_max = lead == 0xED ? 0x9F : 0xBF;  // no surrogates
    return {3, char32_t{lead} & 0x0F, second_min, second_max};
  }
  if (lead < 0xF5) {
    const uint8_t second_min = lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t second_max = lead == 0xF4 ? 0x8F : 0xBF;  // not above U+10FFFF
    return {4, char32_t{lead} & 0x07, second_min, second_max};
  }
  return {0, 0, 0, 0};
}

// Most text is ASCII; this many bytes of it are checked at once.
constexpr size_t kAsciiStep = sizeof(uint64_t);

bool BeginsWithAscii(std::string_view text) {
  if (text.size() < kAsciiStep) return false;
  uint64_t bytes;
  std::memcpy(&bytes, text.data(), kAsciiStep);
  return (bytes & 0x8080808080808080) == 0;
}

}  // namespace

DecodedCodePoint DecodeCodePoint(std::string_view text) {
  const LeadByte lead = ClassifyLead(static_cast<uint8_t>(text[0]));
  if (lead.size == 0) return {};
  char32_t code_point = lead.bits;
  for (size_t i = 1; i < lead.size; ++i) {
    const uint8_t byte = i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
    const uint8_t min = i == 1 ? lead.second_min : 0x80;
    const uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (byte < min || byte > max) return {.ill_formed_size = i};
    code_point = (code_point << 6) | (byte & 0x3F);
  }
  return {code_point, lead.size, true};
}

void AppendUtf8(char32_t code_point, std::string* out) {
  const auto append = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  const auto append_following = [&](int shift) { append(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) return append(code_point);
  if (code_point < 0x800) {
    append(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      append(0xE0 | code_point >> 12);
    } else {
      append(0xF0 | code_point >> 18);
      append_following(12);
    }
    append_following(6);
  }
  append_following(0);
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    if (BeginsWithAscii(text)) {
      text.remove_prefix(kAsciiStep);
      continue;
    }
    const DecodedCodePoint decoded = DecodeCodePoint(text);
    if (!decoded.well_formed) return false;
    text.remove_prefix(decoded.size);
  }
  return true;
}

std::string ToUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const DecodedCodePoint decoded = DecodeCodePoint(text);
    out += decoded.well_formed ? text.substr(0, decoded.size) : kReplacementUtf8;
    text.remove_prefix(decoded.size);
  }
  return out;
}

std::string_view TruncateUtf8(std::string_view text, size_t size_max) {
  if (text.size() <= size_max) return text;
  size_t size = size_max;
  // The code point at the cut has at most three continuation bytes.
  for (int i = 0; i < 3 && size > 0 && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80; ++i) {
    --size;
  }
  return text.substr(0, size);
}

}  // namespace neptune
