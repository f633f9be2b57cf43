#include "neptune/replication/state/store_snapshot.h"

namespace neptune {

StatusOr<std::string> StoreSnapshot::Next(size_t piece_size_max) {
  if (!was_read_ && writer_.size() < piece_size_max) {
    NEPTUNE_RETURN_IF_ERROR(ReadSome(piece_size_max));
  }
  return writer_.TakePiece(piece_size_max);
}

// Reads until the writer has at least this many bytes, or the end.
Status StoreSnapshot::ReadSome(size_t size) {
  bool is_enough = false;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (is_sent_(key)) writer_.Add(key, value);
    is_enough = writer_.size() >= size;
    if (!is_enough) return true;
    next_key_ = key;
    next_key_.push_back('\0');  // the smallest key after it
    return false;
  };
  NEPTUNE_RETURN_IF_ERROR(view_->Scan({.first = next_key_}, add));
  if (is_enough) return OkStatus();
  was_read_ = true;
  writer_.End(completed_);
  return OkStatus();
}

}  // namespace neptune
