// Writes passages as pieces: valid UTF-8, runs of blanks made one, marked words apart.
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

  // Appends text; blanks at the very beginning are dropped, as are bytes that are not UTF-8.
  void Text(std::string_view text, bool matches_query);
  // Appends a sign that is not of the text, as it is, in place of blanks at this point.
  void Separator(std::string_view sign);

 private:
  void Append(std::string_view valid, bool matches_query);

  google::protobuf::RepeatedPtrField<SnippetPiece>* pieces_;
  bool has_blank_ = false;   // to be written before the next character
  bool drops_blank_ = true;  // at the beginning and after a separator
};

}  // namespace search::docserver
