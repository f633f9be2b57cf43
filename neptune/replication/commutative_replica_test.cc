#include "neptune/replication/commutative_replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What is done wrong on purpose.
enum class Bug {
  kNone,
  kReusesLife,       // a member with a new disk believes to be what it was
  kForgetsEntries,   // a change is called stored and is not
  kDropsEarly,       // the log drops what somebody lacks
  kForgetsLog,       // data are taken without the entries that not everybody has
  kForgetsCounts,    // what is dropped is not counted
  kRepeatsNumbers,   // a member begins its numbers anew with each start
  kClaimsReadiness,  // a new disk counts at once
};

// The members of one partition in virtual time, their disks, and a network that loses, delays, repeats and reorders.
class Cluster {
 public:
  Cluster(uint64_t seed, int member_count, Bug bug = Bug::kNone)
      : random_(seed), bug_(bug), disks_(member_count), lives_(member_count) {
    for (int i = 0; i < member_count; ++i) Start(i);
  }

  void RunFor(Duration time) {
    const TimePoint end = now_ + time;
    while (!events_.empty() && events_.top().at <= end && wrong_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
    }
    now_ = end;
  }
  void Start(int member) {
    if (lives_[member].replica) return;
    Disk& disk = disks_[member];
    if (disk.executed > disk.outline.base.lsn + disk.log.size()) {
      if (disk.outline.promise.is_founded) return Wrong("data of a ready member without their log");
      if (!disk.log.empty()) return Wrong("a log beside data of another");
      disk = Disk{.outline = {.promise = disk.outline.promise}, .generation = disk.generation};
    }
    OriginIndex index(disk.outline.base.lsn);
    for (const LogEntry& entry : disk.log) {
      const Status status = index.Append(entry);
      if (!status.ok()) return Wrong(StrCat(status.message()));
    }
    Life& life = lives_[member];
    life.number = ++life_count_;
    LogOutline found = disk.outline;
    uint64_t incarnation = life.number;
    if (bug_ == Bug::kReusesLife) incarnation = member + 1;
    if (bug_ == Bug::kRepeatsNumbers && !disk.log.empty()) {
      index = OriginIndex(disk.outline.base.lsn + disk.log.size());
    }
    if (bug_ == Bug::kClaimsReadiness && found.promise.epoch == 0) {
      found.promise = {.is_founded = true, .epoch = incarnation};
    }
    ReplicaGroup group;
    group.members.resize(disks_.size());
    group.self = static_cast<MemberIndex>(member);
    life.replica = std::make_unique<CommutativeReplica>(group, CommutativeReplicaOptions(), found,
                                                        std::move(index), incarnation, now_);
    Act(member);
    TickAt(member);
  }
  void Crash(int member) { lives_[member] = Life(); }
  void Wipe(int member) {
    Crash(member);
    const uint64_t generation = disks_[member].generation + 1;
    disks_[member] = Disk();
    disks_[member].generation = generation;
  }
  void SetLoss(double loss) { loss_ = loss; }
  void Cut(int from, int to, bool is_cut) {
    if (is_cut) cuts_.insert({from, to});
    if (!is_cut) cuts_.erase({from, to});
  }
  void HealAll() {
    loss_ = 0;
    cuts_.clear();
    for (size_t i = 0; i < disks_.size(); ++i) Start(static_cast<int>(i));
  }
  bool lives(int member) const { return lives_[member].replica != nullptr; }
  bool is_ready(int member) const { return lives(member) && lives_[member].replica->is_ready(); }
  const std::string& wrong() const { return wrong_; }
  int restore_count() const { return restore_count_; }
  size_t log_size(int member) const { return disks_[member].log.size(); }

