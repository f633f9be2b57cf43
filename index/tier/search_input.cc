#include "index/tier/search_input.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "index/tier/operators.h"

namespace search::index {
namespace {

bool HasPrefix(const QueryNode& node) {
  return node.kind == QueryNode::Kind::kPrefix ||
         std::any_of(node.children.begin(), node.children.end(), HasPrefix);
}

}  // namespace

neptune::StatusOr<Query> ReadTierQuery(const TierQuery& query) {
  return ParseQuery(query.query(), ParseLimits::ForCanonical());
}

neptune::Status CheckForEngine(const Query& query) {
  if (!HasPrefix(query.root)) return neptune::OkStatus();
  return neptune::InvalidArgument(
      "query: this index engine has no prefixes; ask for whole words, without *");
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
  NEPTUNE_ASSIGN_OR_RETURN(const Query query, ReadTierQuery(tier_query));
  NEPTUNE_RETURN_IF_ERROR(CheckForEngine(query));
  const auto answer = std::make_shared<neptune::StatusOr<TierAnswer>>(TierAnswer());
  std::function<bool()> stop = control.read ? control.stop_read : StopFunction(control);
  NEPTUNE_RETURN_IF_ERROR(ReadStore(
      control, [tier_query, query, answer, stop = std::move(stop), evaluate = std::move(evaluate)] {
        *answer = evaluate(tier_query, query, stop);
      }));
  return std::move(*answer);
}

neptune::Status ReadStore(const TierSearchControl& control, std::function<void()> read) {
  if (control.read) return control.read(std::move(read));
  read();
  return neptune::OkStatus();
}

}  // namespace search::index
