#include "tools/mtrr/plan_file.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using Json = nlohmann::ordered_json;

// Returns NaN if it is not a number.
double Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::string Text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

StatusOr<int> Whole(const Json& object, const char* name, int low, int high) {
  const double number = Number(object, name);
  if (!(number >= low && number <= high && number == std::floor(number))) {
    return InvalidArgument("'", name, "' is not a number from ", low, " to ", high);
  }
  return static_cast<int>(number);
}

StatusOr<AllocatedClass> ReadClass(const Json& json) {
  if (!json.is_object()) return InvalidArgument("a class is not an object");
  AllocatedClass one;
  neptune::WatchedClass& watched = one.watched;
  watched.name = Text(json, "name");
  if (watched.name.empty()) return InvalidArgument("a class has no name");
  watched.arrival_rate = Number(json, "arrival_rate");
  NEPTUNE_ASSIGN_OR_RETURN(watched.thread_count,
                           Whole(json, "threads", 1, neptune::kThreadCountMax));
  NEPTUNE_ASSIGN_OR_RETURN(watched.queue_length_max,
                           Whole(json, "queue_length_max", 0, neptune::kQueuePlaceCountMax));
  const double limit = Number(json, "response_max_s");
  if (std::isfinite(limit)) watched.response_max_s = limit;
  one.worst_response_s = Number(json, "worst_response_s");
  one.worst_loss_share = Number(json, "worst_loss_share");
  one.cost = Number(json, "cost");
  return one;
}

StatusOr<Allocation> Read(const Json& document) {
  if (!document.is_object()) return InvalidArgument("not a JSON object");
  Allocation allocation{.service = Text(document, "service")};
  if (allocation.service.empty()) return InvalidArgument("'service' is missing");
  NEPTUNE_ASSIGN_OR_RETURN(allocation.other_thread_count,
                           Whole(document, "other_threads", 0, neptune::kThreadCountMax));
  allocation.service_rate = Number(document, "service_rate");
  NEPTUNE_ASSIGN_OR_RETURN(const int saturation,
                           Whole(document, "saturation_point", 1, neptune::kThreadCountMax));
  NEPTUNE_ASSIGN_OR_RETURN(allocation.speedup,
                           neptune::Speedup::Make(Number(document, "alpha"), saturation));
  const double processor_s = Number(document, "processor_s");
  if (std::isfinite(processor_s)) allocation.processor_s = processor_s;
  allocation.cost = Number(document, "cost");
  const auto classes = document.find("classes");
  if (classes == document.end() || !classes->is_array()) {
    return InvalidArgument("'classes' is not a list");
  }
  for (const Json& json : *classes) {
    NEPTUNE_ASSIGN_OR_RETURN(AllocatedClass one, ReadClass(json));
    allocation.classes.push_back(std::move(one));
  }
  // Rejects an invalid operating point: bad rates, duplicate classes, too many classes.
  NEPTUNE_RETURN_IF_ERROR(neptune::SaturationMonitor::Make(OperatingPointOf(allocation)).status());
  return allocation;
}

}  // namespace

Allocation AllocationOf(const AskedPlan& asked, const neptune::ThreadPlan& plan) {
  Allocation allocation{.service = asked.service,
                        .other_thread_count = asked.input.other_thread_count,
                        .service_rate = asked.input.service_rate,
                        .speedup = asked.input.speedup,
                        .processor_s = asked.processor_s};
  allocation.cost = plan.cost;
  for (size_t i = 0; i < plan.classes.size(); ++i) {
    const neptune::PlannedClass& wanted = asked.input.classes[i];
    const neptune::PlannedThreads& planned = plan.classes[i];
    allocation.classes.push_back({.watched = {.name = wanted.name,
                                              .arrival_rate = wanted.arrival_rate,
                                              .thread_count = planned.thread_count,
                                              .queue_length_max = wanted.queue_length_max,
                                              .response_max_s = wanted.response_max_s},
                                  .worst_response_s = planned.worst_case.response_s,
                                  .worst_loss_share = planned.worst_case.loss_share,
                                  .cost = planned.cost});
  }
  for (const neptune::KindDifference& one : neptune::DifferentKinds(asked.kinds)) {
    char factor[32];
    std::snprintf(factor, sizeof(factor), "%.1f", one.factor);
    allocation.warnings.push_back(neptune::StrCat(
        "classes '", one.one, "' and '", one.other, "' run different kinds of requests: their ",
        one.of, " differs by a factor of ", factor,
        "; threads do not divide the machine proportionally between them, so no response time is "
        "promised"));
  }
  return allocation;
}

