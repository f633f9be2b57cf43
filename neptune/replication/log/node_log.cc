#include "neptune/replication/log/node_log.h"

#include <utility>

namespace neptune {

std::shared_ptr<SharedLog> NodeLog::current() const {
  LeafLock lock(&mutex_);
  return log_;
}

StatusOr<NodeLog::Attached> NodeLog::Attach(std::string_view name) {
  absl::MutexLock opening(&opening_mutex_);
  std::shared_ptr<SharedLog> log = current();
  if (log == nullptr || !log->broken().ok()) {
    NEPTUNE_ASSIGN_OR_RETURN(log, SharedLog::Open(files_, options_));
    LeafLock lock(&mutex_);
    log_ = log;
  }
  SharedLog::Found found = log->Attach(name);
  return Attached{std::move(log), std::move(found)};
}

Status NodeLog::SyncMark() {
  const std::shared_ptr<SharedLog> log = current();
  return log == nullptr || !log->broken().ok() ? OkStatus() : log->SyncMark();
}

SharedLog::Statistics NodeLog::statistics() const {
  const std::shared_ptr<SharedLog> log = current();
  return log == nullptr ? SharedLog::Statistics() : log->statistics();
}

}  // namespace neptune
