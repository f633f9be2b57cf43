// Prepares the answers of an index version before it is switched to: asks it the questions whose
// pages were repeated most, so that the cache has them at the switch.
//
//   list of versions: a new one that is not current ─► the hottest questions of all serving loops
//        ─► one after the other: SearchPlan::Prepare ─► cache, under the number of the new version
//
// The list counts as taken only when this is done (is_ready), and tools/publish makes a version
// current once every node has taken the list that names it. A version that becomes current before,
// as after a rollback, is switched to at once.
//
// The questions are asked one at a time in the class that is worth least, not while searches wait
// for admission, and with a pause after each that was computed, as long as it took. Several
// frontends find each other's answers in the cache.
//
// Threads: Follow by the watch of the versions, one call at a time; the work runs on user-level
//   threads of `home`; is_ready on any thread; Stop on a user-level thread.
// Limits: `question_count` questions, `time_max` from the first answer on; before that, versions
//   that do not answer are asked again for kOpenTimeMax.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/http/page_fronts.h"
#include "frontend/search_plan/search_plan.h"
#include "index/versions/version_list.h"
#include "neptune/base/metrics.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/service/node_loops.h"

namespace search::frontend {

struct VersionWarmerOptions {
  // Larger: more questions find their answers at a switch; a publication takes longer. 0: none.
  size_t question_count = 1000;
  neptune::Duration time_max = std::chrono::seconds(10);
};

class VersionWarmer {
 public:
  // How long the servers may take to open a version.
  static constexpr neptune::Duration kOpenTimeMax = std::chrono::seconds(60);

  // search_prepared_answers_total{outcome="found|computed|failed"}
  struct Metrics {
    neptune::Counter* found = nullptr;
    neptune::Counter* computed = nullptr;
    neptune::Counter* failed = nullptr;

    static neptune::StatusOr<Metrics> Make(neptune::MetricsRegistry& registry);
  };
  struct Parts {
    SearchPlan& plan;
    const PageFronts& pages;
    neptune::NodeLoop& home;
    const neptune::SchedulerOptions& scheduling;
  };

  // All parts outlive this.
  VersionWarmer(const Parts& parts, const VersionWarmerOptions& options, const Metrics& metrics);

  // Begins to prepare the version of the list that is new and not current, if there is one; ends
  // the preparation of one that is not listed any more, or current. `synonyms`: of a version.
  void Follow(
      const index::VersionList& list,
      const std::function<std::shared_ptr<const index::SynonymSets>(const index::IndexVersion&)>&
          synonyms);
  // False while a version is being prepared.
  bool is_ready() const { return wanted_.load() == 0; }
  // Waits until the work has ended. Idempotent.
  void Stop();

 private:
  struct Work;

  // Nothing if no page was kept yet.
  void Prepare(const AskedIndex& index);
  bool IsWanted(const AskedIndex& index) const { return wanted_.load() == index.version; }
  std::vector<CountedQuestion> Hottest() const;
  // Asks one question, as often as it takes until the version answers.
  void Ask(const SearchPageRequest& question, Work* work);
  SearchOrder OrderOf(const SearchPageRequest& question, const AskedIndex& index) const;
  // Waits while users' searches wait.
  void GiveWay(const AskedIndex& index) const;

  const Parts parts_;
  const VersionWarmerOptions options_;
  const Metrics metrics_;
  neptune::ClassNumber class_number_ = 0;
  std::set<uint64_t> known_;           // versions listed so far
  std::atomic<uint64_t> wanted_{0};    // version in preparation; 0: none
  std::atomic<size_t> work_count_{0};  // threads
  std::atomic<bool> stops_{false};
};

}  // namespace search::frontend
