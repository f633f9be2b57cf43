#include "tools/chaos/process_faults.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "neptune/base/disk_room.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/world/real/host_resources.h"

namespace search::chaos {
namespace {

using neptune::Fault;
using neptune::OkStatus;
using neptune::Status;
using neptune::StrCat;
using Kind = Fault::Kind;

// A crash in a flush holds flushes for this long, and waits this often for one.
constexpr neptune::Duration kHeldFlush = std::chrono::milliseconds(300);
constexpr int kFlushPollMs = 2;
constexpr int kFlushPollCountMax = 1'000;
constexpr int kGarbageConnectionCount = 8;

// Settings of the page, which outlast the process.
bool IsOfPage(Kind kind) {
  return kind == Kind::kSlowFlush || kind == Kind::kClockOffset || kind == Kind::kNoRoom;
}

// Caused by calls from outside.
bool IsOfCalls(Kind kind) {
  switch (kind) {
    case Kind::kFloodShort:
    case Kind::kFloodReads:
    case Kind::kFloodLong:
    case Kind::kFloodHuge:
    case Kind::kHungLoop:
    case Kind::kBlockedLog:
      return true;
    default:
      return false;
  }
}

bool CanHave(const FaultyNode& node, Kind kind) {
  switch (kind) {
    case Kind::kCrash:
    case Kind::kPause:
    case Kind::kFullDisk:
    case Kind::kDescriptorLimit:
    case Kind::kMemoryLimit:
      return true;
    case Kind::kSlowFlush:
    case Kind::kClockOffset:
    case Kind::kReadErrors:
    case Kind::kBitFlip:
    case Kind::kCrashInFlush:
    case Kind::kNoRoom:
    case Kind::kLogDecay:
      return node.disk != nullptr;
    case Kind::kHungLoop:
      return node.calls.has_value() && !node.hang_file.empty();
    case Kind::kBlockedLog:
      return node.calls.has_value() && node.log != nullptr;
    default:
      return IsOfCalls(kind) && node.calls.has_value();
  }
}

}  // namespace

bool ProcessFaults::Supports(Kind kind) const {
  if (kind == Kind::kIsolate) return hosts_ != nullptr;
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [&](const auto& node) { return CanHave(node.second, kind); });
}

Status ProcessFaults::Check(const neptune::FaultSchedule& schedule) const {
  NEPTUNE_RETURN_IF_ERROR(CheckSupported(*this, schedule));
  // Keys are host and name; the exclusive ones of a host share a place. All supported kinds are of
  // one host.
  std::map<std::pair<std::string, std::string>, Fault> active;
  for (const neptune::FaultChange& change : ChangesOf(schedule)) {
    const std::string& host = *change.fault.hosts.begin();
    const neptune::FaultTraits& traits = TraitsOf(change.fault.kind);
    const std::pair<std::string, std::string> place(host, traits.is_exclusive() ? "" : traits.name);
    if (!nodes_.contains(host)) {
      return neptune::InvalidArgument("'", change.fault.ToString(),
                                      "' is of no node of this cluster");
    }
    if (!change.begins) {
      active.erase(place);
    } else if (const auto [other, is_new] = active.emplace(place, change.fault); !is_new) {
      return neptune::InvalidArgument("'", change.fault.ToString(), "' begins before '",
                                      other->second.ToString(), "' has ended");
    }
  }
  return OkStatus();
}

Status ProcessFaults::Set(const Fault& fault, bool begins) {
  note_.clear();
  if (!Supports(fault.kind)) return neptune::Unimplemented("causing ", fault.ToString());
  const auto found = nodes_.find(*fault.hosts.begin());
  if (found == nodes_.end()) {
    return neptune::InvalidArgument("'", fault.ToString(), "' is of no node of this cluster");
  }
  const FaultyNode& node = found->second;
  if (fault.kind == Kind::kIsolate) return hosts_->SetLink(node.host, !begins);
  if (IsOfCalls(fault.kind)) return SetCalls(fault, node, begins);
  if (!IsOfPage(fault.kind)) return SetProcess(fault, node, begins);
  if (fault.kind == Kind::kNoRoom) return SetRoom(fault, *node.disk, begins);
  SetPage(fault, *node.disk, begins);
  return OkStatus();
}

