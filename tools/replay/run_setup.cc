#include "tools/replay/run_setup.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/corpus/child_process.h"
#include "tools/terminal/caller_path.h"

namespace search::tools {
namespace {

using Json = nlohmann::ordered_json;
using neptune::StatusOr;

constexpr const char* kMayDiffer[] = {"label", "target", "trace", "revision", "started"};

std::string ProcessorName() {
  constexpr size_t kSizeMax = size_t{4} << 20;
  const auto text = neptune::ReadFile("/proc/cpuinfo", kSizeMax);
  if (!text.ok()) return {};
  const size_t line = text->find("model name");
  const size_t colon = line == text->npos ? line : text->find(": ", line);
  if (colon == text->npos) return {};
  return text->substr(colon + 2, text->find('\n', colon) - colon - 2);
}

std::string SourceRevision() {
  const auto result =
      RunChild({"git", "describe", "--always", "--dirty", "--abbrev=12"},
               {.folder = ProjectOutputPath("."), .time_ms_max = 5000}, MonotonicNanoseconds);
  if (!result.ok() || result->exit_status != 0) return "unknown";
  return result->output.substr(0, result->output.find('\n'));
}

std::string UtcNow() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Json EventJson(const RunEvent& event) {
  return {{"at_s", event.at_s}, {"label", event.label}, {"command", event.command}};
}

Json ToJson(const RunSetup& setup) {
  Json events = Json::array();
  for (const RunEvent& event : setup.events) events.push_back(EventJson(event));
  return {{"label", setup.label},
          {"target", setup.target},
          {"trace", setup.trace},
          {"trace_xxh3", setup.trace_xxh3},
          {"speed", setup.speed},
          {"duration_s", setup.duration_s},
          {"warmup_s", setup.warmup_s},
          {"timeout_s", setup.timeout_s},
          {"lateness_p99_ms_max", setup.lateness_p99_ms_max},
          {"planned_count", setup.planned_count},
          {"use_cache", setup.use_cache},
          {"classes", setup.classes},
          {"yield_form", YieldFormName(setup.yield.form)},
          {"deadline_s", setup.yield.deadline_s},
          {"class_yields", setup.yield.full},
          {"events", std::move(events)},
          {"revision", setup.revision},
          {"processor", setup.processor},
          {"processor_count", setup.processor_count},
          {"kernel", setup.kernel},
          {"started", setup.started}};
}

template <typename T>
void Read(const nlohmann::json& json, const char* name, T* value) {
  if (json.contains(name)) json.at(name).get_to(*value);
}

RunSetup FromJson(const nlohmann::json& json) {
  RunSetup setup;
  Read(json, "label", &setup.label);
  Read(json, "target", &setup.target);
  Read(json, "trace", &setup.trace);
  Read(json, "trace_xxh3", &setup.trace_xxh3);
  Read(json, "speed", &setup.speed);
  Read(json, "duration_s", &setup.duration_s);
  Read(json, "warmup_s", &setup.warmup_s);
  Read(json, "timeout_s", &setup.timeout_s);
  Read(json, "lateness_p99_ms_max", &setup.lateness_p99_ms_max);
  Read(json, "planned_count", &setup.planned_count);
  Read(json, "use_cache", &setup.use_cache);
  Read(json, "classes", &setup.classes);
  const auto form = ParseYieldForm(json.at("yield_form").get<std::string>());
  if (form.ok()) setup.yield.form = *form;
  Read(json, "deadline_s", &setup.yield.deadline_s);
  Read(json, "class_yields", &setup.yield.full);
  for (const auto& event : json.at("events")) {
    setup.events.push_back({event.at("at_s").get<double>(), event.at("label").get<std::string>(),
                            event.at("command").get<std::string>()});
  }
  Read(json, "revision", &setup.revision);
  Read(json, "processor", &setup.processor);
  Read(json, "processor_count", &setup.processor_count);
  Read(json, "kernel", &setup.kernel);
  Read(json, "started", &setup.started);
  return setup;
}

}  // namespace

std::string SetupJson(const RunSetup& setup) {
  return ToJson(setup).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The library throws at a member of the wrong type; nothing else is caught here.
StatusOr<RunSetup> ParseSetupJson(std::string_view text) {
  try {
    return FromJson(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    return neptune::InvalidArgument("not a run set-up: ", std::string_view(error.what()));
  }
}

void DescribeHost(RunSetup* setup) {
  utsname name{};
  if (uname(&name) == 0)
    setup->kernel =
        neptune::StrCat(std::string_view(name.sysname), " ", std::string_view(name.release));
  setup->processor = ProcessorName();
  setup->processor_count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  setup->revision = SourceRevision();
  setup->started = UtcNow();
}

std::vector<std::string> DifferingFields(const RunSetup& a, const RunSetup& b) {
  Json left = ToJson(a);
  Json right = ToJson(b);
  for (const char* name : kMayDiffer) {
    left.erase(name);
    right.erase(name);
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : left.items()) {
    if (right[name] != value) names.push_back(name);
  }
  return names;
}

}  // namespace search::tools
