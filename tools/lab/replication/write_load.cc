#include "tools/lab/replication/write_load.h"

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/thread/user_thread.h"
#include "tools/history/register_load.h"

namespace search::lab {

using neptune::Duration;
using neptune::StrCat;
using neptune::TimePoint;
namespace this_thread = neptune::this_thread;

namespace {

// A call that fails at once is not made again at once.
constexpr Duration kRetryPause = std::chrono::milliseconds(5);

}  // namespace

WriteLoad::WriteLoad(chaos::ProcessCluster& cluster, const WriteLoadOptions& options)
    : cluster_(cluster), options_(options) {
  state_.active_count = options_.writer_count;
  for (int i = 0; i < options_.writer_count; ++i) {
    cluster_.client().node().RunOnControl([this, i] {
      Write(i);
      --state_.active_count;
    });
  }
}

WriteLoad::~WriteLoad() { (void)End(); }

void WriteLoad::Write(int writer) {
  neptune::ReplicaSession session{neptune::ClientSession(cluster_.client().node().client())};
  const neptune::CalledMethod append = {neptune::ServiceName(history::kRegisterService),
                                        neptune::PartitionId(0), neptune::MethodName("Append"),
                                        neptune::AccessMode::kWrite};
  const std::string value(options_.value_size, 'v');
  for (int i = 0; !state_.is_over; ++i) {
    const TimePoint begin = this_thread::Now();
    neptune::Data response;
    const neptune::Status status =
        session.Call(append, neptune::Data(StrCat(options_.key_prefix, writer, ".", i, "=", value)),
                     &response, {.deadline = begin + kWriteTimeMax});
    Count(begin, status.ok());
    const Duration pause = status.ok() ? options_.pause : std::max(options_.pause, kRetryPause);
    const Duration rest = begin + pause - this_thread::Now();
    if (rest > Duration(0)) this_thread::SleepFor(rest);
  }
}

void WriteLoad::Count(TimePoint begin, bool is_acknowledged) {
  const TimePoint now = this_thread::Now();
  if (!is_acknowledged) {
    ++state_.failed;
    return;
  }
  ++state_.acknowledged;
  ++state_.acknowledged_in_all;
  state_.ns.Record(static_cast<uint64_t>((now - begin).count()));
  state_.gap = std::max(state_.gap, now - state_.last);
  state_.last = now;
}

TimePoint WriteLoad::Reset() {
  const TimePoint now = this_thread::Now();
  state_.ns.Clear();
  state_.acknowledged = 0;
  state_.failed = 0;
  state_.gap = Duration(0);
  state_.last = now;
  return now;
}

WriteFigures WriteLoad::Measure(Duration time) {
  return MeasureWhile([&] { cluster_.Sleep(time); });
}

WriteFigures WriteLoad::MeasureWhile(const std::function<void()>& body) {
  constexpr double kNsPerMs = 1e6;
  WriteFigures figures;
  TimePoint begin;
  figures.processor_s = -cluster_.ProcessorSeconds();
  cluster_.client().Run([&] { begin = Reset(); });
  body();
  cluster_.client().Run([&] {
    const TimePoint now = this_thread::Now();
    const auto at = [&](double fraction) {
      return static_cast<double>(state_.ns.Percentile(fraction)) / kNsPerMs;
    };
    figures.acknowledged = static_cast<double>(state_.acknowledged);
    figures.failed = static_cast<double>(state_.failed);
    figures.p50_ms = at(0.5);
    figures.p99_ms = at(0.99);
    figures.max_ms = static_cast<double>(state_.ns.max()) / kNsPerMs;
    figures.gap_s = neptune::ToSeconds(std::max(state_.gap, now - state_.last));
    figures.elapsed_s = neptune::ToSeconds(now - begin);
  });
  figures.processor_s += cluster_.ProcessorSeconds();
  return figures;
}

uint64_t WriteLoad::End() {
  uint64_t count = 0;
  cluster_.client().Run([&] {
    state_.is_over = true;
    while (state_.active_count > 0) this_thread::SleepFor(std::chrono::milliseconds(5));
    count = state_.acknowledged_in_all;
  });
  return count;
}

}  // namespace search::lab
