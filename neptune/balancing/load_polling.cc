#include "neptune/balancing/load_polling.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

constexpr uint8_t kPollByte = 'L';
constexpr uint8_t kAnswerByte = 'l';
constexpr uint8_t kGossipPollByte = 'H';
constexpr uint8_t kGossipAnswerByte = 'h';
constexpr uint8_t kProbeByte = 'P';
// Offset of probe numbers, which keeps them distinct from poll numbers.
constexpr uint64_t kProbeNumbers = uint64_t{1} << 63;
// Size of an answer without gossip.
constexpr size_t kAnswerSize = 1 + 8 + 3 * 4;
// Maximum size of gossip that a server which does not know its callers sends; that of
// neptune/dac/load_gossip.h.
constexpr size_t kGossipSizeMax = 1200;

// Makes room for the answer of a server that does not know who asks.
void PadQuestion(const Network& network, size_t answer_size_max, std::string* question) {
  if (network.knows_senders()) return;
  question->resize(std::max(question->size(), answer_size_max));
}

}  // namespace

// A poll in progress; its datagrams are numbered first, first + 1, ...
struct PollingAgent::Pending {
  const std::vector<Endpoint>& targets;
  PollTally tally;
  ThreadRef waiter;
};

PollingAgent::PollingAgent(Loop& loop, const Endpoint& bind, OnReport on_report, Network& network)
    : loop_(loop), network_(network), bind_(bind), on_report_(std::move(on_report)) {
  std::array<uint32_t, 2> begins;
  loop.FillUnpredictable(reinterpret_cast<char*>(begins.data()), sizeof(begins));
  next_number_ = uint64_t{begins[0]} << 20;
  probe_count_ = uint64_t{begins[1]} << 20;
}

StatusOr<std::unique_ptr<PollingAgent>> PollingAgent::Open(Loop& loop, const Endpoint& bind,
                                                           OnReport on_report, Network* network) {
  std::unique_ptr<PollingAgent> agent(new PollingAgent(
      loop, bind, std::move(on_report), network == nullptr ? loop.network() : *network));
  NEPTUNE_ASSIGN_OR_RETURN(
      agent->socket_,
      agent->network_.OpenDatagram(
          {.bind = bind}, [self = agent.get()](const Endpoint& from, std::string_view bytes) {
            self->HandleAnswer(from, bytes);
          }));
  return agent;
}

PollingAgent::~PollingAgent() {
  for (const auto& [number, pending] : pending_) pending->waiter->Wake();
}

void PollingAgent::Ask(const Endpoint& target, uint8_t kind, uint64_t number,
                       std::string_view service) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kind);
  writer.Number(number);
  writer.Counted<uint8_t>(service);
  PadQuestion(network_, kind == kPollByte ? kAnswerSize : kAnswerSize + kGossipSizeMax, &bytes);
  (void)SocketTo(target).SendTo(target, bytes);
}

DatagramSocket& PollingAgent::SocketTo(const Endpoint& target) {
  const TimePoint now = loop_.Now();
  auto found = connected_.find(target);
  if (found == connected_.end()) {
    if (!MakeRoom(now)) return *socket_;
    auto opened = network_.OpenDatagram(
        {.bind = {bind_.address, 0},
         .peer = target,
         .on_refused = [this, target] { HandleRefusal(target); }},
        [this, target](const Endpoint&, std::string_view bytes) { HandleAnswer(target, bytes); });
    if (!opened.ok()) return *socket_;  // out of descriptors
    found = connected_.emplace(target, Connected{*std::move(opened), now}).first;
  }
  found->second.used_at = now;
  return *found->second.socket;
}

bool PollingAgent::MakeRoom(TimePoint now) {
  if (connected_.size() < kConnectedServerCountMax) return true;
  const auto oldest = std::min_element(
      connected_.begin(), connected_.end(),
      [](const auto& a, const auto& b) { return a.second.used_at < b.second.used_at; });
  if (now - oldest->second.used_at < kConnectedIdleTime) return false;
  connected_.erase(oldest);
  return true;
}

void PollingAgent::HandleRefusal(const Endpoint& target) {
  for (const auto& [first, pending] : pending_) {
    for (size_t i = 0; i < pending->targets.size(); ++i) {
      if (pending->targets[i] == target) pending->tally.Refuse(i);
    }
    if (pending->tally.decided()) pending->waiter->Wake();
  }
}

void PollingAgent::Probe(const Endpoint& target, const ServiceName& service, uint64_t cookie) {
  Ask(target, kPollByte, NextProbe(target, cookie), service.value());
}

void PollingAgent::ProbeForGossip(const Endpoint& target, const ServiceName& service,
                                  uint64_t cookie) {
  Ask(target, kGossipPollByte, NextProbe(target, cookie), service.value());
}

