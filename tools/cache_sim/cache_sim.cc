#include "tools/cache_sim/cache_sim.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "tools/cache_sim/optimum.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;

constexpr size_t kSimulationCountMax = 1000;
constexpr uint64_t kSizeMax = uint64_t{1} << 50;

uint64_t BytesOf(const CacheSize& size, uint64_t distinct_size) {
  if (size.share == 0) return size.bytes;
  const double bytes = size.share * static_cast<double>(distinct_size);
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(bytes)));
}

neptune::Status CheckPlan(const CacheTrace& trace, const CachePlan& plan) {
  if (plan.sizes.empty()) return InvalidArgument("no cache sizes are given");
  if (plan.policies.empty()) return InvalidArgument("no policies are given");
  if (!(plan.warmup_share >= 0 && plan.warmup_share < 1)) {
    return InvalidArgument("the share of the warm-up must be from 0 to below 1");
  }
  if (plan.sizes.size() * plan.policies.size() > kSimulationCountMax) {
    return neptune::ResourceExhausted("more than ", kSimulationCountMax, " simulations");
  }
  if (trace.request_count() == 0) return InvalidArgument("the trace is empty");
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<CacheSize> ParseCacheSize(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [number_end, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(number_end, static_cast<size_t>(end - number_end));
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
  if (error == std::errc() && number > 0) {
    if (unit == "%" && number <= 100) {
      return CacheSize{.text = std::string(text), .share = number / 100};
    }
    for (const auto& [name, factor] : kUnits) {
      if (unit != name || number * factor < 1 || number * factor > double{kSizeMax}) continue;
      return CacheSize{.text = std::string(text), .bytes = static_cast<uint64_t>(number * factor)};
    }
  }
  return InvalidArgument("'", text, "' is not a size like 1%, 64MiB or 100000");
}

neptune::StatusOr<CacheComparison> ComparePolicies(
    const CacheTrace& trace, const CachePlan& plan,
    const std::function<void(std::string_view)>& note) {
  NEPTUNE_RETURN_IF_ERROR(CheckPlan(trace, plan));
  SimulatedCache cache = plan.cache;
  cache.warmup_count =
      static_cast<uint64_t>(plan.warmup_share * static_cast<double>(trace.request_count()));
  CacheComparison comparison{.request_count = trace.request_count(),
                             .key_count = trace.key_count(),
                             .distinct_size = trace.DistinctSize(cache.entry_overhead),
                             .has_costs = trace.has_costs()};
  comparison.duration_s =
      static_cast<double>(trace.TimeOf(trace.request_count() - 1) - trace.TimeOf(0)) / 1e6;
  for (const CacheSize& size : plan.sizes) {
    comparison.size_names.push_back(size.text);
    comparison.sizes.push_back(BytesOf(size, comparison.distinct_size));
  }
  const auto add_row = [&](std::string_view name, const auto& simulate) {
    note(name);
    ComparedPolicy row{.name = std::string(name)};
    for (const uint64_t size_max : comparison.sizes) {
      cache.size_max = size_max;
      row.outcomes.push_back(simulate());
    }
    comparison.rows.push_back(std::move(row));
  };
  for (const cache::EvictionPolicyVariant& policy : plan.policies) {
    add_row(policy.name, [&] { return Simulate(trace, cache, policy); });
  }
  if (plan.has_optimum) {
    add_row(kBeladyRow, [&] { return SimulateBelady(trace, cache); });
    add_row(kBoundRow, [&] { return BoundOf(trace, cache); });
  }
  const CacheOutcome unlimited = SimulateUnlimited(trace, cache);
  add_row(kUnlimitedRow, [&] { return unlimited; });
  return comparison;
}

}  // namespace search::tools
