// Writes passages as pieces: valid UTF-8, each run of white space as one space, matched words as
// pieces of their own.
//
// Threads: thread-compatible.

#pragma once

#include <string_view>

#include "docserver/docserver.pb.h"

namespace search::docserver {

class PieceWriter {
 public:
  // Replaces *pieces, which must outlive the writer.
  explicit PieceWriter(google::protobuf::RepeatedPtrField<SnippetPiece>* pieces) : pieces_(pieces) {
    pieces_->Clear();
  }

  // Appends text; leading white space and bytes that are not UTF-8 are dropped.
  void Text(std::string_view text, bool matches_query);
  // Appends a separator that is not part of the text; it replaces white space at this point.
  void Separator(std::string_view sign);

 private:
  void Append(std::string_view valid, bool matches_query);

  google::protobuf::RepeatedPtrField<SnippetPiece>* pieces_;
  bool has_blank_ = false;   // a space is pending before the next character
  bool drops_blank_ = true;  // true at the beginning and after a separator
};

}  // namespace search::docserver
