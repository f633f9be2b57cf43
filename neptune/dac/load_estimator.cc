#include "neptune/dac/load_estimator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace neptune {
namespace {

constexpr Duration kWorkMax = std::chrono::hours(1);
// A node's report is clamped to this multiple of the mean.
constexpr int64_t kMeanShareMax = 4;
// Maximum count of reports; further ones would hardly change the weight.
constexpr uint32_t kCostReportsMax = 1000;
// A node's usual report starts as the mean of all nodes with the weight of kUsualPriorReports
// reports, and then follows its last fifty reports.
constexpr double kUsualPriorReports = 4;
constexpr double kUsualWeightMin = 0.02;
// Half the width of a uniform distribution with deviation 1.
constexpr double kUniformHalfWidth = 1.7320508075688772;

Duration Bounded(Duration work) { return std::clamp(work, Duration(0), kWorkMax); }

double ToWork(Duration work) { return static_cast<double>(work.count()); }

Duration FromWork(double work) {
  return Duration(static_cast<int64_t>(std::clamp(work, 0.0, ToWork(kWorkMax))));
}

}  // namespace

LoadEstimator::LoadEstimator(const LoadEstimatorOptions& options) : options_(options) {}

void LoadEstimator::OnReport(const NodeId& node, const ServiceName& service, const ServerLoad& load,
                             TimePoint taken_at, LoadSource source) {
  Entry& entry = Use(node);
  BookCosts(newest_, service, load);
  if (source == LoadSource::kAnswer) {
    entry.unanswered = DecayedCounter::WithHalfLife(options_.unanswered_half_life);
  }
  if (!CountsPending(source)) return;
  if (entry.is_reported && taken_at < entry.reported_at) return;
  BookPending(entry, Bounded(load.pending));
  entry.reported_at = taken_at;
  ForgetAssignments(entry, taken_at);
}

void LoadEstimator::ForgetAssignments(Entry& entry, TimePoint until) {
  while (!entry.assignments.empty() && entry.assignments.front().at <= until) {
    entry.assigned -= entry.assignments.front().work;
    entry.assignments.pop_front();
  }
}

void LoadEstimator::OnAssigned(const NodeId& node, Duration work, TimePoint now) {
  Entry& entry = Use(node);
  const Duration more = std::min(Bounded(work), kWorkMax - entry.assigned);
  entry.assigned += more;
  entry.assignments.push_back({now, more});
  if (entry.assignments.size() > kBookedAssignmentCountMax) {
    const Duration oldest = entry.assignments.front().work;
    entry.assignments.pop_front();
    entry.assignments.front().work += oldest;
  }
  entry.unanswered.Add(ToWork(Bounded(work)), now);
}

void LoadEstimator::OnSettled(const NodeId& node, Duration work, TimePoint now) {
  Entry& entry = Use(node);
  Duration left = Bounded(work);
  entry.unanswered.Add(-std::min(ToWork(left), entry.unanswered.Value(now)), now);
  for (auto it = entry.assignments.rbegin(); it != entry.assignments.rend(); ++it) {
    const Duration part = std::min(left, it->work);
    it->work -= part;
    entry.assigned -= part;
    left -= part;
  }
}

void LoadEstimator::Forget(const NodeId& node) {
  const auto found = slots_.find(node);
  if (found != slots_.end()) Empty(found->second);
}

Duration LoadEstimator::mean_pending() const {
  return reported_count_ == 0 ? Duration(0) : pending_sum_ / reported_count_;
}

// Returns T, in units of work.
double LoadEstimator::RelaxationTime(const ServiceName& service) const {
  const auto booked = services_.find(service);
  const Duration mean = booked == services_.end()
                            ? options_.default_costs.local_cost
                            : booked->second.local_sum.MeanOr(options_.default_costs.local_cost);
  return std::max(1.0, options_.relaxation_services * ToWork(mean));
}

