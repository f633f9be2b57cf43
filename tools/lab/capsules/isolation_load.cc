#include "tools/lab/capsules/isolation_load.h"

#include <glog/logging.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace search::lab {
namespace {

using neptune::Data;
using neptune::Duration;
using neptune::Notification;
using neptune::OkStatus;
using neptune::RealNode;
using neptune::Status;
using neptune::StrCat;
using neptune::TimePoint;

constexpr char kService[] = "mixed";
constexpr char kWork[] = "Work";
constexpr char kAsk[] = "Ask";

Duration ThreadTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

class MixedModule final : public neptune::ServiceModule {
 public:
  MixedModule(Duration work, std::unique_ptr<SilentDependency>* dependency)
      : work_(work), dependency_(dependency) {}

  Status Start(neptune::ModuleContext& context) override {
    const neptune::MethodOptions options{.grain = neptune::Grain::kLong};
    context.registrar.Method(neptune::MethodName(kWork), options,
                             [this](neptune::RequestContext&, const Data&, Data*) {
                               const Duration end = ThreadTime() + work_;
                               while (ThreadTime() < end) continue;
                               return OkStatus();
                             });
    context.registrar.Method(
        neptune::MethodName(kAsk), options,
        [this](neptune::RequestContext&, const Data&, Data*) { return (*dependency_)->Ask(); });
    return OkStatus();
  }
  std::string implementation() const override { return "mixed"; }

 private:
  const Duration work_;
  std::unique_ptr<SilentDependency>* const dependency_;
};

class IdleModule final : public neptune::ServiceModule {
 public:
  Status Start(neptune::ModuleContext&) override { return OkStatus(); }
  std::string implementation() const override { return "idle"; }
};

neptune::ClusterSpec Spec(const IsolationLoadOptions& options) {
  const auto spec = neptune::ParseClusterSpec(
      StrCat("name: 'isolation-", getpid(), "' multicast_group: '239.192.7.5:",
             options.multicast_port, "' announce_interval_ms: 50 services { name: '", kService,
             "' module: 'mixed' queue_length_max: 1000 } services { name: 'idle' module: 'idle' } "
             "nodes { name: 'node' worker_threads: 1 hosts { service: '",
             kService, "' } } nodes { name: 'asker' hosts { service: 'idle' } }"),
      "isolation");
  CHECK(spec.ok()) << spec.status();
  return *spec;
}

neptune::NodeOptions OptionsOf(const neptune::ClusterSpec& spec, const std::string& name,
                               neptune::ModuleFactory modules) {
  neptune::NodeOptions options;
  options.spec = spec;
  options.name = neptune::NodeId(name);
  options.modules = std::move(modules);
  return options;
}

// Sends one call without retries to the only server.
Status Ask(RealNode& asker, const char* method, Duration limit) {
  neptune::ClientSession session(asker.node().client());
  session.default_timeout = limit;
  Data response;
  return neptune::Call(session,
                       {neptune::ServiceName(kService), neptune::PartitionId(0),
                        neptune::MethodName(method), neptune::AccessMode::kRead},
                       Data(std::string()), &response, {.attempts_max = 1});
}

std::vector<Sample> Within(const std::vector<Sample>& samples, const std::vector<Span>& spans) {
  std::vector<Sample> inside;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(inside), [&](const Sample& one) {
    return std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
      return one.due >= span.begin && one.due < span.end;
    });
  });
  return inside;
}

}  // namespace

IsolationNodes::IsolationNodes(const IsolationLoadOptions& options,
                               std::unique_ptr<SilentDependency>* dependency)
    : node_(OptionsOf(Spec(options), "node",
                      [work = options.work, dependency](const std::string&) {
                        return std::make_unique<MixedModule>(work, dependency);
                      })),
      asker_(OptionsOf(Spec(options), "asker",
                       [](const std::string&) { return std::make_unique<IdleModule>(); })) {
  for (RealNode* const node : {&node_, &asker_}) {
    const Status started = node->Start();
    CHECK(started.ok()) << started;
  }
  asker_.Run([this] {
    const neptune::ServiceName service(kService);
    while (asker_.node().client().View()->Replicas(service, neptune::PartitionId(0)).empty()) {
      neptune::this_thread::SleepFor(std::chrono::milliseconds(5));
    }
  });
}

double InTimeShare(const std::vector<Sample>& samples, const std::vector<Span>& spans,
                   Duration limit) {
  const std::vector<Sample> due = Within(samples, spans);
  const auto in_time_count = std::count_if(
      due.begin(), due.end(), [&](const Sample& one) { return one.answered && one.took <= limit; });
  return due.empty() ? 0 : static_cast<double>(in_time_count) / static_cast<double>(due.size());
}

Duration Percentile(const std::vector<Sample>& samples, const std::vector<Span>& spans,
                    double share) {
  std::vector<Sample> due = Within(samples, spans);
  if (due.empty()) return Duration(0);
  const auto rank =
      due.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(due.size()));
  std::nth_element(due.begin(), rank, due.end(),
                   [](const Sample& a, const Sample& b) { return a.took < b.took; });
  return rank->took;
}

void UnrelatedLoad::Start() {
  asker_.node().RunOnControl([this] {
    Pace();
    stopped_.Notify();
  });
  asker_.Run([] {});  // waits until it has begun
}

std::vector<Sample> UnrelatedLoad::Stop() {
  asker_.Run([this] { stopping_ = true; });
  stopped_.WaitForNotification();
  asker_.Run([this] {
    while (in_flight_count_ > 0) neptune::this_thread::SleepFor(std::chrono::milliseconds(1));
  });
  return std::move(samples_);
}

Duration UnrelatedLoad::Now() {
  Duration now{0};
  asker_.Run([&] { now = neptune::this_thread::Now() - zero_; });
  return now;
}

void UnrelatedLoad::Pace() {
  zero_ = neptune::this_thread::Now();
  TimePoint due = zero_;
  while (!stopping_) {
    due += neptune::FromSeconds(random_.Exponential(mean_gap_s_));
    (void)neptune::this_thread::SleepUntil(due);
    ++in_flight_count_;
    CHECK(neptune::ThreadScheduler::Current()->Spawn([this, due] { AskOnce(due); }).ok());
  }
}

void UnrelatedLoad::AskOnce(TimePoint due) {
  const Status status = Ask(asker_, kWork, std::chrono::seconds(2));
  samples_.push_back({due - zero_, neptune::this_thread::Now() - due, status.ok()});
  --in_flight_count_;
}

void BlockedRequests::Start() {
  asker_.Run([this] {
    for (int i = 0; i < count_; ++i) {
      CHECK(neptune::ThreadScheduler::Current()->Spawn([this] { Ask(); }).ok());
    }
  });
}

int BlockedRequests::Await() {
  done_.WaitForNotification();
  return answered_count_;
}

void BlockedRequests::Ask() {
  const Status status = lab::Ask(asker_, kAsk, limit_);
  LOG_IF_EVERY_N(WARNING, !status.ok(), 100) << "a request that waited: " << status;
  answered_count_ += status.ok() ? 1 : 0;
  if (++ended_count_ == count_) done_.Notify();
}

}  // namespace search::lab
