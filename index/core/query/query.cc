#include "index/core/query/query.h"

#include <algorithm>

#include "index/core/document_fields.h"

namespace search::index {

namespace {

void AppendPositiveLeaves(const QueryNode& node, std::vector<const QueryNode*>* leaves) {
  switch (node.kind) {
    case QueryNode::Kind::kTerm:
    case QueryNode::Kind::kPrefix:
    case QueryNode::Kind::kPhrase:
    case QueryNode::Kind::kNear:
      leaves->push_back(&node);
      return;
    case QueryNode::Kind::kAnd:
    case QueryNode::Kind::kOr:
      for (const QueryNode& child : node.children) AppendPositiveLeaves(child, leaves);
      return;
    case QueryNode::Kind::kNothing:
    case QueryNode::Kind::kSite:
    case QueryNode::Kind::kField:
    case QueryNode::Kind::kNot:
      return;
  }
}

void AppendSites(const QueryNode& node, std::vector<std::string>* sites) {
  if (node.kind == QueryNode::Kind::kNot) return;
  const bool is_known = std::find(sites->begin(), sites->end(), node.term) != sites->end();
  if (node.kind == QueryNode::Kind::kSite && !is_known) sites->push_back(node.term);
  for (const QueryNode& child : node.children) AppendSites(child, sites);
}

void AppendFields(const QueryNode& node, std::vector<std::string>* fields) {
  if (node.kind == QueryNode::Kind::kField) {
    const std::string_view name = FieldFilterOf(node).name;
    const std::string field(name == "before" || name == "after" ? kDateField : name);
    if (std::find(fields->begin(), fields->end(), field) == fields->end()) {
      fields->push_back(field);
    }
  }
  for (const QueryNode& child : node.children) AppendFields(child, fields);
}

}  // namespace

bool QueryNode::operator==(const QueryNode& other) const {
  return kind == other.kind && field == other.field && term == other.term &&
         occurrences == other.occurrences && percent == other.percent &&
         is_optional == other.is_optional && phrase == other.phrase && distance == other.distance &&
         children == other.children;
}

bool IsSameSet(const QueryNode& a, const QueryNode& b) {
  const auto is_same_child = [](const QueryNode& of_a, const QueryNode& of_b) {
    return of_a.is_optional == of_b.is_optional && IsSameSet(of_a, of_b);
  };
  return a.kind == b.kind && a.field == b.field && a.term == b.term && a.phrase == b.phrase &&
         a.distance == b.distance &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    is_same_child);
}

std::string WithoutPart(std::string_view text, const QueryPart& part) {
  const size_t begin = std::min(part.begin_byte, text.size());
  std::string_view before = text.substr(0, begin);
  std::string_view after = text.substr(std::min(std::max(begin, part.end_byte), text.size()));
  while (!before.empty() && (before.back() == ' ' || before.back() == '\t'))
    before.remove_suffix(1);
  while (before.empty() && !after.empty() && after.front() == ' ') after.remove_prefix(1);
  return std::string(before).append(after);
}

FieldFilter FieldFilterOf(const QueryNode& node) {
  const std::string_view term = node.term;
  const size_t colon = std::min(term.find(':'), term.size());
  return {term.substr(0, colon), term.substr(std::min(colon + 1, term.size()))};
}

std::vector<std::string> FilteredFields(const Query& query) {
  std::vector<std::string> fields;
  AppendFields(query.root, &fields);
  return fields;
}

std::vector<std::string> SiteFilters(const Query& query) {
  std::vector<std::string> sites;
  AppendSites(query.root, &sites);
  return sites;
}

std::vector<const QueryNode*> PositiveLeaves(const Query& query) {
  std::vector<const QueryNode*> leaves;
  AppendPositiveLeaves(query.root, &leaves);
  return leaves;
}

}  // namespace search::index
