// The queue beside other rules for a server under load, in a model of eight places and clients of
// several kinds: what each rule answers in time, and what it refuses.
//
// The numbers of README.md ("Admission") are printed here.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "neptune/base/strings.h"
#include "neptune/scheduling/admission_queue.h"

namespace neptune {
namespace {

constexpr uint32_t kSeed = 26;
constexpr size_t kPlaceCount = 8;
constexpr Duration kWaitMax = std::chrono::seconds(1);

TimePoint At(double seconds) { return TimePoint() + FromSeconds(1000 + seconds); }

using Request = AdmissionQueue::Request;

// A rule: which requests wait, and which is next.
class AdmissionRule {
 public:
  virtual ~AdmissionRule() = default;
  virtual bool Push(const Request& request, TimePoint now) = 0;
  virtual std::optional<RequestTicket> Next(TimePoint now) = 0;
  virtual void Remove(RequestTicket ticket) = 0;
  virtual void NoteGone(TimePoint) {}
  virtual void OnServed(Duration, TimePoint) {}
};

// The queue itself.
class OursRule final : public AdmissionRule {
 public:
  bool Push(const Request& request, TimePoint now) override {
    return queue_.Push(request, now).entry == AdmissionQueue::Entry::kTaken;
  }
  std::optional<RequestTicket> Next(TimePoint now) override {
    const auto picked = queue_.Pick(now, threads_);
    return picked.next ? std::optional(picked.next->ticket) : std::nullopt;
  }
  void Remove(RequestTicket ticket) override { queue_.Remove(ticket); }
  void NoteGone(TimePoint now) override { queue_.NoteGone(0, now); }
  void OnServed(Duration time, TimePoint now) override {
    queue_.OnServed(0, time / static_cast<int64_t>(kPlaceCount), time, now);
  }

 private:
  AdmissionQueue queue_{{}};
  ClassThreads threads_{{.all = 1}, 1};
};

// First come, first served, at most 40 wait.
class FixedLengthRule : public AdmissionRule {
 public:
  bool Push(const Request& request, TimePoint) override {
    if (waiting_.size() >= 40) return false;
    waiting_.push_back(request);
    return true;
  }
  std::optional<RequestTicket> Next(TimePoint) override { return Take(false); }
  void Remove(RequestTicket ticket) override {
    std::erase_if(waiting_, [&](const Request& one) { return one.ticket == ticket; });
  }

 protected:
  std::optional<RequestTicket> Take(bool newest) {
    if (waiting_.empty()) return std::nullopt;
    const RequestTicket ticket = newest ? waiting_.back().ticket : waiting_.front().ticket;
    newest ? waiting_.pop_back() : waiting_.pop_front();
    return ticket;
  }
  std::deque<Request> waiting_;
};

// Newest first for a second after a request that could not begin in time.
class NewestUnderOverloadRule final : public FixedLengthRule {
 public:
  bool Push(const Request& request, TimePoint now) override {
    const double wait = static_cast<double>(waiting_.size() + 1) * pace_s_;
    if (At(0) + FromSeconds(wait) > At(0) + kWaitMax) overload_until_ = now + kWaitMax;
    waiting_.push_back(request);
    return true;
  }
  std::optional<RequestTicket> Next(TimePoint now) override { return Take(now < overload_until_); }
  void OnServed(Duration, TimePoint now) override {
    if (ended_at_) pace_s_ += .01 * (ToSeconds(now - *ended_at_) - pace_s_);
    ended_at_ = now;
  }

 private:
  double pace_s_ = .002;
  std::optional<TimePoint> ended_at_;
  TimePoint overload_until_;
};

// Once a request could not begin in time, only a queue of a tenth of the limit is kept, until all
// that came in the last second was kept.
class ShortUnderOverloadRule final : public FixedLengthRule {
 public:
  bool Push(const Request& request, TimePoint now) override {
    const double wait = static_cast<double>(waiting_.size() + 1) * pace_s_;
    const double limit = ToSeconds(kWaitMax) * (now < overload_until_ ? .1 : 1);
    if (wait > limit) {
      overload_until_ = now + kWaitMax;
      return false;
    }
    waiting_.push_back(request);
    return true;
  }
  void OnServed(Duration, TimePoint now) override {
    if (ended_at_) pace_s_ += .01 * (ToSeconds(now - *ended_at_) - pace_s_);
    ended_at_ = now;
  }

