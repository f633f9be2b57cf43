#include "neptune/capsule/capsule.h"

#include <glog/logging.h>

#include <exception>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"

namespace neptune {
namespace {

constexpr size_t kHelperCountDefault = 4;

uint64_t Micros(TimePoint time) { return static_cast<uint64_t>(ToMicros(time.time_since_epoch())); }

}  // namespace

size_t ProcessingCountMax(const CapsuleConfig& config) {
  if (config.processing_count_max > 0) return config.processing_count_max;
  return config.type == ResourceType::kDevice ? kHelperCountDefault
                                              : config.limits.resident_count_max;
}

Capsule::Capsule(CapsuleConfig config, std::unique_ptr<CapsulePolicy> policy,
                 std::unique_ptr<HelperThreads> helpers)
    : name_(config.name),
      type_(config.type),
      config_(std::move(config)),
      control_(config_.limits, config_.feedback),
      policy_(std::move(policy)),
      helpers_(std::move(helpers)) {}

Capsule::~Capsule() = default;

CapsuleConfig Capsule::config() const {
  LeafLock lock(&mutex_);
  return config_;
}

std::optional<PeerAddress> Capsule::peer() const {
  LeafLock lock(&mutex_);
  if (config_.rules.size() != 1) return std::nullopt;
  return config_.rules.front().peer();
}

CapsuleOccupancy Capsule::Occupancy() const {
  const CapsuleControl::Statistics control = control_.statistics();
  return {.resident_count = control.resident_count,
          .waiting_count = waiting_.size(),
          .processing_count = processing_count_,
          .resident_count_max = config_.limits.resident_count_max,
          .processing_count_max = ProcessingCountMax(config_),
          .mean_time = control.mean_time};
}

// Calls the policy, which may be a plug-in. If it throws, replaces it and returns false.
template <typename Function>
bool Capsule::WithPolicy(Function&& function) {
  std::string why;
  try {
    function(*policy_);
    return true;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an unknown exception";
  }
  DistrustPolicy(StrCat("it threw: ", why));
  return false;
}

void Capsule::DistrustPolicy(std::string_view why) {
  LOG(ERROR) << "the policy of capsule '" << name_
             << "' is replaced by first come first served: " << why;
  ++statistics_.policy_failures;
  ReplacePolicy(MakeFifoPolicy());
}

void Capsule::ReplacePolicy(std::unique_ptr<CapsulePolicy> policy) {
  policy_ = std::move(policy);
  // Add the waiting calls to the new policy in order of arrival.
  std::map<uint64_t, const CapsuleCall*> in_order;
  for (const auto& [id, waiting] : waiting_) in_order[id] = &waiting.call;
  for (const auto& [id, waiting] : in_order) {
    const CapsuleCall& call = *waiting;
    WithPolicy([&](CapsulePolicy& now) { now.Wait(call); });
  }
}

Capsule::Arrival Capsule::Arrive(CapsulePermit& visit, CapsuleCall& call, TimePoint now) {
  Wakers wakers;
  Arrival arrival = Arrival::kProcessing;
  {
    LeafLock lock(&mutex_);
    if (closed_) return Arrival::kGone;
    if (config_.policy.kind == PolicyKind::kPriority) {
      call.priority = PriorityOf(config_.policy, call.service_class);
    }
    arrival = Admit(visit, call, now);
    if (arrival == Arrival::kProcessing) arrival = AcquirePlace(visit, call, now, &wakers);
  }
  Wake(std::move(wakers));
  return arrival;
}

Capsule::Arrival Capsule::Admit(CapsulePermit& visit, CapsuleCall& call, TimePoint now) {
  PolicyDecision decision;
  call.entered = now;
  const CapsuleOccupancy occupancy = Occupancy();
  WithPolicy([&](CapsulePolicy& policy) { decision = policy.Arrive(call, occupancy); });
  using Action = PolicyDecision::Action;
  if (decision.action == Action::kTerminate) {
    ++statistics_.terminated;
    return Arrival::kTerminated;
  }
  if (decision.action == Action::kMigrate && call.may_migrate) {
    ++statistics_.migrated;
    visit.migration_target_ = std::move(decision.target);
    return Arrival::kMigrates;
  }
  const CapsuleControl::Admission admission = control_.Enter(now);
  const bool refused = admission.verdict == CapsuleControl::Verdict::kRefuse;
  if (refused || admission.verdict == CapsuleControl::Verdict::kBypass) {
    const bool migrates = call.may_migrate && !config_.migrate_to.empty();
    if (migrates) visit.migration_target_ = config_.migrate_to;
    if (migrates) ++statistics_.migrated;
    return refused ? Arrival::kRefused : Arrival::kBypassed;
  }
  visit.admitted_ = admission.verdict;
  visit.entered_at_ = now;
  const TimePoint own = AddSaturated(now, admission.timeout);
  visit.limited_by_capsule_ = own < call.deadline;
  visit.deadline_ = call.deadline = std::min(own, call.deadline);
  entered_sum_us_ += Micros(now);
  if (decision.action != Action::kDelay) return Arrival::kProcessing;
  visit.not_before_ = AddSaturated(now, decision.delay);
  visit.place_ = Place::kDelayed;
  return Arrival::kDelayed;
}

Capsule::Arrival Capsule::EndDelay(CapsulePermit& visit, CapsuleCall& call, TimePoint now) {
  Wakers wakers;
  Arrival arrival = Arrival::kProcessing;
  {
    LeafLock lock(&mutex_);
    arrival = AcquirePlace(visit, call, now, &wakers);
  }
  Wake(std::move(wakers));
  return arrival;
}

Capsule::Arrival Capsule::AcquirePlace(CapsulePermit& visit, CapsuleCall& call, TimePoint now,
                                       Wakers* wakers) {
  if (waiting_.empty() && processing_count_ < ProcessingCountMax(config_)) {
    ++processing_count_;
    visit.place_ = Place::kProcessing;
    return Arrival::kProcessing;
  }
  call.id = visit.id_ = next_id_++;
  call.operation = BlockingOperation();  // its string views do not outlive Arrive
  call.service_class = {};
  visit.PrepareToWait();
  visit.place_ = Place::kWaiting;
  ++statistics_.waited;
  waiting_.emplace(call.id, Waiting{call, &visit});
  WithPolicy([&](CapsulePolicy& policy) { policy.Wait(call); });
  StartWaiting(now, wakers);
  return visit.place_ == Place::kWaiting ? Arrival::kWaiting : Arrival::kProcessing;
}

void Capsule::StartWaiting(TimePoint now, Wakers* wakers) {
  while (!waiting_.empty() && processing_count_ < ProcessingCountMax(config_)) {
    std::optional<uint64_t> id;
    const CapsuleOccupancy occupancy = Occupancy();
    if (!WithPolicy([&](CapsulePolicy& policy) { id = policy.Next(occupancy); })) continue;
    if (!id) {
      // A policy that holds back every call would never be asked again.
      if (processing_count_ > 0) return;
      DistrustPolicy("it holds every waiting call back although none is with the dependency");
      continue;
    }
    const auto chosen = waiting_.find(*id);
    if (chosen == waiting_.end()) {
      DistrustPolicy(StrCat("it chose call ", *id, ", which does not wait"));
      continue;
    }
    CapsulePermit& visit = *chosen->second.visit;
    waiting_time_ns_.Add(static_cast<double>((now - visit.entered_at_).count()));
    waiting_.erase(chosen);
    ++processing_count_;
    wakers->push_back(visit.ReleaseWaker());
    visit.place_ = Place::kProcessing;  // its owner may end it from here on
  }
}

void Capsule::Leave(CapsulePermit& visit, CapsuleControl::Outcome outcome, bool left_behind,
                    TimePoint now) {
  Wakers wakers;
  {
    LeafLock lock(&mutex_);
    const Place place = visit.place_;
    visit.place_ = Place::kOutside;
    if (place == Place::kWaiting) {
      waiting_.erase(visit.id_);
      WithPolicy([&](CapsulePolicy& policy) { policy.Forget(visit.id_); });
    }
    control_.Leave(visit.admitted_, outcome, visit.entered_at_, now);
    entered_sum_us_ -= Micros(visit.entered_at_);
    if (outcome == CapsuleControl::Outcome::kDone) times_.Add(now - visit.entered_at_);
    if (place == Place::kProcessing && !left_behind) --processing_count_;
    StartWaiting(now, &wakers);
  }
  Wake(std::move(wakers));
}

void Capsule::EndProcessing(TimePoint now) {
  Wakers wakers;
  {
    LeafLock lock(&mutex_);
    --processing_count_;
    StartWaiting(now, &wakers);
  }
  Wake(std::move(wakers));
}

void Capsule::Wake(Wakers wakers) {
  for (auto& waker : wakers) waker();
}

bool Capsule::WouldAdmit(TimePoint now) {
  LeafLock lock(&mutex_);
  return control_.Ask(now) == CapsuleControl::Verdict::kEnter;
}

CapsuleStatistics Capsule::Counted() const {
  CapsuleStatistics statistics = statistics_;
  statistics.control = control_.statistics();
  statistics.waiting_count = waiting_.size();
  statistics.processing_count = processing_count_;
  statistics.mean_waiting_time = Duration(static_cast<int64_t>(waiting_time_ns_.value()));
  statistics.timeout = control_.FeedbackTimeout();
  statistics.bypassing = control_.bypassing();
  return statistics;
}

CapsuleStatistics Capsule::Count() const {
  LeafLock lock(&mutex_);
  return Counted();
}

CapsuleStatistics Capsule::Inspect(TimePoint now) const {
  LeafLock lock(&mutex_);
  CapsuleStatistics statistics = Counted();
  const uint64_t resident_count = statistics.control.resident_count;
  if (resident_count > 0) {
    const uint64_t ages_us = resident_count * Micros(now) - entered_sum_us_;
    statistics.mean_age = std::chrono::microseconds(ages_us / resident_count);
  }
  statistics.tail_time = times_.Quantile(0.95);
  return statistics;
}

void Capsule::Change(CapsuleConfig config, std::unique_ptr<CapsulePolicy> policy, TimePoint now) {
  if (helpers_ != nullptr) helpers_->SetCount(static_cast<int>(ProcessingCountMax(config)));
  Wakers wakers;
  {
    LeafLock lock(&mutex_);
    config_ = std::move(config);
    control_.SetLimits(config_.limits);
    control_.SetFeedback(config_.feedback);
    ReplacePolicy(std::move(policy));
    StartWaiting(now, &wakers);
  }
  Wake(std::move(wakers));
}

void Capsule::Close() {
  LeafLock lock(&mutex_);
  closed_ = true;
}

bool Capsule::empty() const {
  LeafLock lock(&mutex_);
  return control_.statistics().resident_count == 0 && processing_count_ == 0;
}

void Capsule::StopHelpers() { helpers_.reset(); }

}  // namespace neptune