// The reserve is that of a node whose spec names none.
Status ProcessFaults::SetRoom(const Fault& fault, DiskFaults& disk, bool begins) {
  if (!begins) {
    disk.SetFreeSpace(std::nullopt);
    return OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::DiskSpace space, neptune::SpaceOf(disk.folder()));
  neptune::DiskRoom room;
  room.Update(space);
  disk.SetFreeSpace(fault.amount > 0 ? room.reserve() / 4 : room.reserve() * 3 / 4);
  return OkStatus();
}

void ProcessFaults::SetPage(const Fault& fault, DiskFaults& disk, bool begins) {
  const neptune::Duration amount = neptune::FromSeconds(begins ? fault.amount : 0);
  if (fault.kind == Kind::kClockOffset) return disk.SetClockOffset(amount);
  disk.SetFlushDelay(amount);
}

Status ProcessFaults::SetCalls(const Fault& fault, const FaultyNode& node, bool begins) {
  const std::pair<std::string, std::string> key(*fault.hosts.begin(), TraitsOf(fault.kind).name);
  if (!begins) {
    if (fault.kind == Kind::kHungLoop) unlink(node.hang_file.c_str());
    if (fault.kind == Kind::kBlockedLog) node.log->Unblock();
    floods_.erase(key);
    return OkStatus();
  }
  FloodOptions options;
  if (fault.kind == Kind::kHungLoop) {
    NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(node.hang_file, "hang"));
    options = {.method = "Hang", .request = node.hang_file, .connections = 1};
  } else if (fault.kind == Kind::kBlockedLog) {
    NEPTUNE_RETURN_IF_ERROR(node.log->Block());
    // A node logs refused connections.
    options = {.connections = kGarbageConnectionCount, .is_garbage = true};
  } else {
    options = FloodOf(fault.kind);
  }
  options.network = node.network;
  NEPTUNE_ASSIGN_OR_RETURN(floods_[key], Flood::Start(*node.calls, options));
  return OkStatus();
}

Status ProcessFaults::SetProcess(const Fault& fault, const FaultyNode& node, bool begins) {
  const bool is_down = fault.kind == Kind::kCrash || fault.kind == Kind::kBitFlip ||
                       fault.kind == Kind::kCrashInFlush;
  const bool ends_crash = is_down && !begins;
  if (node.process->lives() == ends_crash) {
    return neptune::FailedPrecondition(begins ? "begin" : "end", " of '", fault.ToString(),
                                       "': its process ", ends_crash ? "lives" : "does not live");
  }
  if (fault.kind == Kind::kReadErrors) {
    if (Skips(fault, node, begins)) return OkStatus();
    node.disk->SetReadErrors(begins ? fault.amount : 0);
  }
  return begins ? BeginOfProcess(fault.kind, node) : EndOfProcess(fault, node);
}

Status ProcessFaults::BeginOfProcess(Kind kind, const FaultyNode& node) {
  ServerProcess& process = *node.process;
  switch (kind) {
    case Kind::kPause:
      process.Pause();
      return OkStatus();
    case Kind::kCrash:
      process.Kill();
      return OkStatus();
    case Kind::kBitFlip:
      process.Kill();
      return FlipBitOf(node);
    case Kind::kCrashInFlush:
      return CrashInFlush(node);
    case Kind::kFullDisk:
      return process.StarveOfDisk();
    case Kind::kDescriptorLimit:
      return process.StarveOfDescriptors();
    case Kind::kMemoryLimit:
      return process.StarveOfMemory();
    case Kind::kLogDecay:
      return DecayLogOf(node);
    default:  // read errors have begun
      return OkStatus();
  }
}

