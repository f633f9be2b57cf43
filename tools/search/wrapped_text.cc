#include "tools/search/wrapped_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "neptune/base/utf8.h"

namespace search::tools {
namespace {

constexpr int kWidthMin = 20;

bool IsBlank(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x2028 || c == 0x2029;
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

// Characters that reorder the text around them.
bool IsDirectionMark(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string_view StyleCode(TextStyle style) {
  switch (style) {
    case TextStyle::kPlain:
      return "";
    case TextStyle::kTitle:
      return "\x1b[1m";
    case TextStyle::kAddress:
      return "\x1b[32m";
    case TextStyle::kMatch:
      return "\x1b[1;33m";
    case TextStyle::kDim:
      return "\x1b[2m";
    case TextStyle::kWarning:
      return "\x1b[33m";
  }
  return "";
}

constexpr std::string_view kStyleEnd = "\x1b[0m";

}  // namespace

WrappedText::WrappedText(const WrapOptions& options)
    : options_{.width = std::max(options.width, kWidthMin),
               .indent = std::clamp(options.indent, 0, kWidthMin / 2),
               .first_indent = std::clamp(options.first_indent, 0, kWidthMin / 2),
               .has_colours = options.has_colours},
      out_(options_.first_indent, ' '),
      column_(options_.first_indent) {}

void WrappedText::Add(std::string_view text, TextStyle style) {
  while (!text.empty()) {
    const neptune::DecodedCodePoint decoded = neptune::DecodeCodePoint(text);
    const char32_t c = decoded.code_point;
    if (decoded.well_formed && IsBlank(c)) {
      EndWord();
    } else if (!decoded.well_formed || IsControl(c)) {
      AddCharacter(neptune::kReplacementUtf8, 1, style);
    } else if (!IsDirectionMark(c)) {
      AddCharacter(text.substr(0, decoded.size),
                   std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(c))), style);
    }
    text.remove_prefix(decoded.size);
  }
}

void WrappedText::AddCharacter(std::string_view bytes, int width, TextStyle style) {
  if (word_width_ + width > options_.width - options_.indent) EndWord();
  if (word_.empty() || word_.back().style != style) word_.push_back({"", style});
  word_.back().text += bytes;
  word_width_ += width;
}

void WrappedText::EndWord() {
  if (word_.empty()) return;
  const int blank = line_is_empty_ ? 0 : 1;
  if (word_.front().style != style_) SetStyle(TextStyle::kPlain);
  if (column_ + blank + word_width_ > options_.width && !line_is_empty_) {
    SetStyle(TextStyle::kPlain);
    out_ += '\n';
    out_.append(options_.indent, ' ');
    column_ = options_.indent;
  } else if (blank == 1) {
    out_ += ' ';
    ++column_;
  }
  for (const Run& run : word_) {
    SetStyle(run.style);
    out_ += run.text;
  }
  column_ += word_width_;
  line_is_empty_ = false;
  word_.clear();
  word_width_ = 0;
}

void WrappedText::SetStyle(TextStyle style) {
  if (!options_.has_colours || style == style_) return;
  if (style_ != TextStyle::kPlain) out_ += kStyleEnd;
  out_ += StyleCode(style);
  style_ = style;
}

std::string WrappedText::Take() {
  EndWord();
  SetStyle(TextStyle::kPlain);
  out_ += '\n';
  column_ = 0;
  line_is_empty_ = true;
  return std::exchange(out_, {});
}

}  // namespace search::tools
