// What the servers of a reduction tree tell each other: the task that goes down, the answer that comes up.
//
// A task names the receiver and everybody below it in preorder, so that a subtree is a run of it and is handed
// on without being understood. An answer carries one reduced result, who contributed to it, why others did
// not, and what each server says of itself. The byte layout is in README.md.
//
// Source: [Chu03] 4 (the tree travels with the request), 3.2 (contributing partitions), 4.5 (load index).
// Departs from source: reasons for what is missing; loads come back with every answer.
// Bytes in, values out.
// Threads: immutable values and pure functions.
// Units: times in microseconds on the wire, cut at 71 minutes.
// Errors: kDataLoss bytes that are no task or answer; kInvalidArgument a task that contradicts itself: no
//   server, a server without partitions, child counts that are no tree, a partition named twice.
// Limits: kAggregationPartitionsMax partitions; kReasonSizeMax bytes a reason, the rest is cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/dac/stage_deadlines.h"
#include "neptune/world/network.h"

namespace neptune {

inline constexpr size_t kAggregationPartitionsMax = 4096;
inline constexpr size_t kReasonSizeMax = 200;
// The method under which a task is sent; no module can register it.
inline constexpr std::string_view kAggregateMethod = "neptune.Aggregate";
// The stream that a task opens whose results are streams.
inline constexpr std::string_view kAggregateStreamMethod = "neptune.AggregateStream";

// One server of a tree: what it contributes, and how many of those that follow are its children.
struct TreeMember {
  NodeId node;
  Endpoint at;
  std::vector<PartitionId> partitions;
  uint16_t child_count = 0;
  friend bool operator==(const TreeMember&, const TreeMember&) = default;
};

// How long the subtree is that begins with members[0].
// REQUIRES: the members are a preorder, as every decoded task's are.
size_t SubtreeLength(std::span<const TreeMember> members);

// What is the same for every server of a call.
struct AggregationPlan {
  MethodName local;
  MethodName reduce;
  TimeoutPolicy timeouts = TimeoutPolicy::kStaged;
  // What stages are cut by: the mean time of a reduction, and a margin for all else.
  Duration reduce_time{0};
  Duration stage_margin{0};
  // The baseline: the thread that ran the local operator waits for the children.
  bool blocking = false;
  // Under which the members were told of their tasks by datagram; 0: they were not.
  uint64_t dissemination = 0;
  std::string local_parameters;
  std::string reduce_parameters;
  // Most partitions that the whole call may miss. A server below which more are missing says so at once.
  uint16_t missing_count_max = UINT16_MAX;
  // The baseline without cancellation: nobody is told that his work is no longer wanted.
  bool uncancelled = false;
  friend bool operator==(const AggregationPlan&, const AggregationPlan&) = default;
};

struct AggregationTask {
  AggregationPlan plan;
  std::vector<TreeMember> members;  // preorder; the first is the receiver
};

std::string EncodeTask(const AggregationPlan& plan, std::span<const TreeMember> members);
StatusOr<AggregationTask> DecodeTask(std::string_view bytes);

// How the members of a tree learn of their tasks.
enum class DisseminationMode {
  kForward,    // each is told by its parent, with the tasks of those below it
  kUnicast,    // each by a datagram of its own from the caller, with the whole tree
  kMulticast,  // all by one datagram
};

// Asks a member that was told by datagram for its answer.
std::string EncodeReference(uint64_t dissemination);
// nullopt: the bytes are no reference, but perhaps a task.
std::optional<uint64_t> DecodeReference(std::string_view bytes);

// What the datagram says: the whole tree, to all of its members.
struct Dissemination {
  ServiceName service;
  std::string service_class;
  Duration time_left{0};  // of the root
  AggregationTask task;
};
// Errors: kResourceExhausted over kDisseminationSizeMax bytes.
StatusOr<std::string> EncodeDissemination(const Dissemination& what);
StatusOr<Dissemination> DecodeDissemination(std::string_view bytes);
// Whether they look like one, for a socket that takes other datagrams too.
bool IsDissemination(std::string_view bytes);
inline constexpr size_t kDisseminationSizeMax = 16 * 1024;

struct MissingPartition {
  PartitionId partition;
  Status reason;
};

// What a server of the tree says of itself, and when it did what, from the arrival of its task.
struct MemberRecord {
  NodeId node;
  uint32_t load_index = 0;  // active and queued requests
  uint16_t processor_count = 1;
  Duration pending{0};      // processor time of the work that waits there
  Duration local_cost{0};   // mean of the service's local operator there
  Duration reduce_cost{0};  // mean of its reduction there
  Duration queue_time{0};   // until the first local operator began
  Duration local_end{0};    // all local results were there
  Duration answered{0};     // the answer went up
  Duration reducing{
      0};  // after local_end, in reductions; the rest of the time until `answered` it waited
  uint16_t reduction_count = 0;
  uint16_t child_count = 0;  // as it ended: adopted ones included
  friend bool operator==(const MemberRecord&, const MemberRecord&) = default;
};

struct AggregationAnswer {
  // The first error of the reduce operator anywhere below; the call fails with it.
  Status reduce_error;
  std::vector<PartitionId> contributing;
  std::vector<MissingPartition> missing;
  // Whose server told the local operator to stop since it has no more time for one: of those that contribute it is
  // what there was by then.
  std::vector<PartitionId> ended_early;
  std::vector<MemberRecord> records;  // the sender's own first
  std::optional<std::string> result;  // absent: nobody contributed
};

std::string EncodeAnswer(const AggregationAnswer& answer);
StatusOr<AggregationAnswer> DecodeAnswer(std::string_view bytes);

}  // namespace neptune
