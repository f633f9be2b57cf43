#include "docserver/snippet/snippet_checks.h"

#include "docserver/snippet/piece_writer.h"
#include "neptune/base/utf8.h"

namespace search::docserver {

namespace {

// The whole text as a snippet would write it: each run of white space as one space.
std::string Normalised(std::string_view text) {
  google::protobuf::RepeatedPtrField<SnippetPiece> pieces;
  PieceWriter writer(&pieces);
  writer.Text(text, false);
  return pieces.empty() ? std::string() : pieces[0].text();
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The text may contain the separator itself, so both are split at every separator.
bool StretchesComeFrom(std::string_view snippet, std::string_view text) {
  constexpr std::string_view kSign = "…";
  size_t from = 0;
  while (true) {
    const size_t cut = snippet.find(kSign);
    const std::string_view stretch = Trimmed(snippet.substr(0, cut));
    const size_t found = text.find(stretch, from);
    if (found == std::string_view::npos) return false;
    from = found + stretch.size();
    if (cut == std::string_view::npos) return true;
    snippet.remove_prefix(cut + kSign.size());
  }
}

std::string Marked(const google::protobuf::RepeatedPtrField<SnippetPiece>& pieces) {
  std::string out;
  for (const SnippetPiece& piece : pieces) {
    out += piece.matches_query() ? "[" + piece.text() + "]" : piece.text();
  }
  return out;
}

}  // namespace

std::string BrokenPromise(std::string_view text, const SnippetOptions& options,
                          const google::protobuf::RepeatedPtrField<SnippetPiece>& pieces) {
  std::string snippet;
  for (int i = 0; i < pieces.size(); ++i) {
    if (pieces[i].text().empty()) return "empty piece";
    if (i > 0 && pieces[i].matches_query() == pieces[i - 1].matches_query()) return "split piece";
    if (!neptune::IsUtf8(pieces[i].text())) return "piece is not UTF-8: " + pieces[i].text();
    snippet += pieces[i].text();
  }
  if (snippet.size() > options.size_max) return "too long: " + snippet;
  if (!StretchesComeFrom(snippet, Normalised(text))) return "not of the text: " + snippet;
  return "";
}

std::string BrokenPromise(std::string_view text, const TextRanges& ranges) {
  if (ranges.begins_size() != ranges.sizes_size()) return "begins without sizes";
  size_t at = 0;
  for (int i = 0; i < ranges.begins_size(); ++i) {
    if (ranges.begins(i) < at || ranges.sizes(i) == 0) return "ranges out of order";
    at = size_t{ranges.begins(i)} + ranges.sizes(i);
    if (at > text.size()) return "a range outside of the text";
  }
  return "";
}

std::string Difference(const google::protobuf::RepeatedPtrField<SnippetPiece>& a,
                       const google::protobuf::RepeatedPtrField<SnippetPiece>& b) {
  const std::string marked_a = Marked(a);
  const std::string marked_b = Marked(b);
  return marked_a == marked_b ? "" : marked_a + "\n" + marked_b;
}

}  // namespace search::docserver
