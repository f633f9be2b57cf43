// Compares replay runs.

#include <gflags/gflags.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tools/compare/comparison.h"
#include "tools/terminal/command_line.h"

DEFINE_string(may_differ, "", "set-up fields that may differ, separated by commas");
DEFINE_bool(allow_invalid, false, "also compare runs whose generator was late or that ended early");
DEFINE_bool(json, false, "print JSON");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;

constexpr char kUsage[] =
    "compares replay runs, with 95 % intervals of means over repeats\n\n"
    "  bazel run //tools:compare -- before=/tmp/a1,/tmp/a2,/tmp/a3 after=/tmp/b1,/tmp/b2,/tmp/b3\n"
    "  bazel run //tools:compare -- runs/before runs/after      folders of folders of runs\n\n"
    "Runs with different set-ups (trace, rate, machine, ...) are refused.";

Status Run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return InvalidArgument("give at least two groups of runs; see --help");
  std::vector<RunGroup> groups;
  for (const std::string& argument : arguments) {
    NEPTUNE_ASSIGN_OR_RETURN(groups.emplace_back(), ReadGroup(argument));
  }
  ComparisonOptions options{.allow_invalid = FLAGS_allow_invalid};
  for (const std::string& field : SplitList(FLAGS_may_differ)) options.may_differ.insert(field);
  NEPTUNE_RETURN_IF_ERROR(CheckComparable(groups, options));
  const std::vector<ComparisonRow> rows = Compare(groups);
  std::printf("%s", FLAGS_json ? ComparisonJson(groups, rows).c_str()
                               : DescribeComparison(groups, rows).c_str());
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto arguments =
      search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(arguments), "compare");
}
