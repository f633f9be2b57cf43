#include "tools/mtrr/profiler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "tools/mtrr/closed_loop.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr double kFailedShareMax = 0.01;
// Requests in flight at the end of a measurement.
constexpr absl::Duration kDrainTimeout = absl::Seconds(10);
constexpr int kRequestsPerThreadMax = 16;
constexpr size_t kPlannedRequestCount =
    size_t{kProfileThreadCountMax} * kRequestsPerThreadMax * 16 + 1;

// Runs `work` on the loop and waits for it.
template <typename Work>
void OnLoop(neptune::Loop& loop, Work work) {
  neptune::Notification done;
  loop.Post([&] {
    work();
    done.Notify();
  });
  done.WaitForNotification();
}

// Lets time pass on the loop.
void Wait(neptune::Loop& loop, double seconds) {
  neptune::Notification passed;
  loop.Post(
      [&] { loop.RunAt(loop.Now() + neptune::FromSeconds(seconds), [&] { passed.Notify(); }); });
  passed.WaitForNotification();
}

// Counts of the service's requests at all nodes.
struct NodeCounts {
  double processor_s = 0;
  double served = 0;
};

class Measuring {
 public:
  Measuring(neptune::Loop& loop, const AdminAccess& access, const ReplayPlan& plan,
            const ProfileOptions& options)
      : loop_(loop), access_(access), plan_(plan), options_(options) {}

  StatusOr<double> Throughput(int threads) {
    NEPTUNE_RETURN_IF_ERROR(ApplySettings(access_, options_.service, SettingsFor(threads)));
    std::unique_ptr<LoadTarget> target;
    std::unique_ptr<ClosedLoop> load;
    const double wanted =
        threads * options_.requests_per_thread * static_cast<double>(access_.nodes.size());
    const int at_once =
        std::min(static_cast<int>(std::ceil(wanted)), static_cast<int>(plan_.requests.size()) - 1);
    OnLoop(loop_, [&] {
      target = MakeTarget(loop_, plan_, options_.target, options_.target_options);
      load = std::make_unique<ClosedLoop>(loop_, plan_, *target);
      load->Start(at_once);
    });
    Wait(loop_, options_.warm_up_s);
    const NodeCounts before = Count();
    OnLoop(loop_, [&] { load->BeginCount(); });
    Wait(loop_, options_.length_s);
    ClosedLoopCounts counts;
    Status refused;
    neptune::Notification drained;
    OnLoop(loop_, [&] {
      counts = load->EndCount();
      refused = load->refused();
      load->Drain([&] { drained.Notify(); });
    });
    const NodeCounts after = Count();
    drained.WaitForNotificationWithTimeout(kDrainTimeout);
    OnLoop(loop_, [&] {
      load.reset();
      target.reset();
    });
    processor_s_ += after.processor_s - before.processor_s;
    served_ += after.served - before.served;
    return Checked(counts, refused);
  }

  // Mean, of all that was measured.
  std::optional<double> processor_s() const {
    if (!(served_ > 0) || !(processor_s_ > 0)) return std::nullopt;
    return processor_s_ / served_;
  }

 private:
  ThreadSettings SettingsFor(int threads) const {
    ThreadSettings settings{.concurrency = threads, .classes = {}};
    if (options_.service_class.empty()) return settings;
    settings.classes[options_.service_class] = threads;
    settings.concurrency = threads + 1;  // one for other clients
    return settings;
  }

  NodeCounts Count() const {
    NodeCounts counts;
    for (const AdminNode& node : access_.nodes) {
      const auto state = ReadService(node, options_.service);
      if (!state.ok()) continue;
      for (const ServiceClassState& one : state->classes) {
        if (!options_.service_class.empty() && one.counters.name != options_.service_class) {
          continue;
        }
        counts.processor_s += one.counters.processor_s;
        counts.served += static_cast<double>(one.counters.served);
      }
    }
    return counts;
  }

  StatusOr<double> Checked(const ClosedLoopCounts& counts, const Status& refused) const {
    const auto answered = static_cast<double>(counts.answered_count);
    const auto failed = static_cast<double>(counts.failed_count);
    if (failed > kFailedShareMax * (answered + failed)) {
      const std::string why = refused.ok() ? "" : StrCat(": ", neptune::ToStd(refused.message()));
      return neptune::Unavailable(
          counts.failed_count, " of ", answered + failed, " requests failed", why,
          "; if the service's queue is short, reduce the load: --requests_per_thread=1");
    }
    if (counts.answered_count == 0) {
      return neptune::FailedPrecondition("no request was answered within ", options_.length_s,
                                         " s; measure longer");
    }
    return counts.throughput();
  }

