#include "neptune/dac/load_polls.h"

#include <algorithm>

#include "neptune/membership/service_yellow_page.h"
#include "neptune/service/loop_client.h"

namespace neptune {
namespace {

constexpr size_t kMembersPerPoll = 8;
// A call waits for the answers to its polls for this fraction of the mean cost of a local operator,
// if that is long enough for an answer to arrive.
constexpr int64_t kPollWaitPart = 12;
constexpr Duration kPollWaitMin = std::chrono::microseconds(200);

}  // namespace

StatusOr<std::unique_ptr<LoadPolls>> LoadPolls::Open(NodeLoop& loop, const Endpoint& bind,
                                                     LoadEstimator& estimator, LoadGossip& gossip) {
  std::unique_ptr<LoadPolls> polls(new LoadPolls(loop, estimator, gossip));
  NEPTUNE_ASSIGN_OR_RETURN(polls->agent_,
                           PollingAgent::Open(
                               *loop.loop, bind,
                               [polls = polls.get()](uint64_t cookie, const LoadReport& report) {
                                 polls->HandleAnswer(cookie, report);
                               },
                               &loop.network()));
  return polls;
}

void LoadPolls::Poll(const ServiceName& service, const std::vector<TreeMember>& members,
                     size_t count, TimePoint deadline) {
  std::vector<NodeId> nodes;
  for (const TreeMember& member : members) nodes.push_back(member.node);
  const auto round = std::make_shared<Round>();
  round->waiter = ThreadRef(UserThread::Current());
  for (const size_t target :
       estimator_.ChoosePollTargets(nodes, std::max(count, nodes.size() / kMembersPerPoll),
                                    this_thread::Now(), loop_.loop->random())) {
    Ask(service, nodes[target], round);
  }
  const Duration wait = estimator_.Costs(nodes.front(), service).local_cost / kPollWaitPart;
  if (wait >= kPollWaitMin) Await(*round, std::min(this_thread::Now() + wait, deadline));
  *round = {};  // later answers wake no thread
}

void LoadPolls::Ask(const ServiceName& service, const NodeId& node,
                    const std::shared_ptr<Round>& round) {
  const std::shared_ptr<const Announcement> said = loop_.client->view().Find(node);
  if (said == nullptr) return;
  const uint64_t cookie = ++asked_count_;
  asked_[cookie % asked_.size()] = {node, service, round};
  ++round->awaited;
  agent_->ProbeForGossip(said->probe_endpoint, service, cookie);
}

void LoadPolls::Await(Round& round, TimePoint until) {
  while (round.awaited > 0 && this_thread::Park(until) == ParkResult::kWoken) {
  }
}

// The answer to a poll has the pending work, but not the costs.
void LoadPolls::HandleAnswer(uint64_t cookie, const LoadReport& report) {
  const Asked& asked = asked_[cookie % asked_.size()];
  const TimePoint now = loop_.loop->Now();
  estimator_.OnReport(asked.node, asked.service, {report.pending, Duration(0), Duration(0)}, now,
                      LoadSource::kPoll);
  gossip_.Merge({asked.node, report.pending, now});
  if (!report.gossip.empty()) {
    const auto gossip = DecodeGossip(report.gossip, now);
    for (const GossipedLoad& load : gossip.ok() ? *gossip : std::vector<GossipedLoad>()) {
      gossip_.Merge(load);
    }
  }
  Round& round = *asked.round;
  if (round.awaited > 0 && --round.awaited == 0) round.waiter->Wake();
}

}  // namespace neptune
