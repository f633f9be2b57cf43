// Runs chaos seeds and shrinks the schedules of failing ones; exit status 1 if any fails.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdint>
#include <iostream>

#include "tests/chaos/chaos_run.h"

DEFINE_uint64(first_seed, 1, "first seed");
DEFINE_uint64(seeds, 2000, "number of seeds");
DEFINE_string(bug, "none", "planted bug; see tests/chaos/README.md");
DEFINE_uint64(failures_max, 3, "maximum number of failing seeds; the run then ends");
DEFINE_bool(shrink, true, "shrink the schedule of a failing seed");

namespace neptune::chaos {
namespace {

void Report(uint64_t seed, const FaultSchedule& schedule, const Violation& violation,
            PlantedBug bug) {
  std::cout << "seed " << seed << ": " << violation.ToString() << "\n";
  const FaultSchedule fewest = FLAGS_shrink ? Minimise(seed, schedule, violation, bug) : schedule;
  std::cout << " with " << fewest.size() << " of " << schedule.size() << " faults\n"
            << ToString(fewest);
  const auto last = RunChaos(seed, fewest, bug).violation;
  if (last) std::cout << " then: " << last->ToString() << "\n";
  std::cout << std::flush;
}

int RunSeeds() {
  const PlantedBug bug = PlantedBugOf(FLAGS_bug);
  if (bug == PlantedBug::kNone && FLAGS_bug != "none") {
    std::cerr << "no planted bug is called '" << FLAGS_bug << "'\n";
    return 2;
  }
  uint64_t failed_count = 0;
  Outcome sum;
  uint64_t run_count = 0;
  for (uint64_t i = 0; i < FLAGS_seeds && failed_count < FLAGS_failures_max; ++i, ++run_count) {
    const uint64_t seed = FLAGS_first_seed + i;
    const FaultSchedule schedule = FaultsOf(seed);
    const Outcome outcome = RunChaos(seed, schedule, bug);
    sum.call_count += outcome.call_count;
    sum.failed_count += outcome.failed_count;
    sum.must_succeed_count += outcome.must_succeed_count;
    sum.must_know_count += outcome.must_know_count;
    sum.must_offer_count += outcome.must_offer_count;
    sum.must_forget_count += outcome.must_forget_count;
    sum.event_count += outcome.event_count;
    if (!outcome.violation) continue;
    ++failed_count;
    Report(seed, schedule, *outcome.violation, bug);
  }
  std::cout << run_count << " seeds, " << failed_count << " failed; " << sum.event_count
            << " events, " << sum.call_count << " calls (" << sum.failed_count << " failed, "
            << sum.must_succeed_count << " had to succeed), " << sum.must_know_count
            << " times a node had to be known, " << sum.must_offer_count << " offered, "
            << sum.must_forget_count << " forgotten\n";
  return failed_count == 0 ? 0 : 1;
}

}  // namespace
}  // namespace neptune::chaos

int main(int argc, char** argv) {
  gflags::SetUsageMessage("runs chaos seeds against a simulated cluster");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  FLAGS_minloglevel = google::GLOG_FATAL;
  google::InitGoogleLogging(argv[0]);
  return neptune::chaos::RunSeeds();
}
