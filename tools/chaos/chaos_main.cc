// A real cluster of replicated registers whose nodes have faults of every kind while sessions use
// them.

#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/random_source.h"
#include "tools/chaos/process_cluster.h"
#include "tools/chaos/process_faults.h"
#include "tools/history/register_load.h"
#include "tools/terminal/command_line.h"

DEFINE_double(seconds, 60, "duration of the faults");
DEFINE_uint64(seed, 1, "seed of the faults and the sessions");
DEFINE_int32(nodes, 5, "nodes with a replica of everything");
DEFINE_bool(links, true,
            "give every node a network namespace of its own and also take down its link");
DEFINE_string(faults, "", "file with a schedule of faults; empty: drawn from the seed");
DEFINE_string(kinds, "all", "kinds of faults to draw, separated by commas: their names, or 'all'");
DEFINE_bool(small_logs, false,
            "logs keep little, and the data have some size: nodes that return take snapshots");
DEFINE_bool(healed, true, "fail if not every replica serves again some time after the faults");
DEFINE_bool(keep, false, "keep logs and data after the run");

namespace search::chaos {
namespace {

using neptune::Fault;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kUsage[] =
    "gives the nodes of a real cluster faults and checks what its clients saw\n\n"
    "  chaos --seconds=60 --seed=7\n"
    "  chaos --kinds=slow_flush,crash_in_flush --small_logs";
constexpr uint32_t kPartitionCount = 2;
constexpr int kSessionCount = 6;
constexpr auto kFaultPauseMean = milliseconds(1500);
constexpr auto kDownMean = milliseconds(1200);
constexpr auto kRecoveryMax = seconds(40);
// Time to find what decayed in a log: the segments of a long run, at the rate of the scrub.
constexpr auto kDecayMax = std::chrono::minutes(5);
constexpr size_t kScheduleSizeMax = 1 << 20;
// Values that stay where they are, so that a snapshot takes a while.
constexpr int kBallastCount = 64;
constexpr size_t kBallastSize = 48 * 1024;

// The kinds that --kinds names, each as often as its weight says.
StatusOr<std::vector<Fault::Kind>> ChosenKinds(const ProcessFaults& target) {
  const std::vector<Fault::Kind> all = neptune::NemesisKinds(target);
  std::vector<Fault::Kind> kinds;
  for (const std::string& name : tools::SplitList(FLAGS_kinds)) {
    const size_t before = kinds.size();
    for (const Fault::Kind kind : all) {
      if (name == "all" || name == TraitsOf(kind).name) kinds.push_back(kind);
    }
    if (kinds.size() > before) continue;
    return neptune::InvalidArgument("--kinds: this cluster has no fault of a kind '", name, "'");
  }
  if (kinds.empty()) return neptune::InvalidArgument("--kinds is empty");
  return kinds;
}

ProcessClusterOptions OptionsFromFlags() {
  ProcessClusterOptions options;
  options.node_count = FLAGS_nodes;
  options.partition_count = kPartitionCount;
  // A node looks for decay in its log this often, so that what decays is found in this run.
  options.replication = "level: 'staleness_bounded' scrub_seconds: 5";
  options.on_hosts = FLAGS_links;
  options.with_log_pipes = true;
  options.keep = FLAGS_keep;
  if (FLAGS_small_logs) {
    options.replication += " log_entries_kept: 20 log_size_max_mib: 1";
  }
  return options;
}

class Chaos {
 public:
  Chaos(ProcessCluster& cluster, history::RegisterLoad& load)
      : cluster_(cluster), load_(load), target_(cluster.MakeFaults(FLAGS_seed)) {}

  Status Run() {
    NEPTUNE_RETURN_IF_ERROR(cluster_.AwaitWrites(kRecoveryMax));
    if (FLAGS_small_logs) NEPTUNE_RETURN_IF_ERROR(WriteBallast());
    std::printf("%d nodes, seed %lu, folder %s\n", FLAGS_nodes,
                static_cast<unsigned long>(FLAGS_seed), cluster_.folder().c_str());
    for (int i = 0; i < kSessionCount; ++i) load_.Begin(cluster_.client().node(), i);
    NEPTUNE_RETURN_IF_ERROR(CauseFaults());
    NEPTUNE_RETURN_IF_ERROR(AwaitRecovery());
    return Check();
  }

 private:
  Status WriteBallast() {
    Status status;
    cluster_.client().Run([&] {
      neptune::ReplicaSession session{neptune::ClientSession(cluster_.client().node().client())};
      for (int i = 0; i < kBallastCount * static_cast<int>(kPartitionCount) && status.ok(); ++i) {
        neptune::Data response;
        status = session.Call(
            {neptune::ServiceName(history::kRegisterService),
             neptune::PartitionId(static_cast<uint32_t>(i) % kPartitionCount),
             neptune::MethodName("Append"), neptune::AccessMode::kWrite},
            neptune::Data(StrCat("ballast", i, "=", std::string(kBallastSize, 'b'))), &response);
      }
    });
    return neptune::Annotate(status, "writing ballast");
  }

