#include "docserver/snippet/piece_writer.h"

#include "docserver/snippet/boundaries.h"
#include "index/core/analysis/unicode.h"

namespace search::docserver {

namespace {

bool IsVisibleAscii(char c) { return !IsBlank(c) && static_cast<unsigned char>(c) < 0x80; }

// The size of the visible ASCII characters at the beginning of the text; `with_spaces`: and of
// single spaces between them.
size_t PlainSize(std::string_view text, bool with_spaces) {
  size_t size = 0;
  while (size < text.size()) {
    const bool is_space = with_spaces && size > 0 && text[size] == ' ' && size + 1 < text.size() &&
                          IsVisibleAscii(text[size + 1]);
    if (!is_space && !IsVisibleAscii(text[size])) break;
    ++size;
  }
  return size;
}

}  // namespace

void PieceWriter::Text(std::string_view text, bool matches_query) {
  for (size_t at = 0; at < text.size();) {
    if (IsBlank(text[at])) {
      has_blank_ = !drops_blank_;
      ++at;
      continue;
    }
    size_t size = PlainSize(text.substr(at), /*with_spaces=*/!matches_query);
    bool is_valid = true;
    if (size == 0) {
      const index::unicode::Decoded next = index::unicode::Decode(text.substr(at));
      size = next.size;
      is_valid = next.code_point >= 0;
    }
    if (is_valid) {
      if (has_blank_) Append(" ", false);
      has_blank_ = drops_blank_ = false;
      Append(text.substr(at, size), matches_query);
    }
    at += size;
  }
}

void PieceWriter::Separator(std::string_view sign) {
  has_blank_ = false;
  drops_blank_ = true;
  Append(sign, false);
}

void PieceWriter::Append(std::string_view valid, bool matches_query) {
  if (pieces_->empty() || pieces_->rbegin()->matches_query() != matches_query) {
    pieces_->Add()->set_matches_query(matches_query);
  }
  pieces_->rbegin()->mutable_text()->append(valid);
}

}  // namespace search::docserver
