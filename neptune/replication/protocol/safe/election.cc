#include "neptune/replication/protocol/safe/election.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Number of stores that an election waits for: a candidate's and a voter's promise, each behind a
// change that is being stored.
constexpr int kStoreCount = 4;
// Fruitless trials after which a candidate no longer doubles its pause: half a second by default.
constexpr int kFruitlessMax = 3;
// No member can have promised an epoch this far above the ones known here.
constexpr Epoch kByHandEpochStep = Epoch{1} << 20;

uint64_t NextState(uint64_t state) {  // splitmix64
  state += 0x9e3779b97f4a7c15u;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Election::Election(const ReplicaGroup& group, const SafeReplicaOptions& options, MemberLog& log,
                   ReplicaOutbox& outbox, const StoreTime& store_time, const Start& start)
    : group_(group),
      options_(options),
      log_(log),
      outbox_(outbox),
      store_time_(store_time),
      promise_(start.promise),
      random_state_(start.seed),
      heard_primary_at_(start.now) {}

void Election::TakePart() {
  promise_.is_founded = true;
  log_.Promise(promise_);
}

void Election::Promise(Epoch epoch, std::optional<MemberIndex> voted_for) {
  promise_.epoch = epoch;
  promise_.voted_for = voted_for;
  log_.Promise(promise_);
}

// Timeouts.

Duration Election::RandomUpTo(Duration most) {
  random_state_ += 0x9e3779b97f4a7c15u;
  return Duration(static_cast<int64_t>(NextState(random_state_) %
                                       static_cast<uint64_t>(std::max<int64_t>(1, most.count()))));
}

void Election::AwaitFor(Duration silence, TimePoint now) {
  rest_until_.reset();
  if (!participates()) return;
  due_at_ = now + silence + Delay(now);
}

Duration Election::Delay(TimePoint now) {
  const bool is_last = group_.IsWitness(group_.self) || !has_room_;
  const int rank = is_last ? group_.size() : group_.self;
  return kStoreCount * store_time_.typical(now) + rank * options_.election_step +
         RandomUpTo(options_.election_spread);
}

void Election::Doubt(TimePoint heard_at, TimePoint now) {
  due_at_ = heard_at + options_.election_timeout + Delay(now);
}

void Election::OnMessageFromPrimary(TimePoint now) {
  heard_primary_at_ = now;
  Await(now);
}

// Votes for others.

bool Election::HasNothingNewerThan(const ReplicaMessage& ask) const {
  const Epoch last_epoch = log_.last_epoch();
  return ask.prev_epoch != last_epoch ? ask.prev_epoch > last_epoch
                                      : ask.prev_lsn >= log_.last_lsn();
}

bool Election::MayVote(const ReplicaMessage& ask, bool is_primary, TimePoint now) const {
  return ask.hand_over || (!is_primary && IsQuietFor(options_.election_timeout, now));
}

bool Election::WouldGrant(const ReplicaMessage& trial, bool is_primary, TimePoint now) const {
  return trial.epoch > promise_.epoch && MayVote(trial, is_primary, now) &&
         HasNothingNewerThan(trial);
}

bool Election::Grant(MemberIndex from, const ReplicaMessage& ask, bool is_primary, TimePoint now) {
  const bool is_free =
      ask.epoch == promise_.epoch && promise_.voted_for.value_or(from) == from && !is_primary;
  if (!is_free || !HasNothingNewerThan(ask)) return false;
  if (!promise_.voted_for) Promise(promise_.epoch, from);
  Await(now);
  return true;
}

// Candidacies.

Election::Result Election::Ask(const Candidacy& candidacy, TimePoint now) {
  is_trial_ = candidacy.is_trial;
  votes_ = MemberSet().With(group_.self);
  if (!is_trial_) Promise(promise_.epoch + 1, group_.self);
  AwaitFor(options_.election_step * (1 << std::min(fruitless_count_, kFruitlessMax)), now);
  if (is_trial_) ++fruitless_count_;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self || !outbox_.Knows(to)) continue;
    ReplicaMessage ask = outbox_.Make(ReplicaMessageKind::kAskVote, to, promise_.epoch);
    if (is_trial_) ++ask.epoch;
    ask.trial = is_trial_;
    ask.hand_over = candidacy.is_hand_over;
    ask.prev_lsn = log_.last_lsn();
    ask.prev_epoch = log_.last_epoch();
    outbox_.SendAfterStored(to, std::move(ask));
  }
  return CountVotes();
}

Election::Result Election::Count(MemberIndex from, const ReplicaMessage& vote) {
  const Epoch asked = is_trial_ ? promise_.epoch + 1 : promise_.epoch;
  if (vote.trial != is_trial_ || vote.epoch != asked) return Result::kOpen;
  votes_ = votes_.With(from);
  return CountVotes();
}

Election::Result Election::CountVotes() const {
  if (votes_.size() < group_.majority()) return Result::kOpen;
  return is_trial_ ? Result::kTrial : Result::kElected;
}

// Start by hand.

void Election::BeginByHand(Epoch known, TimePoint now) {
  Promise(std::max(promise_.epoch, known) + kByHandEpochStep, group_.self);
  by_hand_epoch_ = promise_.epoch;
  by_hand_change_.reset();
  Await(now);
}

void Election::NoteDrained(uint64_t change_number) {
  if (by_hand_epoch_ != 0 && !by_hand_change_) by_hand_change_ = change_number;
}

bool Election::IsElectedByHand(uint64_t stored_number) {
  const bool is_stored =
      by_hand_epoch_ != 0 && by_hand_change_ && stored_number >= *by_hand_change_;
  if (!is_stored) return false;
  const bool is_overtaken = promise_.epoch != by_hand_epoch_ || promise_.voted_for != group_.self;
  by_hand_epoch_ = 0;
  if (!is_overtaken) AssumeVotes();
  return !is_overtaken;
}

// A majority, of those that this member has heard first.
void Election::AssumeVotes() {
  votes_ = MemberSet().With(group_.self);
  for (const bool heard : {true, false}) {
    for (MemberIndex member = 0; member < group_.size(); ++member) {
      if (votes_.size() < group_.majority() && heard == outbox_.Knows(member)) {
        votes_ = votes_.With(member);
      }
    }
  }
}

}  // namespace neptune