 private:
  double pace_s_ = .002;
  std::optional<TimePoint> ended_at_;
  TimePoint overload_until_;
};

// Who asks, and how.
struct Load {
  std::string name;
  size_t closed_count = 0;    // clients that ask again as soon as they are answered
  double per_second = 0;      // requests of clients that come once
  double service_s = .01;     // mean
  double patience_s = 1e9;    // after which clients leave
  double refusal_hold_s = 0;  // how much later a refused closed client asks again
  double burst_at_s = 1e9;    // 2,000 requests come at once
};

struct Outcome {
  double good = 0;  // answers within 1.1 s, for each second
  double refused = 0;
  double late = 0;  // waited in vain
  double gone = 0;
  double p50_ms = 0;
  double p99_ms = 0;
};

// Runs a rule under a load for 22 s; requests of the 5th to the 20th second count.
class AdmissionModel {
 public:
  AdmissionModel(AdmissionRule& rule, const Load& load) : rule_(rule), load_(load) {}

  Outcome Run() {
    for (size_t i = 0; i < load_.closed_count; ++i) {
      Later(static_cast<double>(i) * 1e-4, [this, i] { Arrive(i + 1); });
    }
    if (load_.per_second > 0) Later(0, [this] { ArriveAndGoOn(); });
    Later(load_.burst_at_s, [this] {
      for (int i = 0; i < 2000; ++i) Arrive(0);
    });
    while (!events_.empty() && events_.top().at < kEnd) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
    }
    return Summary();
  }

 private:
  // How long a client in a closed loop takes to ask again; longer than in truth after a refusal,
  // because every one costs time here.
  static constexpr double kPause = 5e-4;
  static constexpr double kRefusalPause = 1e-2;
  static constexpr double kBegin = 5;
  static constexpr double kCounted = 20;
  static constexpr double kEnd = 22;
  struct Event {
    double at;
    uint64_t number;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Asked {
    size_t client;  // 0: comes once
    double at;
    bool waits = true;
  };

  void Later(double at, std::function<void()> run) {
    events_.push({at, next_number_++, std::move(run)});
  }
  // Service times vary as those of searches do: the standard deviation is half of the mean.
  double ServiceTime() { return std::gamma_distribution(4., load_.service_s / 4)(random_); }
  double Exponential(double mean) { return std::exponential_distribution(1 / mean)(random_); }

  void ArriveAndGoOn() {
    Arrive(0);
    Later(now_ + Exponential(1 / load_.per_second), [this] { ArriveAndGoOn(); });
  }

  void Arrive(size_t client) {
    const RequestTicket ticket = ++last_ticket_;
    const TimePoint now = At(now_);
    const bool taken =
        rule_.Push({.ticket = ticket, .arrived = now, .begin_by = now + kWaitMax}, now);
    if (!taken) return Ended({client, now_}, &Outcome::refused);
    asked_[ticket] = {client, now_};
    Later(now_ + std::min(load_.patience_s, ToSeconds(kWaitMax)), [this, ticket] {
      const auto found = asked_.find(ticket);
      if (found == asked_.end() || !found->second.waits) return;
      const Asked asked = found->second;
      asked_.erase(found);
      rule_.Remove(ticket);
      const bool leaves = load_.patience_s < ToSeconds(kWaitMax);
      if (leaves) rule_.NoteGone(At(now_));
      Ended(asked, leaves ? &Outcome::gone : &Outcome::late);
    });
    Begin();
  }

  void Begin() {
    while (busy_ < kPlaceCount) {
      const std::optional<RequestTicket> next = rule_.Next(At(now_));
      if (!next) return;
      ++busy_;
      Asked& asked = asked_.at(*next);
      asked.waits = false;
      const double service = ServiceTime();
      const double left = asked.at + load_.patience_s - now_;
      const bool leaves = service > left;
      Later(now_ + std::min(service, left), [this, ticket = *next, leaves, begun = now_] {
        --busy_;
        const Asked ended = asked_.at(ticket);
        asked_.erase(ticket);
        if (leaves) rule_.NoteGone(At(now_));
        rule_.OnServed(FromSeconds(now_ - begun), At(now_));
        Ended(ended, leaves ? &Outcome::gone : &Outcome::good);
        Begin();
      });
    }
  }

  void Ended(const Asked& asked, double Outcome::*how) {
    if (asked.at >= kBegin && asked.at < kCounted) {
      const double took = now_ - asked.at;
      if (how == &Outcome::good) {
        times_.push_back(took);
        outcome_.good += took <= 1.1 ? 1 : 0;
      } else {
        outcome_.*how += 1;
      }
    }
    if (asked.client == 0) return;
    const double pause =
        how == &Outcome::refused ? std::max(load_.refusal_hold_s, kRefusalPause) : kPause;
    Later(now_ + pause, [this, client = asked.client] { Arrive(client); });
  }

