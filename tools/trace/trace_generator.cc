#include "tools/trace/trace_generator.h"

#include "tools/trace/arrival_process.h"
#include "tools/trace/query_stream.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;

const std::string& DrawClass(const TraceProfile& profile, neptune::RandomSource& random) {
  double left = random.Uniform();
  for (const ClassShare& share : profile.classes()) {
    left -= share.share();
    if (left < 0) return share.name();
  }
  return profile.classes(profile.classes_size() - 1).name();  // the shares' rounding
}

}  // namespace

StatusOr<GeneratedCounts> GenerateTrace(const TraceProfile& profile,
                                        const std::vector<std::string>& queries, uint64_t seed,
                                        const RecordHandler& take) {
  if (queries.empty())
    return neptune::InvalidArgument("there are no queries to generate a trace from");
  ArrivalProcess arrivals(profile, seed);
  QueryStream stream(queries, profile, seed);
  neptune::RandomSource class_random(seed ^ 0x636c6173);
  const double end_us = profile.duration_s() * 1e6;
  GeneratedCounts counts;
  TraceRecord record;
  for (double at = arrivals.NextUs(); at < end_us; at = arrivals.NextUs()) {
    record.time_us = static_cast<uint64_t>(at);
    record.service_class = DrawClass(profile, class_random);
    record.query = stream.Next();
    NEPTUNE_RETURN_IF_ERROR(take(record));
    ++counts.request_count;
  }
  counts.composed_query_count = stream.composed_count();
  return counts;
}

}  // namespace search::tools
