#include "index/tier/search_input.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "index/core/query/recent_queries.h"
#include "index/tier/operators.h"

namespace search::index {
namespace {

bool Has(QueryNode::Kind kind, const QueryNode& node) {
  return node.kind == kind ||
         std::any_of(node.children.begin(), node.children.end(),
                     [kind](const QueryNode& child) { return Has(kind, child); });
}

}  // namespace

neptune::StatusOr<std::shared_ptr<const Query>> ReadTierQuery(const TierQuery& query) {
  return RecentQueries::OfThread().Parse(query.query());
}

neptune::Status CheckForEngine(const TierQuery& tier_query, const Query& query) {
  if (tier_query.order_by_date()) {
    return neptune::InvalidArgument("query: this index engine does not order by date");
  }
  if (Has(QueryNode::Kind::kPrefix, query.root)) {
    return neptune::InvalidArgument(
        "query: this index engine has no prefixes; ask for whole words, without *");
  }
  if (Has(QueryNode::Kind::kNear, query.root)) {
    return neptune::InvalidArgument(
        "query: this index engine has no NEAR; ask for the words, without NEAR");
  }
  if (Has(QueryNode::Kind::kField, query.root)) {
    return neptune::InvalidArgument(
        "query: this index engine has no url:, lang:, before: and after:; leave these filters out");
  }
  return neptune::OkStatus();
}

std::function<bool()> StopFunction(const TierSearchControl& control) {
  const bool has_deadline = control.now && control.deadline != neptune::kNever;
  if (!has_deadline) return control.stop;
  return
      [&control] { return control.now() >= control.deadline || (control.stop && control.stop()); };
}

neptune::StatusOr<TierAnswer> SearchWithinRead(const TierQuery& tier_query,
                                               const TierSearchControl& control,
                                               Evaluate evaluate) {
  NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(tier_query));
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<const Query> query, ReadTierQuery(tier_query));
  NEPTUNE_RETURN_IF_ERROR(CheckForEngine(tier_query, *query));
  const auto answer = std::make_shared<neptune::StatusOr<TierAnswer>>(TierAnswer());
  std::function<bool()> stop = control.read ? control.stop_read : StopFunction(control);
  NEPTUNE_RETURN_IF_ERROR(ReadStore(
      control, [tier_query, query, answer, stop = std::move(stop), evaluate = std::move(evaluate)] {
        *answer = evaluate(tier_query, *query, stop);
      }));
  return std::move(*answer);
}

neptune::Status ReadStore(const TierSearchControl& control, std::function<void()> read) {
  if (control.read) return control.read(std::move(read));
  read();
  return neptune::OkStatus();
}

}  // namespace search::index