  bool Write(int member) {
    if (!lives(member)) return false;
    LogEntry write = {.request_id = {.client = 1, .number = ++write_count_}};
    const bool is_taken = lives_[member].replica->Propose(std::move(write), now_).ok();
    Act(member);
    return is_taken;
  }
  void DropLog(int member) {
    if (!lives(member)) return;
    Life& life = lives_[member];
    Disk& disk = disks_[member];
    Lsn first = std::min(life.replica->needed_from(), disk.executed + 1);
    if (bug_ == Bug::kDropsEarly || bug_ == Bug::kForgetsCounts) first = disk.executed + 1;
    while (!disk.log.empty() && disk.outline.base.lsn + 1 < first) {
      disk.outline.base = {disk.log.front().lsn, 0};
      disk.log.erase(disk.log.begin());
    }
    if (first > 0) life.replica->Dropped(first);
    if (bug_ != Bug::kForgetsCounts) life.replica->NoteCounts(now_);
    Act(member);
  }
  // What was acknowledged by a member whose disk still is the same.
  std::set<uint64_t> Kept() const {
    std::set<uint64_t> kept;
    for (const auto& [write, where] : acknowledged_) {
      if (disks_[where.first].generation == where.second) kept.insert(write);
    }
    return kept;
  }
  bool HasConverged() const {
    for (size_t i = 0; i < lives_.size(); ++i) {
      if (!is_ready(static_cast<int>(i))) return false;
      if (disks_[i].writes != disks_[0].writes) return false;
    }
    return true;
  }
  // What each member is and has, in a line.
  std::string Describe() const {
    std::string text;
    for (size_t i = 0; i < lives_.size(); ++i) {
      const int member = static_cast<int>(i);
      StrAppend(&text, "\n  ", i, is_ready(member) ? " ready" : " not ready", ", log ",
                disks_[i].outline.base.lsn, " to ",
                disks_[i].outline.base.lsn + disks_[i].log.size(), ", writes ",
                disks_[i].writes.size());
      for (const auto& [origin, count] : lives_[i].replica->CountsAt(disks_[i].executed)) {
        StrAppend(&text, "  ", int{origin.member}, "/", origin.life, ": ", count);
      }
    }
    return text;
  }
  std::set<uint64_t> WritesOf(int member) const { return disks_[member].writes; }
  size_t acknowledged_count() const { return acknowledged_.size(); }

