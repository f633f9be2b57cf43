#include "neptune/dac/known_loads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/dac/announced_load.h"
#include "neptune/service/loop_client.h"

namespace neptune {
namespace {

// A reduction on a server whose load is unknown is assumed to cost this much more (3: four times
// its cost), because concentrating reductions on few servers pays only if these are known to be
// light.
constexpr double kStaleReductionFactor = 3;
// Servers are polled only if the reductions of the call take at least this time. A tree only
// chooses where they run, and two polls are four datagrams, each of which wakes a thread.
constexpr Duration kPolledReductionsMin = std::chrono::microseconds(200);

// Converts processor time to time on the server with all its processors working.
ServerLoad LoadFrom(const MemberRecord& record) {
  const auto share = [&](Duration time) { return time / record.processor_count; };
  return {share(record.pending), share(record.local_cost), share(record.reduce_cost)};
}

}  // namespace

KnownLoads::KnownLoads(NodeLoop& loop, LoadGossip& gossip, const AggregatorOptions& options)
    : loop_(loop), gossip_(gossip), options_(options), estimator_(options.make_load_estimator()) {}

StatusOr<std::unique_ptr<KnownLoads>> KnownLoads::Open(NodeLoop& loop, LoadGossip& gossip,
                                                       const AggregatorOptions& options) {
  std::unique_ptr<KnownLoads> loads(new KnownLoads(loop, gossip, options));
  NEPTUNE_ASSIGN_OR_RETURN(loads->polls_,
                           LoadPolls::Open(loop, options.poll_bind, *loads->estimator_, gossip));
  return loads;
}

void KnownLoads::Poll(const ServiceName& service, const std::vector<TreeMember>& members,
                      TimePoint deadline) {
  if (options_.poll_count == 0 || members.size() < 2) return;
  const auto reduction_count = static_cast<int64_t>(members.size() - 1);
  const OperatorCosts costs = estimator_->Costs(members.front().node, service);
  if (costs.reduce_cost * reduction_count < kPolledReductionsMin) return;
  polls_->Poll(service, members, options_.poll_count, deadline);
}

CallLoads KnownLoads::Estimate(const ServiceName& service, const std::vector<TreeMember>& members) {
  CallLoads loads;
  if (members.empty()) return loads;
  ReadAnnouncements(service, members);
  ReadGossip(service, members);
  loads.servers.reserve(members.size());
  loads.cautious.reserve(members.size());
  const TimePoint now = this_thread::Now();
  for (const TreeMember& member : members) {
    const auto own = static_cast<int64_t>(member.partitions.size());
    const OperatorCosts costs = estimator_->Costs(member.node, service);
    TreeServer server{estimator_->Estimate(member.node, service, now, loop_.loop->random()),
                      costs.local_cost * own + costs.reduce_cost * (own - 1), costs.reduce_cost};
    loads.servers.push_back(server);
    const double staleness = estimator_->Staleness(member.node, service, now);
    server.reduce_cost = Duration(static_cast<int64_t>(
        static_cast<double>(costs.reduce_cost.count()) * (1 + kStaleReductionFactor * staleness)));
    loads.cautious.push_back(server);
  }
  return loads;
}

void KnownLoads::ReadAnnouncements(const ServiceName& service,
                                   const std::vector<TreeMember>& members) {
  const std::shared_ptr<const YellowPageView> view = loop_.client->shared_view();
  for (const TreeMember& member : members) {
    const std::shared_ptr<const Announcement> announcement = view->Find(member.node);
    if (announcement == nullptr) continue;
    const uint64_t sequence = announcement->sequence;
    if (std::exchange(announced_[member.node], sequence) == sequence) continue;
    const std::optional<ServerLoad> load = AnnouncedLoadOf(*announcement, service);
    if (!load) continue;
    estimator_->OnReport(member.node, service, *load, this_thread::Now(),
                         LoadSource::kAnnouncement);
  }
}

void KnownLoads::ReadGossip(const ServiceName& service, const std::vector<TreeMember>& members) {
  for (const TreeMember& member : members) {
    const std::optional<GossipedLoad> load = gossip_.Find(member.node);
    if (!load) continue;
    estimator_->OnReport(member.node, service, {load->pending, Duration(0), Duration(0)},
                         load->taken_at, LoadSource::kGossip);
  }
}

void KnownLoads::OnAssigned(const std::vector<TreeMember>& members,
                            const std::vector<Duration>& work) {
  const TimePoint now = this_thread::Now();
  for (size_t i = 0; i < members.size(); ++i) estimator_->OnAssigned(members[i].node, work[i], now);
}

void KnownLoads::OnCancelled(const std::vector<TreeMember>& members,
                             const std::vector<Duration>& work) {
  const TimePoint now = this_thread::Now();
  for (size_t i = 0; i < members.size(); ++i) estimator_->OnSettled(members[i].node, work[i], now);
}

void KnownLoads::OnRecord(const ServiceName& service, const MemberRecord& record,
                          TimePoint taken_at) {
  estimator_->OnReport(record.node, service, LoadFrom(record), taken_at, LoadSource::kAnswer);
}

}  // namespace neptune
