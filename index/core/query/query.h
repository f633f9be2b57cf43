// Query language: parses text as users type it into a normalised tree of analysed terms, and writes
// the tree as one canonical text, which is the cache key and the form sent between nodes.
//
// The syntax follows Xapian, Lucene and Web search engines. Grammar and decisions (what is wanted
// and what is demanded, precedence NOT > AND > OR, stop words) are in README.md, examples for users
// in examples.h.
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

// The user's word that a leaf stands for as a synonym; the term is empty for a word of the user.
struct SynonymOf {
  std::string term;     // the word's term; of a phrase its canonical text without the field
  uint32_t number = 0;  // of the synonym in its set: the words of a phrase share it
};

// A node of the normalised tree. Invariants of every tree that ParseQuery returns:
// - kNothing occurs only as the root, alone: the query matches no document.
// - kAnd has at least two children, of which the first is not kNot; no child is kAnd; all kNot come
//   last.
// - kOr has at least two children, none of them kOr or kNot.
// - kNot occurs only below kAnd and has exactly one child, which is not kNot.
// - is_optional is true only for a kTerm or kPrefix below kAnd that has another child, neither
//   optional nor kNot. In an exclusion nothing is optional.
// - kPhrase has at least two terms; kNear too, all different, and a distance.
// - No two children of a node are the same set (IsSameSet): a repeated child is kept once, and its
//   leaves count their occurrences.
// - occurrences is 1 below kNot and for kSite and kField, at least 1 for kTerm, kPrefix, kPhrase
//   and kNear.
// - percent is 100 below kNot and for kSite and kField.
// So every subtree except kNot is a set of documents that its positive leaves enumerate.
struct QueryNode {
  enum class Kind : uint8_t {
    kNothing,  // matches no document
    kTerm,     // documents with `term` in `field`
    kPrefix,   // documents with a term that begins with `term`, or the term `folded`, in `field`
    kPhrase,   // documents with `phrase`'s terms at these distances in `field`
    kNear,     // documents with `phrase`'s terms in any order, at most `distance` apart, in `field`
    kSite,     // documents whose site has the FieldKind::kSite term `term`; adds nothing to a score
    kField,    // documents that the filter `term` selects, see FieldFilter; adds nothing to a score
    kAnd,      // documents of all children that are not optional, except those of kNot children
    kOr,       // documents of at least one child
    kNot,      // child of kAnd: its documents are excluded; adds nothing to a score
  };

  Kind kind = Kind::kNothing;
  QueryField field = QueryField::kAny;  // kTerm, kPrefix, kPhrase, kNear
  // kTerm: analysed; kPrefix: folded; kSite: folded name; kField: "NAME:VALUE"
  std::string term;
  // kPhrase; kNear, whose positions only number the terms
  std::vector<PhraseTerm> phrase;
  // kNear: maximum difference between the positions of any two of the terms; 1 to kNearDistanceMax.
  uint32_t distance = 0;
  std::vector<QueryNode> children;  // kAnd, kOr, kNot
  // kTerm, kPrefix, kPhrase, kNear: number of occurrences in the query. Does not affect matching;
  // multiplies the contribution to the score.
  uint32_t occurrences = 1;
  // kTerm, kPrefix, kPhrase, kNear: share of its usual contribution to the score, in percent; 1 to
  // 100. A repeated word has the largest share of its occurrences.
  uint32_t percent = 100;
  // Child of kAnd: adds to scores, but a document matches without it.
  bool is_optional = false;
  // Not part of the meaning, ignored by ==. kTerm, kPhrase: quoted or with a plus sign, so that
  // nothing may replace it.
  bool is_exact = false;
  // Not part of the meaning, ignored by ==. kTerm: the user wanted the word and did not demand it,
  // so documents without it may match (ParseQuestion).
  bool is_wanted = false;
  // Not part of the meaning, ignored by ==. kTerm, kPhrase that SynonymSets added.
  SynonymOf synonym_of;
  // Not part of the meaning, ignored by ==. kTerm and kSite: the word before stemming, and as
  // typed. kPrefix: folded is the term of the prefix as a word, so that `running*` finds `run`; it
  // follows from `term`.
  std::string folded;
  std::string surface;

  bool operator==(const QueryNode& other) const;
};

// Equality that ignores occurrences, percent, and whether the nodes themselves are optional: they
// match the same documents.
bool IsSameSet(const QueryNode& a, const QueryNode& b);

// A part of the query text that narrows the result, which a page can show with a way to take it
// back: an exclusion, or a filter by site.
struct QueryPart {
  enum class Kind : uint8_t {
    kExclusion,  // documents with `text` are left out
    kSite,       // only documents of the site `text`
    kField,      // only documents that the filter `text` selects, as `lang:en`
  };