 private:
  struct Disk {
    LogOutline outline;
    std::vector<LogEntry> log;  // from outline.base.lsn + 1
    Lsn executed = 0;
    std::set<uint64_t> writes;  // of what is executed
    uint64_t generation = 0;
  };
  struct Life {
    std::unique_ptr<CommutativeReplica> replica;
    uint64_t number = 0;
    TimePoint tick_at = kNever;
    TimePoint stored_at{};
    bool is_restoring = false;
  };
  struct Event {
    TimePoint at;
    uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void At(TimePoint at, std::function<void()> run) { events_.push({at, ++order_, std::move(run)}); }
  // Runs only if the member still lives this life.
  void AtIn(int member, TimePoint at, std::function<void()> run) {
    At(at, [this, member, number = lives_[member].number, run = std::move(run)] {
      if (lives(member) && lives_[member].number == number) run();
    });
  }
  Duration RandomDelay(Duration mean) {
    return Duration(static_cast<int64_t>(random_.Exponential(static_cast<double>(mean.count()))));
  }
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  void TickAt(int member) {
    Life& life = lives_[member];
    const TimePoint at = std::max(life.replica->NextEvent(), now_ + microseconds(1));
    if (at >= life.tick_at && life.tick_at > now_) return;
    life.tick_at = at;
    AtIn(member, at, [this, member] {
      lives_[member].replica->Tick(now_);
      Act(member);
    });
  }
  void Act(int member) {
    Life& life = lives_[member];
    const CommutativeActions actions = life.replica->TakeActions();
    if (!actions.change.empty()) {
      life.stored_at = std::max(life.stored_at, now_) + RandomDelay(milliseconds(1));
      AtIn(member, life.stored_at, [this, member, actions] { Store(member, actions); });
    }
    for (const OutgoingCommutativeMessage& outgoing : actions.messages) Send(member, outgoing);
    if (actions.restore_from) Restore(member, *actions.restore_from);
    TickAt(member);
  }
  void Store(int member, const CommutativeActions& actions) {
    Disk& disk = disks_[member];
    const LogChange& change = actions.change;
    if (change.promise) disk.outline.promise = *change.promise;
    if (change.restart) {
      disk.log.clear();
      disk.outline.base = change.restart->base;
    }
    for (const LogEntry& entry : change.entries) {
      if (entry.lsn != disk.outline.base.lsn + disk.log.size() + 1) Wrong("a gap in a log");
      if (bug_ == Bug::kForgetsEntries && random_.Below(20) == 0) break;
      disk.log.push_back(entry);
    }
    lives_[member].replica->Stored(actions.change_number, now_);
    Execute(member);
    Act(member);
  }
  void Execute(int member) {
    Disk& disk = disks_[member];
    while (disk.executed < lives_[member].replica->executable()) {
      const Lsn next = disk.executed + 1;
      if (next <= disk.outline.base.lsn || next > disk.outline.base.lsn + disk.log.size()) {
        return Wrong(StrCat("member ", member, " has no entry ", next, " to execute"));
      }
      const LogEntry& entry = disk.log[next - disk.outline.base.lsn - 1];
      disk.executed = next;
      if (entry.kind != EntryKind::kCommutativeWrite) continue;
      const uint64_t write = entry.request_id.number;
      const auto name = std::tuple(entry.origin.member, entry.origin.life, entry.origin.number);
      const auto [named, is_new] = names_.try_emplace(name, write);
      if (named->second != write) Wrong("an origin used a number twice");
      if (!disk.writes.insert(write).second) {
        Wrong(StrCat("member ", member, " executes write ", write, " twice"));
      }
      const bool is_own =
          entry.origin.member == member && entry.origin.life == disk.outline.promise.epoch;
      if (is_own) acknowledged_.try_emplace(write, std::pair(member, disk.generation));
    }
  }
  void Send(int from, const OutgoingCommutativeMessage& outgoing) {
    CommutativeMessage message = outgoing.message;
    const Disk& disk = disks_[from];
    for (const Lsn lsn : outgoing.entries) {
      if (lsn <= disk.outline.base.lsn || lsn > disk.outline.base.lsn + disk.log.size()) {
        return Wrong(StrCat("member ", from, " is to send entry ", lsn, ", which it has not"));
      }
      message.entries.push_back(disk.log[lsn - disk.outline.base.lsn - 1]);
    }
    const int to = outgoing.to;
    const int copies = random_.Below(20) == 0 ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (random_.Uniform() < loss_ || cuts_.contains({from, to})) continue;
      const auto decoded = DecodeCommutativeMessage(EncodeCommutativeMessage(message));
      if (!decoded.ok()) return Wrong(StrCat(decoded.status().message()));
      At(now_ + microseconds(100) + RandomDelay(microseconds(400)),
         [this, from, to, message = *decoded] {
           if (!lives(to)) return;
           lives_[to].replica->Step(static_cast<MemberIndex>(from), message, now_);
           Act(to);
         });
    }
  }
  void Restore(int member, int from) {
    if (lives_[member].is_restoring) return;
    lives_[member].is_restoring = true;
    const TimePoint at = std::max(now_, lives_[member].stored_at) + milliseconds(20);
    AtIn(member, at, [this, member, from] {
      lives_[member].is_restoring = false;
      if (!lives(from) || cuts_.contains({from, member})) return;
      ++restore_count_;
      const Disk& source = disks_[from];
      disks_[member].executed = source.executed;
      disks_[member].writes = source.writes;
      Lsn base = source.outline.base.lsn;
      std::vector<LogEntry> log = source.log;
      if (bug_ == Bug::kForgetsLog) {
        base = source.executed;
        log.erase(log.begin(),
                  log.begin() + static_cast<ptrdiff_t>(base - source.outline.base.lsn));
      }
      lives_[member].replica->Restored(base, lives_[from].replica->CountsAt(base), log, now_);
      Act(member);
    });
  }

  RandomSource random_;
  const Bug bug_;
  TimePoint now_{seconds(1)};
  uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::vector<Disk> disks_;
  std::vector<Life> lives_;
  uint64_t life_count_ = 100;
  uint64_t write_count_ = 0;
  double loss_ = 0;
  std::set<std::pair<int, int>> cuts_;
  std::map<std::tuple<MemberIndex, uint64_t, uint64_t>, uint64_t> names_;
  std::map<uint64_t, std::pair<int, uint64_t>> acknowledged_;  // by whom, on which disk
  int restore_count_ = 0;
  std::string wrong_;
};

