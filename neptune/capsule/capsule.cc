#include "neptune/capsule/capsule.h"

#include <glog/logging.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/quick_places.h"

namespace neptune {
namespace {

constexpr size_t kHelperCountDefault = 4;

uint64_t Micros(TimePoint time) { return static_cast<uint64_t>(ToMicros(time.time_since_epoch())); }

// Adds the calls that entered without the lock.
void AddQuick(const QuickPlaces::Totals& quick, CapsuleControl::Statistics* all) {
  using Outcome = CapsuleControl::Outcome;
  const auto left = [&](Outcome outcome) { return quick.left[static_cast<size_t>(outcome)]; };
  const auto done = static_cast<double>(left(Outcome::kDone));
  if (done > 0) {
    const auto slow_done = static_cast<double>(all->done);
    const double mean_ns =
        (static_cast<double>(all->mean_time.count()) * slow_done + quick.done_time_ns * done) /
        (slow_done + done);
    all->mean_time = Duration(static_cast<int64_t>(mean_ns));
  }
  all->resident_count += quick.resident_count;
  all->resident_count_max += quick.resident_count_max;
  all->entered += quick.entered;
  all->done += left(Outcome::kDone);
  all->failed += left(Outcome::kFailed);
  all->timed_out += left(Outcome::kTimedOut);
  all->cancelled += left(Outcome::kCancelled);
}

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
      quick_(std::make_unique<QuickPlaces>()),
      helpers_(std::move(helpers)) {
  LeafLock lock(&mutex_);
  SetQuickPlaces();
}

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

// Nothing but the bound of residents and a fixed timeout concerns a call of such a capsule.
void Capsule::SetQuickPlaces() {
  const FeedbackOptions& feedback = config_.feedback;
  const bool may_enter =
      type_ == ResourceType::kNetwork && config_.policy.kind != PolicyKind::kPlugin &&
      config_.limits.throttle_count == 0 && feedback.high_watermark <= feedback.low_watermark &&
      feedback.failure_count_max == 0 &&
      ProcessingCountMax(config_) >= config_.limits.resident_count_max;
  quick_->Set(may_enter, config_.limits.resident_count_max, config_.limits.timeout);
}

bool Capsule::LeasePlaces() {
  if (!quick_->may_lease()) return false;
  LeafLock lock(&mutex_);
  // Calls that wait come first.
  return !closed_ && waiting_.empty() &&
         control_.statistics().resident_count + quick_->reserved_count() +
                 QuickPlaces::kLeaseSize <=
             config_.limits.resident_count_max &&
         quick_->Lease();
}

bool Capsule::TryEnterQuickly(CapsulePermit& visit, TimePoint deadline, TimePoint now) {
  size_t thread = 0;
  if (!quick_->TryEnter(now, &thread) && !(LeasePlaces() && quick_->TryEnter(now, &thread))) {
    return false;
  }
  visit.quick_thread_ = thread;
  visit.entered_at_ = now;
  const TimePoint own = AddSaturated(now, quick_->timeout());
  visit.limited_by_capsule_ = own < deadline;
  visit.deadline_ = std::min(own, deadline);
  visit.place_.store(Place::kProcessing, std::memory_order_relaxed);
  return true;
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
  // The policies of this folder let every call proceed.
  if (config_.policy.kind == PolicyKind::kPlugin) {
    const CapsuleOccupancy occupancy = Occupancy();
    WithPolicy([&](CapsulePolicy& policy) { decision = policy.Arrive(call, occupancy); });
  }
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
  control_.SetReserved(quick_->reserved_count());
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
  if (visit.quick_thread_ != CapsulePermit::kNotQuick) {
    visit.place_.store(Place::kOutside, std::memory_order_relaxed);
    return quick_->Leave(std::exchange(visit.quick_thread_, CapsulePermit::kNotQuick), outcome,
                         visit.entered_at_, now);
  }
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
  control_.SetReserved(quick_->reserved_count());
  return control_.Ask(now) == CapsuleControl::Verdict::kEnter;
}

CapsuleStatistics Capsule::Counted() const {
  CapsuleStatistics statistics = statistics_;
  statistics.control = control_.statistics();
  AddQuick(quick_->Sum(), &statistics.control);
  statistics.waiting_count = waiting_.size();
  statistics.processing_count =
      processing_count_ + statistics.control.resident_count - control_.statistics().resident_count;
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
    const QuickPlaces::Totals quick = quick_->Sum();
    const uint64_t slow_ages_us =
        control_.statistics().resident_count * Micros(now) - entered_sum_us_;
    const uint64_t quick_ages_ns =
        quick.resident_count * static_cast<uint64_t>(now.time_since_epoch().count()) -
        quick.entered_sum_ns;
    const Duration ages = std::chrono::microseconds(slow_ages_us) + Duration(quick_ages_ns);
    statistics.mean_age = std::chrono::duration_cast<std::chrono::microseconds>(
        std::max(Duration(0), ages) / resident_count);
  }
  RecentTimes times = times_;
  quick_->AddTimesTo(&times);
  statistics.tail_time = times.Quantile(0.95);
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
    SetQuickPlaces();
    ReplacePolicy(std::move(policy));
    StartWaiting(now, &wakers);
  }
  Wake(std::move(wakers));
}

void Capsule::Close() {
  LeafLock lock(&mutex_);
  closed_ = true;
  quick_->Close();
}

bool Capsule::empty() const {
  LeafLock lock(&mutex_);
  return control_.statistics().resident_count == 0 && processing_count_ == 0 &&
         quick_->Sum().resident_count == 0;
}

void Capsule::StopHelpers() { helpers_.reset(); }

}  // namespace neptune