std::string AllocationJson(const Allocation& allocation) {
  Json classes = Json::array();
  for (const AllocatedClass& one : allocation.classes) {
    const neptune::WatchedClass& watched = one.watched;
    classes.push_back(
        Json{{"name", watched.name},
             {"threads", watched.thread_count},
             {"arrival_rate", watched.arrival_rate},
             {"queue_length_max", watched.queue_length_max},
             {"response_max_s", watched.response_max_s ? Json(*watched.response_max_s) : Json()},
             {"worst_response_s", one.worst_response_s},
             {"worst_loss_share", one.worst_loss_share},
             {"cost", one.cost}});
  }
  Json json{{"service", allocation.service},
            {"other_threads", allocation.other_thread_count},
            {"service_rate", allocation.service_rate},
            {"alpha", allocation.speedup.alpha()},
            {"saturation_point", allocation.speedup.saturation_point()},
            {"processor_s", allocation.processor_s ? Json(*allocation.processor_s) : Json()},
            {"cost", allocation.cost}};
  json["classes"] = std::move(classes);
  json["warnings"] = allocation.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<Allocation> ParseAllocation(std::string_view json, std::string_view name) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument(name, ": not JSON");
  auto allocation = Read(document);
  if (!allocation.ok()) return neptune::Annotate(allocation.status(), name);
  return allocation;
}

std::string AllocationText(const Allocation& allocation) {
  std::string text =
      "class         threads    rate /s  worst response ms   limit ms   lost %       cost\n";
  char line[200];
  for (const AllocatedClass& one : allocation.classes) {
    char limit[32] = "-";
    if (one.watched.response_max_s) {
      std::snprintf(limit, sizeof(limit), "%.1f", 1000 * *one.watched.response_max_s);
    }
    std::snprintf(line, sizeof(line), "%-12s %8d %10.1f %18.1f %10s %8.2f %10.4g\n",
                  one.watched.name.c_str(), one.watched.thread_count, one.watched.arrival_rate,
                  1000 * one.worst_response_s, limit, 100 * one.worst_loss_share, one.cost);
    text += line;
  }
  std::snprintf(line, sizeof(line), "service '%s': concurrency %d, of which %d for all others\n",
                allocation.service.c_str(), SettingsOf(allocation).concurrency,
                allocation.other_thread_count);
  text += line;
  for (const std::string& warning : allocation.warnings) text += "warning: " + warning + "\n";
  return text;
}

ThreadSettings SettingsOf(const Allocation& allocation) {
  ThreadSettings settings{.concurrency = allocation.other_thread_count, .classes = {}};
  for (const AllocatedClass& one : allocation.classes) {
    settings.concurrency += one.watched.thread_count;
    settings.classes[one.watched.name] = one.watched.thread_count;
  }
  return settings;
}

neptune::OperatingPoint OperatingPointOf(const Allocation& allocation) {
  neptune::OperatingPoint point{.service_rate = allocation.service_rate,
                                .speedup = allocation.speedup,
                                .processor_s = allocation.processor_s,
                                .classes = {}};
  for (const AllocatedClass& one : allocation.classes) point.classes.push_back(one.watched);
  return point;
}

}  // namespace search::tools
