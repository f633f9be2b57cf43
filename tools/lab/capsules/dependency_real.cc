#include "tools/lab/capsules/dependency_real.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "tools/process/own_group.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::Node;
using neptune::RealNode;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr char kClient[] = "client";
constexpr Duration kStartTimeMax = std::chrono::seconds(20);
// Short, so that nodes find each other soon; long if processor time is measured, which
// announcements use too.
constexpr uint32_t kAnnounceIntervalMs = 50;
constexpr uint32_t kMeasuredAnnounceIntervalMs = 500;
constexpr Duration kLook = std::chrono::milliseconds(5);
// Separates the request numbers of different seeds.
constexpr uint64_t kSeedStep = 1'000;

}  // namespace

RealDependencyCluster::RealDependencyCluster(DependencyOptions options)
    : options_(std::move(options)), spec_(DependencySpec(options_)) {
  SetOwnGroup(port_, &spec_);
}

RealDependencyCluster::~RealDependencyCluster() = default;

StatusOr<std::unique_ptr<RealDependencyCluster>> RealDependencyCluster::Start(
    DependencyOptions options, ProcessorTime time) {
  std::unique_ptr<RealDependencyCluster> cluster(new RealDependencyCluster(std::move(options)));
  NEPTUNE_RETURN_IF_ERROR(cluster->StartNodes(time));
  return cluster;
}

StatusOr<std::unique_ptr<RealDependencyCluster>> RealDependencyCluster::StartOnHosts(
    DependencyOptions options, ProcessorTime time) {
  std::unique_ptr<RealDependencyCluster> cluster(new RealDependencyCluster(std::move(options)));
  NEPTUNE_ASSIGN_OR_RETURN(cluster->hosts_,
                           LinkedHosts::Make(static_cast<size_t>(cluster->spec_.nodes_size())));
  NEPTUNE_RETURN_IF_ERROR(cluster->StartNodes(time));
  return cluster;
}

Status RealDependencyCluster::StartNodes(ProcessorTime time) {
  spec_.set_announce_interval_ms(time == ProcessorTime::kEmulated ? kAnnounceIntervalMs
                                                                  : kMeasuredAnnounceIntervalMs);
  for (const neptune::NodeSpec& node : spec_.nodes()) {
    Status status;
    const size_t number = nodes_.size();
    const auto start = [&] { status = StartNode(node, number, time); };
    if (hosts_ == nullptr) {
      start();
    } else {
      hosts_->RunIn(number, start);
    }
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  return AwaitAll();
}

Status RealDependencyCluster::StartNode(const neptune::NodeSpec& node, size_t number,
                                        ProcessorTime time) {
  neptune::NodeOptions options = DependencyNodeOptions(options_, spec_, node.name());
  if (hosts_ != nullptr) options.address = hosts_->address(number);
  const bool is_emulated = time == ProcessorTime::kEmulated;
  auto real = std::make_unique<RealNode>(
      std::move(options),
      neptune::RealWorldOptions{
          .seed = options_.seed,
          .emulated_processor_count = is_emulated ? static_cast<int>(kDependencyNode.count) : 0});
  NEPTUNE_RETURN_IF_ERROR(real->Start());
  nodes_[node.name()] = std::move(real);
  return neptune::OkStatus();
}

Status RealDependencyCluster::AwaitAll() {
  Status status;
  const auto all_count = static_cast<size_t>(spec_.nodes_size());
  for (const auto& [name, real] : nodes_) {
    RunOn(name, [&](Node& node) {
      const TimePoint limit = neptune::this_thread::Now() + kStartTimeMax;
      while (node.View()->nodes().size() < all_count) {
        if (neptune::this_thread::Now() >= limit) {
          status = neptune::Internal("node ", node.name(), " does not find the others");
          return;
        }
        (void)neptune::this_thread::SleepFor(kLook);
      }
    });
  }
  return status;
}

void RealDependencyCluster::RunOn(const std::string& name, const std::function<void(Node&)>& body) {
  RealNode& real = *nodes_.at(name);
  real.Run([&] { body(real.node()); });
}

size_t RealDependencyCluster::HostOf(const std::string& node) const {
  const auto& nodes = spec_.nodes();
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const neptune::NodeSpec& one) { return one.name() == node; });
  CHECK(found != nodes.end()) << "no node '" << node << "' to cut off";
  return static_cast<size_t>(found - nodes.begin());
}

void RealDependencyCluster::SetLinkAt(TimePoint at, bool is_up) {
  (void)neptune::this_thread::SleepUntil(at);
  const Status status = hosts_->SetLink(HostOf(options_.cut->node), is_up);
  CHECK(status.ok()) << status;
}

DependencyResult RealDependencyCluster::Offer(double duration_s) {
  DependencyResult result;
  RunOn(kClient, [&](Node& client) { OfferOnClient(client, duration_s, &result); });
  return result;
}

// Runs on one user-level thread; each request runs on another one of the same loop.
void RealDependencyCluster::OfferOnClient(Node& client, double duration_s,
                                          DependencyResult* result) {
  uint64_t open_count = 0;
  const neptune::ThreadRef self(neptune::UserThread::Current());
  const auto start = [&open_count, &self](std::function<void()> body) {
    ++open_count;
    const auto started =
        neptune::ThreadScheduler::Current()->Spawn([&open_count, &self, body = std::move(body)] {
          body();
          if (--open_count == 0) self->Wake();
        });
    CHECK(started.ok()) << started.status();
  };
  neptune::RandomSource random(options_.seed * kSeedStep + number_);
  const TimePoint zero = neptune::this_thread::Now();
  if (hosts_ != nullptr && options_.cut) {
    start([this, zero] { SetLinkAt(zero + FromSeconds(options_.cut->begin_s), false); });
    start([this, zero] { SetLinkAt(zero + FromSeconds(options_.cut->end_s), true); });
  }
  TimePoint at = zero;
  while ((at += FromSeconds(random.Exponential(1 / options_.rate_per_s))) <
         zero + FromSeconds(duration_s)) {
    (void)neptune::this_thread::SleepUntil(at);
    start([this, number = number_++, at, zero, &client, result] {
      result->outcomes.push_back(AskFront(options_, client, number, at, zero));
    });
  }
  while (open_count > 0) (void)neptune::this_thread::Park();
}

}  // namespace search::lab
