// Polls the list of versions, on its own loop of low priority, and passes every new list to `take`,
// which loads it.
//
// Threads: Start and Stop by the owner; LookSoon and Describe from any thread; `take` runs inside
//   Start, then on the loop.
// Errors: a list that cannot be read changes nothing, one that cannot be loaded completely is
//   loaded as far as possible: both are logged, shown, and tried again. Start fails if the first
//   list cannot be read.
// Limits: one poll per kVersionLookInterval; after errors the interval grows up to
//   kVersionLookIntervalMax.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "index/versions/version_list.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/world/world.h"

namespace search::index {

inline constexpr neptune::Duration kVersionLookInterval = std::chrono::milliseconds(200);
inline constexpr neptune::Duration kVersionLookIntervalMax = std::chrono::seconds(2);

class VersionWatch : public std::enable_shared_from_this<VersionWatch> {
 public:
  // `list` is null if there is no list file; the cluster then serves the paths of its spec.
  using Take = std::function<neptune::Status(const VersionList* list)>;

  // The first poll runs before the loop exists, so that no lock is held while the caller, a
  // user-level thread, opens files.
  static neptune::StatusOr<std::shared_ptr<VersionWatch>> Start(
      neptune::World& world, const std::string& name, const std::string& path,
      Take take) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Waits for the current poll; no versions are loaded afterwards. Idempotent.
  void Stop();

  // Facts for the tool that publishes: "change" of the newest list that was loaded completely, its
  // "current" version, and the "trouble" with a newer one. `is_ready`: false if the service has
  // still to prepare for the list; it then counts as not loaded yet.
  void Describe(neptune::StatusReport* report, bool is_ready = true) const;

 private:
  VersionWatch(std::string path, Take take) : path_(std::move(path)), take_(std::move(take)) {}
  void Turn();
  neptune::Status Poll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  neptune::Loop* loop_ = nullptr;
  neptune::LeafMutex mutex_;  // held during each poll
  Take take_ ABSL_GUARDED_BY(mutex_);
  std::string text_ ABSL_GUARDED_BY(mutex_);  // last text applied
  bool is_taken_ ABSL_GUARDED_BY(mutex_) = false;
  neptune::Duration wait_ = kVersionLookInterval;  // used by the loop only

  mutable neptune::LeafMutex shown_mutex_;
  uint64_t change_ ABSL_GUARDED_BY(shown_mutex_) = 0;
  std::string current_ ABSL_GUARDED_BY(shown_mutex_);
  std::string trouble_ ABSL_GUARDED_BY(shown_mutex_);
};

// The name of the status section that shows the service's.
std::string VersionSectionName(std::string_view service);

}  // namespace search::index
