// Actions that a member must perform after a step of its protocol, for any message type.
//
//   1. send at_once   2. store the change and report ChangeStored with its number
//   3. send after_stored   4. restore another member's data
//
// Threads: immutable values.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/replication/log/log_outline.h"

namespace neptune {

template <typename Outgoing>
struct MemberActions {
  // The change to store; report ChangeStored with its number afterwards. Changes are stored in
  // order.
  uint64_t change_number = 0;
  LogChange change;
  std::vector<Outgoing> at_once;
  // Sent once this change and all earlier ones are stored.
  std::vector<Outgoing> after_stored;
  // The member whose data must replace this one's once this change and all earlier ones are stored;
  // report DataRestored afterwards. May be repeated; ignored while a restore is running.
  std::optional<MemberIndex> restore_from;

  bool empty() const {
    return change.empty() && at_once.empty() && after_stored.empty() && !restore_from;
  }
};

}  // namespace neptune