  Kind kind = Kind::kExclusion;
  // The part without its sign and, of a kSite, without the name of the field; valid UTF-8.
  std::string text;
  // The part's place in the query text, with its sign.
  size_t begin_byte = 0;
  size_t end_byte = 0;

  bool operator==(const QueryPart&) const = default;
};

struct Query {
  QueryNode root;
  // Repairs and omissions, each as a sentence for the user; ignored by ==.
  std::vector<std::string> notes;
  // In the order of the text, at most kQueryPartCountMax; ignored by ==.
  std::vector<QueryPart> parts;

  bool empty() const { return root.kind == QueryNode::Kind::kNothing; }
  bool operator==(const Query& other) const { return root == other.root; }
};

// Distance of NEAR without a number, as in Xapian, and the greatest one. Larger: matches more
// pages that have the words by chance.
inline constexpr uint32_t kNearDistanceDefault = 10;
inline constexpr uint32_t kNearDistanceMax = 100;

inline constexpr size_t kQueryPartCountMax = 16;
// Maximum number of prefixes in a query; further ones are taken as words.
inline constexpr size_t kQueryPrefixCountMax = 8;
// The number of words that a prefix counts as: an index may replace it by kPrefixTermsMax words
// (prefix_terms.h) and the word itself.
inline constexpr size_t kPrefixWordCount = 65;

// The query text without the part, and without the blanks before it.
std::string WithoutPart(std::string_view text, const QueryPart& part);

struct ParseLimits {
  // Maximum size of the query text in bytes. Default: longer than a URL that browsers handle well.
  size_t query_size_max = 4096;
  // Maximum number of words, including words of phrases and kPrefixWordCount for a prefix, before
  // duplicates are removed.
  size_t term_count_max = 1024;
  // Maximum depth of nested brackets.
  size_t nesting_max = 32;

  // Limits for text made by Canonical from a query within the default limits: brackets and folding
  // may have made it longer than what the user typed.
  static ParseLimits ForCanonical() {
    return {.query_size_max = size_t{1} << 18, .term_count_max = 1024, .nesting_max = 64};
  }
};

// Parses `text`, all of whose words are demanded. Any bytes are accepted; words that hold nothing
// indexed are left out.
// Errors: INVALID_ARGUMENT "query: ... at byte N" over a limit.
neptune::StatusOr<Query> ParseQuery(std::string_view text, const ParseLimits& limits = {});

// Parses what a user typed, as [Broder03] reads it: the same syntax, but words and brackets without
// a sign are wanted and not demanded. A document must match all that is demanded, or any one of the
// wanted words if nothing is; all words add to its score. Demanded are +word, "a phrase", title:,
// site: and other filters, the sides of AND and of NEAR, and everything in an excluded bracket.
// Errors: those of ParseQuery.
neptune::StatusOr<Query> ParseQuestion(std::string_view text, const ParseLimits& limits = {});

// Matches the documents that hold any word of running text, such as a question or a title: no part
// of the text is an operator, and words are wanted as those of ParseQuestion. Common words
// (stop_words.h) are left out, with a note, if other words remain.
// Errors: INVALID_ARGUMENT over a limit.
neptune::StatusOr<Query> AnyWordOf(std::string_view text, const ParseLimits& limits = {});

// The canonical text of a query: ParseQuery(Canonical(q), ParseLimits::ForCanonical()) == q, and
// equal queries have equal text, except for rare words whose stem does not stem to itself: these
// keep the user's word. Words keep the user's order; a repeated word is repeated at its first
// place. Empty for a query that matches nothing.
std::string Canonical(const Query& query);

// A filter by a declared field (index/core/document_fields.h), the parts of a kField's term:
//   url:WORD      documents whose address has the word
//   lang:TAG      documents in the language
//   before:DATE   documents whose date is before the first day of the year, month or day
//   after:DATE    documents of this day or later
struct FieldFilter {
  std::string_view name;
  std::string_view value;
};
// REQUIRES: a kField. The views refer to the node.
FieldFilter FieldFilterOf(const QueryNode& node);

// The names of the declared fields by which the query filters, each once: "url", "lang", "date".
std::vector<std::string> FilteredFields(const Query& query);

// The names of the sites that a document must be of, alone or as an alternative: those outside
// exclusions, as folded, each once.
std::vector<std::string> SiteFilters(const Query& query);

// The term, prefix, phrase and near leaves that a matching document may contain, in query order:
// all except those below kNot. Snippets mark them. The pointers are valid as long as `query` is
// unchanged.
std::vector<const QueryNode*> PositiveLeaves(const Query& query);

}  // namespace search::index
