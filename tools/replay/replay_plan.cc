#include "tools/replay/replay_plan.h"

#include <algorithm>
#include <unordered_map>

#include "tools/replay/measurement.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::StatusOr;

// The place of `text` in `list`, where it is put if it is new.
template <typename Index>
uint32_t PlaceOf(const std::string& text, Index* index, std::vector<std::string>* list) {
  const auto [entry, is_new] = index->try_emplace(text, static_cast<uint32_t>(list->size()));
  if (is_new) list->push_back(text);
  return entry->second;
}

// How long a trace is when another one follows it: up to its last request and a mean gap.
double PeriodNs(const std::vector<TraceRecord>& trace) {
  return 1e9 * trace.size() / MeanRate(trace);
}

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  static constexpr std::string_view kNames[kOutcomeCount] = {"answered", "rejected", "error",
                                                             "timeout", "connection"};
  return kNames[static_cast<size_t>(outcome)];
}

double MeanRate(const std::vector<TraceRecord>& trace) {
  const double seconds = static_cast<double>(trace.back().time_us) / 1e6;
  const double count = static_cast<double>(trace.size());
  return seconds > 0 ? (count > 1 ? (count - 1) / seconds : count / seconds) : 1;
}

double SpeedForRate(const std::vector<TraceRecord>& trace, double rate, double duration_s) {
  if (duration_s <= 0) return rate / MeanRate(trace);
  const auto count = static_cast<uint64_t>(std::max(1.0, rate * duration_s));
  const double reached_ns = static_cast<double>(count / trace.size()) * PeriodNs(trace) +
                            static_cast<double>(trace[count % trace.size()].time_us) * 1000;
  return reached_ns > 0 ? reached_ns / 1e9 / duration_s : rate / MeanRate(trace);
}

StatusOr<ReplayPlan> MakeReplayPlan(const std::vector<TraceRecord>& trace,
                                    const PlanOptions& options) {
  if (trace.empty()) return InvalidArgument("the trace holds no requests");
  if (!(options.speed > 0)) return InvalidArgument("the speed must be above 0");
  ReplayPlan plan;
  std::unordered_map<std::string, uint32_t> classes;
  std::unordered_map<std::string, uint32_t> queries;
  const double end_ns = options.duration_s > 0 ? options.duration_s * 1e9 : 1e300;
  const bool rounds = options.repeat && options.duration_s > 0;
  for (uint64_t i = 0; rounds || i < trace.size(); ++i) {
    const TraceRecord& record = trace[i % trace.size()];
    const double round_ns = static_cast<double>(i / trace.size()) * PeriodNs(trace);
    const double at_ns = (round_ns + static_cast<double>(record.time_us) * 1000) / options.speed;
    if (at_ns >= end_ns) break;
    if (at_ns > static_cast<double>(kRunLengthMaxNs) / 2) {
      return InvalidArgument(
          "the run would take longer than two weeks; raise --speed or cut the trace");
    }
    if (plan.requests.size() == TraceLimits::kRecordCountMax) {
      return neptune::ResourceExhausted("more than ", plan.requests.size(), " requests");
    }
    const uint32_t service_class = PlaceOf(record.service_class, &classes, &plan.classes);
    if (service_class >= TraceLimits::kClassCountMax) {
      return neptune::ResourceExhausted("the trace has more than ", TraceLimits::kClassCountMax,
                                        " classes");
    }
    plan.requests.push_back({static_cast<int64_t>(at_ns),
                             PlaceOf(record.query, &queries, &plan.queries),
                             static_cast<uint8_t>(service_class)});
  }
  return plan;
}

}  // namespace search::tools