Duration LoadEstimator::Estimate(const NodeId& node, const ServiceName& service, TimePoint now,
                                 RandomSource& random) const {
  const Entry* const entry = Find(node);
  const double relaxation = RelaxationTime(service);
  const auto kept = [&](TimePoint since) {
    return std::exp(-ToWork(std::max(now - since, Duration(0))) / relaxation);
  };
  double pending = ToWork(mean_pending());
  double forgotten = 1;
  double floor = 0;
  if (entry != nullptr) {
    if (entry->is_reported) {
      const double share = kept(entry->reported_at);
      pending = entry->usual + share * (ToWork(entry->pending) - entry->usual);
      forgotten = 1 - share;
    }
    double assigned = 0;
    for (const Assignment& one : entry->assignments) assigned += ToWork(one.work) * kept(one.at);
    pending += options_.fellow_weight * assigned;
    floor = entry->unanswered.Value(now);
  }
  pending += Correction(forgotten, random);
  return FromWork(std::max(pending, floor));
}

double LoadEstimator::Staleness(const NodeId& node, const ServiceName& service,
                                TimePoint now) const {
  const Entry* const entry = Find(node);
  if (entry == nullptr || !entry->is_reported) return 1;
  const Duration age = std::max(now - entry->reported_at, Duration(0));
  return 1 - std::exp(-ToWork(age) / RelaxationTime(service));
}

double LoadEstimator::Correction(double forgotten, RandomSource& random) const {
  const double share = 1 - forgotten;
  const double deviation =
      options_.correction_share * ToWork(mean_pending()) * std::sqrt(1 - share * share);
  return deviation * kUniformHalfWidth * (2 * random.Uniform() - 1);
}

OperatorCosts LoadEstimator::Costs(const NodeId& node, const ServiceName& service) const {
  const auto booked = services_.find(service);
  if (booked == services_.end()) return options_.default_costs;
  const ServiceCosts& known = booked->second;
  NodeCosts own;
  const auto slot = slots_.find(node);
  if (slot != slots_.end() && slot->second < known.of_slot.size()) {
    own = known.of_slot[slot->second];
  }
  return {known.local_sum.Of(own.local, options_.default_costs.local_cost),
          known.reduce_sum.Of(own.reduce, options_.default_costs.reduce_cost)};
}

std::vector<size_t> LoadEstimator::ChoosePollTargets(std::span<const NodeId> nodes, size_t count,
                                                     TimePoint now, RandomSource& random) const {
  const auto reported_at = [&](size_t node) {
    const Entry* const entry = Find(nodes[node]);
    return entry == nullptr || !entry->is_reported ? TimePoint::min() : entry->reported_at;
  };
  std::vector<size_t> rest(nodes.size());
  std::iota(rest.begin(), rest.end(), 0);
  std::vector<size_t> targets;
  for (size_t draw = 0; draw < count && !rest.empty(); ++draw) {
    size_t chosen = random.Below(rest.size());
    const size_t other = random.Below(rest.size());
    if (reported_at(rest[other]) < reported_at(rest[chosen])) chosen = other;
    if (reported_at(rest[chosen]) < now - options_.poll_age_min) targets.push_back(rest[chosen]);
    std::swap(rest[chosen], rest.back());
    rest.pop_back();
  }
  return targets;
}

// Returns the node's entry, created if necessary, and marks it as most recently used.
LoadEstimator::Entry& LoadEstimator::Use(const NodeId& node) {
  const auto found = slots_.find(node);
  if (found != slots_.end()) {
    if (found->second != newest_) {
      Unlink(found->second);
      Link(found->second);
    }
    return entries_[newest_];
  }
  if (slots_.size() == kBookedNodeCountMax) Empty(oldest_);
  Entry entry{.node = node,
              .unanswered = DecayedCounter::WithHalfLife(options_.unanswered_half_life)};
  Slot slot = static_cast<Slot>(entries_.size());
  if (free_slots_.empty()) {
    entries_.push_back(std::move(entry));
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    entries_[slot] = std::move(entry);
  }
  slots_.emplace(node, slot);
  Link(slot);
  return entries_[slot];
}

