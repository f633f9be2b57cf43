#include "neptune/dac/aggregation_message.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

constexpr uint8_t kMessageVersion = 2;  // 2: records have the time in reductions

// Bits of a task's flags.
constexpr uint8_t kStagedFlag = 1;
constexpr uint8_t kSameParametersFlag = 4;
constexpr uint8_t kDisseminatedFlag = 8;
// 2 and 16 selected baselines of experiments; they are reserved and always 0.
constexpr uint8_t kTaskFlags = kStagedFlag | kSameParametersFlag | kDisseminatedFlag;
constexpr uint8_t kReferenceFlag = 128;
constexpr uint8_t kDisseminationByte = 'T';
// Bits of an answer's flags.
constexpr uint8_t kResultFlag = 1;
constexpr uint8_t kEndedEarlyFlag = 2;
constexpr uint8_t kAnswerFlags = kResultFlag | kEndedEarlyFlag;

void WriteTime(Duration time, ByteWriter& out) {
  const int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  const int64_t max = std::numeric_limits<uint32_t>::max();
  out.Number(static_cast<uint32_t>(std::clamp<int64_t>(micros, 0, max)));
}

Duration ReadTime(ByteReader& in) { return std::chrono::microseconds(in.Number<uint32_t>()); }

void WriteStatus(const Status& status, ByteWriter& out) {
  out.Number(static_cast<uint8_t>(status.code()));
  out.Counted<uint8_t>(ToStd(status.message()).substr(0, kReasonSizeMax));
}

Status ReadStatus(ByteReader& in) {
  const uint8_t code = in.Number<uint8_t>();
  const std::string_view message = in.Counted<uint8_t>();
  constexpr auto kCodeMax = static_cast<uint8_t>(StatusCode::kUnauthenticated);
  return Status(code > kCodeMax ? StatusCode::kUnknown : static_cast<StatusCode>(code),
                ToAbsl(message));
}

void WritePartitions(const std::vector<PartitionId>& partitions, ByteWriter& out) {
  out.Number(static_cast<uint16_t>(partitions.size()));
  for (const PartitionId& partition : partitions) out.Number(partition.value());
}

std::vector<PartitionId> ReadPartitions(ByteReader& in) {
  std::vector<PartitionId> partitions;
  const size_t count = in.Number<uint16_t>();
  if (count * sizeof(uint32_t) > in.remaining()) return in.Bytes(in.remaining() + 1), partitions;
  partitions.reserve(count);
  for (size_t i = 0; i < count; ++i) partitions.emplace_back(in.Number<uint32_t>());
  return partitions;
}

void WriteMember(const TreeMember& member, ByteWriter& out) {
  out.Counted<uint8_t>(member.node.value());
  out.Number(member.at.address);
  out.Number(member.at.port);
  out.Number(member.child_count);
  WritePartitions(member.partitions, out);
}

TreeMember ReadMember(ByteReader& in) {
  TreeMember member;
  member.node = NodeId(std::string(in.Counted<uint8_t>()));
  member.at.address = in.Number<uint32_t>();
  member.at.port = in.Number<uint16_t>();
  member.child_count = in.Number<uint16_t>();
  member.partitions = ReadPartitions(in);
  return member;
}

void WriteRecord(const MemberRecord& record, ByteWriter& out) {
  out.Counted<uint8_t>(record.node.value());
  out.Number(record.load_index);
  out.Number(record.processor_count);
  for (const Duration time :
       {record.pending, record.local_cost, record.reduce_cost, record.queue_time, record.local_end,
        record.answered, record.reducing}) {
    WriteTime(time, out);
  }
  out.Number(record.reduction_count);
  out.Number(record.child_count);
}

MemberRecord ReadRecord(ByteReader& in) {
  MemberRecord record;
  record.node = NodeId(std::string(in.Counted<uint8_t>()));
  record.load_index = in.Number<uint32_t>();
  record.processor_count = std::max<uint16_t>(1, in.Number<uint16_t>());
  for (Duration* const time :
       {&record.pending, &record.local_cost, &record.reduce_cost, &record.queue_time,
        &record.local_end, &record.answered, &record.reducing}) {
    *time = ReadTime(in);
  }
  record.reduction_count = in.Number<uint16_t>();
  record.child_count = in.Number<uint16_t>();
  return record;
}

