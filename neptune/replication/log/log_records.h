// Identity and state of a partition's log in bytes. README.md has the format.
//
// Threads: pure functions.
// Errors: kDataLoss damaged; kFailedPrecondition another version, or the log of another cluster,
//   service, partition, node, kind of order or membership.

#pragma once

#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/log/log_identity.h"
#include "neptune/replication/log/log_outline.h"

namespace neptune {

// For messages.
std::string NameOf(const LogIdentity& identity);

std::string EncodeLogIdentity(const LogIdentity& identity);
StatusOr<LogIdentity> DecodeLogIdentity(std::string_view bytes);
// OK if a node that expects one identity may take over a log of the other.
Status CheckLogIdentity(const LogIdentity& found, const LogIdentity& expected);

// The outline without what follows from its entries.
std::string EncodeLogState(const LogOutline& outline);
StatusOr<LogOutline> DecodeLogState(std::string_view bytes);

}  // namespace neptune
