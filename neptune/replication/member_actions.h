// What a member has to do after a step of its protocol, for protocols with messages of any kind.
//
//   1. send at_once   2. store the change, tell Stored its number   3. send after_stored   4. take another one's data
//
// Threads: immutable values.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/replication/log_outline.h"

namespace neptune {

template <typename Outgoing>
struct MemberActions {
  // To be stored, and then told to Stored with this number; changes are stored in order.
  uint64_t change_number = 0;
  LogChange change;
  std::vector<Outgoing> at_once;
  // To be sent when the change, and all before it, are stored.
  std::vector<Outgoing> after_stored;
  // The member whose data are to take the place of this one's when the change, and all before it, are stored; then Restored
  // is to be called. It may be asked for again until then: of no meaning while it is under way.
  std::optional<MemberIndex> restore_from;

  bool empty() const {
    return change.empty() && at_once.empty() && after_stored.empty() && !restore_from;
  }
};

}  // namespace neptune
