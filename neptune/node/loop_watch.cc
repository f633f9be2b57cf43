#include "neptune/node/loop_watch.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/base/time_grid.h"

namespace neptune {
namespace {

// A ticker is late if it runs this long after its time.
constexpr Duration kLate = 2 * kLoopBeat;
constexpr int64_t kNone = INT64_MIN;

int64_t Number(TimePoint time) { return time.time_since_epoch().count(); }

std::string Seconds(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", ToSeconds(duration));
  return text.data();
}

}  // namespace

// Times are counts of nanoseconds, because several threads read and write them.
struct LoopWatch::Watched {
  const std::string name;
  Loop& loop;
  const Duty duty;
  std::atomic<int64_t> asked{kNone};     // when the unanswered task was posted; kNone: answered
  std::atomic<int64_t> answered{kNone};  // the last answer
  std::atomic<int64_t> longest{0};       // delay in this period
  std::atomic<int64_t> longest_before{0};
  std::atomic<bool> is_watched{false};
  std::atomic<bool> is_reported{false};

  Watched(std::string name, Loop& loop, Duty duty)
      : name(std::move(name)), loop(loop), duty(duty) {}

  Duration Silence(TimePoint now) const {
    const int64_t since = asked.load(std::memory_order_relaxed);
    return since == kNone ? Duration(0) : std::max(Duration(0), Duration(Number(now) - since));
  }
  // True if the other ticker has asked.
  bool HasJustAnswered(TimePoint now) const {
    const int64_t last = answered.load(std::memory_order_relaxed);
    return asked.load(std::memory_order_relaxed) == kNone && last != kNone &&
           Number(now) - last < (kLoopBeat / 2).count();
  }
  bool Stalled(TimePoint now) const {
    return duty != Duty::kMayBeBusy && is_watched && Silence(now) > kLoopStallTime;
  }
  // Longest delay in the current and the previous period, and that of the unanswered task.
  Duration Longest(TimePoint now) const {
    return std::max(Silence(now), Duration(std::max(longest.load(), longest_before.load())));
  }
  void Answer(TimePoint now) {
    const int64_t delay = Silence(now).count();
    if (delay > longest) longest = delay;
    answered = Number(now);
    asked = kNone;
    if (!is_reported.exchange(false)) return;
    LOG(WARNING) << "loop " << name << " answers again, after " << Seconds(Duration(delay));
  }
  void ReportIfStalled(TimePoint now) {
    if (!Stalled(now) || is_reported.exchange(true)) return;
    LOG(ERROR) << "loop " << name << " has not answered for " << Seconds(Silence(now));
  }
};

struct LoopWatch::Ticker {
  Loop& loop;
  const std::vector<std::shared_ptr<Watched>> loops;
  const bool counts_periods;  // one ticker does
  TimePoint due{};
  TimePoint period_end{};
  std::atomic<bool> stopping{false};

  Ticker(Loop& loop, std::vector<std::shared_ptr<Watched>> loops, bool counts_periods)
      : loop(loop), loops(std::move(loops)), counts_periods(counts_periods) {}

