// Translates a query into an engine's own operators.
//
// Source: index/core/query/query.h.
// Threads: pure function.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/engine_kit/records.h"

namespace search::index {

// Evaluates `node` to a set of documents by the set operators of Operators:
//
//   struct Operators {
//     using Set = ...;  // Set() is empty
//     // Holds the term of TermVectorBuilder in any field, or the site.
//     static Set Word(const std::string& term);
//     static Set WordIn(Field field, const std::string& term);
//     // Holds the terms next to each other, in this order.
//     static Set PhraseIn(Field field, const std::vector<std::string>& terms);
//     static Set And(const Set& a, const Set& b);
//     static Set Or(const Set& a, const Set& b);
//     static Set AndNot(const Set& a, const Set& b);  // in a, but not in b
//   };
//
// The depth of a query is bounded by ParseLimits.
template <typename Operators>
typename Operators::Set TranslateQuery(const QueryNode& node) {
  using Set = typename Operators::Set;
  const auto phrase_in = [&node](Field field) {
    std::vector<std::string> terms;
    for (const PhraseTerm& term : node.phrase) terms.push_back(term.term);
    return Operators::PhraseIn(field, terms);
  };
  const bool in_title = node.field == QueryField::kTitle;
  switch (node.kind) {
    case QueryNode::Kind::kTerm:
      return in_title ? Operators::WordIn(Field::kTitle, node.term) : Operators::Word(node.term);
    case QueryNode::Kind::kSite:
      return Operators::Word(Segment::SiteKey(node.term));
    case QueryNode::Kind::kPhrase: {
      const Set title = phrase_in(Field::kTitle);
      if (in_title) return title;
      return Operators::Or(Operators::Or(title, phrase_in(Field::kBody)), phrase_in(Field::kExtra));
    }
    case QueryNode::Kind::kPrefix:  // these are refused by SearchWithinRead
    case QueryNode::Kind::kNear:
    case QueryNode::Kind::kField:
    case QueryNode::Kind::kNothing:
    case QueryNode::Kind::kNot:  // occurs below kAnd only, which handles it
      return Set();
    case QueryNode::Kind::kAnd:
    case QueryNode::Kind::kOr:
      break;
  }
  size_t i = 0;
  while (node.children.at(i).is_optional) ++i;
  Set result = TranslateQuery<Operators>(node.children[i]);
  for (++i; i < node.children.size(); ++i) {
    const QueryNode& child = node.children[i];
    if (child.is_optional) continue;
    result = node.kind == QueryNode::Kind::kOr
                 ? Operators::Or(result, TranslateQuery<Operators>(child))
             : child.kind == QueryNode::Kind::kNot
                 ? Operators::AndNot(result, TranslateQuery<Operators>(child.children.at(0)))
                 : Operators::And(result, TranslateQuery<Operators>(child));
  }
  return result;
}

}  // namespace search::index
