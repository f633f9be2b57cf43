// The program //tools:mtrr: allocates threads to service classes, from a measured profile to a
// running allocation.

#include <gflags/gflags.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/time.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/world/real/real_world.h"
#include "tools/mtrr/node_admin.h"
#include "tools/mtrr/plan_file.h"
#include "tools/mtrr/prediction.h"
#include "tools/mtrr/profiler.h"
#include "tools/mtrr/service_profile.h"
#include "tools/mtrr/spec_edit.h"
#include "tools/mtrr/thread_request.h"
#include "tools/mtrr/watch.h"
#include "tools/plot/plot.h"
#include "tools/replay/open_files.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/terminal/progress.h"

// The cluster: profile, apply, watch.
DEFINE_string(admin, "",
              "administration ports, HOST:PORT,...; default: those of the cluster of --spec");
DEFINE_string(spec, "", "spec of a running cluster; apply also writes the threads into it");
DEFINE_string(state, "", "state folder of //tools:cluster; default: data/var/clusters/NAME");
DEFINE_string(token_file, "", "file with the token for changes; default: the one the spec names");
// profile
DEFINE_string(service, "", "profile: the service for which the number of threads is varied");
DEFINE_string(
    service_class, "",
    "profile: the class that sends requests and for which the number of threads is varied");
DEFINE_string(threads, "1,2,4,8,16,32", "profile, predict: numbers of threads");
DEFINE_string(target, "http://127.0.0.1:8080",
              "profile: where requests go, in the form that //tools:replay takes");
DEFINE_string(path, "", "profile: path of HTTP requests, before the query; default: a search");
DEFINE_string(queries, "", "profile: file with one query per line; or use --trace");
DEFINE_string(trace, "", "profile: a trace whose queries are sent in its order");
DEFINE_bool(use_cache, false, "profile: false bypasses the query cache");
DEFINE_double(requests_per_thread, 2, "profile: outstanding requests per thread");
DEFINE_double(warmup_s, 1, "profile: seconds before each measurement");
DEFINE_double(length_s, 5, "profile: seconds of each measurement");
DEFINE_int32(repetitions, 3, "profile: number of repetitions of all measurements");
// predict, plan, apply, watch
DEFINE_string(profile, "", "predict: file of a profile");
DEFINE_double(rate_max, 0, "predict: highest rate, per second; default: 1.5 times the capacity");
DEFINE_int32(rates, 20, "predict: number of rates up to it");
DEFINE_int32(queue_length_max, 40, "predict: longest queue of waiting requests");
DEFINE_int32(overloaded_threads, 0, "predict: threads of other, overloaded classes");
DEFINE_double(quantum_ms, 10, "predict: time slice of the operating system");
DEFINE_string(csv, "", "predict: file for the table as CSV");
DEFINE_string(svg, "", "predict: file for the plot");
DEFINE_string(request, "", "plan: file with classes, costs and limits");
DEFINE_string(plan, "", "apply, watch: file of a plan");
DEFINE_double(interval_s, 10, "watch: seconds of a window");
DEFINE_int32(windows, 0, "watch: number of windows before it ends; 0: until Ctrl-C");
DEFINE_double(tolerance, 0.25, "watch: allowed relative deviation of a figure");
DEFINE_int32(window_count, 3,
             "watch: number of consecutive deviating windows before it reports a departure");
DEFINE_string(out, "", "profile, plan: file for the result");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "threads for service classes: from a measured profile to a running allocation\n\n"
    "  mtrr profile --service=S --service_class=C --queries=FILE --out=PROFILE   measure "
    "throughput over threads\n"
    "  mtrr predict --profile=PROFILE --threads=4,8 [--csv=FILE] [--svg=FILE]    response over "
    "load\n"
    "  mtrr plan --request=FILE --out=PLAN                                       threads of each "
    "class at the least cost\n"
    "  mtrr apply --plan=PLAN --spec=SPEC                                        to all nodes, "
    "without a restart\n"
    "  mtrr watch --plan=PLAN --spec=SPEC                                        report when the "
    "plan "
    "no longer holds\n\n"
    "The cluster is that of --spec, or the nodes of --admin=HOST:PORT,...\n"
    "Status: 0 done; 1 failed, no plan exists, or the last window was off the plan; 2 wrong "
    "arguments.";

std::atomic<bool> stop_requested{false};

constexpr size_t kFileSizeMax = 64 << 20;
constexpr size_t kQueryCountMax = 100'000;

StatusOr<std::string> Need(const std::string& value, const char* flag, const char* what) {
  if (value.empty()) return InvalidArgument("--", flag, " is missing: ", what);
  return value;
}

