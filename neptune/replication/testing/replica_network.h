// The members of one partition, their stores and the network between them, in virtual time, with checks after every step.
//
//   checks: one primary an epoch · what two members committed at one place is the same entry · an acknowledged write is
//           in what every later primary commits · a leased primary has every acknowledged write · a member's freshness
//           is never understated · what is to be sent, stored or executed is there
//
// Threads: none but the caller's.
// Units: clocks of members differ by an offset each.

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

#include "neptune/replication/replica_protocol.h"

namespace neptune::replication_testing {

// What is done wrong on purpose.
enum class Bug {
  kNone,
  kForgetsPromise,       // the promise is not stored
  kForgetsEntries,       // entries of a change are not stored
  kForgetsLastEntry,     // the last of them is not
  kSendsBeforeStoring,   // what waits for a change is sent at once
  kStoresOutOfOrder,     // a change is reported as stored when the next one is made
  kKeepsDroppedEntries,  // entries that are to be dropped stay
  kExecutesUncommitted,  // executes what is only received
  kAcknowledgesEarly,    // answers when a majority's answer is under way
  kForgetsFounding,      // a wiped member claims to take part
  kReusesIncarnation,    // each life looks like the one before
  kDoublesCommit,        // commits are told one too high
  kLosesWriteInMessage,  // the first of several entries is taken out on the way, the others move up
  kSwapsEntries,         // two entries of a message change their contents
  kLiesAboutMatch,       // answers that its log matches further than it does
  kVotesTwice,           // a refused vote arrives as granted
  kEpochGoesBack,        // a restarted member's epoch is one smaller
  kRestoresWrongBase,    // a restored member says that it has more
  kStampFromNow,         // answers carry the stamp of the newest append, not of the one they answer
  kEchoesTooNew,         // appends say that they were made after answers that had not come
  kClaimsLease,          // every append claims a lease
};
std::vector<Bug> AllBugs();
std::string NameOf(Bug bug);

using MakeProtocol = std::function<std::unique_ptr<ReplicaProtocol>(
    const ReplicaGroup& group, const LogOutline& found, uint64_t incarnation, uint64_t seed,
    TimePoint now)>;

struct NetworkOptions {
  uint64_t seed = 1;
  int member_count = 3;
  int witness_count = 0;  // of them, the last
  MakeProtocol make;
  Bug bug = Bug::kNone;
  double loss = 0;
  double duplication = 0;
  Duration delay_min = std::chrono::microseconds(100);
  Duration delay_mean = std::chrono::microseconds(400);  // beyond that, exponential
  Duration store_mean = std::chrono::milliseconds(1);
};

class ReplicaNetwork {
 public:
  explicit ReplicaNetwork(NetworkOptions options);
  ~ReplicaNetwork();

  TimePoint now() const { return now_; }
  // Runs until then, or until something is wrong.
  void RunFor(Duration time);
  // What is wrong; empty: nothing.
  const std::string& wrong() const { return wrong_; }

  // Faults. Times that pass while one lasts are the caller's.
  void Crash(MemberIndex member);    // what was not stored is lost
  void Restart(MemberIndex member);  // from what is stored
  void Wipe(MemberIndex member);     // of a member that is down: its disk is new
  void Pause(MemberIndex member);    // takes and does nothing, keeps everything
  void Resume(MemberIndex member);
  void Cut(MemberIndex from, MemberIndex to, bool is_cut);  // one way
  void HealAll();
  void SetLoss(double loss) { options_.loss = loss; }
  // The member's store, or also all that goes to and from it, takes so many times as long.
  void SlowDisk(MemberIndex member, double factor) { disk_slowness_[member] = factor; }
  void Slow(MemberIndex member, double factor);

  bool lives(MemberIndex member) const;
  bool paused(MemberIndex member) const;
  ReplicaProtocol& member(MemberIndex member);
  // Who takes writes now and is leased, if anybody.
  std::optional<MemberIndex> Primary();
  Status StartByHand(MemberIndex member);
  // Offers a write to the primary, or to whoever believes to be it. False: nobody does.
  bool Write();
  // Writes every `pause` for `time`; how many were offered.
  int WriteFor(Duration time, Duration pause = std::chrono::milliseconds(2));
  // The longest time without an acknowledgement while writing every millisecond for `time`.
  Duration LongestGap(Duration time);
  size_t acknowledged_count() const { return acknowledged_.size(); }
  // Time from the offer to the acknowledgement, of every acknowledged write, in order of the offers.
  const std::vector<Duration>& write_times() const { return write_times_; }
  // Everybody is a secondary or the primary, nobody has less than is committed, and all with data are in the write set.
  bool IsWhole();
  // What each member is and has, in a line.
  std::string Describe();
  // Lets the member drop what nobody needs and it has executed.
  void DropLog(MemberIndex member, Lsn keep);
  int primary_count() const { return static_cast<int>(primaries_.size()); }

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
  void Store(MemberIndex member, const ReplicaActions& actions);
  void Send(MemberIndex from, OutgoingReplicaMessage outgoing);
  void Deliver(MemberIndex from, MemberIndex to, const ReplicaMessage& message);
  void Corrupt(MemberIndex from, ReplicaMessage* message);
  void BeginRestore(MemberIndex member, MemberIndex from);
  void Execute(MemberIndex member);
  void Check(MemberIndex member);
  TimePoint ClockOf(MemberIndex member) const;
  Duration Draw(Duration mean);
  double DrawShare();
  void TickAt(MemberIndex member);

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

  // What has happened, for the checks.
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
