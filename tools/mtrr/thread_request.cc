#include "tools/mtrr/thread_request.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/base/text_config.h"
#include "tools/mtrr/thread_request.pb.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kFileSizeMax = 4 << 20;
constexpr int kQueueLengthMaxDefault = 40;
constexpr int kOtherThreadsDefault = 1;
constexpr double kPowerMax = 10;

bool IsNegative(double value) { return !(std::isfinite(value) && value >= 0); }

struct CostLine {
  std::vector<std::pair<double, double>> points;  // seconds, cost

  double operator()(double response_s) const {
    if (response_s <= points.front().first) return points.front().second;
    for (size_t i = 1; i < points.size(); ++i) {
      const auto& [before_s, before] = points[i - 1];
      const auto& [after_s, after] = points[i];
      if (response_s > after_s) continue;
      return before + (after - before) * (response_s - before_s) / (after_s - before_s);
    }
    return points.back().second;
  }
};

StatusOr<std::function<double(double)>> CostByTable(const HoldingCost& cost) {
  if (cost.weight() != 0 || cost.power() != 0) {
    return InvalidArgument("a cost is either by weight and power or by points");
  }
  CostLine line;
  for (const CostPoint& point : cost.points()) {
    const double response_s = point.response_ms() / 1000;
    if (IsNegative(response_s) || IsNegative(point.cost())) {
      return InvalidArgument("a response of ", point.response_ms(), " ms that costs ", point.cost(),
                             "; neither may be negative");
    }
    if (!line.points.empty() && response_s <= line.points.back().first) {
      return InvalidArgument("cost points are not in the order of their response times");
    }
    if (!line.points.empty() && point.cost() < line.points.back().second) {
      return InvalidArgument("a later response costs less: ", point.cost(), " at ",
                             point.response_ms(), " ms");
    }
    line.points.emplace_back(response_s, point.cost());
  }
  return std::function<double(double)>(std::move(line));
}

StatusOr<std::function<double(double)>> CostOf(const HoldingCost& cost) {
  if (cost.points_size() > 0) return CostByTable(cost);
  const double weight = cost.weight() == 0 ? 1 : cost.weight();
  const double power = cost.power() == 0 ? 1 : cost.power();
  if (IsNegative(weight) || IsNegative(power) || power > kPowerMax) {
    return InvalidArgument("a cost of weight ", weight, " and power ", power,
                           "; the power is at most ", kPowerMax);
  }
  return std::function<double(double)>(
      [weight, power](double response_s) { return weight * std::pow(response_s, power); });
}

StatusOr<neptune::PlannedClass> ClassOf(const ClassRequest& request) {
  if (request.name().empty()) return InvalidArgument("a class without a name");
  neptune::PlannedClass one{.name = request.name(),
                            .arrival_rate = request.arrival_rate(),
                            .queue_length_max = kQueueLengthMaxDefault,
                            .holding_cost = {},
                            .response_max_s = {}};
  if (!(std::isfinite(one.arrival_rate) && one.arrival_rate > 0)) {
    return InvalidArgument("arrival_rate is ", one.arrival_rate, "; it must be above 0");
  }
  if (request.has_queue_length_max()) {
    if (request.queue_length_max() > static_cast<uint32_t>(neptune::kQueuePlaceCountMax)) {
      return InvalidArgument("queue_length_max is over ", neptune::kQueuePlaceCountMax);
    }
    one.queue_length_max = static_cast<int>(request.queue_length_max());
  }
  if (IsNegative(request.response_max_ms())) {
    return InvalidArgument("response_max_ms is ", request.response_max_ms(),
                           "; it must be above 0");
  }
  if (request.response_max_ms() > 0) one.response_max_s = request.response_max_ms() / 1000;
  NEPTUNE_ASSIGN_OR_RETURN(one.holding_cost, CostOf(request.cost()));
  return one;
}

