#include "tools/trace/trace_profile.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "neptune/base/strings.h"
#include "neptune/base/text_config.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr int kHours = 24;

// `low` < value <= `high`; also refuses NaN.
Status CheckRange(const char* field, double value, double low, double high) {
  if (value > low && value <= high) return neptune::OkStatus();
  return InvalidArgument(field, " is ", value, "; it must be above ", low, " and at most ", high);
}

Status CheckClasses(const TraceProfile& profile) {
  if (profile.classes().empty()) return InvalidArgument("classes: at least one is needed");
  double sum = 0;
  std::set<std::string> names;
  for (const ClassShare& share : profile.classes()) {
    NEPTUNE_RETURN_IF_ERROR(CheckTraceClass(share.name()));
    NEPTUNE_RETURN_IF_ERROR(CheckRange("classes.share", share.share(), 0, 1));
    if (!names.insert(share.name()).second) {
      return InvalidArgument("classes: ", share.name(), " is listed twice");
    }
    sum += share.share();
  }
  if (std::abs(sum - 1) > 1e-9) return InvalidArgument("classes: the shares add up to ", sum);
  if (names.size() > TraceLimits::kClassCountMax) return InvalidArgument("classes: too many");
  return neptune::OkStatus();
}

Status CheckCurve(const DailyCurve& curve) {
  if (curve.hourly_rates_size() != kHours) {
    return InvalidArgument("curve.hourly_rates: ", curve.hourly_rates_size(), " numbers, not 24");
  }
  for (const double rate : curve.hourly_rates()) {
    NEPTUNE_RETURN_IF_ERROR(CheckRange("curve.hourly_rates", rate, 0, 1e12));
  }
  if (curve.start_hour() >= kHours) return InvalidArgument("curve.start_hour is not 0 to 23");
  if (curve.peak_to_mean() == 0) return neptune::OkStatus();
  return CheckRange("curve.peak_to_mean", curve.peak_to_mean(), 1, 20);
}

Status CheckModulation(const TraceProfile& profile) {
  if (profile.has_curve()) NEPTUNE_RETURN_IF_ERROR(CheckCurve(profile.curve()));
  if (profile.has_fluctuation()) {
    const Fluctuation& fluctuation = profile.fluctuation();
    NEPTUNE_RETURN_IF_ERROR(CheckRange("fluctuation.deviation", fluctuation.deviation(), 0, 2));
    NEPTUNE_RETURN_IF_ERROR(
        CheckRange("fluctuation.correlation_s", fluctuation.correlation_s(), 0.999, 86'400));
  }
  if (!profile.has_bursts()) return neptune::OkStatus();
  const Bursts& bursts = profile.bursts();
  NEPTUNE_RETURN_IF_ERROR(CheckRange("bursts.per_hour", bursts.per_hour(), 0, 3600));
  NEPTUNE_RETURN_IF_ERROR(CheckRange("bursts.factor", bursts.factor(), 1, 1000));
  return CheckRange("bursts.duration_s", bursts.duration_s(), 0, 3600);
}

}  // namespace

Status CheckTraceProfile(const TraceProfile& profile) {
  NEPTUNE_RETURN_IF_ERROR(CheckRange("duration_s", profile.duration_s(), 0, kProfileDurationMaxS));
  NEPTUNE_RETURN_IF_ERROR(CheckRange("gap_mean_ms", profile.gap_mean_ms(), 0, 1e9));
  const double requests = profile.duration_s() * 1000 / profile.gap_mean_ms();
  if (requests > kProfileRequestCountMax) {
    return InvalidArgument("duration_s and gap_mean_ms make ", requests, " requests, more than ",
                           kProfileRequestCountMax);
  }
  if (profile.gap_variation() != 0) {
    NEPTUNE_RETURN_IF_ERROR(CheckRange("gap_variation", profile.gap_variation(), 0.01, 10));
  }
  NEPTUNE_RETURN_IF_ERROR(CheckClasses(profile));
  if (profile.has_repeat_share() && !(profile.repeat_share() >= 0 && profile.repeat_share() < 1)) {
    return InvalidArgument("repeat_share is ", profile.repeat_share(), "; it must be 0 to below 1");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckRange("zipf_exponent", profile.zipf_exponent(), 0, 5));
  return CheckModulation(profile);
}

StatusOr<TraceProfile> LoadTraceProfile(const std::string& path) {
  TraceProfile profile;
  NEPTUNE_RETURN_IF_ERROR(neptune::LoadTextConfig(path, &profile));
  const Status status = CheckTraceProfile(profile);
  if (!status.ok()) return neptune::Annotate(status, path);
  return profile;
}

bool FitLine::holds() const {
  return std::abs(made - published) <= tolerance * std::abs(published);
}

StatusOr<std::vector<FitLine>> CompareWithPublished(const TraceProfile& profile,
                                                    const TraceStatistics& made) {
  const auto json = nlohmann::json::parse(TraceStatisticsJson(made));
  std::vector<FitLine> lines;
  for (const Published& published : profile.published()) {
    std::string pointer = "/" + published.statistic();
    for (char& c : pointer) {
      if (c == '.') c = '/';
    }
    const nlohmann::json::json_pointer where(pointer);
    if (!json.contains(where) || !json[where].is_number()) {
      return InvalidArgument("published: unknown statistic '", published.statistic(), "'");
    }
    lines.push_back({published.statistic(), published.value(), json[where].get<double>(),
                     published.tolerance()});
  }
  return lines;
}

std::string DescribeFit(const std::vector<FitLine>& fit) {
  std::string out;
  char line[256];
  std::snprintf(line, sizeof(line), "%-22s %12s %12s %10s\n", "published", "source", "this trace",
                "within");
  out += line;
  for (const FitLine& entry : fit) {
    std::snprintf(line, sizeof(line), "%-22.22s %12.4g %12.4g %8.1f %% %s\n",
                  entry.statistic.c_str(), entry.published, entry.made, 100 * entry.tolerance,
                  entry.holds() ? "" : "  MISSED");
    out += line;
  }
  return out;
}

StatusOr<std::vector<double>> ReadHourlyRates(const std::string& path) {
  constexpr size_t kNumberSizeMax = 64;
  constexpr uint64_t kSecondsOfDay = 86'400;
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), kNumberSizeMax);
  LineReader::Line line;
  std::vector<double> sums(kHours);
  uint64_t seconds = 0;
  for (;; ++seconds) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    double value = 0;
    const char* const end = line.text.data() + line.text.size();
    const auto [stop, error] = std::from_chars(line.text.data(), end, value);
    if (line.too_long || error != std::errc() || stop != end || !(value >= 0)) {
      return InvalidArgument(path, ":", line.number, ": not a number of requests");
    }
    sums[seconds % kSecondsOfDay / 3600] += value;
  }
  if (seconds < kSecondsOfDay) return InvalidArgument(path, " holds less than a day of seconds");
  for (double& sum : sums) sum /= static_cast<double>(seconds) / kHours;
  return sums;
}

}  // namespace search::tools