void WriteFor(Cluster& cluster, RandomSource& random, int member_count, Duration time) {
  for (Duration passed{0}; passed < time; passed += milliseconds(3)) {
    cluster.Write(static_cast<int>(random.Below(member_count)));
    cluster.RunFor(milliseconds(3));
  }
}

// Random faults of all kinds while writes come; then all heals. Returns what is wrong.
std::string RunHistory(uint64_t seed, Bug bug, int* restore_count = nullptr) {
  RandomSource random(seed);
  const int count = 2 + static_cast<int>(random.Below(4));
  Cluster cluster(seed + 1'000'000, count, bug);
  cluster.RunFor(seconds(1));
  for (int step = 0; step < 40 && cluster.wrong().empty(); ++step) {
    const int member = static_cast<int>(random.Below(count));
    switch (random.Below(8)) {
      case 0:
        cluster.Crash(member);
        break;
      case 1:
        // Never all disks: who is left has what was dropped elsewhere.
        if (member != 0) cluster.Wipe(member);
        break;
      case 2:
      case 3:
        cluster.Start(member);
        break;
      case 4:
        cluster.Cut(member, static_cast<int>(random.Below(count)), random.Below(2) == 0);
        break;
      case 5:
        cluster.SetLoss(0.3 * random.Uniform());
        break;
      case 6:
        cluster.DropLog(member);
        break;
      default:
        cluster.HealAll();
    }
    WriteFor(cluster, random, count, milliseconds(30 + random.Below(400)));
  }
  cluster.HealAll();
  cluster.RunFor(seconds(20));
  if (restore_count != nullptr) *restore_count += cluster.restore_count();
  if (!cluster.wrong().empty()) return cluster.wrong();
  if (!cluster.HasConverged()) return "the members differ:" + cluster.Describe();
  const std::set<uint64_t> kept = cluster.Kept();
  const std::set<uint64_t> has = cluster.WritesOf(0);
  if (!std::includes(has.begin(), has.end(), kept.begin(), kept.end())) {
    return "an acknowledged write is lost";
  }
  return "";
}

TEST(CommutativeReplicaTest, NewPartitionTakesWritesEverywhere) {
  for (const int count : {1, 2, 3, 5}) {
    Cluster cluster(1, count);
    cluster.RunFor(seconds(1));
    for (int i = 0; i < count; ++i) EXPECT_TRUE(cluster.Write(i)) << count << " members";
    cluster.RunFor(seconds(1));
    EXPECT_TRUE(cluster.HasConverged());
    EXPECT_EQ(cluster.WritesOf(0).size(), static_cast<size_t>(count));
    EXPECT_EQ(cluster.wrong(), "");
  }
}

TEST(CommutativeReplicaTest, MemberThatIsCutOffStillTakesWrites) {
  Cluster cluster(1, 3);
  cluster.RunFor(seconds(1));
  for (const int other : {1, 2}) {
    cluster.Cut(0, other, true);
    cluster.Cut(other, 0, true);
  }
  for (int i = 0; i < 50; ++i) {
    for (int member = 0; member < 3; ++member) EXPECT_TRUE(cluster.Write(member));
    cluster.RunFor(milliseconds(20));
  }
  EXPECT_EQ(cluster.acknowledged_count(), 150u);
  EXPECT_EQ(cluster.WritesOf(0).size(), 50u);
  EXPECT_EQ(cluster.WritesOf(1).size(), 100u);
  cluster.HealAll();
  cluster.RunFor(seconds(2));
  EXPECT_TRUE(cluster.HasConverged());
  EXPECT_EQ(cluster.WritesOf(0).size(), 150u);
}

TEST(CommutativeReplicaTest, WritesOfAMemberThatIsAwayAreForwarded) {
  Cluster cluster(1, 3);
  cluster.RunFor(seconds(1));
  cluster.Crash(2);
  for (int i = 0; i < 20; ++i) cluster.Write(0);
  cluster.RunFor(seconds(1));
  cluster.Crash(0);
  cluster.Start(2);
  cluster.RunFor(seconds(2));
  EXPECT_EQ(cluster.WritesOf(2).size(), 20u);
}

