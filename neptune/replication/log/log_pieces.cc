#include "neptune/replication/log/log_pieces.h"

#include <utility>

namespace neptune {

std::vector<LogChange> PiecesOf(LogChange change, size_t size_max) {
  std::vector<LogChange> pieces(1);
  pieces.back().restart = change.restart;
  size_t size = 0;
  for (LogEntry& entry : change.entries) {
    if (size >= size_max) {
      pieces.emplace_back();
      size = 0;
    }
    size += entry.payload.size();
    pieces.back().entries.push_back(std::move(entry));
  }
  pieces.back().promise = change.promise;
  pieces.back().committed = change.committed;
  return pieces;
}

}  // namespace neptune
