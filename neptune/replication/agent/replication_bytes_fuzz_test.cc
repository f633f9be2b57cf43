// Arbitrary bytes for all other decoders of data from nodes, callers and disks: refused, or encode
// to the same bytes again.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/replication/agent/addressed_message.h"
#include "neptune/replication/agent/node_pulse.h"
#include "neptune/replication/agent/snapshot_intake.h"
#include "neptune/replication/agent/snapshot_message.h"
#include "neptune/replication/client/replica_extension.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/replication/log/log_batch.h"
#include "neptune/replication/log/log_records.h"
#include "neptune/replication/log/redo_log.h"
#include "neptune/replication/state/snapshot_pieces.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/sim_log_files.h"
#include "neptune/world/sim/sim_storage.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

constexpr uint64_t kSalt = 1;
constexpr char kSegment[] = "0000000000000001-00000001";
constexpr size_t kEntryCountMax = 1000;

FuzzPlace log_with_entries("a log with entries is open");
FuzzPlace chunk_with_entries("a chunk with entries is taken");
FuzzPlace executed_write("a write is executed on the data");

std::string WithChecksum(std::string_view bytes) {
  std::string result;
  ByteWriter out(&result);
  out.Number(Checksum64(bytes));
  out.Bytes(bytes);
  return result;
}

void CheckMessagesAndExtensions(std::string_view bytes) {
  const auto pulse = DecodeNodePulse(bytes);
  if (pulse.ok()) CHECK(EncodeNodePulse(*pulse) == bytes);
  const auto messages = DecodeAddressedMessages(bytes);
  if (messages.ok()) CHECK(EncodeAddressedMessages(*messages) == bytes);
  const auto demand = DecodeReplicaDemand(bytes);
  if (demand.ok()) CHECK(DecodeReplicaDemand(EncodeReplicaDemand(*demand)).value() == *demand);
  const auto report = DecodeReplicaReport(bytes);
  if (report.ok()) {
    const auto again = DecodeReplicaReport(EncodeReplicaReport(*report));
    CHECK(again.ok() && again->version == report->version && again->epoch == report->epoch);
  }
  const auto versions = DecodeVersions(bytes);
  const auto found = FindVersion(bytes, ServiceName("forum"), PartitionId(0));
  if (versions.ok() && found) {
    CHECK(std::count(versions->begin(), versions->end(), *found) > 0);
  }
}

void CheckSnapshot(std::string_view bytes) {
  const auto pull = DecodeSnapshotPull(bytes);
  if (pull.ok()) CHECK(EncodeSnapshotPull(*pull) == bytes);
  for (const std::string& message : {std::string(bytes), WithChecksum(bytes)}) {
    const auto chunk = DecodeSnapshotChunk(message);
    if (!chunk.ok()) continue;
    CHECK(EncodeSnapshotChunk(*chunk) == message);
    for (const bool is_ordered : {true, false}) {
      SnapshotIntake intake(is_ordered);
      (void)intake.Take(*chunk).ok();
    }
  }
  for (const std::string& piece : {std::string(bytes), WithChecksum(bytes)}) {
    SnapshotReader reader;
    size_t size = 0;
    const Status taken = reader.Take(piece, [&](std::string_view key, std::string_view value) {
      size += key.size() + value.size();
    });
    CHECK(size <= bytes.size());
    if (!taken.ok()) CHECK(taken.code() == StatusCode::kDataLoss);
  }
}

const LogIdentity& Identity() {
  static const LogIdentity identity = {"east", ServiceName("forum"), PartitionId(2), NodeId("n")};
  return identity;
}

// Every entry up to the log's stated end can be read, unless the log says that it is damaged.
void CheckLog(LogFiles& files) {
  NodeLog node_log(files, {.new_salt = kSalt});
  const auto log = RedoLog::Open(node_log, "log", Identity());
  if (!log.ok() || !(*log)->damage().ok()) return;
  const Lsn last = (*log)->last_lsn();
  CHECK(last <= kLsnMax);
  if (last < (*log)->first_lsn()) return;
  log_with_entries.Reach();
  CHECK((*log)->Read((*log)->first_lsn(), last, 1000).ok());
}

// Cuts the bytes into entries, each of a byte for its size and that many from its kind on. What no
// mutation hits is made right: the version, the place in the log and the checksum. A size of zero
// stands for an entry that is stored as it is, without a checksum.
std::vector<std::string> EntriesAfter(Lsn base, ByteReader& in) {
  std::vector<std::string> entries;
  while (in.remaining() > 0 && entries.size() < kEntryCountMax) {
    const std::string_view bytes = in.Counted<uint8_t>();
    if (bytes.empty()) {
      entries.emplace_back("entry");
      continue;
    }
    std::string body;
    ByteWriter out(&body);
    out.Number(uint8_t{1});
    out.Bytes(bytes.substr(0, 1));
    out.Number(base + entries.size() + 1);
    out.Bytes(bytes.substr(1));
    entries.push_back(WithChecksum(body));
  }
  return entries;
}

