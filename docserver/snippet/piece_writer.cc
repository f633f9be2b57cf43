#include "docserver/snippet/piece_writer.h"

#include "docserver/snippet/boundaries.h"
#include "index/core/analysis/unicode.h"

namespace search::docserver {

void PieceWriter::Text(std::string_view text, bool matches_query) {
  for (size_t at = 0; at < text.size();) {
    if (IsBlank(text[at])) {
      has_blank_ = !drops_blank_;
      ++at;
      continue;
    }
    const index::unicode::Decoded next = index::unicode::Decode(text.substr(at));
    if (next.code_point >= 0) {
      if (has_blank_) Append(" ", false);
      has_blank_ = drops_blank_ = false;
      Append(text.substr(at, next.size), matches_query);
    }
    at += next.size;
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
