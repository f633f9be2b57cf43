#include "neptune/replication/agent/log_scrubber.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/base/time_grid.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

// How often damage that others met is looked for.
constexpr Duration kLookInterval = std::chrono::seconds(1);
// The first pass begins within this time, or within its interval if that is shorter.
constexpr Duration kFirstMax = std::chrono::minutes(5);
// Delay after a part could not be read or copied.
constexpr Duration kRetry = std::chrono::minutes(1);

Duration TimeFor(size_t size) {
  return FromSeconds(static_cast<double>(size) / static_cast<double>(kLogScrubBytesPerSecond));
}

}  // namespace

LogScrubber::LogScrubber(NodeLoop& control, CapsuleStack* capsules, Hooks hooks)
    : control_(control),
      hooks_(std::move(hooks)),
      device_(capsules, ServiceName("log"), PartitionId(0), stopping_) {}

void LogScrubber::Want(Duration interval) {
  const bool is_shorter = interval_ == Duration(0) || interval < interval_;
  if (interval <= Duration(0) || !is_shorter || stopping_) return;
  interval_ = interval;
  // Nodes begin at different times.
  const auto spread = static_cast<uint64_t>(std::min(interval, kFirstMax).count());
  const auto delay = Duration(static_cast<Duration::rep>(control_.loop->random().Next() % spread));
  pass_ = std::make_unique<ScrubPass>(interval, control_.loop->Now() + delay);
  if (is_running_) return;
  const auto started = control_.scheduler->Spawn([this] { Run(); }, "scrub log");
  is_running_ = started.ok();
  LOG_IF(WARNING, !started.ok()) << "the node's log is not checked: " << started.status();
}

void LogScrubber::Stop() {
  stopping_ = true;
  if (thread_) thread_->Wake();
}

void LogScrubber::Run() {
  thread_ = ThreadRef(UserThread::Current());
  while (!stopping_) {
    const TimePoint now = control_.loop->Now();
    LookForDamage();
    if (now >= pass_->due()) {
      CheckPart();
    } else if (this_thread::Park(std::min(pass_->due(), NextOnGrid(now, kLookInterval))) ==
               ParkResult::kStopping) {
      break;
    }
    while (must_mend_ && !stopping_) must_mend_ = MendPart();
  }
  thread_ = ThreadRef();
  is_running_ = false;
}

StatusOr<SharedLog::Checked> LogScrubber::Check(const LogSpot& from) const {
  const std::shared_ptr<SharedLog> log = hooks_.log();
  if (log == nullptr) return Unavailable("the node's log is not open");
  SharedLog::Checked checked;
  NEPTUNE_RETURN_IF_ERROR(device_.Run(ReplicaLane::kSnapshot, [&, log]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(checked, log->Check(from, kLogScrubPartSize));
    return OkStatus();
  }));
  return checked;
}

void LogScrubber::CheckPart() {
  const TimePoint began_at = control_.loop->Now();
  const std::shared_ptr<SharedLog> log = hooks_.log();
  const bool begins = pass_->next().empty();
  if (begins) {
    at_ = {};
    end_ = log == nullptr ? LogSpot() : log->end();
  }
  const StatusOr<SharedLog::Checked> checked = Check(at_);
  const TimePoint now = control_.loop->Now();
  if (!checked.ok()) {
    LOG_IF(WARNING, log != nullptr && !stopping_)
        << "checking the node's log: " << checked.status();
    return pass_->Postpone(now + kRetry);
  }
  at_ = checked->next;
  VerifiedPart part{.size = checked->size, .next = std::nullopt};
  if (at_ < end_) part.next = "goes on";  // its place is at_
  pass_->Advance(std::move(part), now, now);
  must_mend_ = must_mend_ || !checked->damage.empty();
  LOG_IF(ERROR, !checked->damage.empty()) << checked->damage;
  {
    LeafLock lock(&mutex_);
    standing_.progress = pass_->progress();
    if (!checked->damage.empty()) standing_.last_damage = checked->damage;
  }
  LookForDamage();
  AwaitRate(checked->size, began_at);
}

bool LogScrubber::MendPart() {
  const std::shared_ptr<SharedLog> log = hooks_.log();
  if (log == nullptr) return false;
  const TimePoint began_at = control_.loop->Now();
  bool goes_on = false;
  const Status mended = device_.Run(ReplicaLane::kSnapshot, [&goes_on, log]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(goes_on, log->Mend(kLogScrubPartSize));
    return OkStatus();
  });
  // After an error the log is opened again, and finds by itself what is damaged.
  LOG_IF(WARNING, !mended.ok() && !stopping_) << "replacing damaged parts of the log: " << mended;
  LookForDamage();
  if (mended.ok() && goes_on) AwaitRate(kLogScrubPartSize, began_at);
  return mended.ok() && goes_on;
}

void LogScrubber::LookForDamage() {
  const std::shared_ptr<SharedLog> log = hooks_.log();
  const uint64_t count = log == nullptr ? 0 : log->statistics().damage_count;
  const uint64_t before = std::exchange(seen_count_, count);
  if (count <= before) return;
  {
    LeafLock lock(&mutex_);
    standing_.damage_count += count - before;
  }
  hooks_.on_damage();
}

void LogScrubber::AwaitRate(size_t size, TimePoint began_at) {
  const TimePoint until = began_at + TimeFor(size);
  while (!stopping_ && control_.loop->Now() < until) {
    if (this_thread::Park(until) == ParkResult::kStopping) stopping_ = true;
  }
}

LogScrubber::Standing LogScrubber::standing() const {
  LeafLock lock(&mutex_);
  return standing_;
}

}  // namespace neptune
