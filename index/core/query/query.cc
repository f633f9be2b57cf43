#include "index/core/query/query.h"

#include <algorithm>

namespace search::index {

namespace {

void AppendPositiveLeaves(const QueryNode& node, std::vector<const QueryNode*>* leaves) {
  switch (node.kind) {
    case QueryNode::Kind::kTerm:
    case QueryNode::Kind::kPhrase:
      leaves->push_back(&node);
      return;
    case QueryNode::Kind::kAnd:
    case QueryNode::Kind::kOr:
      for (const QueryNode& child : node.children) AppendPositiveLeaves(child, leaves);
      return;
    case QueryNode::Kind::kNothing:
    case QueryNode::Kind::kSite:
    case QueryNode::Kind::kNot:
      return;
  }
}

}  // namespace

bool QueryNode::operator==(const QueryNode& other) const {
  return kind == other.kind && field == other.field && term == other.term &&
         occurrences == other.occurrences && phrase == other.phrase && children == other.children;
}

bool IsSameSet(const QueryNode& a, const QueryNode& b) {
  return a.kind == b.kind && a.field == b.field && a.term == b.term && a.phrase == b.phrase &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    IsSameSet);
}

std::vector<const QueryNode*> PositiveLeaves(const Query& query) {
  std::vector<const QueryNode*> leaves;
  AppendPositiveLeaves(query.root, &leaves);
  return leaves;
}

}  // namespace search::index
