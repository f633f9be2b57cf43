// The cases of the experiment repl_faults: each starts clusters of real processes on loopback,
// gives them one fault, and returns what users saw.
//
// Threads: one at a time, each on a plain kernel thread; they measure the machine.
// Units: metric names end with their unit.
// Errors: those of starting the processes. What a fault does to them is a measurement, not an
//   error.

#pragma once

#include <string>
#include <vector>

#include "neptune/world/faults/fault.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {

// The environment variable that names the node program of an earlier revision.
inline constexpr char kBeforeVariable[] = "REPL_FAULTS_BEFORE";

// Runs a case by its name, with its detail: what README.md lists. kInvalidArgument: there is none.
neptune::StatusOr<Measurement> RunFaultCase(const RunContext& context, const std::string& name,
                                            const std::string& detail);

// 64 writers of 100 bytes on three nodes: acknowledged, writes_per_s, p50_ms, p99_ms,
// writes_per_processor_s. `program`: the node program; empty: that of this build.
neptune::StatusOr<Measurement> RunQuiet(const RunContext& context, const std::string& program);
// RunQuiet with the program of kBeforeVariable. is_measured is 0 if that is not set.
neptune::StatusOr<Measurement> RunBefore(const RunContext& context);
// The same load on three members of etcd, with `connections` connections. is_measured is 0 if it is
// not installed, or this was built without gRPC.
neptune::StatusOr<Measurement> RunEtcd(const RunContext& context, int connections);

// Short requests over 64 connections to each node: share of the writes that fall to them, change of
// primaries.
neptune::StatusOr<Measurement> RunFlood(const RunContext& context);
// One request of 300 ms at a time on the primary.
neptune::StatusOr<Measurement> RunLong(const RunContext& context);
// Every flush of every node takes `delay_ms` longer.
neptune::StatusOr<Measurement> RunSlowFlush(const RunContext& context, double delay_ms);

// One fault of the primary's node for five seconds. wrong_count, write_gap_s, rest_gap_s,
// new_client_answers, heal_s.
neptune::StatusOr<Measurement> RunSingle(const RunContext& context, const neptune::Fault& fault);
// The faults that are measured, without hosts.
std::vector<neptune::Fault> SingleFaults();

// One bit flips on one node while another one is down. `place`: "written", in what the last writes
// changed, or "any".
neptune::StatusOr<Measurement> RunFlip(const RunContext& context, const std::string& place);

// 64 readers of 60 MiB that stop.
neptune::StatusOr<Measurement> RunReaders(const RunContext& context);
// A member takes all data while others write.
neptune::StatusOr<Measurement> RunSnapshot(const RunContext& context);
// Nodes of 1,000 partitions.
neptune::StatusOr<Measurement> RunPartitions(const RunContext& context);

}  // namespace search::lab
