#include "tests/chaos/chaos_fault.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune::chaos {
namespace {

using std::chrono::milliseconds;

constexpr Duration kIntervals[] = {milliseconds(700), milliseconds(2000), milliseconds(5000)};
constexpr Duration kDurations[] = {milliseconds(500), milliseconds(2000), milliseconds(8000)};

// Takes the node away from all others for a while.
bool Occupies(const ChaosFault& chaos_fault) {
  return chaos_fault.kind != ChaosFault::Kind::kFault ||
         chaos_fault.span.fault.kind == Fault::Kind::kCrash ||
         chaos_fault.span.fault.kind == Fault::Kind::kPause;
}

bool Collides(const ChaosFault& a, const ChaosFault& b) {
  return Occupies(a) && Occupies(b) && a.node() == b.node() &&
         a.span.begin < b.span.end + kComeBackMax && b.span.begin < a.span.end + kComeBackMax;
}

// About half of all kinds.
std::vector<Fault::Kind> DrawKinds(RandomSource& random) {
  std::vector<Fault::Kind> kinds;
  for (const Fault::Kind kind : RandomFaultOptions().kinds) {
    if (random.Below(2) == 0) kinds.push_back(kind);
  }
  return kinds;
}

class Drawer {
 public:
  Drawer(RandomSource& random, const ChaosFaultOptions& options)
      : random_(random),
        options_(options),
        interval_(kIntervals[random.Below(std::size(kIntervals))]),
        duration_(kDurations[random.Below(std::size(kDurations))]) {}

  std::vector<ChaosFault> Draw() {
    DrawWorldFaults();
    DrawOfNodes(ChaosFault::Kind::kLeave, options_.nodes);
    DrawOfNodes(ChaosFault::Kind::kHang, options_.servers);
    std::stable_sort(
        chaos_faults_.begin(), chaos_faults_.end(),
        [](const ChaosFault& a, const ChaosFault& b) { return a.span.begin < b.span.begin; });
    return std::move(chaos_faults_);
  }

 private:
  void DrawWorldFaults() {
    RandomFaultOptions options;
    options.hosts = options_.nodes;
    options.begin = options_.begin;
    options.horizon = options_.end;
    options.interval_mean = interval_;
    options.duration_mean = duration_;
    options.hosts_down_max = 1 + static_cast<int>(random_.Below(3));
    options.kinds = DrawKinds(random_);
    if (options.kinds.empty()) return;
    for (FaultSpan& span : DrawFaults(random_, options)) {
      Add({ChaosFault::Kind::kFault, std::move(span)});
    }
  }

  void DrawOfNodes(ChaosFault::Kind kind, const std::vector<std::string>& nodes) {
    if (random_.Below(2) == 0) return;
    TimePoint begin = options_.begin;
    while ((begin += Exponential(interval_ * 2)) < options_.end) {
      ChaosFault chaos_fault{kind,
                             {begin, std::min(options_.end, begin + Exponential(duration_)), {}}};
      chaos_fault.span.fault.hosts = {nodes[random_.Below(nodes.size())]};
      Add(std::move(chaos_fault));
    }
  }

  void Add(ChaosFault chaos_fault) {
    const auto collides = [&](const ChaosFault& other) { return Collides(chaos_fault, other); };
    if (std::none_of(chaos_faults_.begin(), chaos_faults_.end(), collides)) {
      chaos_faults_.push_back(std::move(chaos_fault));
    }
  }

  Duration Exponential(Duration mean) { return FromSeconds(random_.Exponential(ToSeconds(mean))); }

  RandomSource& random_;
  const ChaosFaultOptions& options_;
  const Duration interval_;
  const Duration duration_;
  std::vector<ChaosFault> chaos_faults_;
};

}  // namespace

std::string ChaosFault::ToString() const {
  if (kind == Kind::kFault) return span.ToString();
  return StrCat(ToSeconds(span.begin.time_since_epoch()), "-",
                ToSeconds(span.end.time_since_epoch()), " s ",
                kind == Kind::kLeave ? "leave " : "hang ", node());
}

std::vector<ChaosFault> DrawChaosFaults(RandomSource& random, const ChaosFaultOptions& options) {
  return Drawer(random, options).Draw();
}

std::string ToString(const std::vector<ChaosFault>& chaos_faults) {
  std::string text;
  for (const ChaosFault& chaos_fault : chaos_faults)
    StrAppend(&text, "  ", chaos_fault.ToString(), "\n");
  return text;
}

}  // namespace neptune::chaos