uint64_t PollingAgent::NextProbe(const Endpoint& target, uint64_t cookie) {
  const uint64_t number = kProbeNumbers | ++probe_count_;
  probes_[number % kProbeCountMax] = {number, target, cookie};
  return number;
}

void PollingAgent::HandleProbeAnswer(const Endpoint& from, uint64_t number,
                                     const LoadReport& report) {
  SentProbe& probe = probes_[number % kProbeCountMax];
  if (probe.number != number || probe.target != from) return;
  probe.number = 0;  // a datagram may be duplicated
  if (on_report_ != nullptr) on_report_(probe.cookie, report);
}

PollOutcome PollingAgent::Poll(const std::vector<Endpoint>& targets, TimePoint deadline,
                               bool stop_at_idle) {
  CHECK_LE(targets.size(), kPollSizeMax);
  Pending pending{targets, PollTally(targets.size(), stop_at_idle),
                  ThreadRef(UserThread::Current())};
  const uint64_t first = next_number_;
  next_number_ += targets.size();
  pending_.emplace(first, &pending);
  for (size_t i = 0; i < targets.size(); ++i) Ask(targets[i], kPollByte, first + i, "");
  while (!pending.tally.decided()) {
    if (this_thread::Park(deadline) != ParkResult::kWoken) break;
  }
  const bool timed_out = !pending.tally.decided();
  pending_.erase(first);
  return {pending.tally.best(), pending.tally.answered(), pending.tally.refused(), timed_out};
}

void PollingAgent::HandleAnswer(const Endpoint& from, std::string_view bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.Number<uint8_t>();
  if (kind != kAnswerByte && kind != kGossipAnswerByte) return;
  const auto number = reader.Number<uint64_t>();
  LoadReport report;
  report.load_index = reader.Number<uint32_t>();
  report.silence = std::chrono::microseconds(reader.Number<uint32_t>());
  report.pending = std::chrono::microseconds(reader.Number<uint32_t>());
  if (kind == kGossipAnswerByte) report.gossip = reader.Bytes(reader.remaining());
  if (!reader.finished()) return;
  if ((number & kProbeNumbers) != 0) return HandleProbeAnswer(from, number, report);
  auto found = pending_.upper_bound(number);
  if (found == pending_.begin()) return;
  --found;
  Pending& pending = *found->second;
  const uint64_t target = number - found->first;
  if (target >= pending.targets.size() || pending.targets[target] != from) return;
  if (pending.tally.decided()) return;
  pending.tally.Answer(target, report.load_index);
  if (pending.tally.decided()) pending.waiter->Wake();
}

StatusOr<std::unique_ptr<LoadIndexServer>> LoadIndexServer::Open(Loop& loop, const Endpoint& bind,
                                                                 Hooks hooks, Network* network) {
  if (network == nullptr) network = &loop.network();
  std::unique_ptr<LoadIndexServer> server(
      new LoadIndexServer(std::move(hooks), network->knows_senders()));
  NEPTUNE_ASSIGN_OR_RETURN(
      server->socket_,
      network->OpenDatagram({.bind = bind},
                            [self = server.get()](const Endpoint& from, std::string_view bytes) {
                              self->Take(from, bytes);
                            }));
  return server;
}

// Returns an empty answer to a malformed poll.
std::string LoadIndexServer::AnswerPoll(bool with_gossip, ByteReader reader, size_t size_max) {
  const auto number = reader.Number<uint64_t>();
  const std::string_view service = reader.Counted<uint8_t>();
  if (reader.failed()) return "";
  const LoadReport report = hooks_.load(service);
  std::string answer;
  ByteWriter writer(&answer);
  writer.Number(with_gossip ? kGossipAnswerByte : kAnswerByte);
  writer.Number(number);
  writer.Number(report.load_index);
  for (const Duration time : {report.silence, report.pending}) {
    writer.Number(static_cast<uint32_t>(
        std::clamp<int64_t>(ToMicros(time), 0, std::numeric_limits<uint32_t>::max())));
  }
  if (!with_gossip || hooks_.gossip == nullptr) return answer;
  const std::string gossip = hooks_.gossip();
  if (answer.size() + gossip.size() <= size_max) answer += gossip;
  return answer;
}

void LoadIndexServer::Take(const Endpoint& from, std::string_view bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.Number<uint8_t>();
  const size_t size_max = knows_senders_ ? kDatagramSizeMax : bytes.size();
  std::string answer;
  if (kind == kPollByte || kind == kGossipPollByte) {
    answer = AnswerPoll(kind == kGossipPollByte, reader, size_max);
    if (!answer.empty()) ++answered_count_;
  } else if (kind == kProbeByte) {
    StatusOr<std::string> announcement = hooks_.announcement();
    if (announcement.ok()) answer = *std::move(announcement);
  } else {
    return hooks_.on_announcement(bytes);
  }
  if (!answer.empty() && answer.size() <= size_max) (void)socket_->SendTo(from, answer);
}

}  // namespace neptune
