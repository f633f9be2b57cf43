// Bounds of measured values, in a file that a test checks and a person raises.
//
//   file  ← line*
//   line  ← '#' text | MEASURE tab ('at_least' | 'at_most') tab NUMBER tab REASON
//
// Example: "documentation.served.ndcg10\tat_least\t0.68\tmeasures .693\n".
// Threads: pure functions.
// Errors: INVALID_ARGUMENT a bad line, a measure with two bounds of one kind, or a bound of a value
//   that was not measured: a misspelt name must not pass. FAILED_PRECONDITION values beyond their
//   bounds, all of them in the message.
// Limits: kFloorsMax bounds.

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

inline constexpr size_t kFloorsMax = 1000;

struct Floor {
  std::string measure;
  bool is_ceiling = false;  // at_most
  double bound = 0;
  std::string reason;

  bool operator==(const Floor&) const = default;
};

// Values by name: COLLECTION.RUN.MEASURE.
using MeasuredValues = std::map<std::string, double>;

neptune::StatusOr<std::vector<Floor>> ReadFloors(const std::string& path);
// Reads from bytes; `name` is used in messages.
neptune::StatusOr<std::vector<Floor>> ReadFloors(ByteSource* source, const std::string& name);

neptune::Status CheckFloors(const std::vector<Floor>& floors, const MeasuredValues& measured);

}  // namespace search::tools
