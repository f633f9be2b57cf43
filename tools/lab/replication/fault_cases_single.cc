// Cases of one fault under the history checker, and of a bit that flips while a node is down.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/thread/user_thread.h"
#include "tools/chaos/disk_faults.h"
#include "tools/chaos/flood.h"
#include "tools/chaos/process_cluster.h"
#include "tools/history/register_load.h"
#include "tools/lab/replication/fault_cases.h"

namespace search::lab {
namespace {

using chaos::ProcessCluster;
using neptune::Duration;
using neptune::Fault;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = Fault::Kind;
namespace this_thread = neptune::this_thread;

constexpr Duration kStartMax = seconds(60);
constexpr Duration kHealMax = seconds(30);
constexpr int kSessionCount = 6;
constexpr double kNever = 1e6;
// What decays in a log is found while the case lasts.
constexpr char kReplication[] = "level: 'staleness_bounded' scrub_seconds: 3";

// Calls another service of a node all the time, as the rest of its users do.
class Probe {
 public:
  // `node`: -1: any.
  Probe(ProcessCluster& cluster, int node) : cluster_(cluster), node_(node) {
    cluster_.client().node().RunOnControl([this] {
      last_ = this_thread::Now();
      while (!is_over_) Once();
      has_ended_ = true;
    });
  }
  ~Probe() { (void)End(); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // The longest time without an answer.
  Duration End() {
    Duration gap{0};
    cluster_.client().Run([&] {
      is_over_ = true;
      while (!has_ended_) this_thread::SleepFor(milliseconds(5));
      gap = gap_;
    });
    return gap;
  }

 private:
  void Once() {
    neptune::ClientSession session(cluster_.client().node().client());
    neptune::CallOptions options{.deadline = this_thread::Now() + seconds(1)};
    if (node_ >= 0) options.only = neptune::NodeId(ProcessCluster::NameOf(node_));
    neptune::Data response;
    const Status status =
        neptune::Call(session,
                      {neptune::ServiceName(chaos::kProbeService), neptune::PartitionId(0),
                       neptune::MethodName("Echo"), neptune::AccessMode::kRead},
                      neptune::Data("probe"), &response, options);
    const TimePoint now = this_thread::Now();
    gap_ = std::max(gap_, now - last_);
    if (status.ok()) last_ = now;
    this_thread::SleepFor(milliseconds(20));
  }

  ProcessCluster& cluster_;
  const int node_;
  // On the client's control loop only.
  TimePoint last_{};
  Duration gap_{0};
  bool is_over_ = false;
  bool has_ended_ = false;
};

// Whether the node's other services can be expected of the node itself.
bool ServesMeanwhile(Kind kind) {
  return neptune::TraitsOf(kind).effect != neptune::HostEffect::kAway && kind != Kind::kHungLoop &&
         kind != Kind::kMemoryLimit;
}

// Calls of clients that come while the node has the fault, over connections of their own: how many
// it answers until `end`.
StatusOr<double> AnswersToNewClients(ProcessCluster& cluster, int node, TimePoint end) {
  constexpr int kClientCount = 4;
  NEPTUNE_ASSIGN_OR_RETURN(
      auto clients, chaos::Flood::Start(cluster.calls(node), {.service = chaos::kProbeService,
                                                              .connections = kClientCount}));
  cluster.Sleep(std::max(end - cluster.Now(), Duration(0)));
  NEPTUNE_ASSIGN_OR_RETURN(const chaos::FloodTotals totals, clients->Totals());
  return totals.answers;
}

// The longest time from `from` on in which no write was acknowledged.
Duration WriteGap(const std::vector<history::RegisterOperation>& operations, TimePoint from,
                  TimePoint end) {
  std::vector<TimePoint> times = {from, end};
  for (const history::RegisterOperation& operation : operations) {
    const bool counts = operation.is_write && operation.is_acknowledged;
    if (counts && operation.end > from && operation.end < end) times.push_back(operation.end);
  }
  std::sort(times.begin(), times.end());
  Duration gap{0};
  for (size_t i = 1; i < times.size(); ++i) gap = std::max(gap, times[i] - times[i - 1]);
  return gap;
}

// Seconds until all nodes are whole, or kNever.
double AwaitWhole(ProcessCluster& cluster) {
  const TimePoint begin = cluster.Now();
  const bool is_whole = cluster.Await(kHealMax, [&] {
    for (int i = 0; i < cluster.node_count(); ++i) {
      if (!cluster.IsWhole(i)) return false;
    }
    return true;
  });
  return is_whole ? neptune::ToSeconds(cluster.Now() - begin) : kNever;
}

}  // namespace

std::vector<Fault> SingleFaults() {
  return {{.kind = Kind::kCrash},
          {.kind = Kind::kPause},
          {.kind = Kind::kFullDisk},
          {.kind = Kind::kSlowFlush, .amount = 0.4},
          {.kind = Kind::kCrashInFlush},
          {.kind = Kind::kReadErrors, .amount = 0.2},
          {.kind = Kind::kBitFlip},
          {.kind = Kind::kClockOffset, .amount = 3600},
          {.kind = Kind::kClockOffset, .amount = -3600},
          {.kind = Kind::kDescriptorLimit},
          {.kind = Kind::kMemoryLimit},
          {.kind = Kind::kFloodShort},
          {.kind = Kind::kFloodReads},
          {.kind = Kind::kFloodLong},
          {.kind = Kind::kFloodHuge},
          {.kind = Kind::kHungLoop},
          {.kind = Kind::kBlockedLog},
          {.kind = Kind::kNoRoom},
          {.kind = Kind::kNoRoom, .amount = 1},
          {.kind = Kind::kLogDecay}};
}

namespace {

// One fault on one cluster.
class SingleRun {
 public:
  explicit SingleRun(const RunContext& context)
      : context_(context), load_({.seed = context.seed}) {}

