#include "tools/trace/trace_edit.h"

#include <cmath>
#include <queue>

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;

struct Head {
  TraceRecord record;
  size_t input = 0;
  bool operator>(const Head& other) const {
    return record.time_us != other.record.time_us ? record.time_us > other.record.time_us
                                                  : input > other.input;
  }
};

// The input's next record inside the cut, with its new time; false if there is none.
StatusOr<bool> NextEdited(TraceReader& reader, const TraceEdit& edit, TraceRecord* record) {
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader.Next(record));
    if (!more || record->time_us >= edit.to_us) return false;
    if (record->time_us < edit.from_us) continue;
    const double moved = static_cast<double>(record->time_us - edit.from_us) / edit.speed;
    if (!(moved <= static_cast<double>(TraceLimits::kTimeMaxUs))) {
      return neptune::InvalidArgument("a time after scaling is over ten years");
    }
    record->time_us = static_cast<uint64_t>(std::llround(moved));
    return true;
  }
}

}  // namespace

Status EditTraces(const std::vector<std::unique_ptr<TraceReader>>& inputs, const TraceEdit& edit,
                  const RecordHandler& take) {
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto refill = [&](size_t input) -> Status {
    Head head{.input = input};
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, NextEdited(*inputs[input], edit, &head.record));
    if (more) heads.push(std::move(head));
    return neptune::OkStatus();
  };
  for (size_t i = 0; i < inputs.size(); ++i) NEPTUNE_RETURN_IF_ERROR(refill(i));
  while (!heads.empty()) {
    const Head head = heads.top();
    heads.pop();
    NEPTUNE_RETURN_IF_ERROR(take(head.record));
    NEPTUNE_RETURN_IF_ERROR(refill(head.input));
  }
  return neptune::OkStatus();
}

}  // namespace search::tools
