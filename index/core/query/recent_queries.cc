#include "index/core/query/recent_queries.h"

#include <utility>

namespace search::index {

neptune::StatusOr<std::shared_ptr<const Query>> RecentQueries::Parse(std::string_view canonical) {
  for (const Parsed& parsed : latest_) {
    if (parsed.query != nullptr && parsed.text == canonical) return parsed.query;
  }
  ++parsed_count_;
  NEPTUNE_ASSIGN_OR_RETURN(Query query, ParseQuery(canonical, ParseLimits::ForCanonical()));
  auto shared = std::make_shared<const Query>(std::move(query));
  if (canonical.size() > kTextSizeMax) return shared;
  latest_[next_] = {std::string(canonical), shared};
  next_ = (next_ + 1) % kQueryCount;
  return shared;
}

RecentQueries& RecentQueries::OfThread() {
  static thread_local RecentQueries recent;
  return recent;
}

}  // namespace search::index