  Status Start() {
    NEPTUNE_ASSIGN_OR_RETURN(
        cluster_, ProcessCluster::StartReady({.replication = kReplication, .with_log_pipes = true},
                                             kStartMax));
    for (int i = 0; i < kSessionCount; ++i) load_.Begin(cluster_->client().node(), i);
    cluster_->Sleep(context_.Pick<Duration>(milliseconds(300), seconds(1), seconds(2)));
    return neptune::OkStatus();
  }

  Status Cause(Fault fault) {
    // Longer than any line, so that a service that is gone meanwhile misses its line.
    const Duration length = context_.Pick<Duration>(milliseconds(700), seconds(5), seconds(5));
    const int victim = std::max(0, cluster_->Primary());
    const bool serves = ServesMeanwhile(fault.kind);
    Probe probe(*cluster_, serves ? victim : -1);
    const auto faults = cluster_->MakeFaults(context_.seed);
    fault.hosts = {ProcessCluster::NameOf(victim)};
    const TimePoint begin = cluster_->Now();
    NEPTUNE_RETURN_IF_ERROR(faults->Begin(fault));
    measured_["new_client_answers"] = 1;
    if (serves) {
      NEPTUNE_ASSIGN_OR_RETURN(measured_["new_client_answers"],
                               AnswersToNewClients(*cluster_, victim, begin + length));
    }
    cluster_->Sleep(std::max(begin + length - cluster_->Now(), Duration(0)));
    measured_["fault_s"] = neptune::ToSeconds(cluster_->Now() - begin);
    NEPTUNE_RETURN_IF_ERROR(faults->End(fault));
    measured_["heal_s"] = AwaitWhole(*cluster_);
    // What decayed in a log is whole once it was found and replaced.
    const auto is_found = [&] { return faults->UnfoundDecays().empty(); };
    if (!cluster_->Await(kHealMax, is_found)) measured_["heal_s"] = kNever;
    cluster_->Sleep(length);
    measured_["rest_gap_s"] = neptune::ToSeconds(probe.End());
    cluster_->client().Run([&] {  // where the history grows
      const Duration gap = WriteGap(load_.history(), begin, this_thread::Now());
      measured_["write_gap_s"] = neptune::ToSeconds(gap);
    });
    return neptune::OkStatus();
  }

