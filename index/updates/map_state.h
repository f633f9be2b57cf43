// An in-memory change state for tests: behaves like a partition's store, without a disk.
//
// Threads: thread-safe, except that Execute must run on one thread at a time.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/updates/change_state.h"
#include "index/updates/document_change.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace search::index {

class MapState : public ChangeReader {
 public:
  neptune::StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    neptune::LeafLock lock(&mutex_);
    if (fails_) return neptune::Unavailable("injected failure");
    const auto found = entries_.find(std::string(key));
    return found == entries_.end() ? std::nullopt : std::optional(found->second);
  }
  neptune::Status Scan(const std::string& first, const std::string& end,
                       const Visitor& visitor) const override {
    std::map<std::string, std::string> entries;
    {
      neptune::LeafLock lock(&mutex_);
      entries = {entries_.lower_bound(first), entries_.lower_bound(end)};
    }
    for (const auto& [key, value] : entries) {
      if (!visitor(key, value)) break;
    }
    return neptune::OkStatus();
  }

  // Executes the next write: all of its effects or, after an error, none.
  neptune::StatusOr<ChangeAnswer> Execute(const PartitionChange& change) {
    NEPTUNE_RETURN_IF_ERROR(CheckPartitionChange(change));
    Writer writer;
    NEPTUNE_ASSIGN_OR_RETURN(ChangeAnswer answer,
                             ExecuteChange(change, {++lsn_, accepted_at_}, *this, &writer));
    neptune::LeafLock lock(&mutex_);
    for (const auto& operation : writer.operations) operation(&entries_);
    return answer;
  }

  // Sets the acceptance time of subsequent writes.
  void SetTime(neptune::WallTime time) { accepted_at_ = time; }

  void Clear() {
    neptune::LeafLock lock(&mutex_);
    entries_.clear();
  }
  // Resets to the state before the first write.
  void BeginAnew() {
    Clear();
    lsn_ = 0;
  }
  // Makes subsequent calls of Get fail, or succeed again.
  void FailReads(bool fails) {
    neptune::LeafLock lock(&mutex_);
    fails_ = fails;
  }

  std::map<std::string, std::string> entries() const {
    neptune::LeafLock lock(&mutex_);
    return entries_;
  }

 private:
  using Entries = std::map<std::string, std::string>;
  struct Writer : ChangeWriter {
    void Put(std::string_view key, std::string_view value) override {
      operations.push_back([key = std::string(key), value = std::string(value)](Entries* entries) {
        (*entries)[key] = value;
      });
    }
    void Delete(std::string_view key) override {
      operations.push_back([key = std::string(key)](Entries* entries) { entries->erase(key); });
    }
    void DeleteRange(std::string_view first, std::string_view end) override {
      operations.push_back([first = std::string(first), end = std::string(end)](Entries* entries) {
        if (first < end) entries->erase(entries->lower_bound(first), entries->lower_bound(end));
      });
    }
    std::vector<std::function<void(Entries*)>> operations;
  };

  mutable neptune::LeafMutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);
  bool fails_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t lsn_ = 0;
  neptune::WallTime accepted_at_;
};

}  // namespace search::index