  Outcome Summary() {
    for (double Outcome::*one :
         {&Outcome::good, &Outcome::refused, &Outcome::late, &Outcome::gone}) {
      outcome_.*one /= kCounted - kBegin;
    }
    std::sort(times_.begin(), times_.end());
    if (times_.empty()) return outcome_;
    outcome_.p50_ms = times_[times_.size() / 2] * 1e3;
    outcome_.p99_ms = times_[times_.size() * 99 / 100] * 1e3;
    return outcome_;
  }

  AdmissionRule& rule_;
  const Load load_;
  std::mt19937 random_{kSeed};
  std::priority_queue<Event> events_;
  std::map<RequestTicket, Asked> asked_;
  std::vector<double> times_;
  Outcome outcome_;
  uint64_t next_number_ = 0;
  RequestTicket last_ticket_ = 0;
  size_t busy_ = 0;
  double now_ = 0;
};

template <typename Rule>
Outcome RunUnder(const char* name, const Load& load) {
  Rule rule;
  const Outcome out = AdmissionModel(rule, load).Run();
  std::cout << absl::StrFormat(
      "%-34s %-9s good %6.0f refused %7.0f late %5.0f gone %5.0f  p50 %5.0f p99 %5.0f ms\n",
      load.name, name, out.good, out.refused, out.late, out.gone, out.p50_ms, out.p99_ms);
  return out;
}

struct Outcomes {
  Outcome ours;
  Outcome fixed;
  Outcome newest;
  Outcome kept_short;
};

Outcomes RunAll(const Load& load) {
  return {.ours = RunUnder<OursRule>("ours", load),
          .fixed = RunUnder<FixedLengthRule>("40", load),
          .newest = RunUnder<NewestUnderOverloadRule>("newest", load),
          .kept_short = RunUnder<ShortUnderOverloadRule>("short", load)};
}

// What eight places serve in a second.
constexpr double kCapacity = 800;

class AdmissionRulesTest : public testing::Test {
 protected:
  testing::ScopedTrace trace_{__FILE__, __LINE__, StrCat("seed ", kSeed)};
};

TEST_F(AdmissionRulesTest, ClientsInAClosedLoopAreNotRefused) {
  for (const size_t count : {8u, 64u, 512u}) {
    const Outcomes all = RunAll({.name = StrCat("closed ", count), .closed_count = count});
    EXPECT_EQ(all.ours.refused + all.ours.late, 0) << count;
    EXPECT_GT(all.ours.good, (count > 8 ? .95 : .85) * kCapacity) << count;
    EXPECT_GE(all.fixed.refused, count > 48 ? all.fixed.good : 0) << count;
  }
}

// The burst is over after two seconds; what refuses more than once must forget it.
TEST_F(AdmissionRulesTest, ABurstDoesNotLeaveAClosedLoopRefused) {
  const Outcomes all = RunAll({.name = "closed 512, burst at 1 s",
                               .closed_count = 512,
                               .refusal_hold_s = 1,
                               .burst_at_s = 1});
  EXPECT_EQ(all.ours.refused + all.ours.late, 0);
  EXPECT_GT(all.ours.good, .95 * kCapacity);
  EXPECT_GT(all.newest.refused + all.newest.late + all.kept_short.refused, 100);
}

TEST_F(AdmissionRulesTest, TwiceTheCapacityIsServedAtTheCapacityInTime) {
  for (const double factor : {.9, 1.1, 2., 5.}) {
    const Outcomes all =
        RunAll({.name = absl::StrFormat("open %.1f x", factor), .per_second = factor * kCapacity});
    EXPECT_GT(all.ours.good, .95 * std::min(1., factor) * kCapacity) << factor;
    EXPECT_LT(all.ours.p99_ms, 1100) << factor;
    EXPECT_LT(all.ours.late, .05 * factor * kCapacity) << "most are refused at once";
  }
}

TEST_F(AdmissionRulesTest, ClientsThatLeaveEarlyAreServedBeforeTheyDo) {
  const Outcomes all = RunAll(
      {.name = "open 2 x, leave after 50 ms", .per_second = 2 * kCapacity, .patience_s = .05});
  EXPECT_GT(all.ours.good, .75 * kCapacity);
  EXPECT_GT(all.ours.good, 1.2 * all.fixed.good);
}

TEST_F(AdmissionRulesTest, MoreClientsThanCanWaitAreServedAtTheCapacity) {
  const Outcomes all =
      RunAll({.name = "closed 2000, refusals held 1 s", .closed_count = 2000, .refusal_hold_s = 1});
  EXPECT_GT(all.ours.good, .95 * kCapacity);
  EXPECT_LT(all.ours.refused, .75 * all.fixed.refused);
}

}  // namespace
}  // namespace neptune
