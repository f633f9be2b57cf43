// Pages by name, a bounded number of them: what one page cache server holds.
//
// The page that was not asked for the longest makes room for a new one.
//
// Source: [Chu05] VI.A (BBS, document cache server).
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: page_count_max pages; one is forgotten kPageLifetime after it was stored.

#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "neptune/base/time.h"

namespace neptune::examples {

// A page that a lost drop has left behind is shown for so long at most.
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
  using Pages = std::list<Page>;  // the one asked for last in front

  const size_t page_count_max_;
  Pages pages_;
  std::unordered_map<std::string, Pages::iterator> by_name_;
};

}  // namespace neptune::examples
