// Query-biased snippets: the passages of a document that best show why it matched, with the query's
// words highlighted.
//
// Passages are scored by distinct query words, whole phrases and proximity; README.md has the
// rules. No I/O, no clock, no locks.
// Threads: thread-compatible; one SnippetMaker per thread (it owns buffers and a stemmer).
// Units: bytes of UTF-8 text.
// Errors: none. Any bytes are accepted as text; invalid UTF-8 is left out of the snippet.
// Limits: SnippetOptions; only the first scan_size_max bytes of a document are scanned for a
//   snippet, all of them for FindMatches, up to 16,384 words of the query.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "docserver/docserver.pb.h"
#include "docserver/snippet/match_scan.h"
#include "docserver/snippet/query_terms.h"

namespace search::docserver {

inline constexpr size_t kPassageCountMax = 8;

struct SnippetOptions {
  // Maximum bytes of all pieces together, including the separators " … ". 0: no pieces.
  size_t size_max = 240;
  // Maximum number of passages joined by " … ", from 1 to kPassageCountMax. Larger: more of the
  // query's words are shown, each with less context.
  size_t passage_count_max = 3;
  // Bytes of the text that are scanned; bounds the time on huge pages. Larger: matches further down
  // are found. Default: a scan takes under 10 ms.
  size_t scan_size_max = size_t{1} << 20;
};

class SnippetMaker {
 public:
  // method: kAnalyseText only for the tests that check that both make the same snippets.
  explicit SnippetMaker(MatchScan::Method method = MatchScan::Method::kFindTerms);
  ~SnippetMaker();
  SnippetMaker(const SnippetMaker&) = delete;
  SnippetMaker& operator=(const SnippetMaker&) = delete;

  // Replaces *pieces by the snippet of `text` for the query: valid UTF-8, passages in text order,
  // each run of white space as one space, " … " where text is left out before, between or after. If
  // the scanned text contains a phrase of the query, so does a passage, if the phrase fits. Exactly
  // the matches of the query (a single word in any of its forms, or a whole phrase) are in pieces
  // with matches_query. If there is no match, or the query is empty, the snippet is the beginning
  // of the text. Cost: linear in the scanned text.
  void Make(std::string_view text, const QueryTerms& query, const SnippetOptions& options,
            google::protobuf::RepeatedPtrField<SnippetPiece>* pieces);

  // Replaces *ranges by the first `count_max` words of the whole text that a snippet would mark.
  // Ascending, disjoint. Cost: linear in the text.
  void FindMatches(std::string_view text, const QueryTerms& query, size_t count_max,
                   TextRanges* ranges);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::docserver
