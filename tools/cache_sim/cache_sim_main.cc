// The program //tools:cache_sim: compares eviction policies over traces.

#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/cache_sim/cache_sim.h"
#include "tools/cache_sim/comparison_report.h"
#include "tools/cache_sim/trace_input.h"
#include "tools/streams/file_sink.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/terminal/progress.h"

DEFINE_string(trace, "", "traces to replay, separated by commas; each is a simulation of its own");
DEFINE_string(format, "auto", "format of the traces: queries, common_log, sized, or auto");
DEFINE_string(policies, "all", "eviction policies to compare, separated by commas");
DEFINE_string(sizes, "0.1%,0.3%,1%,3%,10%,30%",
              "cache sizes, separated by commas: bytes, KiB, MiB or GiB, or a share of what all "
              "different values of the trace take");
DEFINE_string(answers, "data/traces/answers.tsv",
              "sizes and costs of answers, for traces that have only queries");
DEFINE_uint64(entry_overhead, 256, "bytes that an entry takes besides its value");
DEFINE_bool(unit_sizes, false, "count entries instead of bytes: every value has size 1");
DEFINE_double(time_to_live_s, 0, "age at which entries are no longer found; 0: never");
DEFINE_double(warmup_share, 0, "share of the requests at the beginning that is not counted");
DEFINE_bool(optimum, true, "compute what a cache that knows the future could do");
DEFINE_string(bad_lines, "fail", "a malformed line: fail, or count and skip");
DEFINE_string(out, "", "folder for comparison.json and report.html with plots; default: none");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr double kTimeToLiveMaxS = 1e9;
constexpr uint64_t kOverheadMax = 1u << 20;

constexpr char kUsage[] =
    "Replays traces against eviction policies of the query cache and compares their hits.\n\n"
    "  cache_sim --trace=data/traces/sample.trace.gz\n"
    "  cache_sim --trace=access.log.gz --format=common_log --bad_lines=count\n"
    "  cache_sim --trace=cdn.tr.zst --sizes=64MiB,1GiB --policies=lru,s3_fifo --out=/tmp/cdn\n\n"
    "tools/cache_sim/README.md describes formats and figures.";

StatusOr<std::optional<RequestFormat>> FormatFlag() {
  if (FLAGS_format == "auto") return std::optional<RequestFormat>();
  if (FLAGS_format == "queries") return std::optional(RequestFormat::kQueries);
  if (FLAGS_format == "common_log") return std::optional(RequestFormat::kCommonLog);
  if (FLAGS_format == "sized") return std::optional(RequestFormat::kSized);
  return InvalidArgument("--format=", FLAGS_format, " is not auto, queries, common_log or sized");
}

StatusOr<CachePlan> PlanFlags() {
  CachePlan plan{.warmup_share = FLAGS_warmup_share, .has_optimum = FLAGS_optimum};
  for (const cache::EvictionPolicyVariant& policy : cache::RegisteredEvictionPolicies()) {
    if (FLAGS_policies == "all") plan.policies.push_back(policy);
  }
  if (FLAGS_policies != "all") {
    for (const std::string& name : SplitList(FLAGS_policies)) {
      NEPTUNE_ASSIGN_OR_RETURN(plan.policies.emplace_back(), cache::FindEvictionPolicy(name));
    }
  }
  for (const std::string& size : SplitList(FLAGS_sizes)) {
    NEPTUNE_ASSIGN_OR_RETURN(plan.sizes.emplace_back(), ParseCacheSize(size));
  }
  if (!(FLAGS_time_to_live_s >= 0 && FLAGS_time_to_live_s <= kTimeToLiveMaxS)) {
    return InvalidArgument("--time_to_live_s must be from 0 to ", kTimeToLiveMaxS);
  }
  if (FLAGS_entry_overhead > kOverheadMax) {
    return InvalidArgument("--entry_overhead must be at most ", kOverheadMax);
  }
  plan.cache.time_to_live_us = static_cast<uint64_t>(FLAGS_time_to_live_s * 1e6);
  plan.cache.entry_overhead = FLAGS_unit_sizes ? 0 : FLAGS_entry_overhead;
  return plan;
}

StatusOr<CacheTrace> ReadTrace(const std::string& path, const AnswerTable& answers) {
  NEPTUNE_ASSIGN_OR_RETURN(const BadLines bad_lines, ParseBadLines(FLAGS_bad_lines));
  NEPTUNE_ASSIGN_OR_RETURN(std::optional<RequestFormat> format, FormatFlag());
  if (!format) {
    NEPTUNE_ASSIGN_OR_RETURN(format, DetectFormat(path));
  }
  CacheTrace trace;
  NEPTUNE_ASSIGN_OR_RETURN(const ReadCounts counts,
                           ReadRequests(path, *format, bad_lines, answers, &trace));
  if (counts.skipped_count > 0) {
    std::fprintf(stderr, "cache_sim: %s requests skipped whose answers no cache would keep\n",
                 WithThousands(counts.skipped_count).c_str());
  }
  if (counts.bad_line_count > 0) {
    std::fprintf(stderr, "cache_sim: %s bad lines skipped; the first: %s\n",
                 WithThousands(counts.bad_line_count).c_str(), counts.first_bad_line.c_str());
  }
  if (FLAGS_unit_sizes) trace.MakeSizesOne();
  return trace;
}

Status WriteReport(const std::vector<CacheComparison>& comparisons) {
  const std::filesystem::path folder = CallerPath(FLAGS_out);
  NEPTUNE_RETURN_IF_ERROR(
      WriteWholeFile((folder / "comparison.json").string(), ComparisonJson(comparisons)));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string html, RenderComparisons(comparisons));
  return WriteWholeFile((folder / "report.html").string(), html);
}

Status Run() {
  const std::vector<std::string> paths = SplitList(FLAGS_trace);
  if (paths.empty()) return InvalidArgument("--trace is missing; see --help");
  NEPTUNE_ASSIGN_OR_RETURN(const CachePlan plan, PlanFlags());
  NEPTUNE_ASSIGN_OR_RETURN(const AnswerTable answers,
                           AnswerTable::Read(ProjectPath(FLAGS_answers)));
  std::vector<CacheComparison> comparisons;
  for (const std::string& path : paths) {
    NEPTUNE_ASSIGN_OR_RETURN(const CacheTrace trace, ReadTrace(ProjectPath(path), answers));
    NEPTUNE_ASSIGN_OR_RETURN(
        CacheComparison comparison, ComparePolicies(trace, plan, [](std::string_view row) {
          std::fprintf(stderr, "cache_sim: %.*s\n", static_cast<int>(row.size()), row.data());
        }));
    comparison.trace_name = std::filesystem::path(path).filename().string();
    std::printf("%s%s", comparisons.empty() ? "" : "\n", DescribeComparison(comparison).c_str());
    std::fflush(stdout);
    comparisons.push_back(std::move(comparison));
  }
  return FLAGS_out.empty() ? neptune::OkStatus() : WriteReport(comparisons);
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(), "cache_sim");
}
