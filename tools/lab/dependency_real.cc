#include "tools/lab/dependency_real.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::Node;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr char kClient[] = "client";
constexpr Duration kStartTimeMax = std::chrono::seconds(20);
// So that nodes find each other soon; rarely where processor time counts, which announcements take too.
constexpr uint32_t kAnnounceIntervalMs = 50;
constexpr uint32_t kMeasuredAnnounceIntervalMs = 500;
constexpr Duration kLook = std::chrono::milliseconds(5);
// Keeps the requests of one seed's offers apart from those of the next.
constexpr uint64_t kSeedStep = 1'000;

}  // namespace

RealDependencyCluster::RealDependencyCluster(DependencyOptions options)
    : options_(std::move(options)), spec_(DependencySpec(options_)) {
  SetOwnGroup(port_, &spec_);
}

RealDependencyCluster::~RealDependencyCluster() = default;

StatusOr<std::unique_ptr<RealDependencyCluster>> RealDependencyCluster::Start(
    DependencyOptions options, bool emulated) {
  std::unique_ptr<RealDependencyCluster> cluster(new RealDependencyCluster(std::move(options)));
  NEPTUNE_RETURN_IF_ERROR(cluster->StartNodes(emulated));
  NEPTUNE_RETURN_IF_ERROR(cluster->AwaitAll());
  return cluster;
}

Status RealDependencyCluster::StartNodes(bool emulated) {
  spec_.set_announce_interval_ms(emulated ? kAnnounceIntervalMs : kMeasuredAnnounceIntervalMs);
  for (const neptune::NodeSpec& node : spec_.nodes()) {
    auto real = std::make_unique<RealNode>(
        DependencyNodeOptions(options_, spec_, node.name()),
        neptune::RealWorldOptions{
            .seed = options_.seed,
            .emulated_processor_count = emulated ? static_cast<int>(kDependencyNode.count) : 0});
    NEPTUNE_RETURN_IF_ERROR(real->Start());
    nodes_[node.name()] = std::move(real);
  }
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

DependencyResult RealDependencyCluster::Offer(double duration_s) {
  DependencyResult result;
  RunOn(kClient, [&](Node& client) { OfferOnClient(client, duration_s, &result); });
  return result;
}

// On one user-level thread, each request on another one of the same loop.
void RealDependencyCluster::OfferOnClient(Node& client, double duration_s,
                                          DependencyResult* result) {
  uint64_t open_count = 0;
  neptune::RandomSource random(options_.seed * kSeedStep + number_);
  const neptune::ThreadRef self(neptune::UserThread::Current());
  const TimePoint zero = neptune::this_thread::Now();
  TimePoint at = zero;
  while ((at += FromSeconds(random.Exponential(1 / options_.rate_per_s))) <
         zero + FromSeconds(duration_s)) {
    (void)neptune::this_thread::SleepUntil(at);
    ++open_count;
    const auto started = neptune::ThreadScheduler::Current()->Spawn(
        [this, number = number_++, at, zero, &client, &open_count, &self, result] {
          result->outcomes.push_back(AskFront(options_, client, number, at, zero));
          if (--open_count == 0) self->Wake();
        });
    CHECK(started.ok()) << started.status();
  }
  while (open_count > 0) (void)neptune::this_thread::Park();
}

}  // namespace search::lab
