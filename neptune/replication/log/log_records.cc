#include "neptune/replication/log/log_records.h"

#include <algorithm>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"

namespace neptune {
namespace {

constexpr uint8_t kLogVersion = 4;
constexpr uint8_t kNobody = 0xff;

std::string NamesOf(const std::vector<NodeId>& nodes) {
  std::string names;
  for (const NodeId& node : nodes) StrAppend(&names, names.empty() ? "" : " ", node);
  return names;
}

bool IsSame(const LogIdentity& a, const LogIdentity& b) {
  return a.cluster == b.cluster && a.service == b.service && a.partition == b.partition &&
         a.node == b.node && a.is_ordered == b.is_ordered;
}

// True if every node that was a member before and still is has kept its position.
bool HaveTheirPlaces(const std::vector<NodeId>& before, const std::vector<NodeId>& now) {
  if (before.size() != now.size()) return false;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto place = std::find(now.begin(), now.end(), before[i]);
    if (place != now.end() && place != now.begin() + static_cast<ptrdiff_t>(i)) return false;
  }
  return true;
}

}  // namespace

std::string NameOf(const LogIdentity& identity) {
  return StrCat("partition ", identity.partition, " of ", identity.service, " in cluster ",
                identity.cluster, " on node ", identity.node,
                identity.is_ordered ? ", of ordered writes" : ", of level write_anywhere");
}

std::string EncodeLogIdentity(const LogIdentity& identity) {
  std::string body;
  ByteWriter out(&body);
  out.Number(kLogVersion);
  out.Counted<uint16_t>(identity.cluster);
  out.Counted<uint16_t>(identity.service.value());
  out.Number(identity.partition.value());
  out.Counted<uint16_t>(identity.node.value());
  out.Number(static_cast<uint8_t>(identity.is_ordered));
  out.Number(identity.partition_count);
  for (const NodeId& member : identity.members) out.Counted<uint16_t>(member.value());
  return Sealed(body);
}

StatusOr<LogIdentity> DecodeLogIdentity(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, Unsealed(bytes, "the log's identity"));
  ByteReader in(body);
  const uint8_t version = in.Number<uint8_t>();
  if (version != kLogVersion) {
    return FailedPrecondition("log has version ", int{version}, ", expected ", int{kLogVersion});
  }
  LogIdentity identity;
  identity.cluster = in.Counted<uint16_t>();
  identity.service = ServiceName(std::string(in.Counted<uint16_t>()));
  identity.partition = PartitionId(in.Number<uint32_t>());
  identity.node = NodeId(std::string(in.Counted<uint16_t>()));
  const uint8_t is_ordered = in.Number<uint8_t>();
  identity.is_ordered = is_ordered != 0;
  identity.partition_count = in.Number<uint32_t>();
  while (!in.failed() && in.remaining() > 0) {
    identity.members.emplace_back(std::string(in.Counted<uint16_t>()));
  }
  if (!in.finished() || is_ordered > 1) return DataLoss("the log's identity is damaged");
  return identity;
}

std::string EncodeLogState(const LogOutline& outline) {
  std::string body;
  ByteWriter out(&body);
  out.Number(static_cast<uint8_t>(outline.promise.is_founded));
  out.Number(outline.promise.epoch);
  out.Number(outline.promise.voted_for.value_or(kNobody));
  out.Number(outline.committed);
  out.Number(outline.base.lsn);
  out.Number(outline.base.epoch);
  out.Number(outline.base_write_set.bits());
  out.Number(outline.last_lsn);
  return Sealed(body);
}

StatusOr<LogOutline> DecodeLogState(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, Unsealed(bytes, "the log's state"));
  ByteReader in(body);
  LogOutline outline;
  outline.promise.is_founded = in.Number<uint8_t>() != 0;
  outline.promise.epoch = in.Number<uint64_t>();
  const uint8_t voted_for = in.Number<uint8_t>();
  if (voted_for != kNobody) outline.promise.voted_for = voted_for;
  outline.committed = in.Number<uint64_t>();
  outline.base.lsn = in.Number<uint64_t>();
  outline.base.epoch = in.Number<uint64_t>();
  outline.base_write_set = MemberSet(in.Number<uint16_t>());
  outline.last_lsn = in.Number<uint64_t>();
  outline.first_lsn = outline.base.lsn + 1;
  const bool sound = in.finished() && outline.last_lsn >= outline.base.lsn &&
                     outline.last_lsn <= kLsnMax && outline.committed <= kLsnMax;
  if (!sound) return DataLoss("the log's state is damaged");
  return outline;
}

Status CheckLogIdentity(const LogIdentity& found, const LogIdentity& expected) {
  if (!IsSame(found, expected)) {
    return FailedPrecondition("the log belongs to ", NameOf(found), ", not to ", NameOf(expected));
  }
  const bool is_known = found.partition_count != 0 && expected.partition_count != 0;
  if (is_known && found.partition_count != expected.partition_count) {
    return FailedPrecondition("the data of ", found.service, " are in ", found.partition_count,
                              " partitions, but the spec has ", expected.partition_count,
                              ": another count would put keys into other partitions, so it must "
                              "not change");
  }
  if (HaveTheirPlaces(found.members, expected.members)) return OkStatus();
  return FailedPrecondition("its members were ", NamesOf(found.members), ", but the spec has ",
                            NamesOf(expected.members),
                            ": at an ordered level a node may take another's place, but none may "
                            "be added, removed or moved");
}

}  // namespace neptune
