// Section of a node's announcements about its replicas: their roles and versions.
//
// Source: [Shen02] 5.2.1 (replicas publish their version, the primary also that of x seconds ago).
// Threads: immutable values.
// Errors: kDataLoss the bytes are malformed.
// Limits: kVersionSectionSizeMax bytes; if more replicas do not fit, announcements cycle through
//   them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

// Tag of the section in announcements.
inline constexpr uint8_t kVersionSection = 2;
inline constexpr size_t kVersionSectionSizeMax = 600;

struct AnnouncedVersion {
  uint32_t service = 0;  // checksum of its name
  PartitionId partition;
  bool is_primary = false;
  bool is_staleness_bounded = false;
  // At `write_anywhere`, ready for reads and writes. Positions in its log are not versions, so it
  // announces none.
  bool is_peer = false;
  Epoch epoch = 0;
  Lsn version = 0;
  // A primary's version at the service's staleness bound before now.
  Lsn version_then = 0;
  friend bool operator==(const AnnouncedVersion&, const AnnouncedVersion&) = default;
};

uint32_t ServiceNumber(const ServiceName& service);

// Encodes as many versions as fit, cyclically from `first` on, and advances `first` past them.
std::string EncodeVersions(const std::vector<AnnouncedVersion>& versions, size_t* first);
StatusOr<std::vector<AnnouncedVersion>> DecodeVersions(std::string_view bytes);

// Finds the partition's version in a section; nullopt: none, or the section is damaged.
std::optional<AnnouncedVersion> FindVersion(std::string_view bytes, const ServiceName& service,
                                            PartitionId partition);

}  // namespace neptune
