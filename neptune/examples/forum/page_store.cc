#include "neptune/examples/forum/page_store.h"

#include <utility>

namespace neptune::examples {

std::optional<std::string> PageStore::Find(const std::string& name, TimePoint now) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  if (now - found->second->stored_at >= kPageLifetime) {
    Drop(name);
    return std::nullopt;
  }
  pages_.splice(pages_.begin(), pages_, found->second);
  return found->second->text;
}

void PageStore::Store(const std::string& name, std::string page, TimePoint now) {
  Drop(name);
  if (page_count_max_ == 0) return;
  if (pages_.size() >= page_count_max_) Drop(std::string(pages_.back().name));
  pages_.push_front({name, std::move(page), now});
  by_name_[name] = pages_.begin();
}

void PageStore::Drop(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  pages_.erase(found->second);
  by_name_.erase(found);
}

}  // namespace neptune::examples
