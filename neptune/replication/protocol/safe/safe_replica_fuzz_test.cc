// The default protocol against whatever happens: any schedule of writes, crashes, cuts and slow
// disks in a simulated network of members, whose invariants hold after every step; and one member
// that receives well-formed messages of any content in any order, whose committed entries and epoch
// never go back.
//
// The first byte chooses; then an operation is two bytes in the first case, six in the second.

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/replication/protocol/replica_message.h"
#include "neptune/replication/protocol/safe/safe_replica.h"
#include "neptune/replication/testing/safe_network.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

using replication_testing::ReplicaNetwork;
using replication_testing::Room;
using replication_testing::SafeMembers;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MemberIndex kMembers = 3;
constexpr size_t kStepsMax = 48;
constexpr size_t kMessagesMax = 400;

FuzzPlace acknowledged_write("a write is acknowledged");
FuzzPlace second_primary("a second primary is elected");
FuzzPlace committed_entry("a lone member commits an entry of others");
FuzzPlace granted_vote("a lone member promises a larger epoch");

// A schedule.

void Step(ReplicaNetwork& network, uint8_t what, uint8_t how) {
  const auto member = static_cast<MemberIndex>(how % kMembers);
  const auto other = static_cast<MemberIndex>((member + 1 + how / kMembers % 2) % kMembers);
  switch (what % 12) {
    case 0:
      if (network.lives(member)) network.Crash(member);
      break;
    case 1:
      if (!network.lives(member)) network.Restart(member);
      break;
    case 2:
      network.Cut(member, other, true);
      break;
    case 3:
      network.HealAll();
      break;
    case 4:
      if (network.lives(member) && !network.paused(member)) network.Pause(member);
      break;
    case 5:
      if (network.lives(member) && network.paused(member)) network.Resume(member);
      break;
    case 6:
      network.SlowDisk(member, 1 + how % 50);
      break;
    case 7:
      network.SetRoom(member, how % 2 == 0 ? Room::kAmple : Room::kFull);
      break;
    case 8:
      network.SetLoss(how / 512.0);
      break;
    case 9:
      network.RunFor(milliseconds(how) * 4);
      break;
    default:
      network.WriteFor(milliseconds(1 + how % 64));
  }
}

void RunSchedule(std::string_view bytes) {
  ReplicaNetwork network(SafeMembers(kMembers));
  network.RunFor(seconds(1));
  for (size_t i = 0; i + 1 < bytes.size() && i / 2 < kStepsMax; i += 2) {
    Step(network, static_cast<uint8_t>(bytes[i]), static_cast<uint8_t>(bytes[i + 1]));
    CHECK(network.wrong().empty()) << network.wrong() << "\n" << network.Describe();
  }
  if (network.acknowledged_count() > 0) acknowledged_write.Reach();
  if (network.primary_count() > 1) second_primary.Reach();
}

// A lone member.

class LoneMember {
 public:
  LoneMember() : replica_(Group(), SafeReplicaOptions(), LogOutline(), kIncarnation, 1, now_) {
    Perform();
  }

