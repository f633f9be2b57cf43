#include "frontend/render/markup/markup_writer.h"

#include <glog/logging.h>

#include <array>
#include <utility>

#include "neptune/base/utf8.h"

namespace search::frontend {
namespace {

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool StartsWithIgnoringCase(std::string_view text, std::string_view lower_prefix) {
  if (text.size() < lower_prefix.size()) return false;
  for (size_t i = 0; i < lower_prefix.size(); ++i) {
    if (ToLower(text[i]) != lower_prefix[i]) return false;
  }
  return true;
}

// True if the character is allowed in XML 1.0, except for the C1 controls, which have no visible
// form. HTML uses the same set.
constexpr bool IsShowable(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  if (c >= 0x7F && c <= 0x9F) return false;
  return c != 0xFFFE && c != 0xFFFF;
}

constexpr std::string_view EscapeOf(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\r':
      return "&#13;";
    default:
      return {};
  }
}

enum class ByteKind : uint8_t { kPlain, kEscaped, kMultibyte, kRefused };

// What becomes of each byte: most are copied.
constexpr std::array<ByteKind, 256> kKinds = [] {
  std::array<ByteKind, 256> kinds{};
  for (int byte = 0; byte < 256; ++byte) {
    if (byte >= 0x80) {
      kinds[byte] = ByteKind::kMultibyte;
    } else if (!EscapeOf(static_cast<char>(byte)).empty()) {
      kinds[byte] = ByteKind::kEscaped;
    } else if (!IsShowable(static_cast<char32_t>(byte))) {
      kinds[byte] = ByteKind::kRefused;
    }
  }
  return kinds;
}();

}  // namespace

bool IsSafeLink(std::string_view url) {
  if (url.empty()) return false;
  for (char c : url) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= 0x20 || byte == 0x7F || c == '\\') return false;
  }
  if (url[0] == '/') return url.size() == 1 || url[1] != '/';
  if (url[0] == '?' || url[0] == '#') return true;
  for (std::string_view scheme : {"http://", "https://"}) {
    if (StartsWithIgnoringCase(url, scheme))
      return url.size() > scheme.size() && url[scheme.size()] != '/';
  }
  return false;
}

void MarkupWriter::Escape(std::string_view text) {
  size_t kept = 0;  // the text is written up to here
  for (size_t at = 0; at < text.size();) {
    const ByteKind kind = kKinds[static_cast<uint8_t>(text[at])];
    if (kind == ByteKind::kPlain) {
      ++at;
      continue;
    }
    size_t size = 1;
    std::string_view instead = neptune::kReplacementUtf8;
    if (kind == ByteKind::kEscaped) {
      instead = EscapeOf(text[at]);
    } else if (kind == ByteKind::kMultibyte) {
      const neptune::DecodedCodePoint decoded = neptune::DecodeCodePoint(text.substr(at));
      size = decoded.size;
      if (decoded.well_formed && IsShowable(decoded.code_point)) {
        at += size;
        continue;
      }
    }
    out_.append(text, kept, at - kept);
    out_ += instead;
    kept = at += size;
  }
  out_.append(text, kept);
}

void MarkupWriter::OpenTag(TagName tag, Attributes attributes) {
  out_ += '<';
  out_ += tag.name();
  for (const Attribute& attribute : attributes) {
    if (!attribute.present) continue;
    if (attribute.name.holds_link() && !IsSafeLink(attribute.value)) continue;
    out_ += ' ';
    out_ += attribute.name.name();
    if (!attribute.has_value) {
      if (syntax_ == Syntax::kXml) out_ += "=\"\"";
      continue;
    }
    out_ += "=\"";
    Escape(attribute.value);
    out_ += '"';
  }
}

void MarkupWriter::Open(TagName tag, Attributes attributes) {
  OpenTag(tag, attributes);
  out_ += '>';
  open_.push_back(tag.name());
}

void MarkupWriter::Close() {
  CHECK(!open_.empty());
  out_ += "</";
  out_ += open_.back();
  out_ += '>';
  open_.pop_back();
}

void MarkupWriter::Empty(TagName tag, Attributes attributes) {
  OpenTag(tag, attributes);
  out_ += syntax_ == Syntax::kXml ? "/>" : ">";
}

void MarkupWriter::Text(std::string_view text) { Escape(text); }

void MarkupWriter::TextElement(TagName tag, std::string_view text, Attributes attributes) {
  Open(tag, attributes);
  Text(text);
  Close();
}

void MarkupWriter::Trusted(TrustedMarkup markup) { out_ += markup.text(); }

std::string MarkupWriter::Take() {
  CHECK(open_.empty()) << "element " << open_.back() << " is still open";
  return std::exchange(out_, {});
}

}  // namespace search::frontend
