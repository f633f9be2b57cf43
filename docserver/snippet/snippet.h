// Query-biased snippets: the passages of a document that best show why it matched, with the query's
// words marked.
//
// Passages are scored by distinct query words, whole phrases and nearness; README.md
// says how. No I/O, no clock, no locks. Threads: thread-compatible; one
// SnippetMaker for each thread (it owns an index::Analyzer and buffers). Units: bytes of UTF-8
// text. Errors: none. Any bytes are accepted as text; what is not valid UTF-8 is left out of the
// snippet. Limits: SnippetOptions; the first scan_size_max bytes of a document are looked at.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "docserver/docserver.pb.h"
#include "index/core/query/query.h"

namespace search::docserver {

inline constexpr size_t kPassageCountMax = 8;

struct SnippetOptions {
  // Most bytes of all pieces together, the separators " … " included. 0 gives no pieces.
  size_t size_max = 240;
  // Most passages joined by " … ", from 1 to kPassageCountMax. Larger: more of the query's words
  // are shown, each with less around it.
  size_t passage_count_max = 3;
  // Bytes of the text that are searched; bounds the time on huge pages. Larger: matches further
  // down are found. Default: under 10 ms.
  size_t scan_size_max = size_t{1} << 20;
};

class SnippetMaker {
 public:
  SnippetMaker();
  ~SnippetMaker();
  SnippetMaker(const SnippetMaker&) = delete;
  SnippetMaker& operator=(const SnippetMaker&) = delete;

  // Replaces *pieces by the snippet of `text` for `query`: valid UTF-8, passages of the text in
  // text order, runs of white space made one blank, " … " where text is left out before, between or
  // after. If the scanned text holds a phrase of the query, so does a passage, if the phrase fits.
  // What the query asks for in the text - a word by itself, in any of its forms, or a phrase as a
  // whole - is in pieces with matches_query, and nothing else is. Without a match, or for an empty
  // query, the beginning of the text. Linear in the scanned text.
  void Make(std::string_view text, const index::Query& query, const SnippetOptions& options,
            google::protobuf::RepeatedPtrField<SnippetPiece>* pieces);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::docserver
