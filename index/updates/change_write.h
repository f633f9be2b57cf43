// Changes of documents as the write of a replicated service: execution on every replica, and
// queries of what the partition then holds.
//
// Source: neptune/replication.
// Threads: as neptune/replication/store_state.h says.
// Shapes: the write takes the bytes of a PartitionChange and answers with those of a ChangeAnswer.
// Errors: ExecuteChangeWrite: INVALID_ARGUMENT for a request that is malformed or over a limit; the
//   same on all replicas.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "index/updates/change_state.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/state/store_state.h"

namespace search::index {

inline constexpr char kChangeMethod[] = "Change";
// Method of index tiers: HoldsQuery to HoldsAnswer.
inline constexpr char kHoldsMethod[] = "Holds";

// A neptune::WriteFunction.
neptune::Status ExecuteChangeWrite(const neptune::WriteContext& context, std::string_view request,
                                   std::string* response);

// The change in an entry of the log; nullopt: it is another write, or one that was rejected.
std::optional<PartitionChange> ChangeOfEntry(const neptune::LogEntry& entry);

// A ChangeReader over the data of a replicated partition.
class StoreReader final : public ChangeReader {
 public:
  // `view` must outlive it.
  explicit StoreReader(const neptune::StoreView* view) : view_(view) {}

  neptune::StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    return view_->Get(key);
  }
  neptune::Status Scan(const std::string& first, const std::string& end,
                       const Visitor& visitor) const override {
    return view_->Scan({.first = first, .end = end}, visitor);
  }

 private:
  const neptune::StoreView* const view_;
};

}  // namespace search::index
