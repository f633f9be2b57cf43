// Calls the MICRO service of a running cluster repeatedly and prints the results.

#include <gflags/gflags.h>

#include <cinttypes>
#include <cstdio>

#include "neptune/examples/client/example_client.h"
#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_work.h"

DEFINE_string(spec, "neptune/examples/micro/cluster.textproto", "spec of the running cluster");
DEFINE_int32(count, 5, "number of sequential aggregations");
DEFINE_uint64(seed, 1, "seed of the first request; it increases by one each time");
DEFINE_int32(timeout_ms, 2000, "deadline of each aggregation in milliseconds");

namespace {

using neptune::OkStatus;
using neptune::Status;

Status Ask(neptune::ClientSession& session, uint32_t partition_count, uint64_t seed) {
  const neptune::TimePoint begin = neptune::this_thread::Now();
  neptune::Data data;
  neptune::AggregationReport report;
  NEPTUNE_RETURN_IF_ERROR(neptune::Aggregate(
      session,
      neptune::examples::MicroAggregation(neptune::ServiceName("micro"), partition_count,
                                          neptune::examples::MakeMicroRequest(seed),
                                          begin + std::chrono::milliseconds(FLAGS_timeout_ms)),
      &data, &report));
  const neptune::Duration took = neptune::this_thread::Now() - begin;
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const result, data.As<neptune::examples::MicroResult>());
  std::printf("request %" PRIu64 ": %u partitions, sum %" PRIu64
              ", %.1f ms of local work, %.1f ms of reductions, answered in %.1f ms\n",
              seed, result->partition_count(), result->partition_sum(),
              static_cast<double>(result->local_ns()) / 1e6,
              static_cast<double>(result->reduce_ns()) / 1e6, neptune::ToMillis(took));
  return OkStatus();
}

Status AskAll(neptune::ClientSession& session, uint32_t partition_count) {
  for (int i = 0; i < FLAGS_count; ++i) {
    NEPTUNE_RETURN_IF_ERROR(Ask(session, partition_count, FLAGS_seed + static_cast<uint64_t>(i)));
  }
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "calls the MICRO service of a running cluster",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("micro"),
       .register_operators = neptune::examples::RegisterMicroReduce,
       .ask = AskAll});
}