Status ProcessFaults::EndOfProcess(const Fault& fault, const FaultyNode& node) {
  ServerProcess& process = *node.process;
  switch (fault.kind) {
    case Kind::kPause:
      process.Resume();
      return OkStatus();
    case Kind::kCrash:
    case Kind::kBitFlip:
    case Kind::kCrashInFlush:
      return process.Start();
    case Kind::kLogDecay:  // it runs, and finds it or not
      return OkStatus();
    case Kind::kDescriptorLimit:
      return process.EndStarveOfDescriptors();
    case Kind::kFullDisk:
      return fault.amount > 0 ? Restart(process) : process.EndStarveOfDisk();
    default:
      return Restart(process);
  }
}

// Starts it again, whether or not it still runs.
Status ProcessFaults::Restart(ServerProcess& process) {
  if (!process.HasEnded()) process.Kill();
  return process.Start();
}

// Kills the process while it flushes; if it flushes nothing for two seconds, at any time.
Status ProcessFaults::CrashInFlush(const FaultyNode& node) {
  const neptune::Duration before = node.disk->flush_delay();
  node.disk->SetFlushDelay(std::max(before, kHeldFlush));
  for (int i = 0; i < kFlushPollCountMax && !node.disk->is_flushing(); ++i) {
    poll(nullptr, 0, kFlushPollMs);
  }
  node.process->Kill();
  node.disk->SetFlushDelay(before);
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t lost, node.disk->LoseUnflushed(random_));
  note_ = StrCat(lost, " bytes lost");
  return OkStatus();
}

bool ProcessFaults::Skips(const Fault& fault, const FaultyNode& node, bool begins) {
  const std::string& name = *fault.hosts.begin();
  if (!begins) return skipping_.erase(name) > 0;
  if (OthersAreWhole(node)) return false;
  note_ = "no read fails: another node has not healed";
  skipping_.insert(name);
  return true;
}

// Flips nothing while another node's replicas are not whole: what two nodes have lost may be lost.
Status ProcessFaults::FlipBitOf(const FaultyNode& node) {
  if (!OthersAreWhole(node)) {
    note_ = "no bit flipped: another node has not healed";
    return OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const BitPlace place, DrawBit(node.disk->folder(), random_));
  note_ = place.ToString();
  return FlipBit(place);
}

Status ProcessFaults::DecayLogOf(const FaultyNode& node) {
  if (!OthersAreWhole(node)) {
    note_ = "nothing decays: another node has not healed";
    return OkStatus();
  }
  const auto place = node.disk->DrawLogBit(random_);
  if (place.status().code() == neptune::StatusCode::kNotFound) {
    note_ = "nothing decays: the log is empty";
    return OkStatus();
  }
  NEPTUNE_RETURN_IF_ERROR(place.status());
  note_ = place->ToString();
  NEPTUNE_RETURN_IF_ERROR(FlipBit(*place));
  const std::optional<char> value = ByteAt(*place);
  if (value) decays_.push_back({&node, *place, *value});
  return OkStatus();
}

std::vector<std::string> ProcessFaults::UnfoundDecays() const {
  std::vector<std::string> unfound;
  for (const Decay& decay : decays_) {
    if (ByteAt(decay.place) == decay.value) unfound.push_back(decay.place.ToString());
  }
  return unfound;
}

bool ProcessFaults::HasDecay(const FaultyNode& node) const {
  return std::any_of(decays_.begin(), decays_.end(), [&](const Decay& decay) {
    return decay.node == &node && ByteAt(decay.place) == decay.value;
  });
}

bool ProcessFaults::OthersAreWhole(const FaultyNode& node) const {
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& other) {
    if (&other.second == &node) return true;
    const bool is_whole = other.second.is_whole == nullptr || other.second.is_whole();
    return is_whole && !HasDecay(other.second);
  });
}

}  // namespace search::chaos
