// Query language: parses text as users type it into a normalised tree of analysed terms, and writes
// the tree as one canonical text, which is the cache key and the form sent between nodes.
//
// The syntax follows Xapian, Lucene and Web search engines. Grammar and decisions (default AND,
// precedence NOT > AND > OR, stop words) are in README.md, examples for users in examples.h.
// No I/O, no clock, no locks.
// Threads: immutable values; the functions are pure.
// Errors: INVALID_ARGUMENT for text over a limit, with the byte offset. Nothing else is an error:
//   malformed text is repaired, and `notes` explains how it was understood.
// Limits: ParseLimits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::index {

// The field in which a term or phrase must occur.
enum class QueryField : uint8_t {
  kAny,    // title or body; a phrase must be wholly in one of them
  kTitle,  // title only
};

// One word of a phrase.
struct PhraseTerm {
  std::string term;
  uint32_t position = 0;  // relative to the phrase's first term, which has 0; ascending
  std::string folded;     // see QueryNode
  std::string surface;

  bool operator==(const PhraseTerm& other) const {
    return term == other.term && position == other.position;
  }
};

// A node of the normalised tree. Invariants of every tree that ParseQuery returns:
// - kNothing occurs only as the root, alone: the query matches no document.
// - kAnd has at least two children, of which the first is not kNot; no child is kAnd; all kNot come
//   last.
// - kOr has at least two children, none of them kOr or kNot.
// - kNot occurs only below kAnd and has exactly one child, which is not kNot.
// - kPhrase has at least two terms.
// - No two children of a node are the same set (IsSameSet): a repeated child is kept once, and its
//   leaves count their occurrences.
// - occurrences is 1 below kNot and for kSite, at least 1 for kTerm and kPhrase.
// So every subtree except kNot is a set of documents that its positive leaves enumerate.
struct QueryNode {
  enum class Kind : uint8_t {
    kNothing,  // matches no document
    kTerm,     // documents with `term` in `field`
    kPhrase,   // documents with `phrase`'s terms at these distances in `field`
    kSite,     // documents whose site has the FieldKind::kSite term `term`; adds nothing to a score
    kAnd,      // documents of all children except those of kNot children
    kOr,       // documents of at least one child
    kNot,      // child of kAnd: its documents are excluded; adds nothing to a score
  };

  Kind kind = Kind::kNothing;
  QueryField field = QueryField::kAny;  // kTerm, kPhrase
  std::string term;                     // kTerm: analysed; kSite: folded name
  std::vector<PhraseTerm> phrase;       // kPhrase
  std::vector<QueryNode> children;      // kAnd, kOr, kNot
  // kTerm, kPhrase: number of occurrences in the query. Does not affect matching; multiplies the
  // word's contribution to the score.
  uint32_t occurrences = 1;
  // Not part of the meaning, ignored by ==. kTerm and kSite: the word before stemming, and as
  // typed.
  std::string folded;
  std::string surface;

  bool operator==(const QueryNode& other) const;
};

// Equality that ignores occurrences: the nodes match the same documents.
bool IsSameSet(const QueryNode& a, const QueryNode& b);

struct Query {
  QueryNode root;
  // Repairs and omissions, each as a sentence for the user; ignored by ==.
  std::vector<std::string> notes;

  bool empty() const { return root.kind == QueryNode::Kind::kNothing; }
  bool operator==(const Query& other) const { return root == other.root; }
};

struct ParseLimits {
  // Maximum size of the query text in bytes. Default: longer than a URL that browsers handle well.
  size_t query_size_max = 4096;
  // Maximum number of words, including words of phrases, before duplicates are removed.
  size_t term_count_max = 1024;
  // Maximum depth of nested brackets.
  size_t nesting_max = 32;

  // Limits for text made by Canonical from a query within the default limits: brackets and folding
  // may have made it longer than what the user typed.
  static ParseLimits ForCanonical() {
    return {.query_size_max = size_t{1} << 18, .term_count_max = 1024, .nesting_max = 64};
  }
};

// Parses `text`. Any bytes are accepted; words that hold nothing indexed are left out.
// Errors: INVALID_ARGUMENT "query: ... at byte N" over a limit.
neptune::StatusOr<Query> ParseQuery(std::string_view text, const ParseLimits& limits = {});

// Matches the documents that hold any word of running text, such as a question or a title: no part
// of the text is an operator. Common words (stop_words.h) are dropped if other words remain.
// Errors: INVALID_ARGUMENT over a limit.
neptune::StatusOr<Query> AnyWordOf(std::string_view text, const ParseLimits& limits = {});

// The canonical text of a query: ParseQuery(Canonical(q), ParseLimits::ForCanonical()) == q, and
// equal queries have equal text, except for rare words whose stem does not stem to itself: these
// keep the user's word. Words keep the user's order; a repeated word is repeated at its first
// place. Empty for a query that matches nothing.
std::string Canonical(const Query& query);

// The term and phrase leaves that a matching document may contain, in query order: all except those
// below kNot. Snippets mark them. The pointers are valid as long as `query` is unchanged.
std::vector<const QueryNode*> PositiveLeaves(const Query& query);

}  // namespace search::index
