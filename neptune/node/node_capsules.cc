#include "neptune/node/node_capsules.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_text.h"
#include "neptune/node/capsule_spec.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

// One place of the spec that may define capsules: the messages, or a file.
struct Source {
  const CapsuleSpecs* specs = nullptr;
  std::string file{};
};

StatusOr<std::vector<CapsuleConfig>> Read(const Source& source, const std::string& folder,
                                          std::vector<std::string>* warnings) {
  if (source.specs == nullptr) {
    return LoadCapsuleFile((std::filesystem::path(folder) / source.file).string(), warnings);
  }
  NEPTUNE_ASSIGN_OR_RETURN(auto capsules, CapsulesOfSpec(*source.specs, folder));
  if (warnings != nullptr) {
    for (const RuleConflict& conflict : RuleConflicts(capsules)) warnings->push_back(conflict.text);
  }
  return capsules;
}

// Warns of conflicts between rules of different sources; conflicts within a source were already
// reported with their lines.
void WarnAcross(const std::vector<CapsuleConfig>& stack, const std::vector<size_t>& source_of,
                std::vector<std::string>* warnings) {
  for (const RuleConflict& conflict : RuleConflicts(stack)) {
    if (source_of[conflict.capsule] != source_of[conflict.above]) {
      warnings->push_back(conflict.text);
    }
  }
}

HttpResponse Done(const Status& status) {
  if (!status.ok()) return ProblemResponse(status);
  return HttpResponse::Text(200, "done\n");
}

std::string_view NameOf(ResourceType type) {
  return type == ResourceType::kNetwork ? "network" : "device";
}

}  // namespace

StatusOr<std::vector<CapsuleConfig>> CapsulesOf(const ClusterSpec& spec, const NodeId& node,
                                                const std::string& folder,
                                                std::vector<std::string>* warnings) {
  const NodeSpec* const own = FindNode(spec, node);
  std::vector<Source> sources;
  if (own != nullptr) {
    sources.push_back({&own->capsules()});
    sources.push_back({nullptr, own->capsule_file()});
  }
  sources.push_back({&spec.capsules()});
  sources.push_back({nullptr, spec.capsule_file()});
  std::vector<CapsuleConfig> stack;
  std::vector<size_t> source_of;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].specs == nullptr && sources[i].file.empty()) continue;
    NEPTUNE_ASSIGN_OR_RETURN(auto capsules, Read(sources[i], folder, warnings));
    source_of.resize(source_of.size() + capsules.size(), i);
    std::move(capsules.begin(), capsules.end(), std::back_inserter(stack));
  }
  if (warnings != nullptr) WarnAcross(stack, source_of, warnings);
  return stack;
}

NodeCapsules::NodeCapsules(World& world, MetricsRegistry& metrics, bool with_default,
                           std::function<Duration(std::string_view path)> device_time)
    : metrics_(metrics),
      stack_({.make_helpers = [&world](const std::string& name,
                                       int count) { return world.MakeHelperThreads(name, count); },
              .device_time = std::move(device_time),
              .with_default = with_default,
              .on_change = [this] { SyncMetrics(); }}) {
  SyncMetrics();
}

Status NodeCapsules::Load(const ClusterSpec& spec, const NodeId& node, const std::string& folder) {
  std::vector<std::string> warnings;
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<CapsuleConfig> configs,
                           CapsulesOf(spec, node, folder, &warnings));
  for (const std::string& warning : warnings) LOG(WARNING) << warning;
  return stack_.Load(configs);
}

void NodeCapsules::SyncMetrics() {
  BlockingLock lock(&series_mutex_);
  const std::vector<std::shared_ptr<Capsule>> capsules = stack_.All();
  std::map<const Capsule*, std::vector<CallbackGauge>> kept;
  for (const std::shared_ptr<Capsule>& capsule : capsules) {
    kept[capsule.get()] = std::move(series_[capsule.get()]);
  }
  series_ = std::move(kept);  // removes those of destroyed capsules before a name is reused
  for (const std::shared_ptr<Capsule>& capsule : capsules) {
    std::vector<CallbackGauge>& series = series_[capsule.get()];
    if (series.empty()) series = MetricsOf(capsule);
  }
}

