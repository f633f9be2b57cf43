#include "tests/chaos/checks.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/history/register_history.h"

namespace neptune::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kOften = milliseconds(10);
constexpr Duration kSeldom = milliseconds(100);
// A timer fires at its time; the rest is the time until the loop runs the task.
constexpr Duration kLateness = milliseconds(5);
// Six announcement periods: the time that views need to be right.
constexpr Duration kSixPeriods = seconds(6);
// Work ends at most this long after its last caller has gone.
constexpr Duration kWorkEndMax = milliseconds(300);
// A goodbye is known after the time of a datagram; views are handed out a little later.
constexpr Duration kGoodbyeMax = milliseconds(100);
// A call with at least this much time finds a working replica.
constexpr Duration kFindMin = seconds(3);
// A call that need not look for a replica needs no more than this.
constexpr Duration kServeMin = milliseconds(500);
// A server that has finished nothing for this long withdraws itself.
constexpr Duration kStalled = milliseconds(1500);
// The time in which a burst is served.
constexpr Duration kBurstEffect = seconds(5);

// A write as an insert of its id into a register of its own.
search::history::RegisterOperation OperationOf(const CallRecord& call) {
  search::history::RegisterOperation operation;
  operation.partition = call.partition;
  operation.key = StrCat(call.id);
  operation.is_write = true;
  operation.text = StrCat(call.id, ";");
  operation.begin = call.begin;
  operation.is_acknowledged = call.ended && call.status.ok();
  if (operation.is_acknowledged) operation.end = call.ended_at;
  operation.value = operation.text;
  return operation;
}

search::history::RegisterContents ContentsOf(const CallRecord& call) {
  return {{{call.partition, StrCat(call.id)}, call.inserted}};
}

}  // namespace

Checks::Checks(SimulatedCluster& cluster, ChaosState& state, const Ledger& ledger,
               std::vector<std::string> nodes)
    : cluster_(cluster),
      simulator_(cluster.simulator()),
      state_(state),
      ledger_(ledger),
      nodes_(std::move(nodes)) {}

void Checks::AfterEvent() {
  CallsEndInTime();
  const TimePoint now = simulator_.now();
  if (now >= next_often_) {
    next_often_ = now + kOften;
    QueuesAreBounded();
    WorkIsWaitedFor();
    NoteStalls();
  }
  if (now >= next_seldom_) {
    next_seldom_ = now + kSeldom;
    ViewsAreRight();
  }
}

void Checks::CallsEndInTime() {
  const TimePoint now = simulator_.now();
  for (const auto& [deadline, id] : state_.calls.open()) {
    if (deadline + kLateness >= now) return;
    const CallRecord& call = *state_.calls.Find(id);
    if (MayEndAt(call) >= now) continue;
    // A caller that stands still sees the time later.
    if (ledger_.Away(call.caller, deadline, deadline) || ledger_.Away(call.caller, now, now))
      continue;
    if (WaitsForItsPlace(call)) continue;
    Wrong("call continues after its deadline", call.ToString());
  }
}

// A method that was held up until after its deadline may still call another, which is refused at
// once.
TimePoint Checks::MayEndAt(const CallRecord& call) {
  return std::max(call.deadline, call.begin) + kLateness;
}

// The caller is itself a request. It continues when a place of its pool is free, before requests
// that have not begun.
bool Checks::WaitsForItsPlace(const CallRecord& call) const {
  return NoPlaceWasFree(call.caller, MayEndAt(call));
}

bool Checks::NoPlaceWasFree(const std::string& host, TimePoint since) const {
  const auto pool = state_.pools.find(host);
  return pool != state_.pools.end() && pool->second->NoneWasFree(since, simulator_.now());
}

void Checks::QueuesAreBounded() {
  for (const std::string& node : nodes_) {
    if (!IsServer(node) || !cluster_.lives(node)) continue;
    const auto length =
        cluster_.node(node).metrics().Value("neptune_queue_length", {{"service", "echo"}});
    if (length.ok() && *length > static_cast<int64_t>(kQueueLengthMax)) {
      Wrong("queue over its bound", StrCat(*length, " wait on ", node));
    }
  }
}

