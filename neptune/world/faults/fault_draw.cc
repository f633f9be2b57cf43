#include "neptune/world/faults/fault_draw.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace neptune {
namespace {

using Kind = Fault::Kind;
using std::chrono::milliseconds;

// What a swarm chooses its density and durations from.
constexpr Duration kIntervals[] = {milliseconds(700), milliseconds(2000), milliseconds(5000)};
constexpr Duration kDurations[] = {milliseconds(500), milliseconds(2000), milliseconds(8000)};

Duration Exponential(RandomSource& random, Duration mean) {
  return FromSeconds(random.Exponential(ToSeconds(mean)));
}

struct KindWeight {
  Kind kind;
  int weight;
};

// Losses of processes, of power and of connections change who leads and what is stored; they are
// drawn most. Slow processors are left out: the code of a simulated node takes no time.
constexpr KindWeight kNemeses[] = {
    {Kind::kCrash, 5},       {Kind::kCrashInFlush, 3}, {Kind::kPause, 4},
    {Kind::kIsolate, 3},     {Kind::kCut, 4},          {Kind::kCutOneWay, 2},
    {Kind::kLossOneWay, 2},  {Kind::kLatency, 1},      {Kind::kDatagramLoss, 1},
    {Kind::kStreamLoss, 1},

    {Kind::kClockOffset, 2}, {Kind::kSlowFlush, 3},    {Kind::kFullDisk, 2},
    {Kind::kReadErrors, 2},  {Kind::kBitFlip, 3},      {Kind::kDescriptorLimit, 1},
    {Kind::kMemoryLimit, 1}, {Kind::kFullCapsule, 2},  {Kind::kHungLoop, 2},
    {Kind::kBlockedLog, 1},  {Kind::kFloodShort, 1},   {Kind::kFloodReads, 1},
    {Kind::kFloodLong, 1},   {Kind::kFloodHuge, 1},    {Kind::kNoRoom, 2},
    {Kind::kLogDecay, 2},
};

// Draws one fault after the other and records which hosts are down until when.
class Drawer {
 public:
  Drawer(RandomSource& random, const RandomFaultOptions& options)
      : random_(random), options_(options) {}

  // Adds a fault that begins at `begin`; no effect if the drawn fault is not possible then.
  void Draw(TimePoint begin, FaultSchedule& schedule) {
    Fault fault;
    fault.kind = options_.kinds[random_.Below(options_.kinds.size())];
    const std::string host = options_.hosts[random_.Below(options_.hosts.size())];
    const TimePoint end = std::min(options_.horizon, After(begin, options_.duration_mean));
    if (!Fill(fault, host)) return;
    TimePoint& until = BusyUntil(fault);
    if (until > begin) return;  // the same fault is already active
    if (TraitsOf(fault.kind).is_exclusive()) {
      if (!MayGoDown(host, begin)) return;
      down_until_[host] = end;
    }
    until = end;
    schedule.push_back({begin, end, fault});
  }

  TimePoint After(TimePoint from, Duration mean) {
    return AddSaturated(from, Exponential(random_, mean));
  }

 private:
  bool Fill(Fault& fault, const std::string& host) {
    const FaultScope scope = TraitsOf(fault.kind).scope;
    if (scope == FaultScope::kHost) fault.hosts = {host};
    if (scope == FaultScope::kSides && !Divide(fault)) return false;
    fault.amount = DrawAmount(TraitsOf(fault.kind).amount);
    return true;
  }

  double DrawAmount(FaultAmount amount) {
    switch (amount) {
      case FaultAmount::kNone:
        return 0;
      case FaultAmount::kZeroOrOne:
        return static_cast<double>(random_.Below(2));
      case FaultAmount::kFactor:
        return 1 + random_.Uniform() * (options_.slowdown_max - 1);
      case FaultAmount::kSeconds:
        return (random_.Uniform() * 2 - 1) * ToSeconds(options_.clock_offset_max);
      case FaultAmount::kProbability:
        return random_.Uniform() * options_.probability_max;
      case FaultAmount::kDelay:
        return ToSeconds(options_.flush_delay_min) +
               random_.Uniform() * ToSeconds(options_.flush_delay_max - options_.flush_delay_min);
    }
    LOG(FATAL) << "unknown kind of amount";
  }

  // Puts each host on one of two sides; returns false if one side stays empty.
  bool Divide(Fault& fault) {
    for (const std::string& host : options_.hosts) {
      (random_.Below(2) == 0 ? fault.hosts : fault.others).insert(host);
    }
    return !fault.hosts.empty() && !fault.others.empty();
  }