  // Bytes: what, flags, epoch, previous entry, entries and their epoch, committed.
  void Take(std::string_view bytes) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
    switch (byte(0) % 12) {
      case 9:
        now_ += milliseconds(byte(1)) * (1 + byte(2) % 16);
        replica_.Handle(TimePassed(), now_);
        break;
      case 10:
        (void)replica_.Propose(Write(0, 0), now_).ok();
        break;
      case 11:
        if (byte(1) % 2 == 0) replica_.Handle(MemberUnreachable{Other(byte(2))}, now_);
        replica_.Handle(RoomChanged{byte(1) % 3 != 0}, now_);
        break;
      default:
        Receive(byte(0), bytes);
    }
    Perform();
    Store();
  }

 private:
  static constexpr uint64_t kIncarnation = 11;

  static ReplicaGroup Group() {
    return {.members = {{NodeId("a")}, {NodeId("b")}, {NodeId("c")}}, .self = 1};
  }
  static MemberIndex Other(uint8_t which) { return which % 2 == 0 ? 0 : 2; }
  static LogEntry Write(Lsn lsn, Epoch epoch) {
    return {.lsn = lsn, .epoch = epoch, .method = MethodName("Put"), .payload = "x"};
  }

  void Receive(uint8_t what, std::string_view bytes) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
    ReplicaMessage message;
    message.kind = static_cast<ReplicaMessageKind>(1 + what % 8);
    message.from_incarnation = 21 + what / 128;
    message.to_incarnation = (byte(1) & 64) != 0 ? 0 : kIncarnation;
    message.epoch = byte(2) % 16;
    message.prev_lsn = byte(3) % 32;
    message.prev_epoch = byte(3) / 32;
    message.last_lsn = message.prev_lsn + byte(4) % 4;
    message.committed = byte(5) % 64;
    message.matched = byte(5) / 4;
    message.primary_stamp = StampOf(now_);
    message.member_stamp = byte(4) >= 128 ? StampOf(now_) : 0;
    message.write_set = MemberSet(byte(4) % 8);
    message.yes = (byte(1) & 1) != 0;
    message.trial = (byte(1) & 2) != 0;
    message.rests = (byte(1) & 4) != 0;
    message.hand_over = (byte(1) & 8) != 0;
    message.counts = (byte(1) & 16) != 0;
    message.by_hand = (byte(1) & 32) != 0;
    for (Lsn lsn = message.prev_lsn + 1;
         message.kind == ReplicaMessageKind::kAppend && lsn <= message.last_lsn; ++lsn) {
      message.entries.push_back(Write(lsn, std::min<Epoch>(message.epoch, byte(4) / 16)));
    }
    const StatusOr<ReplicaMessage> sent = DecodeReplicaMessage(EncodeReplicaMessage(message));
    CHECK(sent.ok()) << sent.status();
    replica_.Handle(MessageReceived{Other(what / 8), *sent}, now_);
  }

  // Does what the protocol wants, and checks that the log stays a log.
  void Perform() {
    const ProtocolActions actions = replica_.DrainActions();
    const LogChange& change = actions.change;
    if (change.restart) {
      log_.clear();
      base_ = change.restart->base.lsn;
      committed_ = 0;  // until the restart is stored
    }
    if (change.drop_from != 0) {
      CHECK_GT(change.drop_from, committed_) << "a committed entry is dropped";
      CHECK_LE(change.drop_from, base_ + log_.size() + 1);
      log_.resize(change.drop_from - base_ - 1);
    }
    for (const LogEntry& entry : change.entries) {
      CHECK_EQ(entry.lsn, base_ + log_.size() + 1) << "a gap in the log";
      log_.push_back(entry.epoch);
    }
    change_number_ = std::max(change_number_, actions.change_number);
    CheckStatus();
  }

  void Store() {
    replica_.Handle(ChangeStored{change_number_, milliseconds(1)}, now_);
    Perform();
  }

  void CheckStatus() {
    const ReplicaStatus status = replica_.status();
    CHECK_GE(status.epoch, epoch_) << "the epoch goes back";
    if (status.epoch > epoch_) granted_vote.Reach();
    epoch_ = status.epoch;
    CHECK_GE(status.committed, std::min<Lsn>(committed_, base_ + log_.size()));
    CHECK_LE(status.committed, base_ + log_.size()) << "an entry that is not there is committed";
    if (status.committed > committed_) committed_entry.Reach();
    committed_ = std::max(committed_, status.committed);
    CHECK_EQ(status.last_lsn, base_ + log_.size());
  }

  TimePoint now_{seconds(1)};
  SafeReplica replica_;
  std::vector<Epoch> log_;  // after the base
  Lsn base_ = 0;
  Lsn committed_ = 0;
  Epoch epoch_ = 0;
  uint64_t change_number_ = 0;
};

void RunLoneMember(std::string_view bytes) {
  constexpr size_t kOperationSize = 6;
  LoneMember member;
  for (size_t i = 0; i < kMessagesMax && bytes.size() >= kOperationSize; ++i) {
    member.Take(bytes.substr(0, kOperationSize));
    bytes.remove_prefix(kOperationSize);
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    neptune::RunSchedule(bytes);
  } else {
    neptune::RunLoneMember(bytes);
  }
  return 0;
}