std::vector<CallbackGauge> NodeCapsules::MetricsOf(const std::shared_ptr<Capsule>& capsule) {
  std::vector<CallbackGauge> series;
  const MetricLabels labels = {{"capsule", capsule->name()}};
  using Read = double (*)(const CapsuleStatistics&);
  const auto keep = [&](const char* name, StatusOr<CallbackGauge> added) {
    if (added.ok()) {
      series.push_back(*std::move(added));
    } else {
      LOG(ERROR) << name << " of capsule '" << capsule->name() << "': " << added.status();
    }
  };
  const auto gauge = [&](const char* name, const char* help, Read read) {
    keep(name, metrics_.AddCallbackGauge(name, help, labels,
                                         [capsule, read] { return read(capsule->Count()); }));
  };
  const auto counter = [&](const char* name, const char* help, Read read) {
    keep(name, metrics_.AddCallbackCounter(name, help, labels,
                                           [capsule, read] { return read(capsule->Count()); }));
  };
  using Counted = const CapsuleStatistics&;
  gauge("neptune_capsule_residents", "Calls inside a dependency capsule.",
        [](Counted now) { return static_cast<double>(now.control.resident_count); });
  gauge("neptune_capsule_waiting", "Calls queued inside a dependency capsule.",
        [](Counted now) { return static_cast<double>(now.waiting_count); });
  gauge("neptune_capsule_processing", "Calls inside that are being served by the dependency.",
        [](Counted now) { return static_cast<double>(now.processing_count); });
  gauge("neptune_capsule_bypassing", "1 while calls bypass the dependency.",
        [](Counted now) { return now.bypassing ? 1.0 : 0.0; });
  gauge("neptune_capsule_mean_seconds", "Recent mean time of successful calls inside.",
        [](Counted now) { return ToSeconds(now.control.mean_time); });
  counter("neptune_capsule_entered_total", "Calls admitted to a dependency capsule.",
          [](Counted now) { return static_cast<double>(now.control.entered); });
  counter("neptune_capsule_refused_total", "Calls refused at a bound of the capsule.",
          [](Counted now) { return static_cast<double>(now.control.refused); });
  counter("neptune_capsule_bypassed_total", "Calls that bypassed the dependency.",
          [](Counted now) { return static_cast<double>(now.control.bypassed); });
  counter("neptune_capsule_done_total", "Calls inside that were answered.",
          [](Counted now) { return static_cast<double>(now.control.done); });
  counter("neptune_capsule_failed_total", "Calls inside that failed.",
          [](Counted now) { return static_cast<double>(now.control.failed); });
  counter("neptune_capsule_timed_out_total", "Calls inside that timed out.",
          [](Counted now) { return static_cast<double>(now.control.timed_out); });
  counter("neptune_capsule_cancelled_total", "Calls inside that were cancelled.",
          [](Counted now) { return static_cast<double>(now.control.cancelled); });
  counter("neptune_capsule_waited_total", "Calls that were queued inside.",
          [](Counted now) { return static_cast<double>(now.waited); });
  counter("neptune_capsule_terminated_total", "Calls terminated by the policy.",
          [](Counted now) { return static_cast<double>(now.terminated); });
  counter("neptune_capsule_migrated_total", "Calls migrated to another capsule.",
          [](Counted now) { return static_cast<double>(now.migrated); });
  return series;
}

void NodeCapsules::Describe(StatusReport* report) const {
  Loop* const loop = Loop::Current();
  const TimePoint now = loop == nullptr ? TimePoint() : loop->Now();
  StatusTable capsules{"From the top of the stack",
                       {"capsule", "type", "inside", "most", "waiting", "processing", "timeout ms",
                        "bypassing", "mean age ms", "mean ms", "p95 ms", "mean wait ms"},
                       {}};
  StatusTable outcomes{"Outcomes of calls",
                       {"capsule", "entered", "done", "failed", "timed out", "cancelled", "refused",
                        "bypassed", "terminated", "migrated", "policy failures"},
                       {}};
  for (const auto& [config, seen] : stack_.Inspect(now)) {
    const CapsuleControl::Statistics& control = seen.control;
    const double timeout_ms = seen.timeout == kNoTimeout ? -1 : ToMillis(seen.timeout);
    capsules.AddRow(config.name, NameOf(config.type), control.resident_count,
                    config.limits.resident_count_max, seen.waiting_count, seen.processing_count,
                    timeout_ms, seen.bypassing, ToMillis(seen.mean_age),
                    ToMillis(control.mean_time), ToMillis(seen.tail_time),
                    ToMillis(seen.mean_waiting_time));
    outcomes.AddRow(config.name, control.entered, control.done, control.failed, control.timed_out,
                    control.cancelled, control.refused, control.bypassed, seen.terminated,
                    seen.migrated, seen.policy_failures);
  }
  report->tables = {std::move(capsules), std::move(outcomes)};
}

HttpResponse NodeCapsules::Show() const {
  std::string text;
  for (const std::shared_ptr<Capsule>& capsule : stack_.All()) {
    text += FormatCapsule(capsule->config());
  }
  return HttpResponse::Text(200, text);
}

void NodeCapsules::WarnOfOthers(const std::vector<CapsuleConfig>& posted,
                                std::vector<std::string>* warnings) const {
  std::vector<CapsuleConfig> stack;
  std::vector<size_t> source_of;
  for (const std::shared_ptr<Capsule>& capsule : stack_.All()) {
    stack.push_back(capsule->config());
    const bool is_posted =
        std::any_of(posted.begin(), posted.end(),
                    [&](const CapsuleConfig& config) { return config.name == capsule->name(); });
    source_of.push_back(is_posted ? 1 : 0);
  }
  WarnAcross(stack, source_of, warnings);
}

HttpResponse NodeCapsules::Put(const HttpRequest& request) {
  std::vector<std::string> warnings;
  const auto configs = ParseCapsules(request.body, {"body"}, &warnings);
  if (!configs.ok()) return ProblemResponse(configs.status());
  for (const CapsuleConfig& config : *configs) {
    if (config.policy.kind == PolicyKind::kPlugin) {
      return ProblemResponse(
          InvalidArgument("capsule '", config.name, "': only files may name plug-ins"));
    }
  }
  HttpResponse response = Done(stack_.Load(*configs));
  if (response.status == 200) {
    LOG(INFO) << configs->size() << " capsules created or changed by " << request.peer;
    WarnOfOthers(*configs, &warnings);
    for (const std::string& warning : warnings) StrAppend(&response.body, warning, "\n");
  }
  return response;
}

HttpResponse NodeCapsules::Remove(const HttpRequest& request) {
  const auto name = request.Parameter("name");
  if (!name) return ProblemResponse(InvalidArgument("the parameter name=NAME is missing"));
  const Status status = stack_.Destroy(*name);
  if (status.ok()) LOG(INFO) << "capsule '" << *name << "' destroyed by " << request.peer;
  return Done(status);
}

}  // namespace neptune
