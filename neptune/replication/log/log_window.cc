#include "neptune/replication/log/log_window.h"

#include <algorithm>
#include <utility>

namespace neptune {

void LogWindow::Restart(Lsn first) {
  first_lsn_ = first;
  sizes_.clear();
  newest_.clear();
  size_ = newest_size_ = 0;
}

void LogWindow::Append(LogEntry entry, size_t stored_size) {
  sizes_.push_back(static_cast<uint32_t>(stored_size));
  size_ += stored_size;
  newest_.push_back(std::move(entry));
  newest_size_ += stored_size;
  while (newest_size_ > cache_size_max_) Forget();
}

void LogWindow::Forget() {
  newest_size_ -= SizeOf(newest_.front().lsn);
  newest_.pop_front();
}

void LogWindow::DropFrom(Lsn lsn) {
  while (!sizes_.empty() && last_lsn() >= lsn) {
    const uint32_t size = sizes_.back();
    if (!newest_.empty()) {
      newest_.pop_back();
      newest_size_ -= size;
    }
    sizes_.pop_back();
    size_ -= size;
  }
}

void LogWindow::DropBefore(Lsn first) {
  while (!newest_.empty() && newest_.front().lsn < first) Forget();
  while (!sizes_.empty() && first_lsn_ < first) {
    size_ -= sizes_.front();
    sizes_.pop_front();
    ++first_lsn_;
  }
}

std::optional<std::vector<LogEntry>> LogWindow::Read(Lsn first, Lsn last, size_t size_max) const {
  if (newest_.empty() || first < newest_.front().lsn) return std::nullopt;
  std::vector<LogEntry> entries;
  size_t size = 0;
  for (Lsn lsn = first; lsn <= std::min(last, last_lsn()); ++lsn) {
    size += SizeOf(lsn);
    if (size > size_max && !entries.empty()) break;
    entries.push_back(newest_[lsn - newest_.front().lsn]);
  }
  return entries;
}

}  // namespace neptune
