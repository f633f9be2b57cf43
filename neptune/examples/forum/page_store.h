// A bounded number of pages by name, with LRU eviction: the contents of one page cache server.
//
// Source: [Chu05] VI.A (BBS, document cache server).
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: page_count_max pages; a page expires kPageLifetime after it was stored.

#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "neptune/base/time.h"

namespace neptune::examples {

// Bounds the staleness of a page whose Drop was lost.
inline constexpr Duration kPageLifetime = std::chrono::minutes(10);

class PageStore {
 public:
  explicit PageStore(size_t page_count_max) : page_count_max_(page_count_max) {}

  std::optional<std::string> Find(const std::string& name, TimePoint now);
  void Store(const std::string& name, std::string page, TimePoint now);
  void Drop(const std::string& name);
  size_t size() const { return pages_.size(); }

 private:
  struct Page {
    std::string name;
    std::string text;
    TimePoint stored_at;
  };
  using Pages = std::list<Page>;  // most recently used first

  const size_t page_count_max_;
  Pages pages_;
  std::unordered_map<std::string, Pages::iterator> by_name_;
};

}  // namespace neptune::examples