StatusOr<std::vector<int>> Numbers(const std::string& list) {
  std::vector<int> numbers;
  for (const std::string& text : SplitList(list)) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      return InvalidArgument("'", text, "' is not a number of threads");
    }
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

Status Save(const std::string& path, const std::string& text) {
  if (path.empty()) return neptune::OkStatus();
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(CallerPath(path), text));
  std::printf("written: %s\n", CallerPath(path).c_str());
  return neptune::OkStatus();
}

StatusOr<AdminAccess> Access(const std::string& service) {
  AdminAccess access;
  const std::string spec = FLAGS_spec.empty() ? std::string() : ProjectPath(FLAGS_spec);
  if (!FLAGS_admin.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(access.nodes, ParseAdminNodes(FLAGS_admin));
  } else if (!spec.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(access.nodes, NodesOfCluster(spec, CallerPath(FLAGS_state), service));
  } else {
    return InvalidArgument("no cluster was given: use --spec=FILE or --admin=HOST:PORT,...");
  }
  NEPTUNE_ASSIGN_OR_RETURN(access.token, ReadToken(CallerPath(FLAGS_token_file), spec));
  return access;
}

// Lines of the file, or the trace's queries in its order.
StatusOr<std::vector<std::string>> Queries() {
  std::vector<std::string> queries;
  if (!FLAGS_trace.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const Trace trace,
                             ReadTrace(ProjectPath(FLAGS_trace), BadLines::kFail));
    for (const TraceRecord& record : trace.records) {
      if (queries.size() < kQueryCountMax) queries.push_back(record.query);
    }
  } else if (!FLAGS_queries.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string text,
                             neptune::ReadFile(ProjectPath(FLAGS_queries), kFileSizeMax));
    for (size_t begin = 0; begin < text.size() && queries.size() < kQueryCountMax;) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      if (end > begin) queries.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  } else {
    return InvalidArgument("no queries were given: use --queries=FILE or --trace=FILE");
  }
  if (queries.empty()) return InvalidArgument("there are no queries to send");
  return queries;
}

Status Profile() {
  ProfileOptions options{.service_class = FLAGS_service_class,
                         .requests_per_thread = FLAGS_requests_per_thread,
                         .warm_up_s = FLAGS_warmup_s,
                         .length_s = FLAGS_length_s,
                         .repetition_count = FLAGS_repetitions,
                         .stop = &stop_requested};
  NEPTUNE_ASSIGN_OR_RETURN(
      options.service, Need(FLAGS_service, "service", "the service for which threads are varied"));
  NEPTUNE_ASSIGN_OR_RETURN(options.thread_counts, Numbers(FLAGS_threads));
  NEPTUNE_ASSIGN_OR_RETURN(options.target, ParseTarget(FLAGS_target));
  options.target_options = {
      .timeout = std::chrono::seconds(30), .use_cache = FLAGS_use_cache, .path = FLAGS_path};
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<std::string> queries, Queries());
  NEPTUNE_ASSIGN_OR_RETURN(const AdminAccess access, Access(options.service));
  const ReplayPlan plan = PlanOfQueries(std::move(queries), options.service_class);
  RaiseOpenFileLimit();
  // The threads are restored before the end.
  std::signal(SIGINT, [](int) { stop_requested = true; });
  std::signal(SIGTERM, [](int) { stop_requested = true; });
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "profile"}));
  auto profile = MeasureProfile(*loop, access, plan, options,
                                [&](int repetition, int threads, double throughput) {
                                  std::printf("%d of %d: %3d threads %10.1f a second\n", repetition,
                                              options.repetition_count, threads, throughput);
                                  std::fflush(stdout);
                                });
  world->Stop();
  NEPTUNE_RETURN_IF_ERROR(profile.status());
  profile->load = neptune::StrCat(FLAGS_target, " ", FLAGS_path, " ",
                                  FLAGS_trace.empty() ? FLAGS_queries : FLAGS_trace);
  std::printf("\n%s", ProfileText(*profile).c_str());
  return Save(FLAGS_out, ProfileJson(*profile));
}

