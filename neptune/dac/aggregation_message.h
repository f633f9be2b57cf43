// Messages between the servers of a reduction tree: tasks, sent down, and answers, sent up.
//
// A task lists its receiver and all servers below it in preorder, so that a subtree is a contiguous
// range and is forwarded without being interpreted. An answer has one reduced result, its
// contributors, the reasons for missing partitions, and a record of each server. README.md
// describes the byte layout.
//
// Source: [Chu03] 4 (the tree travels with the request), 3.2 (contributing partitions), 4.5 (load
//   index).
// Departs from source: has reasons for missing partitions; every answer returns loads.
// Bytes in, values out.
// Threads: immutable values and pure functions.
// Units: times in microseconds on the wire, clamped to 71 minutes.
// Errors: kDataLoss malformed task or answer; kInvalidArgument inconsistent task: no server, a
//   server without partitions, child counts that do not form one tree, a duplicate partition.
// Limits: kAggregationPartitionsMax partitions; a reason is truncated to kReasonSizeMax bytes.

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
// The method name of tasks; no module can register it.
inline constexpr std::string_view kAggregateMethod = "neptune.Aggregate";
// The stream method of tasks whose results are streams.
inline constexpr std::string_view kAggregateStreamMethod = "neptune.AggregateStream";

// One server of a tree: its partitions, and the number of its children among the members that
// follow.
struct TreeMember {
  NodeId node;
  Endpoint at;
  std::vector<PartitionId> partitions;
  uint16_t child_count = 0;
  friend bool operator==(const TreeMember&, const TreeMember&) = default;
};

// Number of members in the subtree that begins with members[0].
// REQUIRES: the members are a preorder, as in every decoded task.
size_t SubtreeLength(std::span<const TreeMember> members);

// The part of a task that is the same for every server of a call.
struct AggregationPlan {
  MethodName local;
  MethodName reduce;
  TimeoutPolicy timeouts = TimeoutPolicy::kStaged;
  // Parameters of the stage deadlines: length of a stage, and a margin for everything but
  // reductions.
  Duration reduce_time{0};
  Duration stage_margin{0};
  // Number of the datagram that sent the members their tasks; 0: they were not sent by datagram.
  uint64_t dissemination = 0;
  std::string local_parameters;
  std::string reduce_parameters;
  // Maximum number of partitions that the whole call may miss. A server answers at once when more
  // are missing below it.
  uint16_t missing_count_max = UINT16_MAX;
  friend bool operator==(const AggregationPlan&, const AggregationPlan&) = default;
};

struct AggregationTask {
  AggregationPlan plan;
  std::vector<TreeMember> members;  // preorder; the first is the receiver
};

std::string EncodeTask(const AggregationPlan& plan, std::span<const TreeMember> members);
StatusOr<AggregationTask> DecodeTask(std::string_view bytes);

// How tasks are sent to the members of a tree.
enum class DisseminationMode {
  kForward,    // each parent sends its children their subtrees
  kUnicast,    // the caller sends each member a datagram with the whole tree
  kMulticast,  // the caller sends one datagram to all members
};

// Requests the answer of a member whose task was sent by datagram.
std::string EncodeReference(uint64_t dissemination);
// Returns nullopt if the bytes are not a reference; they may be a task.
std::optional<uint64_t> DecodeReference(std::string_view bytes);

// The content of a datagram: the whole tree, sent to all of its members.
struct Dissemination {
  ServiceName service;
  std::string service_class;
  Duration time_left{0};  // of the root
  AggregationTask task;
};
// Errors: kResourceExhausted over kDisseminationSizeMax bytes.
StatusOr<std::string> EncodeDissemination(const Dissemination& what);
StatusOr<Dissemination> DecodeDissemination(std::string_view bytes);
// True if the bytes look like a dissemination, for a socket that receives other datagrams too.
bool IsDissemination(std::string_view bytes);
inline constexpr size_t kDisseminationSizeMax = 16 * 1024;

struct MissingPartition {
  PartitionId partition;
  Status reason;
};

// A server's record of one aggregation: its loads, and a timeline relative to the arrival of its
// task.
struct MemberRecord {
  NodeId node;
  uint32_t load_index = 0;  // active and queued requests
  uint16_t processor_count = 1;
  Duration pending{0};      // processor time of its pending work
  Duration local_cost{0};   // its mean cost of the service's local operator
  Duration reduce_cost{0};  // its mean cost of a reduction
  Duration queue_time{0};   // until the first local operator began
  Duration local_end{0};    // until all local results were available
  Duration answered{0};     // until the answer was sent
  // Time in reductions between local_end and `answered`; the rest of that time it waited.
  Duration reducing{0};
  uint16_t reduction_count = 0;
  uint16_t child_count = 0;  // including adopted children
  friend bool operator==(const MemberRecord&, const MemberRecord&) = default;
};

struct AggregationAnswer {
  // The first error of the reduce operator on any server below; the call fails with it.
  Status reduce_error;
  std::vector<PartitionId> contributing;
  std::vector<MissingPartition> missing;
  // Partitions whose local operator was cut short by its server's time limit; contributed results
  // among them are partial.
  std::vector<PartitionId> ended_early;
  std::vector<MemberRecord> records;  // the sender's own first
  std::optional<std::string> result;  // unset: no partition contributed
};

std::string EncodeAnswer(const AggregationAnswer& answer);
StatusOr<AggregationAnswer> DecodeAnswer(std::string_view bytes);

}  // namespace neptune
