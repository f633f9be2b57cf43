// What a node announces of its replicas: who takes writes, and which versions their data have.
//
// Source: [Shen02] 5.2.1 (replicas publish their version, the primary also that of x seconds ago).
// Threads: immutable values.
// Errors: kDataLoss the bytes are no section.
// Limits: kVersionSectionSizeMax bytes; where a node has more replicas, each announcement tells of other ones.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/replication/log_entry.h"

namespace neptune {

// Tag of the section in announcements.
inline constexpr uint8_t kVersionSection = 2;
inline constexpr size_t kVersionSectionSizeMax = 600;

struct AnnouncedVersion {
  uint32_t service = 0;  // checksum of its name
  PartitionId partition;
  bool is_primary = false;
  bool is_staleness_bounded = false;
  // Of level 1, and takes writes as all others that are. Places in its log are no versions: it announces none.
  bool is_peer = false;
  Epoch epoch = 0;
  Lsn version = 0;
  // A primary's: what it had as long ago as reads may be behind.
  Lsn version_then = 0;
  friend bool operator==(const AnnouncedVersion&, const AnnouncedVersion&) = default;
};

uint32_t ServiceNumber(const ServiceName& service);

// As many as fit, from `first` on, round about; `first` is moved on by as many.
std::string EncodeVersions(const std::vector<AnnouncedVersion>& versions, size_t* first);
StatusOr<std::vector<AnnouncedVersion>> DecodeVersions(std::string_view bytes);

// The partition's in a section; nullopt: there is none, or it is damaged.
std::optional<AnnouncedVersion> FindVersion(std::string_view bytes, const ServiceName& service,
                                            PartitionId partition);

}  // namespace neptune
