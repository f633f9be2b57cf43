#include "tools/streams/line_reader.h"

#include <string.h>

namespace search::tools {
namespace {
constexpr size_t kBlockSize = size_t{256} << 10;
}  // namespace

LineReader::LineReader(ByteSource* source, size_t line_size_max)
    : source_(source), line_size_max_(line_size_max), buffer_(kBlockSize + kPadding) {}

// Appends a block after the unread bytes, which move to the front.
neptune::Status LineReader::Fill() {
  if (begin_ > 0) {
    memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kBlockSize / 2 + kPadding) {
    buffer_.resize(buffer_.size() * 2);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const size_t got,
                           source_->Read(buffer_.data() + end_, buffer_.size() - kPadding - end_));
  end_ += got;
  ended_ = got == 0;
  return neptune::OkStatus();
}

neptune::StatusOr<bool> LineReader::Next(Line* line) {
  *line = Line{};
  size_t searched = 0;
  while (true) {
    const char* from = buffer_.data() + begin_;
    const void* found = memchr(from + searched, '\n', end_ - begin_ - searched);
    if (found == nullptr && !ended_) {
      searched = end_ - begin_;
      if (searched > line_size_max_) {
        line->too_long = true;
        begin_ = end_;
        searched = 0;
      }
      NEPTUNE_RETURN_IF_ERROR(Fill());
      continue;
    }
    const size_t available = end_ - begin_;
    if (found == nullptr && available == 0 && !line->too_long) return false;
    const size_t size = found == nullptr ? available : static_cast<const char*>(found) - from;
    begin_ += found == nullptr ? size : size + 1;
    line->number = ++number_;
    line->too_long |= size > line_size_max_;
    if (!line->too_long) {
      line->text = {from, size};
      if (line->text.ends_with('\r')) line->text.remove_suffix(1);
    }
    return true;
  }
}

}  // namespace search::tools
