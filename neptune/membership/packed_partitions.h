// Partition numbers in few bytes, for announcements of nodes that host many.
//
// Segments in ascending order: a run of consecutive partitions, or a bitmap of some of them. One
// form is valid for a set of partitions: the one that PackPartitions returns.
//
// Threads: pure functions.
// Errors: kDataLoss the bytes are not what PackPartitions returns.
// Limits: kPackedPartitionCountMax partitions.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/ids.h"
#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kPackedPartitionCountMax = 16'384;

// nullopt: they are not in ascending order, or too many.
std::optional<std::string> PackPartitions(const std::vector<PartitionId>& partitions);
// Reads what PackPartitions returned.
StatusOr<std::vector<PartitionId>> UnpackPartitions(ByteReader& reader);

}  // namespace neptune
