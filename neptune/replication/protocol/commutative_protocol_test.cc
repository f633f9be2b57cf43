// Level `write_anywhere` as a ReplicationProtocol, compared with a simple model: a set of writes
// that all members get.

#include "neptune/replication/protocol/commutative_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One member's disk and protocol. Changes are stored when the test says so.
class Member {
 public:
  Member(int count, int self) {
    for (int i = 0; i < count; ++i) group_.members.push_back({NodeId(StrCat("n", i))});
    group_.self = static_cast<MemberIndex>(self);
  }

  // Loses everything that was not stored.
  void Start(uint64_t incarnation, TimePoint now) {
    changes_.clear();
    restore_from_.reset();
    OriginIndex index(outline_.base.lsn);
    for (const LogEntry& entry : log_) {
      const Status status = index.Append(entry);
      EXPECT_TRUE(status.ok()) << status;
    }
    // Like ReplicaAgent: empties the data of an unfinished restore.
    if (executed_ > last_lsn()) LoseDisk();
    if (executed_ < outline_.base.lsn) LoseDisk();
    outline_.last_lsn = last_lsn();
    if (log_.empty()) index = OriginIndex(outline_.base.lsn);
    protocol_ =
        std::make_unique<CommutativeProtocol>(group_, outline_, std::move(index), incarnation, now);
  }
  void LoseDisk() {
    outline_ = LogOutline();
    log_.clear();
    executed_ = 0;
    executions_.clear();
    ++disk_;
  }

  CommutativeProtocol& protocol() { return *protocol_; }
  // Number of executions of each write.
  const std::map<uint64_t, int>& executions() const { return executions_; }
  int disk() const { return disk_; }
  const std::optional<MemberIndex>& restore_from() const { return restore_from_; }

  std::vector<std::pair<MemberIndex, std::string>> DrainMessages() {
    ProtocolActions actions = protocol_->DrainActions();
    EXPECT_TRUE(actions.after_stored.empty());
    if (!actions.change.empty()) changes_.emplace_back(actions.change_number, actions.change);
    if (actions.restore_from) restore_from_ = actions.restore_from;
    std::vector<std::pair<MemberIndex, std::string>> messages;
    for (OutgoingMessage& outgoing : actions.at_once) {
      auto& message = std::get<CommutativeMessage>(outgoing.message);
      for (const LogRun& run : outgoing.entries) {
        for (Lsn lsn = run.first; lsn <= run.last; ++lsn) message.entries.push_back(At(lsn));
      }
      messages.emplace_back(outgoing.to, EncodeProtocolMessage(outgoing.message));
    }
    return messages;
  }
  bool StoreOne(TimePoint now) {
    if (changes_.empty()) return false;
    const auto [number, change] = std::move(changes_.front());
    changes_.pop_front();
    if (change.promise) outline_.promise = *change.promise;
    if (change.restart) {
      log_.clear();
      outline_.base = change.restart->base;
    }
    for (const LogEntry& entry : change.entries) {
      EXPECT_EQ(entry.lsn, last_lsn() + 1);
      log_.push_back(entry);
    }
    protocol_->Handle(ChangeStored{number}, now);
    Execute();
    return true;
  }
  bool RestoreFrom(Member& source, TimePoint now) {
    if (!restore_from_ || !changes_.empty()) return false;
    auto mark = source.protocol_->MarkOf(source.executed_, source.outline_.base.lsn);
    if (!mark) return false;
    for (const LogEntry& entry : source.log_) mark->log->entries.push_back(entry);
    executed_ = source.executed_;
    executions_ = source.executions_;
    restore_from_.reset();
    if (executed_ % 2 == 0) {
      protocol_->Handle(DataRestored{*std::move(mark)}, now);
      return true;
    }
    // The other half of the restores get their log in parts.
    std::vector<LogEntry> entries = std::exchange(mark->log->entries, {});
    protocol_->Handle(LogReplaced{*std::exchange(mark->log, std::nullopt)}, now);
    for (LogEntry& entry : entries) protocol_->Handle(LogExtended{{std::move(entry)}, false}, now);
    protocol_->Handle(LogExtended{{}, /*is_whole=*/true}, now);
    protocol_->Handle(DataRestored{*std::move(mark)}, now);
    return true;
  }
  void DropLog(TimePoint now) {
    const Lsn last = protocol_->LastDroppable(executed_, LogPressure::kLarge, now);
    while (!log_.empty() && log_.front().lsn <= last) {
      outline_.base = {log_.front().lsn, 0};
      log_.pop_front();
    }
    if (last > 0) protocol_->Handle(EntriesDropped{last + 1}, now);
  }

