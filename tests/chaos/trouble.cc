#include "tests/chaos/trouble.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune::chaos {
namespace {

using std::chrono::milliseconds;

constexpr Duration kIntervals[] = {milliseconds(700), milliseconds(2000), milliseconds(5000)};
constexpr Duration kDurations[] = {milliseconds(500), milliseconds(2000), milliseconds(8000)};

// Takes the node away from all others for a while.
bool Occupies(const Trouble& trouble) {
  return trouble.kind != Trouble::Kind::kFault || trouble.span.fault.kind == Fault::Kind::kCrash ||
         trouble.span.fault.kind == Fault::Kind::kPause;
}

bool Collides(const Trouble& a, const Trouble& b) {
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
  Drawer(RandomSource& random, const TroubleOptions& options)
      : random_(random),
        options_(options),
        interval_(kIntervals[random.Below(std::size(kIntervals))]),
        duration_(kDurations[random.Below(std::size(kDurations))]) {}

  std::vector<Trouble> Draw() {
    DrawWorldFaults();
    DrawOfNodes(Trouble::Kind::kLeave, options_.nodes);
    DrawOfNodes(Trouble::Kind::kHang, options_.servers);
    std::stable_sort(troubles_.begin(), troubles_.end(), [](const Trouble& a, const Trouble& b) {
      return a.span.begin < b.span.begin;
    });
    return std::move(troubles_);
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
      Add({Trouble::Kind::kFault, std::move(span)});
    }
  }

  void DrawOfNodes(Trouble::Kind kind, const std::vector<std::string>& nodes) {
    if (random_.Below(2) == 0) return;
    TimePoint begin = options_.begin;
    while ((begin += Exponential(interval_ * 2)) < options_.end) {
      Trouble trouble{kind, {begin, std::min(options_.end, begin + Exponential(duration_)), {}}};
      trouble.span.fault.hosts = {nodes[random_.Below(nodes.size())]};
      Add(std::move(trouble));
    }
  }

  void Add(Trouble trouble) {
    const auto collides = [&](const Trouble& other) { return Collides(trouble, other); };
    if (std::none_of(troubles_.begin(), troubles_.end(), collides)) {
      troubles_.push_back(std::move(trouble));
    }
  }

  Duration Exponential(Duration mean) { return FromSeconds(random_.Exponential(ToSeconds(mean))); }

  RandomSource& random_;
  const TroubleOptions& options_;
  const Duration interval_;
  const Duration duration_;
  std::vector<Trouble> troubles_;
};

}  // namespace

std::string Trouble::ToString() const {
  if (kind == Kind::kFault) return span.ToString();
  return StrCat(ToSeconds(span.begin.time_since_epoch()), "-",
                ToSeconds(span.end.time_since_epoch()), " s ",
                kind == Kind::kLeave ? "leave " : "hang ", node());
}

std::vector<Trouble> DrawTroubles(RandomSource& random, const TroubleOptions& options) {
  return Drawer(random, options).Draw();
}

std::string ToString(const std::vector<Trouble>& troubles) {
  std::string text;
  for (const Trouble& trouble : troubles) StrAppend(&text, "  ", trouble.ToString(), "\n");
  return text;
}

}  // namespace neptune::chaos
