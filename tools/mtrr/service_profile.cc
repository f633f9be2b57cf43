#include "tools/mtrr/service_profile.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using Json = nlohmann::ordered_json;

constexpr size_t kPointCountMax = 1000;

std::vector<neptune::ThroughputPoint> Throughputs(const ServiceProfile& profile) {
  std::vector<neptune::ThroughputPoint> points;
  for (const ProfilePoint& point : profile.points) {
    points.push_back({point.thread_count, point.throughput});
  }
  return points;
}

double Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::string Text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

StatusOr<ProfilePoint> ReadPoint(const Json& json) {
  if (!json.is_object()) return InvalidArgument("a point is not an object");
  const double threads = Number(json, "threads");
  ProfilePoint point{.throughput = Number(json, "throughput"),
                     .throughput_low = Number(json, "throughput_low"),
                     .throughput_high = Number(json, "throughput_high")};
  if (!(threads >= 1 && threads <= neptune::kThreadCountMax && threads == std::floor(threads))) {
    return InvalidArgument("the 'threads' of a point are not 1 to ", neptune::kThreadCountMax);
  }
  point.thread_count = static_cast<int>(threads);
  if (std::isnan(point.throughput_low)) point.throughput_low = point.throughput;
  if (std::isnan(point.throughput_high)) point.throughput_high = point.throughput;
  return point;
}

StatusOr<ServiceProfile> Read(const Json& document) {
  if (!document.is_object()) return InvalidArgument("not a JSON object");
  ServiceProfile profile{.service = Text(document, "service"),
                         .service_class = Text(document, "class"),
                         .load = Text(document, "load")};
  const auto points = document.find("points");
  if (points == document.end() || !points->is_array() || points->size() > kPointCountMax) {
    return InvalidArgument("'points' is not a list of at most ", kPointCountMax);
  }
  for (const Json& one : *points) {
    NEPTUNE_ASSIGN_OR_RETURN(const ProfilePoint point, ReadPoint(one));
    profile.points.push_back(point);
  }
  const double processor_s = Number(document, "processor_s");
  if (std::isfinite(processor_s) && processor_s > 0) profile.processor_s = processor_s;
  NEPTUNE_RETURN_IF_ERROR(CompleteProfile(&profile));
  return profile;
}

}  // namespace

Status CompleteProfile(ServiceProfile* profile) {
  NEPTUNE_ASSIGN_OR_RETURN(profile->fit, neptune::FitSpeedup(Throughputs(*profile)));
  profile->recommended_threads = neptune::FewestThreads(Throughputs(*profile));
  return neptune::OkStatus();
}

std::string ProfileJson(const ServiceProfile& profile) {
  Json points = Json::array();
  for (const ProfilePoint& point : profile.points) {
    points.push_back(Json{{"threads", point.thread_count},
                          {"throughput", point.throughput},
                          {"throughput_low", point.throughput_low},
                          {"throughput_high", point.throughput_high}});
  }
  Json json{{"service", profile.service}, {"class", profile.service_class}, {"load", profile.load}};
  json["points"] = std::move(points);
  json["processor_s"] = profile.processor_s ? Json(*profile.processor_s) : Json();
  // For readers of the file: they are computed from the points.
  json["service_rate"] = profile.fit.service_rate;
  json["alpha"] = profile.fit.speedup.alpha();
  json["saturation_point"] = profile.fit.speedup.saturation_point();
  json["fit_error_max"] = profile.fit.error_max;
  json["collapse_point"] = profile.fit.collapse_point;
  json["recommended_threads"] = profile.recommended_threads;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<ServiceProfile> ParseProfile(std::string_view json, std::string_view name) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument(name, ": not JSON");
  auto profile = Read(document);
  if (!profile.ok()) return neptune::Annotate(profile.status(), name);
  return profile;
}

std::string ProfileText(const ServiceProfile& profile) {
  std::string text = "threads   a second   lowest  highest      fit  deviation\n";
  char line[160];
  for (const ProfilePoint& point : profile.points) {
    const double fit = profile.fit.service_rate * profile.fit.speedup.At(point.thread_count);
    std::snprintf(line, sizeof(line), "%7d %10.1f %8.1f %8.1f %8.1f %8.1f %%\n", point.thread_count,
                  point.throughput, point.throughput_low, point.throughput_high, fit,
                  100 * (fit / point.throughput - 1));
    text += line;
  }
  std::snprintf(
      line, sizeof(line),
      "one thread serves %.1f requests/s; each further one adds %.2f of that up to %d; the "
      "fit is %.1f %% off at most\n",
      profile.fit.service_rate, profile.fit.speedup.alpha(), profile.fit.speedup.saturation_point(),
      100 * profile.fit.error_max);
  text += line;
  if (profile.fit.collapse_point > 0) {
    StrAppend(&text, "throughput collapses from ", profile.fit.collapse_point,
              " threads on; points beyond are ignored\n");
  }
  StrAppend(&text, profile.recommended_threads,
            " threads reach 97 % of the best throughput; more bring no gain\n");
  return text;
}

}  // namespace search::tools
