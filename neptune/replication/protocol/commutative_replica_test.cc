#include "neptune/replication/protocol/commutative_replica.h"

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

// Bugs that a test can plant.
enum class Bug {
  kNone,
  kReusesLife,       // a member with a new disk continues its old life
  kForgetsEntries,   // a change is reported as stored but is not
  kDropsEarly,       // the log drops entries that another member lacks
  kForgetsLog,       // data are restored without the entries that some members lack
  kForgetsCounts,    // dropped entries are not counted
  kRepeatsNumbers,   // a member restarts its numbers with each start
  kClaimsReadiness,  // a new disk counts at once
};

// The members of one partition in virtual time, their disks, and a network that loses, delays,
// duplicates and reorders messages.
class Cluster {
 public:
  Cluster(uint64_t seed, int member_count, Bug bug = Bug::kNone)
      : random_(seed), bug_(bug), disks_(member_count), lives_(member_count) {
    for (int i = 0; i < member_count; ++i) members_.push_back(i);
    for (int i = 0; i < member_count; ++i) Start(i);
  }
  // Stops all members; the given ones start again as members in this order.
  void ChangeMembers(std::vector<int> members) {
    for (size_t i = 0; i < disks_.size(); ++i) Crash(static_cast<int>(i));
    for (const int member : members) {
      const bool has_been = static_cast<size_t>(member) < disks_.size();
      if (has_been && !PlaceOf(member)) has_returned_ = true;
    }
    members_ = std::move(members);
    disks_.resize(std::max(disks_.size(), MaxOf(members_) + 1));
    lives_.resize(disks_.size());
    for (const int member : members_) Start(member);
  }
  const std::vector<int>& members() const { return members_; }
  // Present and former members.
  int host_count() const { return static_cast<int>(disks_.size()); }

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
    if (lives_[member].replica || !PlaceOf(member)) return;
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
    group.members.resize(members_.size());
    group.self = *PlaceOf(member);
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
      const LogEntry& entry = disk.log.front();
      if (entry.kind == EntryKind::kCommutativeWrite) dropped_.insert(entry.request_id.number);
      disk.log.erase(disk.log.begin());
    }
    for (const int other : members_) {
      if (is_ready(other) && !has_returned_) CheckHasAllDropped(other);
    }
    if (first > 0) life.replica->Dropped(first);
    if (bug_ != Bug::kForgetsCounts) life.replica->NoteCounts(now_);
    Act(member);
  }
  // Writes acknowledged by a present member that still has the same disk.
  std::set<uint64_t> Kept() const {
    std::set<uint64_t> kept;
    for (const auto& [write, where] : acknowledged_) {
      const bool is_same = disks_[where.first].generation == where.second;
      if (is_same && PlaceOf(where.first)) kept.insert(write);
    }
    return kept;
  }
  bool HasConverged() const {
    return std::all_of(members_.begin(), members_.end(), [this](int member) {
      return is_ready(member) && disks_[member].writes == disks_[members_[0]].writes;
    });
  }
  // State of each member, one line each.
  std::string Describe() const {
    std::string text;
    for (size_t i = 0; i < lives_.size(); ++i) {
      const int member = static_cast<int>(i);
      StrAppend(&text, "\n  ", i, is_ready(member) ? " ready" : " not ready", ", log ",
                disks_[i].outline.base.lsn, " to ",
                disks_[i].outline.base.lsn + disks_[i].log.size(), ", writes ",
                disks_[i].writes.size());
      if (!lives(member)) continue;
      for (const auto& [origin, count] : lives_[i].replica->CountsAt(disks_[i].executed)) {
        StrAppend(&text, "  ", origin, ": ", count);
      }
    }
    return text;
  }
  std::set<uint64_t> WritesOf(int member) const { return disks_[member].writes; }
  size_t acknowledged_count() const { return acknowledged_.size(); }

 private:
  static size_t MaxOf(const std::vector<int>& members) {
    return static_cast<size_t>(*std::max_element(members.begin(), members.end()));
  }
  std::optional<MemberIndex> PlaceOf(int member) const {
    const auto found = std::find(members_.begin(), members_.end(), member);
    if (found == members_.end()) return std::nullopt;
    return static_cast<MemberIndex>(found - members_.begin());
  }

  struct Disk {
    LogOutline outline;
    std::vector<LogEntry> log;  // from outline.base.lsn + 1
    Lsn executed = 0;
    std::set<uint64_t> writes;  // executed writes
    uint64_t generation = 0;
  };
  struct Life {
    std::unique_ptr<CommutativeReplica> replica;
    uint64_t number = 0;
    bool is_ready = false;  // when last observed
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
  // Runs only if the member has not restarted since.
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
  // A ready member has everything that was dropped anywhere, and stays ready, unless a member
  // returned to the spec.
  void CheckReadiness(int member) {
    Life& life = lives_[member];
    if (has_returned_) return;
    if (life.is_ready && !is_ready(member)) Wrong(StrCat("member ", member, " is ready no more"));
    if (is_ready(member) && !std::exchange(life.is_ready, true)) CheckHasAllDropped(member);
  }
  void CheckHasAllDropped(int member) {
    const std::set<uint64_t>& writes = disks_[member].writes;
    if (!std::includes(writes.begin(), writes.end(), dropped_.begin(), dropped_.end())) {
      Wrong(StrCat("member ", member, " is ready and lacks what was dropped"));
    }
  }
  void Act(int member) {
    Life& life = lives_[member];
    const CommutativeActions actions = life.replica->DrainActions();
    if (!actions.change.empty()) {
      life.stored_at = std::max(life.stored_at, now_) + RandomDelay(milliseconds(1));
      AtIn(member, life.stored_at, [this, member, actions] { Store(member, actions); });
    }
    for (const OutgoingCommutativeMessage& outgoing : actions.at_once) Send(member, outgoing);
    if (actions.restore_from) Restore(member, members_[*actions.restore_from]);
    CheckReadiness(member);
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
      const auto name = std::pair(entry.origin.life, entry.origin.number);
      const auto [named, is_new] = names_.try_emplace(name, write);
      if (named->second != write) Wrong("an origin used a number twice");
      if (!disk.writes.insert(write).second) {
        Wrong(StrCat("member ", member, " executes write ", write, " twice"));
      }
      const bool is_own = entry.origin.life == disk.outline.promise.epoch;
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
    const int to = members_[outgoing.to];
    const int copies = random_.Below(20) == 0 ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (random_.Uniform() < loss_ || cuts_.contains({from, to})) continue;
      const auto decoded = DecodeCommutativeMessage(EncodeCommutativeMessage(message));
      if (!decoded.ok()) return Wrong(StrCat(decoded.status().message()));
      At(now_ + microseconds(100) + RandomDelay(microseconds(400)),
         [this, from, to, message = *decoded] {
           if (!lives(to) || !PlaceOf(from)) return;
           lives_[to].replica->Step(*PlaceOf(from), message, now_);
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
  std::vector<int> members_;  // in the order of the spec
  std::vector<Disk> disks_;
  std::vector<Life> lives_;
  uint64_t life_count_ = 100;
  uint64_t write_count_ = 0;
  double loss_ = 0;
  std::set<std::pair<int, int>> cuts_;
  bool has_returned_ = false;
  std::set<uint64_t> dropped_;  // from any log
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> names_;
  std::map<uint64_t, std::pair<int, uint64_t>> acknowledged_;  // write -> member and disk
  int restore_count_ = 0;
  std::string wrong_;
};

void WriteFor(Cluster& cluster, RandomSource& random, Duration time) {
  for (Duration passed{0}; passed < time; passed += milliseconds(3)) {
    cluster.Write(static_cast<int>(random.Below(cluster.host_count())));
    cluster.RunFor(milliseconds(3));
  }
}

// Adds a member, with a new or an old disk, or removes one; the others change their positions. The
// first one stays.
std::vector<int> OtherMembers(RandomSource& random, std::vector<int> members) {
  const int changed = 1 + static_cast<int>(random.Below(6));
  const auto found = std::find(members.begin(), members.end(), changed);
  if (found == members.end()) {
    members.push_back(changed);
  } else if (members.size() > 2) {
    members.erase(found);
  }
  for (size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random.Below(i)]);
  return members;
}

// Random faults of all kinds during writes; then all faults end. Returns the first violation.
std::string RunHistory(uint64_t seed, Bug bug, int* restore_count = nullptr) {
  RandomSource random(seed);
  const int count = 2 + static_cast<int>(random.Below(4));
  Cluster cluster(seed + 1'000'000, count, bug);
  cluster.RunFor(seconds(1));
  for (int step = 0; step < 40 && cluster.wrong().empty(); ++step) {
    const int member = static_cast<int>(random.Below(cluster.host_count()));
    switch (random.Below(9)) {
      case 0:
        cluster.Crash(member);
        break;
      case 1:
        // Never all disks: a remaining one has everything that was dropped elsewhere.
        if (member != 0) cluster.Wipe(member);
        break;
      case 2:
      case 3:
        cluster.Start(member);
        break;
      case 4:
        cluster.Cut(member, static_cast<int>(random.Below(cluster.host_count())),
                    random.Below(2) == 0);
        break;
      case 5:
        cluster.SetLoss(0.3 * random.Uniform());
        break;
      case 6:
        cluster.DropLog(member);
        break;
      case 7:
        cluster.ChangeMembers(OtherMembers(random, cluster.members()));
        break;
      default:
        cluster.HealAll();
    }
    WriteFor(cluster, random, milliseconds(30 + random.Below(400)));
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

// The removed member has writes that only one of the other two has when the spec changes.
TEST(CommutativeReplicaTest, WritesOfARemovedMemberStillReachTheOthers) {
  for (int removed = 0; removed < 3; ++removed) {
    const int holder = (removed + 1) % 3;
    const int other = (removed + 2) % 3;
    Cluster cluster(1, 3);
    cluster.RunFor(seconds(1));
    cluster.Crash(other);
    for (int i = 0; i < 20; ++i) cluster.Write(removed);
    cluster.RunFor(seconds(1));
    cluster.ChangeMembers({other, holder});
    cluster.RunFor(seconds(2));
    EXPECT_EQ(cluster.WritesOf(other).size(), 20u) << "without " << removed;
    EXPECT_TRUE(cluster.Write(other) && cluster.Write(holder));
    cluster.RunFor(seconds(1));
    EXPECT_TRUE(cluster.HasConverged()) << cluster.Describe();
    EXPECT_EQ(cluster.WritesOf(holder).size(), 22u);
    EXPECT_EQ(cluster.wrong(), "");
  }
}

TEST(CommutativeReplicaTest, AddedMemberGetsAllDataAtAnyPosition) {
  for (const std::vector<int>& members :
       {std::vector{3, 0, 1, 2}, std::vector{0, 3, 2, 1}, std::vector{2, 1, 0, 3}}) {
    Cluster cluster(1, 3);
    cluster.RunFor(seconds(1));
    for (int i = 0; i < 30; ++i) cluster.Write(i % 3);
    cluster.RunFor(milliseconds(20));
    cluster.ChangeMembers(members);
    cluster.RunFor(seconds(2));
    for (const int member : members) EXPECT_TRUE(cluster.Write(member));
    cluster.RunFor(seconds(1));
    EXPECT_TRUE(cluster.HasConverged()) << cluster.Describe();
    EXPECT_EQ(cluster.wrong(), "");
    const std::set<uint64_t> kept = cluster.Kept();
    EXPECT_EQ(cluster.WritesOf(3), kept);
    EXPECT_EQ(kept.size(), 34u);
  }
}

// It has its disk, but the others dropped what it missed, and it has writes that no other member
// has.
TEST(CommutativeReplicaTest, MemberThatComesBackIntoTheSpecGivesWhatOnlyItHasAndTakesTheRest) {
  Cluster cluster(1, 3);
  cluster.RunFor(seconds(1));
  for (const int other : {0, 1}) cluster.Cut(2, other, true);
  for (int i = 0; i < 10; ++i) cluster.Write(2);
  cluster.RunFor(seconds(1));
  EXPECT_EQ(cluster.WritesOf(0).size(), 0u);
  cluster.ChangeMembers({0, 1});
  cluster.RunFor(seconds(1));
  for (int i = 0; i < 30; ++i) cluster.Write(i % 2);
  cluster.RunFor(seconds(1));
  for (int round = 0; round < 2; ++round) {
    for (const int member : {0, 1}) cluster.DropLog(member);
    cluster.RunFor(seconds(1));
  }
  EXPECT_LT(cluster.log_size(0), 10u);
  cluster.HealAll();
  cluster.ChangeMembers({2, 0, 1});
  cluster.RunFor(seconds(3));
  EXPECT_EQ(cluster.restore_count(), 1);
  EXPECT_TRUE(cluster.HasConverged()) << cluster.Describe();
  EXPECT_EQ(cluster.WritesOf(0).size(), 40u);
  EXPECT_TRUE(cluster.Write(2));
  cluster.RunFor(seconds(1));
  EXPECT_EQ(cluster.WritesOf(1).size(), 41u);
  EXPECT_EQ(cluster.wrong(), "");
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
