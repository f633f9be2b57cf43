#include "tests/load/open_loop.h"

#include <memory>
#include <utility>

#include "absl/synchronization/notification.h"
#include "neptune/world/random_source.h"
#include "tests/search_cluster/http_fetcher.h"

namespace search::tests {
namespace {

using neptune::Duration;
using neptune::HttpResponse;
using neptune::StatusOr;
using neptune::TimePoint;

class Run {
 public:
  Run(neptune::Loop& loop, const LoadPlan& plan)
      : loop_(loop),
        plan_(plan),
        random_(plan.seed),
        fetcher_(loop),
        results_(plan.targets.size()) {}

  void Start() {
    planned_ = loop_.Now();
    PlanNext();
  }
  void WaitUntilDone() { done_.WaitForNotification(); }
  std::vector<Exchange> TakeResults() { return std::move(results_); }

 private:
  void PlanNext() {
    if (next_ == results_.size()) return FinishIfDone();
    planned_ +=
        std::chrono::nanoseconds(static_cast<int64_t>(random_.Exponential(1e9 / plan_.rate)));
    loop_.RunAt(planned_, [this] { Send(); });
  }

  void Send() {
    const size_t index = next_++;
    const TimePoint planned = planned_;
    Exchange& exchange = results_[index];
    exchange.send_delay = loop_.Now() - planned;
    if (outstanding_count_ >= kOutstandingMax) {
      exchange.status = neptune::ResourceExhausted("too many queries without an answer");
    } else {
      ++outstanding_count_;
      fetcher_.Get(plan_.servers[index % plan_.servers.size()], plan_.targets[index],
                   {{"Cache-Control", "no-cache"}}, plan_.timeout,
                   [this, index, planned](StatusOr<HttpResponse> response) {
                     Take(index, planned, std::move(response));
                   });
    }
    PlanNext();
  }

  void Take(size_t index, TimePoint planned, StatusOr<HttpResponse> response) {
    Exchange& exchange = results_[index];
    exchange.latency = loop_.Now() - planned;
    exchange.status = response.status();
    if (response.ok()) {
      exchange.http_status = response->status;
      exchange.body = std::move(response->body);
    }
    --outstanding_count_;
    FinishIfDone();
  }

  void FinishIfDone() {
    if (next_ < results_.size() || outstanding_count_ > 0 || done_.HasBeenNotified()) return;
    done_.Notify();
  }

  neptune::Loop& loop_;
  const LoadPlan& plan_;
  neptune::RandomSource random_;
  HttpFetcher fetcher_;
  std::vector<Exchange> results_;
  TimePoint planned_;
  size_t next_ = 0;
  size_t outstanding_count_ = 0;
  absl::Notification done_;
};

}  // namespace

std::vector<Exchange> RunOpenLoop(neptune::Loop& loop, const LoadPlan& plan) {
  std::unique_ptr<Run> run;
  absl::Notification created;
  loop.Post([&] {
    run = std::make_unique<Run>(loop, plan);
    created.Notify();
    run->Start();
  });
  created.WaitForNotification();
  run->WaitUntilDone();
  absl::Notification destroyed;
  std::vector<Exchange> results;
  loop.Post([&] {
    results = run->TakeResults();
    run.reset();
    destroyed.Notify();
  });
  destroyed.WaitForNotification();
  return results;
}

}  // namespace search::tests