 private:
  Lsn last_lsn() const { return outline_.base.lsn + log_.size(); }
  LogEntry At(Lsn lsn) const {
    EXPECT_GT(lsn, outline_.base.lsn);
    EXPECT_LE(lsn, last_lsn());
    return lsn > outline_.base.lsn && lsn <= last_lsn() ? log_[lsn - outline_.base.lsn - 1]
                                                        : LogEntry();
  }
  void Execute() {
    while (executed_ < protocol_->status().committed) {
      const LogEntry entry = At(++executed_);
      if (entry.kind == EntryKind::kCommutativeWrite) ++executions_[entry.request_id.number];
    }
  }

  ReplicaGroup group_;
  LogOutline outline_;
  std::deque<LogEntry> log_;
  Lsn executed_ = 0;
  std::map<uint64_t, int> executions_;
  int disk_ = 0;
  std::unique_ptr<CommutativeProtocol> protocol_;
  std::deque<std::pair<uint64_t, LogChange>> changes_;
  std::optional<MemberIndex> restore_from_;
};

// Random history drawn from the seed. The model is two sets: the writes proposed, and the writes
// acknowledged on a disk that still exists.
class History {
 public:
  explicit History(uint64_t seed) : random_(seed), count_(2 + static_cast<int>(random_.Below(3))) {
    for (int i = 0; i < count_; ++i) members_.emplace_back(count_, i);
    for (int i = 0; i < count_; ++i) Start(i);
  }

  void Run(int steps) {
    for (int step = 0; step < steps; ++step) {
      DoSomething();
      NoteAcknowledged();
    }
  }
  // Runs without further faults until all members have settled.
  bool Settle() {
    for (int round = 0; round < 3000 && !HasSettled(); ++round) {
      while (!in_flight_.empty()) Deliver(0);
      for (int i = 0; i < count_; ++i) Proceed(i);
      now_ += milliseconds(10);
      for (int i = 0; i < count_; ++i) Tick(i);
    }
    NoteAcknowledged();
    return HasSettled();
  }
  void Check() {
    for (int i = 0; i < count_; ++i) {
      std::set<uint64_t> has;
      for (const auto& [write, times] : members_[i].executions()) {
        EXPECT_EQ(times, 1) << "write " << write << " on member " << i;
        EXPECT_TRUE(written_.contains(write));
        has.insert(write);
      }
      for (const auto& [write, where] : acknowledged_) {
        if (members_[where.first].disk() != where.second) continue;
        EXPECT_TRUE(has.contains(write)) << "write " << write << " is not on member " << i;
      }
    }
  }
  int restore_count() const { return restore_count_; }
  size_t acknowledged_count() const { return acknowledged_.size(); }

 private:
  struct InFlight {
    MemberIndex from, to;
    std::string bytes;
  };

  void DoSomething() {
    const int member = static_cast<int>(random_.Below(count_));
    switch (random_.Below(40)) {
      case 0:
        Start(member);  // after a power loss
        break;
      case 1:
        // At least one member keeps its disk, which has everything that was dropped elsewhere.
        if (member == 0 || random_.Below(4) > 0) break;
        members_[member].LoseDisk();
        Start(member);
        break;
      case 2:
        members_[member].DropLog(now_);
        Collect(member);
        break;
      case 3:
      case 4:
        now_ += milliseconds(random_.Below(300));
        Tick(member);
        break;
      case 5:
      case 6:
        if (!in_flight_.empty()) in_flight_.erase(in_flight_.begin() + AnyMessage());
        break;
      case 7:
        if (!in_flight_.empty()) in_flight_.push_back(in_flight_[AnyMessage()]);
        break;
      default:
        if (random_.Below(3) == 0) Write(member);
        if (!in_flight_.empty()) Deliver(AnyMessage());
        Proceed(member);
        now_ += milliseconds(random_.Below(5));
        Tick(static_cast<int>(random_.Below(count_)));
    }
    // Messages do not stay in the network forever.
    while (in_flight_.size() > 200) in_flight_.erase(in_flight_.begin() + AnyMessage());
  }
  ptrdiff_t AnyMessage() { return static_cast<ptrdiff_t>(random_.Below(in_flight_.size())); }
  void Start(int member) {
    members_[member].Start(++incarnation_, now_);
    // Writes proposed to the member and not yet acknowledged are lost.
    std::erase_if(proposed_, [member](const auto& one) { return one.second == member; });
    Collect(member);
  }
  void Write(int member) {
    const LogEntry write = {.request_id = {1, ++write_count_}};
    written_.insert(write_count_);
    if (members_[member].protocol().Propose(write, now_).ok()) proposed_[write_count_] = member;
    Collect(member);
  }
  void Deliver(ptrdiff_t which) {
    const InFlight sent = std::move(in_flight_[which]);
    in_flight_.erase(in_flight_.begin() + which);
    auto message = DecodeProtocolMessage(ConsistencyLevel::kWriteAnywhere, sent.bytes);
    ASSERT_TRUE(message.ok()) << message.status();
    members_[sent.to].protocol().Handle(MessageReceived{sent.from, *std::move(message)}, now_);
    Collect(sent.to);
  }
  void Tick(int member) {
    CommutativeProtocol& protocol = members_[member].protocol();
    if (protocol.NextEvent() <= now_) protocol.Handle(TimePassed(), now_);
    Collect(member);
  }
  // Stores a change, and restores another member's data if requested.
  void Proceed(int member) {
    if (members_[member].StoreOne(now_)) Collect(member);
    const auto from = members_[member].restore_from();
    if (from && members_[member].RestoreFrom(members_[*from], now_)) {
      ++restore_count_;
      Collect(member);
    }
  }
  void Collect(int member) {
    for (auto& [to, bytes] : members_[member].DrainMessages()) {
      in_flight_.push_back({static_cast<MemberIndex>(member), to, std::move(bytes)});
    }
  }
  void NoteAcknowledged() {
    std::erase_if(proposed_, [this](const auto& one) {
      const auto& [write, member] = one;
      if (!members_[member].executions().contains(write)) return false;
      acknowledged_[write] = {member, members_[member].disk()};
      return true;
    });
  }
  bool HasSettled() {
    return std::all_of(members_.begin(), members_.end(), [this](Member& member) {
      return member.protocol().status().role == ReplicaRole::kPeer &&
             member.executions() == members_[0].executions() && proposed_.empty();
    });
  }