void Checks::WorkIsWaitedFor() {
  const TimePoint now = simulator_.now();
  for (const auto& [token, execution] : state_.calls.executions()) {
    const CallRecord& call = *state_.calls.Find(execution.call);
    if (!call.ended && !call.abandoned) continue;
    if (now - call.ended_at < kWorkEndMax) continue;
    // A lost caller is noticed if the network reports it; otherwise the deadline ends the work.
    const TimePoint noticed = call.ended ? call.ended_at : std::max(call.ended_at, call.deadline);
    if (now - noticed < kWorkEndMax) continue;
    const TimePoint since = execution.begin - seconds(1);
    if (!ledger_.PairQuiet(call.caller, execution.host, since, now)) continue;
    if (!ledger_.NetworkQuiet(since, now)) continue;
    // A relay that has left its pool does nothing while it waits for a place.
    if (call.method == "Relay" && NoPlaceWasFree(execution.host, MayEndAt(call))) continue;
    Wrong("work without a waiting caller",
          StrCat(execution.host, " still works on ", call.ToString()));
  }
}

// Notes servers all of whose slots have long been taken: their work waits for other servers, which
// have faults or wait themselves.
void Checks::NoteStalls() {
  const TimePoint now = simulator_.now();
  std::map<std::string, size_t> old_work;
  for (const auto& [token, execution] : state_.calls.executions()) {
    if (now - execution.begin >= kStalled) ++old_work[execution.host];
  }
  for (const auto& [host, count] : old_work) {
    if (count >= kConcurrency) stalled_at_[host] = now;
  }
}

void Checks::ViewsAreRight() {
  for (const std::string& observer : nodes_) {
    if (!cluster_.lives(observer)) continue;
    for (const std::string& node : nodes_) {
      if (node != observer) ViewIsRight(observer, node);
    }
  }
}

void Checks::ViewIsRight(const std::string& observer, const std::string& node) {
  const TimePoint now = simulator_.now();
  const TimePoint since = now - kSixPeriods;
  if (!ledger_.NodeQuiet(observer, since, now)) return;
  if (ledger_.PairQuiet(observer, node, since, now)) return MustKnow(observer, node);
  const bool left = ledger_.Left(node, now - kGoodbyeMax, now) &&
                    ledger_.LinkQuiet(observer, node, since, now) &&
                    ledger_.NetworkQuiet(since, now);
  if (left || ledger_.Away(node, since, now)) MustHaveForgotten(observer, node);
}

void Checks::MustKnow(const std::string& observer, const std::string& node) {
  ++counts_.must_know_count;
  const auto view = cluster_.node(observer).View();
  if (view->Find(NodeId(node)) == nullptr) {
    return Wrong("healthy node is not known", StrCat(observer, " does not know ", node));
  }
  if (!IsServer(node)) return;
  // The ledger has no fault of it, but a server whose workers all wait for another one that hangs
  // or is cut off may withdraw itself.
  const auto stalled = stalled_at_.find(node);
  if (stalled != stalled_at_.end() && simulator_.now() - stalled->second < kSixPeriods) return;
  ++counts_.must_offer_count;
  const uint32_t partition = PartitionOf(node);
  const auto known = cluster_.KnownReplicas(partition, observer);
  if (!known.contains(node)) {
    Wrong("healthy replica is not offered",
          StrCat(observer, " does not offer ", node, " for partition ", partition));
  }
}

void Checks::MustHaveForgotten(const std::string& observer, const std::string& node) {
  ++counts_.must_forget_count;
  if (cluster_.node(observer).View()->Find(NodeId(node)) == nullptr) return;
  Wrong("absent node is still known", StrCat(observer, " knows ", node));
}

void Checks::AfterWrite(const CallRecord& call) {
  const std::string wrong = search::history::CheckInserts({OperationOf(call)}, ContentsOf(call));
  if (!wrong.empty()) Wrong("write is not done once", StrCat(call.ToString(), ": ", wrong));
}

