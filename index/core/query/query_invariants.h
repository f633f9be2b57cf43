// Checks the invariants of the query tree (query.h); for tests and the fuzz target.

#pragma once

#include <algorithm>
#include <string>

#include "index/core/query/query.h"

namespace search::index {

// Describes the first violated invariant; empty if there is none.
inline std::string BrokenInvariant(const QueryNode& node, bool is_root = true,
                                   bool is_excluded = false) {
  using Kind = QueryNode::Kind;
  const std::vector<QueryNode>& children = node.children;
  const bool is_group = node.kind == Kind::kAnd || node.kind == Kind::kOr;
  if (node.kind == Kind::kNothing && !is_root) return "nothing below the root";
  if (node.kind == Kind::kNot && is_root) return "root is an exclusion";
  if (is_group && children.size() < 2) return "group of fewer than two";
  if (!is_group && node.kind != Kind::kNot && !children.empty()) return "leaf with children";
  if (node.kind == Kind::kNot && children.size() != 1) return "exclusion of not one";
  if (node.kind == Kind::kPhrase && node.phrase.size() < 2) return "phrase of fewer than two";
  if (node.kind == Kind::kPhrase && node.phrase[0].position != 0) return "phrase starts late";
  if (node.kind == Kind::kNear && node.phrase.size() < 2) return "near of fewer than two";
  const bool has_distance = node.distance >= 1 && node.distance <= kNearDistanceMax;
  if (node.kind == Kind::kNear ? !has_distance : node.distance != 0) return "wrong distance";
  if (node.kind == Kind::kTerm && node.term.empty()) return "empty term";
  if (node.kind == Kind::kSite && node.term.empty()) return "empty site";
  if (node.kind == Kind::kField && FieldFilterOf(node).value.empty()) return "empty field";
  if (node.kind == Kind::kAnd && children[0].kind == Kind::kNot) return "only exclusions";
  if (node.kind == Kind::kPrefix && node.term.empty()) return "empty prefix";
  const bool may_repeat = !is_excluded && (node.kind == Kind::kTerm || node.kind == Kind::kPrefix ||
                                           node.kind == Kind::kPhrase || node.kind == Kind::kNear);
  if (node.occurrences == 0 || (node.occurrences > 1 && !may_repeat)) return "wrong occurrences";
  if (node.percent < 1 || node.percent > 100 || (node.percent < 100 && !may_repeat)) {
    return "wrong percent";
  }
  const bool may_be_optional = node.kind == Kind::kTerm || node.kind == Kind::kPrefix;
  if (node.is_optional && (is_root || is_excluded || !may_be_optional)) {
    return "wrong optional node";
  }
  const auto is_required = [](const QueryNode& child) {
    return child.kind != Kind::kNot && !child.is_optional;
  };
  if (node.kind == Kind::kAnd && std::none_of(children.begin(), children.end(), is_required)) {
    return "nothing is required";
  }
  const bool excludes = is_excluded || node.kind == Kind::kNot;
  for (size_t i = 0; i < children.size(); ++i) {
    const Kind kind = children[i].kind;
    if (is_group && kind == node.kind) return "group not flat";
    if (kind == Kind::kNot && node.kind != Kind::kAnd) return "exclusion outside and";
    if (children[i].is_optional && node.kind != Kind::kAnd) return "optional outside and";
    if (i > 0 && kind != Kind::kNot && children[i - 1].kind == Kind::kNot) {
      return "exclusion not last";
    }
    for (size_t j = 0; j < i; ++j) {
      if (IsSameSet(children[i], children[j])) return "repeated child";
    }
    if (std::string broken = BrokenInvariant(children[i], false, excludes); !broken.empty()) {
      return broken;
    }
  }
  return "";
}

}  // namespace search::index