// True if the child counts, in preorder, form one tree.
bool IsPreorder(std::span<const TreeMember> members) {
  size_t expected = 1;
  for (const TreeMember& member : members) {
    if (expected == 0) return false;
    expected += member.child_count;
    --expected;
  }
  return expected == 0;
}

Status CheckMembers(std::span<const TreeMember> members) {
  if (members.empty() || !IsPreorder(members)) {
    return InvalidArgument("the members of the aggregation do not form a tree");
  }
  std::vector<PartitionId> all;
  for (const TreeMember& member : members) {
    if (member.partitions.empty()) {
      return InvalidArgument("server ", member.node, " of the aggregation has no partitions");
    }
    all.insert(all.end(), member.partitions.begin(), member.partitions.end());
  }
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
    return InvalidArgument("the aggregation has a duplicate partition");
  }
  if (all.size() > kAggregationPartitionsMax) {
    return InvalidArgument(all.size(), " partitions are over ", kAggregationPartitionsMax);
  }
  return OkStatus();
}

}  // namespace

size_t SubtreeLength(std::span<const TreeMember> members) {
  size_t expected = 1;
  size_t length = 0;
  while (expected > 0) expected += members[length++].child_count - size_t{1};
  return length;
}

std::string EncodeTask(const AggregationPlan& plan, std::span<const TreeMember> members) {
  std::string bytes;
  bytes.reserve(64 + 32 * members.size() + plan.local_parameters.size());
  ByteWriter out(&bytes);
  const bool same = plan.local_parameters == plan.reduce_parameters;
  out.Number(kMessageVersion);
  out.Number(static_cast<uint8_t>((plan.timeouts == TimeoutPolicy::kUniform ? 0 : kStagedFlag) |
                                  (plan.dissemination != 0 ? kDisseminatedFlag : 0) |
                                  (same ? kSameParametersFlag : 0)));
  if (plan.dissemination != 0) out.Number(plan.dissemination);
  WriteTime(plan.reduce_time, out);
  WriteTime(plan.stage_margin, out);
  out.Number(plan.missing_count_max);
  out.Counted<uint8_t>(plan.local.value());
  out.Counted<uint8_t>(plan.reduce.value());
  out.Number(static_cast<uint16_t>(members.size()));
  for (const TreeMember& member : members) WriteMember(member, out);
  out.Counted<uint32_t>(plan.local_parameters);
  if (!same) out.Counted<uint32_t>(plan.reduce_parameters);
  return bytes;
}

StatusOr<AggregationTask> DecodeTask(std::string_view bytes) {
  ByteReader in(bytes);
  AggregationTask task;
  AggregationPlan& plan = task.plan;
  const uint8_t version = in.Number<uint8_t>();
  if (version != kMessageVersion) {
    return DataLoss("aggregation task of version ", int{version}, ", not ", int{kMessageVersion});
  }
  const uint8_t flags = in.Number<uint8_t>();
  plan.timeouts = flags & kStagedFlag ? TimeoutPolicy::kStaged : TimeoutPolicy::kUniform;
  if (flags & kDisseminatedFlag) plan.dissemination = in.Number<uint64_t>();
  plan.reduce_time = ReadTime(in);
  plan.stage_margin = ReadTime(in);
  plan.missing_count_max = in.Number<uint16_t>();
  plan.local = MethodName(std::string(in.Counted<uint8_t>()));
  plan.reduce = MethodName(std::string(in.Counted<uint8_t>()));
  const size_t member_count = in.Number<uint16_t>();
  if (member_count > kAggregationPartitionsMax) {
    return InvalidArgument(member_count, " servers are over ", kAggregationPartitionsMax);
  }
  for (size_t i = 0; i < member_count && !in.failed(); ++i) task.members.push_back(ReadMember(in));
  plan.local_parameters = std::string(in.Counted<uint32_t>());
  plan.reduce_parameters =
      flags & kSameParametersFlag ? plan.local_parameters : std::string(in.Counted<uint32_t>());
  const bool contradicts = (flags & kDisseminatedFlag) != 0 && plan.dissemination == 0;
  if (!in.finished() || (flags & ~kTaskFlags) != 0 || contradicts) {
    return DataLoss(bytes.size(), " bytes are not a valid aggregation task");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckMembers(task.members));
  return task;
}

