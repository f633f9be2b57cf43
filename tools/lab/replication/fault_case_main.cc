// Runs one case of `repl_faults` and prints what it measured.

#include <gflags/gflags.h>

#include <cstdio>

#include "tools/lab/replication/fault_cases.h"
#include "tools/terminal/command_line.h"

DEFINE_string(case, "quiet", "the case, as in the table of README.md");
DEFINE_string(detail, "", "its detail, e.g. 'no_room' of the case 'single'");
DEFINE_bool(quick, false, "its quick form, with fewer seconds and less data");
DEFINE_uint64(seed, 1, "seed of what is drawn");

namespace search::lab {
namespace {

constexpr char kUsage[] =
    "runs one case of repl_faults\n\n"
    "  fault_case --case=partitions --quick\n"
    "  fault_case --case=single --detail='slow_flush amount=0.4'";

neptune::Status Run() {
  const RunContext context{.world = WorldKind::kReal,
                           .length = FLAGS_quick ? Length::kQuick : Length::kFull,
                           .seed = FLAGS_seed};
  NEPTUNE_ASSIGN_OR_RETURN(const Measurement measured,
                           RunFaultCase(context, FLAGS_case, FLAGS_detail));
  for (const auto& [metric, value] : measured) std::printf("%-24s %g\n", metric.c_str(), value);
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::lab::kUsage, __FILE__);
  return search::tools::ExitStatus(search::lab::Run(), "fault_case");
}