  void EndPeriod(TimePoint now) {
    if (!counts_periods || now < period_end) return;
    period_end = now + kLongestDelayPeriod;
    for (const auto& watched : loops) watched->longest_before = watched->longest.exchange(0);
  }
};

LoopWatch::~LoopWatch() { Stop(); }

void LoopWatch::Add(std::string name, Loop& loop, Duty duty) {
  loops_.push_back(std::make_shared<Watched>(std::move(name), loop, duty));
}

Status LoopWatch::AddMetrics(MetricsRegistry& metrics) {
  for (const auto& watched : loops_) {
    const auto add = [&](const char* name, const char* help,
                         double (*value)(const Watched&, TimePoint)) -> Status {
      NEPTUNE_ASSIGN_OR_RETURN(
          CallbackGauge gauge,
          metrics.AddCallbackGauge(name, help, {{"loop", watched->name}}, [watched, value] {
            const Loop* const here = Loop::Current();
            return here == nullptr ? 0.0 : value(*watched, here->Now());
          }));
      gauges_.push_back(std::move(gauge));
      return OkStatus();
    };
    NEPTUNE_RETURN_IF_ERROR(
        add("neptune_loop_stalled", "1 while an event loop answers nothing.",
            [](const Watched& one, TimePoint now) -> double { return one.Stalled(now) ? 1 : 0; }));
    NEPTUNE_RETURN_IF_ERROR(add(
        "neptune_loop_longest_turn_seconds",
        "Longest time in the last one to two minutes that a task of "
        "another thread waited for the loop.",
        [](const Watched& one, TimePoint now) -> double { return ToSeconds(one.Longest(now)); }));
  }
  return OkStatus();
}

Status LoopWatch::Start(Loop& first, Loop* second, MetricsRegistry& metrics) {
  NEPTUNE_RETURN_IF_ERROR(AddMetrics(metrics));
  for (const auto& watched : loops_) watched->is_watched = true;
  tickers_.push_back(std::make_shared<Ticker>(first, loops_, /*counts_periods=*/true));
  Tick(tickers_.front());
  started_.store(true, std::memory_order_release);
  if (second == nullptr) return OkStatus();
  tickers_.push_back(std::make_shared<Ticker>(*second, loops_, /*counts_periods=*/false));
  second->Post([ticker = tickers_.back()] { Tick(ticker); });
  return OkStatus();
}

void LoopWatch::Stop() {
  for (const auto& watched : loops_) watched->is_watched = false;
  for (const auto& ticker : tickers_) ticker->stopping = true;
}

void LoopWatch::Tick(const std::shared_ptr<Ticker>& ticker) {
  if (ticker->stopping) return;
  const TimePoint now = ticker->loop.Now();
  const bool is_late = ticker->due != TimePoint() && now - ticker->due > kLate;
  for (const auto& watched : ticker->loops) {
    int64_t asked = watched->asked;
    if (watched->HasJustAnswered(now)) continue;
    if (asked == kNone && watched->asked.compare_exchange_strong(asked, Number(now))) {
      watched->loop.Post([watched] { watched->Answer(watched->loop.Now()); });
    } else if (is_late && asked != kNone) {
      watched->asked.compare_exchange_strong(asked, Number(now));
    }
    watched->ReportIfStalled(now);
  }
  ticker->EndPeriod(now);
  ticker->due = NextOnGrid(now, kLoopBeat);
  ticker->loop.RunAt(ticker->due, [ticker] { Tick(ticker); });
}

bool LoopWatch::CanServe(TimePoint now) const {
  if (!started_.load(std::memory_order_acquire)) return true;
  return std::none_of(loops_.begin(), loops_.end(), [now](const auto& one) {
    return one->duty == Duty::kServes && one->Stalled(now);
  });
}

std::vector<std::string> LoopWatch::Complaints(TimePoint now) const {
  std::vector<std::string> complaints;
  if (!started_.load(std::memory_order_acquire)) return complaints;
  for (const auto& watched : loops_) {
    if (!watched->Stalled(now)) continue;
    complaints.push_back(
        StrCat("loop ", watched->name, " has not answered for ", Seconds(watched->Silence(now))));
  }
  return complaints;
}

void LoopWatch::Describe(TimePoint now, StatusReport* report) const {
  if (!started_.load(std::memory_order_acquire)) return;
  StatusTable table{"Event loops", {"loop", "state", "last beat", "longest turn"}, {}};
  for (const auto& watched : loops_) {
    const int64_t answered = watched->answered;
    const bool is_busy = watched->Silence(now) > kLoopStallTime;
    table.AddRow(watched->name,
                 watched->Stalled(now) ? "stalled"
                 : is_busy             ? "busy"
                                       : "answers",
                 answered == kNone ? "none" : Seconds(Duration(Number(now) - answered)) + " ago",
                 StrCat(ToMillis(watched->Longest(now)), " ms"));
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