const LoadEstimator::Entry* LoadEstimator::Find(const NodeId& node) const {
  const auto found = slots_.find(node);
  return found == slots_.end() ? nullptr : &entries_[found->second];
}

void LoadEstimator::Link(Slot slot) {
  entries_[slot].newer = kNoSlot;
  entries_[slot].older = newest_;
  if (newest_ != kNoSlot) entries_[newest_].newer = slot;
  if (oldest_ == kNoSlot) oldest_ = slot;
  newest_ = slot;
}

void LoadEstimator::Unlink(Slot slot) {
  const Entry& entry = entries_[slot];
  (entry.newer == kNoSlot ? newest_ : entries_[entry.newer].older) = entry.older;
  (entry.older == kNoSlot ? oldest_ : entries_[entry.older].newer) = entry.newer;
}

// Removes the node's parts from all sums. Sums are integers, so the order of services does not
// matter.
void LoadEstimator::Empty(Slot slot) {
  Entry& entry = entries_[slot];
  pending_sum_ -= entry.share_of_sum;
  if (entry.is_reported) --reported_count_;
  for (auto& [service, costs] : services_) {
    if (slot >= costs.of_slot.size()) continue;
    costs.local_sum.Forget(&costs.of_slot[slot].local);
    costs.reduce_sum.Forget(&costs.of_slot[slot].reduce);
  }
  slots_.erase(entry.node);
  Unlink(slot);
  free_slots_.push_back(slot);
}

void LoadEstimator::BookPending(Entry& entry, Duration pending) {
  const Duration mean = mean_pending();
  pending_sum_ -= entry.share_of_sum;
  if (!entry.is_reported) ++reported_count_;
  entry.is_reported = true;
  entry.pending = pending;
  if (entry.reports++ == 0) entry.usual = ToWork(mean == Duration(0) ? pending : mean);
  const double weight = std::max(kUsualWeightMin, 1.0 / (kUsualPriorReports + entry.reports));
  entry.usual += weight * (ToWork(pending) - entry.usual);
  entry.share_of_sum = mean == Duration(0) ? pending : std::min(pending, kMeanShareMax * mean);
  pending_sum_ += entry.share_of_sum;
}

void LoadEstimator::BookCosts(Slot slot, const ServiceName& service, const ServerLoad& load) {
  const Duration local_cost = Bounded(load.local_cost);
  const Duration reduce_cost = Bounded(load.reduce_cost);
  if (local_cost == Duration(0) && reduce_cost == Duration(0)) return;
  auto booked = services_.find(service);
  if (booked == services_.end()) {
    if (services_.size() == kBookedServiceCountMax) return;
    booked = services_.try_emplace(service).first;
  }
  ServiceCosts& costs = booked->second;
  if (slot >= costs.of_slot.size()) costs.of_slot.resize(slot + 1);
  NodeCosts& kept = costs.of_slot[slot];
  if (local_cost > Duration(0)) costs.local_sum.Replace(&kept.local, local_cost);
  if (reduce_cost > Duration(0)) costs.reduce_sum.Replace(&kept.reduce, reduce_cost);
}

void LoadEstimator::CostSum::Replace(NodeCost* kept, Duration cost) {
  if (kept->reports == 0) ++count;
  if (kept->cost != cost) kept->reports = std::min(kept->reports + 1, kCostReportsMax);
  sum += cost - kept->cost;
  kept->cost = cost;
}

void LoadEstimator::CostSum::Forget(NodeCost* kept) {
  if (kept->reports == 0) return;
  --count;
  sum -= kept->cost;
  *kept = {};
}

Duration LoadEstimator::CostSum::Of(const NodeCost& node, Duration otherwise) const {
  const Duration mean = MeanOr(otherwise);
  if (node.reports == 0) return mean;
  return mean + (node.cost - mean) * node.reports / (node.reports + kCostPriorReports);
}

}  // namespace neptune
