#include "neptune/balancing/probe_pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace neptune {
namespace {

// Weights of a new value in decayed means: of one server's run times, of the run times and failures
// of all servers, and of one server's failures.
constexpr double kServerWeight = 0.05;
constexpr double kServiceWeight = 0.01;
constexpr double kFailureWeight = 0.1;
// A server's failures count only beyond this multiple of the average over all servers.
constexpr double kFailureRatio = 2;
// Bounds of a server's relative service time.
constexpr double kSpeedMin = 0.25;
constexpr double kSpeedMax = 4;
// Upper bound of the age cost in service times; a report of a fast service is always old.
constexpr double kAgeMax = 10;
// Age of the newest report, in service times, at which a refresh is wanted; it is checked at twice
// that interval.
constexpr double kRefreshAge = 0.1;
// Refreshing ends this number of service times after the last call.
constexpr double kActiveServiceTimes = 10;
// Number of servers compared if there is no report.
constexpr int kBlindChoices = 2;
// A server that a call asks anyway may be believed to have this number of requests more.
constexpr double kSharedCallGain = 1;

double Mix(double mean, double value, double weight) {
  return mean == 0 ? value : mean + weight * (value - mean);
}

bool Contains(std::span<const size_t> sorted, size_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

void ProbePool::SetServers(const std::vector<NodeId>& servers) {
  const auto same = [](const Server& known, const NodeId& node) { return known.node == node; };
  if (std::equal(servers_.begin(), servers_.end(), servers.begin(), servers.end(), same)) return;
  std::vector<Server> known = std::exchange(servers_, {});
  reports_.clear();
  round_.clear();
  index_of_.clear();
  auto old = known.begin();
  const auto leave = [this, &old] {
    if (departed_.size() == kDepartedCountMax) departed_.erase(departed_.begin());
    departed_.push_back(std::move(*old++));
  };
  for (const NodeId& node : servers) {
    while (old != known.end() && old->node < node) leave();
    servers_.push_back(old != known.end() && old->node == node ? std::move(*old++) : Recall(node));
    const size_t index = servers_.size() - 1;
    index_of_.emplace(servers_[index].id, index);
    if (servers_[index].in_pool) reports_.push_back(index);
  }
  while (old != known.end()) leave();
}

// Restores the speed and failures of a returning server; its outstanding calls have ended or are
// forgotten.
ProbePool::Server ProbePool::Recall(const NodeId& node) {
  Server server;
  const auto found = std::find_if(departed_.begin(), departed_.end(),
                                  [&](const Server& one) { return one.node == node; });
  if (found != departed_.end()) {
    server.run_time_ns = found->run_time_ns;
    server.failures = found->failures;
    server.failed_at = found->failed_at;
    departed_.erase(found);
  }
  server.node = node;
  server.id = next_id_++;
  return server;
}

std::optional<size_t> ProbePool::Find(ServerId id) const {
  const auto found = index_of_.find(id);
  return found == index_of_.end() ? std::nullopt : std::optional(found->second);
}

Duration ProbePool::SilenceLimit() const {
  return std::max(
      options_.silence_min,
      Duration(static_cast<int64_t>(options_.silence_service_times * service_time_ns_)));
}

bool ProbePool::Silent(const Server& server, TimePoint now) const {
  if (server.silent) return true;
  return server.outstanding > 0 && now - server.silent_since > SilenceLimit();
}

double ProbePool::FailureShare(const Server& server, TimePoint now) const {
  if (server.failures == 0) return 0;
  return server.failures *
         std::exp2(-ToSeconds(now - server.failed_at) / ToSeconds(options_.failure_half_life));
}

double ProbePool::Slowness(const Server& server) const {
  if (service_time_ns_ == 0 || server.run_time_ns == 0) return 1;
  return std::sqrt(std::clamp(server.run_time_ns / service_time_ns_, kSpeedMin, kSpeedMax));
}

double ProbePool::Cost(const Server& server, TimePoint now) const {
  double age = kAgeMax;
  if (service_time_ns_ > 0) {
    age = std::min(kAgeMax,
                   static_cast<double>((now - server.reported_at).count()) / service_time_ns_);
  }
  const double load = server.load_index + server.sent_since + options_.age_cost * age + 1;
  const double failures = std::max(0.0, FailureShare(server, now) - kFailureRatio * failure_share_);
  return load * Slowness(server) + options_.failure_cost * failures * failures;
}

size_t ProbePool::Choose(TimePoint now, std::span<const size_t> excluded, RandomSource& random,
                         const Wishes& wishes) {
  size_t best = ChooseAmongReports(now, excluded, random);
  best = PreferredTo(best, wishes.preferred, excluded, now);
  if (wishes.local && PrefersLocal(*wishes.local, best, now)) best = wishes.local->server;
  last_call_ = now;
  Server& server = servers_[best];
  if (server.in_pool) Remove(best);
  ++server.sent_since;
  if (server.outstanding++ == 0) server.silent_since = now;
  return best;
}

bool ProbePool::IsDoubtful(const Server& server, TimePoint now) const {
  return Silent(server, now) || FailureShare(server, now) > kFailureRatio * failure_share_;
}

double ProbePool::BelievedLoad(const Server& server) const {
  return (server.load_index + server.sent_since + 1.0) * Slowness(server);
}

bool ProbePool::PrefersLocal(const Local& local, size_t best, TimePoint now) const {
  const Server& own = servers_[local.server];
  if (IsDoubtful(own, now)) return false;
  return (local.load_index + 1.0) * Slowness(own) <= BelievedLoad(servers_[best]);
}

size_t ProbePool::PreferredTo(size_t best, std::span<const size_t> preferred,
                              std::span<const size_t> excluded, TimePoint now) const {
  const bool is_short = has_worked_ && service_time() <= options_.shared_service_time_max;
  if (preferred.empty() || !is_short) return best;
  std::optional<size_t> lightest;
  for (const size_t server : preferred) {
    if (Contains(excluded, server) || IsDoubtful(servers_[server], now)) continue;
    if (lightest && BelievedLoad(servers_[*lightest]) <= BelievedLoad(servers_[server])) continue;
    lightest = server;
  }
  if (!lightest) return best;
  const double accepted = BelievedLoad(servers_[best]) + kSharedCallGain * Slowness(servers_[best]);
  return BelievedLoad(servers_[*lightest]) <= accepted ? *lightest : best;
}

size_t ProbePool::ChooseAmongReports(TimePoint now, std::span<const size_t> excluded,
                                     RandomSource& random) {
  size_t best = servers_.size();
  double best_cost = 0;
  for (size_t i = 0; i < reports_.size();) {
    const size_t candidate = reports_[i];
    if (now - servers_[candidate].reported_at > options_.age_max) {
      Remove(candidate);
      continue;
    }
    ++i;
    if (Silent(servers_[candidate], now) || Contains(excluded, candidate)) continue;
    const double cost = Cost(servers_[candidate], now);
    if (best == servers_.size() || cost < best_cost) {
      best = candidate;
      best_cost = cost;
    }
  }
  // A report from a failing server is no reason to call it while others are merely unknown.
  if (best == servers_.size() || best_cost >= options_.failure_cost / 4) {
    best = ChooseWithoutReport(now, excluded, random);
  }
  return best;
}

// Returns the cheaper of a few random servers; a silent one only if there is no other.
size_t ProbePool::ChooseWithoutReport(TimePoint now, std::span<const size_t> excluded,
                                      RandomSource& random) {
  size_t best = servers_.size();
  double best_cost = 0;
  int compared = 0;
  const size_t start = random.Below(servers_.size());
  const size_t draws = servers_.size();
  for (size_t i = 0; i < draws && compared < kBlindChoices; ++i) {
    // Two independent draws, then the successors of the first one, until enough are eligible.
    const size_t candidate = i < 2 * kBlindChoices && i > 0 ? random.Below(servers_.size())
                                                            : (start + i) % servers_.size();
    if (Silent(servers_[candidate], now) || Contains(excluded, candidate)) continue;
    ++compared;
    const double cost = Cost(servers_[candidate], now);
    if (best == servers_.size() || cost < best_cost) {
      best = candidate;
      best_cost = cost;
    }
  }
  for (size_t i = 0; best == servers_.size() && i < servers_.size(); ++i) {
    const size_t candidate = (start + i) % servers_.size();
    if (!Contains(excluded, candidate)) best = candidate;
  }
  return best == servers_.size() ? start : best;
}

std::vector<size_t> ProbePool::ChooseProbes(RandomSource& random, double call_share) {
  std::vector<size_t> chosen;
  const auto per_probe = static_cast<double>(options_.service_time_per_probe.count());
  probe_credit_ += call_share * (service_time_ns_ == 0 ? options_.probes_per_call_max
                                                       : std::min(options_.probes_per_call_max,
                                                                  service_time_ns_ / per_probe));
  while (probe_credit_ >= 1 && chosen.size() < servers_.size()) {
    probe_credit_ -= 1;
    if (round_.empty()) {
      round_.resize(servers_.size());
      for (size_t i = 0; i < round_.size(); ++i) round_[i] = i;
    }
    std::swap(round_[random.Below(round_.size())], round_.back());
    chosen.push_back(round_.back());
    round_.pop_back();
  }
  probe_credit_ = std::min(probe_credit_, 1.0);
  return chosen;
}

std::optional<Duration> ProbePool::RefreshInterval(TimePoint now) const {
  if (service_time() < options_.refresh_interval_min) return std::nullopt;
  const Duration active(static_cast<int64_t>(service_time_ns_ * kActiveServiceTimes));
  if (now - last_call_ > active) return std::nullopt;
  const Duration interval(static_cast<int64_t>(service_time_ns_ * kRefreshAge * 2));
  return std::max(options_.refresh_interval_min, interval);
}

bool ProbePool::WantsRefresh(TimePoint now) const {
  const Duration age_max(static_cast<int64_t>(service_time_ns_ * kRefreshAge));
  return std::none_of(reports_.begin(), reports_.end(),
                      [&](size_t server) { return now - servers_[server].reported_at < age_max; });
}

void ProbePool::AddReport(size_t index, uint32_t load_index, TimePoint now) {
  Server& server = servers_[index];
  server.load_index = load_index;
  server.sent_since = 0;
  server.reported_at = now;
  if (server.in_pool) return;
  if (reports_.size() == kReportCountMax) {
    Remove(*std::min_element(reports_.begin(), reports_.end(), [this](size_t a, size_t b) {
      return servers_[a].reported_at < servers_[b].reported_at;
    }));
  }
  server.in_pool = true;
  reports_.push_back(index);
}

void ProbePool::Remove(size_t index) {
  servers_[index].in_pool = false;
  const auto found = std::find(reports_.begin(), reports_.end(), index);
  *found = reports_.back();
  reports_.pop_back();
}

void ProbePool::OnReport(size_t index, const LoadReport& report, TimePoint now) {
  Server& server = servers_[index];
  server.silent = report.silence > SilenceLimit();
  AddReport(index, report.load_index, now);
}

void ProbePool::CountFailure(Server& server, bool failed, TimePoint now) {
  server.failures =
      FailureShare(server, now) * (1 - kFailureWeight) + (failed ? kFailureWeight : 0);
  server.failed_at = now;
  failure_share_ += kServiceWeight * ((failed ? 1 : 0) - failure_share_);
}

void ProbePool::OnAnswer(size_t index, uint32_t load_index, Duration run_time, bool worked,
                         TimePoint now) {
  Server& server = servers_[index];
  if (server.outstanding > 0) --server.outstanding;
  server.silent_since = now;
  CountFailure(server, !worked, now);
  if (worked) {
    const auto ns = static_cast<double>(run_time.count());
    server.run_time_ns = Mix(server.run_time_ns, ns, kServerWeight);
    service_time_ns_ = Mix(service_time_ns_, ns, kServiceWeight);
    server.silent = false;
    has_worked_ = true;
  }
  AddReport(index, load_index, now);
}

void ProbePool::OnLost(size_t index, bool failed, TimePoint now) {
  Server& server = servers_[index];
  if (server.outstanding > 0) --server.outstanding;
  CountFailure(server, failed, now);
}

}  // namespace neptune
