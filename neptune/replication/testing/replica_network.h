// Simulates the members of one partition, their stores and their network in virtual time, and
// checks invariants after every step.
//
//   checks: one primary per epoch · members that commit the same LSN commit the same entry · every
//           later primary commits all acknowledged writes · a leased primary has every acknowledged
//           write · a member never overstates its freshness · entries to be sent, stored or
//           executed exist
//
// Threads: none but the caller's.
// Units: each member's clock has its own offset.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replication_protocol.h"

namespace neptune::replication_testing {

// Bugs that a test can plant.
enum class Bug {
  kNone,
  kForgetsPromise,       // the promise is not stored
  kForgetsEntries,       // entries of a change are not stored
  kForgetsLastEntry,     // the last entry of a change is not stored
  kSendsBeforeStoring,   // messages that must wait for a change are sent at once
  kStoresOutOfOrder,     // a change is reported as stored when the next one is made
  kKeepsDroppedEntries,  // entries that must be truncated stay
  kExecutesUncommitted,  // executes entries that are only received
  kAcknowledgesEarly,    // answers while a majority's answer is in flight
  kForgetsFounding,      // a wiped member claims to take part
  kReusesIncarnation,    // each life looks like the one before
  kDoublesCommit,        // commit positions are sent one too high
  kLosesWriteInMessage,  // the first of several entries is lost in flight, the others move up
  kSwapsEntries,         // two entries of a message change their contents
  kLiesAboutMatch,       // answers that its log matches further than it does
  kVotesTwice,           // a refused vote arrives as granted
  kEpochGoesBack,        // a restarted member's epoch is one smaller
  kRestoresWrongBase,    // a restored member claims to have more
  kStampFromNow,         // answers carry the stamp of the newest append, not of the one they answer
  kEchoesTooNew,         // appends carry stamps of answers that have not arrived yet
  kClaimsLease,          // every append claims a lease
};
std::vector<Bug> AllBugs();
std::string NameOf(Bug bug);

using MakeProtocol = std::function<std::unique_ptr<ReplicationProtocol>(
    const ReplicaGroup& group, const LogOutline& found, uint64_t incarnation, uint64_t seed,
    TimePoint now)>;

// What a member's disk has room for (neptune/base/disk_room.h).
enum class Room {
  kAmple,
  kFull,      // the member orders no writes
  kCritical,  // nor does it take entries or data of others
};

struct NetworkOptions {
  uint64_t seed = 1;
  int member_count = 3;
  int witness_count = 0;  // number of members, the last ones, that are witnesses
  MakeProtocol make;
  Bug bug = Bug::kNone;
  double loss = 0;
  double duplication = 0;
  Duration delay_min = std::chrono::microseconds(100);
  Duration delay_mean = std::chrono::microseconds(400);  // beyond that, exponential
  Duration store_mean = std::chrono::milliseconds(1);
  // The members' nodes hear each other apart from their protocol, as those of many partitions do.
  bool has_pulses = false;
};

class ReplicaNetwork {
 public:
  explicit ReplicaNetwork(NetworkOptions options);
  ~ReplicaNetwork();

  TimePoint now() const { return now_; }
  // Runs for `time`, or until an invariant is violated.
  void RunFor(Duration time);
  // The first violated invariant; empty: none.
  const std::string& wrong() const { return wrong_; }

  // Faults. They last until the caller ends them.
  void Crash(MemberIndex member);    // what was not stored is lost
  void Restart(MemberIndex member);  // from its durable state
  void Wipe(MemberIndex member);     // REQUIRES: it is down. It gets a new disk
  void Pause(MemberIndex member);    // the member does nothing but keeps its state
  void Resume(MemberIndex member);
  void Cut(MemberIndex from, MemberIndex to, bool is_cut);  // one way
  void HealAll();
  void SetLoss(double loss) { options_.loss = loss; }
  // Slows the member's store (SlowDisk), or store and messages (Slow), by `factor`.
  void SlowDisk(MemberIndex member, double factor) { disk_slowness_[member] = factor; }
  void Slow(MemberIndex member, double factor);
  // What the free space of the member's disk allows; it survives crashes.
  void SetRoom(MemberIndex member, Room room);
  // An entry of the member's stored log, a drawn one, is found lost. If its data contain it, it is
  // dropped; otherwise the member begins again as one that has forgotten its log. False: it stores
  // no entries, or does not run.
  bool Decay(MemberIndex member);

