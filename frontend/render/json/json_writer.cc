#include "frontend/render/json/json_writer.h"

#include <glog/logging.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "neptune/base/utf8.h"

namespace search::frontend {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t EachByte(uint8_t byte) { return 0x0101010101010101 * byte; }

bool IsPlain(uint8_t byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

// The first position from `begin` whose byte is not written as it is: a control, a quote, a
// backslash, or part of a code point of several bytes. The size of the text if there is none.
size_t FindSpecial(std::string_view text, size_t begin) {
  size_t at = begin;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
    // The highest bit of a byte is set if the byte is special. A difference may also borrow from
    // the bytes above a special one, which does not matter to the lowest.
    const uint64_t quotes = (bytes ^ EachByte('"')) - EachByte(1);
    const uint64_t backslashes = (bytes ^ EachByte('\\')) - EachByte(1);
    const uint64_t controls = bytes - EachByte(0x20);
    const uint64_t special = (quotes | backslashes | controls | bytes) & EachByte(0x80);
    if (special != 0) return at + static_cast<size_t>(std::countr_zero(special)) / 8;
  }
  while (at < text.size() && IsPlain(static_cast<uint8_t>(text[at]))) ++at;
  return at;
}

void AppendEscape(char c, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      *out += "\\\"";
      return;
    case '\\':
      *out += "\\\\";
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    default:
      const auto byte = static_cast<uint8_t>(c);
      *out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
  }
}

}  // namespace

void JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  ++depth_;
  follows_value_ = false;
}

void JsonWriter::Close(char bracket) {
  DCHECK_GT(depth_, 0u);
  out_ += bracket;
  --depth_;
  follows_value_ = true;
}

void JsonWriter::Name(std::string_view name) {
  Value(name);
  out_ += ':';
  follows_value_ = false;
}

void JsonWriter::Value(std::string_view text) {
  BeginText();
  Piece(text);
  EndText();
}

void JsonWriter::BeginText() {
  Separate();
  out_ += '"';
}

size_t JsonWriter::Piece(std::string_view text) {
  size_t count = 0;
  size_t kept = 0;  // the text is written up to here
  for (size_t at = 0;;) {
    const size_t plain_end = FindSpecial(text, at);
    count += plain_end - at;
    at = plain_end;
    if (at == text.size()) break;
    ++count;
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      out_.append(text, kept, at - kept);
      AppendEscape(text[at], &out_);
      kept = ++at;
      continue;
    }
    const neptune::DecodedCodePoint decoded = neptune::DecodeCodePoint(text.substr(at));
    if (decoded.well_formed) {
      at += decoded.size;
      continue;
    }
    out_.append(text, kept, at - kept);
    out_ += neptune::kReplacementUtf8;
    kept = at += decoded.ill_formed_size;
  }
  out_.append(text, kept);
  return count;
}

void JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  char digits[32];  // the shortest text that reads back as the number has at most 24 characters
  const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  Token({digits, end});
}

void JsonWriter::Unsigned(uint64_t number) {
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  Token({digits, end});
}

void JsonWriter::Signed(int64_t number) {
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  Token({digits, end});
}

std::string JsonWriter::Take() {
  CHECK_EQ(depth_, 0u) << "an object or array has not ended";
  follows_value_ = false;
  return std::exchange(out_, {});
}

}  // namespace search::frontend