  Measurement Check() {
    load_.End();
    while (load_.active_count() > 0) cluster_->Sleep(milliseconds(20));
    const bool writes_again = cluster_->AwaitWrites(kHealMax).ok();
    history::RegisterContents contents;
    const bool is_read = writes_again && cluster_->ReadContents(load_.Registers(), &contents).ok();
    const std::string wrong =
        is_read ? history::CheckRegisters(load_.history(), contents, /*progressive=*/true) : "";
    measured_["wrong_count"] = wrong.empty() ? 0 : 1;
    measured_["unreadable_count"] = is_read ? 0 : 1;
    measured_["acknowledged"] = 0;
    for (const history::RegisterOperation& operation : load_.history()) {
      measured_["acknowledged"] += operation.is_write && operation.is_acknowledged ? 1 : 0;
    }
    return measured_;
  }

 private:
  const RunContext& context_;
  history::RegisterLoad load_;
  std::unique_ptr<ProcessCluster> cluster_;  // ends first: the sessions are on its client
  Measurement measured_;
};

}  // namespace

StatusOr<Measurement> RunSingle(const RunContext& context, const Fault& fault) {
  SingleRun run(context);
  NEPTUNE_RETURN_IF_ERROR(run.Start());
  NEPTUNE_RETURN_IF_ERROR(run.Cause(fault));
  return run.Check();
}

namespace {

using Bytes = std::map<std::string, std::string>;

constexpr size_t kFileSizeMax = size_t{256} << 20;
constexpr int kFlipVictim = 0;
constexpr int kWitness = 1;  // has everything, and is down while the victim starts
constexpr int kStale = 2;    // is down while the second half is written

// The contents of all files of a node.
Bytes BytesOf(const std::string& folder) {
  Bytes bytes;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    auto content = neptune::ReadFile(path, kFileSizeMax);
    if (content.ok()) bytes[path] = *std::move(content);
  }
  return bytes;
}

bool HoldsData(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name != "LOCK" && !name.starts_with("LOG");
}

// A bit in what has changed from `before` to now, in the middle half of each file's changes, so
// that neither a torn beginning nor a torn end explains it.
StatusOr<chaos::BitPlace> DrawChangedBit(const Bytes& before, const std::string& folder,
                                         neptune::RandomSource& random) {
  std::vector<std::pair<std::string, uint64_t>> changed;
  for (const auto& [path, now] : BytesOf(folder)) {
    if (!HoldsData(path)) continue;
    const auto found = before.find(path);
    const std::string old = found == before.end() ? "" : found->second;
    std::vector<uint64_t> offsets;
    for (size_t i = 0; i < now.size(); ++i) {
      if (i >= old.size() || now[i] != old[i]) offsets.push_back(i);
    }
    for (size_t i = offsets.size() / 4; i < offsets.size() * 3 / 4; ++i) {
      changed.emplace_back(path, offsets[i]);
    }
  }
  if (changed.empty()) return neptune::NotFound("nothing was written below ", folder);
  const auto& [path, offset] = changed[random.Below(changed.size())];
  constexpr int kBitsPerByte = 8;
  return chaos::BitPlace{path, offset, static_cast<int>(random.Below(kBitsPerByte))};
}

// Writes one value a register; returns the registers whose writes were acknowledged.
std::vector<std::string> WriteSome(ProcessCluster& cluster, const std::string& prefix, int count,
                                   Duration time_max) {
  std::vector<std::string> acknowledged;
  cluster.client().Run([&] {
    neptune::ReplicaSession session{neptune::ClientSession(cluster.client().node().client())};
    for (int i = 0; i < count; ++i) {
      const std::string key = StrCat(prefix, i);
      neptune::Data response;
      const Status status =
          session.Call({neptune::ServiceName(history::kRegisterService), neptune::PartitionId(0),
                        neptune::MethodName("Append"), neptune::AccessMode::kWrite},
                       neptune::Data(StrCat(key, "=", key, ";")), &response,
                       {.deadline = this_thread::Now() + time_max});
      if (status.ok()) acknowledged.push_back(key);
    }
  });
  return acknowledged;
}

// How many of the registers have lost their value, or have it twice; nullopt: they cannot be read.
std::optional<size_t> CountWrong(ProcessCluster& cluster, const std::vector<std::string>& keys) {
  std::set<std::pair<uint32_t, std::string>> registers;
  for (const std::string& key : keys) registers.emplace(0, key);
  history::RegisterContents contents;
  if (!cluster.ReadContents(registers, &contents).ok()) return std::nullopt;
  return static_cast<size_t>(std::count_if(keys.begin(), keys.end(), [&](const std::string& key) {
    return contents[{0, key}] != key + ";";
  }));
}

// Whether the node says anywhere that its data are damaged: in its log or on its pages.
bool ReportsDamage(const ProcessCluster& cluster, int node) {
  static const std::regex damage("damage|corrupt|data_loss|data loss|checksum mismatch",
                                 std::regex::icase | std::regex::optimize);
  const auto log = neptune::ReadFile(cluster.LogOf(node), kFileSizeMax);
  if (log.ok() && std::regex_search(*log, damage)) return true;
  for (const char* page : {"/readyz", "/statusz?format=json"}) {
    const auto text = cluster.Get(node, page);
    if (text.ok() && std::regex_search(*text, damage)) return true;
  }
  return false;
}

void Append(const std::vector<std::string>& from, std::vector<std::string>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

StatusOr<Measurement> RunFlip(const RunContext& context, const std::string& place) {
  const int count = context.Pick(20, 100, 100);
  neptune::RandomSource random(context.seed);
  NEPTUNE_ASSIGN_OR_RETURN(auto cluster, ProcessCluster::StartReady({}, kStartMax));
  std::vector<std::string> keys = WriteSome(*cluster, "first", count, seconds(5));
  cluster->process(kStale).Kill();
  const Bytes before = BytesOf(cluster->DataFolderOf(kFlipVictim));
  Append(WriteSome(*cluster, "second", count, seconds(5)), &keys);
  const double written = static_cast<double>(keys.size());
  cluster->process(kWitness).Kill();
  cluster->process(kFlipVictim).Kill();
  const std::string folder = cluster->DataFolderOf(kFlipVictim);
  const auto drawn =
      place == "any" ? chaos::DrawBit(folder, random) : DrawChangedBit(before, folder, random);
  NEPTUNE_RETURN_IF_ERROR(drawn.status());
  NEPTUNE_RETURN_IF_ERROR(chaos::FlipBit(*drawn));
  NEPTUNE_RETURN_IF_ERROR(cluster->process(kFlipVictim).Start());
  NEPTUNE_RETURN_IF_ERROR(cluster->process(kStale).Start());
  // These two may not accept writes without what the second half wrote; if they do, those count.
  cluster->Sleep(context.Pick<Duration>(seconds(1), seconds(3), seconds(5)));
  Append(WriteSome(*cluster, "early", 3, milliseconds(700)), &keys);
  NEPTUNE_RETURN_IF_ERROR(cluster->process(kWitness).Start());
  const TimePoint back = cluster->Now();
  const bool writes_again = cluster->AwaitWrites(kHealMax).ok();
  const double again_s = writes_again ? neptune::ToSeconds(cluster->Now() - back) : kNever;
  const double heal_s = writes_again ? AwaitWhole(*cluster) : kNever;
  if (writes_again) Append(WriteSome(*cluster, "last", 3, seconds(5)), &keys);
  const std::optional<size_t> wrong = CountWrong(*cluster, keys);
  return Measurement{{"written", written},
                     {"wrong_count", static_cast<double>(wrong.value_or(0))},
                     {"unreadable_count", wrong ? 0.0 : static_cast<double>(keys.size())},
                     {"again_s", again_s},
                     {"heal_s", heal_s},
                     {"reported", ReportsDamage(*cluster, kFlipVictim) ? 1.0 : 0.0}};
}

}  // namespace search::lab