// Uses the bytes as the entries of a chunk of a snapshot: a byte for the rest of the chunk, then
// the entries.
void CheckChunkOfEntries(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t rest = in.Number<uint8_t>();
  SnapshotChunk chunk;
  chunk.token = rest % 2;
  chunk.has_all_data = (rest & 2) != 0;
  chunk.data_end = rest / 8;
  for (const std::string& bytes_of_entry : EntriesAfter(chunk.data_end, in)) {
    StatusOr<LogEntry> entry = DecodeLogEntry(bytes_of_entry);
    if (entry.ok()) chunk.entries.push_back(*std::move(entry));
  }
  if ((rest & 6) == 6) {
    chunk.mark.emplace();
    chunk.mark->base = {chunk.data_end + chunk.entries.size(), 1};
  }
  const StatusOr<SnapshotChunk> sent = DecodeSnapshotChunk(EncodeSnapshotChunk(chunk));
  CHECK(sent.ok() && sent->entries == chunk.entries) << sent.status();
  SnapshotIntake intake(/*is_ordered=*/true);
  if (intake.Take(*sent).ok() && !chunk.entries.empty()) chunk_with_entries.Reach();
}

// Uses the bytes as the entries of a log whose state counts them: a byte for the entry before the
// first, from the lowest number or the highest on, then the entries.
void CheckLogOfEntries(std::string_view bytes) {
  ByteReader in(bytes);
  const Lsn place = in.Number<uint8_t>();
  LogOutline outline;
  outline.base = {place < 128 ? place : kLsnMax - (255 - place), 1};
  PartitionChange change;
  change.entries = EntriesAfter(outline.base.lsn, in);
  change.first_lsn = change.entries_lsn = outline.base.lsn + 1;
  change.last_lsn = outline.last_lsn = outline.base.lsn + change.entries.size();
  outline.committed = outline.base.lsn;
  change.identity = EncodeLogIdentity(Identity());
  change.state = EncodeLogState(outline);
  change.is_restart = true;
  SimLogFiles files;
  {
    NodeLog node_log(files, {.new_salt = kSalt});
    const auto attached = node_log.Attach("log");
    change.partition = attached->found.partition;
    CHECK(attached->log->Commit({change}).ok());
  }
  CheckLog(files);
}

// Uses the bytes as identity, state and entry of a log, as the records of a batch, and as segment.
void CheckLogs(std::string_view bytes) {
  const std::string sealed = WithChecksum(bytes);
  for (int part = 0; part < 3; ++part) {
    SimLogFiles files;
    {
      NodeLog node_log(files, {.new_salt = kSalt});
      const auto attached = node_log.Attach("log");
      PartitionChange change;
      change.partition = attached->found.partition;
      change.identity = part == 0 ? sealed : EncodeLogIdentity(Identity());
      change.state = part == 1 ? sealed : EncodeLogState({});
      const auto outline = DecodeLogState(sealed);
      if (part == 1 && outline.ok() && outline->last_lsn == outline->base.lsn) {
        change.first_lsn = outline->first_lsn;  // an empty log
        change.last_lsn = outline->last_lsn;
        change.is_restart = true;
      }
      if (part == 2) {
        change.last_lsn = change.entries_lsn = 1;
        change.entries = {sealed};
      }
      CHECK(attached->log->Commit({change}).ok());
    }
    CheckLog(files);
  }
  LogBatchWriter writer(kSalt, 1, 0);
  SimLogFiles files;
  files.Replace(kSegment, writer.FinishWith(bytes).bytes);
  CheckLog(files);
  files.Replace(kSegment, std::string(bytes));
  CheckLog(files);
}

// Uses the bytes as one record of a partition's data.
void CheckStored(std::string_view bytes) {
  for (const std::string& key : {std::string("s"), std::string("a") + std::string(16, '\1'),
                                 std::string("o\0\0\0\0\0\0\0\1", 9)}) {
    SimStorage storage;
    auto store = *storage.Open("data");
    CHECK(store->Put(key, WithChecksum(bytes), WriteMode::kBuffered).ok());
    auto state = StoreState::Open(std::move(store), {});
    if (!state.ok()) continue;
    const LogEntry write = {.lsn = kAnswersKept + 2,
                            .method = MethodName("Put"),
                            .request_id = {0x0101010101010101, 0x0101010101010101}};
    if ((*state)->Apply(write).ok()) executed_write.Reach();
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckMessagesAndExtensions(bytes);
  CheckSnapshot(bytes);
  CheckLogs(bytes);
  CheckLogOfEntries(bytes);
  CheckChunkOfEntries(bytes);
  CheckStored(bytes);
  return 0;
}
