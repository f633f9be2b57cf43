// Joins nodes into the normal form that query.h promises: flat, without repeats, exclusions last.
//
// Between parsing steps a node may also be a pure exclusion: kNot, or kAnd of kNot only. The next
// And takes it up; an Or or the root cannot mean it, and leaves it out with a note.
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
};

class TreeBuilder {
 public:
  // notes: receives what was left out; must outlive the builder.
  explicit TreeBuilder(std::vector<std::string>* notes) : notes_(notes) {}

  // Each returns nullopt if nothing remains.
  std::optional<QueryNode> And(std::vector<Operand> operands);
  std::optional<QueryNode> Or(std::vector<QueryNode> alternatives);
  QueryNode Not(QueryNode node);
  QueryNode Root(std::optional<QueryNode> node);

  // Adds a note, unless there are many or it is there already.
  void Note(std::string note);

 private:
  void LeaveOutStopWords(std::vector<Operand>* operands);

  std::vector<std::string>* notes_;
};

}  // namespace search::index
