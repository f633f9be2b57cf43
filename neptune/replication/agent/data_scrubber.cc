#include "neptune/replication/agent/data_scrubber.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

Duration TimeFor(size_t size) {
  return FromSeconds(static_cast<double>(size) / static_cast<double>(kScrubBytesPerSecond));
}

}  // namespace

void DataScrubber::Add(ReplicaKeeper& replica) {
  const Duration interval = replica.options().scrub_interval;
  const bool has_data = !replica.options().group.IsWitness(replica.options().group.self);
  if (interval <= Duration(0) || !has_data || stopping_) return;
  const auto spread = static_cast<uint64_t>(std::min(interval, kScrubFirstMax).count());
  // Members of a partition, and partitions of a node, begin at different times.
  const uint64_t hash = Checksum64(StrCat(replica.options().identity.node, "/", replica.name()));
  const auto delay = Duration(static_cast<Duration::rep>(hash % spread));
  passes_.try_emplace(&replica, interval, control_.loop->Now() + delay);
  if (is_running_) return thread_ ? thread_->Wake() : void();
  const auto started = control_.scheduler->Spawn([this] { Run(); }, "scrub");
  is_running_ = started.ok();
  LOG_IF(WARNING, !started.ok()) << "stored data are not checked: " << started.status();
}

void DataScrubber::Stop() {
  stopping_ = true;
  if (thread_) thread_->Wake();
}

void DataScrubber::Run() {
  thread_ = ThreadRef(UserThread::Current());
  while (!stopping_) {
    const auto next = std::min_element(
        passes_.begin(), passes_.end(),
        [](const auto& a, const auto& b) { return a.second.due() < b.second.due(); });
    if (control_.loop->Now() < next->second.due()) {
      if (this_thread::Park(next->second.due()) == ParkResult::kStopping) break;
      continue;
    }
    CheckPart(*next->first, next->second);
  }
  thread_ = ThreadRef();
  is_running_ = false;
}

void DataScrubber::CheckPart(ReplicaKeeper& replica, ScrubPass& pass) {
  const TimePoint began_at = control_.loop->Now();
  const std::shared_ptr<ReplicaAgent> agent = replica.agent();
  StatusOr<VerifiedPart> part = Unavailable("the replica is not open");
  if (agent != nullptr) part = agent->Verify(pass.next(), kScrubPartSize);
  const TimePoint now = control_.loop->Now();
  if (!part.ok()) {
    LOG_IF(WARNING, agent != nullptr)
        << "checking the data of " << replica.name() << ": " << part.status();
    // Other data may take the place of damaged ones.
    if (part.status().code() == StatusCode::kDataLoss) pass.Restart();
    return pass.Postpone(now + kScrubRetry);
  }
  const TimePoint next_due = std::max(now, began_at + TimeFor(part->size));
  pass.Advance(*std::move(part), now, next_due);
  replica.NoteScrub(pass.progress());
  // All replicas share the rate.
  while (!stopping_ && control_.loop->Now() < next_due) {
    if (this_thread::Park(next_due) == ParkResult::kStopping) stopping_ = true;
  }
}

}  // namespace neptune