// The profile with the least throughput where it gains no more.
const ServiceProfile& Slowest(const std::vector<ServiceProfile>& profiles) {
  const auto most = [](const ServiceProfile& profile) {
    return profile.fit.service_rate * profile.fit.speedup.At(neptune::kThreadCountMax);
  };
  const ServiceProfile* slowest = &profiles.front();
  for (const ServiceProfile& one : profiles) {
    if (most(one) < most(*slowest)) slowest = &one;
  }
  return *slowest;
}

// Everything except the classes.
StatusOr<AskedPlan> AskedOf(const ThreadRequest& request) {
  if (request.service().empty()) return InvalidArgument("service is missing");
  if (request.thread_count_max() < 1 ||
      request.thread_count_max() > static_cast<uint32_t>(neptune::kPlannedThreadCountMax)) {
    return InvalidArgument("thread_count_max is ", request.thread_count_max(), "; it must be 1 to ",
                           neptune::kPlannedThreadCountMax);
  }
  if (request.other_threads() >= request.thread_count_max()) {
    return InvalidArgument("other_threads are all of the ", request.thread_count_max(), " threads");
  }
  if (request.classes_size() == 0) return InvalidArgument("no classes");
  AskedPlan asked{.service = request.service()};
  asked.input.thread_count_max = static_cast<int>(request.thread_count_max());
  asked.input.other_thread_count = request.has_other_threads()
                                       ? static_cast<int>(request.other_threads())
                                       : kOtherThreadsDefault;
  return asked;
}

Status AddClass(const ClassRequest& request, const ReadProfile& read_profile, AskedPlan* asked,
                std::vector<ServiceProfile>* profiles) {
  NEPTUNE_ASSIGN_OR_RETURN(neptune::PlannedClass planned, ClassOf(request));
  if (request.profile().empty()) {
    return InvalidArgument("profile is missing; make one with mtrr profile");
  }
  NEPTUNE_ASSIGN_OR_RETURN(ServiceProfile profile, read_profile(request.profile()));
  asked->input.classes.push_back(std::move(planned));
  asked->kinds.push_back({.name = request.name(),
                          .service_rate = profile.fit.service_rate,
                          .speedup = profile.fit.speedup,
                          .processor_s = profile.processor_s});
  profiles->push_back(std::move(profile));
  return neptune::OkStatus();
}

}  // namespace

StatusOr<AskedPlan> ParseThreadRequest(std::string_view text, std::string_view file,
                                       const ReadProfile& read_profile) {
  ThreadRequest request;
  neptune::TextLocations lines;
  NEPTUNE_RETURN_IF_ERROR(neptune::ParseTextConfig(text, file, &request, &lines));
  auto asked = AskedOf(request);
  if (!asked.ok()) return neptune::Annotate(asked.status(), file);
  std::vector<ServiceProfile> profiles;
  for (int i = 0; i < request.classes_size(); ++i) {
    const Status added = AddClass(request.classes(i), read_profile, &*asked, &profiles);
    if (!added.ok()) {
      return neptune::Annotate(added, StrCat(file, ":", lines.LineOf("classes", i), ": class '",
                                             request.classes(i).name(), "'"));
    }
  }
  const ServiceProfile& slowest = Slowest(profiles);
  asked->input.service_rate = slowest.fit.service_rate;
  asked->input.speedup = slowest.fit.speedup;
  asked->processor_s = slowest.processor_s;
  return asked;
}

StatusOr<AskedPlan> LoadThreadRequest(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, neptune::ReadFile(path, kFileSizeMax));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return ParseThreadRequest(text, path, [&](const std::string& name) -> StatusOr<ServiceProfile> {
    const std::string profile = (folder / name).string();
    NEPTUNE_ASSIGN_OR_RETURN(const std::string json, neptune::ReadFile(profile, kFileSizeMax));
    return ParseProfile(json, profile);
  });
}

}  // namespace search::tools