  neptune::Loop& loop_;
  const AdminAccess& access_;
  const ReplayPlan& plan_;
  const ProfileOptions& options_;
  double processor_s_ = 0;
  double served_ = 0;
};

Status Check(const ProfileOptions& options) {
  for (const int threads : options.thread_counts) {
    if (threads < 1 || threads > kProfileThreadCountMax) {
      return neptune::InvalidArgument(threads, " threads; the limits are 1 to ",
                                      kProfileThreadCountMax);
    }
  }
  if (options.repetition_count < 1 || !(options.length_s > 0) || options.warm_up_s < 0 ||
      !(options.requests_per_thread >= 1 && options.requests_per_thread <= kRequestsPerThreadMax)) {
    return neptune::InvalidArgument(options.repetition_count, " repetitions of ", options.length_s,
                                    " s with ", options.requests_per_thread,
                                    " requests per thread; the limits are 1 to ",
                                    kRequestsPerThreadMax);
  }
  return neptune::OkStatus();
}

ProfilePoint PointOf(int threads, std::vector<double> throughputs) {
  std::sort(throughputs.begin(), throughputs.end());
  const size_t middle = throughputs.size() / 2;
  const double median = throughputs.size() % 2 == 1
                            ? throughputs[middle]
                            : (throughputs[middle - 1] + throughputs[middle]) / 2;
  return {threads, median, throughputs.front(), throughputs.back()};
}

}  // namespace

StatusOr<ServiceProfile> MeasureProfile(neptune::Loop& loop, const AdminAccess& access,
                                        const ReplayPlan& plan, const ProfileOptions& options,
                                        const ReportPoint& report) {
  NEPTUNE_RETURN_IF_ERROR(Check(options));
  NEPTUNE_RETURN_IF_ERROR(CheckReachable(loop, options.target.servers));
  if (access.nodes.empty())
    return neptune::InvalidArgument("no nodes were given to vary threads on");
  NEPTUNE_ASSIGN_OR_RETURN(const ServiceState before,
                           ReadService(access.nodes.front(), options.service));
  Measuring measuring(loop, access, plan, options);
  std::map<int, std::vector<double>> throughputs;
  Status status;
  for (int repetition = 1; status.ok() && repetition <= options.repetition_count; ++repetition) {
    for (const int threads : options.thread_counts) {
      if (options.stop != nullptr && *options.stop) status = neptune::Cancelled("it was stopped");
      if (!status.ok()) break;
      const auto throughput = measuring.Throughput(threads);
      status = neptune::Annotate(throughput.status(), StrCat("with ", threads, " threads"));
      if (!status.ok()) break;
      throughputs[threads].push_back(*throughput);
      report(repetition, threads, *throughput);
    }
  }
  const Status back = ApplySettings(access, options.service, SettingsOf(before));
  NEPTUNE_RETURN_IF_ERROR(status);
  NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(back, "restoring the previous thread settings"));
  ServiceProfile profile{.service = options.service, .service_class = options.service_class};
  for (const auto& [threads, values] : throughputs) {
    profile.points.push_back(PointOf(threads, values));
  }
  // Throughput of one node: the load was spread over all nodes.
  for (ProfilePoint& point : profile.points) {
    const auto node_count = static_cast<double>(access.nodes.size());
    point.throughput /= node_count;
    point.throughput_low /= node_count;
    point.throughput_high /= node_count;
  }
  profile.processor_s = measuring.processor_s();
  NEPTUNE_RETURN_IF_ERROR(CompleteProfile(&profile));
  return profile;
}

ReplayPlan PlanOfQueries(std::vector<std::string> queries, const std::string& service_class) {
  ReplayPlan plan{.classes = {service_class}, .queries = std::move(queries)};
  const size_t count = plan.queries.size();
  for (size_t i = 0; i < kPlannedRequestCount; ++i) {
    plan.requests.push_back({.query = static_cast<uint32_t>(i % count)});
  }
  return plan;
}

}  // namespace search::tools
