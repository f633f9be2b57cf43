#include "neptune/world/sim/fault_plan.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using Kind = Fault::Kind;
using Sides = std::pair<std::set<std::string>, std::set<std::string>>;
using Cuts = std::map<Sides, LinkModel::CutId>;

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kCrash:
      return "crash";
    case Kind::kRestart:
      return "restart";
    case Kind::kPause:
      return "pause";
    case Kind::kResume:
      return "resume";
    case Kind::kCut:
      return "cut";
    case Kind::kCutOneWay:
      return "cut one way";
    case Kind::kLossOneWay:
      return "loss one way";
    case Kind::kHeal:
      return "heal";
    case Kind::kSlowProcessors:
      return "slow processors";
    case Kind::kClockOffset:
      return "clock offset";
    case Kind::kLatency:
      return "latency";
    case Kind::kDatagramLoss:
      return "datagram loss";
    case Kind::kDatagramDuplication:
      return "datagram duplication";
    case Kind::kDatagramReordering:
      return "datagram reordering";
    case Kind::kStreamLoss:
      return "stream loss";
  }
  return "?";
}

void HappenToHost(Simulator& simulator, const Fault& fault, const std::string& host) {
  switch (fault.kind) {
    case Kind::kCrash:
      return simulator.Crash(host, fault.amount > 0 ? CrashKind::kProcess : CrashKind::kMachine);
    case Kind::kRestart:
      return simulator.Restart(host);
    case Kind::kPause:
      return simulator.Pause(host);
    case Kind::kResume:
      return simulator.Resume(host);
    case Kind::kSlowProcessors:
      return simulator.SlowProcessors(host, fault.amount);
    case Kind::kClockOffset:
      return simulator.SetClockOffset(host, FromSeconds(fault.amount));
    default:
      LOG(FATAL) << fault.ToString() << " is not a fault of one host";
  }
}

void HappenToCuts(Simulator& simulator, const Fault& fault, Cuts& cuts) {
  const Sides sides = {fault.hosts, fault.others};
  if (fault.kind == Kind::kHeal) {
    simulator.Heal(cuts[sides]);
  } else if (fault.kind == Kind::kLossOneWay) {
    cuts[sides] = simulator.LoseOneWay(fault.hosts, fault.others, fault.amount);
  } else {
    cuts[sides] = simulator.Partition(fault.hosts, fault.others, fault.kind == Kind::kCut);
  }
}

void HappenToLinks(Simulator& simulator, const Fault& fault) {
  LinkConditions conditions = simulator.links();
  switch (fault.kind) {
    case Kind::kLatency:
      conditions.latency_factor = fault.amount;
      break;
    case Kind::kDatagramLoss:
      conditions.datagram_loss = fault.amount;
      break;
    case Kind::kDatagramDuplication:
      conditions.datagram_duplicate = fault.amount;
      break;
    case Kind::kDatagramReordering:
      conditions.datagram_reorder = fault.amount;
      break;
    case Kind::kStreamLoss:
      conditions.stream_loss = fault.amount;
      break;
    default:
      LOG(FATAL) << fault.ToString() << " is not a fault of links";
  }
  simulator.SetLinks(conditions);
}

void Happen(Simulator& simulator, const Fault& fault, Cuts& cuts) {
  VLOG(1) << "fault at " << ToSeconds(simulator.now().time_since_epoch())
          << " s: " << fault.ToString();
  switch (fault.kind) {
    case Kind::kCut:
    case Kind::kCutOneWay:
    case Kind::kLossOneWay:
    case Kind::kHeal:
      return HappenToCuts(simulator, fault, cuts);
    case Kind::kLatency:
    case Kind::kDatagramLoss:
    case Kind::kDatagramDuplication:
    case Kind::kDatagramReordering:
    case Kind::kStreamLoss:
      return HappenToLinks(simulator, fault);
    default:
      for (const std::string& host : fault.hosts) HappenToHost(simulator, fault, host);
  }
}

std::string Join(const std::set<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) StrAppend(&joined, joined.empty() ? "" : ",", name);
  return joined;
}

Kind EndOf(Kind kind) {
  switch (kind) {
    case Kind::kCrash:
      return Kind::kRestart;
    case Kind::kPause:
      return Kind::kResume;
    case Kind::kCut:
    case Kind::kCutOneWay:
    case Kind::kLossOneWay:
      return Kind::kHeal;
    default:
      return kind;
  }
}

Fault EndingOf(Fault fault) {
  fault.amount = fault.kind == Kind::kSlowProcessors || fault.kind == Kind::kLatency ? 1 : 0;
  fault.kind = EndOf(fault.kind);
  return fault;
}

