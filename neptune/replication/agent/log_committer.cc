#include "neptune/replication/agent/log_committer.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

std::string NameInLog(const LogIdentity& identity) {
  return StrCat("log-", identity.service, "-", identity.partition);
}

size_t SizeOf(const LogChange& change) {
  size_t size = 0;
  for (const LogEntry& entry : change.entries) size += entry.payload.size();
  return size;
}

}  // namespace

StatusOr<std::unique_ptr<RedoLog>> LogCommitter::Open(const LogIdentity& identity) {
  const std::string name = NameInLog(identity);
  NEPTUNE_RETURN_IF_ERROR(CheckNoOlderLog(name));
  return RedoLog::Open(node_log_, name, identity);
}

Status LogCommitter::CheckNoOlderLog(const std::string& name) {
  {
    LeafLock lock(&mutex_);
    if (stores_ && !stores_->contains(name)) return OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> names, storage_.List());
  LeafLock lock(&mutex_);
  stores_.emplace(names.begin(), names.end());
  if (!stores_->contains(name)) return OkStatus();
  return FailedPrecondition("store ", name,
                            " is a log of an older version, which cannot be read: remove this "
                            "node's data, so that it catches up from the other members");
}

bool LogCommitter::MayHaveStore(const std::string& name) {
  LeafLock lock(&mutex_);
  return !stores_ || stores_->contains(name);
}

Status LogCommitter::Store(const ReplicaDevice& device, std::shared_ptr<RedoLog> log,
                           std::shared_ptr<const LogChange> change) {
  const auto own = std::make_shared<Waiting>();
  own->log = std::move(log);
  own->change = std::move(change);
  own->thread = ThreadRef(UserThread::Current());
  {
    LeafLock lock(&mutex_);
    queue_.push_back(own);
    if (!std::exchange(is_led_, true)) own->turn = Turn::kLeads;
  }
  NEPTUNE_RETURN_IF_ERROR(Await(own));
  {
    LeafLock lock(&mutex_);
    if (own->turn == Turn::kDone) return own->result;
  }
  Lead(device, own);
  LeafLock lock(&mutex_);
  return own->result;
}

Status LogCommitter::Await(const std::shared_ptr<Waiting>& own) {
  while (true) {
    {
      LeafLock lock(&mutex_);
      if (own->turn == Turn::kLeads || own->turn == Turn::kDone) return OkStatus();
    }
    if (this_thread::Park() != ParkResult::kStopping) continue;
    LeafLock lock(&mutex_);
    if (own->turn == Turn::kLeads || own->turn == Turn::kDone) return OkStatus();
    std::erase(queue_, own);
    return Cancelled("the node is stopping");
  }
}

LogCommitter::Group LogCommitter::TakeGroup() {
  Group group;
  size_t size = 0;
  LeafLock lock(&mutex_);
  while (!queue_.empty() && (group.empty() || size < kGroupSizeMax)) {
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
    group.back()->turn = Turn::kTaken;
    size += SizeOf(*group.back()->change);
  }
  return group;
}

void LogCommitter::PassOn() {
  is_led_ = !queue_.empty();
  if (!is_led_) return;
  queue_.front()->turn = Turn::kLeads;
  queue_.front()->thread->Wake();
}

void LogCommitter::Lead(const ReplicaDevice& device, const std::shared_ptr<Waiting>& own) {
  Group group = TakeGroup();
  std::vector<RedoLog::Request> requests;
  for (const auto& waiting : group) {
    requests.push_back({waiting->log.get(), waiting->change.get(), OkStatus()});
  }
  bool has_run = false;
  const Status ran = device.Run(ReplicaLane::kLog, [&] {
    RedoLog::StoreTogether(requests);
    has_run = true;
    return OkStatus();
  });
  LeafLock lock(&mutex_);
  for (size_t i = group.size(); i > 0; --i) {
    Waiting& waiting = *group[i - 1];
    if (!has_run && group[i - 1] != own) {  // only this replica stops
      waiting.turn = Turn::kQueued;
      queue_.push_front(group[i - 1]);
      continue;
    }
    waiting.result = has_run ? requests[i - 1].result : ran;
    waiting.turn = Turn::kDone;
    if (group[i - 1] != own) waiting.thread->Wake();
  }
  PassOn();
}

}  // namespace neptune
