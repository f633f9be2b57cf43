#include "tools/replay/replay_run.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "neptune/base/process.h"
#include "neptune/base/strings.h"
#include "tools/terminal/progress.h"

extern char** environ;

namespace search::tools {
namespace {

using neptune::Status;

// Polling interval of the caller's thread, and interval of output without a terminal.
constexpr absl::Duration kLook = absl::Milliseconds(200);
constexpr int64_t kPlainLineNs = 10'000'000'000;
constexpr int64_t kTerminalLineNs = 1'000'000'000;

// Processor time of the calling thread.
double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Takes what the loop hands over; the caller's thread fetches it.
class Mailbox final : public LoadObserver {
 public:
  struct Mail {
    std::vector<Measurement> finished;
    LoadProgress progress;
    bool ended = false;
    Status end;
  };

  void HandleFinished(std::vector<Measurement> finished, const LoadProgress& progress) override {
    absl::MutexLock lock(&mutex_);
    mail_.finished.insert(mail_.finished.end(), finished.begin(), finished.end());
    mail_.progress = progress;
  }
  void HandleEnd(const Status& status) override {
    absl::MutexLock lock(&mutex_);
    mail_.ended = true;
    mail_.end = status;
  }

  // What came since the last call, after at most kLook.
  Mail Fetch() {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&mail_.ended), kLook);
    Mail mail = mail_;
    mail_.finished.clear();
    return mail;
  }

 private:
  absl::Mutex mutex_;
  Mail mail_ ABSL_GUARDED_BY(mutex_);
};

// Runs the events' commands when they are due, in the background.
class EventRunner {
 public:
  explicit EventRunner(std::vector<RunEvent> events) : events_(std::move(events)) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const RunEvent& a, const RunEvent& b) { return a.at_s < b.at_s; });
  }
  ~EventRunner() {
    for (neptune::Process& child : children_) (void)child.Wait();
  }

  void RunDue(double now_s) {
    for (; next_ < events_.size() && events_[next_].at_s <= now_s; ++next_) {
      if (!events_[next_].command.empty()) Spawn(events_[next_].command);
    }
  }

 private:
  void Spawn(const std::string& command) {
    neptune::StatusOr<neptune::Process> child =
        neptune::Process::Start({.command = {"sh", "-c", command}});
    if (!child.ok()) {
      std::fprintf(stderr, "replay: cannot run '%s': %s\n", command.c_str(),
                   child.status().ToString().c_str());
      return;
    }
    children_.push_back(*std::move(child));
  }

  std::vector<RunEvent> events_;
  std::vector<neptune::Process> children_;
  size_t next_ = 0;
};

class LiveView {
 public:
  LiveView(FILE* out, double length_s)
      : out_(out), terminal_(out != nullptr && isatty(fileno(out)) == 1), length_s_(length_s) {}
  ~LiveView() {
    if (terminal_ && shown_) std::fputc('\n', out_);
  }

  void Show(const LoadProgress& progress, const std::vector<Measurement>& finished) {
    recent_.insert(recent_.end(), finished.begin(), finished.end());
    const int64_t interval = terminal_ ? kTerminalLineNs : kPlainLineNs;
    if (out_ == nullptr || progress.now_ns - before_.now_ns < interval) return;
    const std::string line = LiveLine(before_, progress, length_s_, recent_);
    std::fprintf(out_, terminal_ ? "\r%s\x1b[K" : "%s\n", line.c_str());
    std::fflush(out_);
    before_ = progress;
    recent_.clear();
    shown_ = true;
  }

 private:
  FILE* const out_;
  const bool terminal_;
  const double length_s_;
  LoadProgress before_;
  std::vector<Measurement> recent_;
  bool shown_ = false;
};

// Runs `work` on the loop and waits for it.
template <typename Work>
void RunOn(neptune::Loop& loop, Work work) {
  absl::Notification done;
  loop.Post([&] {
    work();
    done.Notify();
  });
  done.WaitForNotification();
}

}  // namespace

std::string LiveLine(const LoadProgress& before, const LoadProgress& now, double length_s,
                     const std::vector<Measurement>& finished) {
  std::vector<int64_t> latencies;
  for (const Measurement& m : finished) latencies.push_back(m.latency_ns());
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](double share) {
    if (latencies.empty()) return 0.0;
    const auto rank = static_cast<size_t>(share * static_cast<double>(latencies.size() - 1) + 0.5);
    return static_cast<double>(latencies[rank]) / 1e6;
  };
  const double seconds = std::max(1e-9, static_cast<double>(now.now_ns - before.now_ns) / 1e9);
  const auto rate = [&](uint64_t new_count, uint64_t old_count) {
    return WithThousands(
        static_cast<uint64_t>(static_cast<double>(new_count - old_count) / seconds));
  };
  char line[256];
  std::snprintf(line, sizeof(line),
                "%4.0f s of %.0f s  %s/s sent  %s/s answered  p50 %.2f ms  p99 %.2f ms  %zu in "
                "flight  %s lost",
                static_cast<double>(now.now_ns) / 1e9, length_s,
                rate(now.sent_count, before.sent_count).c_str(),
                rate(now.answered_count, before.answered_count).c_str(), at(0.5), at(0.99),
                now.in_flight_count, WithThousands(now.done_count - now.answered_count).c_str());
  return line;
}

ReplayResult RunReplay(neptune::Loop& loop, const ReplayPlan& plan, const ReplayOptions& options) {
  Mailbox mailbox;
  std::unique_ptr<LoadTarget> target;
  std::unique_ptr<OpenLoop> open_loop;
  ReplayResult result;
  result.measurements.reserve(plan.requests.size());
  const int64_t began = MonotonicNanoseconds();
  double processor_before = 0;
  RunOn(loop, [&] {
    processor_before = ProcessorSeconds();
    target = MakeTarget(loop, plan, options.address, options.target);
    open_loop = std::make_unique<OpenLoop>(loop, plan, *target, options.loop, mailbox);
    open_loop->Start();
  });
  EventRunner events(options.events);
  {
    LiveView live(options.live, static_cast<double>(plan.length_ns()) / 1e9);
    bool stopping = false;
    for (Mailbox::Mail mail; !mail.ended;) {
      mail = mailbox.Fetch();
      if (options.log != nullptr && result.saved.ok()) {
        result.saved = options.log->Append(mail.finished);
      }
      result.measurements.insert(result.measurements.end(), mail.finished.begin(),
                                 mail.finished.end());
      result.held_count = mail.progress.held_count;
      result.end = mail.end;
      live.Show(mail.progress, mail.finished);
      events.RunDue(static_cast<double>(mail.progress.now_ns) / 1e9);
      if (options.stop != nullptr && options.stop->load() && !std::exchange(stopping, true)) {
        loop.Post([&] { open_loop->Stop(neptune::Cancelled("the run was stopped")); });
      }
    }
  }
  result.elapsed_s = static_cast<double>(MonotonicNanoseconds() - began) / 1e9;
  RunOn(loop, [&] {
    result.processor_seconds = ProcessorSeconds() - processor_before;
    open_loop.reset();
    target.reset();
  });
  return result;
}

}  // namespace search::tools