  bool lives(MemberIndex member) const;
  bool paused(MemberIndex member) const;
  bool IsWitness(MemberIndex member) const;
  ReplicationProtocol& member(MemberIndex member);
  ReplicaStatus status(MemberIndex of) { return member(of).status(); }
  // The primary that accepts writes and holds a lease, if any.
  std::optional<MemberIndex> Primary();
  Status StartByHand(MemberIndex member);
  // Offers a write to the primary, or to a member that believes it is. False: there is none.
  bool Write();
  // Writes every `pause` for `time`; returns the number of offered writes.
  int WriteFor(Duration time, Duration pause = std::chrono::milliseconds(2));
  // The longest time without an acknowledgement while writing every millisecond for `time`.
  Duration LongestGap(Duration time);
  size_t acknowledged_count() const { return acknowledged_.size(); }
  // Time from the offer to the acknowledgement, of every acknowledged write, in order of the
  // offers.
  const std::vector<Duration>& write_times() const { return write_times_; }
  // True if every member is a secondary or the primary and has all committed entries, and all
  // members with data are in the write set.
  bool IsWhole();
  // State of each member, one line each.
  std::string Describe();
  // Lets the member drop executed entries that no member needs.
  void DropLog(MemberIndex member, Lsn keep);
  int primary_count() const { return static_cast<int>(primaries_.size()); }
  // A reader asks how current the member's data are.
  void WantRead(MemberIndex member);
  // Number of messages sent so far.
  size_t message_count() const { return message_count_; }

 private:
  struct Disk;
  struct Life;
  struct Event {
    TimePoint at;
    uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  void At(TimePoint when, std::function<void()> run);
  void Wrong(const std::string& what);
  void Collect(MemberIndex member);
  void Store(MemberIndex member, const ProtocolActions& actions);
  void Send(MemberIndex from, OutgoingMessage outgoing);
  void Deliver(MemberIndex from, MemberIndex to, const ReplicaMessage& message);
  void Corrupt(ReplicaMessage* message);
  void BeginRestore(MemberIndex member, MemberIndex from);
  void Execute(MemberIndex member);
  void Check(MemberIndex member);
  void NoteRoom(MemberIndex member);
  void ForgetLog(MemberIndex member);
  void DropThrough(MemberIndex member, Lsn last);
  TimePoint ClockOf(MemberIndex member) const;
  Duration Draw(Duration mean);
  double DrawShare();
  void TickAt(MemberIndex member);
  // The nodes call each other, and members learn what has changed.
  void Pulse();
  void Pulse(MemberIndex member, MemberIndex peer);
  void Hand(MemberIndex member, PeerNews news);

  NetworkOptions options_;
  std::mt19937_64 random_;
  TimePoint now_{std::chrono::seconds(1)};
  uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::vector<std::unique_ptr<Disk>> disks_;
  std::vector<std::unique_ptr<Life>> lives_;
  std::vector<Duration> clock_offsets_;
  std::vector<double> link_slowness_;
  std::vector<double> disk_slowness_;
  std::set<std::pair<MemberIndex, MemberIndex>> cuts_;
  std::string wrong_;
  size_t message_count_ = 0;

  // History for the checks.
  std::map<Epoch, MemberIndex> primaries_;
  std::map<Lsn, LogEntry> committed_;  // first seen
  struct Acknowledged {
    Lsn lsn;
    TimePoint at;
  };
  std::map<uint64_t, Acknowledged> acknowledged_;  // by number of the write
  Lsn acknowledged_to_ = 0;
  std::vector<std::pair<TimePoint, Lsn>> acknowledged_by_time_;
  std::map<uint64_t, TimePoint> offered_;
  std::vector<Duration> write_times_;
  uint64_t next_write_ = 1;
};

}  // namespace neptune::replication_testing