  // Draws the faults, or reads those of --faults. At most one node at a time has one of those that
  // are exclusive.
  StatusOr<neptune::FaultSchedule> Schedule() const {
    if (!FLAGS_faults.empty()) {
      NEPTUNE_ASSIGN_OR_RETURN(const std::string text,
                               neptune::ReadFile(FLAGS_faults, kScheduleSizeMax));
      NEPTUNE_ASSIGN_OR_RETURN(neptune::FaultSchedule schedule, neptune::ParseFaultSchedule(text));
      NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(target_->Check(schedule), FLAGS_faults));
      return schedule;
    }
    neptune::RandomFaultOptions options;
    for (int i = 0; i < FLAGS_nodes; ++i) options.hosts.push_back(ProcessCluster::NameOf(i));
    options.horizon = neptune::TimePoint(neptune::FromSeconds(FLAGS_seconds));
    options.interval_mean = kFaultPauseMean;
    options.duration_mean = kDownMean;
    NEPTUNE_ASSIGN_OR_RETURN(options.kinds, ChosenKinds(*target_));
    neptune::RandomSource random(FLAGS_seed);
    return neptune::DrawFaults(random, options);
  }

  Status CauseFaults() {
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::FaultSchedule schedule, Schedule());
    std::printf("faults:\n%s", neptune::ToString(schedule).c_str());
    const neptune::TimePoint begin = cluster_.Now();
    for (const neptune::FaultChange& change : ChangesOf(schedule)) {
      const neptune::TimePoint at = begin + change.at.time_since_epoch();
      cluster_.Sleep(std::max(at - cluster_.Now(), neptune::Duration(0)));
      NEPTUNE_RETURN_IF_ERROR(target_->Apply(change));
      std::printf("%s %s%s%s\n", change.begins ? "begin" : "end  ", change.fault.ToString().c_str(),
                  target_->note().empty() ? "" : ": ", target_->note().c_str());
      std::fflush(stdout);
    }
    return neptune::OkStatus();
  }

  Status AwaitRecovery() {
    for (int i = 0; i < FLAGS_nodes; ++i) {
      if (cluster_.process(i).HasEnded())
        return neptune::Internal(ProcessCluster::NameOf(i), " exited on its own");
    }
    NEPTUNE_RETURN_IF_ERROR(cluster_.AwaitWrites(kRecoveryMax));
    cluster_.Sleep(seconds(2));
    load_.End();
    while (load_.active_count() > 0) cluster_.Sleep(milliseconds(20));
    return FLAGS_healed ? AwaitHealed() : neptune::OkStatus();
  }

  Status AwaitHealed() {
    for (int i = 0; i < FLAGS_nodes; ++i) {
      if (!cluster_.Await(kRecoveryMax, [&] { return cluster_.IsWhole(i); })) {
        return neptune::Internal("not every replica of ", ProcessCluster::NameOf(i),
                                 " serves after the faults; its log is ", cluster_.LogOf(i));
      }
    }
    if (!cluster_.Await(kDecayMax, [&] { return target_->UnfoundDecays().empty(); })) {
      return neptune::Internal("no scrub has found ", target_->UnfoundDecays().front());
    }
    return neptune::OkStatus();
  }

  Status Check() {
    history::RegisterContents contents;
    NEPTUNE_RETURN_IF_ERROR(cluster_.ReadContents(load_.Registers(), &contents));
    size_t writes = 0;
    size_t reads = 0;
    size_t unanswered = 0;
    for (const history::RegisterOperation& operation : load_.history()) {
      ++(!operation.is_acknowledged ? unanswered : operation.is_write ? writes : reads);
    }
    const std::string wrong =
        history::CheckRegisters(load_.history(), contents, /*progressive=*/true);
    std::printf("%zu writes acknowledged, %zu reads, %zu calls without an answer in time: %s\n",
                writes, reads, unanswered, wrong.empty() ? "no violations" : wrong.c_str());
    return wrong.empty() ? neptune::OkStatus() : neptune::Internal(wrong);
  }

  ProcessCluster& cluster_;
  history::RegisterLoad& load_;
  const std::unique_ptr<ProcessFaults> target_;
};

Status Run() {
  // Outlives the cluster, on whose client the sessions run.
  history::RegisterLoad load({.seed = FLAGS_seed, .partition_count = kPartitionCount});
  NEPTUNE_ASSIGN_OR_RETURN(const auto cluster, ProcessCluster::Start(OptionsFromFlags()));
  return Chaos(*cluster, load).Run();
}

}  // namespace
}  // namespace search::chaos

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::chaos::kUsage, __FILE__);
  return search::tools::ExitStatus(search::chaos::Run(), "chaos");
}