// Draws one fault after the other and records which hosts are down until when.
class Drawer {
 public:
  Drawer(RandomSource& random, const RandomFaultOptions& options)
      : random_(random), options_(options) {}

  // Adds a fault that begins at `begin`; no effect if the drawn fault is not possible then.
  void Draw(TimePoint begin, std::vector<FaultSpan>& spans) {
    Fault fault;
    fault.kind = options_.kinds[random_.Below(options_.kinds.size())];
    const std::string host = options_.hosts[random_.Below(options_.hosts.size())];
    const TimePoint end = std::min(options_.horizon, After(begin, options_.duration_mean));
    if (!Fill(fault, host)) return;
    TimePoint& until = busy_until_[std::tuple(EndOf(fault.kind), fault.hosts, fault.others)];
    if (until > begin) return;  // the same fault is already active
    if (fault.kind == Kind::kCrash || fault.kind == Kind::kPause) {
      if (!MayGoDown(host, begin)) return;
      down_until_[host] = end;
    }
    until = end;
    spans.push_back({begin, end, fault});
  }

  TimePoint After(TimePoint from, Duration mean) {
    return AddSaturated(from, FromSeconds(random_.Exponential(ToSeconds(mean))));
  }

 private:
  bool Fill(Fault& fault, const std::string& host) {
    switch (fault.kind) {
      case Kind::kCrash:
      case Kind::kPause:
      case Kind::kSlowProcessors:
      case Kind::kClockOffset:
        fault.hosts = {host};
        break;
      case Kind::kCut:
      case Kind::kCutOneWay:
      case Kind::kLossOneWay:
        if (!Divide(fault)) return false;
        break;
      default:
        break;
    }
    fault.amount = Amount(fault.kind);
    return true;
  }

  double Amount(Kind kind) {
    switch (kind) {
      case Kind::kCrash:
        return static_cast<double>(random_.Below(2));
      case Kind::kSlowProcessors:
      case Kind::kLatency:
        return 1 + random_.Uniform() * (options_.slowdown_max - 1);
      case Kind::kClockOffset:
        return (random_.Uniform() * 2 - 1) * ToSeconds(options_.clock_offset_max);
      case Kind::kCut:
      case Kind::kCutOneWay:
      case Kind::kPause:
        return 0;
      default:
        return random_.Uniform() * options_.probability_max;
    }
  }

  // Puts each host on one of two sides; returns false if one side stays empty.
  bool Divide(Fault& fault) {
    for (const std::string& host : options_.hosts) {
      (random_.Below(2) == 0 ? fault.hosts : fault.others).insert(host);
    }
    return !fault.hosts.empty() && !fault.others.empty();
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

}  // namespace

std::string Fault::ToString() const {
  std::string text = NameOf(kind);
  if (!hosts.empty()) StrAppend(&text, " ", Join(hosts));
  if (!others.empty()) StrAppend(&text, " | ", Join(others));
  if (amount != 0) StrAppend(&text, " x", amount);
  return text;
}

void ScheduleFaults(Simulator& simulator, const FaultPlan& plan) {
  const auto cuts = std::make_shared<Cuts>();
  for (const PlannedFault& planned : plan) {
    simulator.At(planned.at,
                 [&simulator, fault = planned.fault, cuts] { Happen(simulator, fault, *cuts); });
  }
}

std::string FaultSpan::ToString() const {
  return StrCat(ToSeconds(begin.time_since_epoch()), "-", ToSeconds(end.time_since_epoch()), " s ",
                fault.ToString());
}

FaultPlan PlanOf(const std::vector<FaultSpan>& spans) {
  FaultPlan plan;
  for (const FaultSpan& span : spans) {
    plan.push_back({span.begin, span.fault});
    plan.push_back({span.end, EndingOf(span.fault)});
  }
  std::stable_sort(plan.begin(), plan.end(),
                   [](const PlannedFault& a, const PlannedFault& b) { return a.at < b.at; });
  return plan;
}

std::vector<FaultSpan> DrawFaults(RandomSource& random, const RandomFaultOptions& options) {
  CHECK(!options.hosts.empty() && !options.kinds.empty());
  std::vector<FaultSpan> spans;
  Drawer drawer(random, options);
  TimePoint begin = drawer.After(options.begin, options.interval_mean);
  while (begin < options.horizon) {
    drawer.Draw(begin, spans);
    begin = drawer.After(begin, options.interval_mean);
  }
  return spans;
}

FaultPlan DrawFaultPlan(RandomSource& random, const RandomFaultOptions& options) {
  return PlanOf(DrawFaults(random, options));
}

}  // namespace neptune