Status PredictResponses() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string file,
                           Need(FLAGS_profile, "profile", "a file of mtrr profile"));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string json,
                           neptune::ReadFile(ProjectPath(file), kFileSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const ServiceProfile profile, ParseProfile(json, file));
  PredictionOptions options{.service_rate = profile.fit.service_rate,
                            .speedup = profile.fit.speedup,
                            .queue_length_max = FLAGS_queue_length_max,
                            .overloaded_thread_count = FLAGS_overloaded_threads,
                            .rate_max = FLAGS_rate_max,
                            .rate_count = FLAGS_rates,
                            .quantum_s = FLAGS_quantum_ms / 1000};
  NEPTUNE_ASSIGN_OR_RETURN(options.thread_counts, Numbers(FLAGS_threads));
  if (options.rate_max == 0) {
    options.rate_max =
        1.5 * profile.fit.service_rate * profile.fit.speedup.At(neptune::kThreadCountMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<PredictedLine> lines, Predict(options));
  std::fputs(PredictionTable(lines).c_str(), stdout);
  NEPTUNE_RETURN_IF_ERROR(Save(FLAGS_csv, PredictionCsv(lines)));
  if (FLAGS_svg.empty()) return neptune::OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(const std::string svg, plot::RenderSvg(PredictionPlot(lines)));
  return Save(FLAGS_svg, svg);
}

Status Plan() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string file,
                           Need(FLAGS_request, "request", "a file with classes and limits"));
  NEPTUNE_ASSIGN_OR_RETURN(const AskedPlan asked, LoadThreadRequest(ProjectPath(file)));
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ThreadPlan plan, neptune::PlanThreads(asked.input));
  const Allocation allocation = AllocationOf(asked, plan);
  std::fputs(AllocationText(allocation).c_str(), stdout);
  return Save(FLAGS_out, AllocationJson(allocation));
}

StatusOr<Allocation> LoadPlan() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string file, Need(FLAGS_plan, "plan", "a file of mtrr plan"));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string json,
                           neptune::ReadFile(ProjectPath(file), kFileSizeMax));
  return ParseAllocation(json, file);
}

Status Apply() {
  NEPTUNE_ASSIGN_OR_RETURN(const Allocation allocation, LoadPlan());
  NEPTUNE_ASSIGN_OR_RETURN(const AdminAccess access, Access(allocation.service));
  const ThreadSettings settings = SettingsOf(allocation);
  std::string edited;
  const std::string spec = FLAGS_spec.empty() ? std::string() : ProjectPath(FLAGS_spec);
  if (!spec.empty()) {
    // Checked before anything is changed: a plan that cannot be written is not applied.
    NEPTUNE_ASSIGN_OR_RETURN(const std::string text, neptune::ReadFile(spec, kFileSizeMax));
    NEPTUNE_ASSIGN_OR_RETURN(edited, EditSpec(text, allocation.service, settings));
    NEPTUNE_RETURN_IF_ERROR(neptune::ParseClusterSpec(edited, spec).status());
  }
  NEPTUNE_RETURN_IF_ERROR(ApplySettings(access, allocation.service, settings));
  for (const AdminNode& node : access.nodes) {
    std::printf("%s: %s\n", node.name.c_str(), ThreadSettingsJson(settings).c_str());
  }
  if (spec.empty()) return neptune::OkStatus();
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(spec, edited));
  std::printf("written: %s\n", spec.c_str());
  return neptune::OkStatus();
}

Status Watch() {
  NEPTUNE_ASSIGN_OR_RETURN(const Allocation allocation, LoadPlan());
  NEPTUNE_ASSIGN_OR_RETURN(AdminAccess access, Access(allocation.service));
  if (!(FLAGS_interval_s > 0)) return InvalidArgument("--interval_s must be above 0");
  NEPTUNE_ASSIGN_OR_RETURN(
      ServiceWatch watch,
      ServiceWatch::Make(allocation, std::move(access.nodes),
                         {.tolerance = FLAGS_tolerance, .window_count = FLAGS_window_count}));
  const auto now_s = [] { return static_cast<double>(MonotonicNanoseconds()) / 1e9; };
  neptune::Notification never;
  bool left = false;
  for (int window = 0; FLAGS_windows == 0 || window <= FLAGS_windows; ++window) {
    if (window > 0) never.WaitForNotificationWithTimeout(absl::Seconds(FLAGS_interval_s));
    const std::vector<WatchedNode> nodes = watch.Poll(now_s());
    std::fputs(WatchText(nodes).c_str(), stdout);
    std::fflush(stdout);
    left = HasDeparture(nodes);
  }
  if (left) return neptune::FailedPrecondition("the service has left its plan");
  return neptune::OkStatus();
}

Status Run(const std::vector<std::string>& commands) {
  if (commands.size() != 1) {
    return InvalidArgument("one of profile, predict, plan, apply, watch; try --help");
  }
  if (commands[0] == "profile") return Profile();
  if (commands[0] == "predict") return PredictResponses();
  if (commands[0] == "plan") return Plan();
  if (commands[0] == "apply") return Apply();
  if (commands[0] == "watch") return Watch();
  return InvalidArgument("'", commands[0], "' is not profile, predict, plan, apply or watch");
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(rest), "mtrr");
}
