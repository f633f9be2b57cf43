#include "neptune/replication/log/node_log.h"

#include <string>
#include <utility>

namespace neptune {
namespace {

// No name of a segment or a mark, see log_segments.h.
constexpr char kProofName[] = "proof";
constexpr size_t kProofSize = 4096;

}  // namespace

std::shared_ptr<SharedLog> NodeLog::current() const {
  LeafLock lock(&mutex_);
  return log_;
}

StatusOr<NodeLog::Attached> NodeLog::Attach(std::string_view name) {
  BlockingLock opening(&opening_mutex_);
  std::shared_ptr<SharedLog> log = current();
  const bool is_broken = log != nullptr && !log->broken().ok();
  has_failed_ = has_failed_ || is_broken;
  if (log == nullptr || is_broken) {
    NEPTUNE_ASSIGN_OR_RETURN(log, Open());
  }
  SharedLog::Found found = log->Attach(name);
  return Attached{std::move(log), std::move(found)};
}

StatusOr<std::shared_ptr<SharedLog>> NodeLog::Open() {
  if (has_failed_) NEPTUNE_RETURN_IF_ERROR(Prove());
  StatusOr<std::shared_ptr<SharedLog>> log = SharedLog::Open(files_, options_);
  has_failed_ = !log.ok();
  NEPTUNE_RETURN_IF_ERROR(log.status());
  LeafLock lock(&mutex_);
  log_ = *log;
  return log;
}

Status NodeLog::Prove() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::unique_ptr<LogFile> file, files_.Open(kProofName));
  NEPTUNE_RETURN_IF_ERROR(file->WriteAt(0, std::string(kProofSize, 'p')));
  NEPTUNE_RETURN_IF_ERROR(file->Sync());
  return files_.Remove(kProofName);
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
