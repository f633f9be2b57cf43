#include "frontend/render/markup/markup_writer.h"

#include <glog/logging.h>

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
bool IsShowable(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  if (c >= 0x7F && c <= 0x9F) return false;
  return c != 0xFFFE && c != 0xFFFF;
}

std::string_view EscapeOf(char c) {
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
  while (!text.empty()) {
    const neptune::DecodedCodePoint decoded = neptune::DecodeCodePoint(text);
    if (!decoded.well_formed || !IsShowable(decoded.code_point)) {
      out_ += neptune::kReplacementUtf8;
    } else if (const std::string_view escape = EscapeOf(text[0]); !escape.empty()) {
      out_ += escape;
    } else {
      out_ += text.substr(0, decoded.size);
    }
    text.remove_prefix(decoded.size);
  }
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