  RandomSource random_;
  const int count_;
  TimePoint now_{seconds(1)};
  std::deque<Member> members_;
  std::deque<InFlight> in_flight_;
  uint64_t incarnation_ = 0;
  uint64_t write_count_ = 0;
  std::set<uint64_t> written_;
  std::map<uint64_t, int> proposed_;                      // write -> member
  std::map<uint64_t, std::pair<int, int>> acknowledged_;  // write -> member and disk
  int restore_count_ = 0;
};

TEST(CommutativeProtocolTest, WhateverIsLostRepeatedOrForgottenAllEndWithAllWritesOnce) {
  int restore_count = 0;
  size_t acknowledged_count = 0;
  for (uint64_t seed = 1; seed <= 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    History history(seed);
    history.Run(1500);
    EXPECT_TRUE(history.Settle());
    history.Check();
    restore_count += history.restore_count();
    acknowledged_count += history.acknowledged_count();
  }
  EXPECT_GT(restore_count, 10);
  EXPECT_GT(acknowledged_count, 10'000u);
}

CommutativeProtocol NewProtocol(int count, TimePoint now) {
  ReplicaGroup group;
  group.members.resize(static_cast<size_t>(count));
  return CommutativeProtocol(group, LogOutline(), OriginIndex(), 7, now);
}

TEST(CommutativeProtocolTest, MessagesOfAnOrderedLevelAreIgnored) {
  const TimePoint now{seconds(1)};
  CommutativeProtocol protocol = NewProtocol(2, now);
  (void)protocol.DrainActions();
  protocol.Handle(
      MessageReceived{1, ReplicaMessage{.kind = ReplicaMessageKind::kAskVote, .epoch = 9}}, now);
  EXPECT_TRUE(protocol.DrainActions().empty());
  EXPECT_EQ(protocol.status().role, ReplicaRole::kBlank);
}

TEST(CommutativeProtocolTest, StartByHandFailsAndFreshnessIsUnknown) {
  const TimePoint now{seconds(1)};
  CommutativeProtocol protocol = NewProtocol(1, now);
  EXPECT_EQ(protocol.status().role, ReplicaRole::kPeer);
  EXPECT_EQ(protocol.StartByHand(now).code(), StatusCode::kFailedPrecondition);
  EXPECT_FALSE(protocol.status().freshness.has_value());
  EXPECT_EQ(protocol.status().leased_until, TimePoint::min());
}

TEST(CommutativeProtocolTest, BlankMemberTakesNoWritesAndGivesNoData) {
  const TimePoint now{seconds(1)};
  CommutativeProtocol protocol = NewProtocol(3, now);
  EXPECT_EQ(protocol.Propose({}, now).status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(protocol.MarkOf(0, 0).has_value());
  EXPECT_EQ(protocol.LastDroppable(5, LogPressure::kLarge, now), 0u);
}

TEST(CommutativeProtocolTest, DataThatEndBeforeTheLogBeginsAreNotGiven) {
  const TimePoint now{seconds(1)};
  CommutativeProtocol protocol = NewProtocol(1, now);
  EXPECT_FALSE(protocol.MarkOf(4, 5).has_value());
  const auto mark = protocol.MarkOf(4, 0);
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->log->base, 0u);
}

}  // namespace
}  // namespace neptune
