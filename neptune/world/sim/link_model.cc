#include "neptune/world/sim/link_model.h"

#include <algorithm>
#include <cmath>

namespace neptune {
namespace {

const LinkConditions kPerfect;
constexpr double kReorderLatencies = 10;

Duration Scale(Duration duration, double factor) {
  return Duration(std::llround(static_cast<double>(duration.count()) * factor));
}

}  // namespace

LinkModel::CutId LinkModel::Cut(std::set<int> from, std::set<int> to, bool both_ways, double loss) {
  const CutId id = next_cut_++;
  cuts_[id] = {std::move(from), std::move(to), both_ways, loss};
  return id;
}

bool LinkModel::IsCut(int from, int to) const {
  for (const auto& [id, cut] : cuts_) {
    if (cut.loss < 1 || !cut.Divides(from, to)) continue;
    ++counts_.blocked;
    return true;
  }
  return false;
}

double LinkModel::LeakLoss(int from, int to) const {
  double passed = 1;
  for (const auto& [id, cut] : cuts_) {
    if (cut.loss < 1 && cut.Divides(from, to)) passed *= 1 - cut.loss;
  }
  return 1 - passed;
}

const LinkConditions& LinkModel::ConditionsOf(int from, int to) const {
  if (!own_conditions_.empty()) {
    const auto own = own_conditions_.find({from, to});
    if (own != own_conditions_.end()) return own->second;
  }
  return from == to ? kPerfect : conditions_;
}

Duration LinkModel::Delay(Duration latency, Duration jitter_mean, double factor) {
  Duration delay = latency;
  if (jitter_mean > Duration(0)) {
    delay += Duration(std::llround(random_.Exponential(static_cast<double>(jitter_mean.count()))));
  }
  if (factor == 1.0) return delay;
  ++counts_.slowed;
  return Scale(delay, factor);
}

Duration LinkModel::Queueing(int from, int to, TimePoint now, size_t size) {
  const int64_t rate = CostOf(from, to).bytes_per_second;
  if (rate <= 0) return Duration(0);
  TimePoint& busy_until = busy_until_[{from, to}];
  busy_until = std::max(busy_until, now) +
               FromSeconds(static_cast<double>(size) / static_cast<double>(rate));
  return busy_until - now;
}

Duration LinkModel::StreamDelay(int from, int to, TimePoint now, size_t size) {
  const LinkCost& cost = CostOf(from, to);
  const LinkConditions& conditions = ConditionsOf(from, to);
  Duration delay = Delay(cost.stream_latency, cost.jitter_mean, conditions.latency_factor) +
                   Queueing(from, to, now, size);
  if (Happens(conditions.stream_loss, counts_.lost)) delay += kRetransmitTimeout;
  if (Happens(LeakLoss(from, to), counts_.lost)) delay += kRetransmitTimeout;
  return delay;
}

std::vector<Duration> LinkModel::DatagramDelays(int from, int to, TimePoint now, size_t size) {
  const LinkCost& cost = CostOf(from, to);
  const LinkConditions& conditions = ConditionsOf(from, to);
  const Duration queueing = Queueing(from, to, now, size);
  const bool is_lost = IsCut(from, to) || Happens(conditions.datagram_loss, counts_.lost) ||
                       Happens(LeakLoss(from, to), counts_.lost);
  if (is_lost) return {};
  std::vector<Duration> delays;
  const int copies = Happens(conditions.datagram_duplicate, counts_.duplicated) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    Duration delay =
        queueing + Delay(cost.datagram_latency, cost.jitter_mean, conditions.latency_factor);
    if (i > 0 || Happens(conditions.datagram_reorder, counts_.reordered)) {
      delay += Scale(cost.datagram_latency, random_.Uniform() * kReorderLatencies);
    }
    if (datagram_extra_ != nullptr) delay += datagram_extra_(to);
    delays.push_back(delay);
  }
  return delays;
}

}  // namespace neptune