  // The links between two sides have one fault at a time, whatever its kind.
  TimePoint& BusyUntil(const Fault& fault) {
    const bool is_of_sides = TraitsOf(fault.kind).scope == FaultScope::kSides;
    return busy_until_[{is_of_sides ? Kind::kCut : fault.kind, fault.hosts, fault.others}];
  }

  bool MayGoDown(const std::string& host, TimePoint at) const {
    int down_count = 0;
    for (const auto& [name, until] : down_until_) {
      if (until < at) continue;
      if (name == host) return false;
      ++down_count;
    }
    return down_count < options_.hosts_down_max;
  }

  RandomSource& random_;
  const RandomFaultOptions& options_;
  std::map<std::string, TimePoint> down_until_;
  std::map<std::tuple<Kind, std::set<std::string>, std::set<std::string>>, TimePoint> busy_until_;
};

class Swarm {
 public:
  Swarm(RandomSource& random, const SwarmOptions& options)
      : random_(random),
        options_(options),
        interval_(kIntervals[random.Below(std::size(kIntervals))]),
        duration_(kDurations[random.Below(std::size(kDurations))]) {}

  FaultSchedule Draw() {
    DrawCommon();
    for (const HostFaultKind& host_kind : options_.host_kinds) DrawOfHosts(host_kind);
    std::stable_sort(schedule_.begin(), schedule_.end(),
                     [](const FaultSpan& a, const FaultSpan& b) { return a.begin < b.begin; });
    return std::move(schedule_);
  }

 private:
  void DrawCommon() {
    RandomFaultOptions options;
    options.hosts = options_.hosts;
    options.begin = options_.begin;
    options.horizon = options_.end;
    options.interval_mean = interval_;
    options.duration_mean = duration_;
    options.hosts_down_max = 1 + static_cast<int>(random_.Below(3));
    options.kinds.clear();
    for (const Kind kind : options_.kinds) {
      if (random_.Below(2) == 0) options.kinds.push_back(kind);
    }
    if (options.kinds.empty()) return;
    for (FaultSpan& span : DrawFaults(random_, options)) Add(std::move(span));
  }

  void DrawOfHosts(const HostFaultKind& host_kind) {
    if (random_.Below(2) == 0) return;
    TimePoint begin = options_.begin;
    while ((begin += Exponential(random_, interval_ * 2)) < options_.end) {
      const TimePoint end = std::min(options_.end, begin + Exponential(random_, duration_));
      const std::string& host = host_kind.hosts[random_.Below(host_kind.hosts.size())];
      Add({begin, end, {.kind = host_kind.kind, .hosts = {host}}});
    }
  }

  void Add(FaultSpan span) {
    const auto collides = [&](const FaultSpan& other) { return Collide(span, other); };
    if (std::none_of(schedule_.begin(), schedule_.end(), collides)) {
      schedule_.push_back(std::move(span));
    }
  }

  bool Collide(const FaultSpan& a, const FaultSpan& b) const {
    return a.traits().is_exclusive() && b.traits().is_exclusive() && a.host() == b.host() &&
           a.begin < b.end + options_.recovery_min && b.begin < a.end + options_.recovery_min;
  }

  RandomSource& random_;
  const SwarmOptions& options_;
  const Duration interval_;
  const Duration duration_;
  FaultSchedule schedule_;
};

}  // namespace

std::vector<Kind> NemesisKinds(const FaultTarget& target) {
  std::vector<Kind> kinds;
  for (const KindWeight& one : kNemeses) {
    if (target.Supports(one.kind)) {
      kinds.insert(kinds.end(), static_cast<size_t>(one.weight), one.kind);
    }
  }
  return kinds;
}

FaultSchedule DrawFaults(RandomSource& random, const RandomFaultOptions& options) {
  CHECK(!options.hosts.empty() && !options.kinds.empty());
  FaultSchedule schedule;
  Drawer drawer(random, options);
  TimePoint begin = drawer.After(options.begin, options.interval_mean);
  while (begin < options.horizon) {
    drawer.Draw(begin, schedule);
    begin = drawer.After(begin, options.interval_mean);
  }
  return schedule;
}

FaultSchedule DrawSwarm(RandomSource& random, const SwarmOptions& options) {
  return Swarm(random, options).Draw();
}

}  // namespace neptune
