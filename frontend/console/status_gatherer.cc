#include "frontend/console/status_gatherer.h"

#include <algorithm>
#include <utility>

#include "neptune/membership/service_yellow_page.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/http_fetch.h"

namespace search::frontend {

using neptune::StatusOr;
using neptune::TimePoint;

namespace {

constexpr neptune::Duration kPoll = std::chrono::milliseconds(2);

StatusOr<std::vector<ConsoleTable>> AskNode(const neptune::Endpoint& admin, TimePoint deadline) {
  if (admin.port == 0) return neptune::Unavailable("no administration port");
  NEPTUNE_ASSIGN_OR_RETURN(
      const neptune::HttpResponse response,
      neptune::HttpFetch(admin, "/statusz?format=json", deadline, kStatusSizeMax));
  if (response.status != 200)
    return neptune::Unavailable("its status page returned HTTP ", response.status);
  return TablesOfStatus(response.body);
}

}  // namespace

std::shared_ptr<const ClusterState> StatusGatherer::State() {
  const TimePoint now = neptune::this_thread::Now();
  bool begins = false;
  {
    neptune::LeafLock lock(&mutex_);
    if (state_ == nullptr) state_ = std::make_shared<const ClusterState>(FromView());
    const bool is_fresh = gathered_at_ != TimePoint() && now - gathered_at_ < kFreshFor;
    if (is_fresh) return state_;
    begins = !std::exchange(is_gathering_, true);
  }
  if (begins) {
    const auto started =
        neptune::ThreadScheduler::Current()->Spawn([this] { Gather(); }, "gather status");
    if (!started.ok()) {
      neptune::LeafLock lock(&mutex_);
      is_gathering_ = false;
      return state_;
    }
  }
  const TimePoint end = now + kWaitMax;
  for (;;) {
    {
      neptune::LeafLock lock(&mutex_);
      if (!is_gathering_ || neptune::this_thread::Now() >= end) return state_;
    }
    if (neptune::this_thread::SleepFor(kPoll) == neptune::ParkResult::kStopping) {
      neptune::LeafLock lock(&mutex_);
      return state_;
    }
  }
}

void StatusGatherer::Finish() {
  const TimePoint end = neptune::this_thread::Now() + 2 * kAskTimeout;
  while (neptune::this_thread::Now() < end) {
    {
      neptune::LeafLock lock(&mutex_);
      if (!is_gathering_) return;
    }
    if (neptune::this_thread::SleepFor(kPoll) == neptune::ParkResult::kStopping) return;
  }
}

ClusterState StatusGatherer::FromView() const {
  ClusterState state;
  state.taken_at = world_.wall_time();
  for (const auto& announced : client_.View()->nodes()) {
    if (state.nodes.size() == kNodesShown) break;
    ConsoleNode& node = state.nodes.emplace_back();
    node.name = announced->node.value();
    node.call_endpoint = announced->call_endpoint.ToString();
    node.draining = announced->draining;
    node.load_index = announced->load_index;
    node.processor_share = announced->cpu_load_permille / 1000.0;
    for (const auto& offered : announced->services) {
      auto found = std::find_if(node.services.begin(), node.services.end(), [&](const auto& one) {
        return one.name == offered.service.value();
      });
      if (found == node.services.end()) {
        found = node.services.insert(node.services.end(),
                                     {offered.service.value(), {}, offered.implementation});
      }
      for (const auto& partition : offered.partitions)
        found->partitions.push_back(partition.value());
    }
    node.asked = neptune::Unavailable("not asked yet");
  }
  return state;
}

void StatusGatherer::Gather() {
  ClusterState state = FromView();
  AskNodes(&state);
  auto gathered = std::make_shared<const ClusterState>(std::move(state));
  neptune::LeafLock lock(&mutex_);
  state_ = std::move(gathered);
  gathered_at_ = neptune::this_thread::Now();
  is_gathering_ = false;
}

// Asks several nodes in parallel, each on a thread of its own; answers after the deadline are
// dropped.
void StatusGatherer::AskNodes(ClusterState* state) const {
  struct Asked {
    std::vector<StatusOr<std::vector<ConsoleTable>>> answers;
    size_t next = 0;
    size_t running = 0;
  };
  const TimePoint deadline = neptune::this_thread::Now() + kAskTimeout;
  const auto asked = std::make_shared<Asked>();
  std::vector<neptune::Endpoint> endpoints;
  const auto view = client_.View();
  for (const ConsoleNode& node : state->nodes) {
    const auto announced = view->Find(neptune::NodeId(node.name));
    endpoints.push_back(announced == nullptr ? neptune::Endpoint() : announced->admin_endpoint);
    asked->answers.emplace_back(neptune::DeadlineExceeded("no answer in time"));
  }
  const neptune::ThreadRef self(neptune::UserThread::Current());
  const auto work = [asked, endpoints, deadline, self] {
    while (asked->next < endpoints.size()) {
      const size_t i = asked->next++;
      asked->answers[i] = AskNode(endpoints[i], deadline);
    }
    if (--asked->running == 0) self->Wake();
  };
  for (size_t i = 0; i < std::min(endpoints.size(), kNodesAsked); ++i) {
    ++asked->running;
    if (!neptune::ThreadScheduler::Current()->Spawn(work, "ask status").ok()) {
      --asked->running;
      break;
    }
  }
  while (asked->running > 0) {
    if (neptune::this_thread::Park() == neptune::ParkResult::kStopping) break;
  }
  for (size_t i = 0; i < state->nodes.size(); ++i) {
    ConsoleNode& node = state->nodes[i];
    node.asked = asked->answers[i].status();
    if (asked->answers[i].ok()) node.tables = *std::move(asked->answers[i]);
  }
}

}  // namespace search::frontend