void Checks::AfterCall(const CallRecord& call) {
  AnswerIsRight(call);
  if (call.status.ok()) {
    if (MustSucceed(call)) ++counts_.must_succeed_count;
    return;
  }
  if (MustSucceed(call)) Wrong("call failed that had to succeed", call.ToString());
}

void Checks::AnswerIsRight(const CallRecord& call) {
  if (call.ended_at > MayEndAt(call) &&
      ledger_.NodeQuiet(call.caller, call.deadline, call.ended_at) && !WaitsForItsPlace(call)) {
    Wrong("call continues after its deadline", call.ToString());
  }
  if (!call.status.ok()) return;
  if (call.reply != AnswerTo(call)) {
    Wrong("answer of another call", StrCat(call.ToString(), ", got '", call.reply, "'"));
  }
  if (call.write) AfterWrite(call);
}

bool Checks::MustSucceed(const CallRecord& call) const {
  return !MayBeRefused(call) && (MustFindAReplica(call) || MustBeServedThere(call));
}

// Some replica and the links to it were undisturbed all the time, and a read may look for it.
bool Checks::MustFindAReplica(const CallRecord& call) const {
  if (call.write || call.method == "Relay" || call.method == "Linger") return false;
  if (call.deadline - call.begin < kFindMin) return false;
  const TimePoint since = call.begin - kSixPeriods;
  const auto replicas = ReplicasOf(call.partition);
  return std::any_of(replicas.begin(), replicas.end(), [&](const std::string& replica) {
    return ledger_.PairQuiet(call.caller, replica, since, call.ended_at);
  });
}

// The server it went to was undisturbed, or left gracefully while another one stayed.
bool Checks::MustBeServedThere(const CallRecord& call) const {
  if (call.server.empty() || call.method == "Relay" || call.method == "Linger") return false;
  if (call.deadline - call.begin < kServeMin) return false;
  const TimePoint since = call.begin - kSixPeriods;
  if (!ledger_.NetworkQuiet(since, call.ended_at)) return false;
  const auto replicas = ReplicasOf(call.partition);
  return ledger_.QuietOrLeaving(call.server, since, call.ended_at) &&
         ledger_.LinkQuiet(call.caller, call.server, since, call.ended_at) &&
         ledger_.NodeQuiet(call.caller, since, call.ended_at) &&
         std::all_of(replicas.begin(), replicas.end(), [&](const std::string& replica) {
           return replica == call.server ||
                  ledger_.PairQuiet(call.caller, replica, since, call.ended_at);
         });
}

// Too many calls came at once, or requests wait in the queue of a server that hangs.
bool Checks::MayBeRefused(const CallRecord& call) const {
  if (state_.last_burst != TimePoint{} && call.begin - state_.last_burst < kBurstEffect)
    return true;
  const auto replicas = ReplicasOf(call.partition);
  return std::any_of(replicas.begin(), replicas.end(), [&](const std::string& replica) {
    return ledger_.Hangs(replica, call.begin - kSixPeriods, call.ended_at);
  });
}

std::vector<std::string> Checks::ReplicasOf(uint32_t partition) const {
  std::vector<std::string> replicas;
  for (const std::string& node : nodes_) {
    if (IsServer(node) && PartitionOf(node) == partition) replicas.push_back(node);
  }
  return replicas;
}

void Checks::AtEnd() {
  for (const std::string& node : nodes_) {
    if (!cluster_.lives(node)) {
      Wrong("node is not alive", node);
      continue;
    }
    for (const std::string& other : nodes_) MustKnow(node, other);
    const auto load = cluster_.node(node).metrics().Value(
        "neptune_load_index", {{"service", IsServer(node) ? "echo" : "load"}});
    if (load.ok() && *load != 0) Wrong("requests never end", StrCat(node, " counts ", *load));
  }
  if (!state_.calls.open().empty()) {
    const auto [deadline, id] = *state_.calls.open().begin();
    Wrong("call never ends", state_.calls.Find(id)->ToString());
  }
  for (const auto& [token, execution] : state_.calls.executions()) {
    Wrong("work never ends", state_.calls.Find(execution.call)->ToString());
  }
}

}  // namespace neptune::chaos
