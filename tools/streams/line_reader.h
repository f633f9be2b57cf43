// Cuts a stream of bytes into lines of bounded length.
//
// Threads: thread-compatible.
// Limits: memory is line_size_max plus one block; a longer line is skipped and reported as such.
// Errors: those of the byte source.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

class LineReader {
 public:
  // Bytes after a line's end that may be read (not written) by a parser that looks ahead.
  static constexpr size_t kPadding = 64;

  struct Line {
    uint64_t number = 0;    // the first line is 1
    std::string_view text;  // without its line break; valid until the next call
    bool too_long = false;  // then text is empty
  };

  // REQUIRES: `source` outlives the reader.
  LineReader(ByteSource* source, size_t line_size_max);

  // False at the end. A last line without a line break counts as a line.
  neptune::StatusOr<bool> Next(Line* line);

 private:
  neptune::Status Fill();

  ByteSource* const source_;
  const size_t line_size_max_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool ended_ = false;
  uint64_t number_ = 0;
};

}  // namespace search::tools
