// Runs histories of `repl_chaos` by their seeds, and shows the faults that a violation needs.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>
#include <cstdio>

#include "neptune/base/strings.h"
#include "tools/lab/replication/replication_chaos.h"
#include "tools/terminal/command_line.h"

DEFINE_uint64(seed, 1000, "first seed");
DEFINE_int32(count, 1, "number of seeds");
DEFINE_int32(replicas, 3, "replicas of each partition, 1 to 5");
DEFINE_string(level, "staleness_bounded", "level of consistency, or 'all' in turn");
DEFINE_double(seconds, 20, "duration of the faults");
DEFINE_bool(shrink, true, "looks for the shortest part of the faults that has the violation");

namespace search::lab {
namespace {

constexpr char kUsage[] =
    "runs simulated histories of replicated registers under faults\n\n"
    "  replay_chaos --seed=7000 --count=100 --replicas=3 --level=all";
constexpr int kReplicaCountMax = 5;
constexpr const char* kLevels[] = {"write_anywhere", "ordered_writes", "staleness_bounded"};

ReplicationChaosOptions OptionsOf(uint64_t seed) {
  ReplicationChaosOptions options;
  options.seed = seed;
  options.replica_count = FLAGS_replicas;
  options.level = FLAGS_level == "all" ? kLevels[seed % 3] : FLAGS_level;
  options.servers_down_max = options.replica_count;
  options.faults = neptune::FromSeconds(FLAGS_seconds);
  ChooseFaults(&options);
  return options;
}

void Show(const ReplicationChaosOptions& options, const ReplicationChaosResult& result) {
  std::printf("seed %lu, %s, %s: %lu writes, %lu reads, %lu unanswered: %s\n",
              static_cast<unsigned long>(options.seed), options.level.c_str(),
              options.only ? TraitsOf(*options.only).name : "mixed",
              static_cast<unsigned long>(result.acknowledged_count),
              static_cast<unsigned long>(result.read_count),
              static_cast<unsigned long>(result.failed_count),
              result.wrong.empty() ? "no violation" : result.wrong.c_str());
  if (!result.wrong.empty() && FLAGS_shrink) {
    std::printf("the faults that it needs:\n%s",
                neptune::ToString(Minimise(options, result.schedule)).c_str());
  }
  std::fflush(stdout);
}

neptune::Status Run() {
  if (FLAGS_replicas < 1 || FLAGS_replicas > kReplicaCountMax)
    return neptune::InvalidArgument("--replicas is out of range");
  if (FLAGS_level != "all" &&
      std::find(std::begin(kLevels), std::end(kLevels), FLAGS_level) == std::end(kLevels)) {
    return neptune::InvalidArgument("--level: no level is called '", FLAGS_level, "'");
  }
  neptune::FaultCounts faults;
  int wrong_count = 0;
  for (int i = 0; i < FLAGS_count; ++i) {
    const ReplicationChaosOptions options = OptionsOf(FLAGS_seed + static_cast<uint64_t>(i));
    const ReplicationChaosResult result = RunReplicationChaos(options);
    AddTo(&faults, result.faults);
    wrong_count += result.wrong.empty() ? 0 : 1;
    Show(options, result);
  }
  for (const auto& [kind, count] : faults) {
    std::printf("%-18s %lu caused, %lu disturbed something\n", TraitsOf(kind).name,
                static_cast<unsigned long>(count.begun),
                static_cast<unsigned long>(count.effective));
  }
  if (wrong_count == 0) return neptune::OkStatus();
  return neptune::Internal(wrong_count, " of ", FLAGS_count, " histories have a violation");
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  FLAGS_minloglevel = google::GLOG_FATAL;
  search::tools::ParseCommandLine(&argc, &argv, search::lab::kUsage, __FILE__);
  return search::tools::ExitStatus(search::lab::Run(), "replay_chaos");
}