TEST(CommutativeReplicaTest, BlankMemberWaitsForAllOrForOneThatIsReady) {
  Cluster cluster(1, 3);
  cluster.RunFor(seconds(1));
  cluster.Write(0);
  cluster.RunFor(seconds(1));
  cluster.Wipe(1);
  cluster.Crash(0);
  cluster.Crash(2);
  cluster.Start(1);
  cluster.RunFor(seconds(5));
  EXPECT_FALSE(cluster.Write(1));
  cluster.Start(2);
  cluster.RunFor(seconds(2));
  EXPECT_TRUE(cluster.Write(1));
  EXPECT_EQ(cluster.WritesOf(1).size(), 1u);
}

TEST(CommutativeReplicaTest, MemberWithANewDiskIsGivenWhatWasDropped) {
  Cluster cluster(1, 3);
  cluster.RunFor(seconds(1));
  for (int i = 0; i < 30; ++i) cluster.Write(i % 3);
  cluster.RunFor(seconds(1));
  for (int round = 0; round < 2; ++round) {
    for (int member = 0; member < 3; ++member) cluster.DropLog(member);
    cluster.RunFor(seconds(1));
  }
  EXPECT_LT(cluster.log_size(0), 10u);
  cluster.Wipe(2);
  cluster.Start(2);
  cluster.RunFor(seconds(2));
  EXPECT_EQ(cluster.restore_count(), 1);
  EXPECT_EQ(cluster.WritesOf(2).size(), 30u);
  EXPECT_TRUE(cluster.Write(2));
  cluster.RunFor(seconds(1));
  EXPECT_TRUE(cluster.HasConverged());
  EXPECT_EQ(cluster.WritesOf(0).size(), 31u);
}

// Member 1 gets member 2's data while member 0 has not all of them; then member 2's disk is lost.
bool ReachesAllFromARestoredMember(Bug bug) {
  Cluster cluster(1, 3, bug);
  cluster.RunFor(seconds(1));
  for (int i = 0; i < 10; ++i) cluster.Write(2);
  cluster.RunFor(seconds(1));
  for (int round = 0; round < 2; ++round) {
    cluster.DropLog(2);
    cluster.RunFor(seconds(1));
  }
  cluster.Crash(0);
  for (int i = 0; i < 10; ++i) cluster.Write(2);
  cluster.RunFor(seconds(1));
  cluster.Wipe(1);
  cluster.Start(1);
  cluster.RunFor(seconds(2));
  EXPECT_EQ(cluster.restore_count(), 1);
  cluster.Wipe(2);
  cluster.HealAll();
  cluster.RunFor(seconds(5));
  return cluster.HasConverged() && cluster.WritesOf(0).size() == 20 && cluster.wrong().empty();
}

TEST(CommutativeReplicaTest, RestoredMemberHasWhatOthersStillNeed) {
  EXPECT_TRUE(ReachesAllFromARestoredMember(Bug::kNone));
  EXPECT_FALSE(ReachesAllFromARestoredMember(Bug::kForgetsLog));
}

TEST(CommutativeReplicaTest, LogIsNotDroppedWhileAMemberIsBehind) {
  Cluster cluster(1, 3);
  cluster.RunFor(seconds(1));
  cluster.Crash(2);
  for (int i = 0; i < 30; ++i) cluster.Write(0);
  cluster.RunFor(seconds(1));
  for (int round = 0; round < 2; ++round) {
    cluster.DropLog(0);
    cluster.RunFor(seconds(1));
  }
  EXPECT_GE(cluster.log_size(0), 30u);
}

TEST(CommutativeReplicaTest, RandomHistoriesLoseAndRepeatNothing) {
  int restore_count = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    ASSERT_EQ(RunHistory(seed, Bug::kNone, &restore_count), "") << "seed " << seed;
  }
  EXPECT_GT(restore_count, 3);
}

TEST(CommutativeReplicaTest, PlantedBugsAreFound) {
  for (const Bug bug : {Bug::kReusesLife, Bug::kForgetsEntries, Bug::kDropsEarly,
                        Bug::kForgetsCounts, Bug::kRepeatsNumbers, Bug::kClaimsReadiness}) {
    bool is_found = false;
    for (uint64_t seed = 1; seed <= 60 && !is_found; ++seed)
      is_found = !RunHistory(seed, bug).empty();
    EXPECT_TRUE(is_found) << "bug " << static_cast<int>(bug);
  }
}

}  // namespace
}  // namespace neptune
