// Joins nodes into the normal form of query.h: flat, without repeats, exclusions last.
//
// Between parsing steps a node may also be a pure exclusion: kNot, or kAnd of kNot only. The next
// And absorbs it; an Or or the root cannot express it, and drops it with a note.
//
// Threads: thread-compatible.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "index/core/query/query.h"

namespace search::index {

// One operand of an And.
struct Operand {
  QueryNode node;
  bool is_stop_word = false;  // may be dropped if other words remain
  // Documents need not match it if another operand is demanded, or another wanted one matches. A
  // bracket is wanted if all in it is: an exclusion, a filter or a demanded word makes it demanded.
  bool is_wanted = false;
  // A phrase that was typed as one word with punctuation; beside others, its words are wanted one
  // by one.
  bool is_compound = false;
  bool is_field = false;  // a filter by a declared field
};

class TreeBuilder {
 public:
  // notes: receives a note for each part that is left out; must outlive the builder.
  explicit TreeBuilder(std::vector<std::string>* notes) : notes_(notes) {}

  // Each returns nullopt if nothing remains. Wanted operands of And become optional words if
  // another operand with words is demanded, else alternatives.
  std::optional<Operand> And(std::vector<Operand> operands);
  std::optional<QueryNode> Or(std::vector<QueryNode> alternatives);
  // An OR that the user wrote: none of its words is given up if another is found.
  std::optional<Operand> OrOfUser(std::vector<Operand> alternatives);
  // `left` is a word or the result of Near. nullopt if NEAR does not join such nodes: other nodes
  // than words, words of different fields, and a word with itself. Of several distances the
  // greatest counts, and of shares the smallest.
  static std::optional<QueryNode> Near(const QueryNode& left, const QueryNode& right,
                                       uint32_t distance);
  QueryNode Not(QueryNode node);
  QueryNode Root(std::optional<QueryNode> node);

  // Adds a note, unless it is a duplicate or there are too many.
  void Note(std::string note);

 private:
  void LeaveOutStopWords(std::vector<Operand>* operands);
  void ResolveWanted(std::vector<Operand>* operands);
  void JoinWanted(std::vector<Operand>* operands);

  std::vector<std::string>* notes_;
};

}  // namespace search::index