std::string EncodeReference(uint64_t dissemination) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Number(kMessageVersion);
  out.Number(kReferenceFlag);
  out.Number(dissemination);
  return bytes;
}

std::optional<uint64_t> DecodeReference(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.Number<uint8_t>() != kMessageVersion || in.Number<uint8_t>() != kReferenceFlag) {
    return std::nullopt;
  }
  const uint64_t dissemination = in.Number<uint64_t>();
  return in.finished() ? std::optional(dissemination) : std::nullopt;
}

StatusOr<std::string> EncodeDissemination(const Dissemination& what) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Number(kDisseminationByte);
  out.Counted<uint8_t>(what.service.value());
  out.Counted<uint8_t>(what.service_class);
  WriteTime(what.time_left, out);
  out.Bytes(EncodeTask(what.task.plan, what.task.members));
  if (bytes.size() > kDisseminationSizeMax) {
    return ResourceExhausted("a tree of ", bytes.size(), " bytes is too large for a datagram");
  }
  return bytes;
}

StatusOr<Dissemination> DecodeDissemination(std::string_view bytes) {
  ByteReader in(bytes);
  Dissemination what;
  const uint8_t kind = in.Number<uint8_t>();
  what.service = ServiceName(std::string(in.Counted<uint8_t>()));
  what.service_class = std::string(in.Counted<uint8_t>());
  what.time_left = ReadTime(in);
  if (kind != kDisseminationByte || in.failed()) {
    return DataLoss(bytes.size(), " bytes are not a valid aggregation datagram");
  }
  NEPTUNE_ASSIGN_OR_RETURN(what.task, DecodeTask(in.Bytes(in.remaining())));
  if (what.task.plan.dissemination == 0)
    return InvalidArgument("the aggregation datagram has no number");
  return what;
}

bool IsDissemination(std::string_view bytes) {
  return !bytes.empty() && static_cast<uint8_t>(bytes.front()) == kDisseminationByte;
}

std::string EncodeAnswer(const AggregationAnswer& answer) {
  std::string bytes;
  bytes.reserve(64 + 48 * answer.records.size() + 4 * answer.contributing.size() +
                (answer.result ? answer.result->size() : 0));
  ByteWriter out(&bytes);
  out.Number(kMessageVersion);
  out.Number(static_cast<uint8_t>((answer.result ? kResultFlag : 0) |
                                  (answer.ended_early.empty() ? 0 : kEndedEarlyFlag)));
  WriteStatus(answer.reduce_error, out);
  WritePartitions(answer.contributing, out);
  out.Number(static_cast<uint16_t>(answer.missing.size()));
  for (const MissingPartition& missing : answer.missing) {
    out.Number(missing.partition.value());
    WriteStatus(missing.reason, out);
  }
  if (!answer.ended_early.empty()) WritePartitions(answer.ended_early, out);
  out.Number(static_cast<uint16_t>(answer.records.size()));
  for (const MemberRecord& record : answer.records) WriteRecord(record, out);
  if (answer.result) out.Bytes(*answer.result);
  return bytes;
}

StatusOr<AggregationAnswer> DecodeAnswer(std::string_view bytes) {
  ByteReader in(bytes);
  AggregationAnswer answer;
  const uint8_t version = in.Number<uint8_t>();
  const uint8_t flags = in.Number<uint8_t>();
  answer.reduce_error = ReadStatus(in);
  answer.contributing = ReadPartitions(in);
  const size_t missing_count = in.Number<uint16_t>();
  for (size_t i = 0; i < missing_count && !in.failed(); ++i) {
    const PartitionId partition(in.Number<uint32_t>());
    answer.missing.push_back({partition, ReadStatus(in)});
  }
  if (flags & kEndedEarlyFlag) answer.ended_early = ReadPartitions(in);
  const size_t record_count = in.Number<uint16_t>();
  for (size_t i = 0; i < record_count && !in.failed(); ++i) {
    answer.records.push_back(ReadRecord(in));
  }
  if (flags & kResultFlag) answer.result = std::string(in.Bytes(in.remaining()));
  if (!in.finished() || version != kMessageVersion || (flags & ~kAnswerFlags) != 0) {
    return DataLoss(bytes.size(), " bytes are not a valid aggregation answer");
  }
  return answer;
}

}  // namespace neptune
