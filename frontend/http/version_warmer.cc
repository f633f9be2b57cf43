#include "frontend/http/version_warmer.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <utility>

#include "neptune/service/client.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::StatusOr;
using neptune::TimePoint;
using neptune::this_thread::Now;
using neptune::this_thread::SleepFor;

// Between attempts to ask a version that the servers may not have opened yet.
constexpr Duration kOpenPoll = std::chrono::milliseconds(250);
constexpr Duration kGiveWayPoll = std::chrono::milliseconds(5);

// The class whose requests are worth least.
neptune::ClassNumber LowestClass(const neptune::SchedulerOptions& scheduling) {
  const auto worth = [](const neptune::ServiceClassOptions& one) {
    return one.yield.has_value() ? one.yield->full() : 1;
  };
  const auto lowest =
      std::min_element(scheduling.classes.begin(), scheduling.classes.end(),
                       [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  return static_cast<neptune::ClassNumber>(lowest - scheduling.classes.begin());
}

// Equal for requests that need the same answer.
std::string NameOf(const SearchPageRequest& question) {
  SearchPageRequest same = question;
  same.format = PageFormat::kHtml;
  same.fold = question.folds();
  same.first = 0;
  same.timeout = std::chrono::milliseconds(0);
  return SearchPath(same);
}

}  // namespace

StatusOr<VersionWarmer::Metrics> VersionWarmer::Metrics::Make(neptune::MetricsRegistry& registry) {
  Metrics metrics;
  for (const auto& [outcome, counter] :
       {std::pair{"found", &metrics.found}, std::pair{"computed", &metrics.computed},
        std::pair{"failed", &metrics.failed}}) {
    NEPTUNE_ASSIGN_OR_RETURN(
        *counter,
        registry.AddCounter("search_prepared_answers_total",
                            "Answers of an index version prepared before it was switched to.",
                            {{"outcome", outcome}}));
  }
  return metrics;
}

// The preparation of one version.
struct VersionWarmer::Work {
  AskedIndex index;
  TimePoint began;
  TimePoint end = neptune::kNever;  // set by the first answer
  size_t answered_count = 0;
};

VersionWarmer::VersionWarmer(const Parts& parts, const VersionWarmerOptions& options,
                             const Metrics& metrics)
    : parts_(parts),
      options_(options),
      metrics_(metrics),
      class_number_(LowestClass(parts.scheduling)) {}

void VersionWarmer::Follow(
    const index::VersionList& list,
    const std::function<std::shared_ptr<const index::SynonymSets>(const index::IndexVersion&)>&
        synonyms) {
  const uint64_t current = list.Current().index_version;
  const index::IndexVersion* next = nullptr;
  bool has_wanted = false;
  for (const index::IndexVersion& version : list.versions) {
    const bool is_new = known_.insert(version.index_version).second;
    if (is_new && version.index_version != current) next = &version;
    has_wanted |= version.index_version == wanted_.load() && version.index_version != current;
  }
  if (!has_wanted) wanted_ = 0;
  if (next != nullptr) Prepare({.version = next->index_version, .synonyms = synonyms(*next)});
}

void VersionWarmer::Prepare(const AskedIndex& index) {
  if (options_.question_count == 0 || stops_ || parts_.pages.page_count() == 0) return;
  wanted_ = index.version;
  ++work_count_;
  parts_.home.loop->Post([this, index] {
    const auto started = parts_.home.scheduler->Spawn(
        [this, index] {
          Work work = {.index = index, .began = Now()};
          for (const CountedQuestion& hot : Hottest()) {
            if (!IsWanted(index) || Now() >= work.end) break;
            Ask(hot.question, &work);
          }
          LOG(INFO) << work.answered_count << " answers of index version " << index.version
                    << " are prepared";
          uint64_t mine = index.version;
          wanted_.compare_exchange_strong(mine, 0);
          --work_count_;
        },
        "prepare version");
    if (started.ok()) return;
    wanted_ = 0;
    --work_count_;
  });
}

std::vector<CountedQuestion> VersionWarmer::Hottest() const {
  std::map<std::string, CountedQuestion> by_name;
  for (const auto& [loop, front] : parts_.pages.all()) {
    std::vector<CountedQuestion> of_loop;
    if (loop == neptune::Loop::Current()) {
      of_loop = front->TakeHottest(options_.question_count);
    } else {
      neptune::OneShotEvent done;
      loop->Post([&, front = front.get()] {
        of_loop = front->TakeHottest(options_.question_count);
        done.Set();
      });
      while (!done.is_set()) neptune::this_thread::ParkUntilWoken();
    }
    for (CountedQuestion& one : of_loop) {
      CountedQuestion& sum = by_name[NameOf(one.question)];
      sum.use_count += one.use_count;
      sum.question = std::move(one.question);
    }
  }
  std::vector<CountedQuestion> hottest;
  for (auto& [name, one] : by_name) hottest.push_back(std::move(one));
  std::stable_sort(hottest.begin(), hottest.end(),
                   [](const auto& a, const auto& b) { return a.use_count > b.use_count; });
  if (hottest.size() > options_.question_count) hottest.resize(options_.question_count);
  return hottest;
}

void VersionWarmer::Ask(const SearchPageRequest& question, Work* work) {
  while (IsWanted(work->index)) {
    GiveWay(work->index);
    const TimePoint begin = Now();
    const StatusOr<bool> was_there = parts_.plan.Prepare(OrderOf(question, work->index));
    if (was_there.ok()) {
      ++work->answered_count;
      (*was_there ? metrics_.found : metrics_.computed)->Increment();
      if (work->end == neptune::kNever) work->end = Now() + options_.time_max;
      if (!*was_there) (void)SleepFor(Now() - begin);
      return;
    }
    const bool has_answered = work->end != neptune::kNever;
    if (has_answered || Now() - work->began >= kOpenTimeMax) {
      metrics_.failed->Increment();
      return;
    }
    if (SleepFor(kOpenPoll) == neptune::ParkResult::kStopping) return;
  }
}

SearchOrder VersionWarmer::OrderOf(const SearchPageRequest& question,
                                   const AskedIndex& index) const {
  const bool shows_details =
      question.format == PageFormat::kHtml || question.format == PageFormat::kJson;
  return {.query = question.query,
          .is_plain = question.is_plain,
          .start = question.start,
          .count = question.count,
          .folds = question.folds(),
          .count_sites = question.site_facets && shows_details,
          .by_date = question.by_date,
          .may_correct = question.may_correct,
          .may_relax = question.may_relax,
          .class_number = class_number_,
          .service_class = parts_.scheduling.classes[class_number_].name,
          .received = Now(),
          .index = index};
}

void VersionWarmer::GiveWay(const AskedIndex& index) const {
  while (parts_.plan.gate().waiting() > 0 && IsWanted(index)) {
    if (SleepFor(kGiveWayPoll) == neptune::ParkResult::kStopping) return;
  }
}

void VersionWarmer::Stop() {
  stops_ = true;
  wanted_ = 0;
  while (work_count_ > 0) {
    if (SleepFor(kGiveWayPoll) == neptune::ParkResult::kStopping) return;
  }
}

}  // namespace search::frontend
