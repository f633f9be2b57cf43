// The open resources of a node for each version of the index, by version number.
//
// Threads: thread-safe. A resource stays open while a reference to it exists, even after it left
//   the list.
// Errors: Take returns the error of a version that does not open; the others are opened
//   nevertheless.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/versions/version_list.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace search::index {

template <typename Opened>
class OpenVersions {
 public:
  // `version` with an empty name: what the spec's paths name, without a list. A null result with an
  // OK status is a bug.
  using Open =
      std::function<std::shared_ptr<Opened>(const IndexVersion& version, neptune::Status* status)>;

  // The versions of a list; null: the one without a list.
  static std::vector<IndexVersion> Wanted(const VersionList* list) {
    if (list != nullptr) return list->versions;
    return {{"", ".", 0}};
  }
  // Opens new versions and releases those that left the list. One caller at a time.
  neptune::Status Take(const VersionList* list, const Open& open) {
    std::map<uint64_t, std::shared_ptr<Opened>> next;
    std::vector<uint64_t> kept;
    neptune::Status worst;
    for (const IndexVersion& version : Wanted(list)) {
      std::shared_ptr<Opened> opened = Get(version.index_version);
      // Retries a version that did not open completely.
      if (opened == nullptr || incomplete_.contains(version.index_version)) {
        neptune::Status status;
        opened = open(version, &status);
        if (status.ok()) incomplete_.erase(version.index_version);
        if (!status.ok()) {
          incomplete_[version.index_version] = true;
          worst = neptune::Annotate(status,
                                    version.name.empty() ? "the index" : "version " + version.name);
        }
      } else {
        kept.push_back(version.index_version);
      }
      next[version.index_version] = std::move(opened);
    }
    Publish(std::move(next), kept, list == nullptr ? 0 : list->Current().index_version);
    return list == nullptr ? neptune::OkStatus() : worst;
  }

  // 0: the current version. Null: not open here.
  std::shared_ptr<Opened> Find(uint64_t number) const {
    neptune::LeafLock lock(&mutex_);
    const auto found = opened_.find(number == 0 ? current_ : number);
    return found == opened_.end() ? nullptr : found->second;
  }
  // Open versions by number.
  std::map<uint64_t, std::shared_ptr<Opened>> all() const {
    neptune::LeafLock lock(&mutex_);
    return opened_;
  }
  // Replaces what is open as version `number`; false if that is not `old` any more.
  bool Replace(uint64_t number, const std::shared_ptr<Opened>& old, std::shared_ptr<Opened> next) {
    neptune::LeafLock lock(&mutex_);
    const auto found = opened_.find(number);
    if (found == opened_.end() || found->second != old) return false;
    found->second.swap(next);
    return true;  // the caller's reference keeps the old one open
  }
  void Clear() { Publish({}, {}, 0); }

 private:
  std::shared_ptr<Opened> Get(uint64_t number) const {
    neptune::LeafLock lock(&mutex_);
    const auto found = opened_.find(number);
    return found == opened_.end() ? nullptr : found->second;
  }
  // `kept`: numbers that stay as they are, though they may have been replaced meanwhile.
  void Publish(std::map<uint64_t, std::shared_ptr<Opened>> next, const std::vector<uint64_t>& kept,
               uint64_t current) {
    neptune::LeafLock lock(&mutex_);
    for (const uint64_t number : kept) {
      const auto found = opened_.find(number);
      if (found != opened_.end()) next[number] = found->second;
    }
    // Close dropped versions outside of the lock.
    opened_.swap(next);
    current_ = current;
  }

  std::map<uint64_t, bool> incomplete_;  // used by Take only
  mutable neptune::LeafMutex mutex_;
  std::map<uint64_t, std::shared_ptr<Opened>> opened_ ABSL_GUARDED_BY(mutex_);
  uint64_t current_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace search::index
